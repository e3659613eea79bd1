"""Pairwise Mann-Whitney tests against hand-enumerated p-values and SciPy's own exact distribution."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from radeval_lib.stats.comparisons import pairwise_mann_whitney, preferences


def _frame(**groups: list[float]) -> pd.DataFrame:
    rows = [{"group": name, "value": value} for name, values in groups.items() for value in values]
    return pd.DataFrame(rows)


def test_separated_groups_by_hand() -> None:
    # 2 against 3, fully separated: one of C(5, 2) = 10 divisions on each side, so p = 2/10
    row = pairwise_mann_whitney(_frame(a=[1, 2], b=[3, 4, 5]), value="value", group="group").iloc[0]
    assert (row["first"], row["second"], row["n_first"], row["n_second"]) == ("a", "b", 2, 3)
    assert row["u"] == 0
    assert row["difference"] == pytest.approx(-2.5)
    assert row["p"] == row["p_bonferroni"] == row["least_p"] == pytest.approx(0.2)


def test_ties_by_hand() -> None:
    # {1, 2} against {2, 3}: U = 0.5; of the 6 divisions {1, 2a} and {1, 2b} are as low, so p = 2 * 2/6
    row = pairwise_mann_whitney(_frame(a=[1, 2], b=[2, 3]), value="value", group="group").iloc[0]
    assert row["u"] == 0.5
    assert row["p"] == pytest.approx(2 / 3)


def test_without_ties_it_is_the_exact_distribution() -> None:
    a, b = [81.8, 81.4, 79.7, 82.0, 83.1], [83.3, 82.6, 82.7, 81.9]
    row = pairwise_mann_whitney(_frame(a=a, b=b), value="value", group="group").iloc[0]
    assert row["p"] == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)


def test_correction_counts_the_pairs() -> None:
    frame = _frame(a=[1, 2, 3, 4], b=[5, 6, 7, 8], c=[2.5, 6.5, 9, 10])
    table = pairwise_mann_whitney(frame, value="value", group="group")
    assert list(zip(table["first"], table["second"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (table["p_bonferroni"] == (3 * table["p"]).clip(upper=1)).all()
    assert table["least_p"].iloc[0] == pytest.approx(3 * 2 / 70)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="at least two"):
        pairwise_mann_whitney(_frame(a=[1, 2]), value="value", group="group")
    with pytest.raises(ValueError, match="missing values"):
        pairwise_mann_whitney(_frame(a=[1.0], b=[float("nan")]), value="value", group="group")
    nameless = _frame(a=[1, 2], b=[3, 4]).assign(group=["a", "a", "b", None])
    with pytest.raises(ValueError, match="missing values"):
        pairwise_mann_whitney(nameless, value="value", group="group")


@pytest.mark.parametrize(
    ("worse", "message"),
    [({"b": [1, 2]}, "same metrics"), ({"a": [1]}, "shape"), ({"a": [1, float("nan")]}, "missing")],
)
def test_preferences_refuse_what_does_not_belong_together(worse, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preferences(pd.DataFrame({"a": [1, 2]}), pd.DataFrame(worse))
    with pytest.raises(ValueError, match="shape"):
        preferences(pd.DataFrame({"a": []}), pd.DataFrame({"a": []}))
