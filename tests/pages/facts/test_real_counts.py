"""Tables of counts behind rates, and metrics beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from notebooks.facts import real_counts
from notebooks.facts.real_counts import (
    LENGTH,
    correlations,
    length_prediction,
    table,
)
from radeval_lib.data.records import FactRating
from radeval_lib.data.roles import load
from radeval_lib.metrics.base import MetricError

REFERENCE = "one two three four five six seven eight"


def _rating(
    case: str, system: int, precision: float, recall: float, omission: float | None, **more: str
) -> FactRating:
    total = precision + recall
    return FactRating(
        id=f"{case}/{system}",
        case=case,
        group=f"system {system}",
        reference=f"{REFERENCE} {case}",
        candidate="one two three four",
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / total if total else 0.0,
        hallucination=0.0,
        omission=omission,
        **more,
    )


RATINGS = [
    _rating("a", 1, 2 / 3, 2 / 7, 5 / 7),  # 7, 3, 2
    _rating("a", 2, 1.0, 0.0, 1.0),  # nothing over nothing
    _rating("b", 1, 1.0, 0.5, 1.0),  # 2, 1, 1, both left out
    _rating("b", 2, 1.0, 1 / 3, None, fault="OmissionRate -1 is not a rate"),  # 3, 1, 1
    _rating("c", 1, 0.5, 0.25, 0.5),  # 4, 2, 1: one of four neither
]


def test_counts_and_their_summary() -> None:
    behind = real_counts.counts(RATINGS)
    assert behind["reference"].tolist() == [7, 1, 2, 3, 4]
    assert behind["empty"].tolist() == [False, True, False, False, False]
    assert behind["counted_twice"].tolist() == [0, 0, 1, 0, 0]
    assert behind["neither"].tolist() == [0, 0, 0, 0, 1]
    assert behind["possible"].iloc[0] == 1
    kinds = real_counts.summary(behind)
    assert kinds["judgements"].tolist() == [1, 4, 1, 1, 1, 1]
    assert kinds["share"].iloc[0] == pytest.approx(0.2)
    with pytest.raises(MetricError, match="judgement a/1"):
        real_counts.counts(
            [replace(RATINGS[0], precision=0.123456, f1=2 * 0.123456 * (2 / 7) / (0.123456 + 2 / 7))]
        )


def test_shared_numbers_of_facts() -> None:
    shared = real_counts.shared(RATINGS[:4], np.random.default_rng(0))
    # Seven fits both judgements of a; six fits both of b, within nine words.
    assert (shared["cases"], shared["fit"]) == (2, 2)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(load("fact_ratings", "recorded/mts_dialog", size=0, seed=0, root=None))


def test_table_keeps_order() -> None:
    ratings = load("fact_ratings", "recorded/mts_dialog", size=0, seed=0, root=None)[:3]
    frame = table(ratings)
    assert list(frame.index) == [rating.id for rating in ratings]
    assert frame["reference_words"].iloc[0] == len(str(ratings[0].reference).split())


def test_lengths_by_hand() -> None:
    words = pd.DataFrame({"reference_words": [0, 4, 8], "candidate_words": [3, 2, 16]})
    lengths = real_counts.lengths(words)
    assert lengths["share"].tolist() == [1, 0.5, 1]
    assert lengths["candidate"].tolist() == pytest.approx(np.log([4, 3, 17]))


def test_length_predicts_what_length_decides(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    by_length = frame.assign(f1=np.log1p(frame["reference_words"]) / 10)
    noise = frame.assign(f1=rng.random(len(frame)))
    assert np.corrcoef(length_prediction(by_length, "f1"), by_length["f1"])[0, 1] > 0.99
    assert np.corrcoef(length_prediction(noise, "f1"), noise["f1"])[0, 1] < 0.3


def test_correlations(frame: pd.DataFrame) -> None:
    scores = pd.DataFrame({"truth": frame["f1"], "against": -frame["f1"]}, index=frame.index)
    table = correlations(frame, scores, resamples=50, rng=np.random.default_rng(0))
    assert table.loc["truth", "value"] == pytest.approx(1)
    assert table.loc["against", "high"] == pytest.approx(-1)
    assert np.isnan(table.loc[LENGTH, "over_length"])
    gap = table.loc["truth", "value"] - table.loc[LENGTH, "value"]
    assert table.loc["truth", "over_length"] == pytest.approx(gap)
    assert table.loc["truth", "over_length_low"] <= gap <= table.loc["truth", "over_length_high"]


def test_within_a_case_what_is_the_same_for_its_summaries_says_nothing(frame: pd.DataFrame) -> None:
    of_case = frame["reference_words"].astype(float)
    scores = pd.DataFrame({"truth": frame["f1"], "of the case": of_case + frame["f1"]}, index=frame.index)
    table = correlations(frame, scores, within=True, resamples=20, rng=np.random.default_rng(0))
    assert table.loc["of the case", "value"] == pytest.approx(1)
