"""Names every error of a candidate report in GREEN's six categories, with its significance and the rule.

Categories are those of Ostmeier et al. 2024 (Section 3.1): (a) false finding, (b) missing finding,
(c) location, (d) severity, (e) comparison that the reference has not, (f) comparison left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from radeval_lib import green_analysis
from radeval_lib.categories import LETTERS
from radeval_lib.rules.judge.alignment import (
    KIN,
    KIND,
    SAME,
    Link,
    align,
    by_side,
    covered,
    in_parts,
    near,
    sides_conflict,
    strays,
)
from radeval_lib.rules.judge.base import Keep, Pair, handed
from radeval_lib.rules.judge.items import Item, Said, said
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.lexicon.significance import Context, factor, significance
from radeval_lib.rules.reader.records import SEVERAL
from radeval_lib.rules.reader.vocabulary import vocabulary
from radeval_lib.rules.report_text import statements
from radeval_lib.rules.report_text.words import Span

_UNLIKE = {KIND: "finer", KIN: "kin"}
_NOT_STATED = ("does not mention it", "rules it out")

NEARBY, SAFE = 10.0, (20.0, 70.0)
"""Tips less than this apart are at the same place; how far from the carina a tube may end; in mm."""
SIZE_RATIO = 1.5
"""From this ratio of diameters on, a wrong size is significant."""


@dataclass(frozen=True, slots=True)
class JudgedError:
    """One error.

    ``category`` is a letter from a to f; ``weight`` what it counts for in the weighted sum; ``says`` the
    error in words; ``rule`` why it is one and how much it matters; the spans are characters of either report
    (None if a report says nothing).
    """

    category: str
    significant: bool
    weight: float
    observation: str
    says: str
    rule: str
    reference_span: Span | None
    candidate_span: Span | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's result: errors, statements shared by both reports, and differences outside all categories.

    ``slight`` weighs the latter: a near relative instead of the finding, or another degree of certainty.
    """

    errors: tuple[JudgedError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]
    links: tuple[tuple[str, str, str], ...]
    slight: float

    def count(self, significant: bool) -> tuple[int, ...]:
        """Return errors of the categories (a) to (f)."""
        by_category = [error.category for error in self.errors if error.significant == significant]
        return tuple(by_category.count(letter) for letter in LETTERS)

    @property
    def matched_findings(self) -> int:
        """Matched findings as GREEN counts them, shared negative and normal statements among them."""
        return len(self.matched) + len(self.agreed_negatives)

    @property
    def weighted_errors(self) -> float:
        """The sum of the errors' weights; 0 if there are none."""
        return sum(error.weight for error in self.errors) + self.slight

    def analysis(self) -> str:
        """Return the analysis in GREEN's layout."""

        def listed(significant: bool) -> list[list[str]]:
            counted = [error for error in self.errors if error.significant == significant]
            return [[error.says for error in counted if error.category == letter] for letter in LETTERS]

        explanation = (
            f"{len(self.errors)} differences between the findings of the two reports were named by rules."
        )
        agreed = [*self.matched, *self.agreed_negatives]
        return green_analysis.render(listed(True), listed(False), agreed, f"[Explanation]:\n{explanation}")


class RulesJudge:
    """The rule-based judge, which is deterministic and needs no model."""

    signature = "rules"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate), in GREEN's layout."""
        return handed([judge_pair(*pair).analysis() for pair in pairs], keep)


def judge_pair(reference: str, candidate: str, context: Context | None = None) -> Judgement:
    """Judge a candidate report against its reference.

    A finding under a coarser or finer name ("opacity" for "consolidation", ``kinds`` in
    ``reader/reading.yml``) is not an error of any category, and counts a little as a slight difference,
    whichever report has which name; so is one of several that the other report covers by one coarser word
    for the same place. What one report states and the other denies is never so. What a candidate adds
    that is normal or denied is not an error.

    Parameters
    ----------
    reference, candidate : reports or sections of reports, in English; either may be empty.
    context : the patient's age and why the examination was asked for, which change how much some findings
        matter; None: neither is known. If it gives no indication, that in the reference's history counts.
    """
    ours, theirs = said(reference), said(candidate)
    ours, theirs = in_parts(ours, theirs), in_parts(theirs, ours)
    ours, theirs = by_side(ours, theirs), by_side(theirs, ours)
    links = align(ours, theirs)
    linked = {id(link.reference) for link in links} | {id(link.candidate) for link in links}
    weigh = _Weigher(_with_indication(context, reference))
    errors: list[JudgedError] = []
    matched: list[str] = []
    slight = 0.0
    contradicted = {key: span for key, span in theirs.contradicted.items() if key not in ours.contradicted}
    for link in links:
        errors_found = weigh.attribute_errors(link)
        if link.relation == SAME and (denied := contradicted.pop(link.candidate.observation, None)):
            errors_found.append(weigh.missing(link.reference, denied))
        errors_found += weigh.diagnoses(link, ours, theirs)
        errors += errors_found
        slight += weigh.slight(link)
        if not errors_found:
            matched.append(describe(link.candidate))
    for item in ours.stated:
        if id(item) not in linked:
            if (found_there := covered(item, ours, theirs)) is not None:
                links.append(Link(item, *found_there))
                slight += weigh.slight(links[-1])
            else:
                errors.append(weigh.missing(item, theirs.rules_out(item.observation)))
    for item in theirs.stated:
        if id(item) not in linked:
            if (found_here := covered(item, theirs, ours)) is not None:
                links.append(Link(found_here[0], item, found_here[1]))
                slight += weigh.slight(links[-1])
            else:
                errors.append(weigh.false(item, ours.rules_out(item.observation)))
    errors.sort(key=lambda error: (error.category, not error.significant, error.says))
    shared = tuple(
        (name(link.reference.observation), name(link.candidate.observation), link.relation) for link in links
    )
    return Judgement(tuple(errors), tuple(matched), _agreed(ours, theirs), shared, slight)


def _with_indication(context: Context | None, reference: str) -> Context | None:
    """Return the context; if it gives no indication, with the history in the reference as the indication."""
    if context is not None and context.indication:
        return context
    asked = " ".join(statement.text for statement in statements(reference) if statement.section == "history")
    return Context(None if context is None else context.age, asked) if asked else context


class _Weigher:
    """Names errors and weighs them, for a patient of whom the context is known."""

    def __init__(self, context: Context | None) -> None:
        self._grade = partial(significance, context=context)

    def _weight(self, item: Item) -> float:
        """Return a finding that is read as a diagnosis weighs what the diagnosis does."""
        return max(self._grade(key).weight for key in item.means or [item.observation])

    def _error(
        self,
        category: str,
        item: Item,
        significant: bool,
        share: float,
        says: str,
        rule: str,
        link: Link | None = None,
        spans: tuple[Span | None, Span | None] = (None, None),
        *,
        sided: bool = False,
    ) -> JudgedError:
        # A minor sign of an urgent diagnosis ("lucency, consistent with pneumothorax") is as grave as that.
        key = next((key for key in sorted(item.means) if self._grade(key).name == "urgent"), item.observation)
        grade = self._grade(key)
        if link is not None:  # what both names share is as grave as the graver of them
            grade, key = max(
                (
                    (self._grade(observation), observation)
                    for observation in (key, link.candidate.observation)
                ),
                key=lambda graded: (graded[0].major, graded[0].weight),
            )
            spans = ((link.reference.start, link.reference.end), (link.candidate.start, link.candidate.end))
        rule = f"{rule}; {name(key)} is {grade.name}: {grade.why}"
        # Whoever acts on the wrong side does harm, whatever the finding, unless it is benign.
        counted = significant and (grade.major or (sided and grade.name != "benign"))
        weight = share * self._weight(item)
        return JudgedError(category, counted, weight, item.observation, says, rule, *spans)

    def missing(self, item: Item, denied: Span | None) -> JudgedError:
        """Return the error of a finding that the candidate lacks, or rules out although it states it
        elsewhere."""
        rule = f"the reference states it and the candidate {_NOT_STATED[denied is not None]}"
        share = factor("missing") * (factor("doubtful") if item.uncertain else 1.0)
        spans = (item.start, item.end), denied
        return self._error("b", item, True, share, describe(item), rule, spans=spans)

    def false(self, item: Item, denied: Span | None) -> JudgedError:
        """Return the error of a finding that the reference lacks."""
        rule = f"the candidate states it and the reference {_NOT_STATED[denied is not None]}"
        share = factor("false") * (factor("doubtful") if item.uncertain else 1.0)
        spans = denied, (item.start, item.end)
        return self._error("a", item, True, share, describe(item), rule, spans=spans)

    def attribute_errors(self, link: Link) -> list[JudgedError]:
        """Return the differences in place, degree and change between findings that both reports state."""
        ours, other = link.reference, link.candidate
        errors = []
        sides, closeness = sides_conflict(ours, other), near(ours, other)
        astray = strays(ours, other)
        if sides or astray or (closeness is not None and not ours.places & other.places):
            wrong = sides or astray or closeness is False
            here, there = where(ours.places, ours.side), where(other.places, other.side)
            says = f"{name(ours.observation)} in {there} instead of {here}"
            rule = "another side" if sides else ("another place" if wrong else "a neighbouring place")
            share = factor("location" if wrong else "slight")
            errors.append(self._error("c", ours, wrong, share, says, rule, link, sided=sides))
        elif _distance_error(ours, other):
            says = (
                f"{name(ours.observation)} {other.distance_mm:g} mm away instead of {ours.distance_mm:g} mm"
            )
            rule = "a tip that lies where it may not, or the other way round"
            errors.append(self._error("c", ours, True, factor("location"), says, rule, link))
        if ours.greater and other.greater and ours.greater != other.greater:
            says = f"{name(ours.observation)} greater on the {other.greater} instead of the {ours.greater}"
            share = factor("location")
            errors.append(self._error("c", ours, True, share, says, "another side", link, sided=True))
        if _count_differs(ours, other):
            says = f"{_in_words(other)} instead of {_in_words(ours)} {name(ours.observation)}"
            errors.append(self._error("d", ours, True, factor("severity"), says, "another number", link))
        for category, kind in sorted({quality[:2] for quality in ours.qualities}):
            mine, theirs = (
                {word for *group, word in item.qualities if group == [category, kind]}
                for item in (ours, other)
            )
            if theirs and not mine & theirs and (category == "d" or not errors):
                stated, instead = (", ".join(sorted(words)) for words in (theirs, mine))
                says = f"{stated} instead of {instead} {name(ours.observation)}"
                share = factor("severity" if category == "d" else "location")
                errors.append(self._error(category, ours, True, share, says, f"of another {kind}", link))
        if ours.grade and other.grade and ours.grade != other.grade:
            says = f"{name(ours.observation)} of grade {other.grade} instead of {ours.grade}"
            errors.append(self._error("d", ours, True, factor("severity"), says, "another grade", link))
        if (far := _degree_error(ours, other)) is not None:
            says = f"{degree(other)} instead of {degree(ours)} {name(ours.observation)}"
            rule = "a degree or size that is clearly other" if far else "a neighbouring degree or size"
            share = factor("severity" if far else "slight")
            errors.append(self._error("d", ours, far, share, says, rule, link))
        for category, changes, verb, who in (
            ("e", other.changes - ours.changes, "called", "reference"),
            ("f", ours.changes - other.changes, "is", "candidate"),
        ):
            for change in sorted(changes):
                says, rule = f"{name(ours.observation)} {verb} {change}", f"the {who} does not say so"
                counts = change != "unchanged"
                share = factor("change" if counts else "slight")
                errors.append(self._error(category, ours, counts, share, says, rule, link))
        return errors

    def diagnoses(self, link: Link, ours: Said, theirs: Said) -> list[JudgedError]:
        """Return errors about diagnoses that one report suggests ("likely pneumonia") and the other
        denies."""
        missing = [
            self.missing(replace(link.reference, observation=key, means=frozenset()), theirs.denied[key])
            for key in sorted(link.reference.means & theirs.denied.keys() - ours.denied.keys())
        ]
        return missing + [
            self.false(replace(link.candidate, observation=key, means=frozenset()), ours.denied[key])
            for key in sorted(link.candidate.means & ours.denied.keys() - theirs.denied.keys())
        ]

    def slight(self, link: Link) -> float:
        """Return the weight of the differences outside the six categories."""
        ours, other = link.reference, link.candidate
        weight = max(self._weight(ours), self._weight(other))
        unlike = factor(_UNLIKE[link.relation]) if link.relation in _UNLIKE else 0.0
        doubt = factor("certainty") if ours.uncertain != other.uncertain else 0.0
        return weight * (unlike + doubt)


def _count_differs(item: Item, other: Item) -> bool:
    """Return whether two numbers of findings differ; "several" differs from one alone."""
    if item.count is None or other.count is None or item.count == other.count:
        return False
    return SEVERAL not in (item.count, other.count) or 1 in (item.count, other.count)


def _in_words(item: Item) -> str:
    return "several" if item.count == SEVERAL else str(item.count)


def _degree_error(item: Item, other: Item) -> bool | None:
    """Return whether the degree is significantly wrong; None if it is right or one of the two says none."""
    if item.severity is not None and other.severity is not None and item.severity != other.severity:
        return abs(item.severity - other.severity) >= 2
    if item.volume_ml and other.volume_ml and item.volume_ml != other.volume_ml:
        return max(item.volume_ml, other.volume_ml) >= SIZE_RATIO * min(item.volume_ml, other.volume_ml)
    if item.size_mm and other.size_mm and item.observation not in vocabulary().devices:
        if bool(item.span_mm) != bool(other.span_mm):
            (low, high), (least, most) = (
                each.span_mm or (max(each.size_mm), max(each.size_mm)) for each in (item, other)
            )
            return None if least <= high and low <= most else max(low, least) >= SIZE_RATIO * min(high, most)
        pairs = [(max(item.size_mm), max(other.size_mm))]
        if len(item.size_mm) == len(other.size_mm):
            pairs = list(zip(sorted(item.size_mm), sorted(other.size_mm), strict=True))
        if any(low != high for low, high in pairs):
            return any(max(pair) >= SIZE_RATIO * min(pair) for pair in pairs)
    return None


def _distance_error(ours: Item, other: Item) -> bool:
    """Return whether exactly one of the tips is at a safe distance."""
    if ours.distance_mm is None or other.distance_mm is None:
        return False
    safe = [SAFE[0] <= item.distance_mm <= SAFE[1] for item in (ours, other) if item.distance_mm is not None]
    return safe[0] != safe[1] and abs(ours.distance_mm - other.distance_mm) >= NEARBY


def _agreed(ours: Said, theirs: Said) -> tuple[str, ...]:
    """Return, in words, the observations that both reports deny and the structures that both call normal."""
    normals = load_lexicon().normals
    denied = sorted(ours.denied.keys() & theirs.denied.keys())
    normal = [(key, normals.get(key)) for key in sorted(ours.normal.keys() & theirs.normal.keys())]
    return (
        *(f"No {name(key)}" for key in denied),
        *(
            item.wordings["hospital"][0].text if item else f"Normal {key.split('_')[0]}"
            for key, item in normal
        ),
    )


# Observations, places, degrees and findings in the words of the rule-based judge.


_SIZED = "amount"  # the scale of what has a size: "small", not "mild"


def name(observation: str) -> str:
    """Return an observation in words."""
    concept = load_lexicon().concepts.get(observation)
    if concept is None or not concept.names:
        return observation.replace("_", " ")
    first = concept.names[0]
    return f"{first.lead.text} {first.one.text}" if first.lead else first.one.text


def where(places: Iterable[str], side: str | None) -> str:
    """Return a place in words; empty if none is stated."""
    places_known, named = load_lexicon().places, []
    for key in sorted(places):
        nouns = places_known[key].nouns if key in places_known else None
        phrases = nouns and (nouns.get(side) or next(iter(nouns.values())))
        text = phrases[0].text if phrases else key.replace("_", " ")
        if nouns and side not in nouns:  # the words of one side, of a finding on both or on none
            text = " ".join(word for word in text.split() if word not in ("left", "right"))
        named.append(text)
    if not named:
        return side or ""
    text = " and ".join(named)
    return text if side is None or side in text or side == "bilateral" else f"{side}, {text}"


def degree(item: Item) -> str:
    """Return severity or size in words; empty if neither is stated."""
    if item.volume_ml:
        return f"{item.volume_ml:g} ml"
    if item.size_mm:
        return " x ".join(f"{size:g}" for size in item.size_mm) + " mm"
    if item.severity is None:
        return ""
    lexicon = load_lexicon()
    concept = lexicon.concepts.get(item.observation)
    scale = concept.scale or (_SIZED if concept.size else None) if concept is not None else None
    words: str = lexicon.grammar["scales"][scale or "degree"]["adjectives"][item.severity][0]
    return words.removesuffix(" amount of")


def describe(item: Item) -> str:
    """Return a finding in words, such as "moderate pleural effusion (right)"."""
    parts = ["possible" if item.uncertain else "", degree(item), name(item.observation)]
    text = " ".join(part for part in parts if part)
    site = where(item.places, item.side)
    text = f"{text} ({site})" if site else text
    if item.means:
        text += f", read as {' or '.join(sorted(map(name, item.means)))}"
    return text[0].upper() + text[1:]
