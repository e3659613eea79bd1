"""What a statement says of how something was before: "previously 8 mm", "from 6 mm to 11 mm"."""

from __future__ import annotations

from collections.abc import Sequence

from radeval_lib.rules.reader.changes import SEEN
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.report_text import Token

_THEN = frozenset(
    ["previously", "formerly", "originally", "initially", "earlier", "before", "prior", "previous"]
)
NOW = frozenset(["now", "currently", "today"])
"""Words by which a statement comes back from how something was to how it is."""
_SHOWED = frozenset(["showed", "demonstrated", "revealed"])
_OLD_STUDY = frozenset(["prior", "previous"])
_ENDS_OF_WAS = frozenset(["and", "but", ",", ";", "now"])
_ENDS_OF_THEN = word_set(", ) ; now currently today but and is are has have")


def of_before(words: Sequence[Token], sizes: Sequence[PhraseMatch[tuple[float, ...]]]) -> list[bool]:
    """By word, whether it says how something was: "previously 8 mm", "(prior 3 cm)", "from 6 mm to 11 mm"."""
    marked = [False] * len(words)
    starts = {size.first: size.end for size in sizes}
    for at, token in enumerate(words):
        end = at
        if token.word in _THEN or (
            token.word == "compared" and at + 1 < len(words) and words[at + 1].word in ("to", "with")
        ):
            end = _end_of_then(words, at)
        elif (
            token.word in _SHOWED
            and words[at - 1].word not in _OLD_STUDY
            and {word.word for word in words[max(0, at - 3) : at]} & _OLD_STUDY
        ):
            end = next((to for to in range(at, len(words)) if words[to].word in _ENDS_OF_WAS), len(words))
        elif token.word in ("was", "were", "from") and len(sizes) > 1 and at + 1 in starts:
            end = starts[at + 1]
        elif token.word in ("was", "were") and any(word.word in NOW for word in words[at:]):
            end = next((to for to in range(at, len(words)) if words[to].word in _ENDS_OF_WAS), at)
        if token.word in ("prior", "previous", "before", "earlier", "previously") and end <= at + 1:
            # "8 mm on the prior study", within brackets or behind a comma
            begin = _start_of_then(words, at)
            start = next((size.first for size in sizes if begin <= size.first < at), at)
            if start < at and (begin or len(sizes) > 1):
                marked[start : at + 1] = [True] * (at + 1 - start)
        for place in range(at, end):
            marked[place] = True
    return marked


def _end_of_then(words: Sequence[Token], at: int) -> int:
    """The end of what a word of before refers to, or the word itself where that is still so."""
    if words[at].word in ("before", "prior", "previous"):
        following = words[at + 1].word if at + 1 < len(words) else ""
        if not following[:1].isdigit() and following != ".":
            return at
    end = at + 1
    while end < len(words) and words[end].word not in _ENDS_OF_THEN:
        if words[end].word in SEEN:
            return at
        end += 1
    return end


def _start_of_then(words: Sequence[Token], at: int) -> int:
    """The beginning of the bracket or item that a word of before stands in."""
    start = at
    while start and words[start - 1].word not in (",", "(", ";", "from", "to", "vs", "versus"):
        start -= 1
    return start
