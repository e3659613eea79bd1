"""Batches of token sequences of like length, so that little is padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def batch_size_for(device: torch.device) -> int:
    """Tokens a batch: as many as a CPU's caches hold, or enough to fill a GPU."""
    return 32_768 if device.type == "cuda" else 1_024


def buckets(lengths: Sequence[int], tokens: int, texts: int = 256) -> Iterator[list[int]]:
    """Positions of the sequences, shortest first, cut into batches."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batch and (len(batch) >= texts or (len(batch) + 1) * lengths[position] > tokens):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
