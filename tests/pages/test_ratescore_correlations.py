"""Printed coefficients: intervals, orders and leads; and counted errors against length."""

from types import SimpleNamespace

import pandas as pd
import pytest

from notebooks.ratescore.correlations import (
    PrintedAgreement,
    assign_length_groups,
    check_length_rule,
    list_possible_counts,
    split_by_measure,
    tabulate_radpref_errors,
)
from radeval_lib.data import recorded
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.printed import correlation_interval
from radeval_lib.study.page_runs import OpenExhibit

ROWS = [
    ("Sentences, Pearson", "RaTEScore", "0.50", 0.5, 0.005),
    ("Sentences, Pearson", "BLEU", "0.20", 0.2, 0.005),
    ("Rewrites, accuracy", "RaTEScore", "0.90", 0.9, 0.005),
    ("Rewrites, accuracy", "BLEU", "0.40", 0.4, 0.005),
]
PRINTED = pd.DataFrame(ROWS, columns=["column", "metric", "printed", "value", "half_width"])
AGREEMENT = PrintedAgreement(PRINTED, {"Sentences": 400, "Rewrites": 100})


def test_intervals_are_fishers_for_correlations_and_wilsons_for_shares() -> None:
    result = AGREEMENT.add_intervals()
    low, high = correlation_interval(0.5, 400, "pearson")
    assert result.loc[0, ["low", "high"]].tolist() == pytest.approx([low, high], abs=1e-6)
    assert result.loc[2, "low"] == pytest.approx(0.8256, abs=1e-4)


@pytest.mark.parametrize("column", ["Sentences, Pearson", "Rewrites, accuracy"])
def test_the_first_is_put_above_all_others(column: str) -> None:
    order, lead = AGREEMENT.check_above("it leads", "the best", column)
    assert order.computed.startswith("RaTEScore 0.")
    assert (order.outcome, lead.outcome) == ("holds", "holds")


def test_leads_are_counted_and_margins_reported_in_cases() -> None:
    assert AGREEMENT.count_established_leads("Sentences, Pearson") == "one of one"
    margins, p = AGREEMENT.list_possible_margins("Rewrites, accuracy", "BLEU")
    assert margins == [50]
    assert p == pytest.approx(2 * 0.5**50)


def test_shares_that_no_count_prints_stand_for_their_neighbours() -> None:
    assert list_possible_counts(parse("0.666"), 847) == [564]
    assert list_possible_counts(parse("0.670"), 847) == [567, 568]  # 0.6694 and 0.6706
    table5 = PrintedAgreement.combine(split_by_measure(printed("ratescore.table5")), {"Rewrites": 847})
    margins, p = table5.list_possible_margins("Rewrites, accuracy", "CheXbert")
    assert margins == [3, 4]
    assert p == pytest.approx(2 * 0.5**4)  # four reports that RaTEScore alone is right about


def test_what_is_needed_allows_for_rounding() -> None:
    figure3 = PrintedAgreement.combine({"Sentences, Pearson": printed("ratescore.fig3")}, {"Sentences": 443})
    assert figure3.find_needed_correlation("Sentences, Pearson", "RadGraph F1", 443) == pytest.approx(
        0.313, abs=1e-3
    )
    assert figure3.count_established_leads("Sentences, Pearson") == "six of seven"


RULE = {"short_words": parse("10"), "long_words": parse("25"), "long_errors": parse("3")}


def test_groups_leave_both_edges_between() -> None:
    groups = assign_length_groups(pd.Series([9, 10, 25, 26]), RULE)
    assert groups.tolist() == ["short", "between", "between", "long"]


@pytest.mark.parametrize(("pairs", "cases"), [(3, 2), (0, 0)])
def test_a_rule_of_which_there_are_too_few_cases_is_open(pairs: int, cases: int) -> None:
    four = Estimate(4.0, 3.5, 4.5)
    rows = [("reference", "short", pairs, cases, four, four), ("reference", "long", 40, 20, four, four)]
    columns = ["words", "group", "pairs", "cases", "mean errors", "no error"]
    claim = OpenExhibit("ratescore.claim_length_bias")
    check_length_rule(claim, pd.DataFrame(rows, columns=columns), RULE)
    assert [check.outcome for check in claim.checks] == ["inconclusive", "holds"]


def test_errors_are_counted_by_hand() -> None:
    stored = recorded.load("radpref")
    reports = tabulate_radpref_errors(SimpleNamespace(recording=lambda _: stored))
    first = stored.parts["ratings"].query("number == 0").drop(columns=["number", "rater", "grade"])
    marked = first.filter(regex="^(false|missing|attribute)_").sum(axis=1)
    assert reports.loc[0, "errors"] == pytest.approx(marked.mean())
    assert len(reports) == 200
    assert (reports["possible"] == 0).sum() == reports["share"].isna().sum() == 20
