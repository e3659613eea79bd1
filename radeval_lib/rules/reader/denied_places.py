"""Places and sides that are set against the one a finding is at: "on the left, not on the right"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from radeval_lib.rules.reader.changes import skip
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.report_text import Token

# Before or behind an aside, which names no other finding: behind it also a time, "at" where no place follows.
_BEFORE = frozenset([",", "and", "but", "with", "("])
_BEHIND = word_set(", . ) but which at today now currently previously since as")
_DENIALS = frozenset(["not", "none", "nothing", "absent", "without"])
_ON = word_set("any one seen present visible identified noted evident in on at within over of to the")


def denied_places(
    words: Sequence[Token], found: Sequence[PhraseMatch[Any]], named: Sequence[bool]
) -> Iterator[PhraseMatch[None]]:
    """The asides of a sentence that deny a finding at a place, from the denial to the end of the place.

    Before an aside a finding and a place of its own are named. That finding may be denied by other words: the
    aside then adds a place to the denial ("no effusion on the left, none on the right").

    Parameters
    ----------
    words : the sentence's n words.
    found : its places and sides.
    named : for each word, whether it is in the name of a finding; length n.
    """
    ends = {one.first: one.end for one in sorted(found, key=lambda one: one.end)}
    for at in range(1, len(words)):
        if (
            words[at].word not in _DENIALS
            or not any(named[:at])
            or not any(end <= at for end in ends.values())
        ):
            continue
        verb = at > 1 and words[at - 1].word in ("is", "are")
        if words[at - 1 - verb].word not in _BEFORE and at not in ends.values():
            continue
        first = end = skip(words, at + 1, _ON)
        while end in ends:
            end = skip(words, ends[end], frozenset(["side"]))
            joined = skip(words, end, frozenset(["or", "and", "/", *_ON]))
            end = joined if joined in ends else end
        if end > first and (end == len(words) or words[end].word in _BEHIND):
            yield PhraseMatch(at, end, None)
