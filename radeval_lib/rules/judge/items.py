"""The content of a report as the rule-based judge compares it: its findings and its denials."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader import Finding, Reading, read
from radeval_lib.rules.reader.phrases import Quality
from radeval_lib.rules.reader.records import MEASURED
from radeval_lib.rules.report_text import singular
from radeval_lib.rules.report_text.words import Span

_SIDE_OF = {"middle_lobe": "right", "lingula": "left", "ruq": "right", "luq": "left"}
_GENERAL = frozenset(["acute_disease"])  # says nothing of its own if it is stated
_QUALITIES = {"healed_rib": frozenset([("d", "age", "old")])}
_SAME_STRUCTURE = {"silhouette_stable": "silhouette"}


@dataclass(slots=True)
class Item:
    """One finding of a report.

    ``means`` are the diagnoses that it is read as, ``names`` what the report calls it; the span is that of
    its first mention. The fields from ``count`` on are those of a finding.
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
    count: int | None = None
    qualities: frozenset[Quality] = frozenset()
    greater: str | None = None
    grade: str = ""
    volume_ml: float | None = None
    span_mm: tuple[float, float] | None = None

    @property
    def side(self) -> str | None:
        """Left, right, bilateral, or None if none is said."""
        if len(self.sides) > 1:
            return "bilateral"
        return next(iter(self.sides), None)


@dataclass(slots=True)
class Said:
    """A report's statements, and the sentences that deny an observation or call a structure normal.

    The order of the statements is not that of the sentences. ``contradicted`` gives the denials of
    observations that the report states elsewhere; ``denied`` gives the other denials.
    """

    stated: list[Item] = field(default_factory=list)
    denied: dict[str, Span] = field(default_factory=dict)
    contradicted: dict[str, Span] = field(default_factory=dict)
    normal: dict[str, Span] = field(default_factory=dict)

    def rules_out(self, observation: str) -> Span | None:
        """Return where the report denies the observation or calls its structure normal, if anywhere."""
        normals = load_lexicon().normals
        kept = (
            span
            for key, span in self.normal.items()
            if key in normals and observation in normals[key].excludes
        )
        return self.denied.get(observation) or next(kept, None)


@lru_cache(maxsize=8192)
def said(text: str) -> Said:
    """Return the content of a report with repeated mentions merged; the result is shared and must not be
    changed."""
    reading, result = read(text), Said()
    diagnoses = {number for sentence_finding in reading.findings for number in sentence_finding.sign_of}
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
    for item in sorted(_by_side(items), key=_rank):
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
    """Return the order of items: what says where before what does not, which then joins the first that it
    fits."""
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
    means = frozenset(read_finding.observation for read_finding in read_as) - {finding.observation}
    # "Opacity, likely left lower lobe pneumonia": the opacity is where the pneumonia is.
    locations = finding.locations or (read_as[0].locations if read_as else ())
    places = frozenset(
        read_finding.place
        for read_finding in locations
        if read_finding.place and read_finding.place != "lung"
    )
    sides = frozenset(
        filter(
            None, (read_finding.side or _SIDE_OF.get(read_finding.place or "") for read_finding in locations)
        )
    )
    if "bilateral" in sides:
        sides = frozenset(["bilateral"])
    return Item(
        finding.observation,
        finding.presence == "uncertain",
        places,
        sides,
        changes=frozenset([finding.change] if finding.change else []),
        means=means,
        names=frozenset([" ".join(map(singular, finding.words.lower().split()))]),
        start=finding.start,
        end=finding.end,
        qualities=finding.qualities | _QUALITIES.get(finding.observation, frozenset()),
        **{name: getattr(finding, name) for name in MEASURED},
    )


def _by_place(item: Item, finding: Finding) -> list[Item]:
    """Return a finding at places of both sides, once for each: "in the right upper and left lower lobe"."""
    where = [location for location in finding.locations if location.place and location.place != "lung"]
    if len({location.place for location in where}) < 2 or {location.side for location in where} != {
        "left",
        "right",
    }:
        return [item]
    return [
        replace(
            item,
            places=frozenset(filter(None, [location.place])),
            sides=frozenset(filter(None, [location.side])),
            count=None,
        )
        for location in where
    ]


def _by_side(items: list[Item]) -> list[Item]:
    """Return the findings, those on both sides once for each where more is said of a side: "bilateral
    effusions. The left one is small"."""
    sided = {(item.observation, item.places) for item in items if item.side in ("left", "right")}
    apart = []
    for item in items:
        both = item.side == "bilateral" and (item.observation, item.places) in sided
        apart += [replace(item, sides=frozenset([side])) for side in ("left", "right")] if both else [item]
    return apart


def _add(items: list[Item], new: Item) -> None:
    """Add a mention, to an item that it repeats if there is one."""
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
            old.count = new.count if old.count is None else old.count
            old.qualities |= new.qualities
            old.greater = old.greater or new.greater
            old.grade = old.grade or new.grade
            old.volume_ml = old.volume_ml or new.volume_ml
            old.span_mm = old.span_mm or new.span_mm
            old.means |= new.means
            old.names |= new.names
            return
    items.append(new)
