"""Training without padding: the same numbers from fewer places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertConfig, BertForTokenClassification

from radeval_lib.models.unpadding import pack_sequences, unpadded

pytestmark = pytest.mark.usefixtures("one_thread")

LENGTHS = [5, 40, 12, 1, 20, 9, 3, 11]


def model() -> Any:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 2}
    return BertForTokenClassification(BertConfig(vocab_size=50, num_labels=3, **sizes)).eval()


def batch(lengths: list[int]) -> dict[str, torch.Tensor]:
    longest = max(lengths)
    mask = (torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)).long()
    ids = torch.randint(1, 50, mask.shape, generator=torch.Generator().manual_seed(1)) * mask
    labels = (ids % 3).masked_fill(mask == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def widths_read(made: Any) -> list[tuple[int, ...]]:
    """Return filled with the shape of every batch that the encoder's embeddings read."""
    shapes: list[tuple[int, ...]] = []

    def note(_: Any, __: Any, given: dict[str, Any]) -> None:
        shapes.append(tuple(given["input_ids"].shape))

    made.bert.embeddings.register_forward_pre_hook(note, with_kwargs=True)
    return shapes


def test_states_losses_and_gradients_are_those_of_the_padded_batch() -> None:
    made, given_ = model(), batch(LENGTHS)
    shapes = widths_read(made)

    def computed() -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        made.zero_grad()
        output = made(**given_)
        output.loss.backward()
        return output.loss, output.logits, [weight.grad.clone() for weight in made.parameters()]

    loss, logits, gradients = computed()
    with unpadded(made):
        same_loss, same_logits, same_gradients = computed()
    assert shapes == [(8, 40), (1, sum(LENGTHS))]
    real = given_["attention_mask"].bool()
    torch.testing.assert_close(same_loss, loss)
    torch.testing.assert_close(same_logits[real], logits[real], rtol=1e-4, atol=1e-5)
    for same, gradient in zip(same_gradients, gradients, strict=True):
        torch.testing.assert_close(same, gradient, rtol=1e-4, atol=1e-6)


def test_inference_and_other_inputs_are_left_alone() -> None:
    made, given_ = model(), batch(LENGTHS)
    shapes = widths_read(made)
    with unpadded(made):
        with torch.inference_mode():
            made(**given_)
        made(**given_, token_type_ids=torch.zeros_like(given_["input_ids"]))
        made(**given_, output_hidden_states=True)
    assert shapes == [(8, 40)] * 3


@settings(deadline=None)
@given(st.lists(st.integers(1, 200), min_size=2, max_size=24))
def test_every_text_stands_whole_in_one_row(lengths: list[int]) -> None:
    mask = batch(lengths)["attention_mask"]
    source = pack_sequences(mask)
    if source is None:
        return
    index = source.numpy()
    assert sorted(index[index >= 0]) == list(np.flatnonzero(mask.numpy()))
    assert index.size <= 0.9 * mask.numel()
    assert index.shape[1] <= max(128, *lengths)
    for number, length in enumerate(lengths):
        rows, places = np.nonzero(index // mask.shape[1] == number)
        assert len(set(rows)) == 1
        assert list(places) == list(range(places[0], places[0] + length))
