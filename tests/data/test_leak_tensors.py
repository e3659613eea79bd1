"""Weights are told from text: what is hidden in a model is found, and chance in its numbers refuses none."""

from __future__ import annotations

import gzip
import json
import lzma
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save

from radeval_lib.data import leak_decoders, leak_streams, leak_tensors
from radeval_lib.data.guard import scan
from tests.data.test_guard import CORPORA, SECRET

LIMIT = 1 << 18
WORDS = SECRET.lower().replace(".", "").split()


def weights(size: int, dtype: str = "float32") -> NDArray[np.generic]:
    return np.random.default_rng(1).normal(0, 0.02, size).astype(dtype)


def seeming_pickle() -> NDArray[np.generic]:
    """Weights among which the bytes of two numbers seem to begin a pickle that holds half of them."""
    found = weights(1 << 20)
    found.view(np.uint8)[4096:4103] = np.frombuffer(b"\x80\x04B" + (1 << 21).to_bytes(4, "little"), np.uint8)
    return found


def as_weights(content: bytes) -> bytes:
    """A model among whose floating-point weights stand these bytes."""
    found = weights(1 << 16)
    found.view(np.uint8)[1001 : 1001 + len(content)] = np.frombuffer(content, np.uint8)
    return save({"a": found[: 1 << 15], "b": found[1 << 15 :]})


def as_bytes(content: bytes) -> bytes:
    """A model with a tensor of single bytes that are these."""
    return save({"a": weights(999), "text": np.frombuffer(content, np.uint8), "z": weights(999, "float16")})


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_streams.Budget, "__init__", lambda self: setattr(self, "left", LIMIT))


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_weights_are_not_refused(tmp_path: Path, dtype: str) -> None:
    model = {"a": weights(1 << 20, dtype), "b": seeming_pickle(), "positions": np.arange(512)}
    (tmp_path / "model.safetensors").write_bytes(save(model, {"format": "pt"}))
    assert not scan(tmp_path, CORPORA)


@pytest.mark.usefixtures("small_limit")
def test_a_file_that_only_claims_to_be_a_model_is_read_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(save({"a": seeming_pickle()}) + b"\0")
    assert [leak.why for leak in scan(tmp_path, CORPORA)] == [leak_decoders.Unreadable.PACKED.value]


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("place", [as_weights, as_bytes])
def test_too_much_packed_in_a_model_is_refused(tmp_path: Path, place: Callable[[bytes], bytes]) -> None:
    (tmp_path / "model.safetensors").write_bytes(place(gzip.compress(bytes(2 * LIMIT))))
    assert [leak.why for leak in scan(tmp_path, CORPORA)] == [leak_decoders.Unreadable.PACKED.value]


@pytest.mark.parametrize("place", [as_weights, as_bytes])
@pytest.mark.parametrize(
    "content",
    [
        SECRET.encode(),
        SECRET.encode("utf-16"),
        SECRET.encode("utf-32-be"),
        zlib.compress(SECRET.encode()),
        gzip.compress(SECRET.encode()),
        gzip.compress(SECRET.encode())[:-30],
        lzma.compress(zlib.compress(SECRET.encode())),
        pickle.dumps(SECRET.split()),
        pickle.dumps({"a": zlib.compress(SECRET.encode()), "b": bytes(9999)}),
    ],
    ids=["plain", "utf-16", "utf-32", "zlib", "gzip", "cut", "packed twice", "pickle", "packed in a pickle"],
)
def test_text_in_the_data_of_a_model_is_found(
    tmp_path: Path, content: bytes, place: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "model.safetensors").write_bytes(place(content))
    assert [leak.file for leak in scan(tmp_path, CORPORA)] == ["model.safetensors"]


NOTHING = np.zeros((0, 1), np.float32)


@pytest.mark.parametrize(
    "model",
    [
        save({"a": NOTHING}, {"note": SECRET}),
        save({f"{place:02} {word}": NOTHING for place, word in enumerate(WORDS)}),
        save({f"{place:02}.{word}.weight": NOTHING for place, word in enumerate(WORDS)}),
    ],
    ids=["metadata", "names", "parts of names"],
)
def test_text_in_the_header_of_a_model_is_found(tmp_path: Path, model: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(model)
    between = ["shape of data offsets dtype and more of that"]  # words of every header, here known ones
    assert [leak.corpus for leak in scan(tmp_path, {**CORPORA, "x": between})] == ["mimic3_rrs"]


def claimed(data: bytes = bytes(16), length: int = 0, **changed: object) -> bytes:
    """A safetensors file of two tensors, the second of which is changed."""
    second = {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]} | changed
    tensors = {"a": {"dtype": "U8", "shape": [2, 4], "data_offsets": [0, 8]}, "b": second}
    header = json.dumps(tensors).encode()
    return (len(header) + length).to_bytes(8, "little") + header + data


def test_the_layout_of_a_model() -> None:
    model = claimed()
    header, edges = leak_tensors.layout(model)
    assert list(json.loads(header)) == ["a", "b"]
    assert edges == [len(model) - 8, len(model)]
    assert leak_tensors.layout(save({}))[0].strip() == "{}"
    assert leak_tensors.layout(save({"none": weights(0), "one": weights(1)}))[0]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        claimed(bytes(17)),
        claimed(bytes(15)),
        claimed(length=-1),
        claimed(length=1 << 40),
        claimed(dtype="F31"),
        claimed(dtype=["F32"]),
        claimed(shape=[3]),
        claimed(shape=[-1, -2]),
        claimed(shape=[2, True]),
        claimed(shape=[2.0]),
        claimed(shape=2),
        claimed(shape=[2, *[1] * 99]),
        claimed(bytes(8), shape=[1 << 63, 0], data_offsets=[8, 8]),
        claimed(data_offsets=[8]),
        claimed(data_offsets=[4, 12]),
        claimed(data_offsets=[0, 8]),
        claimed(bytes(20), data_offsets=[12, 20]),
        claimed(more=1),
    ],
)
def test_what_is_no_model(content: bytes) -> None:
    assert leak_tensors.layout(content) == ("", [])
