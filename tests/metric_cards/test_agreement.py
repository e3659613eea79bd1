"""What a card says of agreement with people, on stored scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy.stats import norm, rankdata

from radeval_lib.data import recorded as recordings
from radeval_lib.metric_cards import agreement
from radeval_lib.metric_cards.agreement import RadPrefAgreement, _length_fixed, detectable

RECORDED = recordings.load("radpref")
RIVALS = agreement.rivals(RECORDED, "")


def card_of(values: np.ndarray, resamples: int = 600, seed: int = 0, **more: bool) -> RadPrefAgreement:
    scores = {"mine": np.asarray(values, dtype=float), **RIVALS}
    return RadPrefAgreement(RECORDED.table, scores, "mine", resamples=resamples, seed=seed, **more)


def outcomes(draws: int) -> tuple[int, int]:
    """Of random metrics, how many lie within their null band, and how many lead on any metric."""
    within = leads = 0
    for seed in range(draws):
        made = card_of(np.random.default_rng([47, seed]).normal(size=len(RECORDED.table)), seed=seed)
        low, high = made.null_band()["grade"]
        within += low <= made.tau() <= high
        leads += any(row.get("p_holm", 1) < 0.05 and row["difference"] > 0 for row in made.by_grade())
    return within, leads


def test_random_numbers_lie_within_the_null_band_and_lead_on_nothing() -> None:
    within, leads = outcomes(6)
    assert within >= 5
    assert leads == 0


@pytest.mark.nightly
def test_of_a_hundred_random_metrics_at_least_ninety_three_lie_within() -> None:
    within, leads = outcomes(100)
    assert within >= 93
    assert leads == 0


def test_the_grades_themselves_lead_on_every_metric() -> None:
    grades = RECORDED.table[["grade_1", "grade_2", "grade_3"]].mean(axis=1).to_numpy(float)
    made = card_of(grades, 2_700)
    assert made.tau() == pytest.approx(1.0)
    others = [row for row in made.by_grade() if row["metric"] != "mine"]
    assert all(row["p_holm"] < 0.05 and row["difference"] > 0 for row in others)
    assert made.clusters()[0] == ["mine"]
    chosen = {row["metric"]: row["value"] for row in made.choices()}
    assert chosen["mine"] >= max(value for name, value in chosen.items() if name != "mine")
    low, high = made.null_band()["grade"]
    assert -0.13 < low < -0.07
    assert 0.07 < high < 0.13


def test_power_is_that_of_the_recorded_metrics_whatever_the_metric() -> None:
    one = card_of(RIVALS["BLEU"]).power()
    other = card_of(-RIVALS["BLEU"]).power()
    assert one == other
    assert (one["candidates"], one["cases"], one["compared"]) == (200, 98, 55)
    assert 0.10 < one["alone"]["median"] < 0.15
    assert one["alone"]["highest"] < one["corrected"]["highest"]


def test_detectable_is_found_four_times_in_five() -> None:
    size = detectable(0.05, 0.05)
    found = norm.sf(norm.isf(0.025), loc=size / 0.05) + norm.cdf(norm.ppf(0.025), loc=size / 0.05)
    assert found == pytest.approx(0.8, abs=1e-3)


def test_where_the_metric_stands_among_the_scores_changes_nothing() -> None:
    scores = {"mine": RIVALS["BLEU"] + np.arange(200) / 1e3, **RIVALS}
    made = [
        {row["metric"]: row for row in RadPrefAgreement(
            RECORDED.table, ordered, "mine", resamples=200, seed=0
        ).by_grade()}
        for ordered in (scores, dict(reversed(scores.items())))
    ]  # fmt: skip
    assert made[0] == made[1]


def test_a_half_gives_intervals_and_no_test() -> None:
    made = card_of(RIVALS["BLEU"] + 0.1, tests=False)
    assert not made.tested
    assert not any("p_holm" in row for row in made.by_grade())


def test_few_cases_give_intervals_and_no_test() -> None:
    keep = RECORDED.table["case"].to_numpy() < 49
    scores = {name: of[keep] for name, of in RIVALS.items()}
    made = RadPrefAgreement(RECORDED.table[keep], scores, "BLEU", resamples=200, seed=0)
    assert not made.tested


def test_what_one_radiologist_has_more_is_a_difference_on_the_same_draws() -> None:
    rows = {row["metric"]: row for row in card_of(RIVALS["BLEU"], 300).by_rater()}
    person = rows[agreement.PERSON]
    assert person["below"] == 0
    assert rows["mine"]["below"] == pytest.approx(person["value"] - rows["mine"]["value"])
    assert rows["mine"] == {**rows["BLEU"], "metric": "mine"}


def test_partial_correlation_is_that_of_pingouin() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 9, size=(60, 5)), columns=list("xzyab")).astype(float)
    frame["y"] += frame["a"]
    ours = _length_fixed(rankdata(frame.to_numpy(), axis=0))
    theirs = [
        pingouin.partial_corr(frame, one, "y", ["a", "b"], method="spearman")["r"].iloc[0] for one in "xz"
    ]
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_nothing_is_left_of_length_once_length_is_fixed() -> None:
    words = np.arange(20.0)
    other = np.random.default_rng(0).permutation(20)
    assert np.isnan(_length_fixed(np.column_stack([words, other, words, other % 7]))).all()


def test_facts_are_signed_so_that_more_is_better() -> None:
    table = recordings.load("mts_dialog").table
    found = agreement.facts(table, {"f1": table["f1"].to_numpy(float)}, resamples=200, seed=0)
    value = {rate: rows[0]["value"] for rate, rows in found.items()}
    assert value["f1"] == pytest.approx(1.0)
    assert value["omission"] > 0.5
    assert found["omission"][0]["n"] == 398
