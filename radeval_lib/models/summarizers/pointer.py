"""A pointer-generator (See et al. 2017): a recurrent encoder and decoder that choose at every step between a
word of the vocabulary and a word of the findings.

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
_LITTLE = 1e-9


@dataclass(frozen=True)
class PointerSettings:
    """Sizes of the model.

    Attributes
    ----------
    vocabulary : the most word pieces, learned from the training texts.
    embedding, hidden : numbers a piece and a state.
    dropout : share of them dropped in training.
    longest_source, longest_target : pieces; longer texts are cut.
    copying : whether it may point into the findings; without it, it is a plain encoder-decoder.
    """

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
    """The network; see the module's docstring.

    Parameters
    ----------
    vocabulary : number of word pieces, the special ones included.
    settings : sizes.
    """

    def __init__(self, vocabulary: int, settings: PointerSettings) -> None:
        super().__init__()
        size, hidden = settings.embedding, settings.hidden
        self.copying = settings.copying
        self.embedding = nn.Embedding(vocabulary, size, padding_idx=PAD)
        self.encoder = nn.GRU(size, hidden // 2, batch_first=True, bidirectional=True)
        self.start = nn.Linear(hidden, hidden)
        self.decoder = nn.GRU(size, hidden, batch_first=True)
        self.reading = nn.Linear(hidden, hidden, bias=False)
        self.pointing = nn.Linear(hidden, hidden, bias=False)
        self.output = nn.Linear(2 * hidden, size)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.gate = nn.Linear(2 * hidden + size, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def encode(self, source: torch.Tensor) -> tuple[Memory, torch.Tensor]:
        """Memory, and the decoder's first state of shape (1, n, hidden)."""
        real = source.ne(PAD)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.embedding(source)), real.sum(1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(
            self.encoder(packed)[0], batch_first=True, total_length=source.shape[1]
        )
        mean = states.sum(1) / real.sum(1, keepdim=True)
        return Memory(source, states, real), torch.tanh(self.start(mean))[None]

    def decode(
        self, tokens: torch.Tensor, memory: Memory, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
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
            copied = ((there * points).sum(-1) + _LITTLE).log()
            written = torch.logaddexp(
                written + functional.logsigmoid(gate), copied + functional.logsigmoid(-gate)
            )
        real = wanted.ne(PAD)
        return {"loss": -(written * real).sum() / real.sum()}

    def log_probabilities(
        self, tokens: torch.Tensor, memory: Memory, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Of every piece after the last of ``tokens`` (n, t): shape (n, v); and the next state."""
        logits, gate, points, state = self.decode(tokens, memory, state)
        shares = logits[:, -1].softmax(-1)
        if self.copying:
            generate = torch.sigmoid(gate[:, -1:])
            shares = (generate * shares).scatter_add(-1, memory.source, (1 - generate) * points[:, -1])
        return (shares + _LITTLE).log(), state

    @staticmethod
    def _attention(queries: torch.Tensor, memory: Memory) -> torch.Tensor:
        scores: Any = queries @ memory.states.transpose(1, 2)
        least = torch.finfo(scores.dtype).min
        result: torch.Tensor = scores.masked_fill(~memory.real[:, None], least).softmax(-1)
        return result
