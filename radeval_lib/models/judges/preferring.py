"""Asking a language model which of two candidate reports is better (Ostmeier et al. 2024, Appendix A.3).

The wording of the paper's prompt is missing in our copy; of its parts a reference and two candidates are
named, and Section 3.4.2 adds the confidence. Ours has these parts in words of our own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from radeval_lib.models.judges.base import LONGEST, cut

_CHOICE = re.compile(r"^\W*preferred\W*\s(?:candidate\s*|report\s*)*(1|2)\W*$", re.IGNORECASE | re.MULTILINE)
_CONFIDENCE = re.compile(r"^\W*confidence\W*\s(10|[1-9])\W*(?:/\s*10\W*)?$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """What a model prefers."""

    choice: int | None
    confidence: int | None


def preference_prompt(reference: str, first: str, second: str, words: int = LONGEST) -> str:
    """What a model is asked; of each report so many words are kept."""
    return (
        "Two candidate reports describe the image that a radiologist described in the reference report. Say "
        "which of the two you prefer, and how sure you are, from 1 to 10.\n\n"
        f"Reference report:\n{cut(reference, words)}\n\n"
        f"Candidate report 1:\n{cut(first, words)}\n\n"
        f"Candidate report 2:\n{cut(second, words)}\n\n"
        "Answer in this layout:\n\nPreferred: <1 or 2>\nConfidence: <1 to 10>"
    )


def read_preference(text: str) -> Answer:
    """Read an answer. A choice stands on a line of its own, and counts only where all such lines agree."""
    choices = {int(found) - 1 for found in _CHOICE.findall(text)}
    sure = {int(found) for found in _CONFIDENCE.findall(text)}
    return Answer(choices.pop() if len(choices) == 1 else None, sure.pop() if len(sure) == 1 else None)
