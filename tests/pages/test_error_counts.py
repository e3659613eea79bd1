"""The rule of Appendix A.7 on lengths and errors."""

from types import SimpleNamespace

import pandas as pd
import pytest

from notebooks.ratescore.error_counts import (
    against_rule,
    check_rule,
    left_out,
    length_group,
    printed_pairs,
    radpref_errors,
)
from radeval_lib.data import recorded
from radeval_lib.papers.printed_numbers import parse, quoted
from radeval_lib.stats.base import Estimate
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.results import coverage

RULE = {"short_words": parse("10"), "long_words": parse("25"), "long_errors": parse("3")}


def test_groups_leave_both_edges_between() -> None:
    assert [length_group(n, RULE) for n in (9, 10, 25, 26)] == ["short", "between", "between", "long"]
    with pytest.raises(ValueError, match="without a length"):
        length_group(float("nan"), RULE)


def test_the_printed_cases_stand_against_the_rule() -> None:
    told = against_rule(printed_pairs(), quoted("ratescore.claim_length_bias"))
    assert told == (
        "by the words of the candidates, about no error in the first pair (9) and more than 3 on average in "
        "the second pair (54); by the words of the references, any number of errors or more than 3 on "
        "average in the first pair (23 or 26) and more than 3 on average in the second pair (53)"
    )


def test_a_rule_of_which_there_are_too_few_cases_is_open() -> None:
    found = Estimate(4.0, 3.5, 4.5)
    none = Estimate(float("nan"), float("nan"), float("nan"))
    ties = {("errors", f"words, {side}"): Estimate(0.3, 0.2, 0.4) for side in ("reference", "candidate")}
    rows = [("reference", "short", 3, 2, none, none), ("reference", "long", 40, 20, found, none)]
    groups = pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])
    claim = OpenExhibit("ratescore.claim_length_bias")
    check_rule(claim, ties, groups, RULE)
    assert [check.outcome for check in claim.checks] == ["holds", "holds", "inconclusive", "holds"]
    assert claim.checks[2].computed == "fewer than 5 cases"


def test_a_rule_of_which_there_is_no_case_is_not_covered_and_is_named() -> None:
    found = Estimate(3.5, 3.2, 3.8)
    none = Estimate(float("nan"), float("nan"), float("nan"))
    ties = {("errors", f"words, {side}"): Estimate(0.3, 0.2, 0.4) for side in ("reference", "candidate")}
    rows = [
        row
        for side in ("reference", "candidate")
        for row in ((side, "short", 0, 0, none, none), (side, "long", 40, 20, found, none))
    ]
    groups = pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])
    claim = OpenExhibit("ratescore.claim_length_bias")
    check_rule(claim, ties, groups, RULE)
    made = coverage(claim.id, "open", claim.checks)
    assert made is not None
    assert (made.checked, made.total) == (2, 6)
    told = left_out(groups, RULE, "Much.", "RadPref")
    assert told == "Much. RadPref has no report of under 10 words to check."


def test_errors_are_counted_by_hand() -> None:
    stored = recorded.load("radpref")
    reports = radpref_errors(SimpleNamespace(recording=lambda _: stored))
    first = stored.parts["ratings"].query("number == 0").drop(columns=["number", "rater", "grade"])
    marked = first.filter(regex="^(false|missing|attribute)_").sum(axis=1)
    assert reports.loc[0, "errors"] == pytest.approx(marked.mean())
    assert len(reports) == 200
    assert (reports["possible"] == 0).sum() == reports["share"].isna().sum() == 20
