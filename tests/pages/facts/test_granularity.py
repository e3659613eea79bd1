"""The simulated divide: alphas by hand, a mechanism that makes it, and departures that unmake it."""

from __future__ import annotations

import numpy as np
import pytest

from notebooks.facts.granularity import (
    DEPARTURES,
    Departure,
    count_alphas,
    divide,
    sweep,
    three_raters,
)
from radeval_lib.stats.measures import FactCounts


def test_alphas_of_raters_who_halve() -> None:
    # The second rater counts half of everything: ratios agree, counts do not.
    fine = [FactCounts(4, 4, 2, 4), FactCounts(6, 4, 4, 4), FactCounts(8, 6, 2, 6)]
    coarse = [FactCounts(2, 2, 1, 2), FactCounts(3, 2, 2, 2), FactCounts(4, 3, 1, 3)]
    found = count_alphas([fine, coarse])
    assert found["Precision"] == found["Recall"] == found["F-Score"] == 1
    # By hand for R: 4 6 8 against 2 3 4; observed 2 * (2 + 4.5 + 8) / 3, expected 2 * 4.7.
    assert found["R facts"] == pytest.approx(1 - (2 * (2 + 4.5 + 8) / 3) / (2 * 4.7))
    assert divide(found) == 1 - max(
        found[name] for name in ("R facts", "G facts", "G&R facts", "G acc facts")
    )


def test_the_mechanism_makes_the_divide_and_misjudging_unmakes_it() -> None:
    made, slipping = (
        Departure("none", "step", (0.0,), lambda step, slip=slip: {"slips": slip}) for slip in (0.0, 0.3)
    )
    with_it = sweep(np.random.default_rng(0), made, 0.15, 20)
    without = sweep(np.random.default_rng(0), slipping, 0.15, 20)
    assert with_it["divide"].mean() > 0 > without["divide"].mean()
    equal = sweep(np.random.default_rng(0), made, 0.0, 20)
    assert equal["R facts"].mean() > with_it["R facts"].mean()


def test_the_first_step_is_none() -> None:
    for one in DEPARTURES:
        assert {"alike": 1.0, "slips": 0.0} | one.raters(one.steps[0]) == {"alike": 1.0, "slips": 0.0}
    assert three_raters(0.0) == (0.65, 0.65, 0.65)
