"""The page on MTSamples: sizes that can and cannot be, the whole file against print, and every sentence."""

from __future__ import annotations

import numpy as np
import pytest

from radeval_lib.data.records import Document
from radeval_lib.pages.facts import mtsamples
from radeval_lib.pages.facts.mtsamples import Found
from radeval_lib.papers.printed_numbers import quoted
from radeval_lib.roles import load

PART = [
    Document(
        id=str(number),
        text="Weight is down three pounds in the past month and the patient walks at the mall every day.",
        summary="Weight is down three pounds in the past month and the patient walks" + extra,
        group=group,
    )
    for number, (group, extra) in enumerate([("Diets", ""), ("Diets", " daily"), ("Surgery", "")])
]
WHOLE, SOME = Found(PART, real=True, whole=True), Found(PART, real=True, whole=False)
NONE = Found(PART, real=False, whole=False)


def _said() -> dict[str, float]:
    return {name: value.value for name, value in quoted("facts.claim_dataset").items()}


def test_printed_sizes_and_sizes_that_cannot_be() -> None:
    assert [check.outcome for check in mtsamples.size_checks(_said())] == ["holds"] * 3
    # A training part above 80%, and a development part above the test part, are not what is described.
    assert mtsamples.size_checks(_said() | {"train": 2700.0})[1].outcome == "fails"
    swapped = _said() | {"development": 343.0, "test": 323.0}
    assert mtsamples.size_checks(swapped)[2].outcome == "fails"


def test_the_whole_file_is_held_against_print() -> None:
    checks = {check.name: check for check in mtsamples.file_checks(WHOLE, quoted("facts.claim_dataset"))}
    assert mtsamples.file_checks(SOME, quoted("facts.claim_dataset")) == []
    assert checks["reports kept"].value == 3
    assert checks["specialties"].value == 2
    assert checks["mean words of a description"].value == pytest.approx((13 + 14 + 13) / 3)
    assert {check.outcome for check in checks.values()} == {"fails"}


def test_sentences_in_every_branch() -> None:
    printed = mtsamples.printed_report()
    whole = mtsamples.conclusion(WHOLE, printed)
    assert whole.startswith("The description that the paper prints stands word for word in its report")
    assert whole.endswith("67% hold no word that their report lacks.")
    assert mtsamples.conclusion(NONE, printed).endswith("so the means were not measured.")
    other = mtsamples.PrintedReport(printed.text, "Nothing of it")
    assert "does not stand word for word" in mtsamples.conclusion(NONE, other)
    assert mtsamples.about_file(WHOLE).startswith(
        "This build has the whole file: 3 reports of 2 specialties, 3 with"
    )
    assert "a part of the file" in mtsamples.about_file(SOME)
    assert mtsamples.about_file(NONE).endswith("so nothing was counted.")
    # One Diets report trains and the same text tests; Surgery's only report tests.
    repeats = mtsamples.about_repeats(SOME, np.random.default_rng(0))
    assert repeats.startswith("The 3 reports kept of this part of MTSamples are one text.")
    assert repeats.endswith("2 of 2 test reports are in the training part too.")
    alone = Found(PART[2:], real=True, whole=False)
    assert mtsamples.about_repeats(alone, np.random.default_rng(0)).endswith(
        "no test report is in the training part."
    )


def test_stand_ins_and_captions() -> None:
    assert (WHOLE.stand_in, WHOLE.remaining) == ("", "")
    assert SOME.stand_in == "3 of MTSamples' transcriptions, not all of them"
    assert [
        mtsamples.copying_caption(one).split(" of ", 1)[1].split(",")[0] for one in (WHOLE, SOME, NONE)
    ] == [
        "MTSamples",
        "a part of MTSamples",
        "the generator",
    ]


def test_copying_and_its_checks() -> None:
    measured = mtsamples.copying(SOME, 50, np.random.default_rng(0))
    assert measured.loc["ROUGE-1 precision", "mean"] == pytest.approx((1 + 13 / 14 + 1) / 3)
    said = quoted("facts.claim_extractive")
    checks = mtsamples.extractive_checks(SOME, measured, said)
    assert checks[0].low == checks[0].high  # one text: a draw of whole texts cannot vary
    assert checks[2].outcome == "holds"
    assert mtsamples.extractive_checks(NONE, measured, said) == []


def test_copying_of_summaries() -> None:
    ratings = load("fact_ratings", "synthetic", size=6, seed=1, root=None)
    copies = mtsamples.summaries_copy(ratings, 20, np.random.default_rng(0))
    assert copies.loc["reference", "summaries"] == 6
    assert len(copies) == 5
    for ends, outcome in (((0.6, 0.8), "holds"), ((0.4, 0.6), "cannot tell"), ((0.2, 0.4), "fails")):
        assert mtsamples.copying_check(copies.assign(low=ends[0], high=ends[1])).outcome == outcome
    assert "says nothing about summarisers" in mtsamples.about_summaries(copies, "synthetic")
    assert mtsamples.about_summaries(copies, "open").startswith("From ")
