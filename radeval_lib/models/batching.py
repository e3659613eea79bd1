"""Fast inference: batches of similar length, and no padding on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from radeval_lib.models.devices import Precision, precision_of

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""A label that the loss leaves out."""

K = TypeVar("K")
R = TypeVar("R")


def tokens_for(device: torch.device) -> int:
    """Tokens per batch: as many as a CPU's caches hold, or enough to fill a GPU."""
    return 32_768 if device.type == "cuda" else 1_024


def buckets(lengths: Sequence[int], tokens: int, texts: int = 256) -> Iterator[list[int]]:
    """Positions of the sequences, shortest first, cut into batches of at most ``texts`` sequences and
    ``tokens`` tokens, padding counted; a longer sequence is a batch of its own."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batch and (len(batch) >= texts or (len(batch) + 1) * lengths[position] > tokens):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


@contextmanager
def evaluating(module: torch.nn.Module, precision: Precision = "auto") -> Iterator[torch.device]:
    """Put a module in evaluation mode, without gradients; yields its device."""
    import torch

    device = next(module.parameters()).device
    was_training = module.training
    module.eval()
    try:
        half = precision_of(device, precision) == "bfloat16"
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=half):
            yield device
    finally:
        module.train(was_training)


def in_batches(
    module: torch.nn.Module,
    lengths: Sequence[int],
    compute: Callable[[list[int], torch.device], Iterable[R]],
    tokens: int | None = None,
    texts: int = 256,
    precision: Precision = "auto",
) -> list[R]:
    """Apply ``compute`` to sequences of these lengths; it gets the positions of a batch and the device.

    Parameters
    ----------
    tokens, texts : the most of a batch, see :func:`buckets`; None: as many tokens as suit the device.
    """
    result: dict[int, R] = {}
    with evaluating(module, precision) as device:
        for batch in buckets(lengths, tokens or tokens_for(device), texts):
            result.update(zip(batch, compute(batch, device), strict=True))
    return [result[position] for position in range(len(lengths))]


def of_distinct(items: Sequence[K], compute: Callable[[list[K]], Iterable[R]]) -> list[R]:
    """Apply ``compute`` to each item; equal ones are computed once."""
    distinct = list(dict.fromkeys(items))
    found = dict(zip(distinct, compute(distinct), strict=True))
    return [found[item] for item in items]


def stacked(rows: Iterable[Sequence[int]], padding_value: int = 0) -> torch.Tensor:
    """Rows of whole numbers as one array, int64, padded on the right."""
    import torch

    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=padding_value)


def padded(tokenizer: Any, rows: Iterable[Sequence[int]]) -> Any:
    """Pieces of texts as one batch: ``input_ids`` and ``attention_mask``, int64, padded on the right."""
    return tokenizer.pad({"input_ids": list(rows)}, padding_side="right", return_tensors="pt")


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
    """(rows, width) int64 index into the flattened batch, -1 for padding; None if packing saves under 10 %
    or the batch is not padded on the right."""
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
