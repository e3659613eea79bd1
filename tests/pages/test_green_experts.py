"""Six radiologists against each other, and what printed intervals tell."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from notebooks.green import expert_taus, inter_expert, radiologists, wilcoxon
from radeval_lib.data.records import ErrorCount
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.stats import agreement
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.judging import by_key, statement_outcome
from radeval_lib.study.verdicts import HOLDS

RNG = np.random.default_rng(3)
COUNTS = {kind: RNG.poisson(0.4, (40, 6, 6)).astype(float) for kind in ("significant", "insignificant")}
COUNTS["total"] = COUNTS["significant"] + COUNTS["insignificant"]
TOTALS = {kind: array.sum(axis=1) for kind, array in COUNTS.items()}


def test_the_printed_table_1_is_symmetric_and_of_200_pairs():
    assert {check.outcome for check in inter_expert.check_cells(printed("green.table1"), 200)} == {HOLDS}
    whole, mirrored = inter_expert.check_cells(printed("green.table1"), 7)
    assert (whole.outcome, mirrored.outcome) == ("fails", HOLDS)


def test_ranges_of_tau_by_reading():
    readings = expert_taus.kendall_readings(COUNTS)
    assert len(readings) == 7 * 4
    assert (readings["low"] <= readings["mean"]).all()
    row = readings.iloc[5]
    low, high = (parse(f"{row[end]:.4f}") for end in ("low", "high"))
    checks = expert_taus.check_range(readings, low, high)
    assert (len(checks), statement_outcome(checks)) == (28, "inconclusive")
    (fitting,) = (check for check in checks if check.outcome == HOLDS)
    assert row["range over"] in fitting.reading
    assert statement_outcome(expert_taus.check_range(readings, low, parse("0.9999"))) == "fails"
    with pytest.raises(ValueError, match="no tau"):
        expert_taus.check_range(readings.assign(low=np.nan), low, high)
    alike = readings.assign(low=row["low"], high=row["high"])
    assert statement_outcome(expert_taus.check_range(alike, low, high)) == HOLDS


def test_a_standard_deviation_holds_only_in_every_reading():
    one, other = (Estimate(value, value, value) for value in (0.127, 0.116))
    for text, first, outcome in (
        ("0.13", other, "inconclusive"),
        ("0.13", one, HOLDS),
        ("0.14", other, "fails"),
    ):
        rows = inter_expert.check_spread("sd", parse(text), {"n": first, "n - 1": one})
        assert statement_outcome(rows) == outcome


def test_differences_by_category_by_hand():
    counts = np.zeros((1, 6, 6))
    counts[0, 0] = [6, 0, 0, 0, 0, 0]
    found = inter_expert.by_category(counts)
    assert found["mean of all six"]["a"].tolist() == pytest.approx([5, 1, 1, 1, 1, 1])
    assert found["mean of the other five"]["a"].tolist() == pytest.approx([6] + [1.2] * 5)
    assert found["each of the other five"].loc["Expert 0", "a"] == 6
    assert not found["mean of all six"]["f"].any()


def test_w_of_computed_tests_is_found_and_p_falls_with_more_differences():
    tests = wilcoxon.wilcoxon_tests(TOTALS["total"])
    cells = pd.DataFrame({"rater": tests["rater"], "printed": tests["w"].map(str), "value": tests["w"]})
    cells["half_width"] = 0.05
    checks = wilcoxon.check_wilcoxon(TOTALS, "total", cells)
    assert {check.outcome for check in checks} == {HOLDS}  # the exact values are those of one computation
    found = agreement.wilcoxon_by_order([TOTALS["total"]])[:, 0]
    other = found[np.abs(found - tests["w"][0]) > 1].max()
    gap = (np.unique(found)[:-1] + np.diff(np.unique(found)) / 2)[np.diff(np.unique(found)).argmax()]
    for value, outcome in ((other, "inconclusive"), (gap, "fails"), (1e6, "fails")):
        cells.loc[0, "value"] = value
        assert statement_outcome(wilcoxon.check_wilcoxon(TOTALS, "total", cells)[:2]) == outcome
    assert wilcoxon.largest_p(900, 100) > wilcoxon.largest_p(900, 150)
    assert wilcoxon.largest_p(1e6, 100) == 1


def test_experts_differ_only_where_every_one_does_in_each_kind_of_error():
    rng = np.random.default_rng(0)
    every = rng.poisson([1, 1, 1, 20, 20, 20], size=(80, 6)).astype(float)
    one, none = np.zeros((40, 6)), np.zeros((40, 6))
    one[:, 0] = 2  # one expert names two errors in every pair, the others none
    none[0] = [1, 0, 0, 0, 0, 0]
    for counts, outcome in (
        ({"significant": every, "insignificant": every}, HOLDS),
        ({"significant": every, "insignificant": none}, "inconclusive"),
        ({"significant": none, "insignificant": none}, "fails"),
    ):
        checks = wilcoxon.check_experts_differ(counts)
        assert statement_outcome(checks) == outcome
    assert checks[1].computed.startswith("0 of 15 pairs")


def test_wilcoxon_with_the_mean_is_exact_where_sixths_are_not():
    counts = np.random.default_rng(5).poisson(1.2, (200, 6))
    frame = wilcoxon.wilcoxon_tests(counts)
    scaled = 6 * counts - counts.sum(axis=1, keepdims=True)
    wanted = [stats.wilcoxon(column, method="approx") for column in scaled.T]
    assert frame["w"].tolist() == [test.statistic for test in wanted]
    np.testing.assert_allclose(frame["p"], [test.pvalue for test in wanted])
    np.testing.assert_allclose(
        frame["difference"], (counts - counts.mean(axis=1, keepdims=True)).mean(axis=0)
    )
    assert (frame["n"] == (scaled != 0).sum(axis=0)).all()
    # Leaving the rater out of the mean scales every difference by 6/5: ranks, W and p stay.
    loo = [
        stats.wilcoxon(np.rint(5 * one), method="approx")
        for one in (counts - agreement.mean_of_others(counts)).T
    ]
    assert frame["w"].tolist() == [test.statistic for test in loo]


def test_an_upper_bound_is_an_order_and_a_lead():
    # A computed and a printed number stand in an order only where the lead is established.
    cases = {(0.9, 0.88, 0.92): HOLDS, (0.8, 0.7, 0.9): "inconclusive", (0.5, 0.4, 0.6): "fails"}
    for tau, outcome in cases.items():
        found = expert_taus.check_upper_bound(Estimate(*tau))
        assert [(check.aspect, check.outcome) for check in found] == [("order", outcome), ("lead", outcome)]


def test_pairs_and_cases_are_counted():
    pairs = [(0, "bleu"), (0, "bleu"), (0, "s_emb"), (1, "bleu")]
    records = [ErrorCount(study, origin, 1, "0", True, 1.0) for study, origin in pairs]
    assert [(check.computed, check.outcome) for check in inter_expert.check_counts(records)] == [
        ("3", "fails"),
        ("2", "fails"),
    ]


def test_taus_of_experts_who_agree_are_one():
    counts = np.tile(np.arange(20.0)[:, None], (1, 6))
    run = SimpleNamespace(profile=SimpleNamespace(resamples=60), rng=lambda name: np.random.default_rng(0))
    table, draws = expert_taus.inter_expert_taus(counts, run)
    assert table.to_numpy().ravel().tolist() == pytest.approx([1.0] * 9)
    assert draws.shape == (30, 3)


def test_the_radiologists_row_holds_only_in_every_reading():
    draws = pd.DataFrame({"pairs": [0.73] * 400, "others": 0.76, "all six": 0.81})
    table = pd.DataFrame({"tau": draws.mean()})
    for text, outcome in (("0.81", "inconclusive"), ("0.50", "fails")):
        checks = expert_taus.check_inter_expert(dict.fromkeys(expert_taus.ENDS, parse(text)), table, draws)
        assert [statement_outcome(rows) for rows in by_key(checks)] == [outcome] * 3
    alike = draws.assign(pairs=0.81, others=0.81)
    row = dict.fromkeys(expert_taus.ENDS, parse("0.81"))
    checks = expert_taus.check_inter_expert(row, pd.DataFrame({"tau": alike.mean()}), alike)
    assert [statement_outcome(rows) for rows in by_key(checks)] == [HOLDS] * 3


def test_a_quantile_that_few_resamples_do_not_bound_is_open_to_the_end_of_the_scale():
    values = np.linspace(0.2, 0.4, 100)
    few = expert_taus.quantile(values, 0.025)
    assert (few.low, few.high) == (-1, pytest.approx(values[5], abs=0.01))
    assert expert_taus.quantile(values, 0.975).high == 1
    many = expert_taus.quantile(np.linspace(0.2, 0.4, 1000), 0.025)
    assert 0.2 < many.low < many.value < many.high < 0.22


def test_rounding_may_decide_who_deviates_most() -> None:
    names = ["Expert 2", "GREEN", "GREEN GPT-4"]
    table = pd.DataFrame({"(a)": [0.3, 0.2, 0.1], "(c)": [0.212, 0.21, 0.1]}, index=names)
    steps = pd.DataFrame(0.005, names[1:], table.columns)
    assert inter_expert.largest_of(table, "GREEN", steps) == {(), ("(c)",)}
    for lists, outcome in (
        ([{("(c)",)}, {("(c)",)}], HOLDS),
        ([{("(a)", "(c)")}, {()}], "fails"),
        ([{("(c)",)}, {()}], "inconclusive"),
        ([{("(c)",)}, {("(c)", "(d)"), ()}], "inconclusive"),
        ([{("(c)", "(d)", "(e)"), ("(c)", "(e)")}, {("(c)", "(d)"), ("(d)",)}], "fails"),
    ):
        assert statement_outcome(inter_expert.check_largest(dict(zip("xy", lists, strict=True)))) == outcome
    assert inter_expert.largest_of(table, "GREEN", steps / 5) == {()}
    assert inter_expert.largest_of(table, "Expert 2", steps / 5) == {("(a)", "(c)")}
    # The other model's digits are rounded too: 0.215 to 0.225 against 0.208 to 0.212 and 0.218 to 0.228.
    table.loc[["GREEN", "GREEN GPT-4"], "(c)"] = [0.22, 0.223]
    assert inter_expert.largest_of(table, "GREEN", steps) == {(), ("(c)",)}
    # What prints as 0.14 is above what prints as 0.13.
    table.loc[["GREEN", "GREEN GPT-4"], "(c)"] = [0.14, 0.13]
    table.loc["Expert 2"] = [0.3, 0.132]
    assert inter_expert.largest_of(table, "GREEN", steps) == {("(c)",)}
    rows = inter_expert.check_largest({"x": {(), ("(c)",)}, "y": {("(a)", "(c)")}})
    assert [row.computed for row in rows] == ["(c) or none", "(a), (c)"]


def test_counts_that_no_test_reads_are_refused() -> None:
    for counts in (np.full((8, 6), 0.5), np.full((8, 7), 1.0), np.full((8, 6), np.nan)):
        with pytest.raises(ValueError, match=r"whole, of at most 6|not finite"):
            wilcoxon.wilcoxon_tests(counts)
    for w, fewest in ((float("nan"), 100), (-1, 100), (3, 0)):
        with pytest.raises(ValueError, match="no P follows"):
            wilcoxon.largest_p(w, fewest)
    with pytest.raises(ValueError, match="7 pairs are not four of each case"):
        radiologists.cases_of(np.zeros((7, 6)))
    with pytest.raises(ValueError, match="not finite"):
        expert_taus.quantile([0.5, float("nan")], 0.025)
