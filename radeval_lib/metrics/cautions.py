"""The reasons for a pair's score, and the cautions about it, in the same words everywhere, with rows.

A caution about a pair comes from its texts (an empty text, another script, tags of HTML), from the rules, or
from a metric that knows what its model cannot read (:meth:`radeval_lib.metrics.base.Metric.cautions`); a
caution about a system comes from all its pairs.
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
RELIABLE = 0.5
"""If the rules read a smaller share of the words than this, users are advised not to rely on them."""
SILENT = frozenset([EMPTY_CANDIDATE, UNREAD_CANDIDATE])
"""Of a candidate that says nothing, or nothing that can be judged: a low count of errors is then no merit."""

MOST = 0.05
"""If a larger share of its pairs has a caution, a system is called better only together with that."""
_ALIKE, _FEWEST = 0.9, 10  # from this share of alike candidates on there is a caution, if there are ten
_SHOWN = 5  # rows that a caution names
_LATIN = "\u024f"  # the last letter of Latin Extended-B
# NaN, "None.", "N/A", "nan nan", or no letter and no digit at all.
_MISSING = re.compile(r"(?:\W|_|\b(?:nan|none|nothing|null|n/?a|n\.a|nat|nil|missing|error)\b)+", re.I)
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m |i am |we are )?(?:very )?sorry\b|i apologi[sz]e|as an ai\b|(?:unfortunately, )?"
    r"i(?: can(?:not|['’]t)|(?:['’]m| am) (?:unable|not able) to) "
    r"(?:an|as|com|create|ful|gen|help|int|pro|write))",
    re.I,
)
# <p>, </report>, <|im_end|>, **bold**, # Heading, ```; but neither <NAME> nor [**Name**], which de-identify.
_MARKS = re.compile(
    r"(?!<[A-Z_]{3,}>)</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<\|\w+\|>"
    r"|(?<!\[)\*\*\w[^*\n]*\*\*|^#{1,6} \w|```",
    re.M,
)
_SIGNS = ("<", "**", "#", "```")  # one of which every mark has; looking for these is faster
_OPEN_END = re.compile(
    r"(?:,|(?:^|\s)(?:an?|and|are|at|for|from|in|is|no|of|or|the|there|to|was|were|with|without))\Z", re.I
)


Kind = Literal["error", "matched", "unmatched"]


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


@dataclass
class Rows:
    """The number of rows, and the first of them, numbered from 1."""

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


def text_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions of a pair that apply to every metric."""
    both, empty = (reference, candidate), not candidate.strip()
    thinking = "<think" in candidate.lower()
    sentences = Counter(" ".join(part.lower().split()) for part in re.split(r"[.!?]\s|\n", f"{candidate} "))
    holds = {
        EMPTY_REFERENCE: not reference.strip(),
        EMPTY_CANDIDATE: empty,
        EQUAL: not empty and candidate.split() == reference.split(),
        NO_TEXT: any(text.strip() and (_MISSING.fullmatch(text) or _REFUSAL.match(text)) for text in both),
        NOT_LATIN: any(share_of_letters(text, beyond=_LATIN) > 0.5 for text in both),
        THINKING: thinking,
        TAGS: not thinking
        and any(_MARKS.search(text) for text in both if any(sign in text for sign in _SIGNS)),
        LONG: len(candidate) > 2_000 and len(candidate.split()) > 2_000,
        REPEATED: any(count >= 3 and " " in sentence for sentence, count in sentences.items()),
        CUT: _OPEN_END.search(reference.rstrip()[-9:]) is not None,
    }
    yield from (caution for caution, is_so in holds.items() if is_so)


def rule_cautions(reference: str, candidate: str) -> Iterator[str]:
    """Yield the cautions of a pair for metrics that read findings by rules; an empty text has its own."""
    from radeval_lib.rules.reader import coverage, read

    sides = ((reference, UNREAD_REFERENCE), (candidate, UNREAD_CANDIDATE))
    filled = [(coverage(text), unread) for text, unread in sides if text.strip()]
    for covered, unread in filled:
        if len(covered.unread) == len(covered.statements):
            yield unread
        elif covered.share is not None and covered.share < RELIABLE:
            yield LITTLE
    if any(set(part.kinds) - {"word"} for covered, _ in filled for part in covered.in_part):
        yield IN_PART
    for remark in dict.fromkeys(remark for covered, _ in filled for remark in covered.remarks):
        # The other remarks quote a word, which explanations without texts must not repeat.
        yield remark if remark.startswith(NOT_READ) else OTHERWISE
    findings = read(candidate).findings
    denied = {finding.observation for finding in findings if finding.outright}
    if any(finding.presence == "present" and finding.observation in denied for finding in findings):
        yield CONTRADICTED


class Cautions:
    """Counts the cautions of pairs as they are scored, by system and metric.

    ``metrics`` are all that score; a caution without a metric counts for each of them.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.metrics = list(metrics)
        self._rows: dict[tuple[str, str, str], Rows] = {}  # by system, metric and caution
        self._pairs: Counter[str] = Counter()
        self._doubtful: Counter[tuple[str, str]] = Counter()  # pairs with any, by system and metric
        self._silent: Counter[tuple[str, str]] = Counter()
        self._texts: dict[str, tuple[array[int], array[int]]] = {}  # hashes of candidates and of pairs
        self._ids = array("q")  # hashes

    def add_ids(self, names: Iterable[object]) -> None:
        """Add the ids of rows, to find those that occur twice."""
        self._ids.extend(hash(str(name)) for name in names)

    def add(
        self, system: str, row: int, pair: tuple[str, str], of_metrics: Mapping[str, Iterable[str]]
    ) -> list[str]:
        """Add a pair with its metrics' cautions; return all its cautions, with those of named metrics."""
        common, shown = list(text_cautions(*pair)), []
        self._pairs[system] += 1
        hashes = self._texts.setdefault(system, (array("q"), array("q")))
        reference, candidate = (" ".join(text.split()) for text in pair)
        for kept, text in zip(hashes, (candidate, (reference, candidate)), strict=True):
            kept.append(hash(text))
        for caution in common:
            self._rows.setdefault((system, "", caution), Rows()).add(row)
            shown.append(caution)
        for metric in self.metrics:
            given = dict.fromkeys(of_metrics.get(metric, ()))
            alone = [caution for caution in given if caution not in common]
            for caution in alone:
                self._rows.setdefault((system, metric, caution), Rows()).add(row)
                shown.append(f"{metric}: {caution}")
            self._doubtful[system, metric] += bool({*common, *alone} - {EQUAL})
            self._silent[system, metric] += bool(SILENT.intersection((*common, *alone)))
        return shown

    def lines(self) -> list[str]:
        """Return the cautions in words, one per line: metrics, system, the caution, and its rows.

        A system without a name is not named. A caution that applies to every metric is given once.
        """
        by_metric: dict[tuple[str, str, str], list[str]] = {}
        for (system, metric, caution), rows in self._rows.items():
            by_metric.setdefault((system, caution, str(rows)), []).append(metric)
        lines = [
            _line(", ".join(metrics), system, f"{caution}: {rows}")
            for (system, caution, rows), metrics in by_metric.items()
        ]
        for system, hashes in self._texts.items():
            lines += [_line("", system, caution) for caution, _ in _of_system(*hashes)]
        for first, second in combinations(self._texts, 2):
            if self._texts[first][0] == self._texts[second][0]:
                lines.append(f"{first} and {second} have the same candidate in every row")
        if again := _repeated(self._ids):
            lines.append(f"an id that an earlier row has too: {again}")
        return lines

    def doubt(self, system: str, metric: str) -> str:
        """Return why a metric alone cannot call a system better; empty if it can."""
        pairs = self._pairs[system]
        if not pairs:
            return ""
        whole = " and ".join(text for text, count in _of_system(*self._texts[system]) if count > MOST * pairs)
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
        """Return whether most of a system's candidates say nothing that the metric could judge."""
        return self._silent[system, metric] > self._pairs[system] / 2


def _line(metric: str, system: str, text: str) -> str:
    return ": ".join(part for part in (metric, system, text) if part)


def _repeated(hashes: array[int]) -> Rows | None:
    """Return the rows whose hash an earlier row has; None if there is none."""
    import numpy as np  # not above: a browser, where one pair is judged, has no numpy

    _, first = np.unique(np.asarray(hashes), return_index=True)
    again = np.delete(np.arange(1, len(hashes) + 1), first).tolist()
    return Rows(len(again), again[:_SHOWN]) if again else None


def _of_system(candidates: array[int], pairs: array[int]) -> Iterator[tuple[str, int]]:
    """Yield each caution about a system as a whole, with the number of its pairs that it is about.

    ``candidates`` and ``pairs`` are the hashes of its texts.
    """
    import numpy as np

    most = int(np.unique(np.asarray(candidates), return_counts=True)[1].max())
    if len(candidates) >= _FEWEST and most >= _ALIKE * len(candidates):
        yield f"one text for {most:,} of {len(candidates):,} candidates", most
    if again := _repeated(pairs):
        yield f"pairs that an earlier row has too, so that intervals may be too narrow: {again}", again.count
