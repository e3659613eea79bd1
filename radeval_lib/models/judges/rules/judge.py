"""Names every error of a candidate report in GREEN's six categories, with its significance and the rule.

Categories are those of Ostmeier et al. 2024 (Section 3.1): (a) false finding, (b) missing finding,
(c) location, (d) severity, (e) comparison that the reference has not, (f) comparison left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from radeval_lib.data import green_analysis
from radeval_lib.data.categories import LETTERS
from radeval_lib.findings.vocabulary import vocabulary
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.lexicon.significance import factor, significance
from radeval_lib.models.judges.base import Keep, Pair, handed
from radeval_lib.models.judges.rules.items import (
    KIN,
    SAME,
    SYNONYM,
    Item,
    Link,
    Said,
    Synonyms,
    align,
    degree,
    describe,
    name,
    near,
    said,
    sides_conflict,
    where,
)

SIZE_RATIO = 1.5
"""From this ratio of diameters on, a wrong size is significant."""


@dataclass(frozen=True, slots=True)
class JudgedError:
    """One error.

    ``category`` is a letter from a to f; ``weight`` what it counts for in the weighted sum; ``says`` the
    error in words; ``rule`` why it is one and how much it matters; the spans are characters of either report
    (None where a report says nothing).
    """

    category: str
    significant: bool
    weight: float
    observation: str
    says: str
    rule: str
    reference_span: tuple[int, int] | None
    candidate_span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge found: errors, what both reports state alike, and differences that no category names.

    ``slight`` weighs the latter: a near relative instead of the finding, or another degree of certainty.
    """

    errors: tuple[JudgedError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]
    links: tuple[tuple[str, str, str], ...]
    slight: float

    def count(self, significant: bool) -> tuple[int, ...]:
        """Errors of the categories (a) to (f)."""
        found = [one.category for one in self.errors if one.significant == significant]
        return tuple(found.count(letter) for letter in LETTERS)

    @property
    def matched_findings(self) -> int:
        """Matched findings as GREEN counts them, shared negative and normal statements among them."""
        return len(self.matched) + len(self.agreed_negatives)

    @property
    def weighted_errors(self) -> float:
        """The sum of what the errors count for; 0 where there is none."""
        return sum(one.weight for one in self.errors) + self.slight

    def analysis(self) -> str:
        """The analysis in GREEN's layout."""

        def listed(significant: bool) -> list[list[str]]:
            return [
                [one.says for one in self.errors if one.category == letter and one.significant == significant]
                for letter in LETTERS
            ]

        told = f"{len(self.errors)} differences between the findings of the two reports were named by rules."
        explanation = f"[Explanation]:\n{told}"
        return green_analysis.render(
            listed(True), listed(False), [*self.matched, *self.agreed_negatives], explanation
        )


class RulesJudge:
    """The judge's role filled by rules; deterministic, needs no model."""

    signature = "rules"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """An analysis of each (reference, candidate), in GREEN's layout."""
        return handed([judge_pair(*pair).analysis() for pair in pairs], keep)


def judge_pair(reference: str, candidate: str, synonyms: Synonyms | None = None) -> Judgement:
    """Judge a candidate report against its reference.

    Parameters
    ----------
    reference, candidate : reports or sections of reports, in English; either may be empty.
    synonyms : what else relates two observations; None: the lexicon alone.
    """
    ours, theirs = said(reference), said(candidate)
    links = align(ours.stated, theirs.stated, synonyms)
    linked = {id(link.reference) for link in links} | {id(link.candidate) for link in links}
    errors: list[JudgedError] = []
    matched: list[str] = []
    slight = 0.0
    contradicted = {key: span for key, span in theirs.contradicted.items() if key not in ours.contradicted}
    for link in links:
        found = _attribute_errors(link)
        if link.relation == SAME and (denied := contradicted.pop(link.candidate.observation, None)):
            found.append(_missing(link.reference, denied))
        errors += found
        slight += _slight(link)
        if not found:
            matched.append(describe(link.candidate))
    errors += [
        _missing(item, theirs.rules_out(item.observation)) for item in ours.stated if id(item) not in linked
    ]
    errors += [_false(item, ours) for item in theirs.stated if id(item) not in linked]
    errors.sort(key=lambda one: (one.category, not one.significant, one.says))
    shared = tuple(
        (name(one.reference.observation), name(one.candidate.observation), one.relation) for one in links
    )
    return Judgement(tuple(errors), tuple(matched), _agreed(ours, theirs), shared, slight)


def _weight(item: Item) -> float:
    """A finding that is read as a diagnosis weighs what the diagnosis does."""
    weights = [significance(key).weight for key in item.means] or [significance(item.observation).weight]
    return max(weights)


def _error(
    category: str,
    item: Item,
    significant: bool,
    share: float,
    says: str,
    rule: str,
    link: Link | None = None,
    spans: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None),
) -> JudgedError:
    # A minor sign of an urgent diagnosis ("lucency, consistent with pneumothorax") is as grave as that.
    key = next((key for key in sorted(item.means) if significance(key).name == "urgent"), item.observation)
    grade = significance(key)
    if link is not None:
        grade = max(grade, significance(link.candidate.observation), key=lambda one: (one.major, one.weight))
        spans = ((link.reference.start, link.reference.end), (link.candidate.start, link.candidate.end))
    rule = f"{rule}; {name(key)} is {grade.name}: {grade.why}"
    counted = significant and grade.major
    return JudgedError(category, counted, share * _weight(item), item.observation, says, rule, *spans)


def _missing(item: Item, denied: tuple[int, int] | None) -> JudgedError:
    """What the candidate does not state, or rules out although it states it elsewhere."""
    rule = "the reference states it and the candidate " + (
        "rules it out" if denied else "does not mention it"
    )
    share = factor("missing") * (factor("doubtful") if item.uncertain else 1.0)
    return _error("b", item, True, share, describe(item), rule, spans=((item.start, item.end), denied))


def _false(item: Item, ours: Said) -> JudgedError:
    denied = ours.rules_out(item.observation)
    rule = "the candidate states it and the reference " + (
        "rules it out" if denied else "does not mention it"
    )
    share = factor("false") * (factor("doubtful") if item.uncertain else 1.0)
    return _error("a", item, True, share, describe(item), rule, spans=(denied, (item.start, item.end)))


def _attribute_errors(link: Link) -> list[JudgedError]:
    one, other = link.reference, link.candidate
    errors = []
    sides, closeness = sides_conflict(one, other), near(one, other)
    if sides or (closeness is not None and not one.places & other.places):
        significant = sides or closeness is False
        here, there = where(one.places, one.side), where(other.places, other.side)
        says = f"{name(one.observation)} in {there} instead of {here}"
        rule = "another side" if sides else ("another place" if significant else "a neighbouring place")
        errors.append(_error("c", one, significant, _share("location", significant), says, rule, link))
    if (wrong := _degree_error(one, other)) is not None:
        says = f"{degree(other)} instead of {degree(one)} {name(one.observation)}"
        rule = "a degree or size that is clearly other" if wrong else "a neighbouring degree or size"
        errors.append(_error("d", one, wrong, _share("severity", wrong), says, rule, link))
    for change in sorted(other.changes - one.changes):
        significant = change != "unchanged"
        says = f"{name(one.observation)} called {change}"
        rule = "the reference does not say so"
        errors.append(_error("e", one, significant, _share("change", significant), says, rule, link))
    for change in sorted(one.changes - other.changes):
        significant = change != "unchanged"
        says = f"{name(one.observation)} is {change}"
        rule = "the candidate does not say so"
        errors.append(_error("f", one, significant, _share("change", significant), says, rule, link))
    return errors


def _share(kind: str, significant: bool) -> float:
    return factor(kind) if significant else factor("slight")


def _degree_error(one: Item, other: Item) -> bool | None:
    """Whether the degree is significantly wrong; None where it is right or one of the two says none."""
    if one.severity is not None and other.severity is not None:
        steps = abs(one.severity - other.severity)
        if steps:
            return steps >= 2
    if one.size_mm and other.size_mm and one.observation not in vocabulary().devices:
        low, high = sorted((max(one.size_mm), max(other.size_mm)))
        if low != high:
            return high >= SIZE_RATIO * low
    return None


def _slight(link: Link) -> float:
    """What differences count for that none of the six categories names."""
    one, other = link.reference, link.candidate
    weight = max(_weight(one), _weight(other))
    kin = factor("kin") if link.relation in (KIN, SYNONYM) else 0.0
    doubt = factor("certainty") if one.uncertain != other.uncertain else 0.0
    return weight * (kin + doubt)


def _agreed(ours: Said, theirs: Said) -> tuple[str, ...]:
    """What both reports deny or call normal, in words."""
    normals = load_lexicon().normals
    denied = sorted(ours.denied.keys() & theirs.denied.keys())
    normal = sorted(ours.normal.keys() & theirs.normal.keys())
    said_denied = [f"No {name(key)}" for key in denied]
    said_normal = []
    for key in normal:
        entry = normals.get(key)
        said_normal.append(entry.wordings["hospital"][0].text if entry else f"Normal {key.split('_')[0]}")
    return (*said_denied, *said_normal)
