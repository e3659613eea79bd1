"""Scores and intervals of made-up counts whose answers are known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from notebooks.rales.benchmark import SCORE, score_encoders
from radeval_lib.jobs.rales_tasks import task_of

TASKS = [task_of("stanza"), task_of("procedures")]


def stream(name: str) -> np.random.Generator:
    return np.random.default_rng([1, len(name)])


def made(right: dict[str, float], cases: int = 60, draws: int = 2, seed: int = 5) -> pd.DataFrame:
    """Return encoders that find a known share of one entity a case, and of one document."""
    rng = np.random.default_rng(seed)
    rows = []
    for encoder, share in right.items():
        for draw in range(draws):
            for case in range(cases):
                for task, part in (("stanza", "entity"), ("procedures", "document")):
                    hit = int(rng.random() < share)
                    rows.append((encoder, task, draw, f"{case:03}", "", part, hit, 1, 1))
    columns = ["encoder", "task", "draw", "case", "domain", "part", "matched", "predicted", "gold"]
    return pd.DataFrame(rows, columns=columns)


def test_the_score_is_the_mean_of_the_columns() -> None:
    counts = made({"good": 1.0, "bad": 0.0})
    result = score_encoders(counts, TASKS, resamples=50, rng=stream)
    assert result.observed.loc["good"].tolist() == [100, 100, 100]
    assert result.observed.loc["bad"].tolist() == [0, 0, 0]
    half = counts.assign(matched=counts["matched"] * (counts["task"] == "stanza"))
    assert score_encoders(half, TASKS, resamples=5, rng=stream).observed.loc["good", SCORE] == 50


def test_a_clear_leader_leads_and_equals_do_not() -> None:
    result = score_encoders(made({"good": 0.95, "a": 0.4, "b": 0.4}), TASKS, resamples=300, rng=stream)
    assert result.estimate_lead("good", "a").low > 0
    gap = result.estimate_lead("a", "b")
    assert gap.low < 0 < gap.high


def test_intervals_cover_the_share_that_counts_were_drawn_with() -> None:
    covered = [
        row.low < 70 < row.high
        for seed in range(20)
        for row in score_encoders(made({"one": 0.7}, draws=3, seed=seed), TASKS, resamples=300, rng=stream)
        .intervals()
        .itertuples()
    ]
    assert np.mean(covered) >= 0.85
