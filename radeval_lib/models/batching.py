"""Devices, precision, seeds, and batches of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from radeval_lib.errors import ModelError
from radeval_lib.models.pretrained import load_pretrained

if TYPE_CHECKING:
    import torch


def device_of(device: str) -> torch.device:
    """Return the torch device of a setting; ``auto`` takes the GPU if there is one, else the CPU."""
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise ModelError(f"unknown device {device!r}", "device", "Choose auto, cpu or cuda.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("no GPU that torch can use", "device", "Use device=auto or device=cpu.")
    return torch.device(device)


Precision = Literal["auto", "float32", "bfloat16"]
"""What a model computes in; ``auto`` takes bfloat16 on a GPU and float32 on a CPU."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from ``seed`` on the CPU, where new weights are drawn. Afterwards its random numbers
    continue as if the block had drawn none."""
    import torch

    held = torch.get_rng_state()
    torch.default_generator.manual_seed(int(seed))
    try:
        yield
    finally:
        torch.set_rng_state(held)


IGNORED = -100
"""The label of a piece that does not count in the loss."""

K = TypeVar("K")
R = TypeVar("R")


def tokens_for(device: torch.device) -> int:
    """Return the number of tokens per batch: as many as fit a CPU's caches, or enough to fill a GPU."""
    return 32_768 if device.type == "cuda" else 1_024


def buckets(lengths: Sequence[int], tokens: int, texts: int = 256) -> Iterator[list[int]]:
    """Yield positions of the sequences, shortest first, in batches of at most ``texts`` sequences and
    ``tokens`` tokens with padding. A longer sequence is a batch of its own."""
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
    """Put a module in evaluation mode, without gradients, and yield its device."""
    import torch

    device = next(module.parameters()).device
    was_training = module.training
    module.eval()
    try:
        half = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
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
    """Return the results of ``compute`` for sequences of these lengths, in their order.

    Parameters
    ----------
    compute : function of a batch's positions and the device that returns a result for each position.
    tokens, texts : the most of a batch, see :func:`buckets`; None: as many tokens as suit the device.
    """
    result: dict[int, R] = {}
    with evaluating(module, precision) as device:
        for batch in buckets(lengths, tokens or tokens_for(device), texts):
            result.update(zip(batch, compute(batch, device), strict=True))
    return [result[position] for position in range(len(lengths))]


def of_distinct(items: Sequence[K], compute: Callable[[list[K]], Iterable[R]]) -> list[R]:
    """Return the result of ``compute`` for each item; equal items are computed once."""
    distinct = list(dict.fromkeys(items))
    results = dict(zip(distinct, compute(distinct), strict=True))
    return [results[item] for item in items]


def stack_rows(rows: Iterable[Sequence[int]], padding_value: int = 0) -> torch.Tensor:
    """Return rows of whole numbers as one int64 array, padded on the right."""
    import torch

    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=padding_value)


def pad_rows(tokenizer: Any, rows: Iterable[Sequence[int]]) -> Any:
    """Return texts' token ids as one batch, padded on the right: ``input_ids`` and ``attention_mask``,
    int64."""
    return tokenizer.pad({"input_ids": list(rows)}, padding_side="right", return_tensors="pt")


def labelled_batch(tokenizer: Any, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """Return examples as :func:`pad_rows`, with ``labels``, one per token; padding has :data:`IGNORED`."""
    labels = stack_rows((example["labels"] for example in examples), IGNORED)
    return {**pad_rows(tokenizer, (example["input_ids"] for example in examples)), "labels": labels}


MAX_PIECES = 512
"""The most pieces of a text or sentence, special tokens included; longer ones are cut."""


def fast_tokenizer(factory: Any, model: str | Path) -> Any:
    """Return the model's tokenizer, which must be able to map each piece to its word."""
    tokenizer = load_pretrained(factory, model)
    if not tokenizer.is_fast:
        name = Path(str(model)).name
        raise ModelError(f"{name!r} has no fast tokenizer", remedy="Give a model that has one.")
    if "roberta" in type(tokenizer).__name__.lower():
        tokenizer = load_pretrained(factory, model, add_prefix_space=True)
    return tokenizer


def well_formed(text: str) -> str:
    """Return ``text`` with lone surrogates, which cannot be written as UTF-8, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def longer_than(most: int, tokenizer: Any, sentences: Sequence[str]) -> list[bool]:
    """Return whether each sentence has more than ``most`` pieces, including special tokens."""
    texts = [well_formed(sentence) for sentence in sentences]
    return [len(ids) > most for ids in tokenizer(texts, verbose=False)["input_ids"]] if texts else []


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]]
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Return each sentence's piece ids, and the first and last piece of each word up to the last word that
    has a piece among the first :data:`MAX_PIECES`."""
    result = []
    for row in encodings(tokenizer, sentences):
        of_words: list[tuple[int, int]] = []
        for word in range(1 + max((word for word in row.word_ids if word is not None), default=-1)):
            # A word without pieces is placed at the end of the word before it.
            last = of_words[-1][1] if of_words else 0
            start, end = row.word_to_tokens(word) or (last, last + 1)
            of_words.append((start, end - 1))
        result.append((list(row.ids), of_words))
    return result


def encodings(tokenizer: Any, sentences: Sequence[Sequence[str]]) -> list[Any]:
    """Return the encoding of sentences given as words: each has ``ids``, and ``word_ids``, the word of each
    piece."""
    if not sentences:  # of which a tokenizer would make one
        return []
    words = [[well_formed(word) or " " for word in sentence] for sentence in sentences]
    encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_PIECES)
    return list(encoded.encodings)


def span_rows(
    tokenizer: Any, sentences: Sequence[Sequence[str]], most_words: int
) -> list[dict[str, list[int]]]:
    """Return each sentence's piece ids, ``input_ids``, and all its spans of at most ``most_words`` words, by
    start, then by end.

    Of each span ``starts`` and ``ends`` are the first and last piece, ``words`` is the first word, and
    ``widths`` the number of words less one.
    """
    result = []
    for ids, pieces in encode_words(tokenizer, sentences):
        count = len(pieces)
        spans = [(a, b) for a in range(count) for b in range(a, min(a + most_words, count))]
        row = {
            "input_ids": ids,
            "starts": [pieces[first][0] for first, _ in spans],
            "ends": [pieces[last][1] for _, last in spans],
            "words": [first for first, _ in spans],
            "widths": [last - first for first, last in spans],
        }
        result.append(row)
    return result


def span_batch(
    tokenizer: Any, rows: Sequence[dict[str, Any]], padding: dict[str, int]
) -> dict[str, torch.Tensor]:
    """Return rows as :func:`pad_rows`, with those values by span that ``padding`` names and the rows have,
    each padded with its number."""
    inputs = pad_rows(tokenizer, (row["input_ids"] for row in rows))
    batch = {key: inputs[key] for key in ("input_ids", "attention_mask")}
    for key in (key for key in padding if key in rows[0]):
        batch[key] = stack_rows((row[key] for row in rows), padding[key])
    return batch


# Training without padding on a CPU: several texts share a row, and none attends to another.


# Least width of a packed row, in tokens: room for several sentences, while attention, whose cost grows with
# the square of the width, stays a small part.
_WIDTH = 128
# Packing must leave at most this share of the padded batch's tokens, to be worth the mask and the copies.
_WORTH_IT = 0.9
# Arguments with one row per text, and outputs of that shape, which a packed batch does not have.
_NEEDS_THE_BATCH = (
    *("token_type_ids", "position_ids", "inputs_embeds", "past_key_values"),
    *("encoder_hidden_states", "encoder_attention_mask", "output_attentions", "output_hidden_states"),
)


@contextmanager
def without_padding(module: torch.nn.Module) -> Iterator[None]:
    """Let BERT encoders, and no others, compute without padding while training on a CPU."""
    from transformers import BertModel

    modules: Iterator[Any] = module.modules()
    parts = [each for each in modules if type(each) is BertModel and not each.config.is_decoder]
    plain = [each.forward for each in parts]
    for each in parts:
        each.forward = _forward(each, each.forward)
    try:
        yield
    finally:
        for each, forward in zip(parts, plain, strict=True):
            each.forward = forward


def _forward(encoder: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return an encoder's ``forward`` with sequence packing: several texts share a row, and a block-diagonal
    attention mask keeps each from attending to the others; positions restart with each text."""
    import torch
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    def forward(input_ids: Any, attention_mask: Any, **others: Any) -> Any:
        asked = any(others.get(name) is not None for name in _NEEDS_THE_BATCH)
        training = input_ids.device.type == "cpu" and torch.is_grad_enabled()
        source = pack_sequences(attention_mask) if training and not asked else None
        if source is None:
            return plain(input_ids=input_ids, attention_mask=attention_mask, **others)
        longest = input_ids.shape[1]
        real, text, position = source >= 0, source // longest, source % longest
        together = text.unsqueeze(2) == text.unsqueeze(1)
        weights = encoder.embeddings.word_embeddings.weight
        least = torch.finfo(weights.dtype).min
        mask = torch.zeros(together.shape, dtype=weights.dtype).masked_fill(~together, least)
        states = plain(
            input_ids=input_ids.flatten()[source.clamp(min=0)],
            attention_mask=mask.unsqueeze(1),
            position_ids=position * real,
        ).last_hidden_state
        flat = states.new_zeros(input_ids.numel(), states.shape[-1])
        hidden = flat.index_put((source[real],), states[real]).view(*input_ids.shape, -1)
        pooled = None if encoder.pooler is None else encoder.pooler(hidden)
        return BaseModelOutputWithPooling(last_hidden_state=hidden, pooler_output=pooled)

    return forward


def pack_sequences(attention_mask: torch.Tensor) -> torch.Tensor | None:
    """Return a (rows, width) int64 index into the flattened batch, which is padded on the right, with -1 for
    padding; None if packing saves under 10 %."""
    import torch

    lengths, longest = attention_mask.sum(1).tolist(), attention_mask.shape[1]
    rows = _filled(lengths, max(_WIDTH, *lengths))
    packed = [
        torch.cat([torch.arange(text * longest, text * longest + lengths[text]) for text in row])
        for row in rows
    ]
    source = torch.nn.utils.rnn.pad_sequence(packed, batch_first=True, padding_value=-1)
    return source if source.numel() <= _WORTH_IT * attention_mask.numel() else None


def _filled(lengths: Sequence[int], width: int) -> list[list[int]]:
    """Return texts of each row: the longest first, each into the first row that has room for it."""
    rows: list[list[int]] = []
    room: list[int] = []
    for text in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        row = next((row for row, left in enumerate(room) if left >= lengths[text]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(width)
        rows[row].append(text)
        room[row] -= lengths[text]
    return rows
