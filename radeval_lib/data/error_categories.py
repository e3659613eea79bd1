"""The six categories of errors of ReXVal (Yu et al. 2023) and GREEN (Ostmeier et al. 2024), in one order.

ReXVal numbers them 1 to 6, GREEN letters them (a) to (f).
"""

from __future__ import annotations

LETTERS, DIGITS = "abcdef", "123456"

CATEGORIES: dict[str, str] = {
    "a": "false report of a finding",
    "b": "missing finding",
    "c": "misidentified location or position of a finding",
    "d": "misassessed severity of a finding",
    "e": "mention of a comparison that is not in the reference",
    "f": "omission of a comparison that describes a change",
}
"""In our words, by letter."""

REXVAL_NAMES = (
    "false prediction of finding",
    "omission of finding",
    "incorrect location of finding",
    "incorrect severity of finding",
    "comparison absent from the reference",
    "omission of comparison",
)
"""As ReXVal has them."""

GREEN_NAMES = (
    "False report of a finding in the candidate",
    "Missing a finding present in the reference",
    "Misidentification of a finding's anatomic location/position",
    "Misassessment of the severity of a finding",
    "Mentioning a comparison that isn't in the reference",
    "Omitting a comparison detailing a change from a prior study",
)
"""As GREEN's prompt and answers have them."""
