"""Released numbers: the sums that the repository's own split rule implies."""

from __future__ import annotations

from radeval_lib.papers.printed_numbers import released


def test_mimic_rrs_counts_follow_the_split_rule() -> None:
    counts = released("mimic_rrs_counts").set_index("pair")
    assert counts["suitable"].sum() == 79790
    assert (counts["train"] + counts["validate"] + counts["test"] == counts["suitable"]).all()
    trained = counts[counts["train"] > 0]
    assert (trained["train"] == (0.8 * trained["suitable"]).astype(int)).all()  # int(0.8 * n), int(0.1 * n)
    assert (trained["validate"] == (0.1 * trained["suitable"]).astype(int)).all()
    assert (counts["mapped"] > counts["suitable"]).all()


def test_findings_headers_are_ranked_and_537() -> None:
    headers = released("mimic_rrs_findings_headers")
    assert len(headers) == 537  # as the paper's Section 2.1
    for _, group in headers.groupby("pair"):
        assert list(group["rank"]) == list(range(1, len(group) + 1))
