"""Relates the findings of two reports by name, meaning and place, and links corresponding findings one to
one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from radeval_lib.rules.judge.items import Content, Item
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader.records import HOME
from radeval_lib.rules.reader.vocabulary import load_vocabulary

#: The possible relations of two findings, closest first.
SAME, SIGN, HYPONYM = "same finding", "sign and diagnosis", "finer or coarser name"
RELATED = "near relative"

_GOOD_POSITION = "good_position"  # a place that only says that a device is where it should be


def find_relation(item: Item, other: Item) -> str | None:
    """Return the closest relation of two findings; None if they are not related.

    The relation is :data:`SAME` for the same observation, or one name that was read as observations of
    different body regions; :data:`SIGN` if both are signs of one diagnosis, or one is a sign of the other;
    :data:`HYPONYM` if one name is finer than the other; and :data:`RELATED` if both are in one of the
    ``families`` of ``reading.yml``. For the last two, the diagnoses of which a finding is a sign count as
    further names of the finding.
    """
    if item.observation == other.observation or _are_namesakes(item, other):
        return SAME
    keys, other_keys = item.diagnoses | {item.observation}, other.diagnoses | {other.observation}
    if keys & other_keys:
        return SIGN
    hyponyms, related = load_vocabulary().hyponyms, load_vocabulary().related
    if any((a, b) in hyponyms or (b, a) in hyponyms for a in keys for b in other_keys):
        return HYPONYM
    if any(frozenset((a, b)) in related for a in keys for b in other_keys):
        return RELATED
    return None


def _are_namesakes(item: Item, other: Item) -> bool:
    """Return whether two findings have the same name and compatible places, but were read as findings of
    different body regions.

    The rest of a report decides how an ambiguous name is read, so two reports may differ.
    """
    if not item.names & other.names or are_places_near(item, other) is False:
        return False
    concepts = load_lexicon().concepts
    concept, other_concept = (concepts.get(finding.observation) for finding in (item, other))
    return (concept.region if concept else HOME) != (other_concept.region if other_concept else HOME)


def sides_conflict(item: Item, other: Item) -> bool:
    """Return whether both findings have a side, and the sides differ."""
    return item.side is not None and other.side is not None and item.side != other.side


def are_places_near(item: Item, other: Item) -> bool | None:
    """Return whether two findings share a place or have neighbouring places; None if one has no place, or
    only says that a device is in a good position.

    A malposition of a device is not near any correct position.
    """
    if not item.places or not other.places:
        return None
    if item.observation in load_vocabulary().devices:
        wrong_places = load_vocabulary().malpositions
        malpositions = {*wrong_places.get(item.observation, ()), *wrong_places.get(other.observation, ())}
        if bool(item.places & malpositions) != bool(other.places & malpositions):
            return False
    places, other_places = (finding.places - {_GOOD_POSITION} for finding in (item, other))
    if not places or not other_places:
        return None
    if places & other_places:
        return True
    return bool(_list_neighbours(places) & other_places or _list_neighbours(other_places) & places)


def are_levels_far_apart(item: Item, other: Item) -> bool:
    """Return whether one finding is at a vertebra or rib that is neither a place of the other finding nor
    next to one; False if the other finding has no place, or a place other than a vertebra or rib."""
    neighbours = load_vocabulary().neighbours
    return any(
        place in neighbours and not ({place} | _list_neighbours([place])) & other_places
        for places, other_places in ((item.places, other.places), (other.places, item.places))
        for place in places
        if other_places and other_places <= neighbours.keys()
    )


def _list_neighbours(places: Iterable[str]) -> set[str]:
    """Return the neighbours of places: those in the lexicon, and the next vertebrae and ribs."""
    lexicon_places, numbered_neighbours = load_lexicon().places, load_vocabulary().neighbours
    neighbours = {key for place in places if place in lexicon_places for key in lexicon_places[place].near}
    return neighbours.union(*(numbered_neighbours.get(place, frozenset()) for place in places))


# Links between findings of two reports, and findings that cover others.


#: The similarity of two findings by their relation, before side, place, degree and size change it.
_BASE_SIMILARITY = {SAME: 10.0, SIGN: 7.0, HYPONYM: 5.0, RELATED: 4.0}


class Link(NamedTuple):
    """A finding of the reference, the corresponding finding of the candidate, and their relation."""

    reference: Item
    candidate: Item
    relation: str


def _measure_similarity(item: Item, other: Item) -> tuple[float, str] | None:
    """Return the similarity of two findings (higher is more similar) and their relation; None if they must
    not be linked."""
    relation = find_relation(item, other)
    if relation is None:
        return None
    conflict = sides_conflict(item, other)
    is_opposite = conflict and "bilateral" not in (item.side, other.side)
    if is_opposite and relation != SAME:
        return None
    is_near = are_places_near(item, other)
    if relation in (HYPONYM, RELATED) and is_near is False:
        return None
    score = _BASE_SIMILARITY[relation] - 1.5 * conflict + (item.side is not None and item.side == other.side)
    if is_near is not None:
        score += 1.0 if item.places & other.places else (0.5 if is_near else -1.0)
    score += 0.25 * (item.severity is not None and item.severity == other.severity)
    score += 0.25 * (bool(item.size_mm) and item.size_mm == other.size_mm)
    return score, relation


def align(reference: Content, candidate: Content) -> list[Link]:
    """Return one-to-one links between the findings of two reports, in the order of the text of the reference.

    The most similar findings are linked first. Findings with finer, coarser or related names are not linked
    if one report denies the finding of the other.
    """
    options = []
    for row, item in enumerate(reference.stated):
        for column, other in enumerate(candidate.stated):
            if (similarity := _measure_similarity(item, other)) is None:
                continue
            score, relation = similarity
            is_denied = other.observation in reference.denied or item.observation in candidate.denied
            if relation in (SAME, SIGN) or not is_denied:
                options.append((-score, row, column, relation))
    links: dict[int, Link] = {}
    linked_columns: set[int] = set()
    for _, row, column, relation in sorted(options):
        if row not in links and column not in linked_columns:
            links[row] = Link(reference.stated[row], candidate.stated[column], relation)
            linked_columns.add(column)
    return sorted(links.values(), key=lambda link: link.reference.start)


def split_compounds(report: Content, other_report: Content) -> Content:
    """Return the content of a report with each compound finding, such as hydropneumothorax, split into its
    parts if the other report mentions one of the parts and not the compound."""
    compounds = load_vocabulary().compounds
    mentioned_keys = {item.observation for item in other_report.stated} | other_report.denied.keys()
    stated_keys = {item.observation for item in report.stated}
    stated = []
    for item in report.stated:
        parts = compounds.get(item.observation, [])
        if item.observation in mentioned_keys or not mentioned_keys.intersection(parts):
            stated.append(item)
        else:
            new_parts = [part for part in parts if part not in stated_keys]
            stated += [replace(item, observation=part, severity=None) for part in new_parts]
    return replace(report, stated=stated)


def split_sides(report: Content, other_report: Content) -> Content:
    """Return the content of a report with each bilateral finding split into one for each side if the other
    report states it for each side separately."""
    stated = []
    for item in report.stated:
        sides = {other.side for other in other_report.stated if other.observation == item.observation}
        if item.side == "bilateral" and "bilateral" not in sides and {"left", "right"} <= sides:
            stated += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            stated.append(item)
    return replace(report, stated=stated)


def find_covering_item(item: Item, report: Content, other_report: Content) -> tuple[Item, str] | None:
    """Return the first finding of ``other_report`` that covers ``item``, a finding of ``report``, with the
    relation between them; None if there is none.

    A covering finding has a finer or coarser name, or is a sign of the same diagnosis, at a compatible place;
    or it is the same finding at all places of ``item``, and possibly more. A finding that the other report
    denies neither covers nor is covered.
    """
    if item.observation in other_report.denied:
        return None
    for other in other_report.stated:
        relation = find_relation(item, other)
        if sides_conflict(other, item) or other.observation in report.denied:
            continue
        if (relation in (SIGN, HYPONYM) and are_places_near(other, item) is not False) or (
            relation == SAME and item.places and item.places <= other.places
        ):
            return other, relation
    return None
