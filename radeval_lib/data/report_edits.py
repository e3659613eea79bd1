"""Simple edits of reports; some change the meaning, others do not.

The edits replace, move or delete words and sentences by fixed rules that do not interpret the report.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from radeval_lib.data.recorded import Recording, make_pair_placeholders
from radeval_lib.data.records import Report, TextPair
from radeval_lib.data.restricted import reveal
from radeval_lib.rules.report_text import statements

REPORTS = 100  # largest number of reports that are edited
STEPS = (1, 3, 6)  # numbers of first sentences that controls replace with those of another report
# Returns the edited text, given a text's sentences and a sentence of another report; None if the text has
# nothing to edit.
Edit = Callable[[list[str], str], str | None]
# A word and its synonym; both are in at least 1% of the reports of Open-i's odd half.
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
# A mapping from a word of degree to a word of another degree.
_DEGREES = {
    "mild": "severe",
    "mildly": "severely",
    "small": "large",
    "minimal": "marked",
    "minimally": "markedly",
}
_DEGREES |= {new: old for old, new in _DEGREES.items()}
_SIDES = {"left": "right", "right": "left"}
_AFFIRMATIONS = {"no": "some", "No": "Some", "without": "with", "Without": "With"}
_NO = re.compile(r"\b(?:[Nn]o|[Ww]ithout) ")
# A denial: "There is no pleural", "No evidence", "without focal".
_DENIAL = re.compile(
    r"\b(?:[Tt]here (?:is|are) )?([Nn]o|[Ww]ithout) (?=(?:focal|acute|large|pleural|pneumo|evidence))"
)


def _exchange(text: str, replacements: Mapping[str, str], count: int = 0) -> str | None:
    """Return ``text`` with words exchanged according to ``replacements``, keeping initial capitals.

    ``replacements`` maps each word to its substitute, both in lower case. If ``count`` is 0, all of these
    words are exchanged, otherwise the first ``count``. Returns None if the text has none of these words, or
    fewer than ``count``.
    """

    def substitute(match: re.Match[str]) -> str:
        word = replacements[match.group().lower()]
        return word.capitalize() if match.group()[0].isupper() else word

    pattern = rf"\b({'|'.join(sorted(replacements, key=len, reverse=True))})\b"
    new_text, exchanges = re.subn(pattern, substitute, text, count=count, flags=re.IGNORECASE)
    return new_text if exchanges >= max(count, 1) else None


def _join_sentences(sentences: Sequence[str]) -> str:
    """Return the sentences as one text, each with exactly one full stop at its end."""
    return " ".join(f"{sentence.strip().rstrip('.')}." for sentence in sentences)


def _make_denial_edit(change: Callable[[str], str | None]) -> Edit:
    """Return an edit that applies ``change`` to one sentence that begins with a denial (``No pleural ...``).

    The sentence is the first denial with a word of :data:`SYNONYMS`, or else the first denial. The edit
    returns None if there is no denial or ``change`` returns None.
    """

    def edit(sentences: list[str], _: str) -> str | None:
        denials = [index for index, sentence in enumerate(sentences) if _DENIAL.match(sentence)]
        if not denials:
            return None
        index = max(denials, key=lambda index: _exchange(sentences[index], SYNONYMS) is not None)
        new_sentence = change(sentences[index])
        return new_sentence and _join_sentences([*sentences[:index], new_sentence, *sentences[index + 1 :]])

    return edit


def _delete_no(sentence: str) -> str:
    """Return a denial without its "no" or "without": "No pleural effusion." becomes "Pleural effusion."."""
    affirmation = _NO.sub("", sentence, count=1)
    return affirmation[:1].upper() + affirmation[1:]


def _replace_no(sentence: str) -> str:
    """Return a sentence with its first "no" exchanged for "some", or "without" for "with"."""
    return _NO.sub(lambda match: f"{_AFFIRMATIONS[match.group().strip()]} ", sentence, count=1)


# Edits that keep the meaning of the report.
HARMLESS: dict[str, Edit] = {
    "order reversed": lambda parts, _: _join_sentences(parts[::-1]),
    "a sentence twice": lambda parts, _: _join_sentences([parts[0], *parts]),
    "in capitals": lambda parts, _: _join_sentences(parts).upper(),
    "in other words": lambda parts, _: _exchange(_join_sentences(parts), SYNONYMS),
}
# Edits that change the meaning of the report.
HARMFUL: dict[str, Edit] = {
    "a “no” lost": _make_denial_edit(_delete_no),
    "left for right": lambda parts, _: _exchange(_join_sentences(parts), _SIDES),
    "mild for severe": lambda parts, _: _exchange(_join_sentences(parts), _DEGREES),
    "a sentence left out": lambda parts, _: _join_sentences([*parts[:2], *parts[3:]]),
    "a sentence added": lambda parts, extra: _join_sentences([*parts, extra]),
}
EDITS = HARMLESS | HARMFUL
# Edits that exchange single words for synonyms, or a "no" for "some".
WORDINGS: dict[str, Edit] = {
    "1 word exchanged": lambda parts, _: _exchange(_join_sentences(parts), SYNONYMS, 1),
    "2 words exchanged": lambda parts, _: _exchange(_join_sentences(parts), SYNONYMS, 2),
    "3 words exchanged": lambda parts, _: _exchange(_join_sentences(parts), SYNONYMS, 3),
    "1 word exchanged beside the “no”": _make_denial_edit(lambda sentence: _exchange(sentence, SYNONYMS, 1)),
    "“no” becomes “some”": _make_denial_edit(_replace_no),
}
# Edits of only the layout or the letter case.
LAYOUTS: dict[str, Edit] = {
    "lines wrapped": lambda parts, _: textwrap.fill(_join_sentences(parts), 40, break_on_hyphens=False),
    "as a list": lambda parts, _: "\n".join(f"- {part.strip()}" for part in parts),
    "under a heading": lambda parts, _: f"FINDINGS: {_join_sentences(parts)}",
    "in lower case": lambda parts, _: _join_sentences(parts).lower(),
}


def split_reports(reports: Sequence[Report]) -> list[list[str]]:
    """Return the first 100 distinct findings sections of six or more sentences, as lists of sentences."""
    distinct: dict[str, list[str]] = {}
    for report in reports:
        sentences = [statement.text for statement in statements(reveal(report.findings))]
        if len(sentences) >= max(STEPS):
            distinct.setdefault(_join_sentences(sentences), sentences)
    return list(distinct.values())[:REPORTS]


def edit_reports(reports: Sequence[list[str]], edits: Mapping[str, Edit] = EDITS) -> pd.DataFrame:
    """Return each report with each of its edits, and with controls made from another report.

    Parameters
    ----------
    reports : reports as lists of at least six sentences; two reports or more.
    edits : a mapping from name to edit; an edit that returns None for a report gives no row.

    Returns
    -------
    DataFrame
        ``report``, the report's number from 0; ``edit``, the name of the edit or control; ``reference``, the
        report; ``candidate``, the edited text. Controls are ``same``, ``another report``, and ``1``, ``3``
        and ``6``, which replace this number of first sentences with those of another report.

    Raises
    ------
    ValueError
        If there is only one report.
    """
    if len(reports) == 1:
        raise ValueError("one report has no other to take sentences from; pass two reports or more")
    rows = []
    for number, sentences in enumerate(reports):
        donor = reports[(number + len(reports) // 2) % len(reports)]  # another report, for its sentences
        candidates: dict[str, str | None] = {
            "same": _join_sentences(sentences),
            "another report": _join_sentences(donor),
        }
        candidates |= {name: edit(sentences, donor[0]) for name, edit in edits.items()}
        for count in STEPS:
            candidates[str(count)] = _join_sentences([*donor[:count], *sentences[count:]])
        rows += [
            (number, name, _join_sentences(sentences), text)
            for name, text in candidates.items()
            if text is not None
        ]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def make_text_pairs(reports: Sequence[Report]) -> list[TextPair]:
    """Return each report that :func:`split_reports` selects, paired with each of its edits and controls.

    ``case`` is the report's number, ``group`` the name of the edit, and the id ``<case>/<group>``. Raises
    ValueError if :func:`split_reports` selects only one report.
    """
    rows = edit_reports(split_reports(reports), EDITS | WORDINGS).itertuples()
    return [
        TextPair(f"{row.report}/{row.edit}", str(row.report), row.reference, row.candidate, group=row.edit)
        for row in rows
    ]


def restore_pairs(recording: Recording) -> Iterator[TextPair]:
    """Yield the pairs of :func:`make_text_pairs` from the stored set, with placeholders as texts."""
    for row in recording.table.itertuples():
        reference, candidate = make_pair_placeholders(recording.name, row)
        yield TextPair(f"{row.case}/{row.edit}", str(row.case), reference, candidate, group=row.edit)
