"""RaTEScore against the package 0.6.0 itself: what it gave is recorded (tests/reference/README.md says
how)."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radeval_lib.errors import ModelError
from radeval_lib.metrics import create
from radeval_lib.metrics.ratescore.metric import RaTEScore
from radeval_lib.metrics.ratescore.sentences import split

pytestmark = pytest.mark.usefixtures("one_thread")

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "ratescore"
NER = str(REFERENCE / "tiny_ner")
ENCODER = "packaged-minilm"
#: Pairs in which an entity is equally similar to two of different types: the package's choice is
#: torch.topk's.
TIED = {204, 220}


def _read(name: str) -> Any:
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def package() -> dict[str, Any]:
    return _read("package_generated.json")


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    return _read("pairs.json")


def _metric(**settings: Any) -> RaTEScore:
    models = {"ner_model": NER, "encoder": ENCODER, "device": "cpu"}
    metric = create("ratescore", preset="released", **models, **settings)
    assert isinstance(metric, RaTEScore)
    return metric


def test_sentences(package, pairs) -> None:
    assert [split(pair["reference"]) for pair in pairs] == package["sentences"]


def test_sentences_of_odd_texts(package) -> None:
    assert [split(text) for text in _read("odd_texts.json")] == package["odd_sentences"]


def test_short_sentences_stay_where_asked() -> None:
    assert split("CT") == []
    assert split("CT", min_characters=1) == ["CT"]
    assert split(" \n ") == split("") == []


@pytest.mark.parametrize("weights", ["long", "short"])
def test_scores_of_generated_pairs(package, pairs, weights) -> None:
    scores = _metric(weights=weights).score(
        [pair["reference"] for pair in pairs], [pair["candidate"] for pair in pairs]
    )
    assert len(scores) == len(pairs) == 500
    recorded = dict(package[weights])
    defined = [index for index in recorded if index not in TIED]
    assert len(defined) >= 496
    expected = [recorded[index] for index in defined]
    np.testing.assert_allclose(scores.values[defined], expected, atol=1e-4)


def test_entities(package, pairs) -> None:
    recorded = package["entities"]
    entities = _metric().entities([pairs[index]["reference"] for index, _ in recorded])
    assert [[list(entity) for entity in row] for row in entities] == [entities for _, entities in recorded]


def test_scores_of_open_i(data_root) -> None:
    recorded = _read("package_open_i.json")
    path = data_root / "openi" / "indiana_reports.csv"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != recorded["sha256"]:
        pytest.skip("needs the Open-i file that the values were recorded on")
    with path.open(newline="", encoding="utf-8") as stream:
        texts = [row[recorded["column"]] for row in csv.DictReader(stream)]
    rows = recorded["pairs"]
    scores = _metric().score([texts[a] for a, _, _ in rows], [texts[b] for _, b, _ in rows])
    np.testing.assert_allclose(scores.values, [score for *_, score in rows], atol=1e-4)


ODD = [
    "",
    "肺は清明です。",
    "a\udfff.",
    "word " * 10_000,
    "[CLS] [PAD] [MASK]",
    "B-ANATOMY",
    "\x00\u202e",
    "🫁" * 20,
]


@pytest.mark.parametrize("preset", ["released", "paper"])
def test_odd_texts_have_a_finite_score_that_depends_on_no_other(preset) -> None:
    metric = create("ratescore", preset=preset, ner_model=NER, encoder=NER, device="cpu")
    references = ["The heart is normal. Small left pleural effusion."] * len(ODD)
    scores = metric.score(references, ODD)
    assert np.isfinite(scores.values).all()
    alone = [metric.score([references[0]], [text]).values[0] for text in ODD]
    np.testing.assert_allclose(scores.values, alone, atol=1e-5)
    for at, note in ((0, "no sentence"), (2, "U+FFFD"), (3, "longer than the entity tagger reads")):
        assert any(note in text for text in scores.details[at].notes)


def test_a_text_without_a_sentence_shifts_no_other() -> None:
    # the package would give the second pair the first one's place
    metric = _metric()
    text = "Small left pleural effusion. The heart is normal."
    values = metric.score([text, "", text], [text, text, text]).values
    np.testing.assert_allclose(values, [1.0, 0.5, 1.0], atol=1e-6)


@pytest.mark.parametrize("model", ["no/such/folder", ENCODER])
def test_unfit_models_are_named(model) -> None:
    with pytest.raises(ModelError):
        create("ratescore", ner_model=model, encoder=ENCODER).score(["Small effusion."], ["No effusion."])
