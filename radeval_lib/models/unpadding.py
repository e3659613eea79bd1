"""Training on a CPU without padding: the texts of a batch are laid end to end, in few rows.

A batch is as wide as its longest text, so with sentences drawn at random four numbers of ten are computed for
padding. Laid end to end, each text still attends to itself alone and counts its positions from its own start,
so that what comes out is the same up to the order of sums (Krell et al. 2021, "Efficient sequence packing
without cross-contamination").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_WIDTH = 128
_WORTH_IT = 0.9
# What is given or asked for as one row a text.
_NEEDS_THE_BATCH = (
    *("token_type_ids", "position_ids", "inputs_embeds", "past_key_values"),
    *("encoder_hidden_states", "encoder_attention_mask", "output_attentions", "output_hidden_states"),
)


@contextmanager
def unpadded(module: torch.nn.Module) -> Iterator[None]:
    """Let BERT encoders within ``module`` compute without padding while gradients are taken on a CPU.

    They take and give the same arrays as before, with zeros where there is padding. Encoders of other
    architectures, which may count positions otherwise, stay as they are.
    """
    from transformers import BertModel

    parts: Iterator[Any] = module.modules()
    with ExitStack() as stack:
        for each in parts:
            if type(each) is BertModel and not each.config.is_decoder:
                stack.enter_context(_replaced(each))
        yield


@contextmanager
def _replaced(encoder: Any) -> Iterator[None]:
    plain = encoder.forward
    encoder.forward = _forward(encoder, plain)
    try:
        yield
    finally:
        encoder.forward = plain


def _forward(encoder: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    import torch
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    def forward(
        input_ids: torch.Tensor | None = None, attention_mask: torch.Tensor | None = None, **others: Any
    ) -> Any:
        def usual() -> Any:
            return plain(input_ids=input_ids, attention_mask=attention_mask, **others)

        asked = any(others.get(name) is not None for name in _NEEDS_THE_BATCH)
        if asked or input_ids is None or attention_mask is None or attention_mask.dim() != 2:
            return usual()
        if input_ids.device.type != "cpu" or not torch.is_grad_enabled():
            return usual()
        source = end_to_end(attention_mask)
        if source is None:
            return usual()
        longest = input_ids.shape[1]
        real, text, position = source >= 0, source // longest, source % longest
        together = text.unsqueeze(2) == text.unsqueeze(1)
        weights = encoder.embeddings.word_embeddings.weight
        mask = torch.zeros(together.shape, dtype=weights.dtype).masked_fill(
            ~together, torch.finfo(weights.dtype).min
        )
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


def end_to_end(attention_mask: torch.Tensor) -> torch.Tensor | None:
    """Where each place of the rows comes from."""
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
    """Texts of each row: the longest first, each into the first row that has room for it."""
    rows: list[list[int]] = []
    room: list[int] = []
    for text in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        at = next((row for row, left in enumerate(room) if left >= lengths[text]), len(rows))
        if at == len(rows):
            rows.append([])
            room.append(width)
        rows[at].append(text)
        room[at] -= lengths[text]
    return rows
