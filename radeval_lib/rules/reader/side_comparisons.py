"""Both sides of a finding compared: "larger on the right", "left > right"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radeval_lib.rules.reader.changes import comparative, skip
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.report_text import Token

_SIDES = frozenset(["left", "right"])
_TO_SIDES = (["to", "left"], ["to", "right"])
_TOWARD = frozenset(["on", "at", "in", "the", "to", "toward", "than"])
_SHIFTS = frozenset(["shift", "shifted", "deviation", "deviated", "displaced", "displacement", "shifting"])
_BEING = word_set("is being side one slightly much somewhat mildly appearing appear a bit")


def side_comparisons(words: Sequence[Token]) -> Iterator[PhraseMatch[str]]:
    """Both sides compared: "larger on the right", "left > right", "right more than left", "the right being
    larger"; of a shift from one side to the other it is the other."""
    at, shift = 0, any(word.word in _SHIFTS for word in words)
    while at < len(words):
        end, side = 0, "bilateral"
        if words[at].word not in _SIDES:
            end = _larger_on(words, at)
        elif shift and [one.word for one in words[at + 1 : at + 3]] in _TO_SIDES:
            end, side = at + 3, words[at + 2].word
        else:
            end = _larger_side(words, at) or _side_by_side(words, at)
        if end:
            yield PhraseMatch(at, end, side)
        at = end or at + 1


def _larger_on(words: Sequence[Token], at: int) -> int:
    """The end of "larger on the right" or "> left than right", or 0; "a larger right effusion" compares no
    sides."""
    said = comparative(words, at)
    end = skip(words, said, _TOWARD) if said else 0
    if end == said and words[at].word not in ("<", ">"):
        return 0
    if not 0 < end < len(words) or words[end].word not in _SIDES or words[end - 1].word == "to":
        return 0
    tail = skip(words, end + 1, frozenset(["side", "than", "on", "the"]))
    return tail + 1 if tail < len(words) and words[tail].word in _SIDES else end + 1


def _side_by_side(words: Sequence[Token], at: int) -> int:
    """The end of "right more than left" or "left > right", or 0."""
    end = comparative(words, skip(words, at + 1, frozenset(["is", "slightly", "much", "somewhat", "mildly"])))
    end = skip(words, end, frozenset(["than", "on", "the", "to", "side"])) if end else 0
    other = 0 < end < len(words) and words[end].word in _SIDES and words[end].word != words[at].word
    return end + 1 if other else 0


def _larger_side(words: Sequence[Token], at: int) -> int:
    """The end of "the right is larger" or "left side being greater", or 0."""
    end = skip(words, at + 1, _BEING)
    if end == at + 1 or not (end := comparative(words, end)):
        return 0
    return end if end >= len(words) or words[end].word in (",", ".", ")", "and", "one") else 0
