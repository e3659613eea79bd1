"""Comparisons of generated with real ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from radeval_lib.data.records import ErrorCount
from radeval_lib.pages.across import simulation
from radeval_lib.pages.across.which_judge import PERSON


def _world(**values: float) -> pd.DataFrame:
    """Each metric's draws spread by 0.05, independently of the others'."""
    rng = np.random.default_rng(0)
    rows = [("grade", name, value, value + rng.normal(0, 0.05, 999)) for name, value in values.items()]
    columns = ["what", "metric", "value", "draws"]
    return pd.DataFrame([*rows, ("grade", PERSON, 0.9, np.full(999, 0.9))], columns=columns)


def test_only_what_the_simulation_decides_can_agree() -> None:
    real, made = _world(a=0.1, b=0.5, c=0.3), _world(a=0.2, b=0.3, c=0.6)
    found = simulation.comparisons(real, made).loc["grade"]
    # Decided: a below c, and b below c, which is the other way round in reality. One grader is no metric.
    assert found[["comparisons", "decided", "agree"]].tolist() == [3, 2, 1]
    # Reality decides all three.
    assert found[["both", "alike"]].tolist() == [2, 1]
    assert found["spearman"] == 0.5


def test_counts_of_two_raters() -> None:
    counts = {("one", 0, "r1"): 2, ("one", 0, "r2"): 1, ("two", 1, "r1"): 0, ("two", 1, "r2"): 0}
    records = [
        ErrorCount(case, origin, category, rater, True, count if category == 1 else 0)
        for (origin, case, rater), count in counts.items()
        for category in range(1, 7)
    ]
    found = simulation.counted(records)
    assert found["errors a candidate"] == 0.75
    assert found["share without an error"] == 0.5
    assert found["share of category a"] == found["share significant"] == 1
    assert found["standard deviation over raters"] == 0.25
