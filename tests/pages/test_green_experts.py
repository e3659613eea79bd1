"""Six radiologists against each other, and printed means against what they leave."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from notebooks.green import experts, judge_models
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.stats import agreement
from radeval_lib.study.verdicts import FAILS, HOLDS, INCONCLUSIVE

PROFILE = SimpleNamespace(resamples=60)
RNG = np.random.default_rng(3)
COUNTS = {kind: RNG.poisson(0.4, (40, 6, 6)).astype(float) for kind in ("significant", "insignificant")}
COUNTS["total"] = COUNTS["significant"] + COUNTS["insignificant"]
TOTALS = {kind: array.sum(axis=1) for kind, array in COUNTS.items()}


def test_ranges_of_tau_by_reading() -> None:
    readings = experts.tabulate_tau_ranges(COUNTS)
    assert len(readings) == 7 * 4
    row = readings.iloc[5]
    low, high = (parse(f"{row[end]:.4f}") for end in ("low", "high"))
    outcomes = [check.outcome for check in experts.check_range(readings, low, high)]
    assert outcomes.count(HOLDS) == 1
    assert outcomes[5] == HOLDS


def test_differences_by_category_by_hand() -> None:
    counts = np.zeros((1, 6, 6))
    counts[0, 0] = [6, 0, 0, 0, 0, 0]
    by_category = experts.compare_by_category(counts)
    assert by_category["mean of all six"]["(a)"].tolist() == pytest.approx([5, 1, 1, 1, 1, 1])
    assert by_category["mean of the other five"]["(a)"].tolist() == pytest.approx([6] + [1.2] * 5)
    assert by_category["each of the other five"].loc["Expert 0", "(a)"] == 6
    assert not by_category["mean of all six"]["(f)"].any()
    assert experts.average_over_others(np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0]])).tolist() == [3, 2.5, 4.5]


def test_w_is_exact_where_sixths_are_not() -> None:
    counts = np.random.default_rng(5).poisson(1.2, (200, 6))
    frame = experts.run_wilcoxon_tests(counts)
    scaled = 6 * counts - counts.sum(axis=1, keepdims=True)
    wanted = [stats.wilcoxon(column, method="approx") for column in scaled.T]
    assert frame["w"].tolist() == [test.statistic for test in wanted]
    np.testing.assert_allclose(frame["p"], [test.pvalue for test in wanted])
    # Leaving the rater out of the mean scales every difference by 6/5: ranks, W and p stay.
    left_out = [np.rint(5 * gap) for gap in (counts - agreement.mean_of_others(counts)).T]
    assert frame["w"].tolist() == [stats.wilcoxon(gaps, method="approx").statistic for gaps in left_out]


def test_a_printed_w_is_compared_with_the_exact_and_the_rounded_ones() -> None:
    tests = experts.run_wilcoxon_tests(TOTALS["total"])
    cells = pd.DataFrame({"rater": tests.index, "printed": tests["w"].map(str), "value": tests["w"]})
    cells["half_width"] = 0.05
    checks = experts.check_wilcoxon(TOTALS, "total", cells)
    assert {check.outcome for check in checks if check.reading == "exact"} == {HOLDS}
    far = experts.check_wilcoxon(TOTALS, "total", cells.assign(value=1e6))
    assert {check.outcome for check in far} == {FAILS}


def test_experts_differ_only_where_every_one_does() -> None:
    rng = np.random.default_rng(0)
    every = rng.poisson([1, 1, 1, 20, 20, 20], size=(80, 6)).astype(float)
    none = np.zeros((40, 6))
    none[0] = [1, 0, 0, 0, 0, 0]
    for counts, outcome in ((every, HOLDS), (none, FAILS)):
        checks = experts.check_experts_differ({"significant": counts})
        assert [check.outcome for check in checks] == [outcome] * 2


def test_taus_of_experts_who_agree_are_one() -> None:
    counts = np.tile(np.arange(20.0)[:, None], (1, 6))
    run = cast(Any, SimpleNamespace(profile=PROFILE, rng=lambda name: np.random.default_rng(0)))
    table, draws = experts.estimate_taus(counts, run)
    assert table.to_numpy().ravel().tolist() == pytest.approx([1.0] * 9)
    assert draws.shape == (30, 3)
    assert experts.average_tau(counts, counts[:, :1], run).value == pytest.approx(1)


def test_a_quantile_that_few_resamples_do_not_bound_is_open_to_the_end_of_the_scale() -> None:
    values = np.linspace(0.2, 0.4, 100)
    few = experts.estimate_quantile(values, 0.025)
    assert (few.low, few.high) == (-1, pytest.approx(values[5], abs=0.01))
    many = experts.estimate_quantile(np.linspace(0.2, 0.4, 1000), 0.025)
    assert 0.2 < many.low < many.value < many.high < 0.22


def test_rounding_may_decide_who_deviates_most() -> None:
    names = ["Expert 2", "GREEN", "GREEN GPT-4"]
    table = pd.DataFrame({"(a)": [0.3, 0.2, 0.1], "(c)": [0.212, 0.21, 0.1]}, index=names)
    steps = pd.DataFrame(0.005, names[1:], table.columns)
    assert experts.find_largest(table, "GREEN", steps) == {(), ("(c)",)}
    assert experts.find_largest(table, "GREEN", steps / 5) == {()}
    assert experts.find_largest(table, "Expert 2", steps / 5) == {("(a)", "(c)")}
    # The other model's digits are rounded too: 0.215 to 0.225 against 0.208 to 0.212 and 0.218 to 0.228.
    table.loc[["GREEN", "GREEN GPT-4"], "(c)"] = [0.22, 0.223]
    assert experts.find_largest(table, "GREEN", steps) == {(), ("(c)",)}
    for lists, outcome in (
        ({("(c)",)}, HOLDS),
        ({("(a)", "(c)")}, FAILS),
        ({()}, FAILS),
        ({(), ("(c)",)}, INCONCLUSIVE),
        ({("(c)",), ("(c)", "(d)")}, INCONCLUSIVE),
    ):
        (check,) = experts.check_largest({"x": lists})
        assert (check.outcome, lists) == (outcome, lists)


def table_of(*cells: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(cells, columns=["model", "quantity", "statistic", "value"])
    return frame.assign(printed=frame["value"].map("{:.2f}".format), half_width=0.005)


def test_printed_spreads_against_their_bounds() -> None:
    wide = table_of(("a", "GREEN", "mean", 0.5), ("a", "GREEN", "sd", 0.6))
    (check,) = judge_models.check_spreads(wide)
    assert (check.outcome, check.name) == (FAILS, "standard deviations of GREEN scores")
    counts = table_of(("a", "matched findings", "mean", 2.5), ("a", "matched findings", "sd", 0.3))
    (check,) = judge_models.check_spreads(counts)  # half of them 2, half 3: no less than 0.5
    assert (check.outcome, check.name) == (FAILS, "standard deviations of counts and their differences")
    assert {check.outcome for check in judge_models.check_spreads(printed("green.table2"))} == {INCONCLUSIVE}
