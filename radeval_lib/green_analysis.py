"""The layout of a GREEN analysis: its sections, its error categories, and how to write and read one.

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
"""Findings in words, or only how many."""
ERROR_LINE = re.compile(r"\(([a-f1-6])\) ([^:]*): (\d+)\.(?!\d)")
"""How a line of errors begins: ``(a) False report of a finding in the candidate: 2.``"""
COUNT = re.compile(r"(\d+)\.(?!\d)")
"""How matched findings begin, and a finding on a line of its own: ``3.``"""
# "[Matched Findings]:" and "(b) Missing a finding present in the reference:", the letter optional.
_LAYOUT = re.compile(
    rf"\[(?:{'|'.join(SECTIONS)})\]:|(?:\([a-f]\) )?(?:{'|'.join(map(re.escape, GREEN_NAMES))})[:.]"
)


def without_layout(text: str) -> list[str]:
    """Return the text of an analysis, or of a prompt, without its headings and categories."""
    return [part for part in map(str.strip, _LAYOUT.split(text)) if part]


def render(
    significant: Sequence[Findings],
    insignificant: Sequence[Findings],
    matched: Findings,
    explanation: str = "",
) -> str:
    """Return an analysis in the layout that the prompt asks for.

    Errors come in six entries, (a) to (f). Findings known only by their number are written as ``finding 1;
    finding 2``. Another number of entries raises :class:`ValueError`.
    """

    def listed(findings: Findings) -> str:
        if not isinstance(findings, list | tuple):
            findings = [f"finding {number}" for number in range(1, findings + 1)]
        return f"{len(findings)}. {'; '.join(findings)}".strip()

    def section(name: str, errors: Sequence[Findings]) -> str:
        lines = [
            f"({letter}) {category}: {listed(findings)}"
            for letter, category, findings in zip(LETTERS, GREEN_NAMES, errors, strict=True)
        ]
        return "\n".join([f"[{name}]:", *lines])

    parts = [section(SIGNIFICANT, significant), section(INSIGNIFICANT, insignificant)]
    return "\n\n".join([explanation, *parts, f"[{MATCHED}]:\n{listed(matched)}"]).lstrip("\n")


class Entry(NamedTuple):
    """A finding that an analysis names: ``letter`` is the category of an error, empty for a match."""

    section: str
    letter: str
    finding: str


def category_letter(mark: str) -> str:
    """Return the letter, ``a`` to ``f``, of the category that marks a line (also as ``1`` to ``6``)."""
    return LETTERS[DIGITS.index(mark)] if mark in DIGITS else mark


def entries(analysis: str) -> Iterator[Entry]:
    """Yield the errors and matched findings that an analysis names. Errors may follow their category's count,
    or be numbered lines below it. Such lines above any category are skipped."""
    for section in SECTIONS:
        body = analysis.partition(f"[{section}]:")[2].partition("\n[")[0]
        letter = ""
        for line in map(str.strip, body.splitlines()):
            head = COUNT.match(line)
            if section != MATCHED and (error := ERROR_LINE.match(line)):
                head, letter = error, category_letter(error.group(1))
            if head is None or (section != MATCHED and not letter):
                continue
            for finding in filter(None, map(str.strip, line[head.end() :].split(";"))):
                yield Entry(section, letter, finding)
