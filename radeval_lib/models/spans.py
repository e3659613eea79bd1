"""Words and spans of words as an encoder's pieces: what every model over spans begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.models.encoders import well_formed

MAX_PIECES = 512
"""Longer sequences are cut."""


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]]
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Of each sentence the piece ids, and the first and last piece of each word within the model's reach."""
    words = [[well_formed(word) or " " for word in sentence] for sentence in sentences]
    encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_PIECES)
    result = []
    for row in encoded.encodings:
        places: dict[int, tuple[int, int]] = {}
        for position, word in enumerate(row.word_ids):
            if word is not None:
                places[word] = (places.get(word, (position, position))[0], position)
        # A word that the tokenizer makes nothing of stands where the word before it ended.
        known, last = [], 0
        for word in range(max(places, default=-1) + 1):
            known.append(places.get(word, (last, last)))
            last = known[-1][1]
        result.append((list(row.ids), known))
    return result


def candidate_spans(words: int, width: int) -> list[tuple[int, int]]:
    """Every span ``[start, end)`` of at most ``width`` of so many words, by start, then by end."""
    return [(start, end) for start in range(words) for end in range(start + 1, min(start + width, words) + 1)]
