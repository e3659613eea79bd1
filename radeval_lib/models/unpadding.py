"""Training without padding on a CPU: several texts share a row, and none attends to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Least width of a packed row, in tokens: room for several sentences, while attention, whose cost grows with
# the square of the width, stays a small part.
_WIDTH = 128
# Packing must leave at most this share of the padded batch's tokens, to be worth the mask and the copies.
_WORTH_IT = 0.9
# What is given or asked for as one row per text.
_NEEDS_THE_BATCH = (
    *("token_type_ids", "position_ids", "inputs_embeds", "past_key_values"),
    *("encoder_hidden_states", "encoder_attention_mask", "output_attentions", "output_hidden_states"),
)


@contextmanager
def unpadded(module: torch.nn.Module) -> Iterator[None]:
    """Let BERT encoders, and no others, compute without padding during training on a CPU."""
    from transformers import BertModel

    modules: Iterator[Any] = module.modules()
    parts = [each for each in modules if type(each) is BertModel and not each.config.is_decoder]
    plain = [each.forward for each in parts]
    for each in parts:
        each.forward = _forward(each, each.forward)
    try:
        yield
    finally:
        for each, forward in zip(parts, plain, strict=True):
            each.forward = forward


# Sequence packing: several texts share a row, and a block-diagonal attention mask keeps each text from
# attending to the others; positions restart with each text.
def _forward(encoder: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    import torch
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    def forward(input_ids: Any = None, attention_mask: Any = None, **others: Any) -> Any:
        source = None
        asked = any(others.get(name) is not None for name in _NEEDS_THE_BATCH)
        standard_call = input_ids is not None and attention_mask is not None and attention_mask.dim() == 2
        if standard_call and not asked and input_ids.device.type == "cpu" and torch.is_grad_enabled():
            source = pack_sequences(attention_mask)
        if source is None:
            return plain(input_ids=input_ids, attention_mask=attention_mask, **others)
        longest = input_ids.shape[1]
        real, text, position = source >= 0, source // longest, source % longest
        together = text.unsqueeze(2) == text.unsqueeze(1)
        weights = encoder.embeddings.word_embeddings.weight
        least = torch.finfo(weights.dtype).min
        mask = torch.zeros(together.shape, dtype=weights.dtype).masked_fill(~together, least)
        states = plain(
            input_ids=input_ids.flatten()[source.clamp(min=0)],
            attention_mask=mask.unsqueeze(1),
            position_ids=position * real,
        ).last_hidden_state
        flat = states.new_zeros(input_ids.numel(), states.shape[-1])
        hidden = flat.index_put((source[real],), states[real]).view(*input_ids.shape, -1)
        pooled = None if encoder.pooler is None else encoder.pooler(hidden)
        return BaseModelOutputWithPooling(last_hidden_state=hidden, pooler_output=pooled)

    return forward


def pack_sequences(attention_mask: torch.Tensor) -> torch.Tensor | None:
    """Return (rows, width) int64 index into the flattened batch, -1 for padding; None if packing saves under
    10 % or the batch is not padded on the right."""
    import torch

    lengths = attention_mask.sum(1)
    longest = attention_mask.shape[1]
    if not torch.equal(attention_mask.bool(), torch.arange(longest) < lengths.unsqueeze(1)):
        return None
    rows = _filled(lengths.tolist(), max(_WIDTH, int(lengths.max())))
    width = max(sum(int(lengths[text]) for text in row) for row in rows)
    if len(rows) * width > _WORTH_IT * attention_mask.numel():
        return None
    source = torch.full((len(rows), width), -1)
    for number, row in enumerate(rows):
        start = 0
        for text in row:
            end = start + int(lengths[text])
            source[number, start:end] = torch.arange(text * longest, text * longest + end - start)
            start = end
    return source


def _filled(lengths: Sequence[int], width: int) -> list[list[int]]:
    """Return texts of each row: the longest first, each into the first row that has room for it."""
    rows: list[list[int]] = []
    room: list[int] = []
    for text in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        row = next((row for row, left in enumerate(room) if left >= lengths[text]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(width)
        rows[row].append(text)
        room[row] -= lengths[text]
    return rows
