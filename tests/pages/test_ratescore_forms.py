"""Reports in another form, by RaTEScore."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from notebooks.ratescore.where_it_fails import FORMS, changed_by_form
from radeval_lib.data.report_edits import WRAPPED
from radeval_lib.jobs.ratescore.partial_metric import with_model
from radeval_lib.metrics.ratescore.metric import RaTEScore
from radeval_lib.rules.generator.generator import generate

TEXT = "A small nodule in the left upper lobe of the lung.  No effusion! Heart size is normal"


class _Tagger:
    """Takes every word for an entity; one in capitals is of another type."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        return [
            [(word.lower(), "DISEASE" if word[1:].isupper() else "ANATOMY") for word in sentence.split()]
            for sentence in sentences
        ]


class _Encoder:
    """A direction of its own for every word, as far as sixteen go."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(16, dtype=np.float32)[[sum(map(ord, text)) % 16 for text in texts]]


@pytest.mark.parametrize("form", WRAPPED)
def test_a_layout_changes_no_word(form: str) -> None:
    assert FORMS[form](TEXT).split() == TEXT.split()


def test_forms_by_hand() -> None:
    assert FORMS["wrapped at 40 columns"](TEXT).startswith("A small nodule in the left upper lobe of\nthe")
    assert FORMS["a sentence a line"](TEXT).count("\n") == 2
    assert FORMS["sentences in reverse"](TEXT).startswith("Heart size is normal No effusion! A small")
    assert FORMS["a blank at the end"](TEXT) == f"{TEXT} "


def test_layouts_change_a_score_by_other_sentences_alone() -> None:
    texts = [report.findings.text for report in generate(15, seed=3)]
    metric = RaTEScore()
    metric.tagger, metric.entity_encoder = _Tagger(), _Encoder()
    found = changed_by_form(metric, list(zip(texts, texts[1:] + texts[:1], strict=True)))
    assert list(found.index) == list(FORMS)
    layouts = found.loc[[*WRAPPED, "a blank at the end"]]
    assert (layouts["changed"] == layouts["recut"]).all()
    assert found.loc["upper case", "changed"] > 0
    assert ((found["largest"] > 1e-6) == (found["changed"] > 0)).all()


@pytest.mark.parametrize("role", ["encoder", "ner_model"])
def test_one_model_is_asked_for_where_one_is_read(role: str) -> None:
    asked: list[str] = []

    def model(name: str) -> str:
        asked.append(name)
        return "packaged-minilm"

    run = SimpleNamespace(model=model, profile=SimpleNamespace(device="cpu"))
    metric = with_model(run, role)  # type: ignore[arg-type]
    assert asked == [role]
    assert metric.models()[role] == "packaged-minilm"
    assert metric.options.pooling == ("mean" if role == "encoder" else "cls")


def test_no_pair_has_no_form() -> None:
    with pytest.raises(ValueError, match="there is no pair"):
        changed_by_form(RaTEScore(), [])
