"""Encoders and their cache."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from radeval_lib.errors import FileError
from radeval_lib.models.batching import well_formed
from radeval_lib.models.cache import BlobCache
from radeval_lib.models.catalog import checksum
from radeval_lib.models.encoders import Encoder

pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = ["pleural effusion", "effusion", "", "left lower lobe", "effusion", "x" * 2_000, "\ud800"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(device="cpu")


def test_each_text_once_and_in_order(encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[1], vectors[4])
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_is_what_it_says(encoder, pooling) -> None:
    inputs = encoder.tokenizer("mild pulmonary edema", return_tensors="pt")
    with torch.no_grad():
        hidden = encoder.model(**inputs).last_hidden_state[0].numpy()
    expected = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    other = Encoder(pooling=pooling, device="cpu")
    pooled = other.encode(["mild pulmonary edema", "edema of some more words than the other text"])[0]
    np.testing.assert_allclose(pooled, expected, atol=1e-5)


def test_bfloat16_changes_vectors_little_and_is_cached_apart(tmp_path) -> None:
    exact = Encoder(device="cpu", cache=tmp_path).encode(TEXTS)
    rounded = Encoder(device="cpu", cache=tmp_path, precision="bfloat16").encode(TEXTS)
    assert np.abs(rounded - exact).max() > 1e-4
    cosines = (rounded * exact).sum(1) / np.linalg.norm(rounded, axis=1) / np.linalg.norm(exact, axis=1)
    assert cosines.min() > 0.999


def test_cache_is_by_model_and_setting(tmp_path, encoder, monkeypatch) -> None:
    first = Encoder(cache=tmp_path, device="cpu")
    vectors = first.encode(TEXTS)
    again = Encoder(cache=tmp_path, device="cpu")
    monkeypatch.setattr(again, "_computed", lambda texts: pytest.fail(f"computed {texts}"))
    np.testing.assert_array_equal(again.encode(TEXTS), vectors)
    other = Encoder(cache=tmp_path, pooling="mean", device="cpu")
    assert np.abs(other.encode(["effusion"]) - vectors[1]).max() > 1e-3
    assert b"pleural effusion" not in (tmp_path / "cache.sqlite").read_bytes()


def test_broken_cache_is_named(tmp_path) -> None:
    (tmp_path / "cache.sqlite").write_bytes(b"no database, though long enough to be taken for one" * 100)
    with pytest.raises(FileError, match="unusable cache"):
        BlobCache(tmp_path, "t")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The settings of a model's folder, and some weights."""
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text('{"hidden_size": 8, "transformers_version": "5.0"}')
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true, "is_local": true}')
    (tmp_path / "tokenizer.json").write_text('{"truncation": null, "padding": null, "model": {"a": 1}}')
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", '{"transformers_version": "5.1", "hidden_size": 8}'),
        ("tokenizer_config.json", '{"do_lower_case": true, "is_local": false, "local_files_only": true}'),
        ("tokenizer.json", '{"truncation": {"max_length": 9}, "padding": null, "model": {"a": 1}}'),
    ],
)
def test_how_a_model_was_loaded_or_called_is_not_in_its_checksum(
    copied: Path, file: str, content: str
) -> None:
    before = checksum(copied)
    (copied / file).write_text(content)
    assert checksum(copied) == before


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", "WEIGHTS"),
        ("config.json", '{"hidden_size": 9, "transformers_version": "5.0"}'),
        ("tokenizer_config.json", '{"do_lower_case": false, "is_local": true}'),
        ("tokenizer.json", '{"truncation": null, "padding": null, "model": {"a": 2}}'),
        ("tokenizer.json", "damaged"),
        ("vocab.txt", "a"),
    ],
)
def test_what_decides_a_models_output_is_in_its_checksum(copied: Path, file: str, content: str) -> None:
    before = checksum(copied)
    path = copied / file
    path.write_text(content)
    os.utime(path, ns=(0, 1))  # as a file that changed within the clock's grain would not show
    assert checksum(copied) != before


def test_well_formed() -> None:
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "\U0001f600"
    assert well_formed("é中") == "é中"


def test_a_tokenizer_that_pads_on_the_left_gives_the_same_vectors(tmp_path) -> None:
    source = Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner"
    folder = shutil.copytree(source, tmp_path / "left")
    transformers.AutoTokenizer.from_pretrained(source, padding_side="left").save_pretrained(folder)
    texts = ["a small effusion in the left lung", "no", "effusion"]
    padded_left, expected = (Encoder(path, device="cpu").encode(texts) for path in (folder, source))
    np.testing.assert_array_equal(padded_left, expected)
