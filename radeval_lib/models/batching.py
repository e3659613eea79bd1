"""Batches of sequences of similar length, and what is computed in them."""

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
    """Return tokens per batch: as many as a CPU's caches hold, or enough to fill a GPU."""
    return 32_768 if device.type == "cuda" else 1_024


def buckets(lengths: Sequence[int], tokens: int, texts: int = 256) -> Iterator[list[int]]:
    """Yield positions of the sequences, shortest first, cut into batches of at most ``texts`` sequences and
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
    """Return rows of whole numbers as one array, int64, padded on the right."""
    import torch

    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=padding_value)


def padded(tokenizer: Any, rows: Iterable[Sequence[int]]) -> Any:
    """Return pieces of texts as one batch: ``input_ids`` and ``attention_mask``, int64, padded on the
    right."""
    return tokenizer.pad({"input_ids": list(rows)}, padding_side="right", return_tensors="pt")
