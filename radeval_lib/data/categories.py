"""Categories that several rooms share: RaTE-NER's entity types, and the errors of ReXVal and GREEN."""

from __future__ import annotations

RATE_TYPES = ("Anatomy", "Abnormality", "Disease", "Non-Abnormality", "Non-Disease")
"""As annotations have them."""

TYPES = tuple(name.upper() for name in RATE_TYPES)
"""In upper case, as the released model has them."""


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
