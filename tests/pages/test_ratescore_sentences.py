"""Words that RaTEScore's pages share."""

import pandas as pd
import pytest

from radeval_lib.pages.ratescore.sentences import (
    about_recovery,
    as_said_words,
    beside,
    copying_words,
    least_seen_words,
    link_with_lengths,
    wording_words,
)
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.superiority import Lead

REFERENCE, CANDIDATE = "words, reference", "words, candidate"


@pytest.mark.parametrize(
    ("reference", "candidate", "words"),
    [
        ((0.1, 0.3), (0.2, 0.4), "rises with the words of either text"),
        ((-0.1, 0.3), (-0.2, 0.4), "has no sure link with the words of either text"),
        (
            (0.1, 0.3),
            (-0.4, -0.1),
            "rises with the words of the reference; falls with the words of the candidate",
        ),
        (
            (0.005, 0.3),
            (0.1, 0.3),
            "rises (the interval just misses 0) with the words of the reference; "
            "rises with the words of the candidate",
        ),
        (
            (-0.3, -0.005),
            (-0.1, 0.3),
            "falls (the interval just misses 0) with the words of the reference; "
            "has no sure link with the words of the candidate",
        ),
    ],
)
def test_a_rating_goes_with_lengths(
    reference: tuple[float, float], candidate: tuple[float, float], words: str
) -> None:
    rows = pd.DataFrame([reference, candidate], index=[REFERENCE, CANDIDATE], columns=["low", "high"])
    assert link_with_lengths(rows) == words


def test_recovery_is_told_by_the_interval_against_equal_weights() -> None:
    assert "nearer to the planted scores than equal weights do" in about_recovery(
        0.9, 0.8, Estimate(0.1, 0.05, 0.2)
    )
    assert "Equal weights come nearer" in about_recovery(0.7, 0.8, Estimate(-0.1, -0.2, -0.05))
    assert about_recovery(0.8, 0.8, Estimate(0.0, -0.1, 0.1)).endswith("nearer cannot be told.")
    few = about_recovery(0.9, 0.8, None)
    assert few.endswith("too few to tell which comes nearer.")
    assert "difference" not in few


def test_encoders_are_told_apart_only_by_an_established_lead() -> None:
    ahead, behind, level = (
        Lead.by_interval(Estimate(*ends))
        for ends in ((0.1, 0.05, 0.2), (-0.1, -0.2, -0.05), (0.0, -0.1, 0.1))
    )
    assert beside("A", "B", ahead).startswith("*A* leads *B* (difference +0.100")
    assert beside("A", "B", behind).startswith("*B* leads *A* (difference -0.100")
    assert beside("A", "B", level).startswith("*A* and *B* cannot be told apart (difference +0.000")


@pytest.mark.parametrize(
    ("low", "high", "copying", "least"),
    [
        (0.3, 0.4, "So repeating the reference", "rewards"),
        (0.6, 0.7, "So being right", "sees a *side* least"),
        (0.4, 0.6, "cannot be told", "is not shown to see"),
    ],
)
def test_what_errors_pay_is_told_by_the_interval(low: float, high: float, copying: str, least: str) -> None:
    assert copying in copying_words(low, high)
    assert least in least_seen_words("side", "told", low, high)


def test_wording_weighs_more_only_beyond_chance() -> None:
    assert wording_words(0.1, 0.2) == "Wording weighs more than any error"
    assert wording_words(-0.2, -0.1) == "An error can weigh more than wording"
    assert wording_words(-0.1, 0.2) == "Wording and the costliest error cannot be told apart"


def test_what_metrics_measure_is_told_by_the_interval() -> None:
    assert as_said_words({"BLEU": True, "ROUGE-L": True}) == "BLEU and ROUGE-L behave as A.6 says."
    assert as_said_words({"BLEU": True, "ROUGE-L": False, "METEOR": None}) == (
        "BLEU behaves as A.6 says; ROUGE-L does the opposite; for METEOR it cannot be told."
    )
    assert as_said_words({"BLEU": None, "ROUGE-L": None}) == "For BLEU and ROUGE-L it cannot be told."
