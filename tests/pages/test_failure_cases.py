"""RaTEScore of the triple of A.5 with given entities, against sums by hand."""

import pytest

from notebooks.ratescore.failure_cases import (
    OPPOSITE,
    SYNONYM,
    by_entities,
    ranges,
)
from radeval_lib.metrics.ratescore import Scorer


def test_names_that_are_alike_leave_only_the_penalty() -> None:
    scorer = Scorer("long")
    w, p = scorer.weights.weight, scorer.weights.penalty
    place = w("ANATOMY", "ANATOMY")
    there, back = (
        (place + 2 * p * weight) / (place + 2 * weight)
        for weight in (w("ABNORMALITY", "NON-ABNORMALITY"), w("NON-ABNORMALITY", "ABNORMALITY"))
    )
    found = by_entities("long", 1)
    assert found[SYNONYM] == pytest.approx(1)
    assert found[OPPOSITE] == pytest.approx(2 * there * back / (there + back))


def test_unlike_names_score_lower() -> None:
    for frame in ranges().values():
        assert (frame.loc["unlike"] < frame.loc["alike"]).all()


@pytest.mark.parametrize("cosine", [-0.5, 1.5])
def test_cosines_that_matched_names_cannot_have_are_refused(cosine: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        by_entities("long", cosine)
