"""How much an error matters, by finding, age and indication."""

from __future__ import annotations

from typing import Any

import pytest

from radeval_lib import own_yaml
from radeval_lib.errors import RadevalError
from radeval_lib.rules.lexicon.loading import FOLDER
from radeval_lib.rules.lexicon.significance import Context, grade_significance
from radeval_lib.rules.reader.vocabulary import load_vocabulary


def test_every_finding_is_one_that_the_reader_knows() -> None:
    table = own_yaml.read(FOLDER / "significance.yml")
    names = load_vocabulary().observations
    keys = {sense.key for words in names.list_phrases() for sense in names.get(words) or ()}
    for entry in (*table["classes"], *table["context"]):
        assert set(entry["findings"]) <= keys


@pytest.mark.parametrize(
    "settings", [{"age": "70"}, {"age": -1}, {"age": float("nan")}, {"indication": None}]
)
def test_a_context_of_other_values_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(RadevalError):
        Context(**settings)


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
    assert grade_significance(observation, Context(indication=asked)) == grade_significance(observation)


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
        assert grade_significance(observation, Context(indication=f"Eval: {word.upper()}?")).name == name
        why = grade_significance(observation, Context(indication=f"History of {word}, cough")).why
        assert why.startswith("the examination asks"), word
    assert grade_significance("atelectasis", Context(indication="weight\nloss")).name == "actionable"
