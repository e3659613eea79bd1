"""What the judge by rules compares: the findings of both reports, and which of them correspond."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from radeval_lib.findings import Finding, Reading, read
from radeval_lib.findings.vocabulary import HOME, vocabulary
from radeval_lib.lexicon.entries import Concept
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.report_text import singular
from radeval_lib.report_text.characters import Span

_SIDE_OF = {"middle_lobe": "right", "lingula": "left", "ruq": "right", "luq": "left"}
_GENERAL = frozenset(["acute_disease"])  # says nothing of its own where it is stated
_SIZED = "amount"  # the scale of what has a size: "small", not "mild"
_SAME_STRUCTURE = {"silhouette_stable": "silhouette"}


@dataclass(slots=True)
class Item:
    """One finding of a report.

    ``means`` are the diagnoses that it is read as, ``names`` what the report calls it; the span is that of
    its first mention.
    """

    observation: str
    uncertain: bool
    places: frozenset[str]
    sides: frozenset[str]
    severity: int | None
    size_mm: tuple[float, ...]
    distance_mm: float | None
    changes: frozenset[str]
    means: frozenset[str]
    names: frozenset[str]
    start: int
    end: int

    @property
    def side(self) -> str | None:
        """Left, right, bilateral, or None where none is said."""
        if len(self.sides) > 1:
            return "bilateral"
        return next(iter(self.sides), None)


@dataclass(slots=True)
class Said:
    """A report: what it states, and where it denies an observation or calls a structure normal.

    What is stated stands in an order that does not follow that of the sentences. ``contradicted`` is where an
    observation is denied outright that is stated elsewhere; ``denied`` has none that is stated.
    """

    stated: list[Item] = field(default_factory=list)
    denied: dict[str, Span] = field(default_factory=dict)
    contradicted: dict[str, Span] = field(default_factory=dict)
    normal: dict[str, Span] = field(default_factory=dict)

    def rules_out(self, observation: str) -> Span | None:
        """Where the report denies the observation or calls its structure normal, if it does."""
        normals = load_lexicon().normals
        kept = (
            span
            for key, span in self.normal.items()
            if key in normals and observation in normals[key].excludes
        )
        return self.denied.get(observation) or next(kept, None)


@lru_cache(maxsize=8192)
def said(text: str) -> Said:
    """What a report says, its mentions put together; the result is shared and must not be changed."""
    reading, result = read(text), Said()
    diagnoses = {number for one in reading.findings for number in one.sign_of}
    items = []
    for number, finding in enumerate(reading.findings):
        if finding.observation in _GENERAL and finding.presence != "absent":
            continue
        if finding.presence == "absent":
            result.denied.setdefault(finding.observation, (finding.start, finding.end))
            if finding.outright:
                result.contradicted.setdefault(finding.observation, (finding.start, finding.end))
        elif number not in diagnoses:
            items += _by_place(_item(finding, reading), finding)
    for item in sorted(items, key=_rank):
        _add(result.stated, item)
    result.stated.sort(key=lambda item: item.uncertain)
    for statement in reading.normals:
        key = _SAME_STRUCTURE.get(statement.key, statement.key)
        result.normal.setdefault(key, (statement.start, statement.end))
    stated = {item.observation for item in result.stated}
    # "No large effusion" does not deny the small one.
    result.denied = {key: span for key, span in result.denied.items() if key not in stated}
    result.contradicted = {key: span for key, span in result.contradicted.items() if key in stated}
    return result


def _rank(item: Item) -> tuple[object, ...]:
    """The order of items: what says where before what does not, which then joins the first that it fits."""
    return (
        item.observation,
        not item.places,
        not item.sides,
        sorted(item.places),
        sorted(item.sides),
        item.uncertain,
        -1 if item.severity is None else item.severity,
        item.size_mm,
        item.distance_mm or 0.0,
        sorted(item.changes),
        sorted(item.means),
        item.start,
    )


def _item(finding: Finding, reading: Reading) -> Item:
    read_as = [reading.findings[number] for number in finding.sign_of]
    means = frozenset(one.observation for one in read_as) - {finding.observation}
    # "Opacity, likely left lower lobe pneumonia": the opacity is where the pneumonia is.
    locations = finding.locations or (read_as[0].locations if read_as else ())
    places = frozenset(one.place for one in locations if one.place and one.place != "lung")
    sides = frozenset(filter(None, (one.side or _SIDE_OF.get(one.place or "") for one in locations)))
    if "bilateral" in sides:
        sides = frozenset(["bilateral"])
    return Item(
        finding.observation,
        finding.presence == "uncertain",
        places,
        sides,
        finding.severity,
        finding.size_mm,
        finding.distance_mm,
        frozenset([finding.change] if finding.change else []),
        means,
        frozenset([" ".join(map(singular, finding.words.lower().split()))]),
        finding.start,
        finding.end,
    )


def _by_place(item: Item, finding: Finding) -> list[Item]:
    """A finding at places of both sides, once for each: "in the right upper and left lower lobe"."""
    where = [one for one in finding.locations if one.place and one.place != "lung"]
    if len({one.place for one in where}) < 2 or {one.side for one in where} != {"left", "right"}:
        return [item]
    return [
        replace(item, places=frozenset(filter(None, [one.place])), sides=frozenset(filter(None, [one.side])))
        for one in where
    ]


def _add(items: list[Item], new: Item) -> None:
    """Add a mention, to an item that it repeats where there is one."""
    for old in items:
        if (
            old.observation == new.observation
            and (not old.sides or not new.sides or old.sides & new.sides)
            and (not old.places or not new.places or old.places & new.places)
        ):
            old.uncertain = old.uncertain and new.uncertain
            old.places |= new.places
            old.sides = old.sides | new.sides if old.side != "bilateral" else old.sides
            old.severity = max((old.severity, new.severity), key=lambda step: -1 if step is None else step)
            old.size_mm = max(old.size_mm, new.size_mm, key=lambda size: max(size, default=0.0))
            old.distance_mm = new.distance_mm if old.distance_mm is None else old.distance_mm
            old.changes |= new.changes
            if new.start < old.start:
                old.start, old.end = new.start, new.end
            old.means |= new.means
            old.names |= new.names
            return
    items.append(new)


# --- in words ---


def name(observation: str) -> str:
    """An observation in words."""
    concept = load_lexicon().concepts.get(observation)
    names = names_of(concept) if concept is not None else ()
    return names[0] if names else observation.replace("_", " ")


def names_of(concept: Concept) -> tuple[str, ...]:
    """Every name of a concept in words, the first the one that the judge uses."""
    return tuple(f"{one.lead.text} {one.one.text}" if one.lead else one.one.text for one in concept.names)


def where(places: Iterable[str], side: str | None) -> str:
    """A place in words; empty where none is said."""
    known, named = load_lexicon().places, []
    for key in sorted(places):
        nouns = known[key].nouns if key in known else None
        phrases = nouns and (nouns.get(side) or next(iter(nouns.values())))
        named.append(phrases[0].text if phrases else key.replace("_", " "))
    if not named:
        return side or ""
    text = " and ".join(named)
    return text if side is None or side in text or side == "bilateral" else f"{side}, {text}"


def degree(item: Item) -> str:
    """Severity or size in words; empty where neither is said."""
    if item.size_mm:
        return " x ".join(f"{size:g}" for size in item.size_mm) + " mm"
    if item.severity is None:
        return ""
    lexicon = load_lexicon()
    concept = lexicon.concepts.get(item.observation)
    scale = concept.scale or (_SIZED if concept.size else None) if concept is not None else None
    words: str = lexicon.grammar["scales"][scale or "degree"]["adjectives"][item.severity][0]
    return words.removesuffix(" amount of")


def describe(item: Item) -> str:
    """A finding in words, as "moderate pleural effusion (right)"."""
    parts = ["possible" if item.uncertain else "", degree(item), name(item.observation)]
    text = " ".join(part for part in parts if part)
    place = where(item.places, item.side)
    text = f"{text} ({place})" if place else text
    if item.means:
        text += f", read as {' or '.join(sorted(map(name, item.means)))}"
    return text[0].upper() + text[1:]


SAME, MEANT, KIND = "same finding", "sign and diagnosis", "finer or coarser name"
KIN = "near relative"
_BASE = {SAME: 10.0, MEANT: 7.0, KIND: 5.0, KIN: 4.0}


class Link(NamedTuple):
    """A finding of the reference, the one of the candidate that is about it, and how they are related."""

    reference: Item
    candidate: Item
    relation: str


def relation(one: Item, other: Item) -> str | None:
    """How two findings are related, if they are."""
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
    mine, theirs = (item.places - {GOOD_POSITION} for item in (one, other))  # it does not say where that is
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


GOOD_POSITION = "good_position"


def _malpositions(item: Item) -> frozenset[str]:
    return vocabulary().malpositions.get(item.observation, frozenset())


def _beside(places: Iterable[str]) -> set[str]:
    """The places next to these."""
    known, beside = load_lexicon().places, vocabulary().beside
    near = {key for at in places if at in known for key in known[at].near}
    return near.union(*(beside.get(at, frozenset()) for at in places))


def _likeness(one: Item, other: Item) -> tuple[float, str] | None:
    how = relation(one, other)
    if how is None:
        return None
    conflict = sides_conflict(one, other)
    opposite = conflict and "bilateral" not in (one.side, other.side)
    if opposite and how != SAME:
        return None
    closeness = near(one, other)
    if how in (KIND, KIN) and closeness is False:
        return None
    value = _BASE[how] - 1.5 * conflict + (one.side is not None and one.side == other.side)
    if closeness is not None:
        value += 1.0 if one.places & other.places else (0.5 if closeness else -1.0)
    value += 0.25 * (one.severity is not None and one.severity == other.severity)
    value += 0.25 * (bool(one.size_mm) and one.size_mm == other.size_mm)
    return value, how


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
    for _, left, right, how in sorted(options):
        if left not in links and right not in taken:
            links[left] = Link(reference.stated[left], candidate.stated[right], how)
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
    """What the other report calls a finding in a finer or coarser word, reads it as, or says at more places.

    It is at a place that fits, and neither report denies what the other states of it.
    """
    if item.observation in other.denied:
        return None
    for one in other.stated:
        how = relation(item, one)
        if sides_conflict(one, item) or one.observation in mine.denied:
            continue
        if (how in (MEANT, KIND) and near(one, item) is not False) or (
            how == SAME and item.places and item.places <= one.places
        ):
            return one, how
    return None
