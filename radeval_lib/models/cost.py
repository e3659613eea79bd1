"""What it takes to run a transformer over texts: weights and arithmetic operations, counted and not timed.

Source: Kaplan et al. 2020 (arXiv 2001.08361, Section 2.1): a forward pass costs 2 N + 2 n_layer n_ctx d_attn
operations a token, N being the weights without embeddings. A bidirectional encoder, whose tokens look both
ways, is counted with twice the second term: 4 n_layer n_ctx d_attn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Size:
    """The size of a transformer.

    Attributes
    ----------
    layers, hidden, inner : its layers, their width, and the width of the feed-forward part.
    """

    layers: int
    hidden: int
    inner: int

    @classmethod
    def of(cls, config: Any) -> Size:
        """From a transformers configuration."""
        return cls(config.num_hidden_layers, config.hidden_size, config.intermediate_size)

    @property
    def weights(self) -> int:
        """Weights of the layers' matrices: four of attention and two of the feed-forward part each."""
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.inner)


def encoding_operations(size: Size, lengths: Sequence[int]) -> int:
    """Operations to encode texts with a bidirectional transformer.

    Parameters
    ----------
    lengths : tokens of each text; texts are read apart, and no padding is counted.
    """
    return sum(2 * size.weights * n + 4 * size.layers * size.hidden * n * n for n in lengths)


def least_reading_operations(parameters: float, tokens: int) -> float:
    """The least that a dense language model needs to read a text once: 2 operations a weight and token.

    Attention, the instructions of a prompt and every token that it writes come on top.
    """
    return 2 * parameters * tokens
