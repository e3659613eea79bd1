"""The printed task: its marks."""

import pytest

from notebooks.facts import printed_task


def test_marks_of_the_printed_task() -> None:
    assert printed_task.plain("Weight: 201 Pounds.") == "weight 201 pounds"
    facts = printed_task.facts_of_g()
    assert (len(printed_task.marked("R")), len(facts), facts["marked in R"].sum()) == (6, 4, 2)


def test_a_fact_stands_in_a_text_by_whole_words() -> None:
    assert printed_task.stands_in("lost 24", "she has lost 24 pounds")
    assert printed_task.stands_in("she has", "she has lost 24 pounds")
    assert not printed_task.stands_in("lost 2", "she has lost 24 pounds")
    assert not printed_task.stands_in("ounds", "she has lost 24 pounds")


def test_the_printed_report_is_whole_and_without_its_description() -> None:
    report, description = printed_task.printed_report()
    assert report.startswith("The patient's assistant brings")
    assert report.endswith("any questions.")
    assert report.count(description.rstrip(".")) == 1


def test_the_task_is_of_the_printed_description_and_its_comment_quotes_g(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [(check.outcome, check.computed) for check in printed_task.texts_of_task()] == [
        ("holds", "the description of Figure 1, 33 words"),
        ("holds", "9 words, in G"),
    ]
    monkeypatch.setattr(printed_task, "printed_report", lambda: ("", "Another description."))
    monkeypatch.setattr(printed_task, "quotations", lambda _: [("Figure 3", '"to 199" wrong information')])
    assert [check.outcome for check in printed_task.texts_of_task()] == ["fails", "fails"]


def test_quoted_texts_are_those_of_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = printed_task.quoted_texts()
    assert [(check.outcome, check.computed) for check in checks] == [
        ("holds", "22 words, in Figure 3"),
        ("holds", "22 words, in Figure 1"),
    ]
    monkeypatch.setattr(printed_task, "printed_report", lambda: ("Weight today is 210 pounds.", ""))
    assert [check.outcome for check in printed_task.quoted_texts()] == ["holds", "fails"]
