"""The analysis of a judge who knows the generator's plans, in GREEN's layout and in words.

An error of presence is named by the finding itself ("Small right pleural effusion"), a wrong place or degree
by both readings, a comparison by its change. Matched findings are those that both reports state without an
error, and the denials and normal statements that they share, as the released model counts "The left lung
remains clear".
"""

from __future__ import annotations

from dataclasses import replace

from radeval_lib.data import green_analysis
from radeval_lib.rules.generator.difference import CATEGORIES, GoldError, ReportDifference, stated
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import (
    Denial,
    Meaning,
    Normal,
    PlannedFinding,
    Statement,
    SyntheticReport,
)
from radeval_lib.rules.lexicon.loading import load_lexicon


def green_answer(reference: SyntheticReport, candidate: SyntheticReport, comparison: ReportDifference) -> str:
    """The analysis of a pair, from its exact differences."""
    says: dict[tuple[bool, str], list[str]] = {}
    for error in comparison.errors:
        words = _error(error, reference, candidate)
        says.setdefault((error.significant, error.category), []).append(words)
    significant, insignificant = (
        [says.get((weight, letter), []) for letter in CATEGORIES] for weight in (True, False)
    )
    found, normals = stated(reference.plan), load_lexicon().normals
    negatives = (Normal(key) if key in normals else Denial((key,)) for key in comparison.agreed_negatives)
    matched = [*(_finding(found[concept][1]) for concept in comparison.matched), *map(_said, negatives)]
    return green_analysis.render(significant, insignificant, matched)


def _error(error: GoldError, reference: SyntheticReport, candidate: SyntheticReport) -> str:
    """An error in words, by its category: (a) a finding of the candidate alone, (b) of the reference alone,
    (c) another place, (d) another degree, (e) a comparison that is not in the reference, (f) one left out."""
    if error.category in "ab":
        said = stated(candidate.plan if error.category == "a" else reference.plan)
        return _finding(said[error.concept][1])
    plain = _finding(PlannedFinding(error.concept))
    if error.category == "c":
        return f"{plain} in {error.candidate_says} instead of {error.reference_says}"
    if error.category == "d":
        return f"{plain}, {error.candidate_says} instead of {error.reference_says}"
    return (
        f"{plain} called {error.candidate_says}"
        if error.category == "e"
        else f"{plain} is {error.reference_says}"
    )


def _finding(finding: PlannedFinding) -> str:
    """A finding as an impression would say it, without change and diagnosis."""
    if finding.concept.startswith("not "):
        return _said(Normal(finding.concept.removeprefix("not "), opposite=True))
    return _said(replace(finding, change=None, suggests=None))


def _said(content: Meaning) -> str:
    """A statement as the generator words it, without the marks that separate the parts of an analysis."""
    text = realize((Statement(0, content, 0),), "hospital", "impression").text
    return " ".join(text.split()).rstrip(".").replace(";", ",").replace(":", ",")
