"""Ceilings, planted errors, reading labels, summary and freeze of GREEN's pages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.green import ceilings, faulty_system, rules_judge, summary
from radeval_lib.data import radpref, recorded
from radeval_lib.data.radpref import Case, MarkedError, RadPrefRating
from radeval_lib.errors import RadevalError
from radeval_lib.jobs.green import freeze, labelled_sentences
from radeval_lib.metrics.error_profile import FOUND
from radeval_lib.rules.judge import RulesJudge


def case(number: int) -> Case:
    findings = {"C1": ("a", "b", "c"), "C2": ("a",)}
    texts = {"C1": "one", "C2": "two"}
    return Case(str(number), f"reference {number}", ("x", "y"), texts, findings, {"C1": "s", "C2": "t"})


def marked(cases: list[Case], ratings: list[RadPrefRating]) -> pd.DataFrame:
    table = radpref.candidates(cases).set_index("number")
    return ceilings.marked(table, radpref.marks(cases, ratings))


ERRORS = (
    MarkedError("false", 0, "urgent"),
    MarkedError("attribute", 1, "negligible", "severity"),
    MarkedError("missing", 1, "actionable_not_urgent"),
)


def test_marks_by_hand():
    row = marked([case(1)], [RadPrefRating("1", "C1", "1", 3, ERRORS)]).iloc[0]
    counted = ["weighted", "errors", "significant", "stated", "clean", "right", "passable"]
    assert row[counted].tolist() == [1.5, 3, 2, 3, 1, 2, 2]
    assert row["GREEN"] == pytest.approx(1 / 3)
    assert row["GREEN, all errors"] == pytest.approx(1 / 4)
    assert row["GREEN, one match given"] == pytest.approx(2 / 4)
    assert row["GREEN, errors weighted"] == pytest.approx(1 / 2.5)
    assert row["weighted errors"] == -1.5


def test_counts_of_errors_by_who_counted():
    ratings = [RadPrefRating("1", "C1", str(rater), 3, ERRORS[:rater]) for rater in (1, 2, 3)]
    marks = radpref.marks([case(1)], ratings)
    sides = rules_judge.error_counts(pd.Series({0: 4}), marks)
    assert [side.tolist() for side in sides["rules"]] == [[4], [2]]
    assert [side.tolist() for side in sides["one radiologist"]] == [[1, 2, 3], [2.5, 2, 1.5]]


def test_others_are_the_other_radiologists():
    ratings = [RadPrefRating("1", "C1", str(rater), grade, ()) for rater, grade in ((1, 1), (2, 3), (3, 5))]
    frame = marked([case(1)], ratings)
    assert frame["others"].tolist() == [4.0, 3.0, 2.0]
    alone = marked([case(1)], ratings[:1])
    assert alone["others"].isna().all()


def test_marks_of_an_unknown_candidate_are_refused():
    marks = radpref.marks([case(1)], [RadPrefRating("1", "C1", "1", 3, ERRORS)])
    with pytest.raises(ValueError, match="candidate 7, which is not among the candidates"):
        ceilings.marked(radpref.candidates([case(1)]).set_index("number"), marks.assign(number=7))


def test_a_candidate_without_a_listed_finding_scores_0_whatever_its_errors():
    normal = Case(
        "1", "reference", ("x",), {"C1": "one", "C2": "two"}, {"C1": (), "C2": ("a",)}, {"C1": "s", "C2": "t"}
    )
    missed = (MarkedError("missing", 0, "urgent"),)
    ratings = [RadPrefRating("1", key, "1", 3, errors) for key, errors in (("C1", ()), ("C2", missed))]
    frame = marked([normal], ratings)
    assert frame["GREEN"].tolist() == [0, 0.5]
    assert ceilings.listing(frame)["GREEN"].tolist() == [0.5]


def test_ceilings_of_perfect_marks_are_one():
    rng = np.random.default_rng(0)
    cases = [case(number) for number in range(12)]
    ratings = []
    for number, one in enumerate(cases):
        for candidate in ("C1", "C2"):
            wrong = (number + (candidate == "C2") * 3) % 4
            errors = tuple(MarkedError("missing", place, "urgent") for place in range(wrong))
            ratings += [
                RadPrefRating(one.id, candidate, str(rater), 5 - wrong, errors) for rater in (1, 2, 3)
            ]
    frame = marked(cases, ratings)
    joint = ceilings.joint_ceilings(frame, resamples=20, rng=rng).intervals().set_index("metric")
    assert joint.loc["weighted errors", "value"] == pytest.approx(1.0)
    single = ceilings.single_ceilings(frame)
    assert single.index.tolist() == list(ceilings.VARIANTS)
    assert single.loc["weighted errors"].tolist() == pytest.approx([1.0] * 3)


def test_labels_hold_no_text_and_no_sentence_twice():
    labels = labelled_sentences.labels()
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

    def encode(texts):
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    found = summary.cluster(words, encode, 0)
    assert found.nearest == ("left nodule",) * 3
    assert found.share == 0.6
    assert found.commonest == "left nodule"
    assert (found.chosen, found.most) == (2, 2)  # of three distinct sentences: no choice of k
    assert summary.cluster(words[:9], encode, 0).chosen == 1  # two distinct sentences are no clusters yet
    nothing = summary.cluster([], encode, 0)
    assert (nothing.nearest, nothing.most) == ((), 0)


def test_a_summary_is_by_letter_whatever_the_order_of_the_clusters():
    (analysis,) = RulesJudge().judge([("No effusion. Left nodule.", "Right effusion.")])
    clusters = {letter: summary.Clusters(share=place / 10) for place, letter in enumerate("fedcba")}
    table = summary.summary_table([analysis], clusters)
    assert table["share in it"].tolist() == [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    assert table["errors"].tolist() == [1, 1, 0, 0, 0, 0]


def test_the_built_in_fault_is_in_its_share_of_reports():
    pairs, faults = faulty_system.faulty_pairs(60, 1, share=1.0)
    assert (
        sum("effusion" in candidate.lower() or "pleural fluid" in candidate.lower() for _, candidate in pairs)
        > 50
    )
    assert faults == 45, "none where the reference or the candidate has an effusion"
    assert faulty_system.faulty_pairs(10, 1, share=0.0)[1] == 0
    assert faulty_system.faulty_pairs(10, 1, share=0.0) == faulty_system.faulty_pairs(10, 1, share=0.0)


def test_the_judges_behaviour_has_a_digest_as_that_which_is_kept():
    frozen = freeze.freeze()
    assert frozen["scored"] >= 1
    assert len(frozen["digest"]) == len(freeze.behaviour()) == 64


def test_a_use_of_radpref_is_counted_and_needs_a_frozen_judge(tmp_path, monkeypatch):
    path = tmp_path / "freeze.yml"
    path.write_text('# kept\ndate: "2026-11-25"\ndigest: abc\nscored: 6\nnote: once\n', encoding="utf-8")
    monkeypatch.setattr(freeze, "FREEZE", path)
    monkeypatch.setattr(freeze, "behaviour", lambda: "abc")
    freeze.require_frozen()
    assert freeze.count_use() == freeze.freeze()["scored"] == 7
    assert path.read_text(encoding="utf-8").startswith("# kept\n")
    path.write_text("digest: abc\nscored: 7  # times\n", encoding="utf-8")
    with pytest.raises(RadevalError, match="not on a line of its own"):
        freeze.count_use()
    monkeypatch.setattr(freeze, "behaviour", lambda: "def")
    with pytest.raises(RadevalError, match="not frozen"):
        freeze.require_frozen()


def test_checks_by_hand_have_wilsons_intervals():
    checks = labelled_sentences.hand_checks()
    first = checks.iloc[0]
    assert first["share"] == pytest.approx(56 / 65)
    # Wilson's interval by hand: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    assert (first["low"], first["high"]) == pytest.approx((0.7572, 0.9255), abs=1e-3)
    assert (checks["right"] <= checks["number"]).all()


def test_profiles_of_planted_errors_and_of_other_words():
    run = SimpleNamespace(
        profile=SimpleNamespace(resamples=100), seed=0, rng=lambda name: np.random.default_rng(3)
    )
    found = rules_judge.profiles(run, pairs=12).set_index(["system", "kind"])["count"]
    planted, others = found["planted errors"].drop(FOUND).sum(), found["other words"].drop(FOUND).sum()
    assert planted > 10 > others


def test_answers_are_the_recorded_ones_where_open_i_is_not_there():
    bare = SimpleNamespace(
        profile=SimpleNamespace(resamples=50),
        find=lambda name: None,
        recording=recorded.load,
        rng=lambda name: np.random.default_rng(0),
    )
    sentences, pairs = labelled_sentences.answers(bare)
    assert len(sentences) == 2 * sentences["sentence"].nunique()
    assert set(pairs[["false", "missing"]].stack()) <= {0, 1}
    scores = labelled_sentences.reading(bare, sentences)
    first = scores.set_index(["draw", "measure"])["first"]
    assert first["first", "presence"] == pytest.approx(2 * 156 / (2 * 156 + 16 + 9))
    assert ((scores["low"] <= scores["value"]) & (scores["value"] <= scores["high"])).all()


def test_reading_today_by_hand():
    """Two sentences of each draw: one read right, one with a finding missed and another added."""
    draws = ["first", "first, long", "second", "third"]
    rows = [
        (number, draw, measure, hit, 1, 1)
        for draw in draws
        for measure in ("presence", "location")
        for number, hit in enumerate((1, 0))
    ]
    columns = ["sentence", "draw", "measure", "hit", "gold", "found"]

    class WithSentences:
        profile = SimpleNamespace(resamples=50)

        def rng(self, name: str) -> np.random.Generator:
            return np.random.default_rng(0)

    scores = labelled_sentences.reading(WithSentences(), pd.DataFrame(rows, columns=columns))
    assert scores["value"].tolist() == pytest.approx([0.5] * 8)
    assert (scores["low"] < 0.5).all()
    assert (scores["high"] > 0.5).all()
    assert scores["sentences"].tolist() == [2] * 8
    with pytest.raises(ValueError, match="no first scores of the draw 'fourth'"):
        labelled_sentences.reading(WithSentences(), pd.DataFrame(rows, columns=columns).assign(draw="fourth"))


def test_labels_that_lie_beyond_a_report_are_refused(monkeypatch):
    labels = pd.DataFrame(
        {
            "report": ["5"],
            "section": "findings",
            "start": 0,
            "end": 40,
            "draw": "first",
            "presence": "present",
        }
    ).assign(key="nodule", locations="")
    monkeypatch.setattr(labelled_sentences, "labels", lambda: labels)
    reports = [SimpleNamespace(id="5", findings="A nodule.")]
    monkeypatch.setattr(labelled_sentences.openi, "load", lambda path: reports)
    with pytest.raises(RadevalError, match="a label of report 5 lies beyond its findings"):
        labelled_sentences.counts(None)
    with pytest.raises(RadevalError, match="report 6 has labels and is not there"):
        labelled_sentences._open_i(None)("6", "findings", 0, 1)
