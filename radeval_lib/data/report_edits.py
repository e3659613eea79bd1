"""Simple edits of reports, with and without a change of meaning.

The edits replace, move or delete words and sentences without reading the report.
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
"""Number of texts that are edited."""
STEPS = (1, 3, 6)
"""Numbers of sentences that are replaced by another report's."""
Edit = Callable[[list[str], str], str | None]
"""Returns the edited text, given a text's sentences and a sentence of another report; None if the text has
nothing to edit."""
# A word and its synonym; both are in at least 1 % of the reports of Open-i's odd half.
SYNONYMS = {
    "unremarkable": "normal",
    "seen": "identified",
    "identified": "seen",
    "noted": "seen",
    "osseous": "bony",
    "bony": "osseous",
    "vasculature": "vascularity",
    "vascularity": "vasculature",
}
# A degree, and one with another meaning.
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
_DENIAL = re.compile(
    r"\b(?:[Tt]here (?:is|are) )?([Nn]o|[Ww]ithout) (?=(?:focal|acute|large|pleural|pneumo|evidence))"
)


def _exchange(text: str, words: Mapping[str, str], count: int = 0) -> str | None:
    """Return ``text`` with all of these ``words``, or the first ``count``, replaced by their counterparts in
    the same case; None if it has none, or fewer than ``count``."""

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
    """Return an edit that changes one sentence that begins with a denial: the first of them with a word of
    :data:`SYNONYMS`, or else the first of them."""

    def edit(parts: list[str], _: str) -> str | None:
        denials = [at for at, part in enumerate(parts) if _DENIAL.match(part)]
        if not denials:
            return None
        at = max(denials, key=lambda at: _exchange(parts[at], SYNONYMS) is not None)
        changed = change(parts[at])
        return changed and _joined([*parts[:at], changed, *parts[at + 1 :]])

    return edit


def _affirmed(sentence: str) -> str:
    """Return a denial without its "no": "No pleural effusion." becomes "Pleural effusion."."""
    changed = _NO.sub("", sentence, count=1)
    return changed[:1].upper() + changed[1:]


def _to_some(sentence: str) -> str:
    """Return a sentence with its "no" exchanged for "some", or its "without" for "with"."""
    return _NO.sub(lambda match: f"{_AFFIRMING[match.group().strip()]} ", sentence, count=1)


HARMLESS: dict[str, Edit] = {
    "order reversed": lambda parts, _: _joined(parts[::-1]),
    "a sentence twice": lambda parts, _: _joined([parts[0], *parts]),
    "in capitals": lambda parts, _: _joined(parts).upper(),
    "in other words": lambda parts, _: _exchange(_joined(parts), SYNONYMS),
}
"""Edits that keep the meaning of the report."""
HARMFUL: dict[str, Edit] = {
    "a “no” lost": _at_denial(_affirmed),
    "left for right": lambda parts, _: _exchange(_joined(parts), _SIDES),
    "mild for severe": lambda parts, _: _exchange(_joined(parts), _DEGREES),
    "a sentence left out": lambda parts, _: _joined([*parts[:2], *parts[3:]]),
    "a sentence added": lambda parts, extra: _joined([*parts, extra]),
}
"""Edits that change the meaning of the report."""
EDITS = HARMLESS | HARMFUL
WORDINGS: dict[str, Edit] = {
    "1 word exchanged": lambda parts, _: _exchange(_joined(parts), SYNONYMS, 1),
    "2 words exchanged": lambda parts, _: _exchange(_joined(parts), SYNONYMS, 2),
    "3 words exchanged": lambda parts, _: _exchange(_joined(parts), SYNONYMS, 3),
    "1 word exchanged beside the “no”": _at_denial(lambda sentence: _exchange(sentence, SYNONYMS, 1)),
    "“no” becomes “some”": _at_denial(_to_some),
}
"""Exchanges of single words: for synonyms, or of a "no" for "some"."""
LAYOUTS: dict[str, Edit] = {
    "lines wrapped": lambda parts, _: textwrap.fill(_joined(parts), 40, break_on_hyphens=False),
    "as a list": lambda parts, _: "\n".join(f"- {part.strip()}" for part in parts),
    "under a heading": lambda parts, _: f"FINDINGS: {_joined(parts)}",
    "in lower case": lambda parts, _: _joined(parts).lower(),
}
"""Edits of the layout or of the case of letters alone."""


def sentences(reports: Sequence[Report]) -> list[list[str]]:
    """Return the sentences of the first 100 distinct findings sections with six or more sentences."""
    distinct: dict[str, list[str]] = {}
    for report in reports:
        parts = [sentence.text for sentence in statements(reveal(report.findings))]
        if len(parts) >= max(STEPS):
            distinct.setdefault(_joined(parts), parts)
    return list(distinct.values())[:REPORTS]


def edit_reports(reports: Sequence[list[str]], edits: Mapping[str, Edit] = EDITS) -> pd.DataFrame:
    """Return each text as a reference of its edits and of some controls.

    Parameters
    ----------
    reports : texts as lists of sentences, two at least, since the controls take sentences of another one.

    Returns
    -------
    DataFrame
        ``report``, the text's number; ``edit``, a name of ``edits`` or of a control (``same``, ``another
        report``, or how many of the first sentences are another report's); ``reference``; ``candidate``.
    """
    if len(reports) == 1:
        raise ValueError("one text has no other report to compare with; give two texts or more")
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
    """Return the edits of :func:`sentences` as records: ``case`` is the text's number, ``group`` the
    edit."""
    rows = edit_reports(sentences(reports), EDITS | WORDINGS).itertuples()
    return [
        TextPair(f"{row.report}/{row.edit}", str(row.report), row.reference, row.candidate, group=row.edit)
        for row in rows
    ]


def recorded_pairs(recording: Recording) -> Iterator[TextPair]:
    """Yield :func:`text_pairs` from their recording."""
    for row in recording.table.itertuples():
        reference, candidate = pair_placeholders(recording.name, row)
        yield TextPair(f"{row.case}/{row.edit}", str(row.case), reference, candidate, group=row.edit)
