"""Texts and words as the pieces of a tokenizer, and spans of words as spans of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.errors import ModelError
from radeval_lib.models.pretrained import pretrained

MAX_PIECES = 512
"""Longer texts and sentences are cut, special tokens counted."""


def fast_tokenizer(factory: Any, model: str | Path) -> Any:
    """Return the model's tokenizer, which must be one that can say which word a piece is from."""
    tokenizer = pretrained(factory, model)
    if not tokenizer.is_fast:
        name = Path(str(model)).name
        raise ModelError(f"{name!r} has no fast tokenizer", remedy="Give a model that has one.")
    if "roberta" in type(tokenizer).__name__.lower():
        tokenizer = pretrained(factory, model, add_prefix_space=True)
    return tokenizer


def well_formed(text: str) -> str:
    """Return ``text`` with lone surrogates, which cannot be written as UTF-8, replaced by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def longer_than(most: int, tokenizer: Any, sentences: Sequence[str]) -> list[bool]:
    """Return whether each sentence has more than ``most`` pieces, special tokens counted."""
    texts = [well_formed(sentence) for sentence in sentences]
    return [len(ids) > most for ids in tokenizer(texts, verbose=False)["input_ids"]] if texts else []


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]]
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """For each sentence, its piece ids, and the first and last piece of each word within the first
    :data:`MAX_PIECES`."""
    if not sentences:  # of which a tokenizer would make one
        return []
    words = [[well_formed(word) or " " for word in sentence] for sentence in sentences]
    encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_PIECES)
    result = []
    for row in encoded.encodings:
        places: dict[int, tuple[int, int]] = {}
        for position, word in enumerate(row.word_ids):
            if word is not None:
                places[word] = (places.get(word, (position, position))[0], position)
        # A word that the tokenizer makes nothing of stands where the word before it ended.
        known: list[tuple[int, int]] = []
        for word in range(max(places, default=-1) + 1):
            last = known[-1][1] if known else 0
            known.append(places.get(word, (last, last)))
        result.append((list(row.ids), known))
    return result


def places_of_spans(
    places: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> dict[str, list[int]]:
    """Return first and last piece of each span, by the places of its words, and its words less one."""
    return {
        "starts": [places[start][0] for start, _ in spans],
        "ends": [places[end - 1][1] for _, end in spans],
        "widths": [end - start - 1 for start, end in spans],
    }


def candidate_spans(words: int, width: int) -> list[tuple[int, int]]:
    """Return every span ``[start, end)`` of at most ``width`` words in a unit of ``words`` words, by start,
    then by end."""
    return [(start, end) for start in range(words) for end in range(start + 1, min(start + width, words) + 1)]
