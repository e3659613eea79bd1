"""Summarize findings with a pointer-generator network (See et al. 2017), and decode by beam search."""

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
from radeval_lib.models.batching import fix_unicode, map_distinct, run_in_batches, seed_torch, stack_rows
from radeval_lib.models.extractive_summarizers import measure_rouge_l, restore_case

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""Function of the last token of each row, shape (rows,), and a state; returns (the log-probabilities of the
next tokens, shape (rows, vocabulary); the next state)."""

Reorder = Callable[[Any, Tensor], Any]
"""Function of a state and indices of its rows; returns the state of these rows, as ``tensor[rows]`` does. If
there are as many indices as rows, they keep the texts of the rows and their order."""


@dataclass(frozen=True)
class BeamSettings:
    """Settings of beam search.

    Attributes
    ----------
    beams : number of hypotheses that are kept for each text; 1 decodes greedily.
    longest : the most tokens of a summary.
    length_penalty : a hypothesis is ranked by its log-probability divided by its length to this power.
    no_repeat : n-grams of this many tokens may not occur twice in a summary; 0 allows all.
    """

    beams: int = 3
    longest: int = 80
    length_penalty: float = 1.0
    no_repeat: int = 4


def search_beams(
    step: Step, reorder: Reorder, state: Any, texts: int, *, begin: int, end: int, settings: BeamSettings
) -> list[list[int]]:
    """Return the best token sequence for each text by beam search, without ``begin`` and ``end``.

    A text is finished when ``beams`` hypotheses have ended or none can be continued. Its best hypothesis has
    the highest log-probability divided by length**length_penalty. transformers' ``generate`` with
    ``early_stopping=True`` does the same, with one difference for texts that are not finished after
    ``longest`` tokens: ``generate`` ranks unfinished hypotheses together with those that have ended; this
    function uses an unfinished one only if none has ended.

    Parameters
    ----------
    step : function that returns (log-probabilities of the next token of each row, next state). It gets tokens
        on the CPU; the log-probabilities may be on any device. The vocabulary has at least two tokens.
    reorder : function that selects rows of a state; it gets row indices on the CPU.
    state : the state before the first step, with one row per text.
    texts : number of texts, at least 1.
    begin, end : ids of the tokens before and after a sequence.
    settings : settings of the search.
    """
    width = settings.beams
    rows = torch.arange(texts).repeat_interleave(width)
    state = reorder(state, rows)
    # Every text starts with one hypothesis; the others get no probability until the first step.
    totals = torch.full((texts, width), -torch.inf)
    totals[:, 0] = 0.0
    tokens = torch.full((texts * width, 1), begin)
    finished: list[list[tuple[float, list[int]]]] = [[] for _ in range(texts)]
    # Unfinished texts. The text at position `at` of this list has `width` rows, from row at * width.
    active = list(range(texts))
    for length in range(1, settings.longest + 1):
        scores, state = step(tokens[:, -1], state)
        scores = scores.float().cpu()
        _forbid_repeats(scores, tokens, settings.no_repeat)
        vocabulary = scores.shape[1]
        joint = (totals.view(-1, 1) + scores).view(len(active), width * vocabulary)
        # A candidate is numbered beam * vocabulary + token.
        best, candidates = joint.topk(2 * width, dim=1)
        # Most texts have no candidate that ends; their beams take the best ones. Other texts need a loop.
        chosen = torch.arange(len(active)).unsqueeze(1) * width + candidates[:, :width] // vocabulary
        values, next_tokens = best[:, :width].clone(), candidates[:, :width] % vocabulary
        needs_loop = ((candidates % vocabulary == end) | (best == -torch.inf)).any(dim=1)
        for at in needs_loop.nonzero()[:, 0].tolist():
            ended, continued = _split_candidates(best[at].tolist(), candidates[at].tolist(), vocabulary, end)
            for value, beam in ended:
                score = value / length**settings.length_penalty
                finished[active[at]].append((score, tokens[at * width + beam, 1:].tolist()))
            chosen[at], values[at], next_tokens[at] = 0, -torch.inf, end
            for rank, (value, beam, token) in enumerate(continued):
                chosen[at, rank], values[at, rank], next_tokens[at, rank] = at * width + beam, value, token
        unfinished = [
            at for at, text in enumerate(active) if len(finished[text]) < width and values[at, 0] > -torch.inf
        ]
        for at in set(range(len(active))).difference(unfinished):
            # The lowest score, so that this hypothesis is the best one only if no other has ended.
            finished[active[at]].append((-torch.inf, tokens[at * width, 1:].tolist()))
        active = [active[at] for at in unfinished]
        if not active:
            break
        totals, rows = values[unfinished], chosen[unfinished].view(-1)
        state = reorder(state, rows)
        tokens = torch.cat([tokens[rows], next_tokens[unfinished].view(-1, 1)], dim=1)
    for at, text in enumerate(active):
        finished[text].append((-torch.inf, tokens[at * width, 1:].tolist()))
    return [max(hypotheses, key=lambda scored: scored[0])[1] for hypotheses in finished]


def _split_candidates(
    values: list[float], candidates: list[int], vocabulary: int, end: int
) -> tuple[list[tuple[float, int]], list[tuple[float, int, int]]]:
    """Split the best continuations of a text's beams into those that end and those that do not.

    As in transformers, an end in the second half of the ranking is ignored; so are continuations with a
    log-probability of -infinity.

    Parameters
    ----------
    values : log-probabilities of the continuations, two per beam, the highest first.
    candidates : the number of each continuation: beam * ``vocabulary`` + token.
    vocabulary : number of tokens of the vocabulary.
    end : id of the token that ends a sequence.

    Returns
    -------
    ended : (log-probability, beam) of the continuations that end.
    continued : (log-probability, beam, token) of the best others, at most as many as there are beams.
    """
    width = len(values) // 2
    ended, continued = [], []
    for rank, (value, candidate) in enumerate(zip(values, candidates, strict=True)):
        beam, token = divmod(candidate, vocabulary)
        if value == -torch.inf:
            break
        if token != end:
            continued.append((value, beam, token))
        elif rank < width:
            ended.append((value, beam))
    return ended, continued[:width]


def _forbid_repeats(scores: Tensor, tokens: Tensor, size: int) -> None:
    """Set the log-probability of each token that would repeat an n-gram to -infinity, in place.

    Parameters
    ----------
    scores : log-probabilities of the next tokens, shape (rows, vocabulary); they are changed.
    tokens : the tokens of each row so far, shape (rows, 1 + tokens); the first one, BEGIN, is in no n-gram.
    size : number of tokens of an n-gram; with 0, nothing is changed.
    """
    if size < 1 or tokens.shape[1] <= size:
        return
    ngrams = tokens[:, 1:].unfold(1, size, 1)
    last = tokens[:, tokens.shape[1] - size + 1 :]
    rows, starts = (ngrams[..., :-1] == last[:, None]).all(dim=-1).nonzero(as_tuple=True)
    scores[rows, ngrams[rows, starts, -1]] = -float("inf")


# The special tokens and their ids.
PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
SPECIAL = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
EPSILON = 1e-9  # added to probabilities before their logarithm
State = tuple[Tensor, Tensor]
"""State of the decoder's LSTM for n texts: (output, cell), each of shape (1, n, hidden)."""


@dataclass(frozen=True)
class PointerSettings:
    """Sizes of a pointer-generator.

    Attributes
    ----------
    vocabulary : the most tokens of the vocabulary, unless special tokens and characters alone are more.
    embedding : size of the embeddings.
    hidden : size of the LSTM states, an even number.
    dropout : probability of dropout of embeddings, states and outputs.
    longest_source, longest_target : the most tokens of findings and of an impression; longer ones are cut.
    """

    vocabulary: int = 2500
    embedding: int = 96
    hidden: int = 96
    dropout: float = 0.3
    longest_source: int = 400
    longest_target: int = 80


@dataclass
class Memory:
    """The encoded findings of n reports of up to s tokens, which the decoder reads.

    Attributes
    ----------
    source : token ids, shape (n, s).
    states : the encoder's states of the tokens, shape (n, s, hidden); zero in padding.
    real : whether each token is a token of the findings (False: padding), shape (n, s).
    """

    source: Tensor
    states: Tensor
    real: Tensor

    def select(self, chosen: Tensor) -> Memory:
        """Return the memory of the reports with the indices ``chosen``, in this order."""
        return Memory(self.source[chosen], self.states[chosen], self.real[chosen])


class PointerGenerator(nn.Module):
    """A network that encodes findings with two LSTMs, one per direction, and decodes an impression with a
    third.

    The decoder has two attentions over the findings: one to read them, and one to point at tokens to copy.
    In the shapes below, n is the number of reports, s and t are the most tokens of findings and impression,
    and v is the size of the vocabulary.
    """

    def __init__(self, vocabulary: int, settings: PointerSettings) -> None:
        super().__init__()
        size, hidden = settings.embedding, settings.hidden
        self.embedding = nn.Embedding(vocabulary, size, padding_idx=PAD)
        # Two LSTMs, since a bidirectional one would need packed rows, which are slow on CPUs.
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
        """Return (memory of the findings, first state of the decoder), given token ids of findings (n, s)."""
        real = source.ne(PAD)
        embedded = self.dropout(self.embedding(source))
        # The position of each token if the row is read backwards, with its padding still at the end.
        positions = torch.arange(source.shape[1], device=source.device)
        reverse = torch.where(real, real.sum(1, keepdim=True) - 1 - positions, positions)[..., None]
        left_to_right = self.forwards(embedded)[0]
        right_to_left = self.backwards(embedded.take_along_dim(reverse, 1))[0].take_along_dim(reverse, 1)
        states = torch.cat([left_to_right, right_to_left], dim=-1) * real[..., None]
        first, cell = self.start(states.sum(1) / real.sum(1, keepdim=True))[None].chunk(2, dim=-1)
        return Memory(source, states, real), (torch.tanh(first), cell.contiguous())

    def decode(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, Tensor, State]:
        """Return the decoder's outputs after each of the tokens (n, t) of impressions.

        Returns
        -------
        logits : of the next token, if it is generated from the vocabulary (n, t, v).
        gate : logits that the next token is generated, and not copied (n, t).
        points : probabilities that each token of the findings is the one to copy (n, t, s).
        state : the state after the last token.
        """
        embedded = self.dropout(self.embedding(tokens))
        states, state = self.decoder(embedded, state)
        read = self._attend(self.reading(states), memory)
        points = self._attend(self.pointing(states), memory)
        mixed = torch.cat([self.dropout(states), read @ memory.states], dim=-1)
        logits = self.dropout(torch.tanh(self.output(mixed))) @ self.embedding.weight.T + self.bias
        gate = self.gate(torch.cat([states, points @ memory.states, embedded], dim=-1)).squeeze(-1)
        return logits, gate, points, state

    def forward(self, input_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return ``loss``: the mean negative log-likelihood (nats) of the tokens of impressions.

        A token's probability is the sum of the probabilities of generating it and of copying it from each of
        its positions in the findings. It is computed for the right tokens only, without the distribution over
        the whole vocabulary that :meth:`log_probabilities` returns.

        Parameters
        ----------
        input_ids : token ids of findings (n, s).
        labels : token ids of impressions (n, t), from BEGIN, which is not predicted, to END.
        """
        memory, state = self.encode(input_ids)
        logits, gate, points, _ = self.decode(labels[:, :-1], memory, state)
        wanted = labels[:, 1:]
        generated = -functional.cross_entropy(  # flat rows are three times as fast as a transposed array
            logits.flatten(0, 1), wanted.flatten(), reduction="none"
        ).view_as(wanted)
        is_wanted = input_ids[:, None] == wanted[..., None]
        copied = ((is_wanted * points).sum(-1) + EPSILON).log()
        either = torch.logaddexp(
            generated + functional.logsigmoid(gate), copied + functional.logsigmoid(-gate)
        )
        real = wanted.ne(PAD)
        return {"loss": -(either * real).sum() / real.sum()}

    def log_probabilities(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, State]:
        """Return (log-probabilities of the token after ``tokens``, shape (n, v); next state of the decoder).

        ``tokens``: tokens since ``state``, shape (n, t).
        """
        logits, gate, points, state = self.decode(tokens, memory, state)
        generate = torch.sigmoid(gate[:, -1:])
        generated = generate * logits[:, -1].softmax(-1)
        probabilities = generated.scatter_add(-1, memory.source, (1 - generate) * points[:, -1])
        return (probabilities + EPSILON).log(), state

    @staticmethod
    def _attend(queries: Tensor, memory: Memory) -> Tensor:
        """Return the attention weights of queries (n, t, hidden) on the tokens of the findings, shape (n, t,
        s); they sum to 1 and are 0 in padding."""
        scores: Tensor = queries @ memory.states.transpose(1, 2)
        return scores.masked_fill(~memory.real[:, None], torch.finfo(scores.dtype).min).softmax(-1)


# The most tokens and texts of a batch to summarize with one beam.
_BATCH_TOKENS, _BATCH_TEXTS = 32_768, 128


def learn_pieces(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a WordPiece tokenizer, learned from ``texts``, that writes all words in lower case.

    Its vocabulary has the special tokens, every character (at the beginning of a word and within it) and, up
    to ``vocabulary`` tokens in all, the words that occur at least twice, the most frequent first.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        normal = normalizer.normalize_str(fix_unicode(text))
        words.update(word for word, _ in splitter.pre_tokenize_str(normal))
    letters = sorted({letter for word in words for letter in word})
    required = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    repeated = sorted((word for word, count in words.items() if count > 1), key=lambda w: (-words[w], w))
    kept = list(dict.fromkeys([*required, *repeated]))[: max(vocabulary, len(required))]
    pieces = Tokenizer(
        models.WordPiece({piece: index for index, piece in enumerate(kept)}, unk_token=SPECIAL[1])
    )
    pieces.normalizer, pieces.pre_tokenizer = normalizer, splitter
    pieces.decoder = decoders.WordPiece()
    return pieces


class PointerSummarizer:
    """A summarizer that is a pointer-generator network, which
    :func:`~radeval_lib.models.training.train` can train.
    """

    name = "Pointer-generator"

    new_layers = ("",)

    def __init__(self, pairs: Sequence[ReportPair], settings: PointerSettings, *, seed: int = 0) -> None:
        """Learn the vocabulary from the findings and impressions of ``pairs``; draw the weights from
        ``seed``."""
        texts = (reveal(text) for pair in pairs for text in (pair.findings, pair.impression))
        self.pieces, self.settings = learn_pieces(texts, settings.vocabulary), settings
        self.decoding = BeamSettings(longest=settings.longest_target)
        with seed_torch(seed):
            self.module = PointerGenerator(self.pieces.get_vocab_size(), settings)

    def example(self, record: ReportPair) -> dict[str, Any]:
        """Return a dictionary with ``input_ids``, the token ids of the findings, and ``labels``, the token
        ids of the impression, between BEGIN and END."""
        target = self._tokenize(reveal(record.impression), self.settings.longest_target)
        return {"input_ids": self._get_source(reveal(record.findings)), "labels": [BEGIN, *target, END]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return a batch with ``input_ids`` and ``labels``, int64 of shape (examples, most tokens), padded on
        the right with PAD."""
        return {key: stack_rows(example[key] for example in examples) for key in ("input_ids", "labels")}

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return ``rouge_l``, the mean ROUGE-L F1 (0 to 1) of summaries against the records' impressions.

        Summaries are decoded greedily, which is fast. The mean is 0 if there are no records.
        """
        greedy = BeamSettings(1, self.decoding.longest, 1.0, self.decoding.no_repeat)
        findings = [reveal(record.findings) for record in records]
        return measure_rouge_l(records, self._summarize(findings, greedy))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression for each findings section, in order, decoded by beam search."""
        return self._summarize(findings, self.decoding)

    def _tokenize(self, text: str, longest: int) -> list[int]:
        """Return the first ``longest`` token ids of a text."""
        return list(self.pieces.encode(fix_unicode(text)).ids[:longest])

    def _get_source(self, text: str) -> list[int]:
        """Return the first ``longest_source`` token ids of findings; [UNKNOWN] if they have no tokens."""
        return self._tokenize(text, self.settings.longest_source) or [UNKNOWN]

    def _summarize(self, findings: Sequence[str], decoding: BeamSettings) -> list[str]:
        """Return the impression for each findings section, decoded with the settings ``decoding``; equal
        sections are decoded once."""

        def summarize_distinct(texts: list[str]) -> list[str]:
            sources = [self._get_source(text) for text in texts]

            def decode_batch(batch: list[int], device: torch.device) -> Iterator[str]:
                decoded = self._decode([sources[index] for index in batch], decoding, device)
                return (restore_case(self.pieces.decode(ids)) for ids in decoded)

            tokens = _BATCH_TOKENS // decoding.beams
            return run_in_batches(self.module, list(map(len, sources)), decode_batch, tokens, _BATCH_TEXTS)

        return map_distinct(findings, summarize_distinct)

    def _decode(
        self, sources: list[list[int]], decoding: BeamSettings, device: torch.device
    ) -> list[list[int]]:
        """Return the token ids of the impression for each findings section of a batch.

        ``sources``: token ids of each section, at least one. ``device``: the device of the network.
        """
        memory, state = self.module.encode(stack_rows(sources).to(device))

        def step(tokens: Tensor, memory_and_state: Any) -> tuple[Tensor, Any]:
            memory, state = memory_and_state
            scores, state = self.module.log_probabilities(tokens[:, None].to(device), memory, state)
            return scores, (memory, state)

        def reorder(memory_and_state: Any, rows: Tensor) -> Any:
            memory, state = memory_and_state
            chosen = rows.to(device)
            # As many rows as before belong to the same texts, and all beams of a text share its memory.
            is_same = len(rows) == len(memory.source)
            return memory if is_same else memory.select(chosen), tuple(part[:, chosen] for part in state)

        return search_beams(
            step, reorder, (memory, state), len(sources), begin=BEGIN, end=END, settings=decoding
        )
