"""Plants errors of the categories of ReXVal and GREEN in reports, clinically significant or not.

An error is planted in the plan of a report, and the text is then worded from the plan. The candidate
therefore has the error in findings and impression, and every other sentence of the findings stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from radeval_lib.rules.generator.content import (
    Weighted,
    build_menu,
    choose,
    contradicts,
    draw_finding,
    draw_size,
    list_changes,
    list_sides,
)
from radeval_lib.rules.generator.difference import (
    SIZE_RATIO,
    GoldError,
    ReportDifference,
    collect_denied,
    compare,
    index_findings,
    is_degree_significant,
    is_location_significant,
)
from radeval_lib.rules.generator.generator import Pair, get_exam, make_rng, report_at, rerender
from radeval_lib.rules.generator.records import (
    Denial,
    Meaning,
    Normal,
    Plan,
    PlannedFinding,
    Remark,
    Statement,
    SyntheticError,
    SyntheticReport,
)
from radeval_lib.rules.lexicon.entries import Concept, Exam, Lexicon, NormalEntry
from radeval_lib.rules.lexicon.loading import load_lexicon

#: A kind of error: the letter of its category, and whether it is clinically significant.
ErrorKind = tuple[str, bool]
#: The probabilities of each category and of a significant error, chosen so that simulated raters note errors
#: about as often as ReXVal's six radiologists: a .35, b .32, c .10, d .10, e .07, f .06; significant .71.
CATEGORY_SHARES = {"a": 0.23, "b": 0.36, "c": 0.13, "d": 0.11, "e": 0.08, "f": 0.09}
SIGNIFICANT_SHARE = 0.85
# Attributes of a finding that an error can change.
_ATTRIBUTES = ("place", "side", "severity", "size_mm", "change")
_PLANTING_ORDER = "cdfeba"  # attributes first, then removals, then additions
_TRIES = 4000  # the maximum number of steps in the search for an assignment of errors to findings
_ATTEMPTS = 1000  # the maximum number of references tried for one pair
_PATIENCE = 40  # the number of references tried before an error is removed from a random mix


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """A reference, a candidate with planted errors, and the exact differences between them."""

    reference: SyntheticReport
    candidate: SyntheticReport
    comparison: ReportDifference

    @property
    def errors(self) -> tuple[GoldError, ...]:
        """The errors of the candidate, sorted by category."""
        return self.comparison.errors


def _order_errors(errors: Sequence[ErrorKind]) -> list[ErrorKind]:
    """Return the requested errors in the order in which they are planted.

    Raises
    ------
    SyntheticError
        If a category is unknown.
    """
    if unknown := [category for category, _ in errors if category not in CATEGORY_SHARES]:
        remedy = f"Choose from {', '.join(CATEGORY_SHARES)}."
        raise SyntheticError(f"unknown category of error {unknown[0]!r}", "errors", remedy)
    return sorted(errors, key=lambda kind: _PLANTING_ORDER.index(kind[0]))


#: The uid of a statement, and the erroneous finding for it (None if the finding is omitted).
Option = tuple[int, PlannedFinding | None]


def _list_options(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, category: str, significant: bool
) -> list[Option]:
    """Return the ways to plant an error of one kind in a finding of a report, in a drawn order."""
    exam = get_exam(report)
    options: list[Option] = []
    for uid, finding in index_findings(report.plan).values():
        if finding.concept not in lexicon.concepts:
            continue
        if category == "b":
            if lexicon.concepts[finding.concept].major == significant:
                options.append((uid, None))
        elif changed := change_finding(rng, lexicon, exam, finding, category, significant):
            options.append((uid, changed))
    options.sort(key=lambda _: rng.random())
    return options


def _assign_errors(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, kinds: list[ErrorKind]
) -> list[tuple[ErrorKind, int, PlannedFinding | None]] | None:
    """Return an assignment of errors to findings that gives several errors to as few findings as possible.

    Returns
    -------
    list or None
        (kind, uid of the statement, erroneous finding) for each of ``kinds``, where the finding is None if it
        is omitted; None instead of the list if there is no assignment or ``_TRIES`` steps find none.
    """
    options = [_list_options(rng, lexicon, report, *kind) for kind in kinds]
    # Errors with the fewest options come first.
    order = sorted(range(len(kinds)), key=lambda i: len(options[i]))
    errors_by_uid: dict[int, list[int]] = {}  # the indices of the errors of each statement
    tries = 0

    def assign(depth: int, shared_count: int) -> bool:
        """Return whether the errors from ``depth`` on can be assigned, by backtracking, with at most
        ``shared_count`` of them to findings that already have one."""
        nonlocal tries
        tries += 1
        if tries > _TRIES:
            return False
        if depth == len(order):
            return True
        index = order[depth]
        for uid, _ in options[index]:
            others = [kinds[i][0] for i in errors_by_uid.get(uid, [])]
            # An omitted finding can have no other error, and no finding has two errors of one category.
            fits = not others or (shared_count > 0 and "b" not in (kinds[index][0], *others))
            if not fits or kinds[index][0] in others:
                continue
            errors_by_uid.setdefault(uid, []).append(index)
            if assign(depth + 1, shared_count - bool(others)):
                return True
            errors_by_uid[uid].pop()
        return False

    for shared_count in range(len(kinds) + 1):
        errors_by_uid.clear()
        if assign(0, shared_count):
            uids = {index: uid for uid, indices in errors_by_uid.items() for index in indices}
            return [(kinds[i], uids[i], dict(options[i])[uids[i]]) for i in range(len(kinds))]
    return None


def inject(report: SyntheticReport, errors: Sequence[ErrorKind], seed: int = 0) -> ErrorPair:
    """Return a pair of ``report`` and a candidate with exactly these errors.

    Raises
    ------
    SyntheticError
        If a category is unknown, or the report does not allow the errors.
    """
    lexicon = load_lexicon()
    rng = make_rng(seed, report.report_id, "errors")
    kinds = _order_errors(errors)
    finding_errors = [kind for kind in kinds if kind[0] != "a"]
    assignment = _assign_errors(rng, lexicon, report, finding_errors)
    problem = f"report {report.report_id} does not allow the errors {kinds}"
    failure = SyntheticError(problem, "inject", "Use another report, or let error_pairs find one.")
    if assignment is None:
        raise failure
    findings, plan = index_findings(report.plan), report.plan
    for (category, _), uid, new_finding in assignment:
        if category == "b":
            plan = remove_statement(plan, uid)
        else:
            assert new_finding is not None
            original, current = findings[new_finding.concept][1], index_findings(plan)[new_finding.concept][1]
            values = {name: getattr(new_finding, name) for name in _ATTRIBUTES}
            changes = {name: value for name, value in values.items() if value != getattr(original, name)}
            # `current` may already have another error.
            plan = replace_content(plan, uid, replace(current, **changes))
    for category, significant in kinds:
        if category == "a":
            extended_plan = add_false_finding(rng, lexicon, report, plan, significant)
            if extended_plan is None:
                raise failure
            plan = extended_plan
    if not plan:
        raise failure
    candidate = rerender(report, plan)
    return ErrorPair(report, candidate, compare(report, candidate))


def error_pairs(
    n: int,
    seed: int,
    errors: Sequence[ErrorKind] | None = None,
    *,
    modality_anatomy: Pair | Sequence[Pair] | None = None,
    start: int = 0,
) -> Iterator[ErrorPair]:
    """Yield pairs ``start`` to ``start + n - 1`` of the stream that ``seed`` defines, each with exactly the
    requested errors.

    Pair i depends only on ``seed``, i, ``errors`` and ``modality_anatomy``. References are drawn until one
    allows the errors.

    Parameters
    ----------
    errors : the errors of every candidate; by default, a mix of 0 to 6 errors is drawn for each pair, and
        reduced if hardly any report allows it.
    modality_anatomy : a pair such as ``("X-Ray", "CHEST")``, or several, from which one is drawn for each
        reference; by default, all pairs of the lexicon.

    Raises
    ------
    SyntheticError
        If a category or an examination is unknown, ``modality_anatomy`` is empty, or none of
        :data:`_ATTEMPTS` reports allows the errors.
    """
    for index in range(start, start + n):
        kinds = _order_errors(errors) if errors is not None else draw_kinds(make_rng(seed, index, "pair"))
        for attempt in range(_ATTEMPTS):
            if errors is None and attempt and attempt % _PATIENCE == 0:
                kinds = kinds[1:]
            finding_errors = [kind for kind in kinds if kind[0] != "a"]
            reference = report_at(
                seed,
                index * _ATTEMPTS + attempt,
                modality_anatomy=modality_anatomy,
                min_findings=min(6, max(1, len(finding_errors))),
                prior=True if any(kind[0] == "f" for kind in finding_errors) else None,
            )
            try:
                pair = inject(reference, kinds, seed)
            except SyntheticError:
                continue
            yield pair
            break
        else:
            problem = f"none of {_ATTEMPTS} drawn reports allows the errors {kinds}"
            raise SyntheticError(problem, "error_pairs", "Ask for fewer or other errors.")


def draw_kinds(rng: Random, count: int | None = None) -> list[ErrorKind]:
    """Return kinds of errors with categories and significance drawn according to :data:`CATEGORY_SHARES` and
    :data:`SIGNIFICANT_SHARE`.

    ``count`` is their number; by default, it is drawn from 0 to 6, small numbers more often than large ones.
    """
    count = int(7 * rng.random() ** 1.3) if count is None else count
    letters, shares = list(CATEGORY_SHARES), list(CATEGORY_SHARES.values())
    return [(rng.choices(letters, shares)[0], rng.random() < SIGNIFICANT_SHARE) for _ in range(count)]


# Changes of a plan that plant an error in it.


def _move(rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding) -> Iterator[PlannedFinding]:
    """Yield the finding at each other side except "bilateral", then at each other place that the examination
    shows and that has the finding's side."""
    concept = lexicon.concepts[finding.concept]
    if finding.side:
        for side in list_sides(lexicon, concept, finding.place):
            if side not in (finding.side, "bilateral"):
                yield replace(finding, side=side)
    if finding.place:
        for key in lexicon.list_places(concept, exam):
            place = lexicon.places[key]
            if key == finding.place or finding.side not in place.nouns:
                continue
            size = finding.size_mm
            if place.distance or lexicon.places[finding.place].distance:
                size = draw_size(rng, *place.distance, two_diameters=False) if place.distance else None
            yield replace(finding, place=key, size_mm=size)


def _regrade(
    rng: Random, finding: PlannedFinding, concept: Concept, significant: bool
) -> Iterator[PlannedFinding]:
    """Yield the finding with each other severity or, if it has none, with up to eight drawn sizes.

    ``significant`` says whether the sizes should differ significantly from the size of the finding.
    """
    if finding.severity is not None:
        low, high = concept.steps
        yield from (replace(finding, severity=s) for s in range(low, high + 1) if s != finding.severity)
    elif finding.size_mm and not concept.device:
        is_large = significant and concept.major
        for _ in range(8):
            ratio = SIZE_RATIO * (1.05 + 0.6 * rng.random()) if is_large else 1.08 + 0.25 * rng.random()
            ratio = ratio if rng.random() < 0.5 else 1 / ratio
            size = tuple(max(2, round(mm * ratio)) for mm in finding.size_mm)
            if size[0] != finding.size_mm[0]:
                yield replace(finding, size_mm=size)


def change_finding(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding, category: str, significant: bool
) -> PlannedFinding | None:
    """Return the finding with a drawn error of a category from c to f, which is significant if
    ``significant`` is True and insignificant otherwise; None if the finding allows no such error."""
    concept = lexicon.concepts[finding.concept]
    if category == "f":  # The comparison is omitted.
        is_significant = concept.major and finding.change != "unchanged"
        return replace(finding, change=None) if finding.change and is_significant == significant else None
    if category == "c":
        options = [
            (new, is_location_significant(lexicon, finding, new))
            for new in _move(rng, lexicon, exam, finding)
        ]
    elif category == "d":
        options = [
            (new, is_degree_significant(finding, new)) for new in _regrade(rng, finding, concept, significant)
        ]
    else:  # A comparison is added that the reference lacks.
        changes = () if finding.change else list_changes(concept)
        options = [(replace(finding, change=change), change != "unchanged") for change in changes]
    fitting = tuple(new for new, differs in options if (concept.major and differs) == significant)
    return choose(rng, fitting) if fitting else None


def remove_statement(plan: Plan, uid: int) -> Plan:
    """Return a plan without the statement with this uid.

    If it opened a sentence, the statement joined to it, if any, now opens the sentence.

    Raises
    ------
    ValueError
        If the plan has no such statement.
    """
    index = [statement.uid for statement in plan].index(uid)
    rest = plan[index + 1 :]
    if rest and rest[0].joined and not plan[index].joined:
        rest = (replace(rest[0], joined=False), *rest[1:])
    return plan[:index] + rest


def replace_content(plan: Plan, uid: int, finding: PlannedFinding) -> Plan:
    """Return a plan with ``finding`` as the content of the statement with this uid, if there is one."""
    return tuple(replace(s, content=finding) if s.uid == uid else s for s in plan)


def add_finding(lexicon: Lexicon, plan: Plan, finding: PlannedFinding, wording_seed: int) -> Plan:
    """Return a plan with one more finding, and without statements or parts of denials that contradict it.

    The finding is placed where it was contradicted or else after the last statement on the same organ system,
    or at the end of the plan. ``wording_seed`` is that of the new statement.
    """
    present = frozenset([finding.concept])
    uid = max((s.uid for s in plan), default=-1) + 1
    conflicts = lexicon.list_conflicts(finding.concept)
    position: int | None = None
    edited: Plan = plan
    for statement in plan:
        if not contradicts(lexicon, statement.content, present):
            continue
        position = [s.uid for s in edited].index(statement.uid) if position is None else position
        content = statement.content
        kept = tuple(k for k in content.concepts if k not in conflicts) if isinstance(content, Denial) else ()
        if kept:
            edited = tuple(replace(s, content=Denial(kept)) if s.uid == statement.uid else s for s in edited)
        else:
            edited = remove_statement(edited, statement.uid)
    if position is None:
        system = _get_system(lexicon, finding)
        indices = [i for i, s in enumerate(edited) if _get_system(lexicon, s.content) == system]
        position = indices[-1] + 1 if indices else len(edited)
    while position < len(edited) and edited[position].joined:
        position += 1
    return (*edited[:position], Statement(uid, finding, wording_seed), *edited[position:])


def _get_system(lexicon: Lexicon, content: Meaning) -> tuple[str, str] | None:
    """Return the region and the organ system of a statement's content; for a denial, those of its first
    concept; for a remark, None."""
    if isinstance(content, Remark):
        return None
    entry: Concept | NormalEntry
    if isinstance(content, Normal):
        entry = lexicon.normals[content.key]
    else:
        key = content.concept if isinstance(content, PlannedFinding) else content.concepts[0]
        entry = lexicon.concepts[key]
    return entry.region, entry.system


def add_false_finding(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, plan: Plan, significant: bool
) -> Plan | None:
    """Return ``plan`` with a drawn finding that neither ``plan`` nor the reference states; None if the
    examination allows no such finding of this significance.

    Parameters
    ----------
    report : the reference.
    plan : the plan of the candidate so far.
    significant : whether the finding is major.
    """
    exam = get_exam(report)
    present = index_findings(plan).keys() | index_findings(report.plan).keys()
    suggested = {f.diagnosis for _, f in index_findings(plan).values() if f.diagnosis}
    options = [
        c
        for c in build_menu(exam, report.style).findings.options
        if c.major == significant and not lexicon.list_conflicts(c.key) & present and c.key not in suggested
    ]
    if not options:
        return None
    # The weights are those of reports, but three times as high if the reference denies the finding.
    denied = collect_denied(report.plan)
    concept = Weighted((c, c.common * (3 if c.key in denied else 1)) for c in options).draw(rng)
    finding = draw_finding(rng, concept, exam, report.style, prior=False, blocked=frozenset(lexicon.concepts))
    return add_finding(lexicon, plan, replace(finding, certainty="present"), rng.getrandbits(96))
