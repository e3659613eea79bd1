"""Ceilings, planted errors, reading labels, summary and freeze of GREEN's pages."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from radeval_lib.data import rexval
from radeval_lib.data.radpref import Case, FindingError, Rating
from radeval_lib.data.records import ErrorCount
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.models.judges.rules import RulesJudge
from radeval_lib.models.judges.rules.items import names_of
from radeval_lib.pages.green import ceilings, rules_judge, summary
from radeval_lib.pages.green.rules_judge import Freeze, behaviour, freeze


def case(number: int) -> Case:
    findings = {"C1": ("a", "b", "c"), "C2": ("a",)}
    texts = {"C1": "one", "C2": "two"}
    return Case(str(number), "reference", ("x", "y"), texts, findings, {"C1": "s", "C2": "t"}, "", "", "")


ERRORS = (
    FindingError("false", 0, "urgent"),
    FindingError("attribute", 1, "negligible", "severity"),
    FindingError("missing", 1, "actionable_not_urgent"),
)


def test_marks_by_hand():
    row = ceilings.marked([case(1)], [Rating("1", "C1", "1", 3, ERRORS)]).iloc[0]
    counted = ["weighted", "errors", "significant", "stated", "clean", "right", "passable"]
    assert row[counted].tolist() == [1.5, 3, 2, 3, 1, 2, 2]
    assert row["GREEN"] == pytest.approx(1 / 3)
    assert row["GREEN, all errors"] == pytest.approx(1 / 4)
    assert row["GREEN, one match given"] == pytest.approx(2 / 4)
    assert row["GREEN, errors weighted"] == pytest.approx(1 / 2.5)
    assert row["weighted errors"] == -1.5


def test_others_are_the_other_radiologists():
    ratings = [Rating("1", "C1", str(rater), grade, ()) for rater, grade in ((1, 1), (2, 3), (3, 5))]
    frame = ceilings.marked([case(1)], ratings)
    assert frame["others"].tolist() == [4.0, 3.0, 2.0]


def test_ceilings_of_perfect_marks_are_one():
    rng = np.random.default_rng(0)
    cases = [case(number) for number in range(12)]
    ratings = []
    for number, one in enumerate(cases):
        for candidate in ("C1", "C2"):
            wrong = (number + (candidate == "C2") * 3) % 4
            errors = tuple(FindingError("missing", place, "urgent") for place in range(wrong))
            ratings += [Rating(one.id, candidate, str(rater), 5 - wrong, errors) for rater in (1, 2, 3)]
    frame = ceilings.marked(cases, ratings)
    joint = ceilings.joint_ceilings(frame, resamples=20, rng=rng).intervals().set_index("metric")
    assert joint.loc["weighted errors", "value"] == pytest.approx(1.0)
    single = ceilings.single_ceilings(frame, resamples=20, rng=rng)
    assert len(single) == 3 * len(ceilings.VARIANTS)


def test_counts_of_radiologists_who_agree(monkeypatch):
    counts = [
        ErrorCount(study, "bleu", 1, f"Expert {rater}", True, float(study))
        for study in range(8)
        for rater in range(3)
    ]
    monkeypatch.setattr(rexval, "load", lambda path: counts)
    found = ceilings.counted(Path(), resamples=20, rng=np.random.default_rng(0))
    assert found["value"].tolist() == pytest.approx([1.0] * 6)


def test_micro_f1_by_hand():
    table = pd.DataFrame(
        {
            "pair": [0, 0, 1, 1],
            "category": list("abab"),
            "planted": [2, 0, 1, 1],
            "found": [1, 1, 1, 1],
            "hit": [1, 0, 1, 1],
        }
    )
    scores = rules_judge.planted_f1(table, resamples=50, rng=np.random.default_rng(0))
    assert scores.loc["a", "value"] == pytest.approx(4 / 5)
    assert scores.loc["b", "value"] == pytest.approx(2 / 3)
    assert scores.loc["all", "value"] == pytest.approx(6 / 8)
    assert (scores["low"] <= scores["value"]).all()


def test_labels_hold_no_text_and_no_sentence_twice():
    labels = rules_judge.labels()
    keys = labels[["report", "section", "start", "end"]].drop_duplicates()
    assert len(keys) >= 150
    assert labels["key"].str.fullmatch(r"[a-z_]*").all()
    assert set(labels["presence"]) == {"present", "absent", "uncertain", "normal", ""}
    assert (labels["report"].astype(int) % 5 == 0).all()
    assert labels.groupby(["report", "section", "start", "end"])["draw"].nunique().eq(1).all()


def test_sentences_of_an_analysis():
    (analysis,) = RulesJudge().judge([("No effusion. Left nodule.", "Right effusion. Cardiomegaly.")])
    said = summary.error_sentences(analysis)
    assert said["a"] == ["Cardiomegaly", "Pleural effusion (right)"]
    assert said["b"] == ["Nodule (left)"]
    assert said["c"] == []


def test_the_largest_cluster_and_its_centre():
    words = ["left nodule"] * 6 + ["right effusion"] * 3 + ["heart"]
    vectors = {"left nodule": (1, 0, 0), "right effusion": (0, 1, 0), "heart": (0, 0.6, 0.8)}
    found = summary.cluster(
        "a", words, lambda texts: np.array([vectors[text] for text in texts], dtype=np.float32)
    )
    assert found.nearest == ("left nodule",) * 3
    assert found.share == 0.6
    assert found.most == 2  # of three distinct sentences: no choice of k
    nothing = summary.cluster("b", [], lambda texts: np.zeros((0, 3), dtype=np.float32))
    assert (nothing.nearest, nothing.most) == ((), 0)


def test_the_built_in_fault_is_in_its_share_of_reports():
    pairs = summary.faulty_pairs(60, 1, share=1.0)
    assert (
        sum("effusion" in candidate.lower() or "pleural fluid" in candidate.lower() for _, candidate in pairs)
        > 50
    )
    assert summary.faulty_pairs(10, 1, share=0.0) == summary.faulty_pairs(10, 1, share=0.0)


def test_the_freeze_tells_whether_the_judge_has_changed():
    assert freeze().scored >= 1
    assert Freeze("", behaviour(), 1, "").holds
    assert not Freeze("", "0" * 64, 1, "").holds


def test_gain_is_the_difference_on_the_same_pairs():
    table = pd.DataFrame(
        [(0, "a", 2, 2, 1), (0, "b", 0, 0, 0), (1, "a", 1, 1, 1), (1, "b", 1, 1, 1)],
        columns=["pair", "category", "planted", "found", "hit"],
    )
    same = rules_judge.f1_difference(table, table, resamples=50, rng=np.random.default_rng(0))
    assert (same.value, same.low, same.high) == (0, 0, 0)
    better = table.assign(hit=table["planted"])
    found = rules_judge.f1_difference(table, better, resamples=200, rng=np.random.default_rng(0))
    assert found.value == pytest.approx(1 - 2 * 3 / 8)
    assert 0 <= found.low <= found.value <= found.high


def test_an_encoder_that_knows_every_name_and_one_that_knows_none():
    finding = {text: names_of(one)[0] for one in load_lexicon().concepts.values() for text in names_of(one)}
    order = sorted(set(finding.values()))

    def knows(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(len(order), dtype=np.float32)[[order.index(finding[text]) for text in texts]]

    known = rules_judge.recognise(knows)
    assert known.recognised == 1
    assert known.area == 1
    rng = np.random.default_rng(0)
    unknown = rules_judge.recognise(lambda texts: rng.normal(size=(len(texts), 40)).astype(np.float32))
    assert unknown.area == pytest.approx(0.5, abs=0.05)
    assert unknown.recognised < 0.02


def test_names_are_synonyms_from_the_threshold_on():
    vectors = {"pneumothorax": (1.0, 0.0), "pleural effusion": (0.8, 0.6), "scoliosis": (0.0, 2.0)}
    known = rules_judge.EncodedNames(lambda texts: np.float32([vectors[text] for text in texts]), 0.8 - 1e-6)
    assert known.likeness("pneumothorax", "pleural effusion") == pytest.approx(0.8)
    assert known("pneumothorax", "pleural_effusion")
    assert not known("pneumothorax", "scoliosis")
