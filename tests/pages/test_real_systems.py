"""Sets of systems on small tables, counted by hand, and what is recorded of the public set."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks import storing
from notebooks.across import bleu_variants, real_systems
from radeval_lib.data import iu_systems, recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import find
from radeval_lib.jobs import system_sets
from radeval_lib.jobs.system_sets import CONSTANT, FILES, LANDMARKS, OWN_REFERENCE
from radeval_lib.metrics import create

REFERENCES = ["Small left pleural effusion.", "The lungs are clear.", "Cardiomegaly.", "No acute disease."]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_values_of_bertscore_are_its_scores():
    metric = create("bertscore", encoder="packaged-minilm", layer=None)
    pairs = [(item, other) for item in REFERENCES for other in REFERENCES[:2]]
    scores = metric.score(*zip(*pairs, strict=True)).values
    np.testing.assert_allclose(metric.values(*zip(*pairs, strict=True)), scores, atol=1e-5)


def test_landmarks_come_from_other_studies():
    others = ["The lungs are clear. No effusion."] * 3 + ["Left mass.", "Cardiomegaly is severe."]
    landmarks = system_sets.make_baselines(
        ["No effusion. Heart is normal.", "No effusion.", "Clear.", "No effusion."], others
    )
    assert list(landmarks) == [*LANDMARKS, OWN_REFERENCE]
    assert set(landmarks[CONSTANT]) <= set(others)
    assert len(set(landmarks[CONSTANT])) == 1
    assert set(landmarks[LANDMARKS[1]]) == {"No effusion."}
    assert landmarks[LANDMARKS[2]][0] == "Clear."
    assert landmarks[LANDMARKS[2]][2] != "Clear."
    assert landmarks[LANDMARKS[3]][0] == "No effusion."
    assert landmarks[OWN_REFERENCE][2] == "Clear."


def test_micro_f1_is_that_of_both_wrong_and_missed():
    assert storing.compute_f1([[1, 2, 1], [0, 0, 0]]).tolist() == pytest.approx([2 / 5, 1])
    codes = recorded.load("iu_systems").parts["codes"]
    every = codes["code"] == storing.ALL_CODES
    sums = codes[~every].groupby("half")[["both", "wrong", "missed"]].sum()
    whole = codes[every].set_index("half").loc[sums.index]
    assert (sums == whole[sums.columns]).all(axis=None)
    np.testing.assert_allclose(storing.compute_f1(sums), whole["f1"], atol=1e-6)


def test_reports_are_cleaned_and_cut_as_the_field_does():
    assert (
        bleu_variants.clean_report("1. Heart, normal. No PTX! 2. X-ray (clear).")
        == "heart normal . no ptx . x-ray clear ."
    )
    (cut, *_) = bleu_variants.cut_references(["a b. a b. a b. rare."] * 1 + ["a b"] * 2)
    assert cut == "a b . a b . a b . unk ."
    (cut,) = bleu_variants.cut_references(["a " * 70])
    assert cut == " ".join(["a"] * 59)  # R2Gen's 60 tokens, without the one that marks the start


def test_references_are_cut_as_those_that_r2gen_released(data_root: Path):
    texts = system_sets.load_outputs(data_root)
    references = texts[texts["system"] == OWN_REFERENCE].sort_values("study")["reference"]
    lines = find("iu_systems", data_root, iu_systems.ORDERED_REFERENCES).read_text().splitlines()
    for values, theirs in zip(bleu_variants.cut_references(references), lines, strict=True):
        words = zip(values.split(), theirs.split(), strict=True)
        assert all(word in (other, "unk") or other == "<unk>" for word, other in words)


def test_recorded_numbers_follow_from_the_texts(data_root: Path):
    texts = system_sets.load_outputs(data_root)
    table = recorded.load("iu_systems").table
    fresh = storing.make_table(texts)
    pd.testing.assert_frame_equal(
        table[fresh.columns.drop(["found", "stated"])], fresh.drop(columns=["found", "stated"])
    )
    for name in ("bleu", "rouge_l"):
        values = create(name).values(texts["reference"].tolist(), texts["candidate"].tolist())
        np.testing.assert_allclose(values, table[name], atol=1e-5)
    # By hand: of the 590 outputs of one file 25 differ, of another 4, and one file has one text.
    of = table.groupby("system")["text"].nunique()
    assert of[list(FILES)].tolist() == [164, 25, 4, 1]


def test_a_way_to_compute_bleu_agrees_with_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    references = ["No acute disease is seen today .", "Heart is normal in size ."]
    candidates = ["No acute disease is seen .", "The heart is normal in size ."]
    theirs = sacrebleu.corpus_bleu(
        candidates, [references], tokenize="none", smooth_method="none", force=True
    )
    _, values = bleu_variants.list_variants()["BLEU-4, COCO, as written"]
    assert values(references, candidates) == pytest.approx(theirs.score, abs=1e-4)


def test_stored_ways_to_compute_bleu_follow_from_the_texts(data_root: Path):
    systems = [next(iter(FILES)), CONSTANT]  # two of five: each takes seconds
    fresh = bleu_variants.compute_variants(system_sets.load_outputs(data_root), systems).set_index("variant")
    kept = recorded.load("iu_systems").parts["variants"].set_index("variant")
    np.testing.assert_allclose(fresh[systems], kept.loc[fresh.index, systems], atol=2e-6)


def scored(first: list[float], second: list[float], strata: list[str]) -> pd.DataFrame:
    rows = [
        (study, study, system, stratum, value)
        for system, values in (("A", first), ("B", second))
        for study, (stratum, value) in enumerate(zip(strata, values, strict=True))
    ]
    return pd.DataFrame(rows, columns=["study", "case", "system", "stratum", "green_rules_errors"])


def test_a_lead_is_in_the_good_direction_and_differs_between_groups():
    masked = [0] * 6 + [2] * 6
    table = scored([0.0] * 12, [1.0] * 6 + [3.0] * 6, ["other"] * 12).assign(masked=2 * masked)
    run = SimpleNamespace(profile=SimpleNamespace(resamples=50), rng=lambda name: rng())
    pair, settings = ("A", "B"), (run, "lead")
    assert (
        real_systems.compare_systems(table, "green_rules_errors", pair, *settings).value == 2.0
    )  # lower is better
    between_groups = real_systems.compare_groups(table, "green_rules_errors", pair, *settings)
    assert (between_groups.value, between_groups.low, between_groups.high) == pytest.approx(
        (-2.0, -2.0, -2.0)
    )
    with pytest.raises(DataError):
        real_systems.compare_systems(table, "green_rules_errors", ("A", "C"), *settings)
