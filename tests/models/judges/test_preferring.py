"""The prompt for preferences, and reading what comes back."""

import pytest

from radeval_lib.models.judges.base import Answer, preference_prompt, read_preference


def test_each_report_is_in_the_prompt_once_and_in_its_place():
    asked = preference_prompt("ref text", "one\ntext", "other text")
    assert [asked.count(text) for text in ("ref text", "one text", "other text")] == [1, 1, 1]
    assert asked.index("ref text") < asked.index("one text") < asked.index("other text")


def test_long_reports_cost_no_part_of_the_layout():
    asked = preference_prompt("r " * 900, "a " * 900, "b " * 900)
    assert asked.endswith("Confidence: <1 to 10>")
    assert asked.count("a a") < 300


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Preferred: 1\nConfidence: 10", Answer(0, 10)),
        ("**Preferred**: Candidate Report 2.\n**Confidence**: 7 / 10", Answer(1, 7)),
        ("preferred: report 2", Answer(1, None)),
        ("I would say Preferred: 1", Answer(None, None)),
        ("Preferred: 1\nPreferred: 1\nConfidence: 3", Answer(0, 3)),
        ("Preferred: 1\nPreferred: 2", Answer(None, None)),
        ("Preferred: 12\nConfidence: 0", Answer(None, None)),
        ("Preferred: <1 or 2>\nConfidence: <1 to 10>", Answer(None, None)),
        ("", Answer(None, None)),
    ],
)
def test_reading(text, answer):
    assert read_preference(text) == answer


def test_the_layout_that_is_asked_for_is_no_answer():
    assert read_preference(preference_prompt("a", "b", "c")) == Answer(None, None)
