"""Vertebrae and ribs: places that reports number, "T8" or "left 7th rib"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from radeval_lib.rules.reader.records import Location

_HIGHEST = 12  # of the thoracic vertebrae, and of the ribs
# Parts of the spine: letter, name, how many vertebrae it has.
_VERTEBRAE = (("c", "cervical", 7), ("t", "thoracic", _HIGHEST), ("l", "lumbar", 5))
_ORDINALS = (
    *("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th"),
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
SPINE = tuple(f"{letter}{number}" for letter, _, count in _VERTEBRAE for number in range(1, count + 1))
RIBS = tuple(f"rib_{number}" for number in range(1, _HIGHEST + 1))


def names() -> Iterator[tuple[str, Location]]:
    """Names of vertebrae and ribs with what they stand for: "T8", "eighth thoracic vertebra", "left 7th
    rib"."""
    for letter, name, count in _VERTEBRAE:
        for number in range(1, count + 1):
            place = Location(f"{letter}{number}", None)
            ordinals = _ORDINALS[number - 1 :: _HIGHEST]
            for form in (f"{letter}{number}", f"{letter} {number}", *(f"{one} {name}" for one in ordinals)):
                for noun in ("", " vertebra", " vertebral body", " body"):
                    if noun or form[0] == letter:
                        yield f"{form}{noun}", place
    for number in range(1, _HIGHEST + 1):
        for ordinal in _ORDINALS[number - 1 :: _HIGHEST]:
            for side in (None, "left", "right", "bilateral"):
                place, said = Location(f"rib_{number}", side), side or ""
                for part in ("", "lateral ", "posterior ", "anterior "):
                    yield f"{said} {part}{ordinal} rib", place
                    yield f"{part}{said} {ordinal} rib", place
                    yield f"{ordinal} {part}{said} rib", place


def within(region: str) -> tuple[str, ...]:
    """The vertebrae or ribs of a region given by its first and last, as "t11-l2".

    Raises
    ------
    ValueError
        If there are no such vertebrae or ribs in this order.
    """
    first, _, last = region.partition("-")
    row = RIBS if first in RIBS else SPINE
    held = row[row.index(first) : row.index(last) + 1]
    if not held:
        raise ValueError(f"{region!r} is empty")
    return held


def neighbours(regions: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """For each vertebra and rib its neighbours and the ``regions`` that hold it (see :func:`within`)."""
    table: dict[str, set[str]] = {key: set() for key in (*SPINE, *RIBS)}
    for row in (SPINE, RIBS):
        for one, other in pairwise(row):
            table[one].add(other)
            table[other].add(one)
    for region, ends in regions.items():
        for key in within(ends):
            table[key].add(region)
    return {key: frozenset(near) for key, near in table.items()}


def with_numbered(places: frozenset[str]) -> frozenset[str]:
    """The places, and every vertebra where the spine or a part of it is one, every rib where the ribs are."""
    spine = {"spine", "thoracic_spine", "lumbar_spine", "cervical_spine"} & places
    return places | {*(RIBS if "ribs" in places else ()), *(SPINE if spine else ())}
