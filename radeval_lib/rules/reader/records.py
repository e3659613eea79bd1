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

    Attributes
    ----------
    observation : the lexicon's key of what is found, "pleural_effusion".
    presence : "uncertain" where the report hedges.
    start, end : of the name in the report, in characters, half-open.
    words : the report's own, ``text[start:end]``.
    severity : its step on the scale of the observation, 0 the mildest; None where none is said.
    size_mm : its diameters, in the report's order.
    change : the kind of change since an earlier study, as the lexicon calls it.
    sign_of : the indices, in the reading's findings, of the diagnoses that it is read as.
    outright : whether it is denied by its bare name ("no effusion"), without place, severity, size or change,
        so that the denial is one of the finding altogether.
    distance_mm : the distance of a tip from the place that is named with it.
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
    """A structure that a report calls normal, as "the lungs are clear", by its key in the lexicon; ``start``,
    ``end`` and ``words`` as of a :class:`Finding`."""

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
