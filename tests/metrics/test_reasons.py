"""What scores rest on: places in the texts as given, coverage, and sums that come out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radeval_lib.data.radgraph import make_annotation
from radeval_lib.metrics import create
from radeval_lib.metrics.cautions import Reason
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.metrics.ratescore.metric import Finder
from radeval_lib.metrics.scoring import build_explanation
from radeval_lib.rules.lexicon.entries import tokenize
from radeval_lib.stats.tokens import one_line

REFERENCE = "The heart is enlarged. Small left\n pleural  effusion. PA and lateral views."
CANDIDATE = "Heart size is normal. Small right pleural effusion with edema."


def _explained(metric, reference: str, candidate: str) -> list[Reason]:
    (detail,) = metric.score([reference], [candidate]).details
    return list(metric.explain(reference, candidate, detail))


def _at(text: str, span: tuple[int, int] | None) -> str | None:
    return None if span is None else text[slice(*span)]


def _words(reason: Reason, reference: str, candidate: str) -> tuple[str | None, str | None]:
    return _at(reference, reason.reference), _at(candidate, reason.candidate)


def test_errors_by_rules_are_named_and_placed_and_add_up() -> None:
    metric = create("green_rules_errors")
    reasons = _explained(metric, REFERENCE, CANDIDATE)
    errors = [
        (reason.category.split()[0], reason.finding, reason.significant, _at(REFERENCE, reason.reference),
         _at(CANDIDATE, reason.candidate))
        for reason in reasons
        if reason.kind == "error"
    ]  # fmt: skip
    assert errors == [
        ("false", "pulmonary edema", True, None, "edema"),
        ("missing", "cardiomegaly", True, "heart is enlarged", "Heart size is normal"),
        ("misidentified", "pleural effusion", True, "pleural  effusion", "pleural effusion"),
    ]
    assert all(reason.rule for reason in reasons if reason.kind == "error")
    (value,) = metric.score([REFERENCE], [CANDIDATE]).values
    assert sum(reason.weight or 0 for reason in reasons) == pytest.approx(value)


def _graphs(path: Path, *texts: tuple[str, list, list]) -> str:
    content = {
        str(at): make_annotation(tokenize(one_line(text)), *graph) for at, (text, *graph) in enumerate(texts)
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_entities_of_graphs_stand_where_the_given_text_has_them(tmp_path: Path) -> None:
    # "Small left pleural effusion ." / "Left effusion , left apex ."
    reference, candidate = "Small left\n pleural  effusion.", "Left effusion, left apex."
    first = [(0, 1, "OBS-DP"), (1, 2, "ANAT-DP"), (2, 3, "ANAT-DP"), (3, 4, "OBS-DP")]
    second = [(0, 1, "ANAT-DP"), (1, 2, "OBS-DP"), (3, 4, "ANAT-DP")]
    graphs = _graphs(
        tmp_path / "graphs.json", (reference, first, [(3, 2, "located_at")]), (candidate, second, [])
    )
    metric = create("f1_radgraph", graph_model=graphs)
    reasons = _explained(metric, reference, candidate)
    assert [
        (reason.kind, reason.category, reason.says, *_words(reason, reference, candidate))
        for reason in reasons
    ] == [
        ("unmatched", "OBS-DP", "", "Small", None),
        ("matched", "ANAT-DP", "", "left", "left"),
        ("unmatched", "ANAT-DP", "", "pleural", None),
        ("unmatched", "OBS-DP", "with a relation", "effusion", None),
        ("unmatched", "ANAT-DP", "", None, "Left"),
        ("unmatched", "OBS-DP", "", None, "effusion"),
    ]
    both = create("radgraph_combined", graph_model=graphs)
    relations = [reason for reason in _explained(both, reference, candidate) if reason.quoted]
    assert [(reason.category, reason.quoted) for reason in relations] == [
        ("OBS-DP located_at ANAT-DP", "located_at pleural")
    ]


class _Tagger:
    def tag(self, sentences):
        kinds = {
            "effusion": "ABNORMALITY",
            "Effusion": "ABNORMALITY",
            "no edema": "NON-ABNORMALITY",
            "heart": "ANATOMY",
        }
        return [[(word, kind) for word, kind in kinds.items() if word in text] for text in sentences]


class _Encoder:
    def encode(self, texts):
        where = {"effusion": 0, "Effusion": 0, "heart": 1, "no edema": 2}
        return np.eye(3, dtype=np.float32)[[where[text] for text in texts]]


def test_entities_of_ratescore_keep_a_share_of_their_weight() -> None:
    metric = RaTEScore()
    metric.tagger, metric.entity_encoder = _Tagger(), _Encoder()
    reference, candidate = "Large\neffusion of the heart.", "Effusion. There is no\nedema."
    reasons = _explained(metric, reference, candidate)
    assert [
        (reason.kind, reason.category, reason.credit, *_words(reason, reference, candidate))
        for reason in reasons
    ] == [
        ("matched", "ABNORMALITY", 1.0, "effusion", "Effusion"),
        ("unmatched", "ANATOMY", 0.0, "heart", None),
    ]
    alone = _explained(metric, "", "An effusion.")
    assert [(reason.kind, reason.candidate) for reason in alone] == [("unmatched", (3, 11))]


def test_words_are_found_in_turn_and_not_within_others() -> None:
    find = Finder("Airspace: no air. Left\nlower  lobe, left LUNG.")
    assert find("air") == (13, 16)
    assert find("left lower lobe") == (18, 34)
    assert find("left") == (36, 40)
    assert find("Lung") == (41, 45)
    assert find("no") == (10, 12)  # anywhere, where there is none behind
    assert find("pleura") is None
    assert find("") is None


def test_the_share_that_was_read_is_the_mean_of_both_texts() -> None:
    text = "Heart size is normal. PA and lateral views. 12."
    pair = text, "Meniscal root avulsion with extrusion."
    assert build_explanation([], pair, texts=True)["coverage"] == pytest.approx(1 / 2)
    assert build_explanation([], ("", " 12 "), texts=True)["coverage"] is None


def test_without_texts_no_word_of_them_is_reported() -> None:
    reasons = [
        ("m", Reason("error", "c", "finding", "says", "sécret words", reference=(0, 6), candidate=None)),
        ("m", Reason("matched", "OBS-DP", quoted="located_at sécret", candidate=(0, 6))),
    ]
    pair = "sécret", "sécret"
    assert "sécret" in json.dumps(build_explanation(reasons, pair, texts=True), ensure_ascii=False)
    bare = build_explanation(reasons, pair, texts=False)
    assert "sécret" not in json.dumps(bare, ensure_ascii=False)
    assert bare["reasons"][0]["reference"] == {"start": 0, "end": 6}
