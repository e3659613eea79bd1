"""Reasons for the score of a pair, and cautions about pairs and systems, with the rows that they are about.

A caution about a pair follows from its texts (an empty text, another script, tags of HTML), from the rules,
or from a metric that knows what its model cannot read (:meth:`radeval_lib.metrics.base.Metric.cautions`). A
caution about a system follows from all pairs of the system.
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
NOT_LATIN = "a text is mostly in a script other than Latin"
TAGS = "a text has tags of HTML, Markdown or a chat template, which lexical metrics may count as words"
THINKING = "the candidate contains a model's reasoning, marked <think>"
LONG = "the candidate has more than 2,000 words"
REPEATED = "the candidate has the same sentence three times or more"
EQUAL = "the candidate equals the reference"
CUT = "the reference ends in mid-sentence"
UNREAD_REFERENCE = "the rules can read nothing of the reference"
UNREAD_CANDIDATE = "the rules can read nothing of the candidate"
MOSTLY_UNREAD = "the rules read less than half of what a text says"
IN_PART = "the rules read a text in part: they ignored a degree, side, size, place, negation or change"
CONTRADICTED = "the candidate contradicts itself: it states a finding and denies it altogether"
MISSPELT = "a word is read as the lexicon's word that differs from it in one letter"
NOT_READ = "not read: "
#: If the rules read a smaller share of the words than this, users are advised not to rely on them.
RELIABLE_SHARE = 0.5
#: The cautions about a candidate that states nothing, or nothing that the rules can read, so that few errors
#: are no sign of quality.
SILENT = frozenset([EMPTY_CANDIDATE, UNREAD_CANDIDATE])

#: If a larger share of a system's pairs has a caution, a sentence that calls the system better names it.
DOUBT_SHARE = 0.05
# A system with at least this many candidates gets a caution if at least this share of them is the same text.
_MIN_PAIRS, _EQUAL_SHARE = 10, 0.9
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
# <p>, </report>, <|im_end|>, **bold**, # Heading, ```; but not <NAME> and [**Name**], which replace names in
# de-identified texts.
_MARKUP = re.compile(
    r"(?!<[A-Z_]{3,}>)</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<\|\w+\|>"
    r"|(?<!\[)\*\*\w[^*\n]*\*\*|^#{1,6} \w|```",
    re.M,
)
_MARKERS = ("<", "**", "#", "```")  # Every match of `_MARKUP` has one; searching for these first is faster.
_OPEN_END = re.compile(
    r"(?:,|(?:^|\s)(?:an?|and|are|at|for|from|in|is|no|of|or|the|there|to|was|were|with|without))\Z", re.I
)


Kind = Literal["error", "matched", "unmatched"]


class Reason(NamedTuple):
    """A reason for a pair's score: an error, or an entity or finding of one or both texts.

    Attributes
    ----------
    kind : ``error`` for an error that a judge names, ``matched`` for an entity or finding that both texts
        state, ``unmatched`` for one that only one text states.
    category : for an error, one of GREEN's six categories (:data:`~radeval_lib.categories.CATEGORIES`) or
        ``none of the six``; for an entity, its type; for a CheXpert observation, ``observation``; else empty.
    finding, says : the finding, and what is wrong with it, in words of this library; empty if only the texts
        have words for them.
    quoted : words that may come from the texts, such as a language model's answer.
    rule : the rule by which the reason counts, and how much.
    significant : whether an error is clinically significant; None for other kinds.
    weight : the amount that an error found by rules adds to the sum of weighted errors; else None.
    credit : the share of an entity's weight that counts towards the score, usually from 0 to 1; else None.
    reference, candidate : (start, end) in each text, end exclusive; None if the text does not state it or the
        metric does not know the position.
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
    """A count of rows, with the numbers (from 1) of the first five."""

    count: int = 0
    numbers: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        """Count a row, and keep its number if it is one of the first five."""
        self.count += 1
        if len(self.numbers) < _ROWS_SHOWN:
            self.numbers.append(row)

    def __str__(self) -> str:
        """Return the count and the numbers of the first rows, such as "7 rows (1, 2, 5, 6, 9, ...)"."""
        ellipsis = ", ..." if self.count > len(self.numbers) else ""
        noun = "row" if self.count == 1 else "rows"
        return f"{self.count:,} {noun} ({', '.join(map(str, self.numbers))}{ellipsis})"


def find_text_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions about a pair that follow from its texts and so apply to every metric."""
    texts, is_empty = (reference, candidate), not candidate.strip()
    has_thinking = "<think" in candidate.lower()
    counts = Counter(" ".join(part.lower().split()) for part in re.split(r"[.!?]\s|\n", f"{candidate} "))
    conditions = {
        EMPTY_REFERENCE: not reference.strip(),
        EMPTY_CANDIDATE: is_empty,
        EQUAL: not is_empty and candidate.split() == reference.split(),
        NO_TEXT: any(text.strip() and (_MISSING.fullmatch(text) or _REFUSAL.match(text)) for text in texts),
        NOT_LATIN: any(share_of_letters(text, beyond=_LATIN) > 0.5 for text in texts),
        THINKING: has_thinking,
        TAGS: not has_thinking
        and any(_MARKUP.search(text) for text in texts if any(marker in text for marker in _MARKERS)),
        LONG: len(candidate) > 2_000 and len(candidate.split()) > 2_000,
        REPEATED: any(count >= 3 and " " in sentence for sentence, count in counts.items()),
        CUT: _OPEN_END.search(reference.rstrip()[-9:]) is not None,
    }
    yield from (caution for caution, holds in conditions.items() if holds)


def find_rule_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions about a pair for metrics that read findings by rules, except about an empty text,
    for which :func:`find_text_cautions` yields one."""
    from radeval_lib.rules.reader import coverage, read

    sides = ((reference, UNREAD_REFERENCE), (candidate, UNREAD_CANDIDATE))
    coverages = [(coverage(text), caution) for text, caution in sides if text.strip()]
    for result, caution in coverages:
        if len(result.unread) == len(result.statements):
            yield caution
        elif result.share is not None and result.share < RELIABLE_SHARE:
            yield MOSTLY_UNREAD
    if any(set(part.kinds) - {"word"} for result, _ in coverages for part in result.in_part):
        yield IN_PART
    for remark in dict.fromkeys(remark for result, _ in coverages for remark in result.remarks):
        # Other remarks quote a word of the text, which an explanation without texts must not do.
        yield remark if remark.startswith(NOT_READ) else MISSPELT
    findings = read(candidate).findings
    denied_outright = {finding.observation for finding in findings if finding.outright}
    if any(finding.presence == "present" and finding.observation in denied_outright for finding in findings):
        yield CONTRADICTED


class Cautions:
    """A count of the cautions about pairs, by system and metric.

    ``metrics`` are the names of all metrics that score; a caution about the texts counts for each of them.
    They must be set before the first pair is counted.
    """

    def __init__(self, metrics: Iterable[str] = ()) -> None:
        """Start with no pairs counted."""
        self.metrics = list(metrics)
        self._rows: dict[tuple[str, str, str], Rows] = {}  # by system, metric and caution
        self._pair_counts: Counter[str] = Counter()
        self._doubt_counts: Counter[tuple[str, str]] = Counter()  # by system and metric: pairs with a caution
        self._silent_counts: Counter[tuple[str, str]] = Counter()
        self._hashes: dict[str, tuple[array[int], array[int]]] = {}  # hashes of candidates and of pairs
        self._ids = array("q")  # hashes of the rows' ids

    def add_ids(self, ids: Iterable[object]) -> None:
        """Store hashes of the next rows' ids, with which :meth:`lines` finds rows with a repeated id."""
        self._ids.extend(hash(str(row_id)) for row_id in ids)

    def add(
        self, system: str, row: int, pair: tuple[str, str], cautions_of: Mapping[str, Iterable[str]]
    ) -> list[str]:
        """Count the cautions about a pair, and return them; a caution of one metric begins with its name.

        Parameters
        ----------
        system : the system that wrote the candidate; empty if it has no name.
        row : the number of the pair's row, from 1.
        pair : (reference, candidate).
        cautions_of : a mapping from metric to the cautions that it gives about the pair.
        """
        common, pair_cautions = list(find_text_cautions(*pair)), []
        self._pair_counts[system] += 1
        system_hashes = self._hashes.setdefault(system, (array("q"), array("q")))
        reference, candidate = (" ".join(text.split()) for text in pair)
        for hashes_so_far, text in zip(system_hashes, (candidate, (reference, candidate)), strict=True):
            hashes_so_far.append(hash(text))
        for caution in common:
            self._rows.setdefault((system, "", caution), Rows()).add(row)
            pair_cautions.append(caution)
        for metric in self.metrics:
            own_cautions = dict.fromkeys(cautions_of.get(metric, ()))
            further_cautions = [caution for caution in own_cautions if caution not in common]
            for caution in further_cautions:
                self._rows.setdefault((system, metric, caution), Rows()).add(row)
                pair_cautions.append(f"{metric}: {caution}")
            self._doubt_counts[system, metric] += bool({*common, *further_cautions} - {EQUAL})
            self._silent_counts[system, metric] += bool(SILENT.intersection((*common, *further_cautions)))
        return pair_cautions

    def lines(self) -> list[str]:
        """Return a line for each caution counted so far: the metrics, the system if it has a name, the
        caution, and the rows.

        A caution that follows from the texts holds for every metric and is returned once, without metrics.
        After these come lines on systems as a whole, on each two systems with the same candidates, and on
        rows with the id of an earlier row.
        """
        metrics_of: dict[tuple[str, str, str], list[str]] = {}
        for (system, metric, caution), rows in self._rows.items():
            metrics_of.setdefault((system, caution, str(rows)), []).append(metric)
        lines = [
            _join_parts(", ".join(metrics), system, f"{caution}: {rows}")
            for (system, caution, rows), metrics in metrics_of.items()
        ]
        for system, hashes in self._hashes.items():
            lines += [_join_parts("", system, caution) for caution, _ in _find_system_cautions(*hashes)]
        for first, second in combinations(self._hashes, 2):
            if self._hashes[first][0] == self._hashes[second][0]:
                lines.append(f"{first} and {second} have the same candidate in every row")
        if repeated_ids := _find_repeated(self._ids):
            lines.append(f"rows with the id of an earlier row: {repeated_ids}")
        return lines

    def summarize(self, system: str, metric: str) -> str:
        """Return a clause with the cautions to name where a metric calls a system better; empty if there are
        none.

        These are the cautions about the system as a whole that concern more than :data:`DOUBT_SHARE` of the
        pairs and, if more than that share of the pairs have a caution other than :data:`EQUAL`, the two most
        frequent of these cautions.
        """
        total = self._pair_counts[system]
        if not total:
            return ""
        system_cautions = _find_system_cautions(*self._hashes[system])
        clause = " and ".join(caution for caution, count in system_cautions if count > DOUBT_SHARE * total)
        if self._doubt_counts[system, metric] <= DOUBT_SHARE * total:
            return clause
        counts = [
            (rows.count, caution)
            for (of_system, of_metric, caution), rows in self._rows.items()
            if of_system == system and of_metric in ("", metric) and caution != EQUAL
        ]
        commonest = sorted(counts, reverse=True)[:2]
        parts = [f"in {count:,} of its {total:,} pairs {caution}" for count, caution in commonest]
        return " and ".join(filter(None, [*parts, clause]))

    def is_silent(self, system: str, metric: str) -> bool:
        """Return whether more than half of a system's candidates have a caution in :data:`SILENT`."""
        return self._silent_counts[system, metric] > self._pair_counts[system] / 2


def _join_parts(metric: str, system: str, text: str) -> str:
    """Return the parts that are not empty, concatenated with ": "."""
    return ": ".join(part for part in (metric, system, text) if part)


def _find_repeated(hashes: array[int]) -> Rows | None:
    """Return the rows whose hash equals the hash of an earlier row; None if there are none."""
    import numpy as np  # Not at the top: the judge in the browser uses this module without numpy.

    _, first_positions = np.unique(np.asarray(hashes), return_index=True)
    repeated_rows = np.delete(np.arange(1, len(hashes) + 1), first_positions).tolist()
    return Rows(len(repeated_rows), repeated_rows[:_ROWS_SHOWN]) if repeated_rows else None


def _find_system_cautions(candidates: array[int], pairs: array[int]) -> Iterator[tuple[str, int]]:
    """Yield (caution, number of pairs that it concerns) for each caution about a system as a whole.

    ``candidates`` and ``pairs`` are hashes of the system's candidates and pairs, one per row.
    """
    import numpy as np

    mode_count = int(np.unique(np.asarray(candidates), return_counts=True)[1].max())
    if len(candidates) >= _MIN_PAIRS and mode_count >= _EQUAL_SHARE * len(candidates):
        yield f"one text for {mode_count:,} of {len(candidates):,} candidates", mode_count
    if rows := _find_repeated(pairs):
        yield f"pairs that repeat an earlier row, so that intervals may be too narrow: {rows}", rows.count
