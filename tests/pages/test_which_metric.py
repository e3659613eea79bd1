"""Operations of transformers against numbers that are published or counted by torch."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from notebooks.across import which_metric
from notebooks.across.which_metric import encoding_operations, weights
from radeval_lib.data.errors import DataError


def test_bert_base_has_the_85_million_weights_that_its_layers_are_known_for() -> None:
    config = SimpleNamespace(num_hidden_layers=12, hidden_size=768, intermediate_size=3072)
    assert weights(config) == 84_934_656


def test_operations_are_those_that_torch_counts() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=96,
        attn_implementation="eager",  # of a fused kernel torch does not count the operations
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    tokens = 11
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=torch.ones((1, tokens), dtype=torch.long))
    assert encoding_operations(config, [tokens]) == counter.get_total_flops()


def test_texts_are_added_and_a_long_one_costs_more_than_two_halves() -> None:
    size = SimpleNamespace(num_hidden_layers=2, hidden_size=8, intermediate_size=16)
    assert encoding_operations(size, []) == 0
    assert encoding_operations(size, [3, 4]) == encoding_operations(size, [3]) + encoding_operations(
        size, [4]
    )
    assert encoding_operations(size, [8]) > 2 * encoding_operations(size, [4])


def test_durations_are_in_a_unit_that_suits_them() -> None:
    told = [which_metric.duration(hours) for hours in (0.02, 5.26, 240)]
    assert told == ["1 minute", "5.3 hours", "10 days"]


def test_processor_time_leaves_waiting_out() -> None:
    assert which_metric._seconds(lambda: time.sleep(0.2), "cpu") < 0.1
    began = time.process_time()
    spent = which_metric._seconds(lambda: sum(range(1_000_000)), "cpu")
    assert 0 < spent <= time.process_time() - began


def test_on_a_gpu_the_clock_runs_between_two_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    done: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: done.append("wait"))

    def clock() -> float:
        done.append("clock")
        return float(len(done))

    monkeypatch.setattr(time, "perf_counter", clock)
    assert which_metric._seconds(lambda: done.append("work"), "cuda") == 3
    assert done == ["wait", "clock", "work", "wait", "clock"]


def encoder(hidden: int, layers: int) -> SimpleNamespace:
    config = SimpleNamespace(num_hidden_layers=layers, hidden_size=hidden, intermediate_size=4 * hidden)
    tokenizer = SimpleNamespace(num_special_tokens_to_add=lambda: 2)
    return SimpleNamespace(model=SimpleNamespace(config=config), tokenizer=tokenizer)


SCORER = SimpleNamespace(tagger=encoder(10, 1), entity_encoder=encoder(20, 1))
# Two pairs: sentences of 5 and 7 tokens with names of 3; a sentence of 12 without a name.
LENGTHS = [([5, 7], [3]), ([12], [])]


def test_costs_by_hand() -> None:
    assert which_metric.text_tokens(SCORER, LENGTHS) == (8 + 10) / 2
    table = which_metric.cost_table(SCORER, LENGTHS)
    assert table.index.tolist() == [
        "RaTEScore, this build", "RaTEScore, BERT base twice",
        "2.7 billion weights, reading", "7 billion weights, reading",
    ]  # fmt: skip
    # 12 hidden**2 weights a layer; 2 weights tokens + 4 hidden tokens**2 operations: the tagger reads the
    # sentences, the encoder the names.
    own = (2 * 1200 * 12 + 40 * (25 + 49) + 2 * 4800 * 3 + 80 * 9 + 2 * 1200 * 12 + 40 * 144) / 2
    assert table.iloc[0, 0] == pytest.approx((1200 + 4800) / 1e6)
    assert table.iloc[0, 1] == pytest.approx(own / 1e9)
    assert table.iloc[1, 0] == pytest.approx(2 * 84.934656)
    assert table.loc["7 billion weights, reading"].iloc[:2].tolist() == [7000, 2 * 7 * 9]
    assert table["times"].iloc[1] == 1
    assert table["times"].iloc[3] == pytest.approx(126 / table.iloc[1, 1])


def test_each_way_is_billed() -> None:
    counted = which_metric.cost_table(SCORER, LENGTHS)
    rate = 1e9 * counted.iloc[1, 1]  # one pair of BERT base twice a second
    table = which_metric.bill(pd.Series({"BLEU": 0.5, "Ours": 2.0}), counted, rate)
    assert table.index.tolist() == ["BLEU", "Ours", *counted.index[1:]]
    assert table["milliseconds"].tolist() == pytest.approx([0.5, 2, *(1000 * counted["times"].iloc[1:])])
    assert table["timed"].tolist() == [True, True, False, False, False]


def test_every_reference_is_timed_once_after_the_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[tuple[list[str], list[str]]] = []
    metric: Any = SimpleNamespace(score=lambda *texts: scored.append(texts))

    def seconds(work: Callable[[], object], device: str) -> float:
        work()
        return 0.006

    monkeypatch.setattr(which_metric, "_seconds", seconds)
    pairs = pd.DataFrame({"reference": list("abcdefbg"), "candidate": list("ABCDEFXG")})
    assert which_metric.timed({"One": metric}, pairs, "cpu").to_dict() == {"One": pytest.approx(2.0)}
    assert scored == [(list("abcd"), list("ABCD")), (list("efg"), list("EFG"))]


def test_a_rate_is_operations_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import BertConfig

    tiny = BertConfig(
        vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    monkeypatch.setattr(which_metric, "_bert_base", lambda: tiny)
    monkeypatch.setattr(which_metric, "_seconds", lambda work, device: float(len(work())))
    # Three times eight texts of 64 tokens in three seconds; 4 * 64 + 2 * 128 weights.
    assert which_metric.operations_a_second("cpu") == 8 * (2 * 512 * 64 + 32 * 64**2)


def test_pairs_that_only_warm_up_are_not_timed() -> None:
    pairs = pd.DataFrame({"reference": ["a", "b", "c", "d", "d"], "candidate": ["x"] * 5})
    with pytest.raises(DataError, match="4 different references"):
        which_metric.timed({}, pairs, "cpu")
