"""The printed task's marks, and MTSamples: sizes that can be, the whole file against print, and copying."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from notebooks.facts import fact_counting
from notebooks.facts.fact_counting import BuildDocuments
from radeval_lib.data import recorded
from radeval_lib.data.mtsamples import restore_documents
from radeval_lib.data.records import Document
from radeval_lib.papers.printed_numbers import quoted
from radeval_lib.study.results import statement_outcome
from radeval_lib.study.runs import begin_job

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


def test_the_whole_file_is_held_against_print() -> None:
    checks = {
        check.name: check for check in fact_counting.check_whole_file(WHOLE, quoted("facts.claim_dataset"))
    }
    assert fact_counting.check_whole_file(SOME, quoted("facts.claim_dataset")) == []
    assert checks["reports kept"].value == 3
    assert checks["specialties"].value == 2
    assert checks["mean words of a description"].value == pytest.approx((13 + 14 + 13) / 3)
    assert {check.outcome for check in checks.values()} == {"fails"}


def test_reports_that_stand_twice() -> None:
    # One Diets report trains and the same text tests; Surgery's only report tests.
    assert fact_counting.count_repeated_texts(SOME, np.random.default_rng(0)) == (1, 2, 2)
    alone = BuildDocuments(PART[2:], whole=False)
    assert fact_counting.count_repeated_texts(alone, np.random.default_rng(0))[2] == 0


def test_copying_and_its_checks() -> None:
    measured = fact_counting.summarize_copying(SOME, 50, np.random.default_rng(0))
    assert measured.loc["ROUGE-1 precision", "mean"] == pytest.approx((1 + 13 / 14 + 1) / 3)
    text = quoted("facts.claim_extractive")
    checks = fact_counting.check_copying(measured, text)
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
        assert statement_outcome(fact_counting.check_copying(measured, text)[2:4]) == outcome


def test_copying_is_the_same_from_texts_and_from_what_is_recorded(data_root: Path) -> None:
    run = begin_job("facts/fact_counting", profile="embedded", seed=0, data_root=str(data_root))
    of_texts = fact_counting.load(run)
    kept = recorded.load("mtsamples")
    of_numbers = BuildDocuments(list(restore_documents(kept)), whole=of_texts.whole, evidence="recorded")
    assert (of_texts.evidence, of_texts.substitutes) == ("open", of_numbers.substitutes)
    ours, theirs = (
        fact_counting.summarize_copying(of_text, 50, np.random.default_rng(0))
        for of_text in (of_texts, of_numbers)
    )
    pd.testing.assert_frame_equal(ours, theirs, atol=1e-8)
    repeated = [
        fact_counting.count_repeated_texts(of_text, np.random.default_rng(0))
        for of_text in (of_texts, of_numbers)
    ]
    assert repeated[0] == repeated[1]


def test_a_fact_stands_in_a_text_by_whole_words() -> None:
    assert fact_counting.is_run_of("lost 24", "she has lost 24 pounds")
    assert fact_counting.is_run_of("she has", "she has lost 24 pounds")
    assert not fact_counting.is_run_of("lost 2", "she has lost 24 pounds")
    assert not fact_counting.is_run_of("ounds", "she has lost 24 pounds")


@given(st.integers(1, 2000))
def test_split_sizes_are_those_of_scikit_learn(n: int) -> None:
    train, development, test = fact_counting.compute_split_sizes(n)
    assert train + development + test == n
    if train:
        first, rest = train_test_split(range(n), test_size=0.2, random_state=0)
        assert len(first) == train
        if development:
            second, third = train_test_split(rest, test_size=0.5, random_state=0)
            assert (len(second), len(third)) == (development, test)
