"""Relates findings of two reports by name, meaning and place, and links those about the same thing, one
to one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from radeval_lib.rules.judge.items import Content, Item
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader.records import HOME
from radeval_lib.rules.reader.vocabulary import load_vocabulary

SAME, MEANT, KIND = "same finding", "sign and diagnosis", "finer or coarser name"
#: The possible relations of two findings, closest first.
KIN = "near relative"

_GOOD_POSITION = "good_position"  # a place of devices that does not say where they are


def find_relation(item: Item, other: Item) -> str | None:
    """Return the closest relation of two findings; None if they are not related.

    :data:`SAME`: the same observation, or one name that was read as observations of two regions.
    :data:`MEANT`: both are the same diagnosis or signs of it. :data:`KIND`: one name is finer than the other.
    :data:`KIN`: near relatives in ``families`` of ``reading.yml``.
    """
    if item.observation == other.observation or _are_namesakes(item, other):
        return SAME
    keys, other_keys = item.means | {item.observation}, other.means | {other.observation}
    if keys & other_keys:
        return MEANT
    hyponyms, related = load_vocabulary().hyponyms, load_vocabulary().related
    if any((a, b) in hyponyms or (b, a) in hyponyms for a in keys for b in other_keys):
        return KIND
    if any(frozenset((a, b)) in related for a in keys for b in other_keys):
        return KIN
    return None


def _are_namesakes(first: Item, other: Item) -> bool:
    """Return whether two findings have the same name and places that fit, but were read as findings of
    different regions of the body.

    The rest of a report decides how an ambiguous name is read, so that the two reports may differ.
    """
    if not first.names & other.names or are_places_near(first, other) is False:
        return False
    concepts = load_lexicon().concepts
    concept, other_concept = (concepts.get(item.observation) for item in (first, other))
    return (concept.region if concept else HOME) != (other_concept.region if other_concept else HOME)


def sides_conflict(item: Item, other: Item) -> bool:
    """Return whether both findings have a side, and the sides differ."""
    return item.side is not None and other.side is not None and item.side != other.side


def are_places_near(first: Item, other: Item) -> bool | None:
    """Return whether a place of one finding is a place of the other or next to one; None if a finding has
    no place.

    A place that is a malposition of a device is not near any correct position.
    """
    if not first.places or not other.places:
        return None
    if first.observation in load_vocabulary().devices:
        by_device = load_vocabulary().malpositions
        malpositions = {place for item in (first, other) for place in by_device.get(item.observation, ())}
        if bool(first.places & malpositions) != bool(other.places & malpositions):
            return False
    places, other_places = (item.places - {_GOOD_POSITION} for item in (first, other))
    if not places or not other_places:
        return None
    if places & other_places:
        return True
    return bool(_list_neighbours(places) & other_places or _list_neighbours(other_places) & places)


def are_numbered_far_apart(item: Item, other: Item) -> bool:
    """Return whether a finding is at a vertebra or rib that is neither a place of the other finding nor
    next to one; False if the other has places that are not numbered, or none."""
    numbered = load_vocabulary().neighbours
    return any(
        site in numbered and not ({site} | _list_neighbours([site])) & other_places
        for places, other_places in ((item.places, other.places), (other.places, item.places))
        for site in places
        if other_places and other_places <= numbered.keys()
    )


def _list_neighbours(places: Iterable[str]) -> set[str]:
    """Return the places next to any of these, according to the lexicon and the numbers of vertebrae and
    ribs."""
    lexicon_places, numbered_neighbours = load_lexicon().places, load_vocabulary().neighbours
    neighbours = {key for site in places if site in lexicon_places for key in lexicon_places[site].near}
    return neighbours.union(*(numbered_neighbours.get(site, frozenset()) for site in places))


# Links between findings of two reports, and findings that cover others.


#: The likeness of two findings by their relation, before side, place, degree and size change it.
_BASE_LIKENESS = {SAME: 10.0, MEANT: 7.0, KIND: 5.0, KIN: 4.0}


class Link(NamedTuple):
    """A finding of the reference, the candidate's finding about the same thing, and their relation."""

    reference: Item
    candidate: Item
    relation: str


def _measure_likeness(item: Item, other: Item) -> tuple[float, str] | None:
    """Return the likeness of two findings (higher is more alike) and their relation; None if they must not be
    linked."""
    related_as = find_relation(item, other)
    if related_as is None:
        return None
    conflict = sides_conflict(item, other)
    opposite = conflict and "bilateral" not in (item.side, other.side)
    if opposite and related_as != SAME:
        return None
    nearby = are_places_near(item, other)
    if related_as in (KIND, KIN) and nearby is False:
        return None
    value = _BASE_LIKENESS[related_as] - 1.5 * conflict + (item.side is not None and item.side == other.side)
    if nearby is not None:
        value += 1.0 if item.places & other.places else (0.5 if nearby else -1.0)
    value += 0.25 * (item.severity is not None and item.severity == other.severity)
    value += 0.25 * (bool(item.size_mm) and item.size_mm == other.size_mm)
    return value, related_as


def align(reference: Content, candidate: Content) -> list[Link]:
    """Return one-to-one links between the findings of two reports, in the order of the reference's text; the
    most alike findings are linked first.

    Findings of finer, coarser or kindred names are not linked if one report denies the other's finding.
    """
    options = []
    for row, item in enumerate(reference.stated):
        for column, other in enumerate(candidate.stated):
            if (likeness := _measure_likeness(item, other)) is None:
                continue
            value, related_as = likeness
            denied = other.observation in reference.denied or item.observation in candidate.denied
            if related_as in (SAME, MEANT) or not denied:
                options.append((-value, row, column, related_as))
    links: dict[int, Link] = {}
    linked_columns: set[int] = set()
    for _, row, column, related_as in sorted(options):
        if row not in links and column not in linked_columns:
            links[row] = Link(reference.stated[row], candidate.stated[column], related_as)
            linked_columns.add(column)
    return sorted(links.values(), key=lambda link: link.reference.start)


def split_compounds(report: Content, other_report: Content) -> Content:
    """Return the content of a report with compound findings, such as hydropneumothorax, split into their
    parts if the other report mentions parts of them and not the compounds."""
    compounds = load_vocabulary().compounds
    mentioned = {item.observation for item in other_report.stated} | other_report.denied.keys()
    observations = {item.observation for item in report.stated}
    stated = []
    for item in report.stated:
        parts = compounds.get(item.observation, [])
        if item.observation in mentioned or not mentioned.intersection(parts):
            stated.append(item)
        else:
            new_parts = [part for part in parts if part not in observations]
            stated += [replace(item, observation=part, severity=None) for part in new_parts]
    return replace(report, stated=stated)


def split_by_side(report: Content, other_report: Content) -> Content:
    """Return the content of a report with a bilateral finding split into one for each side if the other
    report states the finding for both sides apart."""
    stated = []
    for item in report.stated:
        sides = {other.side for other in other_report.stated if other.observation == item.observation}
        if item.side == "bilateral" and "bilateral" not in sides and {"left", "right"} <= sides:
            stated += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            stated.append(item)
    return replace(report, stated=stated)


def find_covering_item(item: Item, report: Content, other_report: Content) -> tuple[Item, str] | None:
    """Return the first finding of ``other_report`` that covers ``item``, a finding of ``report``, and their
    relation; None if there is none.

    A covering finding has a finer or coarser name, or is a sign of the same diagnosis, at a place that fits;
    or it is the same finding at all places of ``item`` and perhaps more. Neither report denies the other's
    finding.
    """
    if item.observation in other_report.denied:
        return None
    for other in other_report.stated:
        related_as = find_relation(item, other)
        if sides_conflict(other, item) or other.observation in report.denied:
            continue
        if (related_as in (MEANT, KIND) and are_places_near(other, item) is not False) or (
            related_as == SAME and item.places and item.places <= other.places
        ):
            return other, related_as
    return None
