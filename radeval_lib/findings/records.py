"""What the reader finds in a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Presence = Literal["present", "absent", "uncertain"]


@dataclass(frozen=True, slots=True)
class Location:
    """A place of the lexicon and its side; either may be None, not both.

    ``place`` is a key of the lexicon's places ("lower_lobe") or of ``reading.yml``; ``side`` is left, right
    or bilateral.
    """

    place: str | None
    side: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a report says of one observation.

    ``distance_mm`` is the distance of a tip from the place that is named with it. ``sign_of`` are the
    indices, in the reading's findings, of the diagnoses that it is read as.
    """

    observation: str
    presence: Presence
    start: int
    end: int
    words: str
    locations: tuple[Location, ...] = ()
    severity: int | None = None
    size_mm: tuple[float, ...] = ()
    change: str | None = None
    sign_of: tuple[int, ...] = ()
    outright: bool = False
    distance_mm: float | None = None


@dataclass(frozen=True, slots=True)
class NormalStatement:
    """A structure that a report calls normal, as "the lungs are clear", by its key in the lexicon."""

    key: str
    start: int
    end: int
    words: str
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a report says, in its order."""

    findings: tuple[Finding, ...]
    normals: tuple[NormalStatement, ...]
