"""Reading labels, summary, and freeze of GREEN's judge."""

import re

import numpy as np
import pytest

from notebooks.green import labelled_sentences, summary
from radeval_lib.errors import RadevalError
from radeval_lib.jobs import green
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.study.profiles import profile


def test_labels_hold_no_text_and_no_sentence_twice():
    labels = labelled_sentences.read_labels()
    keys = labels[["report", "section", "start", "end"]].drop_duplicates()
    assert len(keys) >= 150
    assert labels["key"].str.fullmatch(r"[a-z_]*").all()
    assert set(labels["presence"]) == {"present", "absent", "uncertain", "normal", ""}
    assert (labels["report"].astype(int) % 5 == 0).all()
    assert labels.groupby(["report", "section", "start", "end"])["draw"].nunique().eq(1).all()


def test_sentences_of_an_analysis():
    (analysis,) = RulesJudge().judge([("No effusion. Left nodule.", "Right effusion. Cardiomegaly.")])
    error_sentences = summary.extract_error_sentences(analysis)
    assert error_sentences["a"] == ["Cardiomegaly", "Pleural effusion (right)"]
    assert error_sentences["b"] == ["Nodule (left)"]
    assert error_sentences["c"] == []


def test_the_largest_cluster_and_its_centre():
    words = ["left nodule"] * 6 + ["right effusion"] * 3 + ["heart"]
    vectors = {"left nodule": (1, 0, 0), "right effusion": (0, 1, 0), "heart": (0, 0.6, 0.8)}

    def encode(texts):
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    cluster = summary.cluster_sentences(words, encode, 0)
    assert cluster.nearest == ("left nodule",) * 3
    assert cluster.share == 0.6
    assert cluster.commonest == "left nodule"
    assert (cluster.chosen, cluster.most) == (2, 2)  # of three distinct sentences: no choice of k
    # Two distinct sentences form one cluster.
    assert summary.cluster_sentences(words[:9], encode, 0).chosen == 1
    nothing = summary.cluster_sentences([], encode, 0)
    assert (nothing.nearest, nothing.most) == ((), 0)


def test_a_summary_is_by_letter_whatever_the_order_of_the_clusters():
    (analysis,) = RulesJudge().judge([("No effusion. Left nodule.", "Right effusion.")])
    clusters = {letter: summary.Clusters(share=position / 10) for position, letter in enumerate("fedcba")}
    table = summary.tabulate_errors([analysis], clusters)
    assert table["share of errors in it"].tolist() == [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    assert table["errors"].tolist() == [1, 1, 0, 0, 0, 0]


def test_the_built_in_fault_is_in_its_share_of_reports():
    pairs, faults = summary.generate_faulty_pairs(60, 1, share=1.0)
    fluid = [re.search("effusion|pleural fluid", candidate.lower()) for _, candidate in pairs]
    assert sum(map(bool, fluid)) > 50
    assert faults == 45, "none where the reference or the candidate has an effusion"
    assert summary.generate_faulty_pairs(10, 1, share=0.0)[1] == 0


def test_a_use_of_radpref_is_counted_and_needs_a_frozen_judge(tmp_path, monkeypatch):
    path = tmp_path / "freeze.yml"
    path.write_text('# kept\ndate: "2026-11-25"\ndigest: abc\nscored: 6\nnote: once\n', encoding="utf-8")
    monkeypatch.setattr(green, "FREEZE", path)
    monkeypatch.setattr(green, "digest_behaviour", lambda: "abc")
    green.require_frozen()
    assert green.count_use() == green.read_freeze()["scored"] == 7
    assert path.read_text(encoding="utf-8").startswith("# kept\n")
    monkeypatch.setattr(green, "digest_behaviour", lambda: "def")
    with pytest.raises(RadevalError):
        green.require_frozen()


def test_an_unknown_key_of_a_judges_training_is_named():
    smoke = profile("smoke")
    section = {**smoke.experiments["green"], "training": {"epoch": 1}}
    with pytest.raises(RadevalError, match="'epoch'"):
        green.settings(smoke.model_copy(update={"experiments": {"green": section}}))
