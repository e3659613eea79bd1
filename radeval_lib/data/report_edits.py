"""Simple edits of reports, with and without a change of meaning.

The edits are operations on the text; they know nothing of findings.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from radeval_lib.data.recorded import Recording, pair_placeholders
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
_DEGREES |= {new: old for old, new in _DEGREES.items()}
_SIDES = {"left": "right", "right": "left"}
_AFFIRMING = {"no": "some", "No": "Some", "without": "with", "Without": "With"}
_NO = re.compile(r"\b(?:[Nn]o|[Ww]ithout) ")
# A denial: "There is no pleural", "No evidence", "without focal".
_SOME = re.compile(
    r"\b(?:[Tt]here (?:is|are) )?([Nn]o|[Ww]ithout) (?=(?:focal|acute|large|pleural|pneumo|evidence))"
)


def _exchange(text: str, words: Mapping[str, str], count: int = 0) -> str | None:
    """Return ``text`` with each of these words, or the first ``count``, replaced by its counterpart in the
    same case; None if there are fewer."""

    def other(match: re.Match[str]) -> str:
        new = words[match.group().lower()]
        return new.capitalize() if match.group()[0].isupper() else new

    pattern = rf"\b({'|'.join(sorted(words, key=len, reverse=True))})\b"
    changed, times = re.subn(pattern, other, text, count=count, flags=re.IGNORECASE)
    return changed if times >= max(count, 1) else None


def _joined(parts: Sequence[str]) -> str:
    """Return sentences as one text, each with one full stop."""
    return " ".join(f"{part.strip().rstrip('.')}." for part in parts)


def _at_denial(change: Callable[[str], str | None]) -> Edit:
    """Return the edit that changes a sentence that begins with a denial: the first that also has a word of
    :data:`SAME`, or else the first."""

    def edit(parts: list[str], _: str) -> str | None:
        denials = [at for at, part in enumerate(parts) if (match := _SOME.search(part)) and not match.start()]
        if not denials:
            return None
        at = max(denials, key=lambda at: _exchange(parts[at], SAME) is not None)
        changed = change(parts[at])
        return changed and _joined([*parts[:at], changed, *parts[at + 1 :]])

    return edit


def _affirmed(sentence: str) -> str:
    """Return a denial taken back by deleting its "no": "No pleural effusion." becomes "Pleural effusion."."""
    changed = _NO.sub("", sentence, count=1)
    return changed[:1].upper() + changed[1:]


def _to_some(sentence: str) -> str:
    """Return the "no" exchanged for "some", or "without" for "with"."""
    return _NO.sub(lambda match: f"{_AFFIRMING[match.group().strip()]} ", sentence, count=1)


HARMLESS: dict[str, Edit] = {
    "order reversed": lambda parts, _: _joined(parts[::-1]),
    "a sentence twice": lambda parts, _: _joined([parts[0], *parts]),
    "in capitals": lambda parts, _: _joined(parts).upper(),
    "in other words": lambda parts, _: _exchange(_joined(parts), SAME),
}
"""What changes nothing that the report says."""
HARMFUL: dict[str, Edit] = {
    "a “no” lost": _at_denial(_affirmed),
    "left for right": lambda parts, _: _exchange(_joined(parts), _SIDES),
    "mild for severe": lambda parts, _: _exchange(_joined(parts), _DEGREES),
    "a sentence left out": lambda parts, _: _joined([*parts[:2], *parts[3:]]),
    "a sentence added": lambda parts, extra: _joined([*parts, extra]),
}
"""What changes what the report says."""
EDITS = HARMLESS | HARMFUL
WORDINGS: dict[str, Edit] = {
    "1 word exchanged": lambda parts, _: _exchange(_joined(parts), SAME, 1),
    "2 words exchanged": lambda parts, _: _exchange(_joined(parts), SAME, 2),
    "3 words exchanged": lambda parts, _: _exchange(_joined(parts), SAME, 3),
    "1 word exchanged beside the “no”": _at_denial(lambda sentence: _exchange(sentence, SAME, 1)),
    "“no” becomes “some”": _at_denial(_to_some),
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
    """Return the sentences of the first reports with six or more sentences of findings, no text twice."""
    distinct: dict[str, list[str]] = {}
    for report in reports:
        parts = [sentence.text for sentence in statements(reveal(report.findings))]
        if len(parts) >= max(STEPS):
            distinct.setdefault(_joined(parts), parts)
    return list(distinct.values())[:REPORTS]


def edit_reports(reports: Sequence[list[str]], edits: Mapping[str, Edit] = EDITS) -> pd.DataFrame:
    """Return every text beside itself, each of its edits, copies with some of another report's sentences in
    place of its own, and another report whole: ``report``, ``edit`` (``same``, ``another report``, a name of
    ``edits``, or how many sentences are another report's), ``reference``, ``candidate``."""
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
    """Return :func:`edit_reports` of :func:`texts` as records: ``case`` is the text's number, ``group`` the
    edit."""
    rows = edit_reports(texts(reports), EDITS | WORDINGS).itertuples()
    return [
        TextPair(f"{row.report}/{row.edit}", str(row.report), row.reference, row.candidate, group=row.edit)
        for row in rows
    ]


def recorded_pairs(recording: Recording) -> Iterator[TextPair]:
    """Yield :func:`text_pairs` from their recording."""
    for row in recording.table.itertuples():
        reference, candidate = pair_placeholders(recording.name, row)
        yield TextPair(f"{row.case}/{row.edit}", str(row.case), reference, candidate, group=row.edit)
