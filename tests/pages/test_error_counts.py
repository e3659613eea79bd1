"""The rule of Appendix A.7 on lengths and errors."""

from radeval_lib.pages.ratescore.error_counts import against_rule, answer, length_group, printed_pairs
from radeval_lib.papers.printed_numbers import parse, quoted
from radeval_lib.stats.estimates import Estimate

RULE = {"short_words": parse("10"), "long_words": parse("25"), "long_errors": parse("3")}


def test_groups_leave_both_edges_between() -> None:
    assert [length_group(n, RULE) for n in (9, 10, 25, 26)] == ["short", "between", "between", "long"]


def test_the_printed_cases_stand_against_the_rule() -> None:
    told = against_rule(printed_pairs(), quoted("ratescore.claim_length_bias"))
    assert told.startswith(
        "one has 9 words, for which the rule has about no error, and 1.33 errors; the other has "
    )
    assert told.endswith("for which the rule has more than 3 on average, and 1.33 errors")


def test_the_answer_says_which_way_errors_go() -> None:
    ties = {
        (value, f"words, {side}"): Estimate(x, x - 0.1, x + 0.1, n=40)
        for value, x in (("errors", 0.3), ("share", 0.05))
        for side in ("reference", "candidate")
    }
    told = answer(ties, "RadPref")
    assert "On 40 pairs of RadPref the number of errors rises" in told["answer"]
    assert "has no clear relation" in told["rests"]
