"""How to write and read a GREEN analysis, the answer in which GREEN's model lists errors and matched
findings.

Source: Ostmeier et al. 2024, Section 3.2; GREEN repository at d72c195, ``green_score/green.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radeval_lib.categories import DIGITS, GREEN_NAMES, LETTERS

SIGNIFICANT, INSIGNIFICANT, MATCHED = SECTIONS = (
    "Clinically Significant Errors",
    "Clinically Insignificant Errors",
    "Matched Findings",
)
Findings = int | list[str] | tuple[str, ...]
"""The findings of an entry as strings, or only their number."""
ERROR_LINE = re.compile(r"\(([a-f1-6])\) ([^:]*): (\d+)\.(?!\d)")
"""Matches the beginning of a line of errors: ``(a) False report of a finding in the candidate: 2.``"""
COUNT = re.compile(r"(\d+)\.(?!\d)")
"""Matches the number with which matched findings, or a line with one finding, begin: ``3.``"""
# Matches "[Matched Findings]:" and "(b) Missing a finding present in the reference:"; the letter is optional.
_LAYOUT = re.compile(
    rf"\[(?:{'|'.join(SECTIONS)})\]:|(?:\([a-f]\) )?(?:{'|'.join(map(re.escape, GREEN_NAMES))})[:.]"
)


def split_at_layout(text: str) -> list[str]:
    """Return the parts of an analysis or prompt between section headings and category names, if not empty."""
    return [part for part in map(str.strip, _LAYOUT.split(text)) if part]


def render(
    significant: Sequence[Findings],
    insignificant: Sequence[Findings],
    matched: Findings,
    explanation: str = "",
) -> str:
    """Return a GREEN analysis in the layout that the prompt asks for.

    Parameters
    ----------
    significant, insignificant : the errors of each category, six entries from (a) to (f). Errors given only
        by their number are written as ``finding 1; finding 2``.
    matched : the matched findings: their strings, or only their number.
    explanation : text to put first.

    Raises
    ------
    ValueError
        If there are not six entries of errors.
    """

    def format_findings(findings: Findings) -> str:
        if not isinstance(findings, list | tuple):
            findings = [f"finding {number}" for number in range(1, findings + 1)]
        return f"{len(findings)}. {'; '.join(findings)}".strip()

    def section(name: str, errors: Sequence[Findings]) -> str:
        lines = [
            f"({letter}) {category}: {format_findings(findings)}"
            for letter, category, findings in zip(LETTERS, GREEN_NAMES, errors, strict=True)
        ]
        return "\n".join([f"[{name}]:", *lines])

    parts = [section(SIGNIFICANT, significant), section(INSIGNIFICANT, insignificant)]
    return "\n\n".join([explanation, *parts, f"[{MATCHED}]:\n{format_findings(matched)}"]).lstrip("\n")


class Entry(NamedTuple):
    """A finding in an analysis: its section, the letter of its error category, and its text.

    The letter is ``a`` to ``f``, or empty for a matched finding.
    """

    section: str
    letter: str
    finding: str


def to_letter(mark: str) -> str:
    """Return an error category's letter, ``a`` to ``f``, given the letter or its number, ``1`` to ``6``.

    Any other single character is returned unchanged.
    """
    return LETTERS[DIGITS.index(mark)] if mark in DIGITS else mark


def parse_entries(analysis: str) -> Iterator[Entry]:
    """Yield each error and matched finding of an analysis, by section.

    Errors may follow the number of their category on its line, or be numbered lines below it. Numbered lines
    above the first category of a section are skipped.
    """
    for section in SECTIONS:
        body = analysis.partition(f"[{section}]:")[2].partition("\n[")[0]
        letter = ""
        for line in map(str.strip, body.splitlines()):
            head = COUNT.match(line)
            if section != MATCHED and (error := ERROR_LINE.match(line)):
                head, letter = error, to_letter(error.group(1))
            if head is None or (section != MATCHED and not letter):
                continue
            for finding in filter(None, map(str.strip, line[head.end() :].split(";"))):
                yield Entry(section, letter, finding)
