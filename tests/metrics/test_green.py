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


# Text, what the released parser finds (significant errors, matched findings, score), and the strict reading's
# score and fault.
CASES = {
    "empty section: the next one is read in its place": (
        "[Clinically Significant Errors]:\n\n" + PLAIN[PLAIN.index("[Clinically Insignificant") :],
        (0, 0, 1, 0, 0, 0),
        3,
        0.75,
        None,
        "Significant Errors: the section is empty",
    ),
    "no period after the count": (
        PLAIN.replace(": 2. finding 1; finding 2", ": 2 finding 1; finding 2"),
        (1, 0, 0, 0, 0, 0),
        3,
        0.75,
        None,
        "not of the form",
    ),
    "no space before the count": (
        PLAIN.replace(": 2. finding", ":2. finding"), (1, 0, 0, 0, 0, 0), 3, 0.75, None, "not of the form",
    ),
    "two letters on a line: the second is lost": (
        PLAIN.replace("1. finding 1\n(b) Missing", "1. finding 1 (b) Missing"),
        (1, 0, 0, 0, 0, 0),
        3,
        0.75,
        None,
        "(a) and (b) share a line",
    ),
    "blank line inside a section: what follows it is lost": (
        PLAIN.replace("finding 1\n(b)", "finding 1\n\n(b)"), (1, 0, 0, 0, 0, 0), 3, 0.75, 0.5, None,
    ),
    "no section of significant errors: none are counted": (
        PLAIN.replace("[Clinically Significant Errors]:", "[Significant]:"),
        (0,) * 6,
        3,
        1.0,
        None,
        "Clinically Significant Errors: no such section",
    ),
    "no section of matched findings": (
        PLAIN.partition("[Matched")[0], (1, 2, 0, 0, 0, 0), 0, 0.0, None, "Matched Findings: no such section",
    ),
    "number words": (
        PLAIN.replace(": 2. ", ": two. "), (1, 0, 0, 0, 0, 0), 3, 0.75, None, "not of the form",
    ),
    "the same letter twice: the last in alphabetical order counts": (
        PLAIN.replace("(b) Missing a", "(b) Zero: 5. x\n(b) Missing a"),
        (1, 5, 0, 0, 0, 0),
        3,
        1 / 3,
        None,
        "(b) stands twice",
    ),
    "capital letters": (
        PLAIN.replace("(b) Missing", "(B) Missing"), (1, 0, 0, 0, 0, 0), 3, 0.75, None, "not of the form",
    ),
    "a colon after the letter": (
        PLAIN.replace("(b) Missing a finding present in the reference:", "(b):"),
        (1, 0, 0, 0, 0, 0),
        3,
        0.75,
        None,
        "not of the form",
    ),
    "digits for letters are understood": (
        PLAIN.replace("(a)", "(1)").replace("(b)", "(2)").replace("(c)", "(3)").replace("(d)", "(4)")
        .replace("(e)", "(5)").replace("(f)", "(6)"),
        (1, 2, 0, 0, 0, 0),
        3,
        0.5,
        0.5,
        None,
    ),
    "a section that says No": (
        PLAIN.partition("[Clinically Significant")[0]
        + "[Clinically Significant Errors]:\nNo errors.\n\n[Clinically Insignificant Errors]:\nNone\n\n"
        + "[Matched Findings]:\n2. a; b",
        (0,) * 6,
        2,
        1.0,
        1.0,
        None,
    ),
    "matched findings without a period": (
        PLAIN.replace("]:\n3. finding", "]:\n3 finding"), (1, 2, 0, 0, 0, 0), 0, 0.0, None, "not of the form",
    ),
    "a measurement where the count should stand": (
        PLAIN.replace("]:\n3. finding 1; finding 2; finding 3", "]:\n3.5 cm nodule"),
        (1, 2, 0, 0, 0, 0),
        3,
        0.5,
        None,
        "not of the form",
    ),
    "text before the count of matched findings": (
        PLAIN.replace("]:\n3. finding", "]:\nThere are\n3. finding"),
        (1, 2, 0, 0, 0, 0),
        0,
        0.0,
        None,
        "not of the form",
    ),
    "a letter without a line": (
        PLAIN.replace("(c) Misidentification of a finding's anatomic location/position: 0.\n", "", 1),
        (1, 2, 0, 0, 0, 0),
        3,
        0.5,
        None,
        "no count for (c)",
    ),
    "a fence around the answer": ("```\n" + PLAIN + "\n```", (1, 2, 0, 0, 0, 0), 3, 0.5, 0.5, None),
    "nothing at all": ("", (0,) * 6, 0, 0.0, None, "no such section"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_malformed_analyses(case: str) -> None:
    text, significant, matched, score, strict_score, fault = CASES[case]
    assert case == "nothing at all" or text != PLAIN
    found = green.parse(text)
    assert (found.significant, found.matched) == (significant, matched)
    assert found.score == pytest.approx(score)
    assert found.faults == ()
    strict = green.parse(text, "strict")
    assert strict.score == (strict_score if strict_score is None else pytest.approx(strict_score))
    assert bool(strict.faults) == (fault is not None)
    assert fault is None or fault in " ".join(strict.faults)


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
        with pytest.raises(ValueError, match="must not be negative"):
            green.green_score(*counts)
    with pytest.raises(RadevalError, match=r"mode: unknown value .* Choices: reference, strict"):
        green.parse("", "loose")  # type: ignore[arg-type]
