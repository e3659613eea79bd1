"""Reasons for the score of a pair, and cautions about pairs and systems, with the rows that they are about.

A caution about a pair follows from its texts (an empty text, another script, tags of HTML), from the rules,
or from a metric that knows what its model cannot read (:meth:`radeval_lib.metrics.base.Metric.cautions`). A
caution about a system follows from all its pairs.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from radeval_lib.stats.tokens import share_of_letters

if TYPE_CHECKING:
    from radeval_lib.rules.report_text.words import Span

EMPTY_REFERENCE = "the reference is empty"
EMPTY_CANDIDATE = "the candidate is empty"
NO_TEXT = "a text is not a report but marks a missing value, such as NaN, None or a dash, or is a refusal"
NOT_LATIN = "a text is mostly in another script than the Latin one"
TAGS = "a text holds marks of HTML, Markdown or a chat template, which lexical metrics may count as words"
THINKING = "the candidate holds a model's thinking, marked <think>"
LONG = "the candidate has more than 2,000 words"
REPEATED = "the candidate says a sentence three times or more"
EQUAL = "the candidate equals the reference"
CUT = "the reference ends in mid-sentence"
UNREAD_REFERENCE = "the rules can read nothing of the reference"
UNREAD_CANDIDATE = "the rules can read nothing of the candidate"
LITTLE = "the rules read less than half of what a text says"
IN_PART = "the rules read a text in part: they left a word of degree, side, size, place, negation or change"
CONTRADICTED = "the candidate contradicts itself: it states a finding and denies it altogether"
OTHERWISE = "a word is read as one of the lexicon that it is a letter off"
NOT_READ = "not read: "
#: If the rules read a smaller share of the words than this, users are advised not to rely on them.
RELIABLE = 0.5
#: The cautions about a candidate that states nothing, or nothing that the rules can read. A low number of
#: errors is then no sign of quality.
SILENT = frozenset([EMPTY_CANDIDATE, UNREAD_CANDIDATE])

#: If a larger share of a system's pairs has a caution, a sentence that calls it better names the caution.
MOST = 0.05
# A system of ten candidates or more gets a caution if one text makes up this share of them.
_EQUAL_SHARE, _LEAST_PAIRS = 0.9, 10
_ROWS_SHOWN = 5  # rows that a caution names
_LATIN = "\u024f"  # the last letter of Latin Extended-B
# NaN, "None.", "N/A", "nan nan", or no letter and no digit at all.
_MISSING = re.compile(r"(?:\W|_|\b(?:nan|none|nothing|null|n/?a|n\.a|nat|nil|missing|error)\b)+", re.I)
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m |i am |we are )?(?:very )?sorry\b|i apologi[sz]e|as an ai\b|(?:unfortunately, )?"
    r"i(?: can(?:not|['’]t)|(?:['’]m| am) (?:unable|not able) to) "
    r"(?:an|as|com|create|ful|gen|help|int|pro|write))",
    re.I,
)
# <p>, </report>, <|im_end|>, **bold**, # Heading, ```; but not <NAME> and [**Name**], which de-identify
# texts.
_MARKS = re.compile(
    r"(?!<[A-Z_]{3,}>)</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<\|\w+\|>"
    r"|(?<!\[)\*\*\w[^*\n]*\*\*|^#{1,6} \w|```",
    re.M,
)
_SIGNS = ("<", "**", "#", "```")  # Every match of `_MARKS` has one; searching for these first is faster.
_OPEN_END = re.compile(
    r"(?:,|(?:^|\s)(?:an?|and|are|at|for|from|in|is|no|of|or|the|there|to|was|were|with|without))\Z", re.I
)


Kind = Literal["error", "matched", "unmatched"]


class Reason(NamedTuple):
    """An error, an entity or a finding that raises or lowers the score of a pair.

    Attributes
    ----------
    kind : ``error``: named by a judge; ``matched``: both texts state it; ``unmatched``: only one text does.
    category : for errors, one of GREEN's six (:data:`~radeval_lib.categories.CATEGORIES`) if it has one; for
        entities, the type.
    finding, says : what it is about, and what is wrong with it, in words of this library; empty if only the
        texts have words for it.
    quoted : words that may come from the texts, such as a language model's answer.
    rule : why it counts, and how much.
    significant : whether an error is clinically significant; None for other kinds.
    weight : what an error named by rules adds to the sum of weighted errors; else None.
    credit : the share of its weight that an entity keeps, mostly from 0 to 1; else None.
    reference, candidate : its characters in each text, end exclusive; None if the text lacks it, or the
        metric does not know its position.
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


@dataclass
class Rows:
    """How many rows were added, and the numbers of the first of them, counted from 1."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        """Count a row, and keep its number if few were added before."""
        self.count += 1
        if len(self.first) < _ROWS_SHOWN:
            self.first.append(row)

    def __str__(self) -> str:
        """Return the number of rows and the first row numbers, such as "7 rows (1, 2, 5, 6, 9, ...)"."""
        ellipsis = ", ..." if self.count > len(self.first) else ""
        noun = "row" if self.count == 1 else "rows"
        return f"{self.count:,} {noun} ({', '.join(map(str, self.first))}{ellipsis})"


def find_text_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions about a pair that follow from its texts and so hold for every metric."""
    texts, empty = (reference, candidate), not candidate.strip()
    thinking = "<think" in candidate.lower()
    sentences = Counter(" ".join(part.lower().split()) for part in re.split(r"[.!?]\s|\n", f"{candidate} "))
    applies = {
        EMPTY_REFERENCE: not reference.strip(),
        EMPTY_CANDIDATE: empty,
        EQUAL: not empty and candidate.split() == reference.split(),
        NO_TEXT: any(text.strip() and (_MISSING.fullmatch(text) or _REFUSAL.match(text)) for text in texts),
        NOT_LATIN: any(share_of_letters(text, beyond=_LATIN) > 0.5 for text in texts),
        THINKING: thinking,
        TAGS: not thinking
        and any(_MARKS.search(text) for text in texts if any(sign in text for sign in _SIGNS)),
        LONG: len(candidate) > 2_000 and len(candidate.split()) > 2_000,
        REPEATED: any(count >= 3 and " " in sentence for sentence, count in sentences.items()),
        CUT: _OPEN_END.search(reference.rstrip()[-9:]) is not None,
    }
    yield from (caution for caution, holds in applies.items() if holds)


def find_rule_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions about a pair for metrics that read findings by rules; none about an empty text, for
    which :func:`find_text_cautions` has one."""
    from radeval_lib.rules.reader import coverage, read

    sides = ((reference, UNREAD_REFERENCE), (candidate, UNREAD_CANDIDATE))
    coverages = [(coverage(text), unread) for text, unread in sides if text.strip()]
    for covered, unread in coverages:
        if len(covered.unread) == len(covered.statements):
            yield unread
        elif covered.share is not None and covered.share < RELIABLE:
            yield LITTLE
    if any(set(part.kinds) - {"word"} for covered, _ in coverages for part in covered.in_part):
        yield IN_PART
    for remark in dict.fromkeys(remark for covered, _ in coverages for remark in covered.remarks):
        # Other remarks quote a word of the text, which explanations without texts must not repeat.
        yield remark if remark.startswith(NOT_READ) else OTHERWISE
    findings = read(candidate).findings
    denied_outright = {finding.observation for finding in findings if finding.outright}
    if any(finding.presence == "present" and finding.observation in denied_outright for finding in findings):
        yield CONTRADICTED


class Cautions:
    """Counts the cautions about pairs by system and metric, as the pairs are scored.

    ``metrics`` are the names of all metrics that score; a caution about the texts counts for each of them.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        """Begin with no pairs counted."""
        self.metrics = list(metrics)
        self._rows: dict[tuple[str, str, str], Rows] = {}  # by system, metric and caution
        self._pairs: Counter[str] = Counter()
        self._doubtful: Counter[tuple[str, str]] = Counter()  # by system and metric, pairs with a caution
        self._silent: Counter[tuple[str, str]] = Counter()
        self._texts: dict[str, tuple[array[int], array[int]]] = {}  # hashes of candidates and of pairs
        self._ids = array("q")  # hashes of the rows' ids

    def add_ids(self, names: Iterable[object]) -> None:
        """Remember the ids of the next rows, so that :meth:`lines` can name ids that occur twice."""
        self._ids.extend(hash(str(name)) for name in names)

    def add(
        self, system: str, row: int, pair: tuple[str, str], by_metric: Mapping[str, Iterable[str]]
    ) -> list[str]:
        """Count the cautions about a pair, and return them; those of one metric begin with its name.

        Parameters
        ----------
        system : the system that wrote the candidate; empty if it has no name.
        row : the number of the pair's row, from 1.
        pair : (reference, candidate).
        by_metric : by metric, the cautions that it gives about the pair.
        """
        common, pair_cautions = list(find_text_cautions(*pair)), []
        self._pairs[system] += 1
        system_hashes = self._texts.setdefault(system, (array("q"), array("q")))
        reference, candidate = (" ".join(text.split()) for text in pair)
        for hashes_so_far, text in zip(system_hashes, (candidate, (reference, candidate)), strict=True):
            hashes_so_far.append(hash(text))
        for caution in common:
            self._rows.setdefault((system, "", caution), Rows()).add(row)
            pair_cautions.append(caution)
        for metric in self.metrics:
            own_cautions = dict.fromkeys(by_metric.get(metric, ()))
            further_cautions = [caution for caution in own_cautions if caution not in common]
            for caution in further_cautions:
                self._rows.setdefault((system, metric, caution), Rows()).add(row)
                pair_cautions.append(f"{metric}: {caution}")
            self._doubtful[system, metric] += bool({*common, *further_cautions} - {EQUAL})
            self._silent[system, metric] += bool(SILENT.intersection((*common, *further_cautions)))
        return pair_cautions

    def lines(self) -> list[str]:
        """Return the cautions counted so far as texts: the metrics, the system if it has a name, the caution,
        and its rows.

        A caution about the texts of pairs, which holds for every metric, is returned once, without metrics.
        """
        by_metric: dict[tuple[str, str, str], list[str]] = {}
        for (system, metric, caution), rows in self._rows.items():
            by_metric.setdefault((system, caution, str(rows)), []).append(metric)
        lines = [
            _join_parts(", ".join(metrics), system, f"{caution}: {rows}")
            for (system, caution, rows), metrics in by_metric.items()
        ]
        for system, hashes in self._texts.items():
            lines += [_join_parts("", system, caution) for caution, _ in _find_system_cautions(*hashes)]
        for first, second in combinations(self._texts, 2):
            if self._texts[first][0] == self._texts[second][0]:
                lines.append(f"{first} and {second} have the same candidate in every row")
        if repeated_ids := _find_repeated(self._ids):
            lines.append(f"rows with the id of an earlier row: {repeated_ids}")
        return lines

    def doubt(self, system: str, metric: str) -> str:
        """Return the cautions that a sentence must name if it calls a system better according to a metric, as
        a clause; empty if there are none.

        These are the cautions about the system as a whole that concern more than :data:`MOST` of its pairs
        and, if more than :data:`MOST` of its pairs have a caution other than :data:`EQUAL`, the two most
        frequent of these cautions.
        """
        pairs = self._pairs[system]
        if not pairs:
            return ""
        system_cautions = _find_system_cautions(*self._texts[system])
        whole = " and ".join(caution for caution, count in system_cautions if count > MOST * pairs)
        if self._doubtful[system, metric] <= MOST * pairs:
            return whole
        counted = [
            (rows.count, caution)
            for (of_system, of_metric, caution), rows in self._rows.items()
            if of_system == system and of_metric in ("", metric) and caution != EQUAL
        ]
        commonest = sorted(counted, reverse=True)[:2]
        parts = [f"in {count:,} of its {pairs:,} pairs {caution}" for count, caution in commonest]
        return " and ".join(filter(None, [*parts, whole]))

    def is_silent(self, system: str, metric: str) -> bool:
        """Return whether more than half of a system's candidates have a caution of :data:`SILENT`."""
        return self._silent[system, metric] > self._pairs[system] / 2


def _join_parts(metric: str, system: str, text: str) -> str:
    """Return the parts that are not empty, with ": " between them."""
    return ": ".join(part for part in (metric, system, text) if part)


def _find_repeated(hashes: array[int]) -> Rows | None:
    """Return the rows whose hash equals that of an earlier row; None if there are none."""
    import numpy as np  # Not at the top: the judge in the browser uses this module without numpy.

    _, first_positions = np.unique(np.asarray(hashes), return_index=True)
    repeated_rows = np.delete(np.arange(1, len(hashes) + 1), first_positions).tolist()
    return Rows(len(repeated_rows), repeated_rows[:_ROWS_SHOWN]) if repeated_rows else None


def _find_system_cautions(candidates: array[int], pairs: array[int]) -> Iterator[tuple[str, int]]:
    """Yield each caution about a system as a whole, with the number of its pairs that it is about.

    ``candidates`` and ``pairs`` are hashes of the system's candidates and of its pairs, one per row.
    """
    import numpy as np

    equal = int(np.unique(np.asarray(candidates), return_counts=True)[1].max())
    if len(candidates) >= _LEAST_PAIRS and equal >= _EQUAL_SHARE * len(candidates):
        yield f"one text for {equal:,} of {len(candidates):,} candidates", equal
    if rows := _find_repeated(pairs):
        yield f"pairs that an earlier row has too, so that intervals may be too narrow: {rows}", rows.count
