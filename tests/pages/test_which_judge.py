"""Every metric against the same ratings: tables by hand, one grader beside them, differences within a set."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from notebooks.across import trial_reviews, which_judge
from radeval_lib.data import recorded
from radeval_lib.data.errors import AbsentDataError, DataError
from radeval_lib.data.manifests import find
from radeval_lib.data.records import RatedPair
from radeval_lib.jobs import oriented_scores
from radeval_lib.metrics import create


def ratings(cases: int = 30, seed: int = 0, scale: str = "grade") -> list[RatedPair]:
    """Return two candidates a case, three raters, each near the candidate's number."""
    rng = np.random.default_rng(seed)
    return [
        RatedPair(
            f"case{case}/{side}",
            f"reference {case}",
            f"candidate {case} {side}",
            float(truth + rng.normal(0, 0.3)),
            rater,
            scale=scale,
        )
        for case in range(cases)
        for side, truth in enumerate(rng.normal(size=2))
        for rater in "ABC"
    ]


@pytest.fixture
def run() -> SimpleNamespace:
    return SimpleNamespace(
        profile=SimpleNamespace(resamples=200), rng=lambda name: np.random.default_rng([len(name), 1])
    )


def test_ratings_become_one_row_a_candidate_and_one_column_a_rater() -> None:
    records = ratings(3)
    pairs, grades = which_judge.select_rated_candidates([*records, RatedPair("case9/0", "r", "c", 1.0, "A")])
    assert grades.shape == (6, 3)  # what one rater alone graded is left out
    assert pairs["set"].tolist() == ["case0", "case0", "case1", "case1", "case2", "case2"]
    assert grades.loc["case1/0", "B"] == next(
        record.rating for record in records if record.id == "case1/0" and record.rater == "B"
    )


def test_ratings_that_no_two_raters_share_are_refused_in_one_line() -> None:
    alone = [RatedPair("train-1", "No mass.", "A mass.", 2.0), RatedPair("train-2", "Clear.", "Clear.", 5.0)]
    with pytest.raises(AbsentDataError):
        which_judge.select_rated_candidates(alone)
    apart = [RatedPair("1", "a", "b", 1.0, rater="A"), RatedPair("2", "c", "d", 1.0, rater="B")]
    with pytest.raises(AbsentDataError):
        which_judge.select_rated_candidates(apart)


def test_where_ids_name_no_set_candidates_of_a_case_are_compared() -> None:
    records = [
        RatedPair(f"{number}", reference, f"text {number}", float(number), rater=rater)
        for number, reference in enumerate("aabb")
        for rater in "AB"
    ]
    pairs, grades = which_judge.select_rated_candidates(records)
    assert which_judge.subtract_within_sets(grades, pairs)["A"].tolist() == [-1, -1]


def test_counted_errors_are_bad() -> None:
    _, grades = which_judge.select_rated_candidates(ratings(2, scale="errors"))
    _, as_grades = which_judge.select_rated_candidates(ratings(2))
    assert (grades == -as_grades).all(axis=None)


def test_agreement_is_the_mean_over_raters_left_out(run: SimpleNamespace) -> None:
    pairs, grades = which_judge.select_rated_candidates(ratings())
    frame = pd.DataFrame({"good": grades.mean(axis=1), "noise": np.random.default_rng(3).normal(size=60)})
    drawn = which_judge.resample_agreement(frame, grades, pairs["case"], run=run, name="x")
    others = {rater: grades.drop(columns=rater).mean(axis=1) for rater in grades}
    person = np.mean([stats.kendalltau(grades[rater], mean)[0] for rater, mean in others.items()])
    noise = np.mean([stats.kendalltau(frame["noise"], mean)[0] for mean in others.values()])
    assert drawn.shape == (201, 3)
    assert drawn.loc[0, which_judge.PERSON] == pytest.approx(person)
    assert drawn.loc[0, "noise"] == pytest.approx(noise)
    gap = which_judge.estimates(drawn[[which_judge.PERSON]].sub(drawn["noise"], axis=0))
    assert gap["low"].item() > 0
    turned = which_judge.resample_agreement(
        frame, grades, pairs["case"], run=run, name="x", radiologist=-grades
    )
    assert turned.loc[0, which_judge.PERSON] == pytest.approx(-person)


def test_auc_is_the_share_of_pairs_in_the_right_order(run: SimpleNamespace) -> None:
    rng = np.random.default_rng(1)
    scores = pd.DataFrame({"m": rng.integers(0, 5, 40), "n": rng.normal(size=40)})
    wrong = pd.Series(rng.random(40) < 0.4)
    drawn = which_judge.resample_auc(scores, wrong, np.repeat(range(20), 2), run=run, name="x")
    for name, values in scores.items():
        assert drawn.loc[0, name] == pytest.approx(roc_auc_score(~wrong, values))
    assert which_judge.estimates(drawn)["low"].between(0, 0.5).all()


def test_scores_that_differ_by_rounding_alone_are_tied() -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.3 - 1e-8])
    metric = SimpleNamespace(sign=lambda: -1, score=lambda *sides: SimpleNamespace(values=values))
    result = oriented_scores.score_candidates({"m": metric}, ["a"] * 3, ["b"] * 3)["m"]
    assert values[0] != values[1]
    assert result.rank().tolist() == [1.5, 1.5, 3]


def test_words_of_the_source() -> None:
    assert oriented_scores.found_in_source(
        "The patient has asthma.", "Asthma, patient; diabetes."
    ) == pytest.approx(2 / 3)
    assert oriented_scores.found_in_source("anything", "") == 1


UP, FLAT, MISSING = np.arange(8.0), np.full(8, 0.5), np.array([np.nan, *range(7)])
FAULTY = [(FLAT, UP, "Leave"), (UP, FLAT, "Leave"), (MISSING, UP, "Give"), (UP, [1.0], "Give")]


@pytest.mark.parametrize(("scores", "ratings", "remedy"), FAULTY)
def test_the_remedy_for_faulty_scores_and_ratings(run, scores, ratings, remedy):
    frame, cases = pd.DataFrame({"m": scores}), list(range(8))
    with pytest.raises(DataError, match=remedy):
        oriented_scores.bootstrap_correlations(frame, ratings, cases, "kendall", run=run, name="x")


def test_reviews_are_scored_by_hand(run: SimpleNamespace) -> None:
    rated = [
        RatedPair(f"{review}/{system}", "no harm was found", text, float(points), rater, system, "facets")
        for review in ("r1", "r2")
        for system, text, points in (("s1", "no harm was found", 6), ("s2", "harm", 2))
        for rater in ("A1", "A2")
    ]
    metrics = {"ROUGE-L": create("rouge_l"), "observations": create("observations")}
    scored = trial_reviews.score_summaries(rated, metrics)
    assert scored[["case", "system", "rating", "ratings"]].to_numpy().tolist() == [
        [0, 1, 6, 2], [0, 2, 2, 2], [1, 1, 6, 2], [1, 2, 2, 2]
    ]  # fmt: skip
    assert scored["rouge_l"].tolist() == pytest.approx([1, 0.4, 1, 0.4])
    assert "observations" not in scored


def test_reviews_are_the_same_from_texts_and_from_what_is_recorded(
    run: SimpleNamespace, data_root: Path
) -> None:
    metrics = {title: create(name) for title, name in (("ROUGE-L", "rouge_l"), ("BLEU", "bleu"))}
    of_texts = trial_reviews.load_summaries(
        SimpleNamespace(find=lambda name, file: find(name, data_root, file)), metrics
    )
    of_numbers = trial_reviews.load_summaries(
        SimpleNamespace(find=lambda name, file: None, recording=recorded.load), {}
    )
    both = [which_judge.correlate_reviews(metrics, of_text, run=run) for of_text in (of_texts, of_numbers)]
    pd.testing.assert_frame_equal(*both, atol=1e-8)


def test_what_a_measure_without_ties_can_reach() -> None:
    assert which_judge.compute_highest_correlation([1, 2, 3]) == pytest.approx(1)
    # Ranks 2, 2, 2 and 4 against 1 to 4: 3 of 5 of the variance.
    assert which_judge.compute_highest_correlation([0, 0, 0, 1]) == pytest.approx((3 / 5) ** 0.5)
