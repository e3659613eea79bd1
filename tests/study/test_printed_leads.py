"""Leads from printed correlations, intervals and shares."""

from __future__ import annotations

import pytest

from radeval_lib.papers.printed_numbers import parse
from radeval_lib.stats.printed import Kind
from radeval_lib.study.superiority import (
    lead_of_correlations,
    lead_of_counts,
    lead_of_intervals,
    lead_of_means,
)


@pytest.mark.parametrize("kind", ["pearson", "kendall", "spearman"])
def test_a_wide_gap_is_established_and_a_narrow_one_needs_dependence(kind: Kind) -> None:
    assert lead_of_correlations(0.9, 0.3, 200, kind).sign == 1
    assert lead_of_correlations(0.3, 0.9, 200, kind).sign == -1
    assert lead_of_correlations(0.53, 0.51, 200, kind).sign == 0
    assert lead_of_correlations(0.5, 0.5, 200, kind).sign == 0


def test_two_intervals_that_are_equal_establish_nothing() -> None:
    # GREEN's Table 6: 0.63 [0.56, 0.69] and RadCliQ-v1 0.61.
    assert lead_of_intervals((0.63, 0.56, 0.69), (0.61, 0.54, 0.67)).sign == 0
    assert lead_of_intervals((0.63, 0.56, 0.69), (0.32, 0.22, 0.41)).sign == 1


def test_a_lead_is_established_only_for_all_that_rounds_to_what_is_printed() -> None:
    # Independent means of 100 cases with standard deviation 1: standard error 0.141, times 1.984 is 0.281.
    assert lead_of_means((0.29, 1.0), (0.0, 1.0), 100).sign == 1
    assert lead_of_means((0.0, 1.0), (0.29, 1.0), 100).sign == -1
    assert lead_of_means((0.27, 1.0), (0.0, 1.0), 100).sign == 0
    # A standard deviation of 1.0 may be 1.05, and 0.29 less 0.00 may be 0.28.
    sd, none = parse("1.0"), parse("0.00")
    assert lead_of_means([parse("0.29"), sd], [none, sd], 100).sign == 0
    assert lead_of_means([parse("0.33"), sd], [none, sd], 100).sign == 1
    assert lead_of_means([parse("0.33"), sd], [none, sd], 100, lower=True).sign == -1
    # Equal as printed, or turned round by the rounding: nothing is established.
    for text in ("0.79", "0.80"):
        ends = [parse(text), parse("0.74"), parse("0.83")]
        assert lead_of_intervals(ends, [parse("0.79"), parse("0.75"), parse("0.83")]).sign == 0
    assert lead_of_correlations(parse("0.653"), parse("0.624"), 371, "pearson").sign == 0


@pytest.mark.parametrize(
    ("first", "second", "n", "sign", "p"),
    [
        (36, 33, 53, 0, None),
        (33, 12, 53, 1, "from under 0.001 to 0.0025"),
        (12, 33, 53, -1, None),
        (600, 300, 847, 1, "< 0.001"),
        ([567, 568], [564], 847, 0, "from 0.12 to 0.93"),  # three reports at least, four at most
        ([33, 36], 12, 53, 1, None),
        ([12, 36], 33, 53, 0, None),
        (33, 32, 53, 0, "= 1"),  # one case apart: the exact test gives 1 whether none or some are shared
    ],
)
def test_shares_are_distinguished_only_where_every_overlap_tells_them_apart(
    first: int | list[int], second: int | list[int], n: int, sign: int, p: str | None
) -> None:
    lead = lead_of_counts(first, second, n)
    assert lead.sign == sign
    assert p is None or lead.wording.startswith(f"p {p} ")
