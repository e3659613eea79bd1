"""Cautions about the pairs behind scores, in the same words everywhere, with rows.

A caution of a pair comes from its texts (an empty one, another script) or from a metric, which knows what it
cannot read (:meth:`radeval_lib.metrics.base.Metric.cautions`); a caution of a system from all its pairs.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from radeval_lib.rules.reader import Coverage, coverage
from radeval_lib.stats.tokens import share_of_letters

EMPTY_REFERENCE = "the reference is empty"
EMPTY_CANDIDATE = "the candidate is empty"
NOT_LATIN = "a text is mostly in another script than the Latin one"
UNREAD_REFERENCE = "the rules can read nothing of the reference"
UNREAD_CANDIDATE = "the rules can read nothing of the candidate"
LITTLE = "the rules read less than half of what a text says"
IN_PART = "the rules read a text in part: they left a word of degree, side, size, place, negation or change"
OTHERWISE = "a word is read as one of the lexicon that it is a letter off"
NOT_READ = "not read: "
RELIABLE = 0.5
"""Where the rules read a smaller share of the words than this, users are advised not to rely on them."""
SILENT = frozenset([EMPTY_CANDIDATE, UNREAD_CANDIDATE])
"""Of a candidate that says nothing, or nothing that can be judged: a low count of errors is then no merit."""

MOST = 0.05
"""From this share of pairs with a caution on, a system is not called better without it."""
_ALIKE, _FEWEST = 0.9, 10  # one text for so large a share of candidates, where there are so many
_SHOWN = 5  # rows that a caution names
_LATIN = "\u024f"  # the last letter of Latin Extended-B


@dataclass
class Rows:
    """How many rows, and the first of them, numbered from 1."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        """Add a row."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(row)

    def __str__(self) -> str:
        more = ", ..." if self.count > len(self.first) else ""
        rows = "row" if self.count == 1 else "rows"
        return f"{self.count:,} {rows} ({', '.join(map(str, self.first))}{more})"


def of_texts(reference: str, candidate: str) -> Iterator[str]:
    """The cautions of a pair that hold for every metric."""
    if not reference.strip():
        yield EMPTY_REFERENCE
    if not candidate.strip():
        yield EMPTY_CANDIDATE
    if any(share_of_letters(text, beyond=_LATIN) > 0.5 for text in (reference, candidate)):
        yield NOT_LATIN


def of_rules(reference: str, candidate: str) -> Iterator[str]:
    """The cautions of a pair for what reads findings by rules; an empty text has its own."""
    sides = ((reference, UNREAD_REFERENCE), (candidate, UNREAD_CANDIDATE))
    filled = [(coverage(text), unread) for text, unread in sides if text.strip()]
    for found, unread in filled:
        if len(found.unread) == len(found.statements):
            yield unread
        elif found.share is not None and found.share < RELIABLE:
            yield LITTLE
    if any(_left_weight(found) for found, _ in filled):
        yield IN_PART
    for remark in dict.fromkeys(remark for found, _ in filled for remark in found.remarks):
        # The other remarks quote a word, which explanations without texts must not repeat.
        yield remark if remark.startswith(NOT_READ) else OTHERWISE


def _left_weight(found: Coverage) -> bool:
    """Whether a word of degree, side, size, place, negation or change was left."""
    return any(set(one.kinds) - {"word"} for one in found.in_part)


class Cautions:
    """The cautions of pairs as they come, by system and metric.

    ``metrics`` are all that are scored; a caution without a metric counts for each of them.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.metrics = list(metrics)
        self._rows: dict[tuple[str, str, str], Rows] = {}  # by system, metric and caution
        self._pairs: Counter[str] = Counter()
        self._doubtful: Counter[tuple[str, str]] = Counter()  # pairs with any, by system and metric
        self._silent: Counter[tuple[str, str]] = Counter()
        self._texts: dict[str, tuple[array[int], array[int]]] = {}  # hashes of candidates and of pairs

    def add(
        self, system: str, row: int, pair: tuple[str, str], of_metrics: Mapping[str, Iterable[str]]
    ) -> list[str]:
        """Add a pair, with what metrics caution of it; returns its cautions, those of metrics named."""
        common, shown = list(of_texts(*pair)), []
        self._pairs[system] += 1
        hashes = self._texts.setdefault(system, (array("q"), array("q")))
        for kept, text in zip(hashes, (pair[1], pair), strict=True):
            kept.append(hash(text))
        for what in common:
            self._rows.setdefault((system, "", what), Rows()).add(row)
            shown.append(what)
        for metric in self.metrics:
            own = [what for what in of_metrics.get(metric, ()) if what not in common]
            for what in own:
                self._rows.setdefault((system, metric, what), Rows()).add(row)
                shown.append(f"{metric}: {what}")
            self._doubtful[system, metric] += bool(common or own)
            self._silent[system, metric] += bool(SILENT.intersection((*common, *own)))
        return shown

    def lines(self) -> list[str]:
        """The cautions in words, one per line: of whom, what, how many rows and which; a system without a
        name is not named."""
        found = [
            _line(metric, system, f"{what}: {rows}") for (system, metric, what), rows in self._rows.items()
        ]
        for system, hashes in self._texts.items():
            found += [_line("", system, what) for what, _ in _of_system(*hashes)]
        return found

    def of(self, system: str, metric: str) -> str:
        """Why a system is not to be called better by a metric without more words; empty where it may."""
        pairs = self._pairs[system]
        if not pairs:
            return ""
        whole = " and ".join(what for what, count in _of_system(*self._texts[system]) if count > MOST * pairs)
        if self._doubtful[system, metric] <= MOST * pairs:
            return whole
        mine = [
            (rows.count, what)
            for (owner, of_metric, what), rows in self._rows.items()
            if owner == system and of_metric in ("", metric)
        ]
        parts = (f"in {count:,} of its {pairs:,} pairs {what}" for count, what in sorted(mine, reverse=True))
        return " and ".join([*list(parts)[:2], *([whole] if whole else [])])

    def is_silent(self, system: str, metric: str) -> bool:
        """Whether most candidates of a system say nothing that the metric could judge."""
        return self._silent[system, metric] > self._pairs[system] / 2


def _line(metric: str, system: str, what: str) -> str:
    return ": ".join(part for part in (metric, system, what) if part)


def _of_system(candidates: array[int], pairs: array[int]) -> Iterator[tuple[str, int]]:
    """The cautions of all pairs of a system and how many pairs each is about, by the hashes of its candidates
    and of its pairs."""
    import numpy as np  # not above: a browser, where one pair is judged, has no numpy

    most = int(np.unique(np.asarray(candidates), return_counts=True)[1].max())
    if len(candidates) >= _FEWEST and most >= _ALIKE * len(candidates):
        yield f"one text for {most:,} of {len(candidates):,} candidates", most
    _, first = np.unique(np.asarray(pairs), return_index=True)
    again = np.delete(np.arange(1, len(pairs) + 1), first).tolist()
    repeated = Rows(len(again), again[:_SHOWN])
    if repeated.count:
        what = f"pairs that an earlier row has too, so that intervals may be too narrow: {repeated}"
        yield what, repeated.count
