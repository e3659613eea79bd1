"""A pointer-generator (See et al. 2017): an LSTM encoder and decoder that choose at every step between a word
of the vocabulary and a word of the findings.

It differs from the paper's in two ways that make it fast on a CPU: attention reads the decoder's state
without being fed back into it, so that a whole summary is trained in one pass, and there is no coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
SPECIAL = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
EPSILON = 1e-9
State = tuple[torch.Tensor, torch.Tensor]
"""What the decoder remembers: output and cell, each of shape (1, n, hidden)."""


@dataclass(frozen=True)
class PointerSettings:
    """Sizes of the model."""

    vocabulary: int = 2500
    embedding: int = 96
    hidden: int = 96
    dropout: float = 0.3
    longest_source: int = 400
    longest_target: int = 80
    copying: bool = True


@dataclass
class Memory:
    """What the decoder reads: source pieces (n, s), their states (n, s, hidden), which are real (n, s)."""

    source: torch.Tensor
    states: torch.Tensor
    real: torch.Tensor

    def rows(self, chosen: torch.Tensor) -> Memory:
        return Memory(self.source[chosen], self.states[chosen], self.real[chosen])


class PointerGenerator(nn.Module):
    """The network; see the module's docstring."""

    def __init__(self, vocabulary: int, settings: PointerSettings) -> None:
        super().__init__()
        size, hidden = settings.embedding, settings.hidden
        self.copying = settings.copying
        self.embedding = nn.Embedding(vocabulary, size, padding_idx=PAD)
        # Two networks: one for both directions needs packed rows, which have no fast kernel on CPUs.
        self.forwards = nn.LSTM(size, hidden // 2, batch_first=True)
        self.backwards = nn.LSTM(size, hidden // 2, batch_first=True)
        self.start = nn.Linear(hidden, 2 * hidden)
        self.decoder = nn.LSTM(size, hidden, batch_first=True)
        self.reading = nn.Linear(hidden, hidden, bias=False)
        self.pointing = nn.Linear(hidden, hidden, bias=False)
        self.output = nn.Linear(2 * hidden, size)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.gate = nn.Linear(2 * hidden + size, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def encode(self, source: torch.Tensor) -> tuple[Memory, State]:
        """Memory, and the decoder's first state."""
        real = source.ne(PAD)
        said = self.dropout(self.embedding(source))
        turned = _turned(real)[..., None]
        ahead = self.forwards(said)[0]
        behind = self.backwards(said.take_along_dim(turned, 1))[0].take_along_dim(turned, 1)
        states = torch.cat([ahead, behind], dim=-1) * real[..., None]
        first, cell = self.start(states.sum(1) / real.sum(1, keepdim=True))[None].chunk(2, dim=-1)
        return Memory(source, states, real), (torch.tanh(first), cell.contiguous())

    def decode(
        self, tokens: torch.Tensor, memory: Memory, state: State
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, State]:
        """Logits of the vocabulary (n, t, v), of generating rather than copying (n, t), where it points
        (n, t, s), and the last state."""
        said = self.dropout(self.embedding(tokens))
        states, state = self.decoder(said, state)
        read = self._attention(self.reading(states), memory)
        points = self._attention(self.pointing(states), memory)
        mixed = torch.cat([self.dropout(states), read @ memory.states], dim=-1)
        logits = self.dropout(torch.tanh(self.output(mixed))) @ self.embedding.weight.T + self.bias
        gate = self.gate(torch.cat([states, points @ memory.states, said], dim=-1)).squeeze(-1)
        return logits, gate, points, state

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """``loss``: mean negative log-likelihood of the pieces of ``labels`` (n, t) that follow BEGIN.

        The probability of a piece is what the vocabulary gives it plus what all its places in the findings
        give it; computed for the right piece alone, it needs no distribution over the vocabulary twice.
        """
        memory, state = self.encode(input_ids)
        logits, gate, points, _ = self.decode(labels[:, :-1], memory, state)
        wanted = labels[:, 1:]
        written = -functional.cross_entropy(  # of rows: three times as fast as of a transposed array
            logits.flatten(0, 1), wanted.flatten(), reduction="none"
        ).view_as(wanted)
        if self.copying:
            there = input_ids[:, None] == wanted[..., None]
            copied = ((there * points).sum(-1) + EPSILON).log()
            written = torch.logaddexp(
                written + functional.logsigmoid(gate), copied + functional.logsigmoid(-gate)
            )
        real = wanted.ne(PAD)
        return {"loss": -(written * real).sum() / real.sum()}

    def log_probabilities(
        self, tokens: torch.Tensor, memory: Memory, state: State
    ) -> tuple[torch.Tensor, State]:
        """Of every piece after the last of ``tokens`` (n, t): shape (n, v); and the next state."""
        logits, gate, points, state = self.decode(tokens, memory, state)
        shares = logits[:, -1].softmax(-1)
        if self.copying:
            generate = torch.sigmoid(gate[:, -1:])
            shares = (generate * shares).scatter_add(-1, memory.source, (1 - generate) * points[:, -1])
        return (shares + EPSILON).log(), state

    @staticmethod
    def _attention(queries: torch.Tensor, memory: Memory) -> torch.Tensor:
        scores: Any = queries @ memory.states.transpose(1, 2)
        least = torch.finfo(scores.dtype).min
        result: torch.Tensor = scores.masked_fill(~memory.real[:, None], least).softmax(-1)
        return result


def _turned(real: torch.Tensor) -> torch.Tensor:
    """Where each piece of a row stands when the row is read backwards, its padding still last: (n, s)."""
    places = torch.arange(real.shape[1], device=real.device)
    return torch.where(real, real.sum(1, keepdim=True) - 1 - places, places)
