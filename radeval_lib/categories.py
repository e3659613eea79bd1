"""Categories that several packages share: RaTE-NER's entity types, and the errors of ReXVal and GREEN.

:data:`CATEGORIES` and :data:`GREEN_NAMES` list the same six errors in the same order.
"""

from __future__ import annotations

RATE_TYPES = ("Anatomy", "Abnormality", "Disease", "Non-Abnormality", "Non-Disease")
"""RaTE-NER's entity types as its annotations spell them."""

TYPES = tuple(name.upper() for name in RATE_TYPES)
"""RaTE-NER's entity types in upper case, as its released model spells them."""


LETTERS, DIGITS = "abcdef", "123456"
"""The marks of the six errors in GREEN's answers: letters, or digits in their place."""

CATEGORIES: dict[str, str] = {
    "a": "false report of a finding",
    "b": "missing finding",
    "c": "misidentified location or position of a finding",
    "d": "misassessed severity of a finding",
    "e": "mention of a comparison that is not in the reference",
    "f": "omission of a comparison that describes a change",
}
"""The six errors in our words, by GREEN's letter."""

GREEN_NAMES = (
    "False report of a finding in the candidate",
    "Missing a finding present in the reference",
    "Misidentification of a finding's anatomic location/position",
    "Misassessment of the severity of a finding",
    "Mentioning a comparison that isn't in the reference",
    "Omitting a comparison detailing a change from a prior study",
)
"""The six errors as GREEN's prompt and answers name them."""
