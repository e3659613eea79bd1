"""A pointer-generator (See et al. 2017): beam search, the network, its training and its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models.batching import in_batches, of_distinct, seeded, stack_rows, well_formed
from radeval_lib.models.extractive_summarizers import mean_rouge_l, sentence_case

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""(last tokens of shape (rows,), state) -> (log-probabilities of shape (rows, vocabulary), state)."""

Reorder = Callable[[Any, Tensor], Any]
"""(state, rows) -> the state of those rows, as after ``tensor[rows]``. As many rows as before are of the same
texts in the same order."""


@dataclass(frozen=True)
class BeamSettings:
    """How a summary is decoded.

    Attributes
    ----------
    beams : hypotheses kept for each text; 1 decodes greedily.
    longest : tokens of a summary, at most.
    length_penalty : exponent of the length by which a hypothesis' log-probability is divided.
    no_repeat : length of the n-grams of tokens that may not occur twice; 0 allows all.
    """

    beams: int = 3
    longest: int = 80
    length_penalty: float = 1.0
    no_repeat: int = 4


def search(
    step: Step, reorder: Reorder, state: Any, texts: int, *, begin: int, end: int, settings: BeamSettings
) -> list[list[int]]:
    """Return the best token sequence for each text by beam search, without ``begin`` and ``end``.

    A text is done when ``beams`` hypotheses have ended, or none can go on; the best has the highest
    log-probability divided by length**length_penalty. That is what transformers' ``generate`` does with
    ``early_stopping=True``, but for texts that are not done at ``longest`` tokens: there it ranks hypotheses
    that still go on with those that have ended, and here they count only if none has ended.

    Parameters
    ----------
    step : log-probabilities of the next token of each row, and the state after it.
    reorder : selects rows of a state.
    state : of ``texts`` rows, before the first step.
    texts : how many there are, one or more.
    begin, end : the tokens before and after a sequence.
    settings : how they are decoded; the vocabulary has at least two tokens.

    Tokens and rows are handed to ``step`` and ``reorder`` on the CPU; log-probabilities may be anywhere.
    """
    width = settings.beams
    rows = torch.arange(texts).repeat_interleave(width)
    state = reorder(state, rows)
    # Every text starts with one live hypothesis; the others get no probability until the first step.
    totals = torch.full((texts, width), -torch.inf)
    totals[:, 0] = 0.0
    tokens = torch.full((texts * width, 1), begin)
    finished: list[list[tuple[float, list[int]]]] = [[] for _ in range(texts)]
    active = list(range(texts))  # texts without their summary; each has `width` rows
    for length in range(1, settings.longest + 1):
        scores, state = step(tokens[:, -1], state)
        scores = scores.float().cpu()
        _bar_repeats(scores, tokens, settings.no_repeat)
        vocabulary = scores.shape[1]
        joint = (totals.view(-1, 1) + scores).view(len(active), width * vocabulary)
        best, cells = joint.topk(2 * width, dim=1)
        # Most texts end nowhere yet and take their best candidates; the others are gone through one by one.
        chosen = torch.arange(len(active)).unsqueeze(1) * width + cells[:, :width] // vocabulary
        values, picked = best[:, :width].clone(), cells[:, :width] % vocabulary
        special = ((cells % vocabulary == end) | (best == -torch.inf)).any(dim=1).nonzero()[:, 0].tolist()
        for at in special:
            ended, live = _parted(best[at].tolist(), cells[at].tolist(), vocabulary, end)
            for value, beam in ended:
                ranked = value / length**settings.length_penalty
                finished[active[at]].append((ranked, tokens[at * width + beam, 1:].tolist()))
            chosen[at], values[at], picked[at] = 0, -torch.inf, end
            for rank, (value, beam, token) in enumerate(live):
                chosen[at, rank], values[at, rank], picked[at, rank] = at * width + beam, value, token
        # As transformers' early stopping: a text is done if enough of its beams are finished or none can go
        # on.
        going = [
            at for at, text in enumerate(active) if len(finished[text]) < width and values[at, 0] > -torch.inf
        ]
        for at in set(range(len(active))).difference(going):
            finished[active[at]].append((-torch.inf, tokens[at * width, 1:].tolist()))  # if none has ended
        active = [active[at] for at in going]
        if not active:
            break
        totals, rows = values[going], chosen[going].view(-1)
        state = reorder(state, rows)
        tokens = torch.cat([tokens[rows], picked[going].view(-1, 1)], dim=1)
    for at, text in enumerate(active):
        finished[text].append((-torch.inf, tokens[at * width, 1:].tolist()))
    return [max(done, key=lambda ranked: ranked[0])[1] for done in finished]


def _parted(
    values: list[float], cells: list[int], vocabulary: int, end: int
) -> tuple[list[tuple[float, int]], list[tuple[float, int, int]]]:
    """Part a text's best candidates, two for each beam and the best first.

    Returns those that end, as (log-probability, beam), and those with which its beams go on, as
    (log-probability, beam, token). As in transformers, an end that no beam would take is not an end.
    """
    width = len(values) // 2
    ended, live = [], []
    for rank, (value, cell) in enumerate(zip(values, cells, strict=True)):
        beam, token = divmod(cell, vocabulary)
        if value == -torch.inf:
            break
        if token != end:
            live.append((value, beam, token))
        elif rank < width:
            ended.append((value, beam))
    return ended, live[:width]


def _bar_repeats(scores: Tensor, tokens: Tensor, size: int) -> None:
    """Give no probability to a token that would repeat an earlier group of ``size`` tokens."""
    if size < 1 or tokens.shape[1] <= size:
        return
    groups = tokens[:, 1:].unfold(1, size, 1)
    last = tokens[:, tokens.shape[1] - size + 1 :]
    rows, starts = (groups[..., :-1] == last[:, None]).all(dim=-1).nonzero(as_tuple=True)
    scores[rows, groups[rows, starts, -1]] = -float("inf")


# The ids of the special pieces, and the pieces.
PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
SPECIAL = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
EPSILON = 1e-9  # added to probabilities before their logarithm
State = tuple[Tensor, Tensor]
"""What the decoder remembers: output and cell, each of shape (1, n, hidden)."""


@dataclass(frozen=True)
class PointerSettings:
    """Sizes of the model.

    Attributes
    ----------
    vocabulary : how many word pieces; special tokens and letters are kept even if there are more.
    embedding, hidden : sizes of the embeddings and of the LSTM states; ``hidden`` is even.
    dropout : of embeddings, states and outputs.
    longest_source, longest_target : pieces of findings and impression; what is longer is cut.
    """

    vocabulary: int = 2500
    embedding: int = 96
    hidden: int = 96
    dropout: float = 0.3
    longest_source: int = 400
    longest_target: int = 80


@dataclass
class Memory:
    """The decoder's input: source pieces (n, s), their states (n, s, hidden), and which are real (n, s)."""

    source: Tensor
    states: Tensor
    real: Tensor

    def rows(self, chosen: Tensor) -> Memory:
        return Memory(self.source[chosen], self.states[chosen], self.real[chosen])


class PointerGenerator(nn.Module):
    """The network: two LSTMs encode the findings, and an LSTM decodes with two attentions, one to read and
    one to point at pieces to copy.

    Shapes below: n texts, s pieces of findings, t pieces of impression, v pieces in the vocabulary.
    """

    def __init__(self, vocabulary: int, settings: PointerSettings) -> None:
        super().__init__()
        size, hidden = settings.embedding, settings.hidden
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
        """Return the memory, and the decoder's first state, for findings (n, s)."""
        real = source.ne(PAD)
        embedded = self.dropout(self.embedding(source))
        # The position of each piece when the row is read backwards, its padding still last.
        places = torch.arange(source.shape[1], device=source.device)
        turned = torch.where(real, real.sum(1, keepdim=True) - 1 - places, places)[..., None]
        ahead = self.forwards(embedded)[0]
        behind = self.backwards(embedded.take_along_dim(turned, 1))[0].take_along_dim(turned, 1)
        states = torch.cat([ahead, behind], dim=-1) * real[..., None]
        first, cell = self.start(states.sum(1) / real.sum(1, keepdim=True))[None].chunk(2, dim=-1)
        return Memory(source, states, real), (torch.tanh(first), cell.contiguous())

    def decode(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, Tensor, State]:
        """Return logits of the vocabulary (n, t, v), of generating rather than copying (n, t), where it
        points (n, t, s), and the last state."""
        embedded = self.dropout(self.embedding(tokens))
        states, state = self.decoder(embedded, state)
        read = self._attention(self.reading(states), memory)
        points = self._attention(self.pointing(states), memory)
        mixed = torch.cat([self.dropout(states), read @ memory.states], dim=-1)
        logits = self.dropout(torch.tanh(self.output(mixed))) @ self.embedding.weight.T + self.bias
        gate = self.gate(torch.cat([states, points @ memory.states, embedded], dim=-1)).squeeze(-1)
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
        generate = torch.sigmoid(gate[:, -1:])
        shares = (generate * shares).scatter_add(-1, memory.source, (1 - generate) * points[:, -1])
        return (shares + EPSILON).log(), state

    @staticmethod
    def _attention(queries: Tensor, memory: Memory) -> Tensor:
        """Return attention weights (n, t, s) of queries (n, t, hidden) over the pieces of findings that are
        real."""
        scores: Tensor = queries @ memory.states.transpose(1, 2)
        return scores.masked_fill(~memory.real[:, None], torch.finfo(scores.dtype).min).softmax(-1)


# Of a batch to summarize with one beam, the most pieces and texts.
_BATCH_TOKENS, _BATCH_TEXTS = 32_768, 128


def learn_pieces(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a lower-casing tokenizer with every letter and the words that occur at least twice."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        normal = normalizer.normalize_str(well_formed(text))
        words.update(word for word, _ in splitter.pre_tokenize_str(normal))
    letters = sorted({letter for word in words for letter in word})
    always = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    repeated = sorted((word for word, count in words.items() if count > 1), key=lambda w: (-words[w], w))
    kept = list(dict.fromkeys([*always, *repeated]))[: max(vocabulary, len(always))]
    pieces = Tokenizer(
        models.WordPiece({piece: index for index, piece in enumerate(kept)}, unk_token=SPECIAL[1])
    )
    pieces.normalizer, pieces.pre_tokenizer = normalizer, splitter
    pieces.decoder = decoders.WordPiece()
    return pieces


class PointerSummarizer:
    """A pointer-generator with its tokenizer: a summarizer, and a task of the trainer."""

    name = "Pointer-generator"

    new_layers = ("",)

    def __init__(self, pairs: Sequence[ReportPair], settings: PointerSettings, *, seed: int = 0) -> None:
        """Learn the word pieces from ``pairs`` and draw the weights from ``seed``."""
        texts = (reveal(text) for pair in pairs for text in (pair.findings, pair.impression))
        self.pieces, self.settings = learn_pieces(texts, settings.vocabulary), settings
        self.decoding = BeamSettings(longest=settings.longest_target)
        with seeded(seed):
            self.module = PointerGenerator(self.pieces.get_vocab_size(), settings)

    def example(self, record: ReportPair) -> dict[str, Any]:
        target = self._ids(reveal(record.impression), self.settings.longest_target)
        return {"input_ids": self._source(reveal(record.findings)), "labels": [BEGIN, *target, END]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        return {key: stack_rows(example[key] for example in examples) for key in ("input_ids", "labels")}

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return :func:`mean_rouge_l` with greedy decoding, which is fast enough for early stopping."""
        greedy = BeamSettings(1, self.decoding.longest, 1.0, self.decoding.no_repeat)
        return mean_rouge_l(records, self._written([reveal(record.findings) for record in records], greedy))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return self._written(findings, self.decoding)

    def _ids(self, text: str, longest: int) -> list[int]:
        return list(self.pieces.encode(well_formed(text)).ids[:longest])

    def _source(self, text: str) -> list[int]:
        return self._ids(text, self.settings.longest_source) or [UNKNOWN]

    def _written(self, findings: Sequence[str], decoding: BeamSettings) -> list[str]:
        """Return the impression of each text; equal texts are decoded once."""

        def written(texts: list[str]) -> list[str]:
            sources = [self._source(text) for text in texts]

            def impressions(batch: list[int], device: torch.device) -> Iterator[str]:
                decoded = self._decoded([sources[index] for index in batch], decoding, device)
                return (sentence_case(self.pieces.decode(ids)) for ids in decoded)

            tokens = _BATCH_TOKENS // decoding.beams
            return in_batches(self.module, list(map(len, sources)), impressions, tokens, _BATCH_TEXTS)

        return of_distinct(findings, written)

    def _decoded(
        self, sources: list[list[int]], decoding: BeamSettings, device: torch.device
    ) -> list[list[int]]:
        """Return the pieces of the impressions of a batch, given those of the findings."""
        memory, state = self.module.encode(stack_rows(sources).to(device))

        def step(tokens: Tensor, both: Any) -> tuple[Tensor, Any]:
            kept, state = both
            scores, state = self.module.log_probabilities(tokens[:, None].to(device), kept, state)
            return scores, (kept, state)

        def reorder(both: Any, rows: Tensor) -> Any:
            kept, state = both
            chosen = rows.to(device)
            # As many rows as before are of the same texts, whose memory is the same for every beam.
            same = kept if len(rows) == len(kept.source) else kept.rows(chosen)
            return same, tuple(part[:, chosen] for part in state)

        return search(step, reorder, (memory, state), len(sources), begin=BEGIN, end=END, settings=decoding)
