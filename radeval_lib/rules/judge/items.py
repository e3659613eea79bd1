"""Reads the findings, denials and normal statements of a report that the rule-based judge compares."""

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
_GENERAL = frozenset(["acute_disease"])  # Only a denial of it says something specific.
_QUALITIES = {"healed_rib": frozenset([("d", "age", "old")])}
_SAME_STRUCTURE = {"silhouette_stable": "silhouette"}


@dataclass(slots=True)
class Item:
    """A finding of a report, with all its mentions merged.

    Attributes
    ----------
    observation : the key of the finding in the lexicon.
    uncertain : whether every mention is hedged.
    places : the keys of its places, except the lung.
    sides : its sides: "left", "right" or both, or only "bilateral".
    severity : the highest step on the scale of the observation; None if no degree is stated.
    size_mm, span_mm : the largest diameters, and the range of an inexact diameter ("5-7 mm"); () and None if
        not stated.
    distance_mm : the distance of a device's tip from its place; None if not stated.
    changes : the kinds of change, such as "new".
    diagnoses : the keys of the diagnoses that it is said to be a sign of.
    names : its names in the report, in lower case and in the singular.
    start, end : the characters of its first mention, end exclusive.
    count : the number of such findings, or :data:`~radeval_lib.rules.reader.records.SEVERAL`; None if not
        stated.
    qualities : its qualities that exclude others, such as "acute".
    greater : the side that has more of a bilateral finding; None if not stated.
    grade : its grade, stage or category; "" if not stated.
    volume_ml : its volume; None if not stated.
    """

    observation: str
    uncertain: bool
    places: frozenset[str]
    sides: frozenset[str]
    severity: int | None
    size_mm: tuple[float, ...]
    distance_mm: float | None
    changes: frozenset[str]
    diagnoses: frozenset[str]
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
        """The side, "left", "right" or "bilateral"; None if the report states none."""
        if len(self.sides) > 1:
            return "bilateral"
        return next(iter(self.sides), None)


@dataclass(slots=True)
class Content:
    """The findings, denials and normal statements of a report.

    Attributes
    ----------
    stated : the findings, certain ones first; otherwise not in the order of the text.
    denied : a mapping from each observation that the report only denies to the (start, end) of its denial.
    contradicted : a mapping from each observation that the report both states and denies outright to the
        (start, end) of its denial.
    normal : a mapping from the key of each normal statement to its (start, end).
    """

    stated: list[Item] = field(default_factory=list)
    denied: dict[str, Span] = field(default_factory=dict)
    contradicted: dict[str, Span] = field(default_factory=dict)
    normal: dict[str, Span] = field(default_factory=dict)

    def find_exclusion(self, observation: str) -> Span | None:
        """Return the (start, end) of the words that deny an observation or call its structure normal; None if
        there are none."""
        normals = load_lexicon().normals
        excluding = (
            span
            for key, span in self.normal.items()
            if key in normals and observation in normals[key].excludes
        )
        return self.denied.get(observation) or next(excluding, None)


@lru_cache(maxsize=8192)
def read_content(text: str) -> Content:
    """Return the content of a report, with repeated mentions merged.

    The result is cached; do not change it. Raises PlaceholderError if the text is a placeholder.
    """
    reading, content = read(text), Content()
    # A diagnosis gets no separate item, because `diagnoses` of its sign contains it.
    diagnosis_indices = {index for finding in reading.findings for index in finding.sign_of}
    items = []
    for index, finding in enumerate(reading.findings):
        if finding.observation in _GENERAL and finding.presence != "absent":
            continue
        if finding.presence == "absent":
            content.denied.setdefault(finding.observation, (finding.start, finding.end))
            if finding.outright:
                content.contradicted.setdefault(finding.observation, (finding.start, finding.end))
        elif index not in diagnosis_indices:
            items += _split_by_place(_build_item(finding, reading), finding)
    for item in sorted(_split_bilateral_mentions(items), key=_get_merge_order):
        _merge(content.stated, item)
    content.stated.sort(key=lambda item: item.uncertain)
    for statement in reading.normals:
        key = _SAME_STRUCTURE.get(statement.key, statement.key)
        content.normal.setdefault(key, (statement.start, statement.end))
    stated = {item.observation for item in content.stated}
    # "No large effusion" does not deny a small effusion that the report states.
    content.denied = {key: span for key, span in content.denied.items() if key not in stated}
    content.contradicted = {key: span for key, span in content.contradicted.items() if key in stated}
    return content


def _get_merge_order(item: Item) -> tuple[object, ...]:
    """Return the sort key of an item for merging: items with a place or side come first, so that an item
    without one is merged into the first compatible one."""
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
        sorted(item.diagnoses),
        item.start,
    )


def _build_item(finding: Finding, reading: Reading) -> Item:
    """Return the item for one mention of a finding, without the place "lung", which says less than a side."""
    signified = [reading.findings[index] for index in finding.sign_of]
    diagnoses = frozenset(diagnosis.observation for diagnosis in signified) - {finding.observation}
    # "Opacity, likely left lower lobe pneumonia": the opacity is where the pneumonia is.
    locations = finding.locations or (signified[0].locations if signified else ())
    places = frozenset(site.place for site in locations if site.place and site.place != "lung")
    sides = frozenset(side for site in locations if (side := site.side or _SIDE_OF.get(site.place or "")))
    if "bilateral" in sides:
        sides = frozenset(["bilateral"])
    return Item(
        finding.observation,
        finding.presence == "uncertain",
        places,
        sides,
        changes=frozenset([finding.change] if finding.change else []),
        diagnoses=diagnoses,
        names=frozenset([" ".join(map(singular, finding.words.lower().split()))]),
        start=finding.start,
        end=finding.end,
        qualities=finding.qualities | _QUALITIES.get(finding.observation, frozenset()),
        **{name: getattr(finding, name) for name in MEASURED},
    )


def _split_by_place(item: Item, finding: Finding) -> list[Item]:
    """Return an item for each place if a finding has several places on both sides ("in the right upper and
    left lower lobe"), else only the item itself."""
    locations = [site for site in finding.locations if site.place and site.place != "lung"]
    has_several_places = len({site.place for site in locations}) > 1
    if not has_several_places or {site.side for site in locations} != {"left", "right"}:
        return [item]
    return [
        replace(item, places=frozenset([site.place]), sides=frozenset([site.side]), count=None)
        for site in locations
        if site.place and site.side
    ]


def _split_bilateral_mentions(items: list[Item]) -> list[Item]:
    """Return the items, with a bilateral item split into one for each side if another item is about one side,
    as in "bilateral effusions. The left one is small"."""
    one_sided = {(item.observation, item.places) for item in items if item.side in ("left", "right")}
    result: list[Item] = []
    for item in items:
        if item.side == "bilateral" and (item.observation, item.places) in one_sided:
            result += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            result.append(item)
    return result


def _merge(items: list[Item], other: Item) -> None:
    """Merge ``other`` into the first of ``items`` with the same observation and compatible sides and places,
    or append it to ``items``."""
    for item in items:
        if (
            item.observation == other.observation
            and (not item.sides or not other.sides or item.sides & other.sides)
            and (not item.places or not other.places or item.places & other.places)
        ):
            item.uncertain = item.uncertain and other.uncertain
            item.places |= other.places
            item.sides = item.sides | other.sides if item.side != "bilateral" else item.sides
            item.severity = max((item.severity, other.severity), key=lambda s: -1 if s is None else s)
            item.size_mm = max(item.size_mm, other.size_mm, key=lambda size: max(size, default=0.0))
            item.distance_mm = other.distance_mm if item.distance_mm is None else item.distance_mm
            item.changes |= other.changes
            if other.start < item.start:
                item.start, item.end = other.start, other.end
            item.count = other.count if item.count is None else item.count
            item.qualities |= other.qualities
            item.greater = item.greater or other.greater
            item.grade = item.grade or other.grade
            item.volume_ml = item.volume_ml or other.volume_ml
            item.span_mm = item.span_mm or other.span_mm
            item.diagnoses |= other.diagnoses
            item.names |= other.names
            return
    items.append(other)
