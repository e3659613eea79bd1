"""Choose devices, seed torch, tokenize texts, and run models on batches of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from radeval_lib.errors import ModelError
from radeval_lib.models.pretrained import load_pretrained

if TYPE_CHECKING:
    import torch


def pick_device(device: str) -> torch.device:
    """Return the torch device for ``auto`` (the GPU if there is one, else the CPU), ``cpu`` or ``cuda``.

    Raises :class:`~radeval_lib.errors.ModelError` if ``device`` has another value, or if it is ``cuda`` and
    torch finds no GPU.
    """
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise ModelError(f"unknown device {device!r}", "device", "Choose auto, cpu or cuda.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("torch finds no GPU for device=cuda", "device", "Use device=auto or device=cpu.")
    return torch.device(device)


Precision = Literal["auto", "float32", "bfloat16"]
"""Number format of a model's computation; ``auto`` is bfloat16 on a GPU and float32 on a CPU."""


@contextmanager
def seed_torch(seed: int) -> Iterator[None]:
    """Seed torch's CPU generator, which draws new weights, for a ``with`` block.

    After the block, the generator's previous state is restored.
    """
    import torch

    state_before = torch.get_rng_state()
    torch.default_generator.manual_seed(int(seed))
    try:
        yield
    finally:
        torch.set_rng_state(state_before)


IGNORED = -100
"""The label of a token that is ignored in the loss."""

K = TypeVar("K")
R = TypeVar("R")


def pick_batch_tokens(device: torch.device) -> int:
    """Return the maximum number of tokens in a batch: 32,768 on a GPU, and 1,024 on a CPU, whose caches are
    small."""
    return 32_768 if device.type == "cuda" else 1_024


def group_by_length(lengths: Sequence[int], max_tokens: int, max_rows: int = 256) -> Iterator[list[int]]:
    """Yield batches of sequences of similar length, the shortest first.

    A batch is a list of positions in ``lengths``.

    Parameters
    ----------
    lengths : the number of tokens of each sequence.
    max_tokens : maximum number of tokens in a batch, padding included. A longer sequence forms its own batch.
    max_rows : maximum number of sequences in a batch.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batch and (len(batch) >= max_rows or (len(batch) + 1) * lengths[position] > max_tokens):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


@contextmanager
def use_eval_mode(module: torch.nn.Module, precision: Precision = "auto") -> Iterator[torch.device]:
    """Put a module into evaluation mode and turn off gradients for a ``with`` block; yield its device.

    After the block, the module's previous mode is restored. ``precision``: number format of computation in
    the block.
    """
    import torch

    device = next(module.parameters()).device
    was_training = module.training
    module.eval()
    try:
        use_bfloat16 = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16):
            yield device
    finally:
        module.train(was_training)


def run_in_batches(
    module: torch.nn.Module,
    lengths: Sequence[int],
    compute: Callable[[list[int], torch.device], Iterable[R]],
    max_tokens: int | None = None,
    max_rows: int = 256,
    precision: Precision = "auto",
) -> list[R]:
    """Return the result of ``compute`` for each sequence, in the order of ``lengths``.

    Parameters
    ----------
    module : the model that ``compute`` applies, which is in evaluation mode during the call.
    lengths : the number of tokens of each sequence.
    compute : function of a batch (a list of positions in ``lengths``) and the module's device that returns
        one result per position.
    max_tokens : maximum number of tokens in a batch, padding included; None takes the device's limit from
        :func:`pick_batch_tokens`.
    max_rows : maximum number of sequences in a batch.
    precision : number format of the module's computation.
    """
    results: dict[int, R] = {}
    with use_eval_mode(module, precision) as device:
        for batch in group_by_length(lengths, max_tokens or pick_batch_tokens(device), max_rows):
            results.update(zip(batch, compute(batch, device), strict=True))
    return [results[position] for position in range(len(lengths))]


def map_distinct(items: Sequence[K], compute: Callable[[list[K]], Iterable[R]]) -> list[R]:
    """Return a result for each item, in order, but compute it only once for equal items.

    ``compute``: function that is called once, with the list of distinct items in the order of their first
    occurrence, and returns one result for each.
    """
    distinct = list(dict.fromkeys(items))
    results = dict(zip(distinct, compute(distinct), strict=True))
    return [results[item] for item in items]


def stack_rows(rows: Iterable[Sequence[int]], padding_value: int = 0) -> torch.Tensor:
    """Return rows of integers as an int64 tensor, shape (rows, length of the longest row).

    Rows are padded on the right with ``padding_value``.
    """
    import torch

    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=padding_value)


def pad_rows(tokenizer: Any, rows: Iterable[Sequence[int]]) -> Any:
    """Return rows of token ids as a batch, padded on the right: ``input_ids`` and ``attention_mask``, int64
    tensors of shape (rows, length of the longest row)."""
    return tokenizer.pad({"input_ids": list(rows)}, padding_side="right", return_tensors="pt")


def pad_labelled(tokenizer: Any, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """Return examples with lists of labels as a batch, padded on the right.

    Each example has ``input_ids`` and ``labels``, lists of integers. The batch has ``input_ids`` and
    ``attention_mask``, shape (examples, length of the longest input), and ``labels``, shape (examples, length
    of the longest label list), all int64 tensors; padding has the label :data:`IGNORED`.
    """
    labels = stack_rows((example["labels"] for example in examples), IGNORED)
    return {**pad_rows(tokenizer, (example["input_ids"] for example in examples)), "labels": labels}


MAX_PIECES = 512
"""Maximum number of tokens of a text or sentence, special tokens included; longer ones are truncated."""


def load_fast_tokenizer(factory: Any, model: str | Path) -> Any:
    """Load the fast tokenizer of a model from a folder or the Hugging Face Hub.

    Only fast tokenizers map each token to its word. A RoBERTa tokenizer is set to read the first word like
    the others, with a space before it. ``factory``: a class of transformers, such as ``AutoTokenizer``.
    ``model``: folder or Hub name of the model. Raises :class:`~radeval_lib.errors.ModelError` if the model
    has no fast tokenizer, or cannot be loaded.
    """
    tokenizer = load_pretrained(factory, model)
    if not tokenizer.is_fast:
        where = f"model {Path(model).name}"
        raise ModelError("the model has no fast tokenizer", where, "Use a model with a fast tokenizer.")
    if "roberta" in type(tokenizer).__name__.lower():
        tokenizer = load_pretrained(factory, model, add_prefix_space=True)
    return tokenizer


def fix_unicode(text: str) -> str:
    """Return ``text`` with lone surrogates, which cannot be written as UTF-8, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def are_too_long(limit: int, tokenizer: Any, sentences: Sequence[str]) -> list[bool]:
    """Return for each sentence whether it has more than ``limit`` tokens, special tokens included."""
    texts = [fix_unicode(sentence) for sentence in sentences]
    return [len(ids) > limit for ids in tokenizer(texts, verbose=False)["input_ids"]] if texts else []


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]]
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Return for each sentence, given as words, (its token ids, the (first, last) token of each word).

    Tokens are counted from 0, special tokens included. A word without tokens gets the last token of the
    previous word, or token 0 if it is the first word. Sentences are truncated to :data:`MAX_PIECES` tokens;
    words after the last word with one of these tokens are left out.
    """
    encoded = []
    for encoding in tokenize_words(tokenizer, sentences):
        word_tokens: list[tuple[int, int]] = []
        for word in range(1 + max((word for word in encoding.word_ids if word is not None), default=-1)):
            # A word without tokens gets the last token of the previous word.
            last = word_tokens[-1][1] if word_tokens else 0
            start, end = encoding.word_to_tokens(word) or (last, last + 1)
            word_tokens.append((start, end - 1))
        encoded.append((list(encoding.ids), word_tokens))
    return encoded


def tokenize_words(tokenizer: Any, sentences: Sequence[Sequence[str]]) -> list[Any]:
    """Return the tokenizer's encoding of each sentence, given as words, truncated to :data:`MAX_PIECES`
    tokens.

    An encoding has ``ids``, the token ids, and ``word_ids``, the index of each token's word, or None for
    special tokens.
    """
    if not sentences:  # a tokenizer would read an empty list as one empty sentence
        return []
    words = [[fix_unicode(word) or " " for word in sentence] for sentence in sentences]
    encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_PIECES)
    return list(encoded.encodings)


def list_spans(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_words: int
) -> list[dict[str, list[int]]]:
    """Return for each sentence, given as words, its token ids and all spans of up to ``max_words`` words.

    Each row has ``input_ids``, the token ids, and four lists with one entry per span, sorted by first word,
    then by length: ``first_pieces`` and ``last_pieces``, the positions in ``input_ids`` of the span's first
    and last token; ``first_words``, the index of its first word; and ``word_counts``, its number of words.
    """
    rows = []
    for ids, word_tokens in encode_words(tokenizer, sentences):
        count = len(word_tokens)
        spans = [(a, b) for a in range(count) for b in range(a, min(a + max_words, count))]
        row = {
            "input_ids": ids,
            "first_pieces": [word_tokens[first][0] for first, _ in spans],
            "last_pieces": [word_tokens[last][1] for _, last in spans],
            "first_words": [first for first, _ in spans],
            "word_counts": [last - first + 1 for first, last in spans],
        }
        rows.append(row)
    return rows


def pad_spans(
    tokenizer: Any, rows: Sequence[dict[str, Any]], padding: dict[str, int]
) -> dict[str, torch.Tensor]:
    """Return rows of :func:`list_spans` as a batch of int64 tensors, padded on the right.

    The batch has ``input_ids`` and ``attention_mask``, shape (rows, maximum number of tokens), and those keys
    of ``padding`` that the first row has, shape (rows, maximum number of spans). ``padding`` maps each
    key to its padding value.
    """
    inputs = pad_rows(tokenizer, (row["input_ids"] for row in rows))
    batch = {key: inputs[key] for key in ("input_ids", "attention_mask")}
    for key in (key for key in padding if key in rows[0]):
        batch[key] = stack_rows((row[key] for row in rows), padding[key])
    return batch


# Training without padding on a CPU: several texts share a row, and none attends to another.


# Minimum width of a packed row, in tokens. It has room for several sentences; a wider row would cost more,
# since the cost of attention grows with the square of the width.
_MIN_WIDTH = 128
# Maximum number of tokens in a packed batch, as a share of those in the padded batch. Above it, the mask and
# the copies would cost more than packing saves.
_MAX_TOKEN_SHARE = 0.9
# Arguments that need one row per text, which a packed batch does not have.
_UNPACKABLE_ARGUMENTS = (
    *("token_type_ids", "position_ids", "inputs_embeds", "past_key_values"),
    *("encoder_hidden_states", "encoder_attention_mask", "output_attentions", "output_hidden_states"),
)


@contextmanager
def avoid_padding(module: torch.nn.Module) -> Iterator[None]:
    """Train a module's BERT encoders on packed instead of padded batches, for a ``with`` block.

    Packing saves time on a CPU. Computation on a GPU or without gradients is unaffected, as are decoders and
    encoders other than BERT. A packed encoder returns the same result as for the padded batch, except that
    the hidden states of padding are 0 and that dropout draws other random numbers.
    """
    from transformers import BertModel

    modules: Iterator[Any] = module.modules()
    encoders = [part for part in modules if type(part) is BertModel and not part.config.is_decoder]
    padded_forwards = [encoder.forward for encoder in encoders]
    for encoder in encoders:
        encoder.forward = _make_packed_forward(encoder, encoder.forward)
    try:
        yield
    finally:
        for encoder, forward in zip(encoders, padded_forwards, strict=True):
            encoder.forward = forward


def _make_packed_forward(encoder: Any, padded_forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement for the ``forward`` of a BERT encoder that packs several texts into a row.

    A block-diagonal attention mask keeps each text from attending to the others, and positions restart with
    each text. The result is that of ``padded_forward``, the encoder's original method, except for dropout and
    for the hidden states of padding, which are 0. ``padded_forward`` itself is called on the padded batch if
    packing is impossible or saves too little (:func:`pack_sequences`).
    """
    import torch
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    def forward(input_ids: Any, attention_mask: Any, **options: Any) -> Any:
        needs_padding = any(options.get(name) is not None for name in _UNPACKABLE_ARGUMENTS)
        trains_on_cpu = input_ids.device.type == "cpu" and torch.is_grad_enabled()
        source = pack_sequences(attention_mask) if trains_on_cpu and not needs_padding else None
        if source is None:
            return padded_forward(input_ids=input_ids, attention_mask=attention_mask, **options)
        longest = input_ids.shape[1]
        mask, text, position = source >= 0, source // longest, source % longest
        same_text = text.unsqueeze(2) == text.unsqueeze(1)
        dtype = encoder.embeddings.word_embeddings.weight.dtype
        bias = torch.zeros(same_text.shape, dtype=dtype).masked_fill(~same_text, torch.finfo(dtype).min)
        states = padded_forward(
            input_ids=input_ids.flatten()[source.clamp(min=0)],
            attention_mask=bias.unsqueeze(1),
            position_ids=position * mask,
        ).last_hidden_state
        flat = states.new_zeros(input_ids.numel(), states.shape[-1])
        hidden = flat.index_put((source[mask],), states[mask]).view(*input_ids.shape, -1)
        pooled = None if encoder.pooler is None else encoder.pooler(hidden)
        return BaseModelOutputWithPooling(last_hidden_state=hidden, pooler_output=pooled)

    return forward


def pack_sequences(attention_mask: torch.Tensor) -> torch.Tensor | None:
    """Return for each token of a packed batch its position in the flattened padded batch.

    The positions are an int64 tensor of shape (rows, tokens per row) with -1 in padding. None is returned if
    packing saves less than 10% of the tokens, padding included. ``attention_mask``: the mask of the padded
    batch, shape (texts, tokens of the longest text), padded on the right.
    """
    import torch

    lengths, longest = attention_mask.sum(1).tolist(), attention_mask.shape[1]
    rows = _assign_rows(lengths, max(_MIN_WIDTH, *lengths))
    packed = [
        torch.cat([torch.arange(text * longest, text * longest + lengths[text]) for text in row])
        for row in rows
    ]
    source = torch.nn.utils.rnn.pad_sequence(packed, batch_first=True, padding_value=-1)
    return source if source.numel() <= _MAX_TOKEN_SHARE * attention_mask.numel() else None


def _assign_rows(lengths: Sequence[int], width: int) -> list[list[int]]:
    """Return the indices of the texts in each row of ``width`` tokens, packed by first-fit decreasing.

    From the longest to the shortest, each text is put into the first row that has room for it. ``lengths``:
    the number of tokens of each text, at most ``width``.
    """
    rows: list[list[int]] = []
    free_tokens: list[int] = []
    for text in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        row = next((row for row, free in enumerate(free_tokens) if free >= lengths[text]), len(rows))
        if row == len(rows):
            rows.append([])
            free_tokens.append(width)
        rows[row].append(text)
        free_tokens[row] -= lengths[text]
    return rows
