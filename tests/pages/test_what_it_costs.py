"""Operations of transformers against numbers that are published or counted by torch."""

import time
from types import SimpleNamespace

import pandas as pd
import pytest

from radeval_lib.data.errors import DataError
from radeval_lib.pages.across import what_it_costs
from radeval_lib.pages.across.what_it_costs import encoding_operations, weights


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


def test_hours_are_those_of_every_report_once() -> None:
    (told,) = what_it_costs.hours(pd.Series([3600.0]), "MIMIC-CXR")
    assert told == pytest.approx(227.835)
    assert what_it_costs.duration(told) == "9 days"


def test_processor_time_leaves_waiting_out() -> None:
    assert what_it_costs._seconds(lambda: time.sleep(0.2), "cpu") < 0.1
    began = time.process_time()
    spent = what_it_costs._seconds(lambda: sum(range(1_000_000)), "cpu")
    assert 0 < spent <= time.process_time() - began


def test_pairs_that_only_warm_up_are_not_timed() -> None:
    pairs = pd.DataFrame({"reference": ["a", "b", "c", "d", "d"], "candidate": ["x"] * 5})
    with pytest.raises(DataError, match="4 different references"):
        what_it_costs.timed({}, pairs, "cpu")
