"""Compares the plans of two reports, and lists each difference that ReXVal and GREEN call an error."""

from __future__ import annotations

from dataclasses import dataclass, replace

from radeval_lib import green_analysis
from radeval_lib.categories import CATEGORIES
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import (
    Denial,
    Meaning,
    Normal,
    Plan,
    PlannedFinding,
    Statement,
    SyntheticReport,
)
from radeval_lib.rules.lexicon.entries import Lexicon
from radeval_lib.rules.lexicon.loading import load_lexicon

#: From this ratio of diameters on, a wrong size is clinically significant.
SIZE_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class GoldError:
    """An error of a candidate.

    Attributes
    ----------
    category : a letter from a to f (:data:`~radeval_lib.categories.CATEGORIES`).
    significant : whether the error is clinically significant.
    concept : the key of the finding that it is about.
    reference_says, candidate_says : the place, degree or change of the finding in each report; "present" for
        a finding that only one report states; empty for a report that says nothing of it.
    """

    category: str
    significant: bool
    concept: str
    reference_says: str
    candidate_says: str


@dataclass(frozen=True, slots=True)
class ReportDifference:
    """The errors of a candidate, and the keys on which it agrees with the reference.

    ``matched`` are findings that both state without an error, ``agreed_negatives`` are findings that both
    deny and structures that both call normal.
    """

    errors: tuple[GoldError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]

    def count(self, significant: bool | None = None) -> dict[str, int]:
        """Return the number of errors in each category, by the letters a to f.

        ``significant`` selects significant (True), insignificant (False) or all (None) errors.
        """
        counts = dict.fromkeys(CATEGORIES, 0)
        for error in self.errors:
            if significant is None or error.significant == significant:
                counts[error.category] += 1
        return counts


Stated = dict[str, tuple[int, PlannedFinding]]


def index_findings(plan: Plan) -> Stated:
    """Return a dictionary from the concept of each finding of a plan to (uid of its statement, finding).

    A negated normal statement counts as a finding with the concept ``not <key>``.
    """
    findings: Stated = {}
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            findings[content.concept] = (statement.uid, content)
        elif isinstance(content, Normal) and content.opposite:
            findings[f"not {content.key}"] = (statement.uid, PlannedFinding(f"not {content.key}"))
    return findings


def collect_normals(plan: Plan) -> set[str]:
    """Return the keys of the normal statements of a plan, without negated ones."""
    contents = (statement.content for statement in plan)
    return {content.key for content in contents if isinstance(content, Normal) and not content.opposite}


def collect_denied(plan: Plan) -> set[str]:
    """Return the keys of the concepts that a plan denies."""
    contents = (statement.content for statement in plan)
    return {key for content in contents if isinstance(content, Denial) for key in content.concepts}


def _values_differ(first: object, other: object) -> bool:
    """Return whether two values of an attribute differ and neither is None; an attribute that one report
    leaves open is not an error."""
    return first is not None and other is not None and first != other


def is_location_significant(lexicon: Lexicon, expected: PlannedFinding, given: PlannedFinding) -> bool:
    """Return whether a wrong location is clinically significant: the sides differ, or the places differ
    and are not next to each other."""
    if _values_differ(expected.side, given.side):
        return True
    if expected.place is None or given.place is None or expected.place == given.place:
        return False
    places = lexicon.places
    return given.place not in places[expected.place].near and expected.place not in places[given.place].near


def is_degree_significant(expected: PlannedFinding, given: PlannedFinding) -> bool:
    """Return whether a wrong degree is clinically significant: severities differ by two steps or more or,
    without severities, sizes by a factor of :data:`SIZE_RATIO` or more."""
    if expected.severity is not None and given.severity is not None:
        return abs(expected.severity - given.severity) >= 2
    if expected.size_mm and given.size_mm:
        low, high = sorted((expected.size_mm[0], given.size_mm[0]))
        return high >= SIZE_RATIO * low
    return False


def compare_findings(
    lexicon: Lexicon, expected: PlannedFinding | None, given: PlannedFinding | None
) -> list[GoldError]:
    """Return the errors about one finding, as the reference (``expected``) and the candidate (``given``)
    state it; None for a report that does not state it.

    An error about a minor finding of the lexicon is never significant. A wrong comparison counts twice, as
    one that the reference lacks and as one that is omitted. Another certainty is not an error.
    """
    either = expected or given
    assert either is not None
    concept = lexicon.concepts.get(either.concept)  # None for a negated normal statement.

    def error(category: str, significant: bool, was: str, now: str) -> GoldError:
        return GoldError(
            category, significant and (concept is None or concept.major), either.concept, was, now
        )

    if expected is None:
        return [error("a", True, "", "present")]
    if given is None:
        return [error("b", True, "present", "")]
    errors = []
    if _values_differ(expected.place, given.place) or _values_differ(expected.side, given.side):
        words = (_describe_place(lexicon, finding) for finding in (expected, given))
        errors.append(error("c", is_location_significant(lexicon, expected, given), *words))
    measured = concept is not None and not concept.device
    if _values_differ(expected.severity, given.severity) or (
        measured and _values_differ(expected.size_mm, given.size_mm)
    ):
        words = (_describe_degree(lexicon, finding) for finding in (expected, given))
        errors.append(error("d", is_degree_significant(expected, given), *words))
    was, now = expected.change or "", given.change or ""
    if was != now:
        errors += [error("e", now != "unchanged", was, now)] if now else []
        errors += [error("f", was != "unchanged", was, now)] if was else []
    return errors


def _describe_place(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return the place or, without one, the side of a finding in words; empty if it has neither."""
    if finding.place is None:
        return finding.side or ""
    return lexicon.places[finding.place].nouns[finding.side][0].text


def _describe_degree(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return the size or, without one, the severity of a finding in words; empty if it has neither."""
    if finding.size_mm:
        return " x ".join(map(str, finding.size_mm)) + " mm"
    scale = lexicon.concepts[finding.concept].scale
    if scale is None or finding.severity is None:
        return ""
    return str(lexicon.grammar["scales"][scale]["adjectives"][finding.severity][0])


def compare(reference: SyntheticReport, candidate: SyntheticReport) -> ReportDifference:
    """Return the errors of a candidate against its reference, from their plans; wording and order are
    ignored.

    Findings are matched by concept. An attribute that one of the two leaves open, such as a place, is not an
    error.
    """
    lexicon = load_lexicon()
    expected, given = index_findings(reference.plan), index_findings(candidate.plan)
    negatives = collect_denied(reference.plan) & collect_denied(candidate.plan)
    errors: list[GoldError] = []
    matched: list[str] = []
    for concept in [*expected, *(key for key in given if key not in expected)]:
        pair = (statements[concept][1] if concept in statements else None for statements in (expected, given))
        differences = compare_findings(lexicon, *pair)
        errors += differences
        if not differences:
            matched.append(concept)
    errors.sort(key=lambda error: (error.category, error.concept))
    shared_normals = collect_normals(reference.plan) & collect_normals(candidate.plan)
    return ReportDifference(tuple(errors), tuple(matched), (*sorted(negatives), *sorted(shared_normals)))


# The analysis in GREEN's layout of a judge who knows the plans.


def green_answer(reference: SyntheticReport, candidate: SyntheticReport, comparison: ReportDifference) -> str:
    """Return the analysis of a pair in GREEN's layout, written from its exact differences."""
    by_kind: dict[tuple[bool, str], list[str]] = {}
    for error in comparison.errors:
        text = _describe_error(error, reference, candidate)
        by_kind.setdefault((error.significant, error.category), []).append(text)
    significant, insignificant = (
        [by_kind.get((weight, letter), []) for letter in CATEGORIES] for weight in (True, False)
    )
    findings, normals = index_findings(reference.plan), load_lexicon().normals
    negatives = (Normal(key) if key in normals else Denial((key,)) for key in comparison.agreed_negatives)
    matched = [_describe_finding(findings[concept][1]) for concept in comparison.matched]
    matched += map(_describe_statement, negatives)
    return green_analysis.render(significant, insignificant, matched)


def _describe_error(error: GoldError, reference: SyntheticReport, candidate: SyntheticReport) -> str:
    """Return an error in words: the finding alone for the categories (a) and (b), else the finding with
    what is wrong with its (c) place, (d) degree or (e, f) change."""
    if error.category in "ab":
        stated_findings = index_findings(candidate.plan if error.category == "a" else reference.plan)
        return _describe_finding(stated_findings[error.concept][1])
    bare_finding = _describe_finding(PlannedFinding(error.concept))
    if error.category == "c":
        return f"{bare_finding} in {error.candidate_says} instead of {error.reference_says}"
    if error.category == "d":
        return f"{bare_finding}, {error.candidate_says} instead of {error.reference_says}"
    if error.category == "e":
        return f"{bare_finding} called {error.candidate_says}"
    return f"{bare_finding} is {error.reference_says}"


def _describe_finding(finding: PlannedFinding) -> str:
    """Return a finding as an impression words it, without change and diagnosis."""
    if finding.concept.startswith("not "):
        return _describe_statement(Normal(finding.concept.removeprefix("not "), opposite=True))
    return _describe_statement(replace(finding, change=None, suggests=None))


def _describe_statement(content: Meaning) -> str:
    """Return a statement as the generator words it, with commas in place of ";" and ":", which separate
    the parts of an analysis."""
    text = realize((Statement(0, content, 0),), "hospital", "impression").text
    return " ".join(text.split()).rstrip(".").replace(";", ",").replace(":", ",")
