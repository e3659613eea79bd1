"""What a training starts from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radeval_lib.data.roles import load
from radeval_lib.errors import ModelError
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.naming import AFTER_GRAPHS, UNTRAINED
from radeval_lib.models.ner.initial import prepare
from radeval_lib.models.ner.iob import IobScheme

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")


def test_a_plain_name_is_taken_as_it_is(tmp_path: Path) -> None:
    assert prepare("packaged-minilm", tmp_path, seed=1) == "packaged-minilm"
    assert not list(tmp_path.iterdir())


def test_an_untrained_model_has_the_architecture_and_random_weights(tmp_path: Path) -> None:
    folders = [
        prepare(UNTRAINED + TINY, tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    first, same, other = (Encoder(folder, device="cpu").encode(["effusion"])[0] for folder in folders)
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)
    assert not np.allclose(first, Encoder(TINY, device="cpu").encode(["effusion"])[0])
    assert prepare(UNTRAINED + TINY, tmp_path / "a", seed=1) == folders[0]


def test_a_model_after_graphs_starts_another_training(tmp_path: Path) -> None:
    graphs = load("graph_corpus", "synthetic", size=12, seed=1, root=None)
    start = prepare(AFTER_GRAPHS + TINY, tmp_path, seed=1, graphs=graphs, device="cpu")
    assert len(IobScheme(start).labels) == 11  # the five types of RaTE-NER, not the graphs' four labels
    before, after = (Encoder(model, device="cpu").encode(["effusion"])[0] for model in (TINY, start))
    assert not np.allclose(before, after)


def test_graphs_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="needs sentences with graphs"):
        prepare(AFTER_GRAPHS + TINY, tmp_path, seed=1)
