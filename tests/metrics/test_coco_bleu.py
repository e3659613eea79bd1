"""BLEU of the COCO scorer. Values marked "scorer" come from running RadEval e0a3909's bleu_scorer.py."""

from __future__ import annotations

import math

import pytest

from radeval_lib.metrics.bleu import corpus_bleu, sentence_bleu


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("normal", (1e-6) ** (3 / 4)),  # three orders without an n-gram, each 1e-15 / 1e-9
        ("no change", (1e-6) ** (2 / 4)),
        ("no acute process", (1e-6) ** (1 / 4)),  # scorer: 0.0316
        ("no acute cardiopulmonary process", 1.0),
    ],
)
def test_identical_short_texts(text: str, value: float) -> None:
    assert sentence_bleu([text], [text])[0] == pytest.approx(value, rel=1e-6)


def test_brevity_case_and_punctuation() -> None:
    # Candidate of 4 words, reference of 5: precisions 1, so exp(1 - 5/4).
    assert corpus_bleu(["a b c d e"], ["a b c d"]) == pytest.approx(math.exp(-0.25))
    assert corpus_bleu(["a b c d"], ["A b c d"], order=1) == pytest.approx(0.75)
    assert corpus_bleu(["a b c d"], ["a b c d."], order=1) == pytest.approx(0.75)
