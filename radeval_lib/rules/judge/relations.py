"""How two findings of the judge by rules are related: by name, by meaning, and by place."""

from __future__ import annotations

from collections.abc import Iterable

from radeval_lib.rules.judge.items import Item
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader.meanings import HOME
from radeval_lib.rules.reader.vocabulary import vocabulary

SAME, MEANT, KIND = "same finding", "sign and diagnosis", "finer or coarser name"
KIN = "near relative"
"""How two findings may be related, closest first."""

_GOOD_POSITION = "good_position"  # of a device; does not say where that is


def relation(one: Item, other: Item) -> str | None:
    """How two findings are related, as one of :data:`SAME`, :data:`MEANT`, :data:`KIND` and :data:`KIN`; None
    where they are not."""
    if one.observation == other.observation or _namesakes(one, other):
        return SAME
    mine, theirs = one.means | {one.observation}, other.means | {other.observation}
    if mine & theirs:
        return MEANT
    known = vocabulary()
    if any((a, b) in known.kinds or (b, a) in known.kinds for a in mine for b in theirs):
        return KIND
    if any(frozenset((a, b)) in known.kin for a in mine for b in theirs):
        return KIN
    return None


def _namesakes(one: Item, other: Item) -> bool:
    """Whether one name, at places that fit, was read as the findings of two regions of the body.

    The rest of a report decides how an ambiguous name is read, and may decide otherwise in the other report.
    """
    if not one.names & other.names or near(one, other) is False:
        return False
    concepts = load_lexicon().concepts
    ours, theirs = (concepts.get(item.observation) for item in (one, other))
    return (ours.region if ours else HOME) != (theirs.region if theirs else HOME)


def sides_conflict(one: Item, other: Item) -> bool:
    """Whether both name a side and not the same."""
    return one.side is not None and other.side is not None and one.side != other.side


def near(one: Item, other: Item) -> bool | None:
    """Whether the places overlap or lie next to each other; None where one of the two names none."""
    if not one.places or not other.places:
        return None
    known = vocabulary()
    if one.observation in known.devices:
        wrong = _malpositions(one) | _malpositions(other)
        if bool(one.places & wrong) != bool(other.places & wrong):
            return False
    mine, theirs = (item.places - {_GOOD_POSITION} for item in (one, other))
    if not mine or not theirs:
        return None
    if mine & theirs:
        return True
    return bool(_beside(mine) & theirs or _beside(theirs) & mine)


def strays(one: Item, other: Item) -> bool:
    """Whether one names a vertebra or rib that is far from all that the other names."""
    numbered = vocabulary().beside
    return any(
        place in numbered and not ({place} | _beside([place])) & theirs
        for mine, theirs in ((one.places, other.places), (other.places, one.places))
        for place in mine
        if theirs and theirs <= numbered.keys()
    )


def _malpositions(item: Item) -> frozenset[str]:
    return vocabulary().malpositions.get(item.observation, frozenset())


def _beside(places: Iterable[str]) -> set[str]:
    """The places next to these."""
    known, beside = load_lexicon().places, vocabulary().beside
    near = {key for at in places if at in known for key in known[at].near}
    return near.union(*(beside.get(at, frozenset()) for at in places))
