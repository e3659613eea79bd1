"""Plain edits of reports: what changes nothing that a report says, and what does.

The edits are operations on the text; they know nothing of findings.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import pandas as pd

from radeval_lib.data.recorded import Recording, pair
from radeval_lib.data.records import Report, TextPair
from radeval_lib.data.restricted import reveal
from radeval_lib.rules.report_text import statements

REPORTS = 100
"""Texts that are edited."""
STEPS = (1, 3, 6)
"""How many sentences are replaced by another report's."""
Edit = Callable[[list[str], str], str | None]
"""The edited text, given the sentences of a text and a sentence of another report; None if nothing in the
text can be edited so."""
# A word, and another that says the same; both stand in at least 1 % of the reports of Open-i's odd half.
SAME = {
    "unremarkable": "normal",
    "seen": "identified",
    "identified": "seen",
    "noted": "seen",
    "osseous": "bony",
    "bony": "osseous",
    "vasculature": "vascularity",
    "vascularity": "vasculature",
}
# A degree, and one that says something else.
_DEGREES = {
    "mild": "severe",
    "mildly": "severely",
    "small": "large",
    "minimal": "marked",
    "minimally": "markedly",
}
_SIDES = {"left": "right", "right": "left"}
_AFFIRMING = {"no": "some", "No": "Some", "without": "with", "Without": "With"}
_NO = re.compile(r"\b(?:[Nn]o|[Ww]ithout) ")
# A denial: "There is no pleural", "No evidence", "without focal".
_SOME = re.compile(
    r"\b(?:[Tt]here (?:is|are) )?([Nn]o|[Ww]ithout) (?=(?:focal|acute|large|pleural|pneumo|evidence))"
)


def _swapped(words: Mapping[str, str]) -> Edit:
    """Return the edit that puts the other word in the place of every one of these, with its capital."""

    def edit(parts: list[str], _: str) -> str | None:
        text = _joined(parts)
        changed = _pattern(words).sub(partial(_other, words), text)
        return changed if changed != text else None

    return edit


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(sorted(words, key=len, reverse=True))})\b", re.IGNORECASE)


def _other(words: Mapping[str, str], match: re.Match[str]) -> str:
    new = words[match.group().lower()]
    return new.capitalize() if match.group()[0].isupper() else new


def _exchanged(count: int) -> Edit:
    """Return the edit that exchanges the first ``count`` words of :data:`SAME`."""

    def edit(parts: list[str], _: str) -> str | None:
        changed, times = _pattern(SAME).subn(partial(_other, SAME), _joined(parts), count)
        return changed if times == count else None

    return edit


def _joined(parts: Sequence[str]) -> str:
    """Return sentences as one text, each with one full stop."""
    return " ".join(f"{part.strip().rstrip('.')}." for part in parts)


def _denial(parts: Sequence[str]) -> int | None:
    """Return the place of a sentence that begins with a denial: the first that also has a word of
    :data:`SAME`, or else the first; None if there is none."""
    denials = [
        index for index, part in enumerate(parts) if (match := _SOME.search(part)) and not match.start()
    ]
    return next(
        (index for index in denials if _pattern(SAME).search(parts[index])), next(iter(denials), None)
    )


def _affirmed(parts: list[str], _: str) -> str | None:
    """Return a denial taken back by deleting its "no": "No pleural effusion." becomes "Pleural effusion."."""
    index = _denial(parts)
    if index is None:
        return None
    changed = _NO.sub("", parts[index], count=1)
    return _joined([*parts[:index], changed[:1].upper() + changed[1:], *parts[index + 1 :]])


def _to_some(parts: list[str], _: str) -> str | None:
    """Return the "no" of the same denial exchanged for "some", or "without" for "with"."""
    index = _denial(parts)
    if index is None:
        return None
    changed = _NO.sub(lambda match: f"{_AFFIRMING[match.group().strip()]} ", parts[index], count=1)
    return _joined([*parts[:index], changed, *parts[index + 1 :]])


def _exchanged_beside(parts: list[str], _: str) -> str | None:
    """Return one word of :data:`SAME` exchanged in the sentence that :func:`_affirmed` takes back."""
    index = _denial(parts)
    if index is None or not _pattern(SAME).search(parts[index]):
        return None
    changed = _pattern(SAME).sub(partial(_other, SAME), parts[index], count=1)
    return _joined([*parts[:index], changed, *parts[index + 1 :]])


HARMLESS: dict[str, Edit] = {
    "order reversed": lambda parts, _: _joined(parts[::-1]),
    "a sentence twice": lambda parts, _: _joined([parts[0], *parts]),
    "in capitals": lambda parts, _: _joined(parts).upper(),
    "in other words": _swapped(SAME),
}
"""What changes nothing that the report says."""
HARMFUL: dict[str, Edit] = {
    "a “no” lost": _affirmed,
    "left for right": _swapped(_SIDES),
    "mild for severe": _swapped(_DEGREES | {new: old for old, new in _DEGREES.items()}),
    "a sentence left out": lambda parts, _: _joined([*parts[:2], *parts[3:]]),
    "a sentence added": lambda parts, extra: _joined([*parts, extra]),
}
"""What changes what the report says."""
EDITS = HARMLESS | HARMFUL
WORDINGS: dict[str, Edit] = {
    "1 word exchanged": _exchanged(1),
    "2 words exchanged": _exchanged(2),
    "3 words exchanged": _exchanged(3),
    "1 word exchanged beside the “no”": _exchanged_beside,
    "“no” becomes “some”": _to_some,
}
"""Words exchanged one for one: for others that say the same, and a "no" for "some" in the same sentence."""
LAYOUTS: dict[str, Edit] = {
    "lines wrapped": lambda parts, _: textwrap.fill(_joined(parts), 40, break_on_hyphens=False),
    "as a list": lambda parts, _: "\n".join(f"- {part.strip()}" for part in parts),
    "under a heading": lambda parts, _: f"FINDINGS: {_joined(parts)}",
    "in lower case": lambda parts, _: _joined(parts).lower(),
}
"""What changes only how the report is laid out or its letters."""


def texts(reports: Sequence[Report]) -> list[list[str]]:
    """Return the sentences of the first reports whose findings have at least six, no text twice."""
    distinct: dict[str, list[str]] = {}
    for report in reports:
        parts = [sentence.text for sentence in statements(reveal(report.findings))]
        if len(parts) >= max(STEPS):
            distinct.setdefault(_joined(parts), parts)
    return list(distinct.values())[:REPORTS]


def edited(reports: Sequence[list[str]], edits: Mapping[str, Edit] = EDITS) -> pd.DataFrame:
    """Return every text beside itself, each of its edits, copies with some of another report's sentences in
    place of its own, and another report whole: ``report``, ``edit`` (``same``, ``another report``, a name of
    ``edits``, or how many sentences are another report's), ``reference``, ``candidate``.

    Raises
    ------
    ValueError
        If there is one report alone, or a text has fewer sentences than are replaced at most (:data:`STEPS`).
    """
    if len(reports) == 1 or any(len(parts) < max(STEPS) for parts in reports):
        raise ValueError(f"edits need two reports, and {max(STEPS)} sentences in each")
    rows = []
    for number, parts in enumerate(reports):
        other = reports[(number + len(reports) // 2) % len(reports)]
        candidates: dict[str, str | None] = {"same": _joined(parts), "another report": _joined(other)}
        candidates |= {name: edit(parts, other[0]) for name, edit in edits.items()}
        for count in STEPS:
            candidates[str(count)] = _joined([*other[:count], *parts[count:]])
        rows += [
            (number, name, _joined(parts), text) for name, text in candidates.items() if text is not None
        ]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def text_pairs(reports: Sequence[Report]) -> list[TextPair]:
    """Return :func:`edited` of :func:`texts` as records: ``case`` is the text's number, ``group`` the
    edit."""
    rows = edited(texts(reports), EDITS | WORDINGS).itertuples()
    return [
        TextPair(f"{row.report}/{row.edit}", str(row.report), row.reference, row.candidate, group=row.edit)
        for row in rows
    ]


def recorded_pairs(recording: Recording) -> Iterator[TextPair]:
    """Yield :func:`text_pairs`, from what is recorded of them."""
    for row in recording.table.itertuples():
        reference, candidate = pair(recording.name, row)
        yield TextPair(f"{row.case}/{row.edit}", str(row.case), reference, candidate, group=row.edit)
