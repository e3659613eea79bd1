"""The layout of a GREEN analysis: its sections, the names of its error categories, and how one is written.

Source: Ostmeier et al. 2024, Section 3.2; GREEN repository at d72c195, ``green_score/green.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from radeval_lib.data.categories import GREEN_NAMES, LETTERS

SIGNIFICANT, INSIGNIFICANT, MATCHED = SECTIONS = (
    "Clinically Significant Errors",
    "Clinically Insignificant Errors",
    "Matched Findings",
)
Found = int | Sequence[str]


def render(
    significant: Sequence[Found], insignificant: Sequence[Found], matched: Found, explanation: str = ""
) -> str:
    """An analysis in the layout that the prompt asks for.

    Parameters
    ----------
    significant, insignificant : six entries, (a) to (f): what was found, in words, or only how many, which
        are then written as ``finding 1; finding 2``.
    matched : likewise, the matched findings.
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
