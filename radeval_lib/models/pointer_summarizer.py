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
"""A function of the last token of each row, shape (rows,), and a state; it returns (log-probabilities of the
next tokens, shape (rows, vocabulary); next state)."""

Reorder = Callable[[Any, Tensor], Any]
"""A function of a state and indices of its rows; it returns the state of these rows, as ``tensor[rows]``
does. If there are as many indices as rows, row i still belongs to the same text."""


@dataclass(frozen=True)
class BeamSettings:
    """Settings of beam search.

    Attributes
    ----------
    beams : number of hypotheses that are kept for each text; 1 means greedy decoding.
    longest : maximum number of tokens in a summary.
    length_penalty : exponent of the length by which a hypothesis's log-probability is divided for ranking.
    no_repeat : n-grams of this many tokens may not occur twice in a summary; 0 allows repetition.
    """

    beams: int = 3
    longest: int = 80
    length_penalty: float = 1.0
    no_repeat: int = 4


def search_beams(
    step: Step, reorder: Reorder, state: Any, text_count: int, *, begin: int, end: int, settings: BeamSettings
) -> list[list[int]]:
    """Return the best token sequence for each text by beam search, without ``begin`` and ``end``.

    A text is finished when ``beams`` hypotheses have ended or none can be continued. Its best hypothesis has
    the highest log-probability divided by length**length_penalty. transformers' ``generate`` with
    ``early_stopping=True`` does the same, except for texts that are not finished after ``longest`` tokens:
    ``generate`` ranks their unfinished hypotheses together with those that have ended; this function uses an
    unfinished hypothesis only if none has ended.

    Parameters
    ----------
    step : function that returns (log-probabilities of the next token of each row, next state). It gets tokens
        on the CPU; the log-probabilities may be on any device. The vocabulary has at least two tokens.
    reorder : function that selects rows of a state; it gets row indices on the CPU.
    state : the state before the first step, with one row per text.
    text_count : number of texts, at least 1.
    begin, end : ids of the tokens that begin and end a sequence.
    settings : settings of the search.
    """
    width = settings.beams
    rows = torch.arange(text_count).repeat_interleave(width)
    state = reorder(state, rows)
    # Every text starts with one hypothesis; the others have probability 0 in the first step.
    totals = torch.full((text_count, width), -torch.inf)
    totals[:, 0] = 0.0
    tokens = torch.full((text_count * width, 1), begin)
    finished: list[list[tuple[float, list[int]]]] = [[] for _ in range(text_count)]
    # Unfinished texts. The text at position i of this list has `width` rows, from row i * width.
    active = list(range(text_count))
    for length in range(1, settings.longest + 1):
        scores, state = step(tokens[:, -1], state)
        scores = scores.float().cpu()
        _forbid_repeats(scores, tokens, settings.no_repeat)
        vocabulary = scores.shape[1]
        joint = (totals.view(-1, 1) + scores).view(len(active), width * vocabulary)
        # The code of a candidate is beam * vocabulary + token.
        best, candidates = joint.topk(2 * width, dim=1)
        # Most texts have no candidate that ends, so their beams take the best ones. Other texts need a loop.
        chosen = torch.arange(len(active)).unsqueeze(1) * width + candidates[:, :width] // vocabulary
        values, next_tokens = best[:, :width].clone(), candidates[:, :width] % vocabulary
        needs_loop = ((candidates % vocabulary == end) | (best == -torch.inf)).any(dim=1)
        for i in needs_loop.nonzero()[:, 0].tolist():
            ended, continued = _split_candidates(best[i].tolist(), candidates[i].tolist(), vocabulary, end)
            for value, beam in ended:
                score = value / length**settings.length_penalty
                finished[active[i]].append((score, tokens[i * width + beam, 1:].tolist()))
            chosen[i], values[i], next_tokens[i] = 0, -torch.inf, end
            for rank, (value, beam, token) in enumerate(continued):
                chosen[i, rank], values[i, rank], next_tokens[i, rank] = i * width + beam, value, token
        unfinished = [
            i for i, text in enumerate(active) if len(finished[text]) < width and values[i, 0] > -torch.inf
        ]
        for i in set(range(len(active))).difference(unfinished):
            # The lowest score, so that this hypothesis is the best one only if no other has ended.
            finished[active[i]].append((-torch.inf, tokens[i * width, 1:].tolist()))
        active = [active[i] for i in unfinished]
        if not active:
            break
        totals, rows = values[unfinished], chosen[unfinished].view(-1)
        state = reorder(state, rows)
        tokens = torch.cat([tokens[rows], next_tokens[unfinished].view(-1, 1)], dim=1)
    for i, text in enumerate(active):
        finished[text].append((-torch.inf, tokens[i * width, 1:].tolist()))
    return [max(hypotheses, key=lambda scored: scored[0])[1] for hypotheses in finished]


def _split_candidates(
    values: list[float], candidates: list[int], vocabulary: int, end: int
) -> tuple[list[tuple[float, int]], list[tuple[float, int, int]]]:
    """Split the best continuations of a text's beams into those that end and those that do not.

    As in transformers, continuations that end are ignored in the second half of the ranking. Continuations
    with a log-probability of -infinity are always ignored.

    Parameters
    ----------
    values : log-probabilities of the continuations, two per beam, the highest first.
    candidates : the code of each continuation, beam * ``vocabulary`` + token.
    vocabulary : number of tokens in the vocabulary.
    end : id of the token that ends a sequence.

    Returns
    -------
    ended : (log-probability, beam) of each continuation that ends.
    continued : (log-probability, beam, token) of the best others, at most one per beam.
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
    scores : log-probabilities of the next tokens, shape (rows, vocabulary), to be changed.
    tokens : the tokens of each row so far, shape (rows, 1 + tokens); the first one, BEGIN, is in no n-gram.
    size : number of tokens in an n-gram; with 0, nothing is changed.
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
EPSILON = 1e-9  # added to a probability before its logarithm is taken
State = tuple[Tensor, Tensor]
"""State of the decoder's LSTM for n texts: (output, cell), each of shape (1, n, hidden)."""


@dataclass(frozen=True)
class PointerSettings:
    """Sizes and dropout probability of a pointer-generator network.

    Attributes
    ----------
    vocabulary : maximum number of tokens in the vocabulary; special tokens and characters are always in it.
    embedding : size of the embeddings.
    hidden : size of the LSTM states, an even number.
    dropout : dropout probability of embeddings, states and outputs.
    longest_source, longest_target : maximum numbers of tokens of the findings and the impression; longer ones
        are truncated.
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
    states : the encoder's hidden state at each token, shape (n, s, hidden); 0 in padding.
    mask : True for findings tokens, False for padding, shape (n, s).
    """

    source: Tensor
    states: Tensor
    mask: Tensor

    def select(self, indices: Tensor) -> Memory:
        """Return the memory of the reports with the given ``indices``, in this order."""
        return Memory(self.source[indices], self.states[indices], self.mask[indices])


class PointerGenerator(nn.Module):
    """A network that encodes findings with two LSTMs, one per direction, and decodes an impression with a
    third.

    The decoder attends to the findings twice: once to read them, and once to point at tokens to copy. In the
    shapes of its methods, n is the number of reports, s and t are the maximum numbers of findings and
    impression tokens, and v is the size of the vocabulary.

    Parameters
    ----------
    vocabulary : size of the vocabulary.
    settings : sizes and dropout probability of the network.
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
        """Return (memory of the findings, initial state of the decoder).

        ``source``: token ids of the findings, shape (n, s).
        """
        mask = source.ne(PAD)
        embedded = self.dropout(self.embedding(source))
        # The position of each token if the row is read backwards, with its padding still at the end.
        positions = torch.arange(source.shape[1], device=source.device)
        reverse = torch.where(mask, mask.sum(1, keepdim=True) - 1 - positions, positions)[..., None]
        left_to_right = self.forwards(embedded)[0]
        right_to_left = self.backwards(embedded.take_along_dim(reverse, 1))[0].take_along_dim(reverse, 1)
        states = torch.cat([left_to_right, right_to_left], dim=-1) * mask[..., None]
        output, cell = self.start(states.sum(1) / mask.sum(1, keepdim=True))[None].chunk(2, dim=-1)
        return Memory(source, states, mask), (torch.tanh(output), cell.contiguous())

    def decode(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, Tensor, State]:
        """Return the decoder's outputs after each of the impression ``tokens``, shape (n, t).

        Returns
        -------
        logits : logits of the next token if it is generated from the vocabulary, shape (n, t, v).
        gate : logit of generating rather than copying the next token, shape (n, t).
        copy_probs : probability that each findings token is the token to copy, shape (n, t, s).
        state : the decoder's state after the last token.
        """
        embedded = self.dropout(self.embedding(tokens))
        states, state = self.decoder(embedded, state)
        read_probs = self._attend(self.reading(states), memory)
        copy_probs = self._attend(self.pointing(states), memory)
        mixed = torch.cat([self.dropout(states), read_probs @ memory.states], dim=-1)
        logits = self.dropout(torch.tanh(self.output(mixed))) @ self.embedding.weight.T + self.bias
        gate = self.gate(torch.cat([states, copy_probs @ memory.states, embedded], dim=-1)).squeeze(-1)
        return logits, gate, copy_probs, state

    def forward(self, input_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return a dictionary with ``loss``, the mean negative log-likelihood (nats) of the impressions'
        tokens, a scalar.

        A token's probability is the sum of the probabilities of generating it and of copying it from each of
        its positions in the findings. It is computed for the target tokens only, without the distribution
        over the whole vocabulary that :meth:`compute_log_probs` returns.

        Parameters
        ----------
        input_ids : token ids of the findings, shape (n, s).
        labels : token ids of the impressions, from BEGIN, which is not predicted, to END; shape (n, t).
        """
        memory, state = self.encode(input_ids)
        logits, gate, copy_probs, _ = self.decode(labels[:, :-1], memory, state)
        targets = labels[:, 1:]
        log_generated = -functional.cross_entropy(  # flat rows are three times as fast as a transposed array
            logits.flatten(0, 1), targets.flatten(), reduction="none"
        ).view_as(targets)
        is_target = input_ids[:, None] == targets[..., None]
        log_copied = ((is_target * copy_probs).sum(-1) + EPSILON).log()
        log_probs = torch.logaddexp(
            log_generated + functional.logsigmoid(gate), log_copied + functional.logsigmoid(-gate)
        )
        mask = targets.ne(PAD)
        return {"loss": -(log_probs * mask).sum() / mask.sum()}

    def compute_log_probs(self, tokens: Tensor, memory: Memory, state: State) -> tuple[Tensor, State]:
        """Return (log-probabilities of the token after ``tokens``, shape (n, v); next state of the decoder).

        ``tokens``: ids of the tokens that follow ``state``, shape (n, t).
        """
        logits, gate, copy_probs, state = self.decode(tokens, memory, state)
        generate_prob = torch.sigmoid(gate[:, -1:])
        generated = generate_prob * logits[:, -1].softmax(-1)
        probabilities = generated.scatter_add(-1, memory.source, (1 - generate_prob) * copy_probs[:, -1])
        return (probabilities + EPSILON).log(), state

    @staticmethod
    def _attend(queries: Tensor, memory: Memory) -> Tensor:
        """Return the attention weights of each query on the findings tokens, shape (n, t, s).

        They sum to 1 for each query and are 0 in padding. ``queries`` has shape (n, t, hidden).
        """
        scores: Tensor = queries @ memory.states.transpose(1, 2)
        return scores.masked_fill(~memory.mask[:, None], torch.finfo(scores.dtype).min).softmax(-1)


# The maximum numbers of tokens and texts in a batch that is summarized with one beam.
_BATCH_TOKENS, _BATCH_TEXTS = 32_768, 128


def learn_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a WordPiece tokenizer, learned from ``texts``, that converts all text to lower case.

    Its vocabulary has the special tokens, every character (at the beginning of a word and within it) and, up
    to ``vocabulary`` tokens in all, the words that occur at least twice, the most frequent first.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        normalized = normalizer.normalize_str(fix_unicode(text))
        words.update(word for word, _ in splitter.pre_tokenize_str(normalized))
    characters = sorted({character for word in words for character in word})
    required = [*SPECIAL, *characters, *(f"##{character}" for character in characters)]
    repeated = sorted((word for word, count in words.items() if count > 1), key=lambda w: (-words[w], w))
    kept_tokens = list(dict.fromkeys([*required, *repeated]))[: max(vocabulary, len(required))]
    tokenizer = Tokenizer(
        models.WordPiece({token: index for index, token in enumerate(kept_tokens)}, unk_token=SPECIAL[1])
    )
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


class PointerSummarizer:
    """A summarizer that applies a pointer-generator network.

    It can be trained with :func:`~radeval_lib.models.training.train`.

    Parameters
    ----------
    pairs : reports from whose findings and impressions the vocabulary is learned.
    settings : settings of the network.
    seed : seed of the network's initial weights.
    """

    name = "Pointer-generator"

    new_layers = ("",)

    def __init__(self, pairs: Sequence[ReportPair], settings: PointerSettings, *, seed: int = 0) -> None:
        texts = (reveal(text) for pair in pairs for text in (pair.findings, pair.impression))
        self.tokenizer, self.settings = learn_tokenizer(texts, settings.vocabulary), settings
        self.decoding = BeamSettings(longest=settings.longest_target)
        with seed_torch(seed):
            self.module = PointerGenerator(self.tokenizer.get_vocab_size(), settings)

    def make_example(self, record: ReportPair) -> dict[str, Any]:
        """Return a training example, a dictionary with two lists: ``input_ids``, the token ids of the
        findings, and ``labels``, the token ids of the impression between BEGIN and END."""
        target = self._tokenize(reveal(record.impression), self.settings.longest_target)
        return {"input_ids": self._encode_findings(reveal(record.findings)), "labels": [BEGIN, *target, END]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return examples as a batch, padded on the right with PAD: ``input_ids`` and ``labels``, int64
        tensors of shape (examples, tokens of the longest example)."""
        return {key: stack_rows(example[key] for example in examples) for key in ("input_ids", "labels")}

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return a dictionary with ``rouge_l``, the mean ROUGE-L F1 (0 to 1) of the summaries.

        The records' impressions are the references. Summaries are decoded greedily, which is fast. The mean
        is 0 if there are no records.
        """
        greedy = BeamSettings(1, self.decoding.longest, 1.0, self.decoding.no_repeat)
        findings = [reveal(record.findings) for record in records]
        return measure_rouge_l(records, self._summarize(findings, greedy))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression for each findings section, in order, decoded by beam search."""
        return self._summarize(findings, self.decoding)

    def _tokenize(self, text: str, longest: int) -> list[int]:
        """Return the first ``longest`` token ids of a text."""
        return list(self.tokenizer.encode(fix_unicode(text)).ids[:longest])

    def _encode_findings(self, text: str) -> list[int]:
        """Return the first ``longest_source`` token ids of findings, or ``[UNKNOWN]`` if there are none."""
        return self._tokenize(text, self.settings.longest_source) or [UNKNOWN]

    def _summarize(self, findings: Sequence[str], decoding: BeamSettings) -> list[str]:
        """Return the impression for each findings section, decoded with the settings ``decoding``; equal
        sections are decoded only once."""

        def summarize_distinct(texts: list[str]) -> list[str]:
            sources = [self._encode_findings(text) for text in texts]

            def decode_batch(batch: list[int], device: torch.device) -> Iterator[str]:
                decoded = self._decode([sources[index] for index in batch], decoding, device)
                return (restore_case(self.tokenizer.decode(ids)) for ids in decoded)

            limit = _BATCH_TOKENS // decoding.beams
            return run_in_batches(self.module, list(map(len, sources)), decode_batch, limit, _BATCH_TEXTS)

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
            scores, state = self.module.compute_log_probs(tokens[:, None].to(device), memory, state)
            return scores, (memory, state)

        def reorder(memory_and_state: Any, rows: Tensor) -> Any:
            memory, state = memory_and_state
            indices = rows.to(device)
            # As many rows as before belong to the same texts, and the rows of a text have the same memory.
            same_texts = len(rows) == len(memory.source)
            return memory if same_texts else memory.select(indices), tuple(part[:, indices] for part in state)

        return search_beams(
            step, reorder, (memory, state), len(sources), begin=BEGIN, end=END, settings=decoding
        )
