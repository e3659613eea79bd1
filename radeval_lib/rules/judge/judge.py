"""Names every error of a candidate report in GREEN's six categories, with its significance and the rule.

Categories are those of Ostmeier et al. 2024 (Section 3.1): (a) false finding, (b) missing finding,
(c) location, (d) severity, (e) comparison that the reference has not, (f) comparison left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    covering_item,
    numbered_far_apart,
    places_near,
    sides_conflict,
    split_by_side,
    split_compounds,
)
from radeval_lib.rules.judge.base import Keep, Pair, handed
from radeval_lib.rules.judge.items import Content, Item, content
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.lexicon.significance import Context, factor, significance
from radeval_lib.rules.reader.records import SEVERAL
from radeval_lib.rules.reader.vocabulary import vocabulary
from radeval_lib.rules.report_text import statements
from radeval_lib.rules.report_text.words import Span

_UNLIKE = {KIND: "finer", KIN: "kin"}

NEARBY, SAFE = 10.0, (20.0, 70.0)
"""Tips less than ``NEARBY`` mm apart are at the same place; a tube may end at ``SAFE`` mm from the carina."""
SIZE_RATIO = 1.5
"""The smallest ratio of two sizes that makes a wrong size significant."""


@dataclass(frozen=True, slots=True)
class JudgedError:
    """An error of the candidate.

    ``category`` is a letter from a to f, ``weight`` its share of the weighted sum, ``says`` the error in
    words, and ``rule`` the reason that it is an error and its significance. The spans are characters of the
    two reports, None for a report that says nothing of it.
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
    """The judge's result.

    Attributes
    ----------
    errors : every error, by category, the significant ones first.
    matched : findings that both reports state without an error, in words.
    agreed_negatives : observations that both deny, and structures that both call normal, in words.
    links : (finding of the reference, finding of the candidate, their relation), in words.
    slight : the weight of differences outside the categories: a related finding instead of the same, or
        another degree of certainty.
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

        number = len(self.errors)
        explanation = f"{number} differences between the findings of the two reports were named by rules."
        agreed = [*self.matched, *self.agreed_negatives]
        return green_analysis.render(listed(True), listed(False), agreed, f"[Explanation]:\n{explanation}")


class RulesJudge:
    """The rule-based judge, which is deterministic and needs no model."""

    signature = "rules"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate), in GREEN's layout."""
        return handed([judge_pair(*pair).analysis() for pair in pairs], keep)


def judge_pair(reference: str, candidate: str, context: Context | None = None) -> Judgement:
    """Return the errors of a candidate report against its reference.

    A finding under a coarser or finer name ("opacity" for "consolidation", ``kinds`` in
    ``reader/reading.yml``) is not an error but a slight difference, whichever report has the coarser name.
    The same holds for one of several findings that the other report covers with a coarser word for the same
    place. It does not hold for a finding that the other report denies. Normal or denied findings that a
    candidate adds are not errors.

    Parameters
    ----------
    reference, candidate : reports or sections of reports, in English; either may be empty.
    context : the patient's age and the indication, which change the significance of some findings; None if
        neither is known. Without an indication, the history in the reference is taken.
    """
    ours, theirs = content(reference), content(candidate)
    ours, theirs = split_compounds(ours, theirs), split_compounds(theirs, ours)
    ours, theirs = split_by_side(ours, theirs), split_by_side(theirs, ours)
    links = align(ours, theirs)
    linked = {id(link.reference) for link in links} | {id(link.candidate) for link in links}
    if context is None or not context.indication:
        history = [statement.text for statement in statements(reference) if statement.section == "history"]
        if asked := " ".join(history):
            context = Context(None if context is None else context.age, asked)
    weigh = _Weigher(context)
    errors: list[JudgedError] = []
    matched: list[str] = []
    slight = 0.0
    contradicted = {key: span for key, span in theirs.contradicted.items() if key not in ours.contradicted}
    for link in links:
        differences = weigh.attribute_errors(link)
        if link.relation == SAME and (denied := contradicted.pop(link.candidate.observation, None)):
            differences.append(weigh.missing(link.reference, denied))
        differences += weigh.diagnosis_errors(link, ours, theirs)
        errors += differences
        slight += weigh.slight_difference(link)
        if not differences:
            matched.append(finding_in_words(link.candidate))
    for mine, other, unmatched in ((ours, theirs, weigh.missing), (theirs, ours, weigh.false)):
        for item in mine.stated:
            if id(item) in linked:
                continue
            if (covering := covering_item(item, mine, other)) is None:
                errors.append(unmatched(item, other.rules_out(item.observation)))
            else:
                pair = (item, covering[0]) if mine is ours else (covering[0], item)
                links.append(Link(*pair, covering[1]))
                slight += weigh.slight_difference(links[-1])
    errors.sort(key=lambda error: (error.category, not error.significant, error.says))
    shared = tuple(
        (
            observation_in_words(link.reference.observation),
            observation_in_words(link.candidate.observation),
            link.relation,
        )
        for link in links
    )
    return Judgement(tuple(errors), tuple(matched), _agreed(ours, theirs), shared, slight)


def _not_stated(denied: Span | None) -> str:
    """Return in words that a report does not state a finding, with the denial if it has one."""
    return "does not mention it" if denied is None else "rules it out"


class _Weigher:
    """Names errors and weighs them, for a patient of whom the context is known."""

    def __init__(self, context: Context | None) -> None:
        self._grade = partial(significance, context=context)

    def _weight(self, item: Item) -> float:
        """Return the weight of a finding: that of its gravest diagnosis if it is read as any."""
        return max(self._grade(key).weight for key in item.means or [item.observation])

    def _graded_as(self, item: Item) -> str:
        """Return the observation whose significance a finding has.

        A minor sign of an urgent diagnosis ("lucency, consistent with pneumothorax") is as grave as the
        diagnosis.
        """
        urgent = [key for key in sorted(item.means) if self._grade(key).name == "urgent"]
        return urgent[0] if urgent else item.observation

    def _error(
        self,
        category: str,
        item: Item,
        graded_as: str,
        significant: bool,
        share: float,
        says: str,
        rule: str,
        spans: tuple[Span | None, Span | None],
        *,
        sided: bool = False,
    ) -> JudgedError:
        grade = self._grade(graded_as)
        # Acting on the wrong side does harm, whatever the finding, unless it is benign.
        counted = significant and (grade.major or (sided and grade.name != "benign"))
        rule = f"{rule}; {observation_in_words(graded_as)} is {grade.name}: {grade.why}"
        weight = share * self._weight(item)
        return JudgedError(category, counted, weight, item.observation, says, rule, *spans)

    def _difference(
        self,
        category: str,
        link: Link,
        significant: bool,
        factor_name: str,
        says: str,
        rule: str,
        *,
        sided: bool = False,
    ) -> JudgedError:
        """Return an error about a finding that both reports state; it is as grave as the graver name."""
        ours, theirs = link.reference, link.candidate
        graded_as = max(
            (self._graded_as(ours), theirs.observation),
            key=lambda key: (self._grade(key).major, self._grade(key).weight),
        )
        spans = (ours.start, ours.end), (theirs.start, theirs.end)
        share = factor(factor_name)
        return self._error(category, ours, graded_as, significant, share, says, rule, spans, sided=sided)

    def missing(self, item: Item, denied: Span | None) -> JudgedError:
        """Return the error of a finding that the candidate lacks, or rules out although it states it
        elsewhere."""
        rule = f"the reference states it and the candidate {_not_stated(denied)}"
        return self._unmatched("b", item, "missing", rule, ((item.start, item.end), denied))

    def false(self, item: Item, denied: Span | None) -> JudgedError:
        """Return the error of a finding that the reference lacks."""
        rule = f"the candidate states it and the reference {_not_stated(denied)}"
        return self._unmatched("a", item, "false", rule, (denied, (item.start, item.end)))

    def _unmatched(
        self, category: str, item: Item, factor_name: str, rule: str, spans: tuple[Span | None, Span | None]
    ) -> JudgedError:
        """Return an error about a finding that one report states alone."""
        share = factor(factor_name) * (factor("doubtful") if item.uncertain else 1.0)
        says = finding_in_words(item)
        return self._error(category, item, self._graded_as(item), True, share, says, rule, spans)

    def attribute_errors(self, link: Link) -> list[JudgedError]:
        """Return the differences in place, degree and change between findings that both reports state."""
        errors = [*self._place_errors(link), *self._count_errors(link)]
        errors += self._quality_errors(link, places_too=not errors)
        return [*errors, *self._degree_errors(link), *self._change_errors(link)]

    def _place_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield another side or place, another distance of a tip, and another side with more."""
        ours, theirs = link.reference, link.candidate
        finding = observation_in_words(ours.observation)
        sides, nearby = sides_conflict(ours, theirs), places_near(ours, theirs)
        far_apart = numbered_far_apart(ours, theirs)
        if sides or far_apart or (nearby is not None and not ours.places & theirs.places):
            wrong = sides or far_apart or nearby is False
            here, there = (place_in_words(item.places, item.side) for item in (ours, theirs))
            says = f"{finding} in {there} instead of {here}"
            rule = "another side" if sides else ("another place" if wrong else "a neighbouring place")
            yield self._difference(
                "c", link, wrong, "location" if wrong else "slight", says, rule, sided=sides
            )
        elif _distance_error(ours, theirs):
            says = f"{finding} {theirs.distance_mm:g} mm away instead of {ours.distance_mm:g} mm"
            rule = "a tip that lies where it may not, or the other way round"
            yield self._difference("c", link, True, "location", says, rule)
        if ours.greater and theirs.greater and ours.greater != theirs.greater:
            says = f"{finding} greater on the {theirs.greater} instead of the {ours.greater}"
            yield self._difference("c", link, True, "location", says, "another side", sided=True)

    def _count_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield another number of findings; "several" differs from one alone."""
        ours, theirs = link.reference, link.candidate
        if ours.count is None or theirs.count is None or ours.count == theirs.count:
            return
        if SEVERAL not in (ours.count, theirs.count) or 1 in (ours.count, theirs.count):
            counted, instead = (
                "several" if item.count == SEVERAL else str(item.count) for item in (theirs, ours)
            )
            says = f"{counted} instead of {instead} {observation_in_words(ours.observation)}"
            yield self._difference("d", link, True, "severity", says, "another number")

    def _quality_errors(self, link: Link, *, places_too: bool) -> Iterator[JudgedError]:
        """Yield other qualities of a kind; of those that say where, one at most, and only if
        ``places_too``."""
        ours, theirs = link.reference, link.candidate
        for category, kind in sorted({quality[:2] for quality in ours.qualities}):
            mine, other = (
                {word for *group, word in item.qualities if group == [category, kind]}
                for item in (ours, theirs)
            )
            if other and not mine & other and (category == "d" or places_too):
                places_too = False
                stated, instead = (", ".join(sorted(words)) for words in (other, mine))
                says = f"{stated} instead of {instead} {observation_in_words(ours.observation)}"
                factor_name = "severity" if category == "d" else "location"
                yield self._difference(category, link, True, factor_name, says, f"of another {kind}")

    def _degree_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield another grade, and another degree or size."""
        ours, theirs = link.reference, link.candidate
        finding = observation_in_words(ours.observation)
        if ours.grade and theirs.grade and ours.grade != theirs.grade:
            says = f"{finding} of grade {theirs.grade} instead of {ours.grade}"
            yield self._difference("d", link, True, "severity", says, "another grade")
        far = _degree_error(ours, theirs)
        if far is not None:
            says = f"{degree_in_words(theirs)} instead of {degree_in_words(ours)} {finding}"
            rule = "a degree or size that is clearly other" if far else "a neighbouring degree or size"
            yield self._difference("d", link, far, "severity" if far else "slight", says, rule)

    def _change_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield the changes that only one of the reports states."""
        ours, theirs = link.reference, link.candidate
        for category, changes, verb, silent in (
            ("e", theirs.changes - ours.changes, "called", "reference"),
            ("f", ours.changes - theirs.changes, "is", "candidate"),
        ):
            for change in sorted(changes):
                says = f"{observation_in_words(ours.observation)} {verb} {change}"
                counts = change != "unchanged"
                rule, factor_name = f"the {silent} does not say so", "change" if counts else "slight"
                yield self._difference(category, link, counts, factor_name, says, rule)

    def diagnosis_errors(self, link: Link, ours: Content, theirs: Content) -> list[JudgedError]:
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

    def slight_difference(self, link: Link) -> float:
        """Return the weight of the differences outside the six categories."""
        ours, theirs = link.reference, link.candidate
        weight = max(self._weight(ours), self._weight(theirs))
        unlike = factor(_UNLIKE[link.relation]) if link.relation in _UNLIKE else 0.0
        doubt = factor("certainty") if ours.uncertain != theirs.uncertain else 0.0
        return weight * (unlike + doubt)


def _degree_error(item: Item, other: Item) -> bool | None:
    """Return whether the degree is significantly wrong; None if it is right or one of the two has none."""
    if item.severity is not None and other.severity is not None and item.severity != other.severity:
        return abs(item.severity - other.severity) >= 2
    if item.volume_ml and other.volume_ml and item.volume_ml != other.volume_ml:
        return max(item.volume_ml, other.volume_ml) >= SIZE_RATIO * min(item.volume_ml, other.volume_ml)
    if item.size_mm and other.size_mm and item.observation not in vocabulary().devices:
        return _size_error(item, other)
    return None


def _size_error(item: Item, other: Item) -> bool | None:
    """Return whether a size is significantly wrong; None if it may be the same."""
    if bool(item.span_mm) != bool(other.span_mm):  # "5-7 mm" for one, "8 mm" for the other
        (low, high), (least, most) = (
            each.span_mm or (max(each.size_mm), max(each.size_mm)) for each in (item, other)
        )
        if least <= high and low <= most:
            return None
        return max(low, least) >= SIZE_RATIO * min(high, most)
    pairs = [(max(item.size_mm), max(other.size_mm))]
    if len(item.size_mm) == len(other.size_mm):
        pairs = list(zip(sorted(item.size_mm), sorted(other.size_mm), strict=True))
    if all(size == other_size for size, other_size in pairs):
        return None
    return any(max(pair) >= SIZE_RATIO * min(pair) for pair in pairs)


def _distance_error(ours: Item, other: Item) -> bool:
    """Return whether exactly one of the tips is at a safe distance."""
    if ours.distance_mm is None or other.distance_mm is None:
        return False
    safe, other_safe = (SAFE[0] <= distance <= SAFE[1] for distance in (ours.distance_mm, other.distance_mm))
    return safe != other_safe and abs(ours.distance_mm - other.distance_mm) >= NEARBY


def _agreed(ours: Content, theirs: Content) -> tuple[str, ...]:
    """Return, in words, the observations that both reports deny and the structures that both call normal."""
    normals = load_lexicon().normals
    denied = sorted(ours.denied.keys() & theirs.denied.keys())
    normal = [(key, normals.get(key)) for key in sorted(ours.normal.keys() & theirs.normal.keys())]
    return (
        *(f"No {observation_in_words(key)}" for key in denied),
        *(
            item.wordings["hospital"][0].text if item else f"Normal {key.split('_')[0]}"
            for key, item in normal
        ),
    )


# Observations, places, degrees and findings in the words of the rule-based judge.


def observation_in_words(observation: str) -> str:
    """Return an observation in words."""
    concept = load_lexicon().concepts.get(observation)
    if concept is None or not concept.names:
        return observation.replace("_", " ")
    first = concept.names[0]
    return f"{first.prefix.text} {first.one.text}" if first.prefix else first.one.text


def place_in_words(places: Iterable[str], side: str | None) -> str:
    """Return places and side in words; empty if none is stated."""
    lexicon_places, names = load_lexicon().places, []
    for key in sorted(places):
        text = key.replace("_", " ")
        if key in lexicon_places:
            nouns = lexicon_places[key].nouns
            text = (nouns.get(side) or next(iter(nouns.values())))[0].text
            if side not in nouns:  # the noun is that of one side, the finding on both or on none
                text = " ".join(word for word in text.split() if word not in ("left", "right"))
        names.append(text)
    text = " and ".join(names)
    if side is None or (text and (side in text or side == "bilateral")):
        return text
    return f"{side}, {text}" if text else side


def degree_in_words(item: Item) -> str:
    """Return severity or size in words; empty if neither is stated."""
    if item.volume_ml:
        return f"{item.volume_ml:g} ml"
    if item.size_mm:
        return " x ".join(f"{size:g}" for size in item.size_mm) + " mm"
    if item.severity is None:
        return ""
    lexicon = load_lexicon()
    concept, scale = lexicon.concepts.get(item.observation), "degree"
    if concept is not None and (concept.scale or concept.size):
        scale = concept.scale or "amount"  # what has a size is "small", not "mild"
    words: str = lexicon.grammar["scales"][scale]["adjectives"][item.severity][0]
    return words.removesuffix(" amount of")


def finding_in_words(item: Item) -> str:
    """Return a finding in words, such as "moderate pleural effusion (right)"."""
    parts = [
        "possible" if item.uncertain else "",
        degree_in_words(item),
        observation_in_words(item.observation),
    ]
    text = " ".join(part for part in parts if part)
    site = place_in_words(item.places, item.side)
    text = f"{text} ({site})" if site else text
    if item.means:
        text += f", read as {' or '.join(sorted(map(observation_in_words, item.means)))}"
    return text[0].upper() + text[1:]
