"""GREEN's parser and score.

Expected values of the reference mode: the rules of the released parser (GREEN repository at d72c195,
``green_score/green.py``, ``parse_error_counts`` and ``compute_green``), worked out by hand for each text.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib import green_analysis, metrics
from radeval_lib.metrics import green
from radeval_lib.metrics.base import MetricError
from radeval_lib.models import judges

COUNTS = st.tuples(*[st.integers(0, 12)] * 6)
PLAIN = green_analysis.render((1, 2, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0), 3, "Two findings are missing.")


@given(COUNTS, COUNTS, st.integers(0, 30))
def test_both_modes_read_back_what_was_written(significant, insignificant, matched) -> None:
    text = green_analysis.render(significant, insignificant, matched, "An explanation.")
    for mode in ("reference", "strict"):
        analysis = green.parse(text, mode)
        assert (analysis.significant, analysis.insignificant, analysis.matched) == (
            significant,
            insignificant,
            matched,
        )
        assert analysis.faults == ()
        assert analysis.score == green.compute_green_score(matched, sum(significant))


@pytest.mark.parametrize(
    "line", ["(a) Falsely reported: 2. A nodule; A mass", "(1) Falsely reported: 2.\n1. A nodule\n2. A mass"]
)
def test_what_an_analysis_names_has_the_letter_of_its_category(line: str) -> None:
    analysis = f"[{green_analysis.SIGNIFICANT}]:\n{line}\n\n[{green_analysis.MATCHED}]:\n1. Clear lungs"
    assert list(green_analysis.parse_entries(analysis)) == [
        (green_analysis.SIGNIFICANT, "a", "A nodule"),
        (green_analysis.SIGNIFICANT, "a", "A mass"),
        (green_analysis.MATCHED, "", "Clear lungs"),
    ]


@pytest.mark.parametrize(
    ("matched", "errors", "score"), [(0, 0, 0), (0, 4, 0), (3, 0, 1), (3, 1, 0.75), (1, 3, 0.25), (2, 3, 0.4)]
)
def test_score_by_hand(matched, errors, score) -> None:
    assert green.compute_green_score(matched, errors) == pytest.approx(score)


def test_clean_keeps_the_answer_only() -> None:
    prompt = "Follow this format:\n[Explanation]:\n    <Explanation>\n ..."
    raw = f"<|user|>\n{prompt}<|assistant|>[Explanation]:\nGood.\n\n{PLAIN}</s><unk>"
    assert green.clean(raw) == f"\nGood.\n\n{PLAIN}"
    assert green.clean("[Explanation]:\n    <Explanation>\nGood.") == "\n    <Explanation>\nGood."
    assert green.clean("no headers</s>") == "no headers"


# --- the released parser ---

ROWS = json.loads(
    (Path(__file__).parents[1] / "reference" / "green" / "parser.json").read_text(encoding="utf-8")
)


def test_reference_mode_reads_what_the_released_parser_reads() -> None:
    assert len(ROWS) == 300
    for row in ROWS:
        read = green.parse(green.clean(row["answer"]), "reference")
        analysis = [list(read.significant), list(read.insignificant), read.matched, read.score]
        assert analysis == row["released"]
    # No answer has a list below a section that begins with "No", which the released parser leaves unread.
    left = "[Clinically Significant Errors]:\nNo grave ones.\n(a) False report: 2. x; y\n\n"
    read = green.parse(f"{left}[Matched Findings]:\n3. a; b; c", "reference")
    assert (sum(read.significant), read.matched, read.score) == (0, 3, 1.0)


def test_strict_mode_scores_a_damaged_answer_as_it_was_meant_or_not_at_all() -> None:
    scored = refused = misread = 0
    for row in ROWS:
        strict = green.parse(green.clean(row["answer"]), "strict")
        if strict.score is None:
            refused += 1
            continue
        scored += 1
        significant, _, matched = row["intact"]  # the score needs no insignificant errors
        assert [list(strict.significant), strict.matched] == [significant, matched]
        misread += row["released"][:1] != [significant]
    assert scored >= 60
    assert refused >= 60
    assert misread > 0  # answers that a careful reader can use and the released parser reads wrongly


# --- judges ---


class Fixed:
    """A judge that always says the same."""

    signature = "fixed"

    def __init__(self, answer):
        self.answer = answer

    def judge(self, pairs, keep=None):
        return [self.answer] * len(pairs)


def test_the_rules_fill_the_role_by_default() -> None:
    pair = ["Left effusion. No pneumothorax."], ["No pneumothorax."]
    by_role = metrics.create("green", judge="rules").score(*pair)
    assert by_role.values.tolist() == metrics.create("green_rules").score(*pair).values.tolist() == [0.5]
    read, answer = by_role.details[0]
    assert read.matched == 1
    assert "[Matched Findings]" in answer


def test_a_malformed_answer_is_never_scored_strictly(monkeypatch) -> None:
    monkeypatch.setattr(judges, "open_judge", lambda *_, **__: Fixed("I think that they agree."))
    with pytest.raises(MetricError):
        metrics.create("green", mode="strict").score(["a"], ["b"])
    released = metrics.create("green", mode="reference")
    assert released.score(["a"], ["b"]).values.tolist() == [0.0]


def test_an_error_quotes_nothing_of_an_answer(monkeypatch) -> None:
    for line in ("(a) False report: two. Mrs Smith's nodule", "(a) Smith: one"):
        sections = "[Clinically Insignificant Errors]:\nNone.\n\n[Matched Findings]:\n1. x"
        answer = f"[Clinically Significant Errors]:\n{line}\n\n{sections}"
        monkeypatch.setattr(judges, "open_judge", lambda *_, answer=answer, **__: Fixed(answer))
        with pytest.raises(MetricError) as caught:
            metrics.create("green").score(["a"], ["b"])
        assert "Smith" not in str(caught.value)


def test_scores_by_rules_by_hand() -> None:
    references = ["Left effusion. No pneumothorax."] * 3
    candidates = ["Left effusion. No pneumothorax.", "No pneumothorax.", "Left effusion. Right pneumothorax."]
    shares = metrics.create("green_rules").score(references, candidates)
    np.testing.assert_allclose(shares.values, [1.0, 0.5, 0.5])
    errors = metrics.create("green_rules_errors").score(references, candidates)
    # Missing an actionable effusion counts 0.5, a false pneumothorax 1.
    np.testing.assert_allclose(errors.values, [0.0, 0.5, 1.0])
    assert errors.details[1].errors[0].category == "b"
    assert not metrics.get("green_rules_errors").higher_is_better
