"""Writing and parsing of a GREEN analysis, the answer in which GREEN's model lists errors and matched
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
"""The findings of one error category, or the matched findings: as strings, or only their number."""
ERROR_LINE = re.compile(r"\(([a-f1-6])\) ([^:]*): (\d+)\.(?!\d)")
"""Matches the start of a line of errors, such as ``(a) False report of a finding in the candidate: 2.``"""
COUNT = re.compile(r"(\d+)\.(?!\d)")
"""Matches the number at the start of the matched findings, or of a line with one finding, such as ``3.``"""
# Matches "[Matched Findings]:" and "(b) Missing a finding present in the reference:"; the letter is optional.
_LAYOUT = re.compile(
    rf"\[(?:{'|'.join(SECTIONS)})\]:|(?:\([a-f]\) )?(?:{'|'.join(map(re.escape, GREEN_NAMES))})[:.]"
)


def split_at_layout(text: str) -> list[str]:
    """Return the non-empty parts of an analysis or prompt between section headings and category names."""
    return [part for part in map(str.strip, _LAYOUT.split(text)) if part]


def render(
    significant: Sequence[Findings],
    insignificant: Sequence[Findings],
    matched: Findings,
    explanation: str = "",
) -> str:
    """Return a GREEN analysis in the layout that GREEN's prompt asks for.

    Parameters
    ----------
    significant, insignificant : the errors of the six categories, from (a) to (f). Errors given only by their
        number are written as ``finding 1; finding 2``.
    matched : the matched findings, as strings or only their number.
    explanation : the text above the sections.

    Raises
    ------
    ValueError
        If there are not six categories of errors.
    """

    def format_findings(findings: Findings) -> str:
        if not isinstance(findings, list | tuple):
            findings = [f"finding {number}" for number in range(1, findings + 1)]
        return f"{len(findings)}. {'; '.join(findings)}".strip()

    def format_section(name: str, errors: Sequence[Findings]) -> str:
        lines = [
            f"({letter}) {category}: {format_findings(findings)}"
            for letter, category, findings in zip(LETTERS, GREEN_NAMES, errors, strict=True)
        ]
        return "\n".join([f"[{name}]:", *lines])

    parts = [format_section(SIGNIFICANT, significant), format_section(INSIGNIFICANT, insignificant)]
    return "\n\n".join([explanation, *parts, f"[{MATCHED}]:\n{format_findings(matched)}"]).lstrip("\n")


class Entry(NamedTuple):
    """An error or matched finding in an analysis: its section, the letter of its category, and its text.

    The letter is ``a`` to ``f``, or empty for a matched finding.
    """

    section: str
    letter: str
    finding: str


def to_letter(mark: str) -> str:
    """Return the letter of an error category, ``a`` to ``f``, from that letter or a digit, ``1`` to ``6``.

    Any other single character is returned unchanged.
    """
    return LETTERS[DIGITS.index(mark)] if mark in DIGITS else mark


def parse_entries(analysis: str) -> Iterator[Entry]:
    """Yield each error and matched finding of an analysis, in the order of :data:`SECTIONS`.

    Errors may follow the count on the line of their category, or be on numbered lines below it. Numbered
    lines above the first category of a section are skipped.
    """
    for section in SECTIONS:
        body = analysis.partition(f"[{section}]:")[2].partition("\n[")[0]
        letter = ""
        for line in map(str.strip, body.splitlines()):
            match = COUNT.match(line)
            if section != MATCHED and (category := ERROR_LINE.match(line)):
                match, letter = category, to_letter(category.group(1))
            if match is None or (section != MATCHED and not letter):
                continue
            for finding in filter(None, map(str.strip, line[match.end() :].split(";"))):
                yield Entry(section, letter, finding)
