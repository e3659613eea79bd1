"""Controlled errors: any number of each category of ReXVal and GREEN, clinically significant or not.

An error is made in what the report means; the text is then realized again, so the candidate says the wrong
thing wherever the reference says the right one, impression included, and every other sentence of the
findings keeps its bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random

from radeval_lib.synthetic.content import (
    allowed_changes,
    choose,
    contradicts,
    draw_finding,
    draw_size,
    menu,
    sides,
)
from radeval_lib.synthetic.difference import (
    CATEGORIES,
    SIZE_RATIO,
    Comparison,
    GoldError,
    compare,
    degree_significant,
    denied,
    location_significant,
    stated,
)
from radeval_lib.synthetic.generator import Pair, exam_of, report_at, rerender, seeded
from radeval_lib.synthetic.records import (
    Denial,
    Finding,
    Normal,
    Plan,
    Statement,
    Style,
    SyntheticError,
    SyntheticReport,
)
from radeval_lib.synthetic.vocabulary import Concept, Exam, Lexicon, load_lexicon

#: What to inject: category letter and significance; a mapping says how many of each.
ErrorKind = tuple[str, bool]
_ORDER = "cdfeba"  # attributes first, then removals, then additions
_TRIES = 4000
_ATTEMPTS = 400


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """A reference, a candidate with errors, and the exact list of them."""

    reference: SyntheticReport
    candidate: SyntheticReport
    comparison: Comparison

    @property
    def errors(self) -> tuple[GoldError, ...]:
        """The gold errors, by category."""
        return self.comparison.errors


# --- one finding ---


def _moved(rng: Random, lexicon: Lexicon, exam: Exam, finding: Finding, significant: bool) -> Finding | None:
    """The finding somewhere else."""
    concept = lexicon.concepts[finding.concept]
    options: list[Finding] = []
    if finding.side:
        known = sides(lexicon, concept, finding.place)
        options += [
            replace(finding, side=side) for side in known if side != finding.side and side != "bilateral"
        ]
    if finding.place:
        for key in lexicon.places_of(concept, exam):
            place = lexicon.places[key]
            if key == finding.place or finding.side not in place.nouns:
                continue
            size = finding.size_mm
            if place.distance or lexicon.places[finding.place].distance:
                size = draw_size(rng, *place.distance, two=False) if place.distance else None
            options.append(replace(finding, place=key, size_mm=size))
    return _one_of(
        rng, concept, significant, options, lambda new: location_significant(lexicon, finding, new)
    )


def _regraded(rng: Random, finding: Finding, concept: Concept, significant: bool) -> Finding | None:
    """The finding in another severity or size."""
    options: list[Finding] = []
    if finding.severity is not None:
        low, high = concept.steps
        options = [replace(finding, severity=s) for s in range(low, high + 1) if s != finding.severity]
    elif finding.size_mm and not concept.device:
        wide = significant and concept.major
        for _ in range(8):
            ratio = SIZE_RATIO * (1.05 + 0.6 * rng.random()) if wide else 1.08 + 0.25 * rng.random()
            ratio = ratio if rng.random() < 0.5 else 1 / ratio
            size = tuple(max(2, round(mm * ratio)) for mm in finding.size_mm)
            if size[0] != finding.size_mm[0]:
                options.append(replace(finding, size_mm=size))
    return _one_of(rng, concept, significant, options, lambda new: degree_significant(finding, new))


def _compared(rng: Random, finding: Finding, concept: Concept, significant: bool) -> Finding | None:
    """The finding with a comparison that the reference has not."""
    if finding.change is not None:
        return None
    options = [replace(finding, change=change) for change in allowed_changes(concept)]
    return _one_of(rng, concept, significant, options, lambda new: new.change != "unchanged")


def _uncompared(finding: Finding, concept: Concept, significant: bool) -> Finding | None:
    """The finding without its comparison."""
    if finding.change is None or (concept.major and finding.change != "unchanged") != significant:
        return None
    return replace(finding, change=None)


def _one_of(
    rng: Random,
    concept: Concept,
    significant: bool,
    options: list[Finding],
    matters: Callable[[Finding], bool],
) -> Finding | None:
    """One of the options whose significance is the one asked for."""
    fit = tuple(new for new in options if (concept.major and matters(new)) == significant)
    return choose(rng, fit) if fit else None


def _changed(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: Finding, category: str, significant: bool
) -> Finding | None:
    """The finding with an error of the category, or None if it allows none."""
    concept = lexicon.concepts[finding.concept]
    if category == "c":
        return _moved(rng, lexicon, exam, finding, significant)
    if category == "d":
        return _regraded(rng, finding, concept, significant)
    if category == "e":
        return _compared(rng, finding, concept, significant)
    return _uncompared(finding, concept, significant)


# --- the plan ---


def without(plan: Plan, uid: int) -> Plan:
    """The plan without a statement; one that was joined to it stands alone."""
    result: list[Statement] = []
    orphaned = False
    for statement in plan:
        if statement.uid == uid:
            orphaned = not statement.joined
            continue
        if not statement.joined:
            orphaned = False
        result.append(replace(statement, joined=False) if orphaned and statement.joined else statement)
        if statement.joined:
            orphaned = False
    return tuple(result)


def with_content(plan: Plan, uid: int, finding: Finding) -> Plan:
    """The plan with another content for a statement."""
    return tuple(replace(s, content=finding) if s.uid == uid else s for s in plan)


def with_finding(lexicon: Lexicon, plan: Plan, finding: Finding, wording: int) -> Plan:
    """The plan with one more finding, and without what speaks against it.

    The finding stands where its denial stood, else behind the last statement of its organ system, else last.
    """
    present = frozenset([finding.concept])
    uid = max((s.uid for s in plan), default=-1) + 1
    conflicts = lexicon.conflicts(finding.concept)
    at: int | None = None
    kept: Plan = plan
    for statement in plan:
        if not contradicts(lexicon, statement.content, present):
            continue
        at = [s.uid for s in kept].index(statement.uid) if at is None else at
        content = statement.content
        rest = tuple(k for k in content.concepts if k not in conflicts) if isinstance(content, Denial) else ()
        if rest:
            kept = tuple(replace(s, content=Denial(rest)) if s.uid == statement.uid else s for s in kept)
        else:
            kept = without(kept, statement.uid)
    if at is None:
        system = _system(lexicon, finding)
        same = [i for i, s in enumerate(kept) if _system(lexicon, s.content) == system]
        at = same[-1] + 1 if same else len(kept)
    while at < len(kept) and kept[at].joined:
        at += 1
    return (*kept[:at], Statement(uid, finding, wording), *kept[at:])


def _system(lexicon: Lexicon, content: object) -> tuple[str, str] | None:
    if isinstance(content, Finding):
        concept = lexicon.concepts[content.concept]
        return concept.region, concept.system
    if isinstance(content, Denial):
        concept = lexicon.concepts[content.concepts[0]]
        return concept.region, concept.system
    if isinstance(content, Normal):
        entry = lexicon.normals[content.key]
        return entry.region, entry.system
    return None


def _false_finding(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, plan: Plan, significant: bool
) -> Plan | None:
    """The plan with a finding that the reference has not."""
    exam = exam_of(report)
    present = stated(plan).keys() | stated(report.plan).keys()
    suggested = {f.suggests for _, f in stated(plan).values() if f.suggests}
    options = [
        c
        for c in menu(exam, report.style).findings
        if c.major == significant and not lexicon.conflicts(c.key) & present and c.key not in suggested
    ]
    if not options:
        return None
    # As common as in reports; three times as likely where the reference denies it.
    absent = denied(report.plan)
    totals = list(accumulate(c.common * (3 if c.key in absent else 1) for c in options))
    concept = options[bisect_right(totals, rng.random() * totals[-1])]
    finding = draw_finding(rng, concept, exam, report.style, prior=False, blocked=frozenset(lexicon.concepts))
    return with_finding(lexicon, plan, replace(finding, certainty="present"), rng.getrandbits(96))


# --- API ---


def _kinds(errors: Mapping[ErrorKind, int] | Sequence[ErrorKind]) -> list[ErrorKind]:
    """The requested errors one by one, in the order in which they are made."""
    kinds = (
        [kind for kind, n in errors.items() for _ in range(n)]
        if isinstance(errors, Mapping)
        else list(errors)
    )
    for kind in kinds:
        if kind[0] not in CATEGORIES:
            raise SyntheticError(f"unknown category {kind[0]!r}", "inject", "Use the letters a to f.")
    return sorted(kinds, key=lambda kind: _ORDER.index(kind[0]))


def _assign(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, kinds: list[ErrorKind]
) -> list[tuple[ErrorKind, int, Finding | None]] | None:
    """Which finding takes which error: one each where possible; several on one finding only of different
    kinds."""
    exam = exam_of(report)
    found = stated(report.plan)
    options: list[list[tuple[int, Finding | None]]] = []
    for category, significant in kinds:
        fit: list[tuple[int, Finding | None]] = []
        for uid, finding in found.values():
            if finding.concept not in lexicon.concepts:
                continue
            if category == "b":
                if lexicon.concepts[finding.concept].major == significant:
                    fit.append((uid, None))
            elif changed := _changed(rng, lexicon, exam, finding, category, significant):
                fit.append((uid, changed))
        fit.sort(key=lambda _: rng.random())
        options.append(fit)
    order = sorted(range(len(kinds)), key=lambda i: len(options[i]))
    taken: dict[int, list[int]] = {}
    tries = 0

    def place(depth: int, shared: int) -> bool:
        """Backtracking; at most ``shared`` errors may fall on a finding that has one already."""
        nonlocal tries
        tries += 1
        if tries > _TRIES:
            return False
        if depth == len(order):
            return True
        index = order[depth]
        for uid, _ in options[index]:
            others = [kinds[i][0] for i in taken.get(uid, [])]
            if others and (shared == 0 or kinds[index][0] == "b" or {"b", kinds[index][0]} & set(others)):
                continue
            taken.setdefault(uid, []).append(index)
            if place(depth + 1, shared - bool(others)):
                return True
            taken[uid].pop()
        return False

    for shared in range(len(kinds) + 1):
        taken.clear()
        if place(0, shared):
            where = {index: uid for uid, indices in taken.items() for index in indices}
            return [(kinds[i], where[i], dict(options[i])[where[i]]) for i in range(len(kinds))]
    return None


def inject(
    report: SyntheticReport, errors: Mapping[ErrorKind, int] | Sequence[ErrorKind], seed: int = 0
) -> ErrorPair:
    """A candidate that makes exactly these errors about ``report``.

    Parameters
    ----------
    errors : ``{("a", True): 1, ("d", False): 2}`` for one significant false finding and two insignificant
        errors of severity, or a list of such pairs; letters as in :data:`CATEGORIES`.

    Raises
    ------
    SyntheticError : the report has not enough findings of the right kind; :func:`error_pairs` looks for one
        that has.
    """
    lexicon = load_lexicon()
    rng = seeded(seed, report.report_id, "errors")
    kinds = _kinds(errors)
    about = [kind for kind in kinds if kind[0] != "a"]
    assigned = _assign(rng, lexicon, report, about)
    infeasible = SyntheticError(
        f"report {report.report_id} allows no errors {kinds}", "inject", "error_pairs finds reports that do."
    )
    if assigned is None:
        raise infeasible
    plan = report.plan
    for (category, _), uid, changed in assigned:
        if category == "b":
            plan = without(plan, uid)
        else:
            assert changed is not None
            now = next(s.content for s in plan if s.uid == uid)
            original = next(s.content for s in report.plan if s.uid == uid)
            assert isinstance(now, Finding)
            assert isinstance(original, Finding)
            plan = with_content(plan, uid, _merged(original, now, changed))
    for category, significant in kinds:
        if category == "a":
            added = _false_finding(rng, lexicon, report, plan, significant)
            if added is None:
                raise infeasible
            plan = added
    if not plan:
        raise infeasible
    candidate = rerender(report, plan)
    return ErrorPair(report, candidate, compare(report, candidate))


def _merged(original: Finding, now: Finding, changed: Finding) -> Finding:
    """``now`` with what ``changed`` has other than ``original``: several errors on one finding."""
    merged = now
    for name in ("place", "side", "severity", "size_mm", "change"):
        if getattr(changed, name) != getattr(original, name):
            merged = replace(merged, **{name: getattr(changed, name)})
    return merged


def feasible(report: SyntheticReport, kind: ErrorKind, seed: int = 0) -> bool:
    """Whether one error of this kind can be made about the report."""
    try:
        inject(report, [kind], seed)
    except SyntheticError:
        return False
    return True


def error_pairs(
    n: int,
    seed: int = 0,
    errors: Mapping[ErrorKind, int] | Sequence[ErrorKind] | None = None,
    *,
    style: Style | None = None,
    modality_anatomy: Pair | Sequence[Pair] | None = None,
    start: int = 0,
) -> Iterator[ErrorPair]:
    """A stream of pairs, each with exactly the ``errors`` asked for (None: a random mix of 0 to 6).

    Pair i depends on ``seed``, i and the arguments only. References are drawn until one allows the errors.

    Raises
    ------
    SyntheticError : no report among many allows them.
    """
    for index in range(start, start + n):
        rng = seeded(seed, index, "pair")
        kinds = _kinds(errors) if errors is not None else _random_kinds(rng)
        least = min(6, max(1, sum(kind[0] != "a" for kind in kinds)))
        prior = True if any(kind[0] == "f" for kind in kinds) else None
        for attempt in range(_ATTEMPTS):
            reference = report_at(
                seed,
                index * _ATTEMPTS + attempt,
                style=style,
                modality_anatomy=modality_anatomy,
                min_findings=least,
                prior=prior,
            )
            try:
                pair = inject(reference, kinds, seed)
            except SyntheticError:
                continue
            yield pair
            break
        else:
            raise SyntheticError(
                f"no report allows the errors {kinds}", "error_pairs", "Ask for fewer at once."
            )


def _random_kinds(rng: Random) -> list[ErrorKind]:
    number = int(7 * rng.random() ** 1.3)
    return [("abcdef"[int(6 * rng.random())], rng.random() < 0.6) for _ in range(number)]
