"""Preferences of metrics between two texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from radeval_lib.stats.comparisons import preferences, preferred
from radeval_lib.wording import percent


def test_preferences() -> None:
    better = pd.DataFrame({"x": [1.0, 1.0, 0.5, 0.2], "blind": [0.5] * 4})
    worse = pd.DataFrame(
        {"x": [0.9, 0.2, 0.5, 0.3], "blind": [0.5, 0.5, 0.5 + 1e-12, 0.5]}, index=list("abcd")
    )
    found = preferences(better, worse)
    assert found["value"].to_dict() == {"x": 0.625, "blind": 0.5}  # two right, a tie, one wrong
    assert found["tied"].to_dict() == {"x": 0.25, "blind": 1.0}
    assert found["n"].tolist() == [4, 4]
    assert preferred(better, worse)["x"].tolist() == [1.0, 1.0, 0.5, 0.0]
    all_right = preferences(better[["x"]] + 1, worse[["x"]])
    wilson = stats.binomtest(4, 4).proportion_ci(0.95, method="wilson")
    assert all_right.loc["x", ["low", "high"]].tolist() == pytest.approx([wilson.low, wilson.high])


def test_preferences_with_groups_count_groups() -> None:
    better, worse = (
        pd.DataFrame({"x": [1.0, 1.0, 1.0, 0.0, 1.0]}),
        pd.DataFrame({"x": [0.0] * 3 + [1.0, 0.0]}),
    )
    found = preferences(better, worse, groups=["a", "a", "b", "b", "c"]).loc["x"]
    assert found["value"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert found[["n", "groups"]].tolist() == [5, 3]
    plain = preferences(better, worse).loc["x"]
    doubled = preferences(pd.concat([better] * 2), pd.concat([worse] * 2), groups=[*range(5), *range(5)]).loc[
        "x"
    ]
    assert doubled[["value", "low", "high"]].tolist() == plain[["value", "low", "high"]].tolist()
    with pytest.raises(ValueError, match="groups of shape"):
        preferences(better, worse, groups=["a"])


def test_percent_says_none_and_all_of_none_and_all_alone() -> None:
    shares = (0.0, 0.002, 0.0099, 0.01, 0.444, 0.996, 1.0)
    told = ["0%", "under 1%", "under 1%", "1%", "44%", "over 99%", "100%"]
    assert [percent(share) for share in shares] == told


def test_preferences_refuse_what_does_not_belong_together() -> None:
    one, two = pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"y": [1.0, 2.0]})
    with pytest.raises(ValueError, match="belong together"):
        preferences(one, two)
    with pytest.raises(ValueError, match="belong together"):
        preferences(one, one.iloc[:1])
    with pytest.raises(ValueError, match="no item"):
        preferences(one.iloc[:0], one.iloc[:0])
    with pytest.raises(ValueError, match="not finite"):
        preferences(one, one * np.nan)
    with pytest.raises(ValueError, match="level"):
        preferences(one, one, level=1)
