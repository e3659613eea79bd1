"""GREEN's parser and score.

Expected values of the reference mode: the rules of the released parser (GREEN repository at d72c195,
``green_score/green.py``, ``parse_error_counts`` and ``compute_green``), worked out by hand for each text.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib import green_analysis
from radeval_lib.errors import RadevalError
from radeval_lib.metrics import green

COUNTS = st.tuples(*[st.integers(0, 12)] * 6)
PLAIN = green_analysis.render((1, 2, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0), 3, "Two findings are missing.")


@given(COUNTS, COUNTS, st.integers(0, 30))
def test_both_modes_read_back_what_was_written(significant, insignificant, matched) -> None:
    text = green_analysis.render(significant, insignificant, matched, "An explanation.")
    for mode in ("reference", "strict"):
        found = green.parse(text, mode)
        assert (found.significant, found.insignificant, found.matched) == (
            significant,
            insignificant,
            matched,
        )
        assert found.faults == ()
        assert found.score == green.green_score(matched, sum(significant))


@given(st.integers(0, 50), st.integers(0, 50))
def test_score_is_bounded_and_moves_with_its_counts(matched, errors) -> None:
    value = green.green_score(matched, errors)
    assert 0 <= value <= 1
    assert green.green_score(matched, errors + 1) <= value <= green.green_score(matched + 1, errors)


@pytest.mark.parametrize(
    "line", ["(a) Falsely reported: 2. A nodule; A mass", "(1) Falsely reported: 2.\n1. A nodule\n2. A mass"]
)
def test_what_an_analysis_names_has_the_letter_of_its_category(line: str) -> None:
    analysis = f"[{green_analysis.SIGNIFICANT}]:\n{line}\n\n[{green_analysis.MATCHED}]:\n1. Clear lungs"
    assert list(green_analysis.entries(analysis)) == [
        (green_analysis.SIGNIFICANT, "a", "A nodule"),
        (green_analysis.SIGNIFICANT, "a", "A mass"),
        (green_analysis.MATCHED, "", "Clear lungs"),
    ]


def test_errors_above_any_category_are_not_named() -> None:
    analysis = f"[{green_analysis.SIGNIFICANT}]:\n1. A nodule\n(b) Left out: 1. A mass"
    assert [(entry.letter, entry.finding) for entry in green_analysis.entries(analysis)] == [("b", "A mass")]


@pytest.mark.parametrize(
    ("matched", "errors", "score"), [(0, 0, 0), (0, 4, 0), (3, 0, 1), (3, 1, 0.75), (1, 3, 0.25), (2, 3, 0.4)]
)
def test_score_by_hand(matched, errors, score) -> None:
    assert green.green_score(matched, errors) == pytest.approx(score)


def test_insignificant_errors_do_not_enter_the_score() -> None:
    texts = [green_analysis.render((1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, k), 4) for k in (0, 9)]
    assert [green.parse(text).score for text in texts] == [0.8, 0.8]


# The strict reading's score of a text, None for a fault; what the released parser makes of such answers is in
# test_green_parser_reference.py.
CASES = {
    "empty section": (
        "[Clinically Significant Errors]:\n\n" + PLAIN[PLAIN.index("[Clinically Insignificant") :],
        None,
    ),
    "no period after the count": (
        PLAIN.replace(": 2. finding 1; finding 2", ": 2 finding 1; finding 2"),
        None,
    ),
    "two letters on a line": (PLAIN.replace("1. finding 1\n(b) Missing", "1. finding 1 (b) Missing"), None),
    "blank line inside a section": (PLAIN.replace("finding 1\n(b)", "finding 1\n\n(b)"), 0.5),
    "no section of matched findings": (PLAIN.partition("[Matched")[0], None),
    "the same letter twice": (PLAIN.replace("(b) Missing a", "(b) Zero: 5. x\n(b) Missing a"), None),
    "a measurement for a count": (
        PLAIN.replace("]:\n3. finding 1; finding 2; finding 3", "]:\n3.5 cm"),
        None,
    ),
    "a fence around the answer": ("```\n" + PLAIN + "\n```", 0.5),
    "nothing at all": ("", None),
}


@pytest.mark.parametrize("case", CASES)
def test_malformed_analyses(case: str) -> None:
    text, score = CASES[case]
    strict = green.parse(text, "strict")
    assert strict.score == (score if score is None else pytest.approx(score))
    assert bool(strict.faults) == (score is None)


def test_a_section_that_stands_twice_is_a_fault() -> None:
    strict = green.parse(PLAIN + "\n\n" + PLAIN, "strict")
    assert strict.score is None
    assert "Matched Findings: more than one section" in strict.faults


def test_clean_keeps_the_answer_only() -> None:
    prompt = "Follow this format:\n[Explanation]:\n    <Explanation>\n ..."
    raw = f"<|user|>\n{prompt}<|assistant|>[Explanation]:\nGood.\n\n{PLAIN}</s><unk>"
    assert green.clean(raw) == f"\nGood.\n\n{PLAIN}"
    assert green.clean("[Explanation]:\n    <Explanation>\nGood.") == "\n    <Explanation>\nGood."
    assert green.clean("no headers</s>") == "no headers"


def test_negative_counts_and_unknown_modes_are_refused() -> None:
    for counts in ((-1, 2), (3, -2)):
        with pytest.raises(ValueError, match="negative"):
            green.green_score(*counts)
    with pytest.raises(RadevalError):
        green.parse("", "loose")  # type: ignore[arg-type]
