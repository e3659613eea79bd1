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
    observation : key of the generator's lexicon ("pleural_effusion") or of ``reading.yml``.
    presence : present, absent or uncertain.
    start, end : where the words of the observation stand, in characters of the report.
    words : those words.
    locations : where it is said to be; for a device, where its tip is said to lie.
    severity : step from 0 (minimal, trace) to 3 (severe, large); None where none is said.
    size_mm : diameters in millimetres; for a device, the distance of its tip; empty where none is said.
    change : new, increased, decreased or unchanged against an earlier study; None where none is said.
    sign_of : the diagnosis that the finding is read as ("opacity, suggestive of pneumonia"), as the number
        of that finding in the reading.
    outright : whether it is denied as such ("no effusion"), and not only some kind of it ("no large
        effusion", "no focal opacity", "no effusion on the left").
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
    sign_of: int | None = None
    outright: bool = False


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
    """What a report says, in its order; ``recommends`` is whether it asks for another examination."""

    findings: tuple[Finding, ...]
    normals: tuple[NormalStatement, ...]
    recommends: bool
