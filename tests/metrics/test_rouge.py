"""ROUGE-L by bits against the package's own table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from radeval_lib.metrics import create

TEXTS = st.lists(st.sampled_from(["lungs", "Lung", "clear", "no", "effusions,", "5", "é"]), max_size=30).map(
    " ".join
)


@given(TEXTS, TEXTS, st.booleans())
def test_rouge_l_is_the_packages(reference: str, candidate: str, stem: bool) -> None:
    wanted = RougeScorer(["rougeL"], use_stemmer=stem).score(reference, candidate)["rougeL"]
    scores = create("rouge_l", stem=stem).score([reference], [candidate])
    assert scores.values[0] == pytest.approx(wanted.fmeasure, abs=1e-15)
    assert scores.details[0] == {"precision": wanted.precision, "recall": wanted.recall}
