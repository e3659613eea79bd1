"""Names every error of a candidate report in GREEN's six categories, with its significance and the rule
behind it.

Categories are those of Ostmeier et al. 2024 (Section 3.1): (a) false finding, (b) missing finding, (c) wrong
location, (d) wrong severity, (e) comparison that the reference lacks, (f) omitted comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from radeval_lib import green_analysis
from radeval_lib.categories import LETTERS
from radeval_lib.rules.judge.alignment import (
    HYPONYM,
    RELATED,
    SAME,
    Link,
    align,
    are_levels_far_apart,
    are_places_near,
    find_covering_item,
    sides_conflict,
    split_compounds,
    split_sides,
)
from radeval_lib.rules.judge.base import Keep, Pair, store_answers
from radeval_lib.rules.judge.items import Content, Item, read_content
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.lexicon.significance import Context, get_factor, grade_significance
from radeval_lib.rules.reader.records import SEVERAL
from radeval_lib.rules.reader.vocabulary import load_vocabulary
from radeval_lib.rules.report_text import statements
from radeval_lib.rules.report_text.words import Span

# The names of the factors in ``significance.yml`` for the relations of unlike findings.
_FACTOR_NAMES = {HYPONYM: "finer", RELATED: "kin"}

#: Distances of a tip that differ by less than ``TOLERANCE_MM`` are equal; a tube may end at a distance in the
#: range ``SAFE_MM`` from the carina.
TOLERANCE_MM, SAFE_MM = 10.0, (20.0, 70.0)
#: The smallest ratio of two sizes that makes a wrong size significant.
SIZE_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class JudgedError:
    """An error of the candidate.

    Attributes
    ----------
    category : a letter from a to f.
    significant : whether the error is clinically significant.
    weight : what the error contributes to the weighted sum.
    observation : the key of the finding that it is about.
    text : the error in words.
    rule : why it is an error, and why it has its significance.
    reference_span, candidate_span : the (start, end) of the finding in each report, or of the words that rule
        the finding out; None for a report with neither.
    """

    category: str
    significant: bool
    weight: float
    observation: str
    text: str
    rule: str
    reference_span: Span | None
    candidate_span: Span | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The errors of a candidate report, and its agreements with the reference.

    Attributes
    ----------
    errors : the errors, sorted by category; in each category, significant errors come first.
    matched : the findings that both reports state, without an error, in words.
    agreed_negatives : the observations that both deny and the structures that both call normal, in words.
    links : (finding of the reference, finding of the candidate, relation) of each linked pair, in words.
    slight : the total weight of differences outside the categories: a finer, coarser or related finding
        instead of the same, or a different certainty.
    """

    errors: tuple[JudgedError, ...]
    matched: tuple[str, ...]
    agreed_negatives: tuple[str, ...]
    links: tuple[tuple[str, str, str], ...]
    slight: float

    def count(self, significant: bool) -> tuple[int, ...]:
        """Return the numbers of significant or, if False, insignificant errors in categories (a) to (f)."""
        categories = [error.category for error in self.errors if error.significant == significant]
        return tuple(categories.count(letter) for letter in LETTERS)

    @property
    def matched_findings(self) -> int:
        """The number of matched findings, to which GREEN adds shared denials and normal statements."""
        return len(self.matched) + len(self.agreed_negatives)

    @property
    def weighted_errors(self) -> float:
        """The total weight of errors and slight differences."""
        return sum(error.weight for error in self.errors) + self.slight

    def analysis(self) -> str:
        """Return the errors and matched findings as an analysis in GREEN's layout."""

        def group_errors(significant: bool) -> list[list[str]]:
            errors = [error for error in self.errors if error.significant == significant]
            return [[error.text for error in errors if error.category == letter] for letter in LETTERS]

        explanation = (
            f"[Explanation]:\n{len(self.errors)} differences between the findings of the two reports "
        )
        explanation += "were named by rules."
        matched = [*self.matched, *self.agreed_negatives]
        return green_analysis.render(group_errors(True), group_errors(False), matched, explanation)


class RulesJudge:
    """The rule-based judge, which is deterministic and needs no model."""

    signature = "rules"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate) pair in GREEN's layout, in order; pass the
        analyses to ``keep``, if given. Raises the errors of :func:`judge_pair`."""
        return store_answers([judge_pair(*pair).analysis() for pair in pairs], keep)


def judge_pair(reference: str, candidate: str, context: Context | None = None) -> Judgement:
    """Return the errors of a candidate report, and its agreements with the reference.

    A finding under a coarser, finer or related name ("opacity" for "consolidation", ``kinds`` and
    ``families`` in ``reader/reading.yml``) is a slight difference instead of an error, whichever report has
    the coarser name. Nor is it an error if one finding of a report covers several of the other report
    (:func:`~radeval_lib.rules.judge.alignment.find_covering_item`). Neither holds for a finding that the
    other report denies. Denials and normal statements that only the candidate contains are not errors.

    Parameters
    ----------
    reference, candidate : reports or sections of reports, in English; either may be empty.
    context : the patient's age and the indication, which change the significance of some findings; None if
        neither is known. Without an indication, the history in the reference replaces it.

    Raises
    ------
    PlaceholderError
        If a report is the placeholder of a text that is stored only as numbers.
    """
    expected, observed = read_content(reference), read_content(candidate)
    expected, observed = split_compounds(expected, observed), split_compounds(observed, expected)
    expected, observed = split_sides(expected, observed), split_sides(observed, expected)
    links = align(expected, observed)
    linked_items = {id(link.reference) for link in links} | {id(link.candidate) for link in links}
    if context is None or not context.indication:
        history = [statement.text for statement in statements(reference) if statement.section == "history"]
        if indication := " ".join(history):
            context = Context(None if context is None else context.age, indication)
    weigher = _Weigher(context)
    errors: list[JudgedError] = []
    matched: list[str] = []
    slight_weight = 0.0
    contradicted = dict(observed.contradicted)
    for key in expected.contradicted:
        contradicted.pop(key, None)
    for link in links:
        differences = weigher.list_attribute_errors(link)
        if link.relation == SAME and (denial := contradicted.pop(link.candidate.observation, None)):
            differences.append(weigher.make_missing(link.reference, denial))
        differences += weigher.list_diagnosis_errors(link, expected, observed)
        errors += differences
        slight_weight += weigher.weigh_slight_difference(link)
        if not differences:
            matched.append(describe_finding(link.candidate))
    directions = (expected, observed, weigher.make_missing), (observed, expected, weigher.make_false)
    for source, target, make_error in directions:
        for item in source.stated:
            if id(item) in linked_items:
                continue
            if (match := find_covering_item(item, source, target)) is None:
                errors.append(make_error(item, target.find_exclusion(item.observation)))
            else:
                linked_pair = (item, match[0]) if source is expected else (match[0], item)
                links.append(Link(*linked_pair, match[1]))
                slight_weight += weigher.weigh_slight_difference(links[-1])
    errors.sort(key=lambda error: (error.category, not error.significant, error.text))
    link_texts = tuple(
        (
            describe_observation(link.reference.observation),
            describe_observation(link.candidate.observation),
            link.relation,
        )
        for link in links
    )
    agreed_negatives = _list_agreed_negatives(expected, observed)
    return Judgement(tuple(errors), tuple(matched), agreed_negatives, link_texts, slight_weight)


def _describe_omission(exclusion: Span | None) -> str:
    """Return the predicate of a sentence about a report that does not state a finding; ``exclusion`` is the
    span that rules the finding out, if any."""
    return "does not mention it" if exclusion is None else "rules it out"


class _Weigher:
    """A weigher of errors, which also names and grades them, given the context of the patient."""

    def __init__(self, context: Context | None) -> None:
        """Prepare to grade observations in a context; None if nothing is known about the patient."""
        self._grade = partial(grade_significance, context=context)

    def _weigh(self, item: Item) -> float:
        """Return the highest weight of the diagnoses that a finding is said to be a sign of or, if there are
        none, the weight of the finding."""
        return max(self._grade(key).weight for key in item.diagnoses or [item.observation])

    def _choose_key(self, item: Item) -> str:
        """Return the observation that decides the significance of a finding: an urgent diagnosis that it is
        said to be a sign of ("lucency, consistent with pneumothorax") or, if there is none, its own."""
        urgent_keys = [key for key in sorted(item.diagnoses) if self._grade(key).name == "urgent"]
        return urgent_keys[0] if urgent_keys else item.observation

    def _make_error(
        self,
        category: str,
        item: Item,
        graded_as: str,
        significant: bool,
        weight_share: float,
        text: str,
        rule: str,
        spans: tuple[Span | None, Span | None],
        *,
        sides_differ: bool = False,
    ) -> JudgedError:
        """Return an error about a finding of either report.

        Parameters
        ----------
        category : a letter from a to f.
        item : the finding.
        graded_as : the observation whose significance applies to the error.
        significant : whether the difference is large enough for a significant error.
        weight_share : the factor that multiplies the weight of the finding.
        text : the error in words.
        rule : why it is an error.
        spans : the spans of the finding in the reference and in the candidate.
        sides_differ : whether the reports name different sides.
        """
        grade = self._grade(graded_as)
        # Acting on the wrong side does harm whatever the finding is, unless it is benign.
        is_significant = significant and (grade.major or (sides_differ and grade.name != "benign"))
        rule = f"{rule}; {describe_observation(graded_as)} is {grade.name}: {grade.why}"
        weight = weight_share * self._weigh(item)
        return JudgedError(category, is_significant, weight, item.observation, text, rule, *spans)

    def _make_difference(
        self,
        category: str,
        link: Link,
        significant: bool,
        factor_name: str,
        text: str,
        rule: str,
        sides_differ: bool = False,
    ) -> JudgedError:
        """Return an error about a finding that both reports state; the more significant of its observations
        decides the significance."""
        reference, candidate = link.reference, link.candidate
        graded_as = max(
            (self._choose_key(reference), candidate.observation),
            key=lambda key: (self._grade(key).major, self._grade(key).weight),
        )
        spans = (reference.start, reference.end), (candidate.start, candidate.end)
        arguments = category, reference, graded_as, significant, get_factor(factor_name)
        return self._make_error(*arguments, text, rule, spans, sides_differ=sides_differ)

    def make_missing(self, item: Item, exclusion: Span | None) -> JudgedError:
        """Return the error that the candidate lacks a finding of the reference; ``exclusion`` is the span in
        the candidate that rules the finding out, if any."""
        rule = f"the reference states it and the candidate {_describe_omission(exclusion)}"
        return self._make_unmatched("b", item, "missing", rule, ((item.start, item.end), exclusion))

    def make_false(self, item: Item, exclusion: Span | None) -> JudgedError:
        """Return the error that the candidate has a finding that the reference lacks; ``exclusion`` is the
        span in the reference that rules the finding out, if any."""
        rule = f"the candidate states it and the reference {_describe_omission(exclusion)}"
        return self._make_unmatched("a", item, "false", rule, (exclusion, (item.start, item.end)))

    def _make_unmatched(
        self, category: str, item: Item, factor_name: str, rule: str, spans: tuple[Span | None, Span | None]
    ) -> JudgedError:
        """Return the error about a finding that only one report states; it weighs less if that report hedges
        the finding."""
        weight_share = get_factor(factor_name) * (get_factor("doubtful") if item.uncertain else 1.0)
        text = describe_finding(item)
        return self._make_error(category, item, self._choose_key(item), True, weight_share, text, rule, spans)

    def list_attribute_errors(self, link: Link) -> list[JudgedError]:
        """Return the errors in place, number, quality, degree and change of a finding that both reports
        state."""
        errors = [*self._find_place_errors(link), *self._find_count_errors(link)]
        errors += self._find_quality_errors(link, include_location=not errors)
        return [*errors, *self._find_degree_errors(link), *self._find_change_errors(link)]

    def _find_place_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield an error if the sides or places differ or, otherwise, the distances of a device's tip, and an
        error if the sides that have more of a bilateral finding differ."""
        reference, candidate = link.reference, link.candidate
        finding = describe_observation(reference.observation)
        wrong_side, is_near = sides_conflict(reference, candidate), are_places_near(reference, candidate)
        is_far = are_levels_far_apart(reference, candidate)
        if wrong_side or is_far or (is_near is not None and not reference.places & candidate.places):
            is_large = wrong_side or is_far or is_near is False
            expected, observed = (describe_place(item.places, item.side) for item in (reference, candidate))
            text = f"{finding} in {observed} instead of {expected}"
            rule = "another side" if wrong_side else "another place" if is_large else "a neighbouring place"
            factor_name = "location" if is_large else "slight"
            yield self._make_difference("c", link, is_large, factor_name, text, rule, wrong_side)
        elif _has_distance_error(reference, candidate):
            text = f"{finding} {candidate.distance_mm:g} mm away instead of {reference.distance_mm:g} mm"
            rule = "a tip that lies where it may not, or the other way round"
            yield self._make_difference("c", link, True, "location", text, rule)
        if reference.greater and candidate.greater and reference.greater != candidate.greater:
            text = f"{finding} greater on the {candidate.greater} instead of the {reference.greater}"
            yield self._make_difference("c", link, True, "location", text, "another side", sides_differ=True)

    def _find_count_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield an error if the numbers of findings differ; "several" differs only from 1."""
        reference, candidate = link.reference, link.candidate
        if reference.count is None or candidate.count is None or reference.count == candidate.count:
            return
        if SEVERAL not in (reference.count, candidate.count) or 1 in (reference.count, candidate.count):
            observed, expected = (
                "several" if item.count == SEVERAL else str(item.count) for item in (candidate, reference)
            )
            text = f"{observed} instead of {expected} {describe_observation(reference.observation)}"
            yield self._make_difference("d", link, True, "severity", text, "another number")

    def _find_quality_errors(self, link: Link, *, include_location: bool) -> Iterator[JudgedError]:
        """Yield an error for each kind of quality in which the reports differ; at most one of them is about
        location, and none unless ``include_location`` is True."""
        reference, candidate = link.reference, link.candidate
        for category, kind in sorted({quality[:2] for quality in reference.qualities}):
            expected, observed = (
                {word for *group, word in item.qualities if group == [category, kind]}
                for item in (reference, candidate)
            )
            if observed and not expected & observed and (category == "d" or include_location):
                include_location = False
                text = f"{', '.join(sorted(observed))} instead of {', '.join(sorted(expected))}"
                text += f" {describe_observation(reference.observation)}"
                factor_name = "severity" if category == "d" else "location"
                yield self._make_difference(category, link, True, factor_name, text, f"of another {kind}")

    def _find_degree_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield an error if the grades differ, and one if the degrees, volumes or sizes differ."""
        reference, candidate = link.reference, link.candidate
        finding = describe_observation(reference.observation)
        if reference.grade and candidate.grade and reference.grade != candidate.grade:
            text = f"{finding} of grade {candidate.grade} instead of {reference.grade}"
            yield self._make_difference("d", link, True, "severity", text, "another grade")
        is_large = _is_degree_error_significant(reference, candidate)
        if is_large is not None:
            text = f"{describe_degree(candidate)} instead of {describe_degree(reference)} {finding}"
            rule = "a degree or size that is clearly other" if is_large else "a neighbouring degree or size"
            yield self._make_difference("d", link, is_large, "severity" if is_large else "slight", text, rule)

    def _find_change_errors(self, link: Link) -> Iterator[JudgedError]:
        """Yield an error for each change of a finding that only one of the reports states."""
        reference, candidate = link.reference, link.candidate
        for category, changes, verb, other in (
            ("e", candidate.changes - reference.changes, "called", "reference"),
            ("f", reference.changes - candidate.changes, "is", "candidate"),
        ):
            for change in sorted(changes):
                text = f"{describe_observation(reference.observation)} {verb} {change}"
                is_change = change != "unchanged"
                rule, factor_name = f"the {other} does not say so", "change" if is_change else "slight"
                yield self._make_difference(category, link, is_change, factor_name, text, rule)

    def list_diagnosis_errors(self, link: Link, reference: Content, candidate: Content) -> list[JudgedError]:
        """Return the errors about diagnoses that a linked finding suggests in one report ("likely pneumonia")
        and that the other report denies, given the contents of both reports."""
        errors = []
        for key in sorted(link.reference.diagnoses & candidate.denied.keys() - reference.denied.keys()):
            diagnosis = replace(link.reference, observation=key, diagnoses=frozenset())
            errors.append(self.make_missing(diagnosis, candidate.denied[key]))
        for key in sorted(link.candidate.diagnoses & reference.denied.keys() - candidate.denied.keys()):
            diagnosis = replace(link.candidate, observation=key, diagnoses=frozenset())
            errors.append(self.make_false(diagnosis, reference.denied[key]))
        return errors

    def weigh_slight_difference(self, link: Link) -> float:
        """Return the total weight of the differences of a linked pair that belong to no category: a finer,
        coarser or related name, and a different certainty; 0 if there are none."""
        reference, candidate = link.reference, link.candidate
        weight = max(self._weigh(reference), self._weigh(candidate))
        name_share = get_factor(_FACTOR_NAMES[link.relation]) if link.relation in _FACTOR_NAMES else 0.0
        certainty_share = get_factor("certainty") if reference.uncertain != candidate.uncertain else 0.0
        return weight * (name_share + certainty_share)


def _is_degree_error_significant(item: Item, other: Item) -> bool | None:
    """Return whether the degrees, volumes or sizes of two findings differ significantly; None if they are
    equal or not stated for both. Sizes of devices are not compared."""
    if item.severity is not None and other.severity is not None and item.severity != other.severity:
        return abs(item.severity - other.severity) >= 2
    if item.volume_ml and other.volume_ml and item.volume_ml != other.volume_ml:
        return max(item.volume_ml, other.volume_ml) >= SIZE_RATIO * min(item.volume_ml, other.volume_ml)
    if item.size_mm and other.size_mm and item.observation not in load_vocabulary().devices:
        return _is_size_error_significant(item, other)
    return None


def _is_size_error_significant(item: Item, other: Item) -> bool | None:
    """Return whether the sizes of two findings differ by a factor of :data:`SIZE_RATIO` or more; None if they
    may be equal."""
    if bool(item.span_mm) != bool(other.span_mm):  # "5-7 mm" in one report, "8 mm" in the other
        (low, high), (other_low, other_high) = (
            finding.span_mm or (max(finding.size_mm), max(finding.size_mm)) for finding in (item, other)
        )
        if other_low <= high and low <= other_high:
            return None
        return max(low, other_low) >= SIZE_RATIO * min(high, other_high)
    pairs = [(max(item.size_mm), max(other.size_mm))]
    if len(item.size_mm) == len(other.size_mm):
        pairs = list(zip(sorted(item.size_mm), sorted(other.size_mm), strict=True))
    if all(size == other_size for size, other_size in pairs):
        return None
    return any(max(pair) >= SIZE_RATIO * min(pair) for pair in pairs)


def _has_distance_error(item: Item, other: Item) -> bool:
    """Return whether exactly one of two tips is at a safe distance (:data:`SAFE_MM`) and the distances differ
    by :data:`TOLERANCE_MM` or more; False if a distance is not stated."""
    if item.distance_mm is None or other.distance_mm is None:
        return False
    distances = item.distance_mm, other.distance_mm
    one_is_safe = len({SAFE_MM[0] <= distance <= SAFE_MM[1] for distance in distances}) == 2
    return one_is_safe and abs(item.distance_mm - other.distance_mm) >= TOLERANCE_MM


def _list_agreed_negatives(reference: Content, candidate: Content) -> tuple[str, ...]:
    """Return the observations that both reports deny and the structures that both call normal, in words."""
    normals = load_lexicon().normals
    shared_denials = sorted(reference.denied.keys() & candidate.denied.keys())
    shared_normals = [
        (key, normals.get(key)) for key in sorted(reference.normal.keys() & candidate.normal.keys())
    ]
    return (
        *(f"No {describe_observation(key)}" for key in shared_denials),
        *(
            entry.wordings["hospital"][0].text if entry else f"Normal {key.split('_')[0]}"
            for key, entry in shared_normals
        ),
    )


# Observations, places, degrees and findings in the words of the rule-based judge.


def describe_observation(observation: str) -> str:
    """Return the first name of an observation in the lexicon; if it has none, the key with spaces for
    underscores."""
    concept = load_lexicon().concepts.get(observation)
    if concept is None or not concept.names:
        return observation.replace("_", " ")
    name = concept.names[0]
    return f"{name.prefix.text} {name.one.text}" if name.prefix else name.one.text


def describe_place(places: Iterable[str], side: str | None) -> str:
    """Return places and a side in words; "" if there are none."""
    lexicon_places, place_names = load_lexicon().places, []
    for key in sorted(places):
        text = key.replace("_", " ")
        if key in lexicon_places:
            nouns = lexicon_places[key].nouns
            text = (nouns.get(side) or next(iter(nouns.values())))[0].text
            if side not in nouns:  # The noun names one side, but the finding is on both or has no side.
                text = " ".join(word for word in text.split() if word not in ("left", "right"))
        place_names.append(text)
    text = " and ".join(place_names)
    if side is None or (text and (side in text or side == "bilateral")):
        return text
    return f"{side}, {text}" if text else side


def describe_degree(item: Item) -> str:
    """Return the volume, size or severity of a finding in words; "" if none of them is stated."""
    if item.volume_ml:
        return f"{item.volume_ml:g} ml"
    if item.size_mm:
        return " x ".join(f"{size:g}" for size in item.size_mm) + " mm"
    if item.severity is None:
        return ""
    lexicon = load_lexicon()
    concept, scale = lexicon.concepts.get(item.observation), "degree"
    if concept is not None and (concept.scale or concept.size):
        scale = concept.scale or "amount"  # A finding with a size is "small", not "mild".
    words: str = lexicon.grammar["scales"][scale]["adjectives"][item.severity][0]
    return words.removesuffix(" amount of")


def describe_finding(item: Item) -> str:
    """Return a finding in words, such as "Moderate pleural effusion (right)"."""
    parts = [
        "possible" if item.uncertain else "",
        describe_degree(item),
        describe_observation(item.observation),
    ]
    text = " ".join(part for part in parts if part)
    place = describe_place(item.places, item.side)
    text = f"{text} ({place})" if place else text
    if item.diagnoses:
        text += f", read as {' or '.join(sorted(map(describe_observation, item.diagnoses)))}"
    return text[0].upper() + text[1:]
