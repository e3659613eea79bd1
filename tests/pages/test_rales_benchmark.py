"""Scores, intervals and ranks of made-up counts whose answers are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from notebooks.rales.benchmark import SCORE, optimism_by_trials, scores
from radeval_lib.errors import ResultError
from radeval_lib.jobs.rales.tasks import task_of

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
    found = scores(counts, TASKS, resamples=50, rng=stream)
    assert found.observed.loc["good"].tolist() == [100, 100, 100]
    assert found.observed.loc["bad"].tolist() == [0, 0, 0]
    half = counts.assign(matched=counts["matched"] * (counts["task"] == "stanza"))
    assert scores(half, TASKS, resamples=5, rng=stream).observed.loc["good", SCORE] == 50


def test_a_column_of_which_nothing_was_tested_is_named() -> None:
    """As the second institution's, where a profile tests few records."""
    counts = made({"good": 1.0, "bad": 0.0}).query("task == 'stanza'")
    inside = counts.assign(task="graphs", domain="MIMIC-CXR")
    with pytest.raises(ResultError, match=r"out: no entity of CheXpert was tested with good.*0 for all"):
        scores(inside, [task_of("graphs")], resamples=5, rng=stream)


def test_a_clear_leader_is_always_first_and_equals_share_the_rest() -> None:
    found = scores(made({"good": 0.95, "a": 0.4, "b": 0.4}), TASKS, resamples=300, rng=stream)
    ranks = found.ranks()
    assert ranks.loc["good"].tolist() == [1, 1, 1]
    assert ranks.loc[["a", "b"], "high"].max() == 3
    assert found.lead("good", "a").low > 0
    gap = found.lead("a", "b")
    assert gap.low < 0 < gap.high


def test_intervals_cover_the_share_that_counts_were_drawn_with() -> None:
    covered = [
        row.low < 70 < row.high
        for seed in range(20)
        for row in scores(made({"one": 0.7}, draws=3, seed=seed), TASKS, resamples=300, rng=stream)
        .intervals()
        .itertuples()
    ]
    assert np.mean(covered) >= 0.85


def trials(skill: list[float], searches: int = 4, cases: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        (search, trial, f"{case:03}", int(rng.random() < share), 1, 1, rng.random())
        for search in range(searches)
        for trial, share in enumerate(skill)
        for case in range(cases)
    ]
    frame = pd.DataFrame(rows, columns=["search", "trial", "case", "matched", "predicted", "gold", "value"])
    frame["value"] = frame.groupby(["search", "trial"])["value"].transform("first")
    return frame


def test_with_one_trial_nothing_is_chosen() -> None:
    found = optimism_by_trials(trials([0.5]), [1], resamples=200, rng=np.random.default_rng(0))
    assert (found.drop(columns="trials") == 0).all(axis=None)


def test_among_equal_trials_optimism_is_the_luck_of_the_chosen_score() -> None:
    # Every trial is right on half of all documents there could be, so what the best has above that is luck.
    made_up = trials([0.5] * 8, searches=40, cases=200)
    luck = 100 * made_up.groupby(["search", "trial"])["matched"].mean().groupby("search").max().mean() - 50
    found = optimism_by_trials(made_up, [1, 2, 8], resamples=100, rng=np.random.default_rng(0))
    assert found["optimism"].is_monotonic_increasing
    assert found["advantage"].is_monotonic_increasing
    assert found.loc[2, "optimism"] == pytest.approx(luck, abs=1)  # from halves it would be 2 too much


def test_where_one_trial_is_best_by_far_there_is_no_luck() -> None:
    found = optimism_by_trials(trials([0.9, 0.1, 0.1]), [3], resamples=100, rng=np.random.default_rng(0))
    assert found.loc[0, "optimism"] == pytest.approx(0, abs=1e-9)


def test_encoders_and_draws_that_were_tested_on_other_cases_are_not_paired() -> None:
    counts = made({"good": 1.0, "bad": 0.0})
    other = counts["encoder"].eq("bad") & counts["case"].eq("007") & counts["draw"].eq(1)
    with pytest.raises(ResultError, match="other cases were tested with bad in draw 1"):
        scores(counts.assign(case=counts["case"].mask(other, "999")), TASKS, resamples=5, rng=stream)
    with pytest.raises(ResultError, match="other cases were tested with bad in draw 1"):
        scores(counts[~other], TASKS, resamples=5, rng=stream)
