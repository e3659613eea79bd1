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
#: How often each category, and a significant error, is planted, so that simulated raters note them about as
#: often as ReXVal's six radiologists counted them: a .35, b .32, c .10, d .10, e .07, f .06; significant .71.
CATEGORY_SHARES = {"a": 0.23, "b": 0.36, "c": 0.13, "d": 0.11, "e": 0.08, "f": 0.09}
SIGNIFICANT_SHARE = 0.85
# Attributes of a finding that an error can change.
_ATTRIBUTES = ("place", "side", "severity", "size_mm", "change")
_ORDER = "cdfeba"  # attributes first, then removals, then additions
_TRIES = 4000  # steps of the search for an assignment of errors to findings, before a report is given up
_ATTEMPTS = 1000  # the most references tried for one pair
_PATIENCE = 40  # references tried before an error is removed from a random mix


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """A reference, a candidate with planted errors, and their exact differences."""

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
    return sorted(errors, key=lambda kind: _ORDER.index(kind[0]))


#: The uid of a statement, and its finding with an error (None if the finding is omitted).
Option = tuple[int, PlannedFinding | None]


def _list_options(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, category: str, significant: bool
) -> list[Option]:
    """Return, in a drawn order, the findings in which an error of one kind can be planted, each with the
    erroneous finding."""
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
    """Return an assignment of errors to findings, with as few findings that have several errors as possible.

    Returns
    -------
    list
        In the order of ``kinds``: the kind, the uid of the statement, and the erroneous finding (None if the
        finding is omitted). In place of the list, None if ``_TRIES`` steps give no assignment.
    """
    options = [_list_options(rng, lexicon, report, *kind) for kind in kinds]
    # Errors with the fewest options come first.
    order = sorted(range(len(kinds)), key=lambda i: len(options[i]))
    on_finding: dict[int, list[int]] = {}  # by the uid of a finding, the indices of its errors
    tries = 0

    def place(depth: int, shared_count: int) -> bool:
        """Return whether the errors from ``depth`` on can be placed, by backtracking, with at most
        ``shared_count`` of them on findings that already have one."""
        nonlocal tries
        tries += 1
        if tries > _TRIES:
            return False
        if depth == len(order):
            return True
        index = order[depth]
        for uid, _ in options[index]:
            others = [kinds[i][0] for i in on_finding.get(uid, [])]
            # An omitted finding can have no other error, and no finding has two errors of one category.
            fits = not others or (shared_count > 0 and "b" not in (kinds[index][0], *others))
            if not fits or kinds[index][0] in others:
                continue
            on_finding.setdefault(uid, []).append(index)
            if place(depth + 1, shared_count - bool(others)):
                return True
            on_finding[uid].pop()
        return False

    for shared_count in range(len(kinds) + 1):
        on_finding.clear()
        if place(0, shared_count):
            uid_of = {index: uid for uid, indices in on_finding.items() for index in indices}
            return [(kinds[i], uid_of[i], dict(options[i])[uid_of[i]]) for i in range(len(kinds))]
    return None


def inject(report: SyntheticReport, errors: Sequence[ErrorKind], seed: int = 0) -> ErrorPair:
    """Return a pair of ``report`` and a candidate that has exactly these errors.

    Raises
    ------
    SyntheticError
        If a category is unknown, or the report has no findings that allow the errors.
    """
    lexicon = load_lexicon()
    rng = make_rng(seed, report.report_id, "errors")
    kinds = _order_errors(errors)
    about = [kind for kind in kinds if kind[0] != "a"]
    assigned = _assign_errors(rng, lexicon, report, about)
    problem = f"report {report.report_id} does not allow the errors {kinds}"
    impossible = SyntheticError(problem, "inject", "Use another report, or let error_pairs find one.")
    if assigned is None:
        raise impossible
    findings, plan = index_findings(report.plan), report.plan
    for (category, _), uid, changed in assigned:
        if category == "b":
            plan = remove_statement(plan, uid)
        else:
            assert changed is not None
            original, current = findings[changed.concept][1], index_findings(plan)[changed.concept][1]
            values = {name: getattr(changed, name) for name in _ATTRIBUTES}
            changes = {name: value for name, value in values.items() if value != getattr(original, name)}
            # ``current`` may have another error already.
            plan = replace_content(plan, uid, replace(current, **changes))
    for category, significant in kinds:
        if category == "a":
            extended = add_false_finding(rng, lexicon, report, plan, significant)
            if extended is None:
                raise impossible
            plan = extended
    if not plan:
        raise impossible
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
    """Yield the pairs number ``start`` to ``start + n - 1`` of the stream that ``seed`` defines, each with
    exactly the requested errors.

    Without ``errors``, each pair has a drawn mix of 0 to 6 errors, or fewer if hardly any report allows the
    mix. Pair i depends only on ``seed``, i and the arguments. References are drawn until one allows the
    errors.

    Raises
    ------
    SyntheticError
        If a category is unknown, or none of :data:`_ATTEMPTS` reports allows the errors.
    """
    for index in range(start, start + n):
        kinds = _order_errors(errors) if errors is not None else draw_kinds(make_rng(seed, index, "pair"))
        for attempt in range(_ATTEMPTS):
            if errors is None and attempt and attempt % _PATIENCE == 0:
                kinds = kinds[1:]
            about = [kind for kind in kinds if kind[0] != "a"]
            reference = report_at(
                seed,
                index * _ATTEMPTS + attempt,
                modality_anatomy=modality_anatomy,
                min_findings=min(6, max(1, len(about))),
                prior=True if any(kind[0] == "f" for kind in about) else None,
            )
            try:
                pair = inject(reference, kinds, seed)
            except SyntheticError:
                continue
            yield pair
            break
        else:
            problem = f"none of {_ATTEMPTS} drawn reports allows the errors {kinds}"
            raise SyntheticError(problem, "error_pairs", "Ask for fewer errors in one report.")


def draw_kinds(rng: Random, number: int | None = None) -> list[ErrorKind]:
    """Return kinds of errors, with categories and significance drawn according to :data:`CATEGORY_SHARES` and
    :data:`SIGNIFICANT_SHARE`.

    ``number`` is how many; None draws it from 0 to 6, small numbers more often than large ones.
    """
    number = int(7 * rng.random() ** 1.3) if number is None else number
    letters, shares = list(CATEGORY_SHARES), list(CATEGORY_SHARES.values())
    return [(rng.choices(letters, shares)[0], rng.random() < SIGNIFICANT_SHARE) for _ in range(number)]


# Changes of a plan that plant an error.


def _move(rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding) -> Iterator[PlannedFinding]:
    """Yield a finding moved to each other side, then to each other place that the examination shows."""
    concept = lexicon.concepts[finding.concept]
    if finding.side:
        for side in list_sides(lexicon, concept, finding.place):
            if side not in (finding.side, "bilateral"):
                yield replace(finding, side=side)
    if finding.place:
        for key in lexicon.places_of(concept, exam):
            site = lexicon.places[key]
            if key == finding.place or finding.side not in site.nouns:
                continue
            size = finding.size_mm
            if site.distance or lexicon.places[finding.place].distance:
                size = draw_size(rng, *site.distance, two_diameters=False) if site.distance else None
            yield replace(finding, place=key, size_mm=size)


def _regrade(
    rng: Random, finding: PlannedFinding, concept: Concept, significant: bool
) -> Iterator[PlannedFinding]:
    """Yield a finding with each other severity or, if it has none, with eight drawn sizes."""
    if finding.severity is not None:
        low, high = concept.steps
        yield from (replace(finding, severity=s) for s in range(low, high + 1) if s != finding.severity)
    elif finding.size_mm and not concept.device:
        large = significant and concept.major
        for _ in range(8):
            ratio = SIZE_RATIO * (1.05 + 0.6 * rng.random()) if large else 1.08 + 0.25 * rng.random()
            ratio = ratio if rng.random() < 0.5 else 1 / ratio
            size = tuple(max(2, round(mm * ratio)) for mm in finding.size_mm)
            if size[0] != finding.size_mm[0]:
                yield replace(finding, size_mm=size)


def change_finding(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding, category: str, significant: bool
) -> PlannedFinding | None:
    """Return a finding with an error of a category from c to f that is significant or not, as
    ``significant`` says; None if the finding allows no such error."""
    concept = lexicon.concepts[finding.concept]
    if category == "f":  # The comparison is omitted.
        matters = concept.major and finding.change != "unchanged"
        return replace(finding, change=None) if finding.change and matters == significant else None
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
    fitting = tuple(new for new, matters in options if (concept.major and matters) == significant)
    return choose(rng, fitting) if fitting else None


def remove_statement(plan: Plan, uid: int) -> Plan:
    """Return a plan without the statement with this uid.

    If that statement opened a sentence, the statement that was joined to it now opens one.

    Raises
    ------
    ValueError
        If the plan has no such statement.
    """
    at = [statement.uid for statement in plan].index(uid)
    rest = plan[at + 1 :]
    if rest and rest[0].joined and not plan[at].joined:
        rest = (replace(rest[0], joined=False), *rest[1:])
    return plan[:at] + rest


def replace_content(plan: Plan, uid: int, finding: PlannedFinding) -> Plan:
    """Return a plan with ``finding`` as the content of the statement with this uid."""
    return tuple(replace(s, content=finding) if s.uid == uid else s for s in plan)


def add_finding(lexicon: Lexicon, plan: Plan, finding: PlannedFinding, wording: int) -> Plan:
    """Return a plan with one more finding, and without statements or parts of denials that contradict it.

    The finding replaces its denial or, without one, follows the last statement of its organ system or,
    without one, comes last.
    """
    present = frozenset([finding.concept])
    uid = max((s.uid for s in plan), default=-1) + 1
    conflicts = lexicon.conflicts(finding.concept)
    at: int | None = None
    edited: Plan = plan
    for statement in plan:
        if not contradicts(lexicon, statement.content, present):
            continue
        at = [s.uid for s in edited].index(statement.uid) if at is None else at
        content = statement.content
        kept = tuple(k for k in content.concepts if k not in conflicts) if isinstance(content, Denial) else ()
        if kept:
            edited = tuple(replace(s, content=Denial(kept)) if s.uid == statement.uid else s for s in edited)
        else:
            edited = remove_statement(edited, statement.uid)
    if at is None:
        system = _get_system(lexicon, finding)
        same = [i for i, s in enumerate(edited) if _get_system(lexicon, s.content) == system]
        at = same[-1] + 1 if same else len(edited)
    while at < len(edited) and edited[at].joined:
        at += 1
    return (*edited[:at], Statement(uid, finding, wording), *edited[at:])


def _get_system(lexicon: Lexicon, content: Meaning) -> tuple[str, str] | None:
    """Return the region and the organ system of a statement; for a denial, those of its first concept; None
    for a remark."""
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
    """Return a plan with a drawn finding that neither it nor the reference states; None if the examination
    allows no such finding of this significance.

    Parameters
    ----------
    report : the reference.
    plan : the candidate's plan so far.
    """
    exam = get_exam(report)
    present = index_findings(plan).keys() | index_findings(report.plan).keys()
    suggested = {f.suggests for _, f in index_findings(plan).values() if f.suggests}
    options = [
        c
        for c in build_menu(exam, report.style).findings.options
        if c.major == significant and not lexicon.conflicts(c.key) & present and c.key not in suggested
    ]
    if not options:
        return None
    # Weights are as in reports, but three times as high if the reference denies the finding.
    absent = collect_denied(report.plan)
    concept = Weighted((c, c.common * (3 if c.key in absent else 1)) for c in options).draw(rng)
    finding = draw_finding(rng, concept, exam, report.style, prior=False, blocked=frozenset(lexicon.concepts))
    return add_finding(lexicon, plan, replace(finding, certainty="present"), rng.getrandbits(96))
