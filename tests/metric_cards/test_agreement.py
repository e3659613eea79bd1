"""What a card says of agreement with people, on stored scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from radeval_lib.data import recorded
from radeval_lib.metric_cards import measurements
from radeval_lib.metric_cards.measurements import MORE_RESAMPLES, PERSON, measure_radpref
from radeval_lib.stats.correlations import Resampled, resample

STORED = recorded.load("radpref")
RIVALS = measurements.load_rivals(STORED, "")


def _part(values: np.ndarray, resamples: int = 300, seed: int = 0, **more: bool) -> dict[str, Any]:
    scores = {"mine": np.asarray(values, dtype=float), **RIVALS}
    result = measure_radpref(STORED.table, scores, "mine", resamples=resamples, seed=seed, **more)
    return {**result, "rows": {row["metric"]: row for row in result["rows"]}}


def _outcomes(draws: int) -> tuple[int, int]:
    """Of random metrics, how many are within their null band, and how many lead on any metric."""
    within = leads = 0
    for seed in range(draws):
        made = _part(np.random.default_rng([47, seed]).normal(size=len(STORED.table)), 600, seed)
        low, high = made["null_band"]
        within += low <= made["rows"]["mine"]["value"] <= high
        leads += any(row.get("p_holm", 1) < 0.05 and row["difference"] > 0 for row in made["rows"].values())
    return within, leads


@pytest.mark.parametrize("draws", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_random_numbers_are_within_the_null_band_and_lead_on_nothing(draws: int) -> None:
    within, leads = _outcomes(draws)
    assert within >= 0.93 * draws - 1
    assert leads == 0


def test_the_grades_themselves_lead_on_every_metric() -> None:
    made = _part(STORED.table[["grade_1", "grade_2", "grade_3"]].mean(axis=1).to_numpy(float))
    mine = made["rows"].pop("mine")
    assert mine["value"] == pytest.approx(1.0)
    others = [row for name, row in made["rows"].items() if name != PERSON]
    assert all(row["p_holm"] < 0.05 and row["difference"] > 0 for row in others)
    assert mine["choices"] >= max(row["choices"] for row in made["rows"].values())
    assert (made["candidates"], made["cases"]) == (200, 98)
    assert 0.10 < made["detectable"] < 0.15


def test_a_difference_near_the_level_is_drawn_more_often() -> None:
    """ROUGE-1 against weighted errors by rules: with 1,000 draws, seeds decide whether p is below 0.05."""
    scores = {"mine": RIVALS["ROUGE-1"], **RIVALS}
    wanted = STORED.table[["grade_1", "grade_2", "grade_3"]].mean(axis=1).to_numpy(float)

    def drawn(names: Sequence[str], resamples: int, seed: int) -> Resampled:
        mine = {name: scores[name] for name in names}
        return resample(
            mine,
            wanted,
            groups=STORED.table["case"],
            kind="kendall",
            resamples=resamples,
            rng=np.random.default_rng(seed),
        )

    def p(seed: int) -> float:
        first = drawn([*scores], 1_000, seed)
        table = measurements.compare_with_rivals(first, "mine", lambda few: drawn(few, MORE_RESAMPLES, seed))
        return float(table.loc["weighted errors by rules", "p_holm"])

    result = [p(seed) for seed in range(3)]
    assert max(result) - min(result) < 0.01
    assert max(result) < 0.05


def test_substitute_models_are_named() -> None:
    assert {"RaTEScore (our NER model)", "RadGraph F1 (our graph model)", "BERTScore (MiniLM)"} <= {*RIVALS}
    assert "BLEU" in RIVALS


def test_a_half_or_few_cases_give_intervals_and_no_test() -> None:
    half = _part(RIVALS["BLEU"] + 0.1, with_tests=False)
    keep = STORED.table["case"].to_numpy() < 49
    few = {name: values[keep] for name, values in RIVALS.items()}
    result = measure_radpref(STORED.table[keep], few, "BLEU", resamples=200, seed=0)
    assert not any("p_holm" in row for row in [*half["rows"].values(), *result["rows"]])


def test_facts_agree_with_themselves() -> None:
    table = recorded.load("mts_dialog").table
    (row,) = measurements.correlate_with_fact_f1(table, {"f1": table["f1"].to_numpy(float)}, seed=0)
    assert row["value"] == pytest.approx(1.0)
    assert row["n"] == len(table)
