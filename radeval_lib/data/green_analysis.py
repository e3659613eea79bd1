"""The layout of a GREEN analysis: its sections, the names of its error categories, and how one is written.

Source: Ostmeier et al. 2024, Section 3.2; GREEN repository at d72c195, ``green_score/green.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from radeval_lib.data.categories import GREEN_NAMES, LETTERS

SIGNIFICANT, INSIGNIFICANT, MATCHED = SECTIONS = (
    "Clinically Significant Errors",
    "Clinically Insignificant Errors",
    "Matched Findings",
)
Found = int | Sequence[str]

_ENTRY = re.compile(r"^(?:\(([a-f])\) [^:]*: )?\d+\. ?(.*)$", re.MULTILINE)

_LAYOUT = re.compile(
    rf"\[(?:{'|'.join(SECTIONS)})\]:|(?:\([a-f]\) )?(?:{'|'.join(map(re.escape, GREEN_NAMES))})[:.]"
)


def without_layout(text: str) -> list[str]:
    """What an analysis, or a prompt that lists the categories, says between its headings and categories."""
    return [part for part in map(str.strip, _LAYOUT.split(text)) if part]


def render(
    significant: Sequence[Found], insignificant: Sequence[Found], matched: Found, explanation: str = ""
) -> str:
    """An analysis in the layout that the prompt asks for.

    Errors come in six entries, (a) to (f): what was found, in words, or only how many, which are then written
    as ``finding 1; finding 2``.
    """

    def listed(found: Found) -> str:
        said = list(found) if isinstance(found, Sequence) else [f"finding {n}" for n in range(1, found + 1)]
        return f"{len(said)}. {'; '.join(said)}".strip()

    def section(name: str, entries: Sequence[Found]) -> str:
        lines = [
            f"({letter}) {category}: {listed(found)}"
            for letter, category, found in zip(LETTERS, GREEN_NAMES, entries, strict=True)
        ]
        return "\n".join([f"[{name}]:", *lines])

    parts = [section(SIGNIFICANT, significant), section(INSIGNIFICANT, insignificant)]
    return "\n\n".join([explanation, *parts, f"[{MATCHED}]:\n{listed(matched)}"]).lstrip("\n")


def entries(analysis: str) -> Iterator[tuple[str, str, str]]:
    """The errors and matched findings that an analysis names: section, letter of the category (empty for a
    matched finding), and what is said."""
    for section in SECTIONS:
        body = analysis.partition(f"[{section}]:")[2].partition("\n[")[0].strip()
        for letter, listed in _ENTRY.findall(body):
            for said in filter(None, map(str.strip, listed.split(";"))):
                yield section, letter, said
