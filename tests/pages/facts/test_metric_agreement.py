"""Metrics beside rates: lengths predict only what lengths decide, and a perfect metric agrees perfectly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.facts.real_counts import (
    LENGTH,
    TARGETS,
    correlations,
    length_prediction,
    table,
)
from radeval_lib.roles import load


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(load("fact_ratings", "synthetic", size=25, seed=1, root=None))


def test_table_keeps_order_and_what_is_not_known() -> None:
    ratings = load("fact_ratings", "synthetic", size=3, seed=1, root=None)
    ratings[1] = replace(ratings[1], omission=None)
    frame = table(ratings)
    assert list(frame.index) == [rating.id for rating in ratings]
    assert frame["not_omitted"].isna().sum() == 1
    assert frame["reference_words"].iloc[0] == len(str(ratings[0].reference).split())


def test_length_predicts_what_length_decides(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    by_length = frame.assign(f1=np.log1p(frame["reference_words"]) / 10)
    noise = frame.assign(f1=rng.random(len(frame)))
    assert np.corrcoef(length_prediction(by_length, "f1"), by_length["f1"])[0, 1] > 0.99
    assert np.corrcoef(length_prediction(noise, "f1"), noise["f1"])[0, 1] < 0.3


def test_correlations(frame: pd.DataFrame) -> None:
    scores = pd.DataFrame({"truth": frame["f1"], "against": -frame["f1"]}, index=frame.index)
    found = correlations(frame, scores, kind="pearson", resamples=50, rng=np.random.default_rng(0))
    assert set(found["target"]) == set(TARGETS)
    of_f1 = found[found["target"] == "f1"].set_index("metric")
    assert of_f1.loc["truth", "value"] == pytest.approx(1)
    assert of_f1.loc["against", "high"] == pytest.approx(-1)
    assert np.isnan(of_f1.loc[LENGTH, "over_length"])
    gap = of_f1.loc["truth", "value"] - of_f1.loc[LENGTH, "value"]
    assert of_f1.loc["truth", "over_length"] == pytest.approx(gap)
    assert of_f1.loc["truth", "over_length_low"] <= gap <= of_f1.loc["truth", "over_length_high"]
