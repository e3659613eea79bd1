"""A pointer-generator (See et al. 2017): the network, its training and its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError, check_at_least, check_share
from radeval_lib.models.batching import in_batches, of_distinct, stacked
from radeval_lib.models.randomness import seeded
from radeval_lib.models.summarizers.base import checked, mean_rouge_l, sentence_case
from radeval_lib.models.summarizers.beam_search import BeamSettings, search
from radeval_lib.models.word_pieces import well_formed

# The ids of the special pieces, and the pieces.
PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
SPECIAL = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
EPSILON = 1e-9  # added to probabilities before their logarithm
State = tuple[Tensor, Tensor]
"""What the decoder remembers: output and cell, each of shape (1, n, hidden)."""


@dataclass(frozen=True)
class PointerSettings:
    """Sizes of the model; a :class:`ModelError` where one is out of its range.

    Attributes
    ----------
    vocabulary : how many word pieces; special tokens and letters are kept even if there are more.
    embedding, hidden : sizes of the embeddings and of the LSTM states; ``hidden`` is even.
    dropout : of embeddings, states and outputs.
    longest_source, longest_target : pieces of findings and impression; what is longer is cut.
    copying : whether pieces may be copied from the findings; else it is a plain encoder-decoder.
    """

    vocabulary: int = 2500
    embedding: int = 96
    hidden: int = 96
    dropout: float = 0.3
    longest_source: int = 400
    longest_target: int = 80
    copying: bool = True

    def __post_init__(self) -> None:
        sizes = {"vocabulary": self.vocabulary, "embedding": self.embedding, "hidden": self.hidden}
        lengths = {"longest_source": self.longest_source, "longest_target": self.longest_target}
        check_at_least(1, "pointer-generator", ModelError, **sizes, **lengths)
        check_share("pointer-generator", ModelError, dropout=self.dropout)
        if self.hidden % 2:
            raise ModelError(f"hidden is {self.hidden}", "pointer-generator", "Give an even number.")


@dataclass
class Memory:
    """What the decoder reads: source pieces (n, s), their states (n, s, hidden), which are real (n, s)."""

    source: Tensor
    states: Tensor
    real: Tensor

    def rows(self, chosen: Tensor) -> Memory:
        return Memory(self.source[chosen], self.states[chosen], self.real[chosen])


class PointerGenerator(nn.Module):
    """The network: two LSTMs that encode the findings, and an LSTM decoder with two attentions, one that
    reads and one that points at pieces to copy.

    Shapes below: n texts, s pieces of findings, t pieces of impression, v pieces in the vocabulary.
    """

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

    def encode(self, source: Tensor) -> tuple[Memory, State]:
        """Return memory, and the decoder's first state, of findings (n, s)."""
        real = source.ne(PAD)
        said = self.dropout(self.embedding(source))
        turned = _turned(real)[..., None]
        ahead = self.forwards(said)[0]
        behind = self.backwards(said.take_along_dim(turned, 1))[0].take_along_dim(turned, 1)
        states = torch.cat([ahead, behind], dim=-1) * real[..., None]
        first, cell = self.start(states.sum(1) / real.sum(1, keepdim=True))[None].chunk(2, dim=-1)
        return Memory(source, states, real), (torch.tanh(first), cell.contiguous())

    def decode(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, Tensor, State]:
        """Return logits of the vocabulary (n, t, v), of generating rather than copying (n, t), where it
        points (n, t, s), and the last state."""
        said = self.dropout(self.embedding(tokens))
        states, state = self.decoder(said, state)
        read = self._attention(self.reading(states), memory)
        points = self._attention(self.pointing(states), memory)
        mixed = torch.cat([self.dropout(states), read @ memory.states], dim=-1)
        logits = self.dropout(torch.tanh(self.output(mixed))) @ self.embedding.weight.T + self.bias
        gate = self.gate(torch.cat([states, points @ memory.states, said], dim=-1)).squeeze(-1)
        return logits, gate, points, state

    def forward(self, input_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return ``loss``: mean negative log-likelihood of the pieces of ``labels`` (n, t) that follow BEGIN.

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

    def log_probabilities(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, State]:
        """Return log-probabilities of the piece after the last of ``tokens`` (n, t), shape (n, v), and the
        next state."""
        logits, gate, points, state = self.decode(tokens, memory, state)
        shares = logits[:, -1].softmax(-1)
        if self.copying:
            generate = torch.sigmoid(gate[:, -1:])
            shares = (generate * shares).scatter_add(-1, memory.source, (1 - generate) * points[:, -1])
        return (shares + EPSILON).log(), state

    @staticmethod
    def _attention(queries: Tensor, memory: Memory) -> Tensor:
        """Return attention weights (n, t, s) of queries (n, t, hidden) over the pieces of findings that are
        real."""
        scores: Tensor = queries @ memory.states.transpose(1, 2)
        return scores.masked_fill(~memory.real[:, None], torch.finfo(scores.dtype).min).softmax(-1)


def _turned(real: Tensor) -> Tensor:
    """Return where each piece of a row stands when the row is read backwards, its padding still last: (n,
    s)."""
    places = torch.arange(real.shape[1], device=real.device)
    return torch.where(real, real.sum(1, keepdim=True) - 1 - places, places)


# Of a batch to summarize with one beam, the most pieces and texts.
_BATCH_TOKENS, _BATCH_TEXTS = 32_768, 128


def learn_pieces(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a lower-casing tokenizer whose pieces are the words that occur twice or more, and every
    letter."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        normal = normalizer.normalize_str(well_formed(text))
        words.update(word for word, _ in splitter.pre_tokenize_str(normal))
    letters = sorted({letter for word in words for letter in word})
    known = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    repeated = sorted((word for word, count in words.items() if count > 1), key=lambda w: (-words[w], w))
    known = list(dict.fromkeys([*known, *repeated]))[: max(vocabulary, len(known))]
    pieces = Tokenizer(
        models.WordPiece({piece: index for index, piece in enumerate(known)}, unk_token=SPECIAL[1])
    )
    pieces.normalizer, pieces.pre_tokenizer = normalizer, splitter
    pieces.decoder = decoders.WordPiece()
    return pieces


class PointerSummarizer:
    """A pointer-generator with its tokenizer: a summarizer, and a task of the trainer."""

    name = "Pointer-generator"

    new_layers = ("",)

    def __init__(self, pairs: Sequence[ReportPair], settings: PointerSettings, *, seed: int = 0) -> None:
        """Learn the word pieces from ``pairs`` and draw the weights from ``seed``.

        Raises a :class:`ModelError` if there is no pair.
        """
        if not pairs:
            raise ModelError("no pairs to learn word pieces from", self.name)
        texts = (reveal(text) for pair in pairs for text in (pair.findings, pair.impression))
        self.pieces, self.settings = learn_pieces(texts, settings.vocabulary), settings
        self.decoding = BeamSettings(longest=settings.longest_target)
        with seeded(seed):
            self.module = PointerGenerator(self.pieces.get_vocab_size(), settings)

    def example(self, record: ReportPair) -> dict[str, Any]:
        target = self._ids(reveal(record.impression), self.settings.longest_target)
        return {"input_ids": self._source(reveal(record.findings)), "labels": [BEGIN, *target, END]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        return {key: stacked(example[key] for example in examples) for key in ("input_ids", "labels")}

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return :func:`mean_rouge_l`, decoded greedily, which is what early stopping can afford."""
        greedy = BeamSettings(1, self.decoding.longest, 1.0, self.decoding.no_repeat)
        return mean_rouge_l(records, self._written([reveal(one.findings) for one in records], greedy))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return self._written(checked(findings, self.name), self.decoding)

    def _ids(self, text: str, longest: int) -> list[int]:
        return list(self.pieces.encode(well_formed(text)).ids[:longest])

    def _source(self, text: str) -> list[int]:
        return self._ids(text, self.settings.longest_source) or [UNKNOWN]

    def _written(self, findings: Sequence[str], decoding: BeamSettings) -> list[str]:
        """Return the impression of each text; equal texts are decoded once."""

        def written(texts: list[str]) -> list[str]:
            sources = [self._source(text) for text in texts]

            def impressions(batch: list[int], device: torch.device) -> Iterator[str]:
                found = self._decoded([sources[index] for index in batch], decoding, device)
                return (sentence_case(self.pieces.decode(ids)) for ids in found)

            tokens = _BATCH_TOKENS // decoding.beams
            return in_batches(self.module, list(map(len, sources)), impressions, tokens, _BATCH_TEXTS)

        return of_distinct(findings, written)

    def _decoded(
        self, sources: list[list[int]], decoding: BeamSettings, device: torch.device
    ) -> list[list[int]]:
        """Return the pieces of the impressions of a batch, given those of the findings."""
        memory, state = self.module.encode(stacked(sources).to(device))

        def step(tokens: Tensor, held: Any) -> tuple[Tensor, Any]:
            kept, state = held
            scores, state = self.module.log_probabilities(tokens[:, None].to(device), kept, state)
            return scores, (kept, state)

        def reorder(held: Any, rows: Tensor) -> Any:
            kept, state = held
            chosen = rows.to(device)
            # As many rows as before are of the same texts, whose memory is the same for every beam.
            same = kept if len(rows) == len(kept.source) else kept.rows(chosen)
            return same, tuple(part[:, chosen] for part in state)

        return search(step, reorder, (memory, state), len(sources), begin=BEGIN, end=END, settings=decoding)
