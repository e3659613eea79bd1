"""RaTE-NER's entity types, and the six error categories of ReXVal and GREEN.

:data:`CATEGORIES` and :data:`GREEN_NAMES` have the same six categories in the same order.
"""

from __future__ import annotations

RATE_TYPES = ("Anatomy", "Abnormality", "Disease", "Non-Abnormality", "Non-Disease")
"""RaTE-NER's entity types, as its annotations spell them."""

TYPES = tuple(name.upper() for name in RATE_TYPES)
"""RaTE-NER's entity types, as its released model spells them (in upper case)."""


LETTERS, DIGITS = "abcdef", "123456"
"""The letters, and the alternative digits, with which GREEN's answers mark the six error categories."""

CATEGORIES: dict[str, str] = {
    "a": "false report of a finding",
    "b": "missing finding",
    "c": "misidentified location or position of a finding",
    "d": "misassessed severity of a finding",
    "e": "mention of a comparison that is not in the reference",
    "f": "omission of a comparison that describes a change",
}
"""A mapping from GREEN's letter to the error category, in this book's words."""

GREEN_NAMES = (
    "False report of a finding in the candidate",
    "Missing a finding present in the reference",
    "Misidentification of a finding's anatomic location/position",
    "Misassessment of the severity of a finding",
    "Mentioning a comparison that isn't in the reference",
    "Omitting a comparison detailing a change from a prior study",
)
"""The six error categories in the words of GREEN's prompt and answers, from (a) to (f)."""
