"""Operations of transformers against numbers that are published or counted by torch."""

from types import SimpleNamespace

import pytest

from notebooks.across import which_metric
from notebooks.across.which_metric import count_operations, count_weights


def test_bert_base_has_the_85_million_weights_that_its_layers_are_known_for() -> None:
    config = SimpleNamespace(num_hidden_layers=12, hidden_size=768, intermediate_size=3072)
    assert count_weights(config) == 84_934_656


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
    assert count_operations(config, [tokens]) == counter.get_total_flops()


def encoder(hidden: int, layers: int) -> SimpleNamespace:
    config = SimpleNamespace(num_hidden_layers=layers, hidden_size=hidden, intermediate_size=4 * hidden)
    tokenizer = SimpleNamespace(num_special_tokens_to_add=lambda: 2)
    return SimpleNamespace(model=SimpleNamespace(config=config), tokenizer=tokenizer)


SCORER = SimpleNamespace(tagger=encoder(10, 1), entity_encoder=encoder(20, 1))
# Two pairs: sentences of 5 and 7 tokens with names of 3; a sentence of 12 without a name.
LENGTHS = [([5, 7], [3]), ([12], [])]


def test_costs_by_hand() -> None:
    assert which_metric.compute_mean_tokens(SCORER, LENGTHS) == (8 + 10) / 2
    table = which_metric.tabulate_costs(SCORER, LENGTHS)
    assert table.index.tolist() == [
        "RaTEScore, this build", "RaTEScore, BERT base twice",
        "2.7 billion weights, reading", "7 billion weights, reading",
    ]  # fmt: skip
    # 12 hidden**2 weights a layer; 2 weights tokens + 4 hidden tokens**2 operations: the tagger reads the
    # sentences, the encoder the names.
    values = (2 * 1200 * 12 + 40 * (25 + 49) + 2 * 4800 * 3 + 80 * 9 + 2 * 1200 * 12 + 40 * 144) / 2
    assert table.iloc[0, 0] == pytest.approx((1200 + 4800) / 1e6)
    assert table.iloc[0, 1] == pytest.approx(values / 1e9)
    assert table.iloc[1, 0] == pytest.approx(2 * 84.934656)
    assert table.loc["7 billion weights, reading"].iloc[:2].tolist() == [7000, 2 * 7 * 9]
    assert table["times"].iloc[1] == 1
    assert table["times"].iloc[3] == pytest.approx(126 / table.iloc[1, 1])
