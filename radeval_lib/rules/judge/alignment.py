"""Which findings of two reports correspond, one to one, and what one report covers of the other."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from radeval_lib.rules.judge.items import Item, Said
from radeval_lib.rules.judge.relations import KIN, KIND, MEANT, SAME, near, relation, sides_conflict

_BASE = {SAME: 10.0, MEANT: 7.0, KIND: 5.0, KIN: 4.0}
"""The likeness of two findings so related, before side, place, degree and size raise or lower it."""


class Link(NamedTuple):
    """A finding of the reference, the one of the candidate that is about it, and how they are related."""

    reference: Item
    candidate: Item
    relation: str


def _likeness(one: Item, other: Item) -> tuple[float, str] | None:
    """How like two findings are, and how they are related; None where they may not be linked."""
    related_as = relation(one, other)
    if related_as is None:
        return None
    conflict = sides_conflict(one, other)
    opposite = conflict and "bilateral" not in (one.side, other.side)
    if opposite and related_as != SAME:
        return None
    closeness = near(one, other)
    if related_as in (KIND, KIN) and closeness is False:
        return None
    value = _BASE[related_as] - 1.5 * conflict + (one.side is not None and one.side == other.side)
    if closeness is not None:
        value += 1.0 if one.places & other.places else (0.5 if closeness else -1.0)
    value += 0.25 * (one.severity is not None and one.severity == other.severity)
    value += 0.25 * (bool(one.size_mm) and one.size_mm == other.size_mm)
    return value, related_as


def align(reference: Said, candidate: Said) -> list[Link]:
    """One-to-one links, in the order of the reference's text.

    A relative of a finding is none where one report states what the other denies.
    """
    options = []
    for left, one in enumerate(reference.stated):
        for right, other in enumerate(candidate.stated):
            if (likeness := _likeness(one, other)) is None:
                continue
            if likeness[1] in (SAME, MEANT) or not (
                other.observation in reference.denied or one.observation in candidate.denied
            ):
                options.append((-likeness[0], left, right, likeness[1]))
    links: dict[int, Link] = {}
    taken: set[int] = set()
    for _, left, right, related_as in sorted(options):
        if left not in links and right not in taken:
            links[left] = Link(reference.stated[left], candidate.stated[right], related_as)
            taken.add(right)
    return sorted(links.values(), key=lambda link: link.reference.start)


def by_side(mine: Said, theirs: Said) -> Said:
    """A report with its bilateral findings said of each side where the other report says them so."""
    stated = []
    for item in mine.stated:
        sides = {one.side for one in theirs.stated if one.observation == item.observation}
        if item.side == "bilateral" and "bilateral" not in sides and {"left", "right"} <= sides:
            stated += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            stated.append(item)
    return replace(mine, stated=stated)


def covered(item: Item, mine: Said, other: Said) -> tuple[Item, str] | None:
    """The first finding of ``other`` that says what ``item`` of ``mine`` says, and how the two are related.

    It has a finer or coarser name, or is a sign of the same diagnosis, at a place that fits; or it is the
    same finding at all places of ``item`` and perhaps more. Neither report may deny what the other states of
    it. None where there is none.
    """
    if item.observation in other.denied:
        return None
    for one in other.stated:
        related_as = relation(item, one)
        if sides_conflict(one, item) or one.observation in mine.denied:
            continue
        if (related_as in (MEANT, KIND) and near(one, item) is not False) or (
            related_as == SAME and item.places and item.places <= one.places
        ):
            return one, related_as
    return None
