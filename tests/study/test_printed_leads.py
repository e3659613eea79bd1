"""Leads from printed correlations, intervals and shares."""

from __future__ import annotations

from radeval_lib.papers.printed_numbers import parse
from radeval_lib.study.superiority import (
    lead_of_correlations,
    lead_of_intervals,
    lead_of_means,
    lead_of_shares,
)


def test_a_wide_gap_is_established_and_a_narrow_one_needs_dependence() -> None:
    for kind in ("pearson", "kendall", "spearman"):
        assert lead_of_correlations(0.9, 0.3, 200, kind).sign == 1
        assert lead_of_correlations(0.3, 0.9, 200, kind).sign == -1
        narrow = lead_of_correlations(0.53, 0.51, 200, kind)
        assert narrow.sign == 0
        assert narrow.wording.startswith("unless ")
    assert lead_of_correlations(0.608, 0.605, 371, "spearman").wording.startswith(
        "unless their errors correlate at 0.99"
    )
    for kind in ("pearson", "kendall", "spearman"):
        assert "however strongly" in lead_of_correlations(0.5, 0.5, 200, kind).wording


def test_two_intervals_that_are_equal_establish_nothing() -> None:
    # GREEN's Table 6: 0.63 [0.56, 0.69] and RadCliQ-v1 0.61.
    assert lead_of_intervals((0.63, 0.56, 0.69), (0.61, 0.54, 0.67)).sign == 0
    assert lead_of_intervals((0.63, 0.56, 0.69), (0.32, 0.22, 0.41)).sign == 1


def test_a_lead_is_established_only_for_all_that_rounds_to_what_is_printed() -> None:
    # As above, 0.281 is significant. A standard deviation of 1.0 may be 1.05, and 0.29 less 0.00 may be 0.28.
    assert lead_of_means((0.29, 1.0), (0.0, 1.0), 100).sign == 1
    sd, none = parse("1.0"), parse("0.00")
    near = lead_of_means([parse("0.29"), sd], [none, sd], 100)
    assert near.sign == 0
    assert near.wording.startswith("unless their errors correlate at 0.00 to 0.1")
    assert near.wording.endswith("or more, by the rounding")
    assert lead_of_means([parse("0.33"), sd], [none, sd], 100).sign == 1
    assert lead_of_means([parse("0.33"), sd], [none, sd], 100, lower=True).sign == -1
    # Equal as printed, or turned round by the rounding: nothing is established, and something may be hidden.
    for text in ("0.79", "0.80"):
        ends = [parse(text), parse("0.74"), parse("0.83")]
        open_lead = lead_of_intervals(ends, [parse("0.79"), parse("0.75"), parse("0.83")])
        assert open_lead.sign == 0
        assert open_lead.wording.startswith("unless, by the rounding, their errors correlate at 0.")
    assert lead_of_correlations(parse("0.653"), parse("0.624"), 371, "pearson").sign == 0


def test_shares_are_distinguished_only_where_every_overlap_tells_them_apart() -> None:
    assert lead_of_shares(36, 33, 53).sign == 0
    assert lead_of_shares(33, 12, 53).sign == 1
    assert lead_of_shares(12, 33, 53).sign == -1
    assert lead_of_shares(570, 565, 847).wording.startswith("p from ")
    assert lead_of_shares(33, 12, 53).wording == "p from under 0.001 to 0.0025 by how the right cases overlap"
    assert lead_of_shares(600, 300, 847).wording == "p < 0.001 however the right cases overlap"
    # 567 or 568 of 847 against 564: three reports at least, four at most.
    wording = "p from 0.12 to 0.93 by how the right cases overlap"
    assert lead_of_shares([567, 568], [564], 847).wording == wording
    assert lead_of_shares([33, 36], 12, 53).sign == 1
    assert lead_of_shares([12, 36], 33, 53).sign == 0
    # One case apart, of which none or some may be shared: the exact test gives 1 each time.
    assert lead_of_shares(33, 32, 53).wording == "p = 1 however the right cases overlap"


def test_means_are_distinguished_by_their_spread_and_number() -> None:
    # Independent means of 100 cases with standard deviation 1: standard error 0.141, times 1.984 is 0.281.
    assert lead_of_means((0.29, 1.0), (0.0, 1.0), 100).sign == 1
    assert lead_of_means((0.0, 1.0), (0.29, 1.0), 100).sign == -1
    assert lead_of_means((0.27, 1.0), (0.0, 1.0), 100).wording.startswith(
        "unless their errors correlate at 0.0"
    )
