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

#: The smallest ratio of diameters that makes a wrong size clinically significant.
SIZE_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class GoldError:
    """An error of a candidate report.

    Attributes
    ----------
    category : a letter from a to f (:data:`~radeval_lib.categories.CATEGORIES`).
    significant : whether the error is clinically significant.
    concept : the key of the finding that it is about.
    reference_value, candidate_value : the place, degree or change of the finding in each report; "present"
        for a finding that only this report states; "" for a report that says nothing about it.
    """

    category: str
    significant: bool
    concept: str
    reference_value: str
    candidate_value: str


@dataclass(frozen=True, slots=True)
class ReportDifference:
    """The errors of a candidate, and its agreements with the reference.

    Attributes
    ----------
    errors : the errors, sorted by category.
    matched : the keys of the findings that both reports state, without an error.
    agreed_negatives : the keys of the findings that both deny and of the normal statements that both contain.
    """

    errors: tuple[GoldError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]

    def count(self, significant: bool | None = None) -> dict[str, int]:
        """Return a mapping from category, a to f, to its number of errors.

        ``significant`` selects significant (True), insignificant (False) or all (None) errors.
        """
        counts = dict.fromkeys(CATEGORIES, 0)
        for error in self.errors:
            if significant is None or error.significant == significant:
                counts[error.category] += 1
        return counts


#: A mapping from concept to (uid of the statement, finding).
FindingIndex = dict[str, tuple[int, PlannedFinding]]


def index_findings(plan: Plan) -> FindingIndex:
    """Return a mapping from the concept of each finding in a plan to (uid of its statement, finding).

    A negated normal statement counts as a finding with the concept ``not <key>``.
    """
    findings: FindingIndex = {}
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            findings[content.concept] = (statement.uid, content)
        elif isinstance(content, Normal) and content.opposite:
            findings[f"not {content.key}"] = (statement.uid, PlannedFinding(f"not {content.key}"))
    return findings


def collect_normals(plan: Plan) -> set[str]:
    """Return the keys of the normal statements of a plan, except negated ones."""
    contents = (statement.content for statement in plan)
    return {content.key for content in contents if isinstance(content, Normal) and not content.opposite}


def collect_denied(plan: Plan) -> set[str]:
    """Return the keys of the concepts that a plan denies."""
    contents = (statement.content for statement in plan)
    return {key for content in contents if isinstance(content, Denial) for key in content.concepts}


def _values_differ(value: object, other: object) -> bool:
    """Return whether two values of an attribute differ; False if one is None, because an attribute that one
    report does not state is not an error."""
    return value is not None and other is not None and value != other


def is_location_significant(lexicon: Lexicon, finding: PlannedFinding, other: PlannedFinding) -> bool:
    """Return whether two locations of a finding differ significantly: the sides differ, or the places differ
    and are not neighbours."""
    if _values_differ(finding.side, other.side):
        return True
    if finding.place is None or other.place is None or finding.place == other.place:
        return False
    places = lexicon.places
    return other.place not in places[finding.place].near and finding.place not in places[other.place].near


def is_degree_significant(finding: PlannedFinding, other: PlannedFinding) -> bool:
    """Return whether two degrees of a finding differ significantly: the severities by two steps or more or,
    without severities, the sizes by a factor of :data:`SIZE_RATIO` or more."""
    if finding.severity is not None and other.severity is not None:
        return abs(finding.severity - other.severity) >= 2
    if finding.size_mm and other.size_mm:
        low, high = sorted((finding.size_mm[0], other.size_mm[0]))
        return high >= SIZE_RATIO * low
    return False


def compare_findings(
    lexicon: Lexicon, reference: PlannedFinding | None, candidate: PlannedFinding | None
) -> list[GoldError]:
    """Return the errors about one finding of the reference and the candidate; None stands for a report that
    does not state it.

    An error about a minor finding of the lexicon is never significant. A wrong comparison counts twice, as
    one that the reference lacks and as one that is omitted. Another certainty, number, appearance or
    suggested diagnosis is not an error.
    """
    finding = reference or candidate
    assert finding is not None
    concept = lexicon.concepts.get(finding.concept)  # None for a negated normal statement.

    def make_error(category: str, significant: bool, *values: str) -> GoldError:
        is_significant = significant and (concept is None or concept.major)
        return GoldError(category, is_significant, finding.concept, *values)

    if reference is None:
        return [make_error("a", True, "", "present")]
    if candidate is None:
        return [make_error("b", True, "present", "")]
    errors = []
    if _values_differ(reference.place, candidate.place) or _values_differ(reference.side, candidate.side):
        texts = (_describe_place(lexicon, version) for version in (reference, candidate))
        errors.append(make_error("c", is_location_significant(lexicon, reference, candidate), *texts))
    has_size = concept is not None and not concept.device
    if _values_differ(reference.severity, candidate.severity) or (
        has_size and _values_differ(reference.size_mm, candidate.size_mm)
    ):
        texts = (_describe_degree(lexicon, version) for version in (reference, candidate))
        errors.append(make_error("d", is_degree_significant(reference, candidate), *texts))
    changes = reference.change or "", candidate.change or ""
    if reference.change != candidate.change:
        errors += [make_error("e", candidate.change != "unchanged", *changes)] if candidate.change else []
        errors += [make_error("f", reference.change != "unchanged", *changes)] if reference.change else []
    return errors


def _describe_place(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return the place of a finding or, if it has none, the side in words; "" if it has neither."""
    if finding.place is None:
        return finding.side or ""
    return lexicon.places[finding.place].nouns[finding.side][0].text


def _describe_degree(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return the size of a finding or, if it has none, the severity in words; "" if it has neither."""
    if finding.size_mm:
        return " x ".join(map(str, finding.size_mm)) + " mm"
    scale = lexicon.concepts[finding.concept].scale
    if scale is None or finding.severity is None:
        return ""
    return str(lexicon.grammar["scales"][scale]["adjectives"][finding.severity][0])


def compare(reference: SyntheticReport, candidate: SyntheticReport) -> ReportDifference:
    """Return the differences between the plans of a reference and a candidate; wording and order are ignored.

    Findings are matched by concept. An attribute that only one of the reports states, such as a place, is not
    an error, unless it is a change.
    """
    lexicon = load_lexicon()
    expected, observed = index_findings(reference.plan), index_findings(candidate.plan)
    shared_denials = collect_denied(reference.plan) & collect_denied(candidate.plan)
    errors: list[GoldError] = []
    matched: list[str] = []
    for concept in [*expected, *(key for key in observed if key not in expected)]:
        pair = (findings[concept][1] if concept in findings else None for findings in (expected, observed))
        differences = compare_findings(lexicon, *pair)
        errors += differences
        if not differences:
            matched.append(concept)
    errors.sort(key=lambda error: (error.category, error.concept))
    shared_normals = collect_normals(reference.plan) & collect_normals(candidate.plan)
    return ReportDifference(tuple(errors), tuple(matched), (*sorted(shared_denials), *sorted(shared_normals)))


# An analysis in GREEN's layout, by a judge that knows the plans.


def green_answer(reference: SyntheticReport, candidate: SyntheticReport, comparison: ReportDifference) -> str:
    """Return the analysis of a pair of reports, in GREEN's layout, from their exact differences."""
    texts: dict[tuple[bool, str], list[str]] = {}
    for error in comparison.errors:
        text = _describe_error(error, reference, candidate)
        texts.setdefault((error.significant, error.category), []).append(text)
    significant_texts, insignificant_texts = (
        [texts.get((is_significant, letter), []) for letter in CATEGORIES] for is_significant in (True, False)
    )
    findings, normals = index_findings(reference.plan), load_lexicon().normals
    negatives = (Normal(key) if key in normals else Denial((key,)) for key in comparison.agreed_negatives)
    matched = [_describe_finding(findings[concept][1]) for concept in comparison.matched]
    matched += map(_describe_statement, negatives)
    return green_analysis.render(significant_texts, insignificant_texts, matched)


def _describe_error(error: GoldError, reference: SyntheticReport, candidate: SyntheticReport) -> str:
    """Return an error in words: the finding, followed by the wrong (c) place, (d) degree or (e, f) change for
    these categories."""
    if error.category in "ab":
        stated_findings = index_findings(candidate.plan if error.category == "a" else reference.plan)
        return _describe_finding(stated_findings[error.concept][1])
    bare_finding = _describe_finding(PlannedFinding(error.concept))
    if error.category == "c":
        return f"{bare_finding} in {error.candidate_value} instead of {error.reference_value}"
    if error.category == "d":
        return f"{bare_finding}, {error.candidate_value} instead of {error.reference_value}"
    if error.category == "e":
        return f"{bare_finding} called {error.candidate_value}"
    return f"{bare_finding} is {error.reference_value}"


def _describe_finding(finding: PlannedFinding) -> str:
    """Return a finding in the words of an impression, without change and diagnosis."""
    if finding.concept.startswith("not "):
        return _describe_statement(Normal(finding.concept.removeprefix("not "), opposite=True))
    return _describe_statement(replace(finding, change=None, diagnosis=None))


def _describe_statement(content: Meaning) -> str:
    """Return a statement in the generator's words, with commas instead of ";" and ":", which separate the
    parts of an analysis."""
    text = realize((Statement(0, content, 0),), "hospital", "impression").text
    return " ".join(text.split()).rstrip(".").replace(";", ",").replace(":", ",")
