"""The protocol that every metric keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib import metrics
from radeval_lib.metrics import base
from radeval_lib.metrics.base import Metric, MetricError


class _Ratio(Metric):
    """Length of the reference over that of the pair; what it was asked is kept."""

    name = "_ratio"
    reads_lines = True

    def __init__(self, *, scale: float = 1.0, strict: bool | None = None, order: int = 1) -> None:
        self.scale, self.strict, self.order = scale, strict, order
        self.asked: list[tuple[str, str]] = []

    def _score_pairs(self, pairs):
        self.asked += pairs
        return [(self.scale * len(a) / (1 + len(a) + len(b)), (a, b)) for a, b in pairs]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base.REGISTERED, "_ratio", _Ratio)


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
    ("references", "candidates", "said"),
    [
        ("a", ["b"], "references is a single text"),
        (["a"], b"b", "candidates is a single text"),
        (["a"], ["b", "c"], "1 references but 2 candidates"),
        (["a", None], ["b", "c"], "item 1 is of type NoneType"),
        (["a"], [float("nan")], "item 0 is of type float"),
        (["a"], 3, "int is not a sequence"),
        ({"a", "b"}, ["a", "b"], "set is not a sequence"),
        ({"a": "b"}, ["a"], "dict is not a sequence"),
        (pd.DataFrame({"a": ["b"]}), ["a"], "DataFrame is not a sequence"),
    ],
)
def test_bad_input_is_named(references, candidates, said) -> None:
    with pytest.raises(MetricError, match=said):
        _Ratio().score(references, candidates)


@pytest.mark.parametrize("name", ["rouge_1", "bertscore"])
def test_a_single_text_has_no_matrix(name: str) -> None:
    with pytest.raises(MetricError, match=r"candidates is a single text"):
        metrics.create(name).matrix(["a"], "ab")


def test_a_value_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(MetricError, match="not a finite number"):
        _Ratio(scale=float("inf")).score(["a"], ["b"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [(2.0, None)],
            r"the score of pair 0 is 2, outside its range 0 to 1\. Correct the score, or",
        ),
        ([(-0.01, None)], "outside its range 0 to 1"),
        ([0.5], r"`_score_pairs` gave float, not a number and a detail\. Give \(value, detail\)"),
        ([("0.5", None)], "gave tuple, not a number and a detail"),
        (["ab"], "gave str, not a number and a detail"),
        (None, r"`_score_pairs` gave NoneType and no scores\. Give"),
        ([], "0 scores for 1 pairs"),
    ],
)
def test_what_a_metric_gives_is_checked(given, said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Ratio, "_score_pairs", lambda self, pairs: given)
    with pytest.raises(MetricError, match=f"^_ratio: .*{said}"):
        _Ratio().score(["a"], ["b"])


def test_values_keep_no_detail(monkeypatch: pytest.MonkeyPatch) -> None:
    class Detail:
        alive = 0
        most = 0

        def __init__(self) -> None:
            Detail.alive += 1
            Detail.most = max(Detail.most, Detail.alive)

        def __del__(self) -> None:
            Detail.alive -= 1

    monkeypatch.setattr(_Ratio, "_score_pairs", lambda self, pairs: ((0.5, Detail()) for _ in pairs))
    assert list(_Ratio().values(["a"] * 9, list("bcdefghij"))) == [0.5] * 9
    assert Detail.most <= 3


def test_rounding_may_leave_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Ratio, "_score_pairs", lambda self, pairs: [(1 + 1e-7, None)])
    assert _Ratio().score(["a"], ["b"]).values[0] == 1 + 1e-7


def _score_pairs(self, pairs):
    return [(0.0, None) for _ in pairs]


@pytest.mark.parametrize(
    ("defined", "said"),
    [
        ({"name": "toy", "higher_is_beter": False}, r"'higher_is_beter'\. Did you mean 'higher_is_better'\?"),
        ({"name": "toy", "citaton": "lin2004rouge"}, r"'citaton'\. Did you mean 'citation'\?"),
        ({"name": "toy", "_score_pair": _score_pairs}, r"'_score_pair'\. Did you mean '_score_pairs'\?"),
        ({"nmae": "toy"}, r"unknown attribute 'nmae'\. Did you mean 'name'\?"),
        ({}, r"no attribute 'name'\. Give"),
        ({"name": "toy", "_score_pairs": None}, r"no method '_score_pairs'\. Define it"),
        ({"name": "toy", "citation": "lin2004roug"}, r"citation: no source 'lin2004roug'\. Did you mean"),
    ],
)
def test_a_class_that_is_no_metric_is_not_registered(defined: dict[str, object], said: str) -> None:
    both = {"_score_pairs": _score_pairs, **defined}
    with pytest.raises(MetricError, match=f"class Toy.*{said}"):
        base.register(type("Toy", (Metric,), {key: one for key, one in both.items() if one is not None}))
    assert "toy" not in base.REGISTERED


def test_nothing_to_score() -> None:
    assert len(_Ratio().score([], [])) == 0


@pytest.mark.usefixtures("registered")
def test_settings_come_as_texts() -> None:
    metric = metrics.create("_ratio", scale="2.5", strict="yes", order="3")
    assert isinstance(metric, _Ratio)
    assert (metric.scale, metric.strict, metric.order) == (2.5, True, 3)
    assert metrics.create("_ratio", strict="none").strict is None  # type: ignore[attr-defined]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"colour": "red"}, "unknown setting 'colour'. Settings: order, scale, strict"),
        ({"scale": "wide"}, "_ratio.scale: 'wide' is not of type float"),
        ({"strict": "perhaps"}, "not of type bool"),
    ],
)
def test_bad_settings_are_named(settings, said) -> None:
    with pytest.raises(MetricError, match=said):
        metrics.create("_ratio", **settings)


def test_unknown_metric_lists_those_there_are() -> None:
    with pytest.raises(MetricError, match=r"unknown metric 'bluu'.*bleu.*ratescore"):
        metrics.create("bluu")


def test_every_metric_says_what_it_is() -> None:
    for name in metrics.names():
        metric = metrics.get(name)
        low, high = metric.range
        assert low < high
        assert isinstance(metric.higher_is_better, bool)
        assert metric.__doc__


@pytest.mark.parametrize(
    ("name", "setting", "value", "kind"),
    [
        ("bleu", "order", 2.5, "int"),
        ("bleu", "order", True, "int"),
        ("rouge_1", "stem", None, "bool"),
        ("rouge_1", "stem", 3, "bool"),
        ("bertscore", "layer", 2.0, "int"),
        ("bertscore", "encoder", 3, "str"),
        ("radcliq", "baseline", True, "float"),
    ],
)
def test_a_value_of_another_type_is_named(name: str, setting: str, value: object, kind: str) -> None:
    with pytest.raises(MetricError, match=rf"^{name}\.{setting}: {value} is not of type {kind}$"):
        metrics.create(name, **{setting: value})


def test_values_of_a_wider_type_are_taken(tmp_path) -> None:
    assert metrics.create("radcliq", baseline=0).baseline == 0
    assert metrics.create("bleu", order=np.int64(2)).order == 2
    assert metrics.create("bertscore", encoder=tmp_path, layer=None).layer is None


def test_contexts_are_counted_by_every_metric() -> None:
    with pytest.raises(MetricError, match=r"^contexts: 2 contexts for 1 pairs"):
        metrics.create("rouge_1").score(["a"], ["a"], contexts=[None, None])
