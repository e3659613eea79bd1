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
    """How often reports of a style state findings, attributes and so on; probabilities unless noted."""

    counts: tuple[float, ...]  # shares of reports with 0, 1, 2 ... findings that are not devices
    rare: float  # factor of the weight of rare diseases
    device: float
    normal: float  # that a normal statement of weight 1 is drawn, if nothing contradicts it
    most_denials: int  # number of concepts; a report denies fewer
    longest_denial: int  # the most concepts in one denial
    other_order: float  # that the report begins with another organ than usual
    joined: float  # that a statement that can be joined to the one before is
    look: float
    second_look: float
    suggestion: float
    remark: float = 0.12  # that a remark of weight 1 is drawn
    no_place: float = 0.4  # that a vague finding has no place
    both_sides: float = 0.15
    severity: float = 0.62
    many: float = 0.2
    size: float = 0.8
    size_on_x_ray: float = 0.5
    two_diameters: float = 0.3
    uncertain: float = 0.1
    change: float = 0.42  # if there is an earlier examination
    unchanged: float = 0.45  # that a stated change is "unchanged"


CHANCES: dict[Style, Chances] = {
    "hospital": Chances(
        counts=(0.24, 0.22, 0.20, 0.15, 0.10, 0.06, 0.03), rare=0.02, device=0.22, normal=0.1, most_denials=7,
        longest_denial=3, other_order=0.35, joined=0.3, look=0.35, second_look=0, suggestion=0.3,
    ),
    "encyclopaedic": Chances(
        counts=(0.02, 0.34, 0.30, 0.20, 0.10, 0.04, 0.0), rare=2.5, device=0.06, normal=0.055, most_denials=4,
        longest_denial=4, other_order=0, joined=0.6, look=0.85, second_look=0.5, suggestion=0.45,
    ),
}  # fmt: skip


def choose(rng: Random, options: tuple[_T, ...]) -> _T:
    """Return one of the options, each with equal probability; only ``rng.random`` is used, because Python
    guarantees its sequence for a seed."""
    return options[int(rng.random() * len(options))]


class Weighted(Generic[_T]):
    """Options that are drawn with probabilities in proportion to their weights."""

    __slots__ = ("options", "totals")

    def __init__(self, weights: Iterable[tuple[_T, float]]) -> None:
        """Store (option, weight) pairs as options and cumulated weights."""
        chosen = list(weights)
        self.options = tuple(option for option, _ in chosen)
        self.totals = tuple(accumulate(weight for _, weight in chosen))

    def draw(self, rng: Random) -> _T:
        """Return one of the options, drawn in proportion to its weight."""
        return self.options[bisect_right(self.totals, rng.random() * self.totals[-1])]


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that reports of one kind of examination and style can state.

    Attributes
    ----------
    findings, devices, deniable : the findings, devices and denied findings, with their weights.
    normals, remarks : the statements of normality, and the remarks.
    systems : the rank of each (region, organ system) in the usual order of reports.
    counts : the numbers of findings other than devices, with their weights.
    density : the factor by which the weight of a statement of normality is multiplied for its probability.
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
    lexicon, chances = load_lexicon(), CHANCES[style]
    protocol = lexicon.protocols[exam.modality, exam.anatomy]
    concepts = [c for region in protocol.regions for c in region.concepts if lexicon.shown(c, exam)]

    def weighted(chosen: Iterable[Concept]) -> Weighted[Concept]:
        return Weighted((c, c.common * (chances.rare if c.rare else 1.0)) for c in chosen)

    systems = [(region.key, system) for region in protocol.regions for system in region.systems]
    return Menu(
        weighted(c for c in concepts if not c.device and c.common > 0),
        weighted(c for c in concepts if c.device),
        Weighted((c, c.denials) for c in concepts if c.denials > 0 and not c.device),
        tuple(n for r in protocol.regions for n in r.normals if n.scope.admits(exam)),
        tuple(e for r in protocol.regions for e in r.remarks if e.weight and e.scope.admits(exam)),
        {system: rank for rank, system in enumerate(systems)},
        Weighted((n, weight * protocol.findings**n) for n, weight in enumerate(chances.counts)),
        chances.normal * protocol.normals,
    )


def list_changes(concept: Concept) -> tuple[Change, ...]:
    """Return the changes that are plausible for a finding: devices do not enlarge, and old or anatomical
    findings stay unchanged."""
    if not concept.changes:
        return ()
    if concept.device:
        return ("new", "unchanged") if concept.major else ("unchanged",)
    return CHANGES if concept.uncertain else ("unchanged",)


def list_sides(lexicon: Lexicon, concept: Concept, site: str | None) -> tuple[Side, ...]:
    """Return the sides that a finding can have at ``site``, the key of a place; None for no place."""
    if site is not None:
        return tuple(side for side in lexicon.places[site].nouns if side)  # type: ignore[misc]
    return ("left", "right", "bilateral") if concept.sided else ()


def draw_size(rng: Random, low: int, high: int, two_diameters: bool) -> tuple[int, ...]:
    """Return one or two diameters in millimetres, log-uniform between ``low`` and ``high``."""
    long_diameter = round(low * (high / low) ** rng.random())
    if not two_diameters or long_diameter <= low + 1:
        return (long_diameter,)
    return (long_diameter, max(low, round(long_diameter * (0.6 + 0.35 * rng.random()))))


def draw_finding(
    rng: Random, concept: Concept, exam: Exam, style: Style, *, prior: bool, blocked: frozenset[str]
) -> PlannedFinding:
    """Return a finding with drawn attributes: place, side, severity, number, size, looks, certainty, change
    and suggested diagnosis. They are drawn in a fixed order, so that equal random numbers give equal
    findings.

    Parameters
    ----------
    concept : what the finding is.
    exam : the examination, which decides the possible places and, by its modality, how often sizes are stated
        and which looks are possible.
    style : the style, which decides the probability of each attribute (``CHANCES``).
    prior : whether there is an earlier examination, so that a change can be stated.
    blocked : keys of concepts that the finding must not suggest.
    """
    lexicon, chances = load_lexicon(), CHANCES[style]
    places = lexicon.places_of(concept, exam)
    place = choose(rng, places) if places else None
    if concept.vague and rng.random() < chances.no_place:
        place = None
    side: Side | None = None
    options = list_sides(lexicon, concept, place)
    if "bilateral" in options and rng.random() < chances.both_sides:
        side = "bilateral"
    elif options:
        side = choose(rng, tuple(option for option in options if option != "bilateral") or options)
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
        is_x_ray = exam.modality == "X-Ray"  # An X-ray has fewer sizes, of one diameter each.
        if rng.random() < (chances.size_on_x_ray if is_x_ray else chances.size):
            size_mm = draw_size(
                rng, *concept.size, two_diameters=not is_x_ray and rng.random() < chances.two_diameters
            )
    looks = _draw_looks(rng, concept.looks.get("any", ()) + concept.looks.get(exam.modality, ()), chances)
    is_uncertain = concept.uncertain and not concept.device and rng.random() < chances.uncertain
    change = _draw_change(rng, concept, chances) if prior and rng.random() < chances.change else None
    suggests = None
    hints = tuple(h for h in concept.hints if h not in blocked and h != concept.key)
    if hints and rng.random() < chances.suggestion:
        suggests = choose(rng, hints)
    return PlannedFinding(
        concept.key,
        "uncertain" if is_uncertain else "present",
        place,
        side,
        severity,
        size_mm,
        looks,
        is_many,
        change,
        suggests,
    )


def _draw_looks(rng: Random, groups: tuple[tuple[str, ...], ...], chances: Chances) -> tuple[str, ...]:
    """Return up to two descriptors of appearance; two are of different groups, because those of a group
    exclude each other."""
    if not groups or rng.random() >= chances.look:
        return ()
    first_look = choose(rng, choose(rng, groups))
    if chances.second_look and len(groups) > 1 and rng.random() < chances.second_look:
        other_groups = tuple(group for group in groups if first_look not in group)
        return (first_look, choose(rng, choose(rng, other_groups))) if other_groups else (first_look,)
    return (first_look,)


def _draw_change(rng: Random, concept: Concept, chances: Chances) -> Change | None:
    """Return one of the plausible changes of a finding; None if it has none."""
    allowed = list_changes(concept)
    if not allowed:
        return None
    if "unchanged" in allowed and rng.random() < chances.unchanged:
        return "unchanged"
    return choose(rng, allowed)


def _draw_concepts(rng: Random, card: Menu, style: Style, lexicon: Lexicon, least: int) -> list[Concept]:
    """Return distinct concepts that do not clash, some of which may be devices. There are at least ``least``
    findings, unless the limited number of draws gives fewer."""
    wanted = max(least, card.counts.draw(rng))
    chosen: dict[str, Concept] = {}
    for _ in range(4 * wanted + 8):
        if len(chosen) >= min(wanted, len(card.findings.options)):
            break
        concept = card.findings.draw(rng)
        if concept.key not in chosen and not lexicon.conflicts(concept.key) & chosen.keys():
            chosen[concept.key] = concept
    if card.devices.options:
        for _ in range(3):
            if rng.random() > CHANCES[style].device:
                break
            concept = card.devices.draw(rng)
            chosen.setdefault(concept.key, concept)
    return list(chosen.values())


def _draw_denials(rng: Random, card: Menu, blocked: set[str], style: Style) -> list[Denial]:
    """Return denials, ordered by organ system, of concepts that are not ``blocked``."""
    if not card.deniable.options:
        return []
    wanted = int(rng.random() * CHANCES[style].most_denials)
    chosen: list[Concept] = []
    for _ in range(2 * wanted):
        if len(chosen) >= wanted:
            break
        concept = card.deniable.draw(rng)
        if concept.key not in blocked and concept not in chosen:
            chosen.append(concept)
    chosen.sort(key=lambda concept: card.systems[concept.region, concept.system])
    denials, at = [], 0
    while at < len(chosen):
        size = 1 + int(rng.random() * CHANCES[style].longest_denial)
        denials.append(Denial(tuple(concept.key for concept in chosen[at : at + size])))
        at += size
    return denials


def _draw_normals(rng: Random, card: Menu, present: set[str], prior: bool) -> list[NormalEntry]:
    """Return drawn normal statements that contradict no concept in ``present``.

    The findings that two returned statements both exclude are at most half of those that one of them
    excludes, the one that excludes fewer. Statements that need an earlier study are left out unless ``prior``
    is True.
    """
    chosen: list[NormalEntry] = []
    first = int(rng.random() * len(card.normals)) if card.normals else 0
    for entry in card.normals[first:] + card.normals[:first]:
        is_left_out = rng.random() > entry.weight * card.density
        if is_left_out or entry.excludes & present or (entry.prior and not prior):
            continue
        if not any(
            2 * len(entry.excludes & o.excludes) > min(len(entry.excludes), len(o.excludes)) for o in chosen
        ):
            chosen.append(entry)
    return chosen


def contradicts(lexicon: Lexicon, content: Meaning, present: frozenset[str]) -> bool:
    """Return whether a normal statement or a denial rules out one of the concepts in ``present``; False
    for other statements."""
    if isinstance(content, Normal):
        return not content.opposite and bool(lexicon.normals[content.key].excludes & present)
    if isinstance(content, Denial):
        return any(lexicon.conflicts(key) & set(content.concepts) for key in present)
    return False


def draw_plan(rng: Random, exam: Exam, style: Style, *, prior: bool, least: int) -> Plan:
    """Return a drawn plan with at least ``least`` findings, unless too few can be drawn without a clash.

    Remarks come first. Within an organ system, findings come before normal statements and denials, with some
    chance of another order. ``prior`` says whether there is an earlier examination.
    """
    lexicon, card, chances = load_lexicon(), build_menu(exam, style), CHANCES[style]
    concepts = _draw_concepts(rng, card, style, lexicon, least)
    present = {concept.key for concept in concepts}
    system_ranks = list(range(len(card.systems)))  # The rank of each organ system, in the usual order
    if chances.other_order and rng.random() < chances.other_order:
        first = int(rng.random() * len(system_ranks))  # or with another system first.
        system_ranks = system_ranks[first:] + system_ranks[:first]

    def reading_order(entry: Concept | NormalEntry) -> int:
        return system_ranks[card.systems[entry.region, entry.system]]

    contents: list[tuple[float, Meaning]] = []  # each with the number by which it is sorted
    not_suggested = set(present)
    for concept in concepts:
        finding = draw_finding(rng, concept, exam, style, prior=prior, blocked=frozenset(not_suggested))
        not_suggested |= lexicon.conflicts(concept.key)
        if finding.suggests:
            not_suggested.add(finding.suggests)
        lesion_offset = -50.0 if style == "encyclopaedic" and concept.major else 0.0
        contents.append((reading_order(concept) + 0.3 * rng.random() + lesion_offset, finding))
    for entry in _draw_normals(rng, card, present, prior):
        contents.append((reading_order(entry) + 0.25 * rng.random(), Normal(entry.key)))
    for denial in _draw_denials(rng, card, not_suggested, style):
        denied = lexicon.concepts[denial.concepts[0]]
        contents.append((reading_order(denied) + 0.3 + 0.4 * rng.random(), denial))
    for remark in card.remarks:
        if rng.random() < remark.weight * chances.remark and (prior or not remark.prior):
            contents.append((-100.0, Remark(remark.key)))
    # A report needs a statement other than remarks.
    if all(isinstance(content, Remark) for _, content in contents):
        without_prior = tuple(entry for entry in card.normals if not entry.prior)
        contents.append((0.0, Normal(choose(rng, without_prior).key)))
    contents.sort(key=lambda item: item[0])
    return tuple(_make_statements(rng, [content for _, content in contents], lexicon, style))


def _make_statements(rng: Random, contents: list[Meaning], lexicon: Lexicon, style: Style) -> list[Statement]:
    """Return a statement for each meaning, numbered from 0 and with a drawn wording; some are joined to the
    statement before."""
    statements: list[Statement] = []
    for uid, content in enumerate(contents):
        last = statements[-1] if statements else None
        joined = bool(
            last
            and not last.joined
            and can_join(lexicon, last.content, content)
            and rng.random() < CHANCES[style].joined
        )
        statements.append(Statement(uid, content, rng.getrandbits(96), joined))
    return statements


def can_join(lexicon: Lexicon, before: Meaning, content: Meaning) -> bool:
    """Return whether a statement can be worded in one sentence with the statement ``before`` it, which
    needs the same organ system."""
    if isinstance(content, Denial) and isinstance(before, Normal):
        entry = lexicon.normals[before.key]
        systems = {lexicon.concepts[key].system for key in content.concepts}
        return systems == {entry.system} and not before.opposite
    if not isinstance(before, PlannedFinding):
        return False
    if before.suggests or before.change or before.certainty == "uncertain":
        return False
    concept = lexicon.concepts[before.concept]
    if isinstance(content, Denial):
        systems = {lexicon.concepts[key].system for key in content.concepts}
        return systems == {concept.system} and not concept.device
    if isinstance(content, PlannedFinding):
        joined = lexicon.concepts[content.concept]
        is_plain = content.change is None and content.suggests is None and content.certainty == "present"
        has_device = concept.device or joined.device
        return is_plain and concept.system == joined.system and bool(joined.names) and not has_device
    return False
