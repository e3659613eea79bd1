"""RaTEScore's arithmetic: worked by hand, against the paper's example, and option by option."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
import yaml

from radeval_lib.jobs.learned_weights import score_entity_pairs
from radeval_lib.metrics import MetricError
from radeval_lib.metrics.ratescore import TYPES, Options, RaTEScore, Scorer, Weights, cosines, load, options

FOLEY = [("Foley catheter", "ANATOMY"), ("in situ", "NON-ABNORMALITY")]
NOT_FOLEY = [("Foley catheter", "ANATOMY"), ("not in place", "ABNORMALITY")]
COSINES = np.array([[1.0, 0.3], [0.3, 0.83]])


def _flat(value: float = 0.5, penalty: float = 0.36) -> Weights:
    return Weights("test", np.full((5, 5), value), penalty)


def test_worked_example_with_the_released_weights() -> None:
    # shared facts on the released code: short 0.721, long 0.857 for the cosines of A.1
    assert Scorer("short").score(FOLEY, NOT_FOLEY, COSINES).score == pytest.approx(0.721, abs=5e-4)
    assert Scorer("long").score(FOLEY, NOT_FOLEY, COSINES).score == pytest.approx(0.857, abs=5e-4)


def test_worked_example_with_the_weights_printed_in_a1() -> None:
    # A.1: S(x, x^) = (0.91 + 0.94 * 0.83 * 0.36) / (0.91 + 0.94) = 0.644; the other 0.666; their F1 is 0.654
    matrix = np.full((5, 5), 0.5)
    matrix[0, 0] = 0.91
    matrix[3, 1], matrix[1, 3] = 0.94, 0.83
    scorer = Scorer(Weights("A.1", matrix, 0.36), options("paper", orientation="match_first"))
    explanation = scorer.score(FOLEY, NOT_FOLEY, COSINES)
    assert explanation.precision is not None
    assert explanation.recall is not None
    # in S(x, x^) the candidate's entities look up the reference's
    assert explanation.precision.value == pytest.approx((0.91 + 0.94 * 0.83 * 0.36) / 1.85)
    assert explanation.recall.value == pytest.approx((0.91 + 0.83 * 0.83 * 0.36) / 1.74)
    assert explanation.score == pytest.approx(0.654, abs=1e-3)


@pytest.mark.parametrize(
    ("rule", "a", "b", "punished"),
    [
        ("cross_polarity", "DISEASE", "NON-ABNORMALITY", True),
        ("cross_polarity", "NON-DISEASE", "ABNORMALITY", True),
        ("cross_polarity", "ABNORMALITY", "DISEASE", False),
        ("any_mismatch", "ABNORMALITY", "DISEASE", True),
        ("any_mismatch", "DISEASE", "DISEASE", False),
    ],
)
def test_penalty_rules(rule, a, b, punished) -> None:
    scorer = Scorer(_flat(), Options(penalty=rule))
    value = scorer.score([("x", a)], [("x", b)], np.array([[0.8]])).score
    assert value == pytest.approx(0.8 * (0.36 if punished else 1.0))


def test_two_sides_of_unlike_size_by_hand() -> None:
    # Vectors of lengths 2, 1, 5 and 3, 4: the largest dot product is not the largest cosine.
    reference = [("effusion", "ABNORMALITY"), ("lung", "ANATOMY"), ("pneumonia", "DISEASE")]
    candidate = [("no effusion", "NON-ABNORMALITY"), ("infection", "DISEASE")]
    ours = np.array([[2.0, 0.0], [0.6, 0.8], [0.0, 5.0]])
    theirs = np.array([[2.4, 1.8], [0.0, 4.0]])
    table = cosines(ours, theirs)
    np.testing.assert_allclose(table, [[0.8, 0.0], [0.96, 0.8], [0.6, 1.0]])
    matrix = np.arange(1.0, 26.0).reshape(5, 5)
    anatomy, abnormality, disease, normal, _ = range(5)
    scorer = Scorer(Weights("by hand", matrix, 0.5), options("paper"))
    result = scorer.score(reference, candidate, table)
    assert result.precision is not None
    assert result.recall is not None
    # Of the candidate's, "no effusion" is nearest to "lung" (0.96), "infection" to "pneumonia" (1).
    assert [match.match for match in result.precision.matches] == [1, 2]
    there = [matrix[anatomy, normal], matrix[disease, disease]]
    assert result.precision.value == pytest.approx((there[0] * 0.5 * 0.96 + there[1]) / sum(there))
    # Of the reference's, the first two are nearest to "no effusion" (0.8 and 0.96).
    assert [match.match for match in result.recall.matches] == [0, 0, 1]
    back = [matrix[normal, abnormality], matrix[normal, anatomy], matrix[disease, disease]]
    terms = back[0] * 0.5 * 0.8 + back[1] * 0.5 * 0.96 + back[2]
    assert result.recall.value == pytest.approx(terms / sum(back))
    both = [result.precision.value, result.recall.value]
    assert result.score == pytest.approx(2 * both[0] * both[1] / sum(both))


@pytest.mark.parametrize(
    ("empty", "neither", "alone"), [("half", 0.5, 0.5), ("zero", 0.0, 0.0), ("one_if_both_empty", 1.0, 0.0)]
)
def test_sides_without_entities(empty, neither, alone) -> None:
    scorer = Scorer("long", Options(empty=empty))
    assert scorer.score([], []).score == neither
    assert scorer.score(FOLEY, []).score == alone
    assert scorer.score([], FOLEY).score == alone
    assert scorer.score([], FOLEY).notes == ("no entity in the reference",)


def test_released_weights_are_the_packages() -> None:
    # digits as in RaTEScore 0.6.0, RaTEScore/scorer.py
    long, short = load("long"), load("SHORT")
    assert long.penalty == 0.8716553966489615
    assert short.penalty == 0.3611577852354489
    assert long.weight("DISEASE", "ANATOMY") == 0.9950209388542061
    assert short.weight("NON-DISEASE", "ABNORMALITY") == 0.9555801066212176
    assert long.weight("ABNORMALITY", "DISEASE") != long.weight("DISEASE", "ABNORMALITY")


def test_own_weights_as_json_and_yaml(tmp_path) -> None:
    short = load("short")
    rows = {a.lower(): {b: short.weight(a, b) for b in TYPES} for a in TYPES}
    mine = {"penalty": 0.2, "weights": rows}
    (tmp_path / "own.json").write_text(json.dumps(mine))
    (tmp_path / "own.yml").write_text(yaml.safe_dump(mine))
    for held in (load(tmp_path / "own.json"), load(tmp_path / "own.yml")):
        np.testing.assert_array_equal(held.matrix, short.matrix)
        assert held.penalty == 0.2
    bad: list[object] = [{"weights": rows}, {**mine, "weights": {**rows, "organ": rows["anatomy"]}}, [1]]
    for value in (-1, "much", float("nan")):
        bad.append({**mine, "weights": {**rows, "anatomy": {**rows["anatomy"], "ANATOMY": value}}})
    for content in bad:
        (tmp_path / "bad.yml").write_text(yaml.safe_dump(content))
        with pytest.raises(MetricError):
            load(tmp_path / "bad.yml")
    (tmp_path / "bad.yml").write_text("penalty: 2024-02-30\n")
    with pytest.raises(MetricError):
        load(tmp_path / "bad.yml")
    with pytest.raises(MetricError):
        load("middling")


def test_similarities_that_do_not_fit_the_entities_are_refused() -> None:
    with pytest.raises(MetricError, match="similarity or embeddings: neither is given"):
        Scorer().score(FOLEY, NOT_FOLEY)
    with pytest.raises(MetricError, match="embeddings: 3 vectors for the candidate's 2 entities"):
        Scorer().score(FOLEY, NOT_FOLEY, embeddings=(np.ones((2, 4)), np.ones((3, 4))))
    with pytest.raises(MetricError, match="similarity: its shape is"):
        Scorer().score(FOLEY, NOT_FOLEY, np.ones((2, 3)))


class WordTagger:
    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        kinds = {"small": "ABNORMALITY", "effusion": "DISEASE"}
        words = (sentence.replace(".", " ").split() for sentence in sentences)
        return [[(word, kinds.get(word, "NON-DISEASE")) for word in of_sentence] for of_sentence in words]


class LetterEncoder:
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)


def test_pairs_whose_entities_are_known_score_as_the_metric_does() -> None:
    metric = RaTEScore()
    metric.tagger, metric.entity_encoder = WordTagger(), LetterEncoder()
    references = ["small effusion. no edema", "effusion effusion", ""]
    candidates = ["edema. effusion small", "small", "edema"]
    pairs = list(zip(metric.entities(references), metric.entities(candidates), strict=True))
    expected = metric.score(references, candidates).values
    np.testing.assert_allclose(
        score_entity_pairs(pairs, LetterEncoder(), Scorer("long")), expected, atol=1e-6
    )
