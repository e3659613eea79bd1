"""What the judge by rules compares: the findings of a report, and how two findings are related."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from radeval_lib.findings import Finding, Reading, read
from radeval_lib.findings.meanings import HOME
from radeval_lib.findings.vocabulary import vocabulary
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.report_text import singular
from radeval_lib.report_text.characters import Span

_SIDE_OF = {"middle_lobe": "right", "lingula": "left", "ruq": "right", "luq": "left"}
_GENERAL = frozenset(["acute_disease"])  # says nothing of its own where it is stated
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


SAME, MEANT, KIND = "same finding", "sign and diagnosis", "finer or coarser name"
KIN = "near relative"


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
