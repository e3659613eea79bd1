"""Single errors with their controls, preferences of metrics, and agreement with length held constant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin as pg
import pytest
from scipy import stats

from radeval_lib.pages.ratescore.single_errors import NONE, UNRELATED, single_errors
from radeval_lib.stats.comparisons import preferences, preferred
from radeval_lib.stats.correlations import length_held_constant
from radeval_lib.wording import percent


@pytest.fixture(scope="module")
def single() -> pd.DataFrame:
    return single_errors(3, seed=5)


def test_each_reference_has_every_kind_in_both_wordings(single: pd.DataFrame) -> None:
    assert single.groupby("case").size().tolist() == [27, 27, 27]
    assert single.groupby("case")["reference"].nunique().tolist() == [1, 1, 1]
    errors = single[single["kind"].isin(list("abcdef"))]
    assert errors.groupby(["case", "kind", "significant", "wording"]).size().eq(1).all()
    assert len(errors) == 3 * 6 * 2 * 2


def test_controls(single: pd.DataFrame) -> None:
    control = single[single["kind"] == NONE].set_index(["wording", "case"])
    assert (control.loc["copied", "candidate"] == control.loc["copied", "reference"]).all()
    assert (control.loc["reworded", "candidate"] != control.loc["reworded", "reference"]).all()
    other = single[single["kind"] == UNRELATED].set_index("case")
    assert other["candidate"].tolist() == other["reference"].loc[[1, 2, 0]].tolist()
    assert not single.loc[single["kind"].isin([NONE, UNRELATED]), "significant"].any()


def test_both_wordings_make_the_same_error_and_differ_from_their_base(single: pd.DataFrame) -> None:
    keys, says = ["case", "kind", "significant"], ["reference_says", "candidate_says"]
    errors = single[single["kind"].isin(list("abcdef"))].set_index(keys)
    one, two = (errors[errors["wording"] == wording][says].sort_index() for wording in ("copied", "reworded"))
    pd.testing.assert_frame_equal(one, two)
    assert (one.loc[(slice(None), "b", slice(None)), "candidate_says"] == "").all()
    base = single[single["kind"] == NONE].set_index(["case", "wording"])["candidate"]
    for row in single[single["kind"].isin(list("abcdef"))].itertuples():
        assert row.candidate != base[row.case, row.wording]


def test_single_errors_depend_on_the_seed_alone(single: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(single, single_errors(3, seed=5))
    first = single_errors(2, seed=5)
    assert first["reference"].unique().tolist() == single["reference"].unique().tolist()[:2]
    assert not set(single["reference"]) & set(single_errors(2, seed=6)["reference"])
    with pytest.raises(ValueError, match="at least two"):
        single_errors(1, seed=5)


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


def test_partial_correlation_is_that_of_pingouin() -> None:
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("xyvw")).round(1)
    data["x"] += data["v"]
    data["y"] += data["v"] - data["w"]
    for held in (["v"], ["v", "w"]):
        lengths = [data[key] for key in held]
        found = length_held_constant(
            data[["x"]], data["y"], lengths, groups=data.index, resamples=2, rng=np.random.default_rng(0)
        )
        theirs = pg.partial_corr(data, "x", "y", held, method="spearman")["r"].item()
        assert found.loc["x", "partial"] == pytest.approx(theirs)
        plain = stats.spearmanr(data["x"], data["y"]).statistic
        assert found.loc["x", "plain"] == pytest.approx(plain)


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("held", [np.ones(5), np.arange(5.0) ** 2])  # x is a function of the second
def test_partial_correlation_is_undefined_without_spread(held: np.ndarray) -> None:
    scores = pd.DataFrame({"x": np.arange(5.0)})
    found = length_held_constant(
        scores, [1, 3, 2, 5, 4], [held], groups=np.arange(5), resamples=2, rng=np.random.default_rng(0)
    )
    assert np.isnan(found.loc["x", "partial"])


def test_length_held_constant() -> None:
    rng = np.random.default_rng(4)
    length = rng.normal(size=150)
    ratings = length + 0.3 * rng.normal(size=150)
    scores = pd.DataFrame({"length": length + 0.3 * rng.normal(size=150), "meaning": ratings - length})
    groups = np.arange(150) // 2

    def found(seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        return length_held_constant(scores, ratings, [length], groups=groups, resamples=80, rng=rng)

    table = found(1)
    assert table.loc["length", "plain"] > 0.8
    assert abs(table.loc["length", "partial"]) < 0.2
    assert table.loc["length", "high"] < 0 < table.loc["meaning", "low"]
    assert (table["change"] == table["partial"] - table["plain"]).all()
    assert (table["low"] < table["change"]).all()
    assert (table["change"] < table["high"]).all()
    pd.testing.assert_frame_equal(table, found(1))
    assert (found(2)["low"] != table["low"]).all()
