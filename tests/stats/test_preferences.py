"""Preferences of metrics between two texts."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from radeval_lib.stats.inference import preferences


def test_preferences() -> None:
    better = pd.DataFrame({"x": [1.0, 1.0, 0.5, 0.2], "blind": [0.5] * 4})
    worse = pd.DataFrame(
        {"x": [0.9, 0.2, 0.5, 0.3], "blind": [0.5, 0.5, 0.5 + 1e-12, 0.5]}, index=list("abcd")
    )
    found = preferences(better, worse)
    assert found["value"].to_dict() == {"x": 0.625, "blind": 0.5}  # two right, a tie, one wrong
    assert found["tied"].to_dict() == {"x": 0.25, "blind": 1.0}
    assert found["n"].tolist() == [4, 4]
    all_right = preferences(better[["x"]] + 1, worse[["x"]])
    wilson = stats.binomtest(4, 4).proportion_ci(0.95, method="wilson")
    assert all_right.loc["x", ["low", "high"]].tolist() == pytest.approx([wilson.low, wilson.high])
