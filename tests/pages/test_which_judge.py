"""Every metric against the same ratings: tables by hand, one grader beside them, differences within a set."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from notebooks.across import operations, which_judge
from notebooks.across.what_it_costs import encoding_operations
from radeval_lib.data import mslr, recorded
from radeval_lib.data.errors import AbsentDataError, DataError
from radeval_lib.data.manifests import find
from radeval_lib.data.radpref import MARKS, SIGNIFICANT
from radeval_lib.data.records import RatedPair
from radeval_lib.jobs.storing import facts_by_metric, oriented_scores, trial_reviews
from radeval_lib.metrics import create
from radeval_lib.metrics.base import MetricError
from radeval_lib.models.encoders import Encoder


def ratings(cases: int = 30, seed: int = 0, scale: str = "grade") -> list[RatedPair]:
    """Two candidates a case, three raters, each near the candidate's number."""
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
    pairs, grades = which_judge.rated([*records, RatedPair("case9/0", "r", "c", 1.0, "A")])
    assert grades.shape == (6, 3)  # what one rater alone graded is left out
    assert pairs["set"].tolist() == ["case0", "case0", "case1", "case1", "case2", "case2"]
    assert grades.loc["case1/0", "B"] == next(
        one.rating for one in records if one.id == "case1/0" and one.rater == "B"
    )


def test_ratings_that_no_two_raters_share_are_refused_in_one_line() -> None:
    alone = [RatedPair("train-1", "No mass.", "A mass.", 2.0), RatedPair("train-2", "Clear.", "Clear.", 5.0)]
    with pytest.raises(AbsentDataError, match=r"two\. Fill rated_pairs"):
        which_judge.rated(alone)
    apart = [RatedPair("1", "a", "b", 1.0, rater="A"), RatedPair("2", "c", "d", 1.0, rater="B")]
    with pytest.raises(AbsentDataError, match="every rater"):
        which_judge.rated(apart)


def test_where_ids_name_no_set_candidates_of_a_case_are_compared() -> None:
    records = [
        RatedPair(f"{number}", reference, f"text {number}", float(number), rater=rater)
        for number, reference in enumerate("aabb")
        for rater in "AB"
    ]
    pairs, grades = which_judge.rated(records)
    assert which_judge.differences(grades, pairs)["A"].tolist() == [-1, -1]


def test_counted_errors_are_bad() -> None:
    _, grades = which_judge.rated(ratings(2, scale="errors"))
    _, as_grades = which_judge.rated(ratings(2))
    assert (grades == -as_grades).all(axis=None)


def test_agreement_is_the_mean_over_raters_left_out(run: SimpleNamespace) -> None:
    pairs, grades = which_judge.rated(ratings())
    frame = pd.DataFrame({"good": grades.mean(axis=1), "noise": np.random.default_rng(3).normal(size=60)})
    table = which_judge.agreement(frame, grades, pairs["case"], run=run, name="x")
    person = np.mean(
        [stats.kendalltau(grades[rater], grades.drop(columns=rater).mean(axis=1))[0] for rater in grades]
    )
    assert table.loc[which_judge.PERSON, "value"] == pytest.approx(person)
    noise = np.mean(
        [stats.kendalltau(frame["noise"], grades.drop(columns=rater).mean(axis=1))[0] for rater in grades]
    )
    assert table.loc["noise", "value"] == pytest.approx(noise)
    assert table.loc["noise", "below"] == pytest.approx(person - noise)
    assert table.loc["noise", "below_low"] > 0
    assert table.loc["noise", "all"] == pytest.approx(
        stats.kendalltau(frame["noise"], grades.mean(axis=1))[0]
    )
    assert table.index[-1] == "noise"


def test_a_rater_whose_ties_are_broken_agrees_by_what_the_ties_had_earned(run: SimpleNamespace) -> None:
    pairs, grades = which_judge.rated(ratings(60))
    levels, frame = grades.round(), pd.DataFrame({"good": grades.mean(axis=1)})
    tied, untied = (
        find(frame, levels, pairs["case"], run=run, name="x")
        for find in (which_judge.agreement, which_judge.beside_untied_rater)
    )
    assert untied.loc["good", "value"] == pytest.approx(tied.loc["good", "value"])
    # On average a broken tie is for the others' order as often as against it; it only counts below the line.
    wanted = [
        stats.kendalltau(levels[rater], levels.drop(columns=rater).mean(axis=1))[0]
        * np.sqrt(1 - np.mean(np.equal.outer(values := levels[rater].to_numpy(), values)[off]))
        for rater, off in dict.fromkeys(levels, ~np.eye(len(levels), dtype=bool)).items()
    ]
    person = untied.loc[which_judge.PERSON, "value"]
    assert person == pytest.approx(np.mean(wanted), abs=0.02)
    assert person < tied.loc[which_judge.PERSON, "value"] - 0.05
    assert untied.loc["good", "below"] == pytest.approx(person - untied.loc["good", "value"])
    whole = which_judge.beside_untied_rater(frame, grades, pairs["case"], run=run, name="x")
    assert whole.loc["good", "below"] == pytest.approx(
        which_judge.agreement(frame, grades, pairs["case"], run=run, name="x").loc["good", "below"]
    )


def test_differences_are_within_a_set() -> None:
    pairs, grades = which_judge.rated(ratings(2))
    gaps = which_judge.differences(grades, pairs)
    assert gaps.shape == (2, 3)
    assert gaps["A"].iloc[1] == grades.loc["case1/0", "A"] - grades.loc["case1/1", "A"]
    assert gaps.index.tolist() == [0, 1]


def test_a_perfect_metric_says_what_people_say_and_guessing_does_not(run: SimpleNamespace) -> None:
    pairs, grades = which_judge.rated(ratings())
    frame = pd.DataFrame({"mean": grades.mean(axis=1), "turned": -grades.mean(axis=1)})
    table = which_judge.accuracy(frame, grades, pairs, run=run, name="x")
    assert table.loc["mean", "value"] > table.loc[which_judge.PERSON, "value"] > 0.6
    assert table.loc["turned", "value"] == pytest.approx(1 - table.loc["mean", "value"])
    # A metric that repeats one rater is right where that rater is, and where the rater is among the others.
    of = which_judge.accuracy(grades, grades, pairs, run=run, name="x")["value"]
    assert of[list(grades)].mean() >= of[which_judge.PERSON]
    # No grader sees a tie here, so that who guesses is right about as often as not, whatever the seed.
    for seed in (2, 3):
        run.rng = lambda name, seed=seed: np.random.default_rng([len(name), seed])
        table = which_judge.accuracy(frame, grades, pairs, run=run, name="x")
        assert table.loc[which_judge.RANDOM, "value"] == pytest.approx(0.5, abs=0.02)


def test_the_composite_is_the_mean_rank_of_its_parts() -> None:
    pairs = pd.DataFrame(
        {
            "reference": ["No pneumothorax. Small left pleural effusion."] * 3,
            "candidate": ["No pneumothorax. Small left pleural effusion.", "Left effusion.", "Pneumothorax."],
        }
    )
    names = ("observations", "green_rules_errors", "rouge_l")
    frame = oriented_scores.scores({name: create(name) for name in (*names, "bleu")}, pairs)
    wanted = frame[list(names)].rank(pct=True).mean(axis=1)
    assert frame[oriented_scores.COMPOSITE].tolist() == pytest.approx(wanted.tolist())
    assert frame[oriented_scores.COMPOSITE].idxmax() == 0
    assert frame["green_rules_errors"].iloc[0] >= frame["green_rules_errors"].iloc[2]  # high is good


def test_a_composite_of_missing_parts_and_tables_of_nothing_are_refused(run: SimpleNamespace) -> None:
    columns = pd.DataFrame({"rouge_l": [0.5], "observations": [1.0], "bleu": [0.1]})
    with pytest.raises(MetricError, match="green_rules_errors: no scores for a part of the composite"):
        oriented_scores.of_columns(columns)
    with pytest.raises(AbsentDataError, match="no rated pairs"):
        which_judge.rated([])
    with pytest.raises(DataError, match="no summary"):
        facts_by_metric.agreement({}, [], run=run)
    with pytest.raises(DataError, match="no pair"):
        operations.per_pair({}, pd.DataFrame({"reference": [], "candidate": []}))


def test_scores_that_differ_by_rounding_alone_are_tied() -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.3 - 1e-8])
    metric = SimpleNamespace(sign=lambda: -1, score=lambda *sides: SimpleNamespace(values=values))
    found = oriented_scores.scored({"m": metric}, ["a"] * 3, ["b"] * 3)["m"]
    assert values[0] != values[1]
    assert found.rank().tolist() == [1.5, 1.5, 3]


def test_words_of_the_source() -> None:
    assert facts_by_metric.found_in_source(
        "The patient has asthma.", "Asthma, patient; diabetes."
    ) == pytest.approx(2 / 3)
    assert facts_by_metric.found_in_source("anything", "") == 1


def test_operations_are_counted_for_networks_only() -> None:
    class Network:
        name, higher_is_better = "observations", True

        def score(self, references: list[str], candidates: list[str]) -> None:
            for _ in candidates:
                torch.ones(2, 3) @ torch.ones(3, 5)  # 2 x 2 x 3 x 5 operations

    class Words:
        name, higher_is_better = "rouge_l", True

        def score(self, references: list[str], candidates: list[str]) -> None:
            pass

    pairs = pd.DataFrame({"reference": ["a"] * 4, "candidate": ["b"] * 4})
    found = operations.per_pair({"Network": Network(), "Words": Words()}, pairs)  # type: ignore[dict-item]
    assert found.to_dict() == pytest.approx(
        {"Network": 60e-9, "Words": 0.0, oriented_scores.COMPOSITE: 60e-9}
    )


def test_operations_are_counted_where_a_module_hands_a_parameter_on() -> None:
    """As DeBERTa does with its positions, in inference."""

    class Product(torch.nn.Module):
        def forward(self, rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            return rows @ weight

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.product = torch.nn.Parameter(torch.ones(3, 5)), Product()

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return self.product(rows, self.weight)

    network = Network()

    def score(references: list[str], candidates: list[str]) -> None:
        with torch.inference_mode():
            network(torch.ones(2, 3))

    pairs = pd.DataFrame({"reference": ["a"], "candidate": ["b"]})
    metrics = {"x": SimpleNamespace(name="x", score=score)}
    found = operations.per_pair(metrics, pairs)  # type: ignore[arg-type]
    assert found["x"] == pytest.approx(2 * 2 * 3 * 5 / 1e9)


def test_operations_count_packed_layers_like_any_other() -> None:
    """Against the arithmetic of the layers: two operations a weight and token, and attention's."""
    encoder, texts = Encoder(device="cpu"), [f"effusion {word}" for word in "abcdefgh"]
    metric = SimpleNamespace(name="x", score=lambda references, _: encoder.encode(list(references)))
    pairs = pd.DataFrame({"reference": texts, "candidate": texts})
    found = operations.per_pair({"x": metric}, pairs)["x"] * 1e9 * len(texts)
    lengths = [len(encoder.tokenizer(text)["input_ids"]) for text in texts]
    assert found == pytest.approx(encoding_operations(encoder.model.config, lengths), rel=0.05)


def test_too_few_cases_are_said_in_one_line(run: SimpleNamespace) -> None:
    pairs, grades = which_judge.rated(ratings(6))
    frame = pd.DataFrame({"rare": [1.0, *[0.0] * (len(pairs) - 1)]})
    with pytest.raises(DataError, match=r"rare: .*do not vary.*Rate candidates of more cases"):
        which_judge.agreement(frame, grades, pairs["case"], run=run, name="x")


@pytest.mark.parametrize("flat", ["constant", "the ratings"])
def test_what_never_varies_is_said_to_need_no_more_cases(run: SimpleNamespace, flat: str) -> None:
    varied, same = np.arange(8.0), np.full(8, 0.5)
    frame, ratings = pd.DataFrame({"varied": varied, "constant": same}), varied
    if flat == "the ratings":
        frame, ratings = frame[["varied"]], same
    with pytest.raises(DataError, match=rf"{flat}: all 8 values are 0\.5\. Leave it out"):
        oriented_scores.drawn(frame, ratings, list(range(8)), "kendall", run=run, name="x")


def _of_records(run: SimpleNamespace) -> SimpleNamespace:
    run.recording = recorded.load
    return run


def test_the_weighting_of_errors_changes_the_ratings_and_not_the_scores(run: SimpleNamespace) -> None:
    table = which_judge.by_severity(_of_records(run))
    assert list(table.index) == ["grade", *which_judge.SEVERITIES]
    assert table.loc["grade", "order"] == 1
    assert table["order"].between(-1, 1).all()
    found = recorded.load("radpref")
    marks = found.parts["ratings"]
    errors = marks[["_".join(mark) for mark in MARKS]].sum(axis=1)
    by_rater = marks.assign(errors=-errors).pivot(index="number", columns="rater", values="errors")
    one, others = by_rater[1], by_rater[[2, 3]].mean(axis=1)
    each = [
        stats.kendalltau(by_rater[rater], by_rater.drop(columns=rater).mean(axis=1)).statistic
        for rater in by_rater
    ]
    assert table.loc["every error alike", "person"] == pytest.approx(np.mean(each), abs=1e-9)
    assert stats.kendalltau(one, others).statistic == pytest.approx(each[0])
    weights = which_judge.SEVERITIES["errors that ask for action alone"]
    assert {key for key, weight in weights.items() if weight} == SIGNIFICANT


def test_reviews_are_scored_by_hand(run: SimpleNamespace) -> None:
    rated = [
        RatedPair(f"{review}/{system}", "no harm was found", text, float(points), rater, system, "facets")
        for review in ("r1", "r2")
        for system, text, points in (("s1", "no harm was found", 6), ("s2", "harm", 2))
        for rater in ("A1", "A2")
    ]
    chosen = [
        mslr.Preference("r2", "no harm was found", "harm", "no harm", ("s2", "s1"), "A3", "B"),
        mslr.Preference("r3", "no harm was found", "harm", "no", ("s1", "s2"), "A4", "neither"),
    ]
    metrics = {"ROUGE-L": create("rouge_l"), "observations": create("observations")}
    found = trial_reviews.scored(rated, chosen, metrics)
    assert found.summaries[["case", "system", "rating", "ratings"]].to_numpy().tolist() == [
        [0, 1, 6, 2], [0, 2, 2, 2], [1, 1, 6, 2], [1, 2, 2, 2]
    ]  # fmt: skip
    assert found.summaries["rouge_l"].tolist() == pytest.approx([1, 0.4, 1, 0.4])
    (row,) = found.preferences.to_dict("records")
    assert (row["case"], row["rater"], row["choice"], row["system_1"], row["system_2"]) == (1, 1, 2, 2, 1)
    assert (row["rouge_l_1"], row["rouge_l_2"]) == pytest.approx((0.4, 2 / 3))
    assert "observations" not in found.summaries
    unrated = dataclasses.replace(chosen[0], systems=("s3", "s1"))
    (row,) = trial_reviews.scored(rated, [unrated], metrics).preferences.to_dict("records")
    assert (row["system_1"], row["system_2"]) == (3, 1)


def test_reviews_are_the_same_from_texts_and_from_what_is_recorded(
    run: SimpleNamespace, data_root: Path
) -> None:
    metrics = {title: create(name) for title, name in (("ROUGE-L", "rouge_l"), ("BLEU", "bleu"))}
    of_texts = trial_reviews.load(
        SimpleNamespace(find=lambda name, file: find(name, data_root, file)), metrics
    )
    of_numbers = trial_reviews.load(
        SimpleNamespace(find=lambda name, file: None, recording=recorded.load), {}
    )
    both = [trial_reviews.agreement(metrics, one, run=run) for one in (of_texts, of_numbers)]
    pd.testing.assert_frame_equal(*both, atol=1e-8)


def test_what_a_measure_without_ties_can_reach() -> None:
    assert facts_by_metric.reachable([1, 2, 3]) == pytest.approx(1)
    # Ranks 2, 2, 2 and 4 against 1 to 4: 3 of 5 of the variance.
    assert facts_by_metric.reachable([0, 0, 0, 1]) == pytest.approx((3 / 5) ** 0.5)
