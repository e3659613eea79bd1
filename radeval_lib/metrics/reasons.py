"""What the score of a pair rests on, one reason at a time, and where both texts say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from radeval_lib.findings import Reading, read
from radeval_lib.findings.words import sentences

Kind = Literal["error", "matched", "unmatched"]
Span = tuple[int, int]

HALF = 0.5
"""An entity that keeps at least this share of its weight is told as matched by a metric of degrees."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that moves a score.

    Attributes
    ----------
    kind : ``error``: named by a judge; ``matched``: both texts say it; ``unmatched``: one of them says it.
    category : of errors, one of GREEN's six (:data:`~radeval_lib.data.categories.CATEGORIES`) where it has
        one; of entities, the type.
    finding, says : what it is about, and what is wrong with it, in words of ours; empty where only the text
        has words for it.
    quoted : what may be words of the texts: what a language model says, the target of a relation.
    rule : why it counts, and how much it matters.
    significant : of errors, whether clinically so.
    weight : of errors by rules, what it adds to the sum of weighted errors.
    credit : of entities, the share of their weight that they keep, mostly from 0 to 1.
    reference, candidate : characters of either text, end exclusive; None where a text says nothing of it, or
        the metric does not know where.
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

    @classmethod
    def of(cls, fields: list[Any]) -> Reason:
        """From its fields as JSON has them."""
        return cls(*fields[:-2], *(None if span is None else tuple(span) for span in fields[-2:]))

    def moved(self, reference: _Moved, candidate: _Moved) -> Reason:
        """The same reason with its places in other layouts of the two texts."""
        return replace(self, reference=reference(self.reference), candidate=candidate(self.candidate))


class _Moved:
    """From characters of a text to those of the same text whose white space differs."""

    def __init__(self, seen: str, given: str) -> None:
        self._same = seen == given
        if not self._same:
            self._before = signs_before(seen)
            self._places = places(given)

    def __call__(self, span: Span | None) -> Span | None:
        if span is None or self._same:
            return span
        first, end = (self._before[border] for border in span)
        return (self._places[first], self._places[end - 1] + 1) if first < end else None


def moved(reasons: Iterable[Reason], seen: tuple[str, str], given: tuple[str, str]) -> list[Reason]:
    """Reasons whose places are in the texts as given, of reasons in the texts that a metric saw, which differ
    from those in white space alone."""
    sides = [_Moved(one, other) for one, other in zip(seen, given, strict=True)]
    return [reason.moved(*sides) for reason in reasons]


def places(text: str) -> list[int]:
    """Where the characters of a text are that are not white space."""
    return [place for place, sign in enumerate(text) if not sign.isspace()]


def signs_before(text: str) -> list[int]:
    """How many characters that are not white space stand before each character, and before the end."""
    counts = [0]
    for sign in text:
        counts.append(counts[-1] + (not sign.isspace()))
    return counts


class Finder:
    """Finds words in a text, one after another, whatever white space and capitals they are written with."""

    def __init__(self, text: str) -> None:
        self._text, self._places = text, places(text)
        # One character for each: some have a lower case of two.
        self._signs = "".join(low if len(low := text[at].lower()) == 1 else text[at] for at in self._places)
        self._end = 0

    def __call__(self, words: str) -> Span | None:
        """Where the words are next after those asked for before, else anywhere; None where nowhere."""
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


# --- what the rules could read of a text ---


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of a text, where its sentences are, and which of them the rules read nothing in."""

    sentences: tuple[Span, ...]
    unread: tuple[Span, ...]


@lru_cache(maxsize=8192)
def coverage(text: str) -> Coverage:
    """Which sentences the rules read a finding or a normal structure in; those without a letter are left out.

    What says nothing of a finding, such as a technique, is not read either: a share of 1 is rare, and a low
    one (reports of other regions than the chest) says that the rules do not know the words.
    """
    found: Reading = read(text)
    starts = [*(one.start for one in found.findings), *(one.start for one in found.normals)]
    every, unread = [], []
    for start, sentence in sentences(text):
        if any(sign.isalpha() for sign in sentence):
            end = start + len(sentence.rstrip())
            start += len(sentence) - len(sentence.lstrip())
            every.append((start, end))
            if not any(start <= place < end for place in starts):
                unread.append((start, end))
    return Coverage(tuple(every), tuple(unread))


def share_read(*texts: str) -> float | None:
    """Share of the texts' sentences that the rules could read; None where there is no sentence."""
    found = [coverage(text) for text in texts]
    total = sum(len(one.sentences) for one in found)
    return 1 - sum(len(one.unread) for one in found) / total if total else None


# --- as JSON ---


def told(
    reasons: Iterable[tuple[str, Reason]], reference: str, candidate: str, *, texts: bool = True
) -> dict[str, Any]:
    """What explains a pair, ready for JSON.

    Parameters
    ----------
    reasons : each with the name of its metric.
    texts : whether words of the texts may be told; without them there are places alone.

    Returns
    -------
    dict
        ``coverage``: see :func:`share_read`. ``unread``: by side, where the sentences are that were not read.
        ``reasons``: a dictionary each, ``metric`` and the fields of :class:`Reason`; ``reference`` and
        ``candidate`` are None or a dictionary with ``start``, ``end``, the ``words`` there and, of errors,
        the ``sentence`` that holds them.
    """
    sides = {"reference": reference, "candidate": candidate}
    listed = []
    for metric, reason in reasons:
        row: dict[str, Any] = {"metric": metric, **asdict(reason)}
        for side, text in sides.items():
            if (span := getattr(reason, side)) is not None:
                row[side] = _place(span, text, reason.kind == "error") if texts else _border(span)
        if not texts:
            del row["quoted"]
        listed.append(row)
    share = share_read(reference, candidate)
    return {
        "coverage": None if share is None else round(share, 4),
        "unread": {side: [list(span) for span in coverage(text).unread] for side, text in sides.items()},
        "reasons": listed,
    }


def _border(span: Span) -> dict[str, Any]:
    return dict(zip(("start", "end"), span, strict=True))


def _place(span: Span, text: str, sentence: bool) -> dict[str, Any]:
    place = _border(span) | {"words": text[slice(*span)]}
    if sentence:
        around = next((one for one in coverage(text).sentences if one[0] <= span[0] < one[1]), span)
        place["sentence"] = text[slice(*around)]
    return place
