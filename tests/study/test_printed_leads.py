"""Leads from printed correlations, intervals and shares."""

from __future__ import annotations

from radeval_lib.study.printed_leads import (
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


def test_shares_are_distinguished_only_where_every_overlap_tells_them_apart() -> None:
    assert lead_of_shares(36, 33, 53).sign == 0
    assert lead_of_shares(33, 12, 53).sign == 1
    assert lead_of_shares(12, 33, 53).sign == -1
    assert lead_of_shares(570, 565, 847).wording.startswith("p from ")
    assert lead_of_shares(33, 12, 53).wording == "p from under 0.001 to 0.0025 by how the right cases overlap"
    assert lead_of_shares(600, 300, 847).wording == "p < 0.001 however the right cases overlap"
    # One case apart, of which none or some may be shared: the exact test gives 1 each time.
    assert lead_of_shares(33, 32, 53).wording == "p = 1 however the right cases overlap"


def test_means_are_distinguished_by_their_spread_and_number() -> None:
    # Independent means of 100 cases with standard deviation 1: standard error 0.141, times 1.984 is 0.281.
    assert lead_of_means((0.29, 1.0), (0.0, 1.0), 100).sign == 1
    assert lead_of_means((0.0, 1.0), (0.29, 1.0), 100).sign == -1
    assert lead_of_means((0.27, 1.0), (0.0, 1.0), 100).wording.startswith(
        "unless their errors correlate at 0.0"
    )
