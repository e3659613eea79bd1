"""What the two tagging schemes have in common, so that one trainer trains both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from radeval_lib.models.ner.agreement import WordSpan

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""A label that the loss leaves out."""


class Scheme(Protocol):
    """A tagging scheme: a module to train and how it sees a sentence."""

    module: torch.nn.Module

    def example(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        """A sentence as the numbers that the module takes; words beyond its reach are cut."""
        ...

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """A padded batch."""
        ...

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """The entities of sentences that are given as words."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        ...
