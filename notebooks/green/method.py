"""What can be counted in the paper's own words on its method (Ostmeier et al. 2024)."""

from __future__ import annotations

import difflib
import re

from radeval_lib.papers.printed_numbers import quotations


def changes(before: str, after: str) -> list[str]:
    """What was changed between two texts, spacing aside, as ``old words → new words``."""
    old, new = (re.findall(r"\w+|[^\w\s]", text) for text in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        f"{' '.join(old[a:b])} → {' '.join(new[c:d])}"
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def enumerated(exhibit: str) -> int:
    """How many items the paper's own numbering i), ii), … has in what it says about an exhibit."""
    said = " ".join(words for _, words in quotations(exhibit))
    return len(set(re.findall(r"(?<![\w])([ivx]+)\) ", said)))
