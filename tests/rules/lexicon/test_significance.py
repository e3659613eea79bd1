"""The table of significance is whole, and mistakes in it name the file and the entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from radeval_lib.errors import LexiconError, RadevalError
from radeval_lib.rules.lexicon.loading import FOLDER
from radeval_lib.rules.lexicon.significance import FACTORS, Context, factor, read_table, significance
from radeval_lib.rules.reader.vocabulary import vocabulary

FILE = FOLDER / "significance.yml"


def test_every_finding_is_one_that_the_reader_knows() -> None:
    table = read_table(FILE)
    names = vocabulary().observations
    known = {sense.key for words in names.entries() for sense in names.get(words) or ()}
    for entry in (*table["classes"], *table["context"]):
        assert set(entry["findings"]) <= known


def test_factors_are_shares() -> None:
    assert all(0 < factor(name) <= 1 for name in FACTORS)
    with pytest.raises(LexiconError, match=r"unknown kind of error 'falsee'.*false, missing"):
        factor("falsee")


@pytest.mark.parametrize("known", [{"age": "70"}, {"age": -1}, {"age": float("nan")}, {"indication": None}])
def test_a_context_of_other_values_is_refused(known: dict[str, Any]) -> None:
    with pytest.raises(RadevalError, match=f"context: an {next(iter(known))} of "):
        Context(**known)


INJURY, DEVICE, CANCER = ("rib_fracture", "urgent"), ("picc", "urgent"), ("atelectasis", "actionable")
TUBERCULOSIS = ("calcified_nodes", "actionable")


@pytest.mark.parametrize(
    ("finding", "asked"),
    [
        (INJURY, "Stable COPD, follow-up"),
        (INJURY, "Stable angina"),
        (INJURY, "Stabbing chest pain"),
        (INJURY, "Repaired tetralogy of Fallot"),
        (DEVICE, "Linear opacity on the last film"),
        (DEVICE, "Tuberculosis"),
        (DEVICE, "Cardiac catheterization yesterday"),
        (CANCER, "Massive weight gain"),
        (CANCER, "Massage, then back pain"),
    ],
)
def test_an_indication_asks_by_whole_words(finding: tuple[str, str], asked: str) -> None:
    observation, _ = finding
    assert significance(observation, Context(indication=asked)) == significance(observation)


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (INJURY, "trauma traumatic fall falls fell injury injuries injured crash stab stabbed gunshot"),
        (DEVICE, "placement position positioning tube tubes line lines intubated intubation catheters"),
        (TUBERCULOSIS, "tb tuberculosis tuberculous ppd granuloma granulomas granulomatous"),
        (
            CANCER,
            "cancer malignancy malignant metastasis metastases metastatic masses nodules smoker smoking",
        ),
    ],
)
def test_an_indication_asks_in_any_inflection(finding: tuple[str, str], words: str) -> None:
    observation, name = finding
    for word in words.split():
        assert significance(observation, Context(indication=f"Eval: {word.upper()}?")).name == name, word
        why = significance(observation, Context(indication=f"History of {word}, cough")).why
        assert why.startswith("the examination asks"), word
    assert significance("atelectasis", Context(indication="weight\nloss")).name == "actionable"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("factors:", "factor:", "the file: unknown keys: factor"),
        (
            "class: urgent",
            "class: urgend",
            "class 'urgend' is not one of urgent, actionable, notable, benign",
        ),
        ("minor: notable", "minor: notabel", "otherwise: minor 'notabel' is not one of"),
        ("  kin: 0.3", "  kind: 0.3", "factors: unknown keys: kind"),
        ("benign: 0.1}", "benign: low}", "weights: benign is not a number"),
        ("findings: [granuloma,", "finding: [granuloma,", "classes 4: unknown keys: finding"),
        ("findings: [granuloma,", "findings: [pneumothorax,", "'pneumothorax' is of two classes"),
        ("    below: 40", "    bellow: 40", "context 1: unknown keys: bellow"),
        ("    below: 40\n", "", "context 1: needs either what the indication asks or an age"),
    ],
)
def test_mistakes_name_file_and_entry(tmp_path: Path, old: str, new: str, match: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / FILE.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_table(path)
    assert match in caught.value.what
    assert caught.value.where == "lexicon/significance.yml"
