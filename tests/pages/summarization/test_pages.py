"""What the pages on summarization compare, draw and say."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from notebooks.rales.nlg_metric_limits import measure_preferences
from notebooks.summarization import models
from notebooks.summarization.comparison import LeadRetention, check_unseen
from notebooks.summarization.dataset import measure_lengths
from notebooks.summarization.training import choose_groups
from radeval_lib.data.records import ReportPair
from radeval_lib.jobs import impression_versions
from radeval_lib.metrics import create
from radeval_lib.stats.base import Estimate

matplotlib.use("Agg")

AHEAD, BEHIND, LEVEL = Estimate(0.1, 0.05, 0.2), Estimate(-0.1, -0.2, -0.05), Estimate(0.0, -0.1, 0.1)


@pytest.fixture(scope="module")
def made() -> pd.DataFrame:
    return impression_versions.candidates(40, 5)


def test_candidates_differ_from_their_reference_and_each_report_has_its_error(made: pd.DataFrame) -> None:
    assert (made["reference"] != made["candidate"]).all()
    per_report = made.groupby("report")["phenomenon"]
    assert (per_report.nunique() == per_report.size()).all()
    assert per_report.apply(lambda names: impression_versions.ERROR in set(names)).all()
    assert set(made["phenomenon"]) == {*impression_versions.FAIR, impression_versions.ERROR}
    assert made.equals(impression_versions.candidates(40, 5))


def test_a_metric_of_shared_words_prefers_an_error_to_another_order(made: pd.DataFrame) -> None:
    metrics = {"ROUGE-L": create("rouge_l"), "ROUGE-1": create("rouge_1")}
    fair = measure_preferences(impression_versions.add_scores(made, metrics), [*metrics])
    assert fair.loc[(impression_versions.ORDER, "ROUGE-L"), "value"] < 0.5
    assert fair.loc[(impression_versions.ORDER, "ROUGE-1"), "value"] == 1.0


def test_real_normal_impressions_are_paired_with_normal_and_abnormal_ones() -> None:
    texts = ["No acute disease.", "Normal chest.", "Large pleural effusion.", "Normal chest."]
    records = [ReportPair(str(number), "Findings.", text) for number, text in enumerate(texts)]
    pairs = impression_versions.normal_pairs(records, 5, 1)
    assert set(pairs.loc[pairs["phenomenon"] == impression_versions.ERROR, "candidate"]) == {texts[2]}
    normal = pairs[pairs["phenomenon"] == impression_versions.NORMAL]
    assert (normal["reference"] != normal["candidate"]).all()
    assert impression_versions.normal_pairs(records[:1], 5, 1).empty


@pytest.mark.parametrize(
    ("seen", "share", "came"),
    [
        (AHEAD, Estimate(0.2, -0.1, 0.4), "holds"),
        (AHEAD, Estimate(0.9, 0.7, 1.2), "fails"),
        (AHEAD, Estimate(0.4, 0.2, 0.7), "inconclusive"),
        (LEVEL, None, "inconclusive"),
    ],
)
def test_most_of_a_lead_is_lost_where_the_interval_of_what_is_left_says_so(
    seen: Estimate, share: Estimate | None, came: str
) -> None:
    assert check_unseen("S", LeadRetention(seen, LEVEL, share)).outcome == came


def test_blind_spots_count_perfect_scores_of_other_words() -> None:
    scores = pd.DataFrame(
        {
            "case": ["1", "2", "3", "4"],
            "group": ["CT Head", "CT Head", "X-ray Chest", "X-ray Chest"],
            "rouge_l": [0.1, 0.1, 0.1, 0.9],
            "observations": [1.0, 1.0, 0.0, 1.0],
        }
    )
    spots = models.count_dissimilar(scores)
    assert spots.loc["CT Head", "perfect score"] == 2
    assert spots.loc["X-ray Chest", "in other words"] == 1
    outside, chest, p = models.compare_with_chest(spots)
    assert (outside, chest) == (1.0, 0.0)
    assert p == pytest.approx(1 / 3)  # one of three ways to place the one imperfect score
    with pytest.raises(ValueError, match="CT Head"):
        models.compare_with_chest(spots.head(1))


FEW_DRAWS = SimpleNamespace(
    profile=SimpleNamespace(resamples=200), rng=lambda name: np.random.default_rng(len(name))
)


def by_group(head: list[float], chest: list[float]) -> pd.DataFrame:
    """Return scores of six cases in each of two groups."""
    frame = pd.DataFrame({"case": list("abcdefghijkl"), "rouge_l": head + chest, "seed": 0})
    return frame.assign(group=["CT Head"] * 6 + ["X-ray Chest"] * 6)


HEAD = [0.5, 0.6, 0.7, 0.5, 0.6, 0.7]


@pytest.mark.parametrize(
    ("head", "chest", "came"),
    [
        (HEAD, [0.7, 0.8, 0.9] * 2, "holds"),
        (HEAD, [0.9, 0.2, 0.502] * 2, "inconclusive"),
        (HEAD, [0.0, 0.5, 0.9] * 2, "inconclusive"),
        (HEAD, [0.5, 0.5, 0.6] * 2, "inconclusive"),
        (HEAD, [0.1, 0.2, 0.3] * 2, "fails"),
        ([0.0] * 6, [0.1, 0.2, 0.3] * 2, "fails"),
    ],
)
def test_to_be_best_everywhere_needs_an_established_lead_in_each_group(
    head: list[float], chest: list[float], came: str
) -> None:
    both = {"A": by_group(head, chest), "B": by_group([0.1, 0.2, 0.3] * 2, [0.5, 0.5, 0.6] * 2)}
    check = models.check_best_everywhere(FEW_DRAWS, both, "A", "rouge_l", "best", "the best everywhere")
    assert check.outcome == came


def test_to_be_beaten_somewhere_is_corrected_for_the_places_where_it_could_be() -> None:
    lost = [-0.9, -0.8, -0.7, -0.6, 0.2, 0.1]  # an interval of 95 % excludes 0, one of eleven comparisons not
    mine = by_group([0.0] * 6, lost)
    rivals = {f"B{number}": by_group([-0.5] * 6, [-1.0] * 6) for number in range(10)}
    first = {"A": mine, "B": by_group([-0.5] * 6, [0.0] * 6)}
    alone = models.check_best_everywhere(FEW_DRAWS, first, "A", "rouge_l", "best", "the best of all")
    among = models.check_best_everywhere(FEW_DRAWS, first | rivals, "A", "rouge_l", "best", "the best of all")
    assert (alone.outcome, among.outcome) == ("fails", "inconclusive")


def test_a_quarter_of_many_groups_is_kept_out_of_training() -> None:
    records = [ReportPair(str(n), "F.", "I.", group=f"g{n % 12}") for n in range(48)]
    kept = choose_groups(records, np.random.default_rng(0))
    assert len(kept) == 9
    assert kept == choose_groups(records, np.random.default_rng(0))
    assert len(choose_groups(records[:4], np.random.default_rng(0))) == 4


def test_lengths_and_vocabularies_by_group() -> None:
    records = [
        ReportPair("1", "The heart, the lungs.", "Normal.", group="A"),
        ReportPair("2", "The liver is big.", "Big liver.", group="A"),
        ReportPair("3", "A cyst.", "Cyst.", group="B"),
    ]
    table = measure_lengths(records)
    assert table.loc["A"].tolist() == [2, 4.0, 1.5, 3, 1]  # the vocabulary is of the first report alone
    assert table.loc["B"].tolist() == [1, 2.0, 1.0, 2, 1]
