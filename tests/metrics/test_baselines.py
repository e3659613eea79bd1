"""Baselines against hand-computed values and the libraries that they are built on."""

from __future__ import annotations

import numpy as np
import pytest

from radeval_lib.metrics import MetricError, bertscore, create
from radeval_lib.metrics.bertscore import match_greedily

pytestmark = pytest.mark.usefixtures("one_thread")

SAME = "the lungs are clear without effusion"


@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l", "bleu"])
def test_same_and_disjoint_texts(name) -> None:
    values = create(name).score([SAME, SAME, ""], [SAME, "x y z w", ""]).values
    np.testing.assert_allclose(values, [1, 0, 0], atol=1e-3)


def test_meteor_by_hand() -> None:
    # 4 matches in one chunk of 4 words: F = 1, penalty 0.5 * (1/4)^3 (Banerjee and Lavie 2005)
    value = create("meteor").score(["the lungs are clear"], ["the lungs are clear"]).values[0]
    assert value == pytest.approx(1 - 0.5 / 64)
    # stems: "effusions" matches "effusion"
    assert create("meteor").score(["effusions"], ["effusion"]).values[0] > 0
    assert create("meteor").score(["effusion"], [""]).values[0] == 0


@pytest.mark.filterwarnings("ignore:The multilingual functions:UserWarning")
def test_meteor_finds_synonyms_in_a_dictionary(tmp_path) -> None:
    # a WordNet of one synset, without lexnames, as Debian's package wordnet-base has none
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (tmp_path / name).touch()
    (tmp_path / "index.noun").write_text("center n 1 0 1 0 00000000\nheart n 1 0 1 0 00000000\n")
    (tmp_path / "data.noun").write_text("00000000 15 n 02 center 0 heart 0 000 | the middle\n")
    (tmp_path / "data.adj").write_text("  3 WordNet 3.0 Copyright 2006\n")
    metric = create("meteor", wordnet=str(tmp_path))
    assert metric.score(["center"], ["heart"]).values[0] == pytest.approx(0.5)  # F 1, penalty 0.5
    assert metric.settings() == {"synonyms": "wordnet-3.0"}
    assert create("meteor").score(["center"], ["heart"]).values[0] == 0
    (tmp_path / "verb.exc").unlink()
    with pytest.raises(MetricError):
        create("meteor", wordnet=str(tmp_path))


def test_greedy_match_by_hand() -> None:
    candidate = np.array([[1.0, 0.0], [0.0, 1.0]])
    reference = np.array([[1.0, 0.0], [0.6, 0.8]])
    both, second = np.array([True, True]), np.array([False, True])
    # candidate tokens: best 1 and 0.8; reference tokens: best 1 and 0.8
    assert match_greedily(candidate, both, reference, both) == pytest.approx((0.9, 0.9))
    # without the first ones in the means; they may still be matched
    assert match_greedily(candidate, second, reference, second) == pytest.approx((0.8, 0.8))
    assert match_greedily(candidate, both, reference, ~both) == (0.0, 0.0)


def test_bertscore_orders_texts_and_takes_empty_ones() -> None:
    metric = create("bertscore", encoder="packaged-minilm", layer="5")
    values = metric.score([SAME] * 4, [SAME, "lungs clear, no effusion", "femur fracture", ""]).values
    assert values[0] == pytest.approx(1, abs=1e-5)
    assert values[0] > values[1] > values[2] > values[3] == 0
    with pytest.raises(MetricError):
        create("bertscore", encoder="packaged-minilm", layer=9).score(["a"], ["b"])


def test_bertscore_meets_texts_again_in_a_later_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bertscore, "_CHUNK", 2)
    metric = create("bertscore", encoder="packaged-minilm", layer=5)
    references, candidates = ["no effusion", "no effusion", "small effusion"], ["a", "small effusion", "a"]
    alone = [
        metric.score([reference], [candidate]).values[0]
        for reference, candidate in zip(references, candidates, strict=True)
    ]
    assert metric.score(references, candidates).values == pytest.approx(alone, abs=1e-5)


def test_observation_f1() -> None:
    # reference: Edema, Cardiomegaly; candidate: Edema: F1 = 2 * 1 / 3
    scores = create("observations").score(
        ["Edema. Cardiomegaly.", "Clear lungs.", "Rib fracture."], ["Edema.", "Clear lungs.", "No fracture."]
    )
    np.testing.assert_allclose(scores.values, [2 / 3, 1, 0])
    assert create("observations", labels="5").score(["Rib fracture."], [""]).values[0] == 1
    with pytest.raises(MetricError):
        create("observations", labels=7)
