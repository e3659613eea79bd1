"""Finds the findings that a report states, denies or doubts and the structures that it calls normal, with
their positions.

>>> from radeval_lib.rules.reader import read
>>> reading = read("Small left effusion. No pneumothorax.")
>>> [(finding.observation, finding.presence) for finding in reading.findings]
[('pleural_effusion', 'present'), ('pneumothorax', 'absent')]
"""

from radeval_lib.rules.reader.reader import Coverage, ReadInPart, Section, coverage, read
from radeval_lib.rules.reader.records import Finding, Location, NormalStatement, Presence, Reading

__all__ = [
    "Coverage",
    "Finding",
    "Location",
    "NormalStatement",
    "Presence",
    "ReadInPart",
    "Reading",
    "Section",
    "coverage",
    "read",
]
