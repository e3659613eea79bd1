"""Compares the meanings of two reports, and names each difference that ReXVal and GREEN call an error."""

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
    """One error of a candidate: its category, significance and finding, and both reports' statements of
    it."""

    category: str
    significant: bool
    concept: str
    reference_says: str
    candidate_says: str


@dataclass(frozen=True, slots=True)
class ReportDifference:
    """What a candidate gets wrong and right.

    ``matched``: findings that both state, without an error; ``agreed_negatives``: what both deny or call
    normal.
    """

    errors: tuple[GoldError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]

    def count(self, significant: bool | None = None) -> dict[str, int]:
        """Return errors by category; significant ones, insignificant ones, or (None) all."""
        counts = dict.fromkeys(CATEGORIES, 0)
        for error in self.errors:
            if significant is None or error.significant == significant:
                counts[error.category] += 1
        return counts


Stated = dict[str, tuple[int, PlannedFinding]]


def stated(plan: Plan) -> Stated:
    """Return the findings of a plan by concept; a negated normal statement counts as a finding of its own."""
    findings: Stated = {}
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            findings[content.concept] = (statement.uid, content)
        elif isinstance(content, Normal) and content.opposite:
            findings[f"not {content.key}"] = (statement.uid, PlannedFinding(f"not {content.key}"))
    return findings


def normals(plan: Plan) -> set[str]:
    """Return the keys of a plan's statements of normality."""
    contents = (statement.content for statement in plan)
    return {content.key for content in contents if isinstance(content, Normal) and not content.opposite}


def denied(plan: Plan) -> set[str]:
    """Return the concepts that a plan denies."""
    contents = (statement.content for statement in plan)
    return {key for content in contents if isinstance(content, Denial) for key in content.concepts}


def _differ(first: object, other: object) -> bool:
    """Return whether both are given and differ: an attribute that one report leaves open is no error."""
    return first is not None and other is not None and first != other


def location_significant(lexicon: Lexicon, before: PlannedFinding, after: PlannedFinding) -> bool:
    """Return whether the side differs, or the place differs and is not next to the other."""
    if _differ(before.side, after.side):
        return True
    if before.place is None or after.place is None or before.place == after.place:
        return False
    places = lexicon.places
    return after.place not in places[before.place].near and before.place not in places[after.place].near


def degree_significant(before: PlannedFinding, after: PlannedFinding) -> bool:
    """Return whether severity differs by two steps or more, or size by a factor of :data:`SIZE_RATIO`."""
    if before.severity is not None and after.severity is not None:
        return abs(before.severity - after.severity) >= 2
    if before.size_mm and after.size_mm:
        low, high = sorted((before.size_mm[0], after.size_mm[0]))
        return high >= SIZE_RATIO * low
    return False


def finding_errors(
    lexicon: Lexicon, before: PlannedFinding | None, after: PlannedFinding | None
) -> list[GoldError]:
    """Return the errors on one finding, given the finding in reference and candidate (None: not stated).

    An error on a minor finding (see the lexicon) is never significant. A wrong comparison counts twice, as a
    comparison that the reference does not have and as one that is left out. Another certainty is no error.
    """
    either = before or after
    assert either is not None
    concept = lexicon.concepts.get(either.concept)  # a negated normal statement is none

    def error(category: str, significant: bool, was: str, now: str) -> GoldError:
        return GoldError(
            category, significant and (concept is None or concept.major), either.concept, was, now
        )

    if before is None:
        return [error("a", True, "", "present")]
    if after is None:
        return [error("b", True, "present", "")]
    errors = []
    if _differ(before.place, after.place) or _differ(before.side, after.side):
        words = (_where(lexicon, finding) for finding in (before, after))
        errors.append(error("c", location_significant(lexicon, before, after), *words))
    measured = concept is not None and not concept.device
    if _differ(before.severity, after.severity) or (measured and _differ(before.size_mm, after.size_mm)):
        words = (_degree(lexicon, finding) for finding in (before, after))
        errors.append(error("d", degree_significant(before, after), *words))
    was, now = before.change or "", after.change or ""
    if was != now:
        errors += [error("e", now != "unchanged", was, now)] if now else []
        errors += [error("f", was != "unchanged", was, now)] if was else []
    return errors


def _where(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return the place in words."""
    if finding.place is None:
        return finding.side or ""
    return lexicon.places[finding.place].nouns[finding.side][0].text


def _degree(lexicon: Lexicon, finding: PlannedFinding) -> str:
    """Return size or severity in words."""
    if finding.size_mm:
        return " x ".join(map(str, finding.size_mm)) + " mm"
    scale = lexicon.concepts[finding.concept].scale
    if scale is None or finding.severity is None:
        return ""
    return str(lexicon.grammar["scales"][scale]["adjectives"][finding.severity][0])


def compare(reference: SyntheticReport, candidate: SyntheticReport) -> ReportDifference:
    """Return every error of ``candidate`` against ``reference``, by meaning. Wording and order are ignored.

    Findings are matched by concept. What one of the two leaves open (a place, a severity) is not an error.
    """
    lexicon = load_lexicon()
    before, after = stated(reference.plan), stated(candidate.plan)
    negatives = denied(reference.plan) & denied(candidate.plan)
    errors: list[GoldError] = []
    matched: list[str] = []
    for concept in [*before, *(key for key in after if key not in before)]:
        pair = (statements[concept][1] if concept in statements else None for statements in (before, after))
        differences = finding_errors(lexicon, *pair)
        errors += differences
        if not differences:
            matched.append(concept)
    errors.sort(key=lambda error: (error.category, error.concept))
    alike = normals(reference.plan) & normals(candidate.plan)
    return ReportDifference(tuple(errors), tuple(matched), (*sorted(negatives), *sorted(alike)))


# The analysis of a judge who knows the generator's plans, in GREEN's layout and in words.


def green_answer(reference: SyntheticReport, candidate: SyntheticReport, comparison: ReportDifference) -> str:
    """Return the analysis of a pair, written from its exact differences."""
    says: dict[tuple[bool, str], list[str]] = {}
    for error in comparison.errors:
        words = _error(error, reference, candidate)
        says.setdefault((error.significant, error.category), []).append(words)
    significant, insignificant = (
        [says.get((weight, letter), []) for letter in CATEGORIES] for weight in (True, False)
    )
    findings, normals = stated(reference.plan), load_lexicon().normals
    negatives = (Normal(key) if key in normals else Denial((key,)) for key in comparison.agreed_negatives)
    matched = [*(_finding(findings[concept][1]) for concept in comparison.matched), *map(_wording, negatives)]
    return green_analysis.render(significant, insignificant, matched)


def _error(error: GoldError, reference: SyntheticReport, candidate: SyntheticReport) -> str:
    """Return an error in words, by its category: (a) a finding of the candidate alone, (b) of the reference
    alone, (c) another place, (d) another degree, (e) a comparison that is not in the reference, (f) one left
    out."""
    if error.category in "ab":
        stated_findings = stated(candidate.plan if error.category == "a" else reference.plan)
        return _finding(stated_findings[error.concept][1])
    plain = _finding(PlannedFinding(error.concept))
    if error.category == "c":
        return f"{plain} in {error.candidate_says} instead of {error.reference_says}"
    if error.category == "d":
        return f"{plain}, {error.candidate_says} instead of {error.reference_says}"
    if error.category == "e":
        return f"{plain} called {error.candidate_says}"
    return f"{plain} is {error.reference_says}"


def _finding(finding: PlannedFinding) -> str:
    """Return a finding as an impression would say it, without change and diagnosis."""
    if finding.concept.startswith("not "):
        return _wording(Normal(finding.concept.removeprefix("not "), opposite=True))
    return _wording(replace(finding, change=None, suggests=None))


def _wording(content: Meaning) -> str:
    """Return a statement as the generator words it, without the marks that separate the parts of an
    analysis."""
    text = realize((Statement(0, content, 0),), "hospital", "impression").text
    return " ".join(text.split()).rstrip(".").replace(";", ",").replace(":", ",")
