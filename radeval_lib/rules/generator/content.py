"""Draws the findings, denials, normal statements and remarks of a report, and their order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from radeval_lib.rules.generator.records import (
    CHANGES,
    Change,
    Denial,
    Meaning,
    Normal,
    Plan,
    PlannedFinding,
    Remark,
    Side,
    Statement,
    Style,
)
from radeval_lib.rules.lexicon.entries import Concept, Exam, Lexicon, NormalEntry, RemarkEntry
from radeval_lib.rules.lexicon.loading import load_lexicon

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Probabilities of what reports of one style state; fields that are not probabilities say so."""

    counts: tuple[float, ...]  # weights of 0, 1, 2 ... findings other than devices
    rare: float  # the factor for the weight of rare diseases
    device: float  # the probability of one more device, up to three
    normal: float  # the probability of a normal statement of weight 1 that nothing contradicts
    denial_limit: int  # a report denies fewer concepts than this
    longest_denial: int  # the maximum number of concepts in one denial
    other_order: float  # the probability that a report begins with another organ system than usual
    joined: float  # the probability of joining a statement to the one before it, if possible
    descriptor: float
    second_descriptor: float
    suggestion: float
    remark: float = 0.12  # the probability of a remark of weight 1
    no_place: float = 0.4  # the probability that a vague finding has no place
    both_sides: float = 0.15
    severity: float = 0.62
    many: float = 0.2
    size: float = 0.8
    size_on_x_ray: float = 0.5
    two_diameters: float = 0.3
    uncertain: float = 0.1
    change: float = 0.42  # the probability of a change if there is an earlier examination
    unchanged: float = 0.45  # the probability that a stated change is "unchanged"


CHANCES_BY_STYLE: dict[Style, Chances] = {
    "hospital": Chances(
        counts=(0.24, 0.22, 0.20, 0.15, 0.10, 0.06, 0.03), rare=0.02, device=0.22, normal=0.1, denial_limit=7,
        longest_denial=3, other_order=0.35, joined=0.3, descriptor=0.35, second_descriptor=0, suggestion=0.3,
    ),
    "encyclopaedic": Chances(
        counts=(0.02, 0.34, 0.30, 0.20, 0.10, 0.04, 0.0), rare=2.5, device=0.06, normal=0.055, denial_limit=4,
        longest_denial=4, other_order=0, joined=0.6, descriptor=0.85, second_descriptor=0.5, suggestion=0.45,
    ),
}  # fmt: skip


def choose(rng: Random, options: tuple[_T, ...]) -> _T:
    """Return one of the options, each with equal probability; only ``rng.random`` is used, because Python
    guarantees its sequence for a seed."""
    return options[int(rng.random() * len(options))]


class Weighted(Generic[_T]):
    """Options that are drawn with probabilities in proportion to their weights."""

    __slots__ = ("options", "totals")

    def __init__(self, options: Iterable[tuple[_T, float]]) -> None:
        """Store (option, weight) pairs as options and cumulative weights."""
        pairs = list(options)
        self.options = tuple(option for option, _ in pairs)
        self.totals = tuple(accumulate(weight for _, weight in pairs))

    def draw(self, rng: Random) -> _T:
        """Return one of the options, drawn in proportion to its weight."""
        return self.options[bisect_right(self.totals, rng.random() * self.totals[-1])]


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that reports of one kind of examination and style can state.

    Attributes
    ----------
    findings, devices, deniable : the findings other than devices, the devices, and the findings that can be
        denied, with their weights.
    normals, remarks : the normal statements, and the remarks.
    systems : a mapping from (region, organ system) to its rank in the usual order of reports.
    counts : the possible numbers of findings other than devices, with their weights.
    density : the probability of a normal statement of weight 1.
    """

    findings: Weighted[Concept]
    devices: Weighted[Concept]
    deniable: Weighted[Concept]
    normals: tuple[NormalEntry, ...]
    remarks: tuple[RemarkEntry, ...]
    systems: dict[tuple[str, str], int]
    counts: Weighted[int]
    density: float


@lru_cache(maxsize=1024)
def build_menu(exam: Exam, style: Style) -> Menu:
    """Return everything that reports of an examination in a style can state."""
    lexicon, chances = load_lexicon(), CHANCES_BY_STYLE[style]
    protocol = lexicon.protocols[exam.modality, exam.anatomy]
    concepts = [c for region in protocol.regions for c in region.concepts if lexicon.can_occur(c, exam)]

    def weigh(findings: Iterable[Concept]) -> Weighted[Concept]:
        return Weighted((c, c.common * (chances.rare if c.rare else 1.0)) for c in findings)

    systems = [(region.key, system) for region in protocol.regions for system in region.systems]
    return Menu(
        weigh(c for c in concepts if not c.device and c.common > 0),
        weigh(c for c in concepts if c.device),
        Weighted((c, c.denials) for c in concepts if c.denials > 0 and not c.device),
        tuple(n for r in protocol.regions for n in r.normals if n.scope.admits(exam)),
        tuple(e for r in protocol.regions for e in r.remarks if e.weight and e.scope.admits(exam)),
        {system: rank for rank, system in enumerate(systems)},
        Weighted((n, weight * protocol.findings**n) for n, weight in enumerate(chances.counts)),
        chances.normal * protocol.normals,
    )


def list_changes(concept: Concept) -> tuple[Change, ...]:
    """Return the plausible changes of a finding: devices do not enlarge, and old or anatomical findings stay
    unchanged."""
    if not concept.changes:
        return ()
    if concept.device:
        return ("new", "unchanged") if concept.major else ("unchanged",)
    return CHANGES if concept.uncertain else ("unchanged",)


def list_sides(lexicon: Lexicon, concept: Concept, place: str | None) -> tuple[Side, ...]:
    """Return the sides that a finding can have at the place with the key ``place``, or without a place."""
    if place is not None:
        return tuple(side for side in lexicon.places[place].nouns if side)  # type: ignore[misc]
    return ("left", "right", "bilateral") if concept.sided else ()


def draw_size(rng: Random, low: int, high: int, two_diameters: bool) -> tuple[int, ...]:
    """Return one or two drawn diameters in mm, the first of them log-uniform between ``low`` and ``high``.

    A second diameter, at most as long, is drawn if ``two_diameters`` is True and the first is large enough.
    """
    long_diameter = round(low * (high / low) ** rng.random())
    if not two_diameters or long_diameter <= low + 1:
        return (long_diameter,)
    return (long_diameter, max(low, round(long_diameter * (0.6 + 0.35 * rng.random()))))


def draw_finding(
    rng: Random, concept: Concept, exam: Exam, style: Style, *, prior: bool, blocked: frozenset[str]
) -> PlannedFinding:
    """Return a finding with drawn attributes: place, side, severity, number, size, descriptors, certainty,
    change and suggested diagnosis.

    The order of the draws is fixed, so equal random numbers give equal findings.

    Parameters
    ----------
    concept : the entry of the finding in the lexicon.
    exam : the examination, which determines the possible places and descriptors, and how often sizes are
        stated.
    style : the style, which determines the probability of each attribute (``CHANCES_BY_STYLE``).
    prior : whether there is an earlier examination, so that a change can be stated.
    blocked : keys of concepts that the finding must not suggest.
    """
    lexicon, chances = load_lexicon(), CHANCES_BY_STYLE[style]
    places = lexicon.list_places(concept, exam)
    place = choose(rng, places) if places else None
    if concept.vague and rng.random() < chances.no_place:
        place = None
    side: Side | None = None
    sides = list_sides(lexicon, concept, place)
    if "bilateral" in sides and rng.random() < chances.both_sides:
        side = "bilateral"
    elif sides:
        side = choose(rng, tuple(option for option in sides if option != "bilateral") or sides)
    severity = None
    if concept.scale and rng.random() < chances.severity:
        low, high = concept.steps
        severity = min(low + int((high - low + 1) * rng.random() ** 1.4), high)
    is_many = concept.many and side != "bilateral" and rng.random() < chances.many
    size_mm = None
    distance = lexicon.places[place].distance if place else None
    if distance:
        size_mm = draw_size(rng, *distance, two_diameters=False)
    elif not is_many and side != "bilateral" and concept.size is not None:
        is_x_ray = exam.modality == "X-Ray"  # X-ray reports state fewer sizes, and one diameter each.
        if rng.random() < (chances.size_on_x_ray if is_x_ray else chances.size):
            size_mm = draw_size(
                rng, *concept.size, two_diameters=not is_x_ray and rng.random() < chances.two_diameters
            )
    groups = concept.descriptors.get("any", ()) + concept.descriptors.get(exam.modality, ())
    descriptors = _draw_descriptors(rng, groups, chances)
    is_uncertain = concept.uncertain and not concept.device and rng.random() < chances.uncertain
    change = _draw_change(rng, concept, chances) if prior and rng.random() < chances.change else None
    diagnosis = None
    hints = tuple(h for h in concept.hints if h not in blocked and h != concept.key)
    if hints and rng.random() < chances.suggestion:
        diagnosis = choose(rng, hints)
    return PlannedFinding(
        concept.key,
        "uncertain" if is_uncertain else "present",
        place,
        side,
        severity,
        size_mm,
        descriptors,
        is_many,
        change,
        diagnosis,
    )


def _draw_descriptors(rng: Random, groups: tuple[tuple[str, ...], ...], chances: Chances) -> tuple[str, ...]:
    """Return up to two descriptors of appearance, from different groups, because those of the same group
    exclude each other."""
    if not groups or rng.random() >= chances.descriptor:
        return ()
    first = choose(rng, choose(rng, groups))
    if chances.second_descriptor and len(groups) > 1 and rng.random() < chances.second_descriptor:
        other_groups = tuple(group for group in groups if first not in group)
        return (first, choose(rng, choose(rng, other_groups))) if other_groups else (first,)
    return (first,)


def _draw_change(rng: Random, concept: Concept, chances: Chances) -> Change | None:
    """Return a drawn plausible change of a finding; None if there is none."""
    allowed = list_changes(concept)
    if not allowed:
        return None
    if "unchanged" in allowed and rng.random() < chances.unchanged:
        return "unchanged"
    return choose(rng, allowed)


def _draw_concepts(rng: Random, menu: Menu, style: Style, lexicon: Lexicon, minimum: int) -> list[Concept]:
    """Return distinct concepts that do not clash, some of which may be devices.

    At least ``minimum`` of them are not devices, unless the limited number of draws gives fewer.
    """
    target = max(minimum, menu.counts.draw(rng))
    chosen: dict[str, Concept] = {}
    for _ in range(4 * target + 8):
        if len(chosen) >= min(target, len(menu.findings.options)):
            break
        concept = menu.findings.draw(rng)
        if concept.key not in chosen and not lexicon.list_conflicts(concept.key) & chosen.keys():
            chosen[concept.key] = concept
    if menu.devices.options:
        for _ in range(3):
            if rng.random() > CHANCES_BY_STYLE[style].device:
                break
            concept = menu.devices.draw(rng)
            chosen.setdefault(concept.key, concept)
    return list(chosen.values())


def _draw_denials(rng: Random, menu: Menu, blocked: set[str], style: Style) -> list[Denial]:
    """Return drawn denials, ordered by organ system, of concepts that are not ``blocked``."""
    if not menu.deniable.options:
        return []
    target = int(rng.random() * CHANCES_BY_STYLE[style].denial_limit)
    chosen: list[Concept] = []
    for _ in range(2 * target):
        if len(chosen) >= target:
            break
        concept = menu.deniable.draw(rng)
        if concept.key not in blocked and concept not in chosen:
            chosen.append(concept)
    chosen.sort(key=lambda concept: menu.systems[concept.region, concept.system])
    denials, start = [], 0
    while start < len(chosen):
        size = 1 + int(rng.random() * CHANCES_BY_STYLE[style].longest_denial)
        denials.append(Denial(tuple(concept.key for concept in chosen[start : start + size])))
        start += size
    return denials


def _draw_normals(rng: Random, menu: Menu, present: set[str], prior: bool) -> list[NormalEntry]:
    """Return drawn normal statements that contradict no concept in ``present``.

    Any two of them have in common at most half of the findings excluded by the one that excludes fewer.
    Statements that require an earlier study are left out unless ``prior`` is True.
    """
    chosen: list[NormalEntry] = []
    start = int(rng.random() * len(menu.normals)) if menu.normals else 0
    for entry in menu.normals[start:] + menu.normals[:start]:
        is_left_out = rng.random() > entry.weight * menu.density
        if is_left_out or entry.excludes & present or (entry.prior and not prior):
            continue
        if not any(
            2 * len(entry.excludes & n.excludes) > min(len(entry.excludes), len(n.excludes)) for n in chosen
        ):
            chosen.append(entry)
    return chosen


def contradicts(lexicon: Lexicon, content: Meaning, present: frozenset[str]) -> bool:
    """Return whether a normal statement or a denial rules out one of the concepts in ``present``; False for
    other meanings."""
    if isinstance(content, Normal):
        return not content.opposite and bool(lexicon.normals[content.key].excludes & present)
    if isinstance(content, Denial):
        return any(lexicon.list_conflicts(key) & set(content.concepts) for key in present)
    return False


def draw_plan(rng: Random, exam: Exam, style: Style, *, prior: bool, min_findings: int) -> Plan:
    """Return a drawn plan with at least ``min_findings`` findings, unless fewer can be drawn without a clash.

    Remarks come first, followed in encyclopaedic style by the major findings. Within an organ system, other
    findings and normal statements are mixed, and denials come after the findings. ``prior`` says whether
    there is an earlier examination.
    """
    lexicon, menu, chances = load_lexicon(), build_menu(exam, style), CHANCES_BY_STYLE[style]
    concepts = _draw_concepts(rng, menu, style, lexicon, min_findings)
    present = {concept.key for concept in concepts}
    system_ranks = list(range(len(menu.systems)))  # the rank of each organ system in the usual order
    if chances.other_order and rng.random() < chances.other_order:
        first = int(rng.random() * len(system_ranks))  # ... or with another system first
        system_ranks = system_ranks[first:] + system_ranks[:first]

    def get_rank(entry: Concept | NormalEntry) -> int:
        return system_ranks[menu.systems[entry.region, entry.system]]

    contents: list[tuple[float, Meaning]] = []  # each with its sort key
    blocked = set(present)
    for concept in concepts:
        finding = draw_finding(rng, concept, exam, style, prior=prior, blocked=frozenset(blocked))
        blocked |= lexicon.list_conflicts(concept.key)
        if finding.diagnosis:
            blocked.add(finding.diagnosis)
        lesion_offset = -50.0 if style == "encyclopaedic" and concept.major else 0.0
        contents.append((get_rank(concept) + 0.3 * rng.random() + lesion_offset, finding))
    for entry in _draw_normals(rng, menu, present, prior):
        contents.append((get_rank(entry) + 0.25 * rng.random(), Normal(entry.key)))
    for denial in _draw_denials(rng, menu, blocked, style):
        concept = lexicon.concepts[denial.concepts[0]]
        contents.append((get_rank(concept) + 0.3 + 0.4 * rng.random(), denial))
    for remark in menu.remarks:
        if rng.random() < remark.weight * chances.remark and (prior or not remark.prior):
            contents.append((-100.0, Remark(remark.key)))
    # A report needs a statement other than remarks.
    if all(isinstance(content, Remark) for _, content in contents):
        normals = tuple(entry for entry in menu.normals if not entry.prior)
        contents.append((0.0, Normal(choose(rng, normals).key)))
    contents.sort(key=lambda item: item[0])
    return tuple(_make_statements(rng, [content for _, content in contents], lexicon, style))


def _make_statements(rng: Random, contents: list[Meaning], lexicon: Lexicon, style: Style) -> list[Statement]:
    """Return a statement for each meaning, numbered from 0 and with a drawn wording; some are joined to the
    statement before them."""
    statements: list[Statement] = []
    for uid, content in enumerate(contents):
        previous = statements[-1] if statements else None
        is_joined = bool(
            previous
            and not previous.joined
            and can_join(lexicon, previous.content, content)
            and rng.random() < CHANCES_BY_STYLE[style].joined
        )
        statements.append(Statement(uid, content, rng.getrandbits(96), is_joined))
    return statements


def can_join(lexicon: Lexicon, previous: Meaning, content: Meaning) -> bool:
    """Return whether a statement can continue the sentence of the ``previous`` one, which must be about the
    same organ system."""
    if isinstance(content, Denial) and isinstance(previous, Normal):
        entry = lexicon.normals[previous.key]
        systems = {lexicon.concepts[key].system for key in content.concepts}
        return systems == {entry.system} and not previous.opposite
    if not isinstance(previous, PlannedFinding):
        return False
    if previous.diagnosis or previous.change or previous.certainty == "uncertain":
        return False
    concept = lexicon.concepts[previous.concept]
    if isinstance(content, Denial):
        systems = {lexicon.concepts[key].system for key in content.concepts}
        return systems == {concept.system} and not concept.device
    if isinstance(content, PlannedFinding):
        other = lexicon.concepts[content.concept]
        is_plain = content.change is None and content.diagnosis is None and content.certainty == "present"
        has_device = concept.device or other.device
        return is_plain and concept.system == other.system and bool(other.names) and not has_device
    return False
