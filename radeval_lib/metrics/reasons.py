"""The reasons behind the score of a pair, one at a time, and where both texts say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from radeval_lib.rules.report_text.words import Span

Kind = Literal["error", "matched", "unmatched"]

HALF = 0.5
"""An entity that keeps at least this share of its weight is reported as matched by a metric of degrees."""


class Reason(NamedTuple):
    """One thing that moves a score.

    Attributes
    ----------
    kind : ``error``: named by a judge; ``matched``: both texts say it; ``unmatched``: one of them says it.
    category : of errors, one of GREEN's six (:data:`~radeval_lib.categories.CATEGORIES`) if it has one; of
        entities, the type.
    finding, says : what it is about, and what is wrong with it, in our words; empty if only the text has
        words for it.
    quoted : what may be words of the texts: what a language model says, the target of a relation.
    rule : why it counts, and how much it matters.
    significant : of errors, whether clinically so.
    weight : of errors by rules, what it adds to the sum of weighted errors.
    credit : of entities, the share of their weight that they keep, mostly from 0 to 1.
    reference, candidate : characters of either text, end exclusive; None if a text lacks it, or the metric
        does not know where.
    """

    kind: Kind
    category: str
    finding: str = ""
    says: str = ""
    quoted: str = ""
    rule: str = ""
    significant: bool | None = None
    weight: float | None = None
    credit: float | None = None
    reference: Span | None = None
    candidate: Span | None = None


def _mover(seen: str, given: str) -> Callable[[Span | None], Span | None]:
    """From characters of a text to those of the same text whose white space differs."""
    if seen == given:
        return lambda span: span
    # of each character, and of the end, how many that are not white space stand before
    before, at = [0, *accumulate(not sign.isspace() for sign in seen)], places(given)

    def move(span: Span | None) -> Span | None:
        first, end = (0, 0) if span is None else (before[border] for border in span)
        return (at[first], at[end - 1] + 1) if first < end else None

    return move


def moved(reasons: Iterable[Reason], seen: tuple[str, str], given: tuple[str, str]) -> list[Reason]:
    """Return reasons with places in the texts as given. The reasons are in texts that a metric saw, which
    differ only in white space."""
    ours, theirs = (_mover(before, after) for before, after in zip(seen, given, strict=True))
    sides = ((reason, ours(reason.reference), theirs(reason.candidate)) for reason in reasons)
    return [reason._replace(reference=left, candidate=right) for reason, left, right in sides]


def places(text: str) -> list[int]:
    """Return the positions of a text's characters that are not white space."""
    return [at for at, sign in enumerate(text) if not sign.isspace()]


class Finder:
    """Finds words in a text one after another, ignoring white space and capitals."""

    def __init__(self, text: str) -> None:
        self._text, self._places = text, places(text)
        # One character for each: some have a lower case of two.
        self._signs = "".join(low if len(low := text[at].lower()) == 1 else text[at] for at in self._places)
        self._end = 0

    def __call__(self, words: str) -> Span | None:
        """Return where the words are after those found before, else anywhere; None if they do not occur."""
        wanted = "".join(words.split()).lower()
        for begin in (self._end, 0) if wanted else ():
            while (begin := self._signs.find(wanted, begin)) >= 0:
                start, end = self._places[begin], self._places[begin + len(wanted) - 1] + 1
                if not self._within_a_word(start) and not self._within_a_word(end):
                    self._end = begin + len(wanted)
                    return start, end
                begin += 1
        return None

    def _within_a_word(self, border: int) -> bool:
        return self._text[border - 1 : border].isalnum() and self._text[border : border + 1].isalnum()
