"""The protocol that every metric keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib import metrics
from radeval_lib.metrics import by_name
from radeval_lib.metrics.base import Metric, MetricError


class _Ratio(Metric):
    """Length of the reference over that of the pair; what it was asked is kept."""

    name = "_ratio"
    reads_lines = True

    def __post_init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def _score_pairs(self, pairs):
        self.asked += pairs
        return [(len(a) / (1 + len(a) + len(b)), (a, b)) for a, b in pairs]


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=12), st.randoms())
def test_order_and_duplicates_change_no_score(pairs, rng) -> None:
    alone = {pair: _Ratio().score([pair[0]], [pair[1]]).values[0] for pair in set(pairs)}
    shuffled = [*pairs, *pairs]
    rng.shuffle(shuffled)
    metric = _Ratio()
    scores = metric.score([a for a, _ in shuffled], [b for _, b in shuffled])
    assert scores.values.dtype == np.float64
    assert scores.values.shape == (len(shuffled),)
    assert list(scores.values) == [alone[pair] for pair in shuffled]
    assert scores.details == shuffled
    assert len(metric.asked) == len(set(pairs))


@pytest.mark.parametrize("name", ["bleu", "rouge_2", "rouge_l", "meteor", "observations", "green_rules"])
def test_line_breaks_change_no_score(name: str) -> None:
    whole = "Well-expanded lungs without focal consolidation. Small left effusion, as before."
    wrapped = "Well-\nexpanded lungs  \r\nwithout focal\nconsolidation.\nSmall left\neffusion, as before. \n"
    other = "Lungs are well-expanded. Moderate left effusion."
    metric = metrics.create(name)
    texts = [whole, wrapped, whole, wrapped], [wrapped, whole, other, other]
    same, again, changed, as_changed = metric.score(*texts).values
    assert same == again == metric.score([whole], [whole]).values[0]
    assert changed == as_changed


@pytest.mark.parametrize(
    ("references", "candidates"),
    [
        ("a", ["b"]),
        (["a"], b"b"),
        (["a"], ["b", "c"]),
        (["a", None], ["b", "c"]),
        (["a"], 3),
        ({"a", "b"}, ["a", "b"]),
        ({"a": "b"}, ["a"]),
        (pd.DataFrame({"a": ["b"]}), ["a"]),
    ],
)
def test_bad_input_is_named(references, candidates) -> None:
    with pytest.raises(MetricError):
        _Ratio().score(references, candidates)


@pytest.mark.parametrize("value", [2.0, -0.01, float("inf"), float("nan")])
def test_a_value_outside_the_range_is_an_error(value, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Ratio, "_score_pairs", lambda self, pairs: [(value, None)])
    with pytest.raises(MetricError):
        _Ratio().score(["a"], ["b"])


@pytest.mark.parametrize("results", [None, [], [(0.5, ""), (0.5, "")], [(None, None)], [0.5], [(0.5,)]])
def test_a_metric_without_a_number_and_a_detail_is_an_error(results, monkeypatch) -> None:
    monkeypatch.setattr(_Ratio, "_score_pairs", lambda self, pairs: results)
    with pytest.raises(MetricError):
        _Ratio().score(["a"], ["b"])


@pytest.mark.parametrize("wanted", [{"all": {"order": 2}}, {"bleu": "order"}, [1], [["bleu"]], 3])
def test_what_is_not_a_choice_of_metrics_is_an_error(wanted) -> None:
    with pytest.raises(MetricError):
        by_name.choose(wanted)
    with pytest.raises(MetricError):
        by_name.get(wanted)


def test_settings_come_as_texts() -> None:
    assert metrics.create("bleu", order="3").settings() == {"order": 3}
    assert metrics.create("rouge_l", stem="no").settings() == {"stem": False}
    assert metrics.create("bertscore", layer="none").settings()["layer"] is None


def test_an_unknown_metric_gets_the_nearest() -> None:
    with pytest.raises(MetricError) as caught:
        metrics.create("bluu")
    assert "bleu" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("bleu", "order", 2.5), ("rouge_1", "stem", 3), ("ratescore", "preset", "newest")],
)
def test_a_value_of_another_type_is_named(name: str, setting: str, value: object) -> None:
    with pytest.raises(MetricError) as caught:
        metrics.create(name, **{setting: value})
    assert caught.value.where == f"{name}.{setting}"
