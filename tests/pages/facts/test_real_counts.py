"""Metrics, and lengths, beside rates of counted facts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from notebooks.facts import real_counts
from notebooks.facts.real_counts import LENGTH, correlate_f1, predict_from_lengths, tabulate_judgements
from radeval_lib.data.roles import load


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return tabulate_judgements(load("fact_ratings", "recorded/mts_dialog", size=0, seed=0, root=None))


def test_lengths_by_hand() -> None:
    words = pd.DataFrame({"reference_words": [0, 4, 8], "candidate_words": [3, 2, 16]})
    lengths = real_counts.compute_length_features(words)
    assert lengths["share"].tolist() == [1, 0.5, 1]
    assert lengths["candidate"].tolist() == pytest.approx(np.log([4, 3, 17]))


def test_length_predicts_what_length_decides(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    by_length = frame.assign(f1=np.log1p(frame["reference_words"]) / 10)
    noise = frame.assign(f1=rng.random(len(frame)))
    assert np.corrcoef(predict_from_lengths(by_length, "f1"), by_length["f1"])[0, 1] > 0.99
    assert np.corrcoef(predict_from_lengths(noise, "f1"), noise["f1"])[0, 1] < 0.3


def test_correlations(frame: pd.DataFrame) -> None:
    scores = pd.DataFrame({"truth": frame["f1"], "against": -frame["f1"]}, index=frame.index)
    table = correlate_f1(frame, scores, resamples=50, rng=np.random.default_rng(0))
    assert table.loc["truth", "value"] == pytest.approx(1)
    assert table.loc["against", "high"] == pytest.approx(-1)
    assert np.isnan(table.loc[LENGTH, "over_length"])
    gap = table.loc["truth", "value"] - table.loc[LENGTH, "value"]
    assert table.loc["truth", "over_length"] == pytest.approx(gap)
    assert table.loc["truth", "over_length_low"] <= gap <= table.loc["truth", "over_length_high"]


def test_within_a_case_what_is_the_same_for_its_summaries_says_nothing(frame: pd.DataFrame) -> None:
    of_case = frame["reference_words"].astype(float)
    scores = pd.DataFrame({"truth": frame["f1"], "of the case": of_case + frame["f1"]}, index=frame.index)
    table = correlate_f1(frame, scores, within_cases=True, resamples=20, rng=np.random.default_rng(0))
    assert table.loc["of the case", "value"] == pytest.approx(1)
