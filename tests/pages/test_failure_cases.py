"""Answers that are no better than a guess, and the types of A.5 put right."""

import pandas as pd
import pytest

from radeval_lib.metrics.ratescore import Entity
from radeval_lib.pages.ratescore.failure_cases import by_answer, no_better, right_types


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.51, 0.9, False),
        (0.51, 0.58, False),
        (0.4, 0.59, True),
        (0.1, 0.4, True),
        (0.5, 0.6, None),
        (0.0, 1.0, None),
    ],
)
def test_to_be_no_better_than_a_guess_takes_a_narrow_interval(
    low: float, high: float, answer: bool | None
) -> None:
    assert no_better(low, high) is answer


def test_metrics_are_grouped_by_what_their_intervals_show() -> None:
    shares = pd.DataFrame({"low": [0.6, 0.7, 0.4], "high": [0.8, 0.9, 0.55]}, index=["A", "B", "C"])
    assert by_answer(shares) == {"better": "A and B", "no_better": "C", "neither": "none"}


def test_findings_are_denied_but_in_the_opposite() -> None:
    found = [Entity("edema", "DISEASE"), Entity("lung", "ANATOMY")]
    denied = [Entity("edema", "NON-DISEASE")]
    assert right_types({"reference": found, "opposite rewrite": denied}) == {
        "reference": [("edema", "NON-DISEASE"), ("lung", "ANATOMY")],
        "opposite rewrite": [("edema", "DISEASE")],
    }
