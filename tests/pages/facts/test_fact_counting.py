"""The printed task's marks, and MTSamples: sizes that can be, the whole file against print, and copying."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from notebooks.facts import fact_counting
from notebooks.facts.fact_counting import BuildDocuments
from radeval_lib.data import recorded
from radeval_lib.data.mtsamples import recorded_documents
from radeval_lib.data.records import Document
from radeval_lib.papers.printed_numbers import parse, quoted
from radeval_lib.study.results import by_key, statement_outcome
from radeval_lib.study.runs import begin_cell

PART = [
    Document(
        id=str(number),
        text="Weight is down three pounds in the past month and the patient walks at the mall every day.",
        summary="Weight is down three pounds in the past month and the patient walks" + extra,
        group=group,
    )
    for number, (group, extra) in enumerate([("Diets", ""), ("Diets", " daily"), ("Surgery", "")])
]
WHOLE, SOME = BuildDocuments(PART, whole=True), BuildDocuments(PART, whole=False)


def test_printed_shares_hold_where_all_reports_and_rounded_specialties_give_them() -> None:
    text = quoted("facts.claim_dataset")
    kept, *parts = fact_counting.size_checks(text)
    assert kept.outcome == "holds"
    # 79.46%, 9.96% and 10.58% of 3,242, each within 40 reports of its share.
    assert [statement_outcome(rows) for rows in by_key(parts)] == ["inconclusive", "holds", "inconclusive"]
    assert [check.computed[:6] for check in parts[4:]] == ["10.58%", "+18.8 "]
    assert {check.outcome for check in fact_counting.size_checks(text | {"train": parse("2900")})[1:3]} == {
        "fails"
    }


def test_the_whole_file_is_held_against_print() -> None:
    checks = {check.name: check for check in fact_counting.file_checks(WHOLE, quoted("facts.claim_dataset"))}
    assert fact_counting.file_checks(SOME, quoted("facts.claim_dataset")) == []
    assert checks["reports kept"].value == 3
    assert checks["specialties"].value == 2
    assert checks["mean words of a description"].value == pytest.approx((13 + 14 + 13) / 3)
    assert {check.outcome for check in checks.values()} == {"fails"}


def test_reports_that_stand_twice() -> None:
    # One Diets report trains and the same text tests; Surgery's only report tests.
    assert fact_counting.repeated(SOME, np.random.default_rng(0)) == (1, 2, 2)
    alone = BuildDocuments(PART[2:], whole=False)
    assert fact_counting.repeated(alone, np.random.default_rng(0))[2] == 0


def test_copying_and_its_checks() -> None:
    measured = fact_counting.copying(SOME, 50, np.random.default_rng(0))
    assert measured.loc["ROUGE-1 precision", "mean"] == pytest.approx((1 + 13 / 14 + 1) / 3)
    text = quoted("facts.claim_extractive")
    checks = fact_counting.extractive_checks(measured, text)
    assert checks[0].low == checks[0].high  # one text: a draw of whole texts cannot vary
    assert checks[4].outcome == "holds"
    # The print does not say whether words were stemmed: it must be met both ways, or missed both ways.
    near, far = [0.939, 0.93, 0.95], [0.80, 0.79, 0.81]
    for plain, stemmed, outcome in (
        (near, near, "holds"),
        (near, far, "inconclusive"),
        (far, near, "inconclusive"),
        (far, far, "fails"),
    ):
        measured.loc["ROUGE-L precision", ["mean", "low", "high"]] = plain
        measured.loc["ROUGE-L precision, stemmed", ["mean", "low", "high"]] = stemmed
        assert statement_outcome(fact_counting.extractive_checks(measured, text)[2:4]) == outcome


def test_copying_is_the_same_from_texts_and_from_what_is_recorded(data_root: Path) -> None:
    run = begin_cell("facts/fact_counting", profile="embedded", seed=0, data_root=str(data_root))
    of_texts = fact_counting.load(run)
    kept = recorded.load("mtsamples")
    of_numbers = BuildDocuments(list(recorded_documents(kept)), whole=of_texts.whole, evidence="recorded")
    assert (of_texts.evidence, of_texts.stand_in) == ("open", of_numbers.stand_in)
    ours, theirs = (
        fact_counting.copying(of_text, 50, np.random.default_rng(0)) for of_text in (of_texts, of_numbers)
    )
    pd.testing.assert_frame_equal(ours, theirs, atol=1e-8)
    repeated = [
        fact_counting.repeated(of_text, np.random.default_rng(0)) for of_text in (of_texts, of_numbers)
    ]
    assert repeated[0] == repeated[1]


def test_marks_of_the_printed_task() -> None:
    assert fact_counting.plain("Weight: 201 Pounds.") == "weight 201 pounds"
    facts = fact_counting.facts_of_g()
    assert (len(fact_counting.marked("R")), len(facts), facts["marked in R"].sum()) == (6, 4, 2)


def test_a_fact_stands_in_a_text_by_whole_words() -> None:
    assert fact_counting.stands_in("lost 24", "she has lost 24 pounds")
    assert fact_counting.stands_in("she has", "she has lost 24 pounds")
    assert not fact_counting.stands_in("lost 2", "she has lost 24 pounds")
    assert not fact_counting.stands_in("ounds", "she has lost 24 pounds")


def test_the_printed_report_is_whole_and_without_its_description() -> None:
    report, description = fact_counting.printed_report()
    assert report.startswith("The patient's assistant brings")
    assert report.endswith("any questions.")
    assert report.count(description.rstrip(".")) == 1


def test_the_task_is_of_the_printed_description_and_its_comment_quotes_g(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [(check.outcome, check.computed) for check in fact_counting.texts_of_task()] == [
        ("holds", "the description of Figure 1, 33 words"),
        ("holds", "9 words, in G"),
    ]
    monkeypatch.setattr(fact_counting, "printed_report", lambda: ("", "Another description."))
    monkeypatch.setattr(fact_counting, "quotations", lambda _: [("Figure 3", '"to 199" wrong information')])
    assert [check.outcome for check in fact_counting.texts_of_task()] == ["fails", "fails"]


def test_quoted_texts_are_those_of_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = fact_counting.quoted_texts()
    assert [(check.outcome, check.computed) for check in checks] == [
        ("holds", "22 words, in Figure 3"),
        ("holds", "22 words, in Figure 1"),
    ]
    monkeypatch.setattr(fact_counting, "printed_report", lambda: ("Weight today is 210 pounds.", ""))
    assert [check.outcome for check in fact_counting.quoted_texts()] == ["holds", "fails"]
