"""Sets of systems on small tables, counted by hand, and what is recorded of the public set."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.across import real_systems, released_scores, system_claims, system_scores, variant_ranks
from radeval_lib.data import iu_systems, recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import find
from radeval_lib.data.records import CodedStudy, Report
from radeval_lib.jobs.storing import (
    coded_findings,
    r2gen_references,
    score_variants,
    system_sets,
    systems_recording,
)
from radeval_lib.jobs.storing.system_sets import CONSTANT, FILES, LANDMARKS, METRICS, SAME
from radeval_lib.metrics import create
from radeval_lib.metrics.by_name import get

REFERENCES = ["Small left pleural effusion.", "The lungs are clear.", "Cardiomegaly.", "No acute disease."]
GOLD = [{"Effusion"}, set(), {"Cardiomegaly"}, set()]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def texts() -> pd.DataFrame:
    outputs = {
        "finder": ["Pleural effusion.", "Clear lungs.", "Cardiomegaly.", "Clear lungs."],
        "plain": ["Clear lungs."] * 4,
        SAME: REFERENCES,
    }
    return pd.DataFrame(
        [
            (
                study,
                system,
                REFERENCES[study],
                text,
                "finding" if GOLD[study] else "normal",
                frozenset(GOLD[study]),
            )
            for system, of in outputs.items()
            for study, text in enumerate(of)
        ],
        columns=["study", "system", "reference", "candidate", "stratum", "gold"],
    )


def test_masks_name_codes_in_order():
    assert system_sets.mask(frozenset({"Atelectasis", "Effusion"})) == 0b101
    assert system_sets.unmasked([5, 0])[:, :3].tolist() == [[True, False, True], [False] * 3]


def test_findings_are_counted_and_shuffled(texts):
    found = system_scores.findings(system_sets.table(texts), ["finder", "plain"], rng(), shuffles=2_000)
    assert found.loc["finder", ["named", "coded", "false", "normal", "texts", "sets"]].tolist() == [
        2,
        2,
        0,
        2,
        3,
        3,
    ]
    assert found.loc["finder", "shuffled"] == pytest.approx(2 / 4)
    # Both stand in their own study in 2 of the 24 orders.
    assert found.loc["finder", "p"] == pytest.approx(1 / 12, abs=0.02)
    assert found.loc["plain", ["named", "shuffled", "p", "texts", "sets"]].tolist() == [0, 0.0, 1.0, 1, 1]


def test_gains_average_to_what_shuffling_loses(texts):
    metrics = {"rouge_l": create("rouge_l"), "green_rules_errors": create("green_rules_errors")}
    expected, shuffles = system_sets.shuffles(texts, metrics, ["finder", "plain"], rng())
    assert set(shuffles["system"]) == {"finder"}, "one text for all has nothing to lose"
    table = system_sets.table(texts)
    for name, metric in metrics.items():
        table[name] = metric.values([*texts["reference"]], [*texts["candidate"]])
    recording = recorded.Recording("toy", table, {}, {"expected": expected, "shuffles": shuffles})
    found = system_scores.gains(recording, 200, rng()).set_index(["metric", "stratum"])
    for name, metric in metrics.items():
        own = texts[texts["system"] == "finder"]["candidate"].tolist()
        every = metric.matrix(REFERENCES, own)
        gain = (np.diagonal(every).mean() - every.mean()) * get(name).sign()
        assert found.loc[(name, "all"), "gain"] == pytest.approx(gain, abs=1e-4)
        assert found.loc[(name, "all"), "gain"] > 0
        assert found.loc[(name, "all"), "p"] < 0.5


def test_a_bert_matrix_has_the_scores_of_its_pairs():
    metric = create("bertscore", encoder="packaged-minilm", layer=None)
    pairs = [(one, other) for one in REFERENCES for other in REFERENCES[:2]]
    scores = metric.score(*zip(*pairs, strict=True)).values.reshape(4, 2)
    np.testing.assert_allclose(metric.matrix(REFERENCES, REFERENCES[:2]), scores, atol=1e-5)
    np.testing.assert_allclose(metric.values(*zip(*pairs, strict=True)), scores.ravel(), atol=1e-5)


def test_the_share_of_normal_studies_turns_an_order():
    table = pd.DataFrame(
        {
            "study": [0, 1, 0, 1],
            "case": [0, 1, 0, 1],
            "system": ["a", "a", "b", "b"],
            "stratum": ["normal", "finding"] * 2,
            "rouge_l": [0.2, 0.5, 0.5, 0.4],
        }
    )
    ends = system_scores.curve(table, "rouge_l", ("a", "b"), np.array([0.0, 1.0]))
    assert ends == pytest.approx([0.1, -0.3])


def scored(**scores: tuple[float, float]) -> pd.DataFrame:
    """Twelve studies, of which the first six have a code each that "MLRG" alone names. Every metric gives a
    system its two scores, of studies with a code and of normal ones."""
    codes = [1 << place if place < 6 else 0 for place in range(12)]
    frames = []
    for system, (finding, normal) in scores.items():
        names = system.startswith("MLRG")
        values = [finding if code else normal for code in codes]
        columns = {metric: [get(metric).sign() * value for value in values] for metric in METRICS}
        strata = ["finding" if code else "normal" for code in codes]
        frames.append(
            pd.DataFrame({"study": range(12), "case": range(12), "system": system, "stratum": strata})
            .assign(gold=codes, found=codes if names else 0, text=0, stated=0, masked=0)
            .assign(**columns)
        )
    return pd.concat(frames, ignore_index=True)


def test_a_file_that_names_findings_beyond_chance_trails_and_the_claims_hold() -> None:
    table = scored(MLRG=(0.5, 0.1), plain=(0.4, 0.4), **{CONSTANT: (0.4, 0.4)})
    table.loc[(table["system"] == CONSTANT) & (table["study"] % 2 == 0), "bleu"] -= 0.2
    made = system_claims.tested(recorded.Recording("toy", table, {}), ["MLRG", "plain"], 200, rng())
    assert made["holds"].tolist() == ["yes"] * 4
    assert made["found"].tolist() == [
        "MLRG: 6 of 6, p < 0.001",
        "4 of 4: BLEU, ROUGE-L, METEOR, BERTScore",
        "ROUGE-L, METEOR, BERTScore",  # by BLEU the constant is surely worse
        "4 of 4",
    ]


def test_claims_are_refuted_where_the_file_that_names_findings_is_first() -> None:
    table = scored(MLRG=(0.5, 0.5), plain=(0.4, 0.4), **{CONSTANT: (0.3, 0.3)})
    made = system_claims.tested(recorded.Recording("toy", table, {}), ["MLRG", "plain"], 200, rng())
    assert made["holds"].tolist() == ["yes", "no", "no", "no"]
    assert made["found"].tolist()[1:] == ["0 of 4: none", "none", "0 of 0"]


@pytest.mark.parametrize(("last", "leads"), [(0.3, False), (0.4, None), (0.5, None)])
def test_the_file_with_a_text_per_image_leads_or_trails_by_both_images(last: float, leads: object) -> None:
    table = scored(
        MLRG=(0.3, 0.3), plain=(0.4, 0.4), other=(0.2, 0.2), **{iu_systems.LAST_IMAGE: (last, last)}
    )
    named = system_scores.findings(table, ["MLRG", "plain", "other"], rng(), shuffles=50)
    run = SimpleNamespace(profile=SimpleNamespace(resamples=50), rng=lambda name: rng())
    led = real_systems.leads(recorded.Recording("toy", table, {}), named, run)
    assert led["rival"].unique().tolist() == ["plain"]
    assert led.loc["bleu", "difference"].value == pytest.approx(-0.1)
    assert led.loc["green_rules_errors", "difference"].value == pytest.approx(0.1)  # less is better
    assert led["leads"].tolist() == [leads] * len(METRICS)


def test_our_scores_stand_beside_the_released_ones_of_the_same_study() -> None:
    table = scored(MoERad=(0.0, 0.0), plain=(9.0, 9.0))
    table.loc[table["study"] > 9, "stratum"] = "other"
    table.loc[table["system"] == "MoERad", "bertscore"] = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]
    theirs = [1, 2, 3, 4, 6, 5, 6, 5, 4, 3, 2, 1]  # one of 15 pairs turned, then all of 15
    released = pd.DataFrame({"study": range(12), "bertscore": theirs})[::-1]
    recording = recorded.Recording("toy", table, {}, {"released": released})
    found = released_scores.against_released(recording, {"bertscore": "bertscore"}).set_index("stratum")
    assert found.loc["finding", ["tau", "n"]].tolist() == pytest.approx([13 / 15, 6])
    assert found.loc["normal", ["tau", "n"]].tolist() == pytest.approx([-1, 4])
    ours, other = released_scores.beside_released(recording, "bertscore", "bertscore")
    assert (ours.tolist(), other.tolist()) == ([1, 2, 3, 4, 5, 6] * 2, theirs)


def test_an_unknown_system_or_stratum_is_refused_in_one_line() -> None:
    table = scored(MLRG=(0.5, 0.1), plain=(0.4, 0.4))
    for call in (
        lambda: system_scores.findings(table, ["MLGR"], rng()),
        lambda: system_scores.difference(table, "bleu", ("MLRG", "MLGR"), "all", 50, rng()),
    ):
        with pytest.raises(DataError, match=r"no system 'MLGR'\. Systems: MLRG, plain"):
            call()
    with pytest.raises(DataError, match="no stratum 'normall'"):
        system_scores.means(table, ["bleu"], "normall")


def test_a_difference_is_on_the_studies_that_both_systems_have() -> None:
    table = scored(MLRG=(0.5, 0.1), plain=(0.4, 0.4))
    table = table[(table["system"] == "MLRG") | (table["study"] > 2)]
    found = system_scores.difference(table, "bleu", ("MLRG", "plain"), "finding", 50, rng())
    assert (found.value, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    whole = system_scores.difference(table, "bleu", ("MLRG", "plain"), "all", 50, rng())
    assert whole.value == pytest.approx((3 * 0.1 - 6 * 0.3) / 9)


def test_the_sentences_say_what_the_recorded_table_holds() -> None:
    found = recorded.load("iu_systems")
    run = SimpleNamespace(profile=SimpleNamespace(resamples=100), rng=lambda name: rng())
    named = system_scores.findings(found.table, FILES, rng(), shuffles=100)
    led = real_systems.leads(found, named, run)
    gained = system_scores.gains(found, 100, rng())
    told = real_systems.answer(found, named, gained, led, run)
    own = found.table[found.table["system"] == SAME]
    rouge = found.table.groupby("system")["rouge_l"].mean()
    assert (told["studies"], told["normal"]) == ("590", str((own["stratum"] == "normal").sum()))
    assert (told["finder"], told["silent"]) == ("MLRG", "three")
    assert told["rivals"] == rouge[list(FILES)].idxmax()
    assert told["rouge"] == f"{rouge['MLRG']:.3f}"
    assert told["normal_of_two"] == f"{100 * 307 / (307 + int(told['with_finding'])):.0f}%"
    assert set(told) >= real_systems.HEADLINE
    shown = real_systems.beside_each_other(gained)
    assert list(shown.columns) == ["MLRG", "MoERad", "CvT2DistilGPT2"]
    assert shown.loc[("ROUGE-L", "all"), told["stylist"]] == told["stylist_gain"]


@pytest.mark.parametrize(
    ("rouge", "ahead", "says"), [(False, [], True), (False, [*"ab"], False), (None, [], False)]
)
def test_the_headline_takes_more_leads_against_than_for(rouge, ahead, says):
    named = pd.DataFrame({"named": [3, 0, 0], "p": [0.01, 1.0, 1.0]}, index=["finder", "one", "other"])
    leading = {"rouge_l": rouge, "bleu": None} | dict.fromkeys(ahead, True)
    assert real_systems.bears_out(named, leading) is says
    assert not real_systems.bears_out(named.assign(named=[3, 1, 0]), leading)


def test_landmarks_come_from_other_studies():
    others = ["The lungs are clear. No effusion."] * 3 + ["Left mass.", "Cardiomegaly is severe."]
    found = system_sets.landmarks(
        ["No effusion. Heart is normal.", "No effusion.", "Clear.", "No effusion."], others
    )
    assert list(found) == [*LANDMARKS, SAME]
    assert set(found[CONSTANT]) <= set(others)
    assert len(set(found[CONSTANT])) == 1
    assert set(found[LANDMARKS[1]]) == {"No effusion."}
    assert found[LANDMARKS[2]][0] == "Clear."
    assert found[LANDMARKS[2]][2] != "Clear."
    assert found[LANDMARKS[3]][0] == "No effusion."
    assert found[SAME][2] == "Clear."


def test_a_set_without_a_column_or_texts_is_refused(texts):
    with pytest.raises(DataError, match="no column 'gold'"):
        system_sets.table(texts.drop(columns="gold"))
    with pytest.raises(DataError, match="no text"):
        system_sets.table(texts.head(0))
    with pytest.raises(DataError, match=r"no text of 'findr'\. Systems: finder"):
        score_variants.computed(score_variants.rouge(), texts, ["findr"])
    for references, others in ((["Clear."] * 2, ["Mass."]), (REFERENCES, [])):
        with pytest.raises(DataError, match="no text to compare with"):
            system_sets.landmarks(references, others)


def test_codes_of_no_report_or_of_one_that_nobody_coded_are_refused():
    with pytest.raises(DataError, match="no report"):
        coded_findings.read([], [], [])
    with pytest.raises(DataError, match="no codes of report '7'"):
        coded_findings.read([Report("7", "Clear.", "")], [], ["a"])


def test_micro_f1_of_codes_by_text():
    reports = [
        Report("1", "Small effusion.", ""),
        Report("3", "Small effusion.", ""),
        Report("5", "Clear.", "Mass."),
    ]
    codes = [CodedStudy("1", frozenset({"Effusion"}), False), CodedStudy("3", frozenset(), True)]
    found = coded_findings.read(
        reports, [*codes, CodedStudy("5", frozenset({"Nodule"}), False)], ["a", "a", "b"]
    )
    assert found.sums().tolist() == [[1, 1, 0], [0, 1, 1]]
    assert coded_findings.f1_of_sums(found.sums().sum(axis=0)) == pytest.approx(2 / 5)


def test_variants_by_hand():
    table = score_variants.computed(
        [one for one in score_variants.all_variants() if one.family in ("ROUGE-L", "CheXbert-like F1")],
        pd.DataFrame(
            {
                "study": [0, 1],
                "system": ["x", "x"],
                "reference": ["Cardiomegaly. Edema.", "Clear."],
                "candidate": ["Cardiomegaly.", "Possible edema."],
            }
        ),
        ["x"],
    ).set_index("variant")["x"]
    assert table["F1, words as they are"] == pytest.approx((2 / 3 + 0) / 2, abs=1e-6)
    assert table["5 labels, micro, uncertain as positive"] == pytest.approx(2 / 4)
    assert table["5 labels, micro, uncertain as negative"] == pytest.approx(2 / 3, abs=1e-6)
    assert table["5 labels, by report, uncertain as negative"] == pytest.approx((2 / 3 + 1) / 2, abs=1e-6)
    assert table["5 labels, macro, uncertain as positive"] == pytest.approx((1 + 0) / 5)


def test_green_of_a_set_is_a_mean_or_of_sums_by_hand():
    counts = np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])  # matched findings and significant errors
    by_name = {one.name: one.score(counts) for one in score_variants.green()[:3]}
    assert by_name == {
        "mean of scores, 0 if nothing matched": pytest.approx((1 / 2 + 0 + 0) / 3),
        "mean of scores, one match given": pytest.approx((2 / 3 + 1 / 3 + 1) / 3),
        "score of sums": pytest.approx(1 / 4),
    }


def test_recorded_variants_of_words_follow_from_the_texts(data_root: Path):
    systems = [next(iter(FILES)), CONSTANT]  # two of five: each takes seconds
    ways = [*score_variants.bleu(), *score_variants.rouge()]
    fresh = score_variants.computed(ways, system_sets.outputs(data_root), systems)
    kept = recorded.load("iu_systems").parts["variants"]
    both = fresh.merge(kept, on=["family", "variant", "source", "lower"], suffixes=("", " kept"))
    assert len(both) == len(fresh)
    for system in systems:
        np.testing.assert_allclose(both[system], both[f"{system} kept"], atol=2e-6)


def test_neighbouring_variants_that_rank_alike_share_a_row():
    table = pd.DataFrame({"family": ["A", "A", "A", "B", "B", "C", "C"], "variant": list("tuvwxyz")})
    ranked = pd.DataFrame({"one": [1, 1, 2, 2, 1, 1, 1], "two": [2, 2, 1, 1, 2, 2, 2]})
    rows = variant_ranks.rank_rows(table, ranked)
    shared = {"A: t, and one more": [1, 2], "A: v": [2, 1], "B: w": [2, 1], "B: x": [1, 2], "C: both": [1, 2]}
    assert rows.T.to_dict("list") == shared


def test_reports_are_cleaned_and_cut_as_the_field_does():
    assert (
        r2gen_references.cleaned("1. Heart, normal. No PTX! 2. X-ray (clear).")
        == "heart normal . no ptx . x-ray clear ."
    )
    (cut, *_) = r2gen_references.cut(["a b. a b. a b. rare."] * 1 + ["a b"] * 2)
    assert cut == "a b . a b . a b . unk ."
    (cut,) = r2gen_references.cut(["a " * 70])
    assert cut == " ".join(["a"] * 59)  # R2Gen's 60 tokens, without the one that marks the start


def test_references_are_cut_as_those_that_r2gen_released(data_root: Path):
    texts = system_sets.outputs(data_root)
    references = texts[texts["system"] == SAME].sort_values("study")["reference"]
    lines = find("iu_systems", data_root, iu_systems.ORDERED_REFERENCES).read_text().splitlines()
    for own, theirs in zip(r2gen_references.cut(references), lines, strict=True):
        words = zip(own.split(), theirs.split(), strict=True)
        assert all(word in (other, "unk") or other == "<unk>" for word, other in words)


def test_sacrebleu_agrees():
    sacrebleu = pytest.importorskip("sacrebleu")
    references = ["No acute disease is seen today .", "Heart is normal in size ."]
    candidates = ["No acute disease is seen .", "The heart is normal in size ."]
    theirs = sacrebleu.corpus_bleu(
        candidates, [references], tokenize="none", smooth_method="none", force=True
    )
    (own,) = (one for one in score_variants.bleu() if one.name == "BLEU-4, COCO, as written")
    assert own.score(references, candidates) == pytest.approx(theirs.score, abs=1e-4)


def test_a_recorded_set_has_a_row_per_text_and_parts_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    outputs = {name: [f"Clear {name}.", *["Clear lungs."] * 3] for name in (*FILES[:2], CONSTANT)}
    outputs[FILES[1]] = ["No disease."] * 4  # a file of one text has nothing to lose
    rows = [
        (study, system, REFERENCES[study], text, "finding" if GOLD[study] else "normal", frozenset())
        for system, of in outputs.items()
        for study, text in enumerate(of)
    ]
    columns = ["study", "system", "reference", "candidate", "stratum", "gold"]
    texts = pd.DataFrame(rows, columns=columns)
    for name, value in {"METRICS": ("rouge_l", "bleu"), "FILES": FILES[:2]}.items():
        monkeypatch.setattr(systems_recording, name, value)
    monkeypatch.setattr(system_sets, "outputs", lambda root: texts)
    monkeypatch.setattr(score_variants, "all_variants", lambda models, wordnet: score_variants.rouge()[2:3])
    run = SimpleNamespace(metric=create, model=lambda role: role)
    table, parts = systems_recording.tables(run, tmp_path)
    assert table["rouge_l"].tolist() == create("rouge_l").values(
        texts["reference"].tolist(), texts["candidate"].tolist()
    ).round(5).tolist()  # fmt: skip
    assert table["reference_words"].tolist() == [4, 4, 1, 3] * 3
    expected = parts["expected"]
    assert expected[["study", "system"]].to_numpy().tolist() == [[study, "MLRG"] for study in range(4)]
    assert list(expected.columns[2:]) == ["rouge_l_all", "rouge_l_within", "bleu_all", "bleu_within"]
    assert parts["shuffles"]["metric"].unique().tolist() == ["rouge_l", "bleu"]
    assert list(parts["variants"].columns[4:]) == [*FILES[:2], CONSTANT]


def test_ranks_follow_the_direction():
    table = pd.DataFrame({"lower": [False, True], "family": ["F", "F"], "a": [1.0, 1.0], "b": [2.0, 2.0]})
    assert variant_ranks.ranks(table, ["a", "b"]).to_numpy().tolist() == [[2, 1], [1, 2]]
    assert variant_ranks.undecided(table, ["a", "b"]) == ["F"]
    assert variant_ranks.wins(table, ["a", "b"]).to_dict() == {"a": 1, "b": 1}
    with pytest.raises(DataError, match="second: a variant has no value of a system"):
        variant_ranks.ranks(table.assign(variant=["first", "second"], b=[2.0, np.nan]), ["a", "b"])


def test_each_claim_says_how_it_is_tested_and_refuted():
    assert all(set(one) == {"claim", "test", "refuted_by"} for one in system_claims.claims().values())


def test_what_is_recorded_holds_no_text():
    found = recorded.load("iu_systems")
    assert len(found.table) == found.table.groupby("system").size().sum() > 590 * len(FILES)
    for frame in (found.table, found.parts["expected"], found.parts["released"]):
        texts = frame.select_dtypes(exclude="number")
        assert set(texts) <= {"system", "stratum"}
    assert (recorded.RECORDED / "iu_systems.csv").stat().st_size < 1_000_000


def test_recorded_numbers_follow_from_the_texts(data_root: Path):
    texts = system_sets.outputs(data_root)
    found = recorded.load("iu_systems").table
    fresh = system_sets.table(texts)
    pd.testing.assert_frame_equal(
        found[fresh.columns.drop(["found", "stated"])], fresh.drop(columns=["found", "stated"])
    )
    for name in ("bleu", "rouge_l"):
        values = create(name).values(texts["reference"].tolist(), texts["candidate"].tolist())
        np.testing.assert_allclose(values, found[name], atol=1e-5)
    # By hand: of the 590 outputs of one file 25 differ, of another 4, and one file has one text.
    of = found.groupby("system")["text"].nunique()
    assert of[list(FILES)].tolist() == [164, 25, 4, 1]


def test_variants_are_left_out_only_where_uncertain_changes_no_rank() -> None:
    names = [f"{labels} labels, uncertain as {way}" for labels in (5, 14) for way in ("positive", "negative")]
    scores = {"a": [3, 4, 3, 1], "b": [1, 2, 1, 2]}
    table = pd.DataFrame({"family": "F1", "variant": names, "lower": False, **scores})
    ranked = variant_ranks.ranks(table, ["a", "b"])
    assert variant_ranks.alike_either_way(table, ranked).tolist() == [False, True, False, False]
