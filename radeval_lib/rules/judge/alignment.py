"""How two findings of the rule-based judge are related: by name, by meaning, and by place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from radeval_lib.rules.judge.items import Item, Said
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader.records import HOME
from radeval_lib.rules.reader.vocabulary import vocabulary

SAME, MEANT, KIND = "same finding", "sign and diagnosis", "finer or coarser name"
KIN = "near relative"
"""How two findings may be related, closest first."""

_GOOD_POSITION = "good_position"  # of a device; does not say where that is


def relation(item: Item, other: Item) -> str | None:
    """Return how two findings are related: :data:`SAME`, :data:`MEANT`, :data:`KIND` or :data:`KIN`; None if
    not at all."""
    if item.observation == other.observation or _namesakes(item, other):
        return SAME
    mine, theirs = item.means | {item.observation}, other.means | {other.observation}
    if mine & theirs:
        return MEANT
    words_known = vocabulary()
    if any((a, b) in words_known.kinds or (b, a) in words_known.kinds for a in mine for b in theirs):
        return KIND
    if any(frozenset((a, b)) in words_known.kin for a in mine for b in theirs):
        return KIN
    return None


def _namesakes(first: Item, other: Item) -> bool:
    """Return whether one name, at places that fit, was read as the findings of two regions of the body.

    The rest of a report decides how an ambiguous name is read, and may decide otherwise in the other report.
    """
    if not first.names & other.names or near(first, other) is False:
        return False
    concepts = load_lexicon().concepts
    ours, theirs = (concepts.get(item.observation) for item in (first, other))
    return (ours.region if ours else HOME) != (theirs.region if theirs else HOME)


def sides_conflict(item: Item, other: Item) -> bool:
    """Return whether both name a side and the sides differ."""
    return item.side is not None and other.side is not None and item.side != other.side


def near(first: Item, other: Item) -> bool | None:
    """Return whether the places overlap or are next to each other; None if either names none."""
    if not first.places or not other.places:
        return None
    words_known = vocabulary()
    if first.observation in words_known.devices:
        wrong = _malpositions(first) | _malpositions(other)
        if bool(first.places & wrong) != bool(other.places & wrong):
            return False
    mine, theirs = (item.places - {_GOOD_POSITION} for item in (first, other))
    if not mine or not theirs:
        return None
    if mine & theirs:
        return True
    return bool(_beside(mine) & theirs or _beside(theirs) & mine)


def strays(item: Item, other: Item) -> bool:
    """Return whether one names a vertebra or rib that is far from all those of the other."""
    numbered = vocabulary().beside
    return any(
        site in numbered and not ({site} | _beside([site])) & theirs
        for mine, theirs in ((item.places, other.places), (other.places, item.places))
        for site in mine
        if theirs and theirs <= numbered.keys()
    )


def _malpositions(item: Item) -> frozenset[str]:
    return vocabulary().malpositions.get(item.observation, frozenset())


def _beside(places: Iterable[str]) -> set[str]:
    """Return the places next to these."""
    lexicon_places, beside = load_lexicon().places, vocabulary().beside
    near = {key for at in places if at in lexicon_places for key in lexicon_places[at].near}
    return near.union(*(beside.get(at, frozenset()) for at in places))


# Which findings of two reports correspond, one to one, and what one report covers of the other.


_BASE = {SAME: 10.0, MEANT: 7.0, KIND: 5.0, KIN: 4.0}
"""The likeness of two findings so related, before side, place, degree and size raise or lower it."""


class Link(NamedTuple):
    """A finding of the reference, the candidate's finding about the same thing, and how they are related."""

    reference: Item
    candidate: Item
    relation: str


def _likeness(item: Item, other: Item) -> tuple[float, str] | None:
    """Return how like two findings are, and how they are related; None if they may not be linked."""
    related_as = relation(item, other)
    if related_as is None:
        return None
    conflict = sides_conflict(item, other)
    opposite = conflict and "bilateral" not in (item.side, other.side)
    if opposite and related_as != SAME:
        return None
    closeness = near(item, other)
    if related_as in (KIND, KIN) and closeness is False:
        return None
    value = _BASE[related_as] - 1.5 * conflict + (item.side is not None and item.side == other.side)
    if closeness is not None:
        value += 1.0 if item.places & other.places else (0.5 if closeness else -1.0)
    value += 0.25 * (item.severity is not None and item.severity == other.severity)
    value += 0.25 * (bool(item.size_mm) and item.size_mm == other.size_mm)
    return value, related_as


def align(reference: Said, candidate: Said) -> list[Link]:
    """Return one-to-one links, in the order of the reference's text.

    A relative of a finding is none if one report states what the other denies.
    """
    options = []
    for left, stated_item in enumerate(reference.stated):
        for right, other in enumerate(candidate.stated):
            if (likeness := _likeness(stated_item, other)) is None:
                continue
            if likeness[1] in (SAME, MEANT) or not (
                other.observation in reference.denied or stated_item.observation in candidate.denied
            ):
                options.append((-likeness[0], left, right, likeness[1]))
    links: dict[int, Link] = {}
    taken: set[int] = set()
    for _, left, right, related_as in sorted(options):
        if left not in links and right not in taken:
            links[left] = Link(reference.stated[left], candidate.stated[right], related_as)
            taken.add(right)
    return sorted(links.values(), key=lambda link: link.reference.start)


def in_parts(mine: Said, theirs: Said) -> Said:
    """Return a report with compound findings split into parts if the other report mentions only the parts: a
    hydropneumothorax is a pneumothorax and an effusion."""
    compounds, spoken = (
        vocabulary().compounds,
        {stated_item.observation for stated_item in theirs.stated} | {*theirs.denied},
    )
    stated = []
    for item in mine.stated:
        parts = compounds.get(item.observation, [])
        if item.observation in spoken or not spoken.intersection(parts):
            stated.append(item)
            continue
        observations = {stated_item.observation for stated_item in mine.stated}
        stated += [
            replace(item, observation=part, severity=None) for part in parts if part not in observations
        ]
    return replace(mine, stated=stated)


def by_side(mine: Said, theirs: Said) -> Said:
    """Return a report with its bilateral findings stated for each side if the other report does so."""
    stated = []
    for item in mine.stated:
        sides = {
            stated_item.side for stated_item in theirs.stated if stated_item.observation == item.observation
        }
        if item.side == "bilateral" and "bilateral" not in sides and {"left", "right"} <= sides:
            stated += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            stated.append(item)
    return replace(mine, stated=stated)


def covered(item: Item, mine: Said, other: Said) -> tuple[Item, str] | None:
    """Return the first finding in ``other`` that states what ``item`` of ``mine`` states, and how the two are
    related.

    It has a finer or coarser name, or is a sign of the same diagnosis, at a place that fits; or it is the
    same finding at all places of ``item`` and perhaps more. Neither report may deny what the other states of
    it. None if there is none.
    """
    if item.observation in other.denied:
        return None
    for stated_item in other.stated:
        related_as = relation(item, stated_item)
        if sides_conflict(stated_item, item) or stated_item.observation in mine.denied:
            continue
        if (related_as in (MEANT, KIND) and near(stated_item, item) is not False) or (
            related_as == SAME and item.places and item.places <= stated_item.places
        ):
            return stated_item, related_as
    return None
