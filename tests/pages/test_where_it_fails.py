"""What RaTEScore lets pass, against sums by hand; and reports in another form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from notebooks.ratescore.where_it_fails import (
    ERRORS,
    FORMS,
    OPPOSITE,
    SYNONYM,
    WRAPPED,
    compute_lowest_score,
    measure_forms,
    score_rewrites,
)
from radeval_lib.metrics.ratescore import RaTEScore, Scorer
from radeval_lib.rules.generator.generator import generate


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second)


def test_a_denial_loses_only_by_the_penalty() -> None:
    scorer = Scorer("short")
    weight, p = scorer.weights.weight, scorer.weights.penalty
    anatomy = weight("ANATOMY", "ANATOMY")
    sides = [weight("NON-DISEASE", "DISEASE"), weight("DISEASE", "NON-DISEASE")]
    expected = _harmonic(*((p * side + anatomy) / (side + anatomy) for side in sides))
    assert compute_lowest_score(scorer, *ERRORS["pneumonia denied"]) == pytest.approx(expected)


@pytest.mark.parametrize("weights", ["long", "short"])
@pytest.mark.parametrize(
    ("error", "score"),
    [("one of two invented", 2 / 3), ("one of two invented, true one thrice", 6 / 7), ("no entity", 0.5)],
)
def test_repeating_what_is_true_raises_the_score(weights: str, error: str, score: float) -> None:
    assert compute_lowest_score(Scorer(weights), *ERRORS[error]) == pytest.approx(score)


def test_names_that_are_alike_leave_only_the_penalty() -> None:
    scorer = Scorer("long")
    weight, p = scorer.weights.weight, scorer.weights.penalty
    anatomy = weight("ANATOMY", "ANATOMY")
    sides = [weight("ABNORMALITY", "NON-ABNORMALITY"), weight("NON-ABNORMALITY", "ABNORMALITY")]
    expected = _harmonic(*((anatomy + 2 * p * side) / (anatomy + 2 * side) for side in sides))
    alike = score_rewrites(scorer, 1)
    assert alike[SYNONYM] == pytest.approx(1)
    assert alike[OPPOSITE] == pytest.approx(expected)
    assert (score_rewrites(scorer, 0) < alike).all()


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


def test_layouts_change_a_score_by_other_sentences_alone() -> None:
    texts = [report.findings.text for report in generate(15, seed=3)]
    metric = RaTEScore()
    metric.tagger, metric.entity_encoder = _Tagger(), _Encoder()
    changed, recut, largest = measure_forms(
        metric, list(zip(texts, texts[1:] + texts[:1], strict=True))
    ).items()
    layouts = [*WRAPPED, "a space at the end"]
    assert list(changed[1].index) == list(FORMS)
    assert (changed[1][layouts] == recut[1][layouts]).all()
    assert changed[1]["upper case"] > 0
    assert ((largest[1] > 1e-6) == (changed[1] > 0)).all()
