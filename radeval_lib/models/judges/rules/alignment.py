"""Which finding of the candidate speaks of which finding of the reference.

Pairs are taken greedily, the likeliest first: the same observation before a diagnosis that the other calls by
its sign, that before a near relative of the lexicon's hierarchy (``families`` of ``findings/reading.yml``),
and that before a synonym by an encoder, where one is asked; among equals the same place before another one.
Ties fall to the order of the items, which is not that of the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from radeval_lib.findings.vocabulary import vocabulary
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.models.judges.rules.items import Item

SAME, MEANT, KIN, SYNONYM = "same finding", "sign and diagnosis", "near relative", "synonym by encoder"
_BASE = {SAME: 10.0, MEANT: 7.0, KIN: 4.0, SYNONYM: 1.0}

Synonyms = Callable[[str, str], bool]
"""Whether two observations, keys of the lexicon, are the same in other words."""


class Link(NamedTuple):
    """A finding of the reference, the one of the candidate that speaks of it, and how they are related."""

    reference: Item
    candidate: Item
    relation: str


def relation(one: Item, other: Item, synonyms: Synonyms | None = None) -> str | None:
    """How two findings are related, if they are."""
    if one.observation == other.observation:
        return SAME
    mine, theirs = one.means | {one.observation}, other.means | {other.observation}
    if mine & theirs:
        return MEANT
    kin = vocabulary().kin
    if any(frozenset((a, b)) in kin for a in mine for b in theirs):
        return KIN
    if synonyms is not None and synonyms(one.observation, other.observation):
        return SYNONYM
    return None


def sides_conflict(one: Item, other: Item) -> bool:
    """Whether both name a side and not the same."""
    return one.side is not None and other.side is not None and one.side != other.side


def near(one: Item, other: Item) -> bool | None:
    """Whether the places overlap or lie next to each other; None where one of the two names none."""
    if not one.places or not other.places:
        return None
    if one.places & other.places:
        return True
    places = load_lexicon().places
    return any(
        (b in places[a].near if a in places else False) or (a in places[b].near if b in places else False)
        for a in one.places
        for b in other.places
    )


def _likeness(one: Item, other: Item, synonyms: Synonyms | None) -> tuple[float, str] | None:
    how = relation(one, other, synonyms)
    if how is None:
        return None
    conflict = sides_conflict(one, other)
    opposite = conflict and "bilateral" not in (one.side, other.side)
    if opposite and how != SAME:
        return None
    closeness = near(one, other)
    if how in (KIN, SYNONYM) and closeness is False:
        return None
    value = _BASE[how] - 1.5 * conflict + (one.side is not None and one.side == other.side)
    if closeness is not None:
        value += 1.0 if one.places & other.places else (0.5 if closeness else -1.0)
    value += 0.25 * (one.severity is not None and one.severity == other.severity)
    value += 0.25 * (bool(one.size_mm) and one.size_mm == other.size_mm)
    return value, how


def align(
    reference: Sequence[Item], candidate: Sequence[Item], synonyms: Synonyms | None = None
) -> list[Link]:
    """One-to-one links, in the order of the reference's text."""
    options = []
    for left, one in enumerate(reference):
        for right, other in enumerate(candidate):
            if (likeness := _likeness(one, other, synonyms)) is not None:
                options.append((-likeness[0], left, right, likeness[1]))
    links: dict[int, Link] = {}
    taken: set[int] = set()
    for _, left, right, how in sorted(options):
        if left not in links and right not in taken:
            links[left] = Link(reference[left], candidate[right], how)
            taken.add(right)
    return sorted(links.values(), key=lambda link: link.reference.start)
