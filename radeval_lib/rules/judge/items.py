"""The findings and denials of a report in the form in which the rule-based judge compares them."""

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
_GENERAL = frozenset(["acute_disease"])  # Only denials of it state something specific.
_QUALITIES = {"healed_rib": frozenset([("d", "age", "old")])}
_SAME_STRUCTURE = {"silhouette_stable": "silhouette"}


@dataclass(slots=True)
class Item:
    """A finding of a report, with all its mentions merged.

    ``means`` are the diagnoses that the report reads it as, ``names`` its names in the report; ``start`` and
    ``end`` are the characters of its first mention. Severity, sizes and the fields from ``count`` on are as
    in a :class:`Finding`.
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
        """Left, right or bilateral; None if the report names no side."""
        if len(self.sides) > 1:
            return "bilateral"
        return next(iter(self.sides), None)


@dataclass(slots=True)
class Content:
    """The findings, denials and normal statements of a report.

    Attributes
    ----------
    stated : the findings, certain ones first, not in the order of the text.
    denied : the characters of the denial by observation, for observations that the report does not state.
    contradicted : the same for outright denials of observations that the report states elsewhere.
    normal : the characters of the normal statement by the lexicon's key of the structure.
    """

    stated: list[Item] = field(default_factory=list)
    denied: dict[str, Span] = field(default_factory=dict)
    contradicted: dict[str, Span] = field(default_factory=dict)
    normal: dict[str, Span] = field(default_factory=dict)

    def rules_out(self, observation: str) -> Span | None:
        """Return the (start, end) of the words that deny the observation or call its structure normal; None
        if the report does neither."""
        normals = load_lexicon().normals
        excluding = (
            span
            for key, span in self.normal.items()
            if key in normals and observation in normals[key].excludes
        )
        return self.denied.get(observation) or next(excluding, None)


@lru_cache(maxsize=8192)
def read_content(text: str) -> Content:
    """Return the content of a report, with repeated mentions merged. The result is cached and must not be
    changed."""
    reading, merged = read(text), Content()
    # A diagnosis makes no item of its own: it is stored in `means` of its sign's item.
    diagnosis_numbers = {number for finding in reading.findings for number in finding.sign_of}
    items = []
    for number, finding in enumerate(reading.findings):
        if finding.observation in _GENERAL and finding.presence != "absent":
            continue
        if finding.presence == "absent":
            merged.denied.setdefault(finding.observation, (finding.start, finding.end))
            if finding.outright:
                merged.contradicted.setdefault(finding.observation, (finding.start, finding.end))
        elif number not in diagnosis_numbers:
            items += _split_by_place(_build_item(finding, reading), finding)
    for item in sorted(_split_by_side(items), key=_get_merge_order):
        _merge(merged.stated, item)
    merged.stated.sort(key=lambda item: item.uncertain)
    for statement in reading.normals:
        key = _SAME_STRUCTURE.get(statement.key, statement.key)
        merged.normal.setdefault(key, (statement.start, statement.end))
    stated = {item.observation for item in merged.stated}
    # "No large effusion" does not deny a small effusion that the report states.
    merged.denied = {key: span for key, span in merged.denied.items() if key not in stated}
    merged.contradicted = {key: span for key, span in merged.contradicted.items() if key in stated}
    return merged


def _get_merge_order(item: Item) -> tuple[object, ...]:
    """Return the key that sorts items for merging: items with a place or side come first, so that an item
    without one is merged into the first that it fits."""
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


def _build_item(finding: Finding, reading: Reading) -> Item:
    """Return the item of one mention of a finding; the place "lung" is left out, because it says less than a
    side."""
    diagnoses = [reading.findings[number] for number in finding.sign_of]
    means = frozenset(diagnosis.observation for diagnosis in diagnoses) - {finding.observation}
    # "Opacity, likely left lower lobe pneumonia": the opacity is where the pneumonia is.
    locations = finding.locations or (diagnoses[0].locations if diagnoses else ())
    places = frozenset(at.place for at in locations if at.place and at.place != "lung")
    sides = frozenset(side for at in locations if (side := at.side or _SIDE_OF.get(at.place or "")))
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


def _split_by_place(item: Item, finding: Finding) -> list[Item]:
    """Return an item for each place if a finding has several places on both sides ("in the right upper
    and left lower lobe"), else the item alone."""
    locations = [at for at in finding.locations if at.place and at.place != "lung"]
    has_several_places = len({at.place for at in locations}) > 1
    if not has_several_places or {at.side for at in locations} != {"left", "right"}:
        return [item]
    return [
        replace(item, places=frozenset([at.place]), sides=frozenset([at.side]), count=None)
        for at in locations
        if at.place and at.side
    ]


def _split_by_side(items: list[Item]) -> list[Item]:
    """Return the items, with a bilateral one split into one for each side if another item is about one
    side of it: "bilateral effusions. The left one is small"."""
    one_sided = {(item.observation, item.places) for item in items if item.side in ("left", "right")}
    split: list[Item] = []
    for item in items:
        if item.side == "bilateral" and (item.observation, item.places) in one_sided:
            split += [replace(item, sides=frozenset([side])) for side in ("left", "right")]
        else:
            split.append(item)
    return split


def _merge(items: list[Item], new: Item) -> None:
    """Add an item to ``items``, in place, or merge it into the first one of the same observation whose
    sides and places are compatible."""
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
