"""Attaches places, sides, degrees, sizes and changes to the findings that they describe, and reads findings
that are stated as the state of a structure.

The module has, in this order: attributes other than changes (:func:`attach`), the choice of the finding that
an attribute describes (:func:`find_nearest`), changes (:func:`attach_changes`), and states such as "the
heart is enlarged" (:func:`read_states`).
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf
from typing import Any

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.phrases import NUMERALS, PhraseMatch, word_set
from radeval_lib.rules.reader.places import CONJUNCTIONS, OTHER_SIDE, find_greater_side, make_bilateral
from radeval_lib.rules.reader.records import (
    HOME,
    IGNORED,
    SEVERAL,
    WHOLE,
    Mention,
    NormalMention,
    Sense,
    Spot,
    Subject,
    normalize,
)
from radeval_lib.rules.reader.scope import BE

# Words before a place that locate a finding there: "in the left base".
_PREPOSITIONS = frozenset(
    ["in", "at", "within", "of", "over", "overlying", "near", "along", "involving", "on", "from", "to",
     "above", "projecting", "into", "through", "throughout", "toward", "the", "for", "about", "adjacent"]
)  # fmt: skip
# Words after a size that make it the distance of a tip: "3 cm above the carina".
_DISTANCES = frozenset(
    ["above", "below", "from", "proximal", "distal", "beyond", "superior", "inferior", "cephalad", "caudal",
     "cranial", "short", "away"]
)  # fmt: skip
# Words that can come between findings that share the side of the first: "left effusion and atelectasis".
_LIST_WORDS = frozenset(
    [",", "and", "/", "a", "an", "the", "with", "adjacent", "associated", "overlying", "mild", "small",
     "moderate", "large", "minimal", "trace", "compressive", "passive", "mildly"]
)  # fmt: skip
# Words of which at least one must come between such findings.
_LIST_LINKS = frozenset([",", "and", "/", "adjacent", "associated", "overlying"])
#: The cost of certain words between a modifier and a finding, added to the cost of 1 for any word.
SEPARATORS = {",": 3, "and": 4, "or": 4, "/": 2, "with": 4, "nor": 4, "without": 6, ":": 2, "(": 2, ")": 2}
_HIGHEST_COUNT = 20  # A greater number is not a count of findings.
_COUNTS = (
    NUMERALS
    | {"single": 1, "solitary": 1, "pair": 2}
    | dict.fromkeys(["several", "multiple", "many", "numerous", "innumerable"], SEVERAL)
)
# Words that cannot come between a number and the finding that it counts.
_COUNT_BARRIERS = BE | {*SEPARATORS} | word_set("of in on at the view image year month week day x there")
_CLEAR_WORDS = frozenset(["none", "no", "absent", "negative", "clear", "normal", "free"])
# Words between an organ and its size, and words after that size.
_MEASURE_WORDS = word_set(
    "measure measuring measured is are : at in size length about up to short axis diameter maximum maximal"
)
_AFTER_MEASURE = frozenset([",", "with", "without", "in", "long", "and", ")"])
#: A size that is larger than before by more than this factor has increased.
GROWTH = 1.15


def attach(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add places, sides, degrees, sizes, qualities, counts and grades to the mentions that they describe, in
    place, and mark their words as used.

    Words about an earlier state are ignored, except sizes, from which a change follows.
    """
    _attach_places(sentence, mentions)
    _share_places(sentence, mentions)
    _share_sides(sentence, mentions)
    _attach_sides(sentence, mentions)
    _attach_degrees(sentence, mentions)
    _attach_measurements(sentence, mentions)
    _attach_qualities(sentence, mentions)
    _attach_counts(sentence, mentions)
    _attach_grades(sentence, mentions)


def _attach_places(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add each place to the mention that it describes; a place within a finding's name counts only if the
    finding may be there."""
    for spot in sentence.select_current(sentence.spots):
        if all(sentence.normal[spot.first : spot.end]):
            continue  # "The right lung is clear" does not locate a finding.
        overlaps = [mention for mention in mentions if mention.first < spot.end and spot.first < mention.end]
        hosts = [mention for mention in overlaps if mention.first <= spot.first and spot.end <= mention.end]
        if overlaps and all(sense.key in sentence.vocab.devices for sense in overlaps[0].senses):
            # The vein in the name of a line is where the line is inserted, not where its tip is.
            sentence.use(spot.first, spot.end)
            if spot.value[0].location.side:
                overlaps[0].sides.append(spot.value[0].location.side)
        elif hosts:
            if _list_usual_places(sentence, hosts[0]) & {meaning.location.place for meaning in spot.value}:
                hosts[0].spots.append(spot.value)
                sentence.use(spot.first, spot.end)
        elif mention := _find_nearest_to_place(sentence, mentions, spot):
            mention.spots.append(spot.value)
            sentence.use(spot.first, spot.end)
            if _ends_at_landmark(sentence, mention, spot):
                mention.distance_mm = 0.0


def _list_usual_places(sentence: MarkedSentence, mention: Mention) -> set[str | None]:
    """Return the places where any of the observations for which a mention may stand can be."""
    return set().union(*(sentence.vocab.places.get(sense.key, ()) for sense in mention.senses))


def _find_nearest_to_place(
    sentence: MarkedSentence, mentions: list[Mention], place: PhraseMatch[Any]
) -> Mention | None:
    """Return the mention that a place describes, which after a preposition is preferably the mention before
    the place; None if all mentions are too far away."""
    place_start = place.first
    while quality := next((quality for quality in sentence.qualities if quality.end == place_start), None):
        place_start = quality.first  # "in the anterior left base"
    has_preposition = bool(place_start) and (
        sentence.words[place_start - 1].word in _PREPOSITIONS
        or any(other.end == place_start - 1 for other in sentence.spots)
    )
    return find_nearest(sentence, mentions, place, 0 if has_preposition else 4, 3 if has_preposition else 0)


def _attach_sides(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add each side that is named apart from a place to the mention that it describes."""
    for side in sentence.select_current(sentence.sides):
        mention = find_nearest(sentence, mentions, side, 2, 0)
        if mention is None or _is_clear_side(sentence, side, mention):
            continue
        mention.sides.append(side.value)
        is_compared = side in sentence.compared
        if is_compared:
            mention.greater = find_greater_side(sentence.words, side)
        sides = {spot.location.side for spots in mention.spots for spot in spots}
        if OTHER_SIDE.get(side.value) in sides - {None}:
            continue  # The side belongs to another place.
        is_apart = not any(spot.first < side.end and side.first < spot.end for spot in sentence.spots)
        if is_apart and is_compared and sentence.words[side.first].word not in ("left", "right"):
            # "At the left base greater than the right"
            mention.spots = [[make_bilateral(spot) for spot in spots] for spots in mention.spots]
        sentence.use(side.first, side.end)


def _is_clear_side(sentence: MarkedSentence, side: PhraseMatch[str], finding: Mention) -> bool:
    """Return whether a side is called clear, like the right side in "right clear, left effusion" and in
    "effusion: right none, left large"."""
    if finding.end <= side.first and sentence.get_words(side.end, side.end + 1) & _CLEAR_WORDS:
        sentence.use(side.first, side.end + 1)
        return finding.presence != "absent"
    span = range(side.end, finding.first)
    normal_states = (state for state in sentence.states if state.value == "normal" and state.first in span)
    state = next(normal_states, None)
    return state is not None and "," in sentence.get_words(state.first, finding.first)


def _attach_degrees(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the severity of mentions from words of degree; of several degrees of one finding, the highest
    counts."""
    for degree in sentence.select_current(sentence.degrees):
        # "Effusions, small on the left with atelectasis": the effusion is small
        earlier_mentions = [mention for mention in mentions if mention.first <= degree.first]
        refers_back = "on" in sentence.get_words(degree.end, degree.end + 1) and bool(earlier_mentions)
        candidates = earlier_mentions if refers_back else mentions
        if mention := find_nearest(sentence, candidates, degree, 4, 0, loose=True):
            mention.severity = max(degree.value, -1 if mention.severity is None else mention.severity)
            sentence.use(degree.first, degree.end)


def _ends_at_landmark(sentence: MarkedSentence, mention: Mention, spot: PhraseMatch[list[Spot]]) -> bool:
    """Return whether a tube ends at the landmark from which distances are measured: "tip at the carina"."""
    if spot.value[0].location.place != "above_carina" or sentence.sizes:
        return False
    words_before = sentence.get_words(max(0, spot.first - 4), spot.first)
    is_tube = any(sense.key == "ett" for sense in mention.senses)
    return is_tube and bool({"at", "below"} & words_before) and not words_before & (_DISTANCES - {"below"})


def _share_places(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add the place of a finding to the finding listed before it if both may be there: "opacities and
    scarring in the left base"."""
    for mention, next_mention in pairwise(mentions):
        gap = sentence.get_words(mention.end, next_mention.first)
        if mention.spots or mention.sides or not gap & CONJUNCTIONS or "," in gap:
            continue
        usual_places = _list_usual_places(sentence, mention)
        mention.spots = [
            spot.value
            for spot in sentence.spots
            if spot.first >= next_mention.end
            and any(spot.value is shared for shared in next_mention.spots)
            and usual_places & {meaning.location.place for meaning in spot.value}
        ]


def _share_sides(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add the side before a list to all findings in the list: "left effusion and atelectasis"."""
    side_by_end: dict[int, str] = {side.end: side.value for side in sentence.sides}
    if ":" in sentence.get_words(0, 5):  # "Left kidney: stone, hydronephrosis"
        colon = next(i for i, token in enumerate(sentence.words) if token.word == ":")
        heads = {spot.end: spot.value[0].location.side for spot in sentence.spots} | side_by_end
        if (side := heads.get(colon)) and all(end <= colon or heads[end] is None for end in heads):
            for mention in mentions[1:]:
                if any(sentence.vocab.takes_side(sense.key) for sense in mention.senses):
                    mention.sides.append(side)
            return
    shared_side: str | None = None
    for number, mention in enumerate(mentions):
        previous_end = mentions[number - 1].end if number else 0
        positions = range(mention.first, max(mention.first - 4, previous_end - 1), -1)
        own_side = next((side_by_end[i] for i in positions if i in side_by_end), None)
        if number and own_side is None and not mention.spots and shared_side is not None:
            gap = sentence.get_words(mentions[number - 1].end, mention.first)
            is_listed = gap <= _LIST_WORDS and gap & _LIST_LINKS
            if is_listed and any(sentence.vocab.takes_side(sense.key) for sense in mention.senses):
                mention.sides.append(shared_side)
                continue
        shared_side = own_side if own_side in ("left", "right") else None


def _attach_measurements(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the sizes, volumes and tip distances of mentions, and the change that follows from an earlier
    size."""
    for size in sentence.select_current(sentence.sizes):
        if _is_size_of_organ(sentence, mentions, size):
            continue
        if mention := find_nearest(sentence, mentions, size, 0, 0):
            sentence.use(size.first, size.end)
            if sentence.get_words(size.end, size.end + 1) & _DISTANCES:
                mention.distance_mm = size.value[0]
            else:
                mention.size_mm += size.value
                mention.span_mm = mention.span_mm or _read_size_limits(sentence, size)
    for volume in sentence.select_current(sentence.volumes):
        if mention := find_nearest(sentence, mentions, volume, 0, 0):
            mention.volume_ml = max(volume.value)
            sentence.use(volume.first, volume.end)
    for size in sentence.sizes:
        mention = find_nearest(sentence, mentions, size, 0, 0) if sentence.past[size.first] else None
        if mention is not None and mention.size_mm:
            earlier_size, size_now = max(size.value), max(mention.size_mm)
            has_grown, has_shrunk = size_now > GROWTH * earlier_size, size_now * GROWTH < earlier_size
            mention.change = "increased" if has_grown else "decreased" if has_shrunk else "unchanged"


def _read_size_limits(
    sentence: MarkedSentence, size: PhraseMatch[tuple[float, ...]]
) -> tuple[float, float] | None:
    """Return the smallest and largest diameter, in millimetres, that a size allows if it is not exact
    ("5-7 mm", "less than 1 cm"); None if it is exact."""
    start = max(0, size.first - 2)
    words_before, size_words = sentence.get_words(start, size.first), sentence.get_words(size.first, size.end)
    if words_before & (_BELOW_WORDS | _ABOVE_WORDS):
        sentence.use(start if "than" in words_before else size.first - 1, size.first)
    if words_before & _BELOW_WORDS or "sub" in size_words:
        return 0.0, max(size.value)
    if words_before & _ABOVE_WORDS:
        return max(size.value), inf
    if len(size.value) == 2 and size.end - size.first == 3 + ("to" in size_words):
        return min(size.value), max(size.value)
    return None


def _is_size_of_organ(sentence: MarkedSentence, mentions: list[Mention], size: PhraseMatch[Any]) -> bool:
    """Return whether a size is that of an organ with no finding before it in its clause, as in "kidney: 11
    cm"."""
    spot = next((spot for spot in reversed(sentence.spots) if spot.end <= size.first), None)
    if spot is None or any(
        sentence.scope.clause[spot.first] <= mention.first <= spot.first for mention in mentions
    ):
        return False
    gap = sentence.get_words(spot.end, size.first)
    words_after = sentence.get_words(size.end, size.end + 1)
    return bool(gap) and gap <= _MEASURE_WORDS and words_after <= _AFTER_MEASURE


def _attach_qualities(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Add qualities to the mentions that they describe, including those within a name ("old rib fracture"); a
    position within a name counts only as part of a place, and therefore not in "central line"."""
    for quality in sentence.select_current(sentence.qualities):
        if quality.value is None:
            continue
        is_position = quality.value[0] == "c"
        mention = next((item for item in mentions if item.first <= quality.first < item.end), None)
        if is_position and mention is None:
            mention = _find_nearest_to_place(sentence, mentions, quality)
        elif not is_position:
            mention = mention or find_nearest(sentence, mentions, quality, 4, 0)
        elif not any(spot.first <= quality.first < spot.end for spot in sentence.spots):
            continue
        if mention is not None:
            mention.qualities.add(quality.value)
            sentence.use(quality.first, quality.end)


def _attach_grades(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the grades, stages and categories of mentions: "grade II anterolisthesis", "Lung-RADS category
    4B"."""
    for grade in sentence.grades:
        mention_before = next((mention for mention in mentions if mention.end == grade.first), None)
        if mention := mention_before or find_nearest(sentence, mentions, grade, 2, 0):
            mention.grade = grade.value
            sentence.use(grade.first, grade.end)


def _attach_counts(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the counts of mentions: "two right upper lobe nodules", "multiple nodules"."""
    if not any(token.word in _COUNTS or token.word.isdecimal() for token in sentence.words):
        return
    grade_indices = {i for grade in sentence.grades for i in range(grade.first, grade.end)}
    size_indices = {i for size in (*sentence.sizes, *sentence.volumes) for i in range(size.first, size.end)}
    for i, token in enumerate(sentence.words):
        word = token.word
        count = int(word) if word.isdecimal() and int(word) <= _HIGHEST_COUNT else _COUNTS.get(word)
        if count is None or i in size_indices or i in grade_indices or sentence.past[i]:
            continue
        mention = next((mention for mention in mentions if i < mention.first <= i + 5), None)
        if mention is not None and not sentence.get_words(i + 1, mention.first) & _COUNT_BARRIERS:
            mention.count = count
            sentence.use(i, i + 1)


# The choice of the finding that a place, side, degree, size or change describes.


# Words after "which" that separate a sign from its diagnosis: "an opacity, which may be pneumonia".
_MODALS = frozenset(["may", "might", "could", "can", "probably", "possibly", "likely"])
#: The least cost, in words, at which a modifier is too far from a finding to describe it.
_TOO_FAR = 40


def find_nearest(
    sentence: MarkedSentence,
    mentions: list[Mention],
    modifier: PhraseMatch[Any],
    cost_after: int,
    cost_before: int,
    *,
    loose: bool = False,
) -> Mention | None:
    """Return the mention that a modifier describes, which is the mention with the lowest cost; None if all
    costs are at least :data:`_TOO_FAR`.

    The cost is the distance in words, plus ``cost_after`` or ``cost_before`` if the modifier comes after or
    before the mention, plus costs of separators and findings between them. A ``loose`` modifier that is alone
    in its clause may describe a mention in the clause before.
    """
    nearest_mention, least_cost = None, float(_TOO_FAR)
    for number, mention in enumerate(mentions):
        if modifier.end <= mention.first:
            cost = cost_before + _measure_distance(sentence, modifier.end, mention.first)
            cost += 6 * sum(modifier.end <= other.first < mention.first for other in mentions)
            cost += 5 * sum(token.word == "," for token in sentence.words[modifier.end : mention.first])
        elif modifier.first >= mention.end:
            cost = cost_after + _measure_distance(sentence, mention.end, modifier.first)
            cost += 6 * sum(mention.end <= other.first < modifier.first for other in mentions[number + 1 :])
        else:
            cost = 0
        # A modifier after a sign and before its interpretation describes the sign.
        after_sign = any(other.end <= modifier.first for other in mentions)
        cost += 8 * any(after_sign and modifier.end <= link < mention.first for link in sentence.scope.links)
        if _are_in_different_clauses(sentence, modifier.first, mention.first, mentions, loose):
            cost += _TOO_FAR
        if cost < least_cost:
            nearest_mention, least_cost = mention, cost
    return nearest_mention


def _are_in_different_clauses(
    sentence: MarkedSentence, modifier_index: int, name_index: int, mentions: list[Mention], loose: bool
) -> bool:
    """Return whether the words at two indices, a modifier and the first word of a name, are in different
    clauses; not if the first clause introduces the name, as in "in the left base there is ...".

    If ``loose``, a modifier that is alone in its clause counts as part of the clause before.
    """
    clause, name_clause = sentence.scope.clause[modifier_index], sentence.scope.clause[name_index]
    first_words = [match.first for match in mentions] + [match.first for match in sentence.subjects]
    if loose and clause and all(sentence.scope.clause[first] != clause for first in first_words):
        clause = sentence.scope.clause[clause - 1]  # "a pneumothorax, which is unchanged"
    leads_to_name = (
        clause < name_clause
        and sentence.words[name_clause].word == "there"
        and sentence.scope.clause[name_clause - 1] == clause
        and not any(clause <= match.first < name_clause for match in mentions)
        and not BE & sentence.get_words(modifier_index, name_clause)
    )
    return clause != name_clause and not leads_to_name


def _measure_distance(sentence: MarkedSentence, first: int, end: int) -> int:
    """Return the number of words from index ``first`` to before ``end``, plus the costs of separators among
    them and of "which may", which separates a sign from its diagnosis."""
    words = [token.word for token in sentence.words[first : end + 1]]
    distance = end - first + sum(SEPARATORS.get(word, 0) for word in words[: end - first])
    if "which" in words:
        distance += 4 * sum(word == "which" and next_word in _MODALS for word, next_word in pairwise(words))
    return distance


# Changes, and the findings that they describe.


# Words by which a change describes both findings before it: "effusion and atelectasis are stable".
_PLURAL_WORDS = frozenset(["are", "have", "were", "all", "both", "each"])
# Words between two findings that show that these are not items of one list.
_NOT_IN_LIST = BE | {"with", "without", "no", "but", "which", "or", "than", "there"}


def attach_changes(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the change of the nearest mention, and of those listed with it, for each word of change, in place.

    Words about an earlier state are ignored. Words that give a finding its change, or that are part of a
    finding's name, are marked as used.
    """
    for change in sentence.select_current(sentence.changes):
        is_of_whole_study = any(
            subject.first == change.end and subject.value[0].key == WHOLE for subject in sentence.subjects
        )
        if is_of_whole_study or _is_part_of_name(sentence, change, mentions):
            sentence.use(change.first, change.end)
            continue
        targets = _select_targets(sentence, change, mentions)
        mention = find_nearest(sentence, targets, change, 1, 0, loose=True)
        if mention is None or _change_describes_structure(sentence, change, mentions):
            continue
        if mention.change in (None, change.value) and not _change_describes_normal(sentence, change, mention):
            mention.change = change.value
            _share_change(sentence, change, mention, mentions)
            if not _change_may_describe_others(sentence, change, mention, mentions):
                sentence.use(change.first, change.end)


def _select_targets(
    sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]
) -> list[Mention]:
    """Return the mentions that a change can describe: not those denied after it ("again noted without
    fracture"), and not the diagnoses of a sign before it ("a nodule, stable, and read as a granuloma")."""
    after_sign = any(mention.end <= change.first for mention in mentions)
    links = (link for link in sentence.scope.links if after_sign and link > change.first)
    first_link = min(links, default=None)
    targets = [
        mention
        for mention in mentions
        if mention.first < change.first
        or (mention.presence != "absent" and (first_link is None or mention.first < first_link))
    ]
    return mentions if sentence.scope.denied[change.first] else targets


def _is_part_of_name(sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]) -> bool:
    """Return whether a word of change is part of a finding's name, as in "the vascularity is increased"."""
    if any(mention.first <= change.first < mention.end for mention in mentions):
        return True
    word = sentence.words[change.first].word
    return any(
        word in sense.prefix and 0 <= mention.first - change.end <= 5
        for mention in mentions
        for sense in mention.senses
    )


def _change_describes_structure(
    sentence: MarkedSentence, change: PhraseMatch[str], mentions: list[Mention]
) -> bool:
    """Return whether a change describes a structure, and therefore no finding.

    Only structures in ``normal_if_stable`` of the vocabulary count. There are three cases:

    1. The change comes before the structure, directly or with only "the", "appearance" or "of" between them:
       "stable mediastinum with tortuous aorta".
    2. The change comes after the structure, with at least one word between them, all of which are in ``BE``
       or are "grossly" or "also": "the mediastinum is stable".
    3. A comma comes before the change, and between it and the next comma there is a structure, but no finding
       begins there: "large heart, mediastinum stable".

    In the first two cases, a structure inside the words of a finding does not count, and neither does one
    that begins at most three words after a finding without a separator ("with", "in" ...) between them.
    """
    for match in sentence.subjects:
        # In "the tortuous aorta is stable" the change describes the finding, not the structure.
        if match.value[0].key not in sentence.vocab.normal_if_stable or any(
            mention.char_start <= sentence.words[match.first].start < mention.char_end
            or (
                mention.end <= match.first <= mention.end + 3
                and not sentence.get_words(mention.end, match.first) & {",", "with", "and", "without", "in"}
            )
            for mention in mentions
        ):
            continue
        gap = sentence.get_words(*sorted((match.first, match.end, change.first, change.end))[1:3])
        change_follows_structure = match.end <= change.first and gap and gap <= BE | {"grossly", "also"}
        if change_follows_structure or (change.end <= match.first and gap <= {"the", "appearance", "of"}):
            return True
    commas = [i for i, token in enumerate(sentence.words) if token.word == ","]
    comma_before = max((i for i in commas if i < change.first), default=-1)
    comma_after = min((i for i in commas if i > change.first), default=len(sentence.words))
    return (
        comma_before >= 0
        and any(
            comma_before < match.first < comma_after and match.value[0].key in sentence.vocab.normal_if_stable
            for match in sentence.subjects
        )
        and not any(comma_before < match.first < comma_after for match in mentions)
    )


def _change_describes_normal(sentence: MarkedSentence, change: PhraseMatch[str], finding: Mention) -> bool:
    """Return whether a change is nearer to the words of a normal statement than to the finding: "the
    heart remains normal"."""

    def distance_to(first: int, end: int) -> int:
        return max(first - change.end, change.first - end, 0)

    normal_indices = [i for i, normal in enumerate(sentence.normal) if normal]
    return any(distance_to(i, i + 1) < distance_to(finding.first, finding.end) for i in normal_indices)


def _share_change(
    sentence: MarkedSentence, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]
) -> None:
    """Set the change of the findings in a list with ``owner``, the finding that the change describes: "stable
    effusion and atelectasis"."""
    owner_number = mentions.index(owner)
    if change.end <= owner.first:  # The change comes before the list.
        listed_pair = mentions[owner_number : owner_number + 2]
        gap = sentence.get_words(listed_pair[0].end, listed_pair[-1].first)
        # "Unchanged appearance of the left nodule and the right mass"
        is_of_all = "appearance" in sentence.get_words(change.end, owner.first) and not gap & _NOT_IN_LIST
        is_joined = gap <= {"and", "/"} or (is_of_all and "and" in gap)
        others = listed_pair[1:] if is_joined else []
    else:
        gap = sentence.get_words(owner.end, change.first)
        is_plural = bool(gap & _PLURAL_WORDS)
        # "Effusion and atelectasis, unchanged", "... as before"
        is_bare = change.value == "unchanged" and not gap & (BE | {"with", "which", "that"})
        others = []
        for mention, next_mention in reversed(list(pairwise(mentions[: owner_number + 1]))):
            gap = sentence.get_words(mention.end, next_mention.first)
            is_list = gap & {"and", ","} and not gap & _NOT_IN_LIST
            if not (gap == {"/"} or (is_list and (is_plural or (is_bare and "," not in gap)))):
                break
            others.append(mention)
    for mention in others:
        if mention.change is None and mention.presence == owner.presence != "absent":
            mention.change = change.value


def _change_may_describe_others(
    sentence: MarkedSentence, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]
) -> bool:
    """Return whether a change after its finding, ``owner``, may also describe the finding before ``owner``:
    "and", "with" or "/" joins the two findings without a verb or comma between them."""
    others = [mention for mention in mentions if mention.first < owner.first and mention.presence != "absent"]
    if change.first < owner.end or not others or others[-1].change == change.value:
        return False
    gap = sentence.get_words(others[-1].end, owner.first)
    return bool(gap & {"and", "with", "/"}) and not gap & (BE | {","})


# Findings and normal structures that are stated by a structure and its state: "the heart is enlarged".


# Words that can come between a state and its structure: "normal size and contour of the heart".
_ASPECTS = frozenset(["size", "configuration", "contour", "appearance", "and", "of", "the", "in", "shape"])
#: Names of findings that are part of the next name: "calcified small granuloma".
ADJECTIVES = frozenset(["calcified", "nodular", "consolidative", "cavitary", "fibrotic", "degenerative"])
# Verbs whose subject is not the structure in the state: "the chest shows the heart to be large".
_SHOWING = frozenset(["demonstrate", "demonstrated", "show", "reveal", "shown"])
# Words with which a new clause begins.
_CLAUSE_STARTS = frozenset(["there", "no", "but", "which", "demonstrate", "show"])
_MAX_RATIO = 0.5  # the highest normal ratio of heart to thorax on a frontal view
_ABOVE_WORDS = frozenset(["exceed", "above", "over", "greater", "more", "larger", ">"])
_BELOW_WORDS = frozenset(["below", "under", "less", "smaller", "<"])
# Words after a normal state that describes no structure: "clear of effusion", "in satisfactory position".
_NOT_OF_SUBJECT = frozenset(["of", "from", "position", "positioning"])


def read_states(sentence: MarkedSentence) -> tuple[list[Mention], list[NormalMention]]:
    """Return the findings and the normal structures that are stated by a structure and a state: "heart is
    enlarged", "clear lungs".

    The function goes through structures, states, names of findings and separators from left to right.
    Structures (``pending``) wait for a state that follows in their clause; a state that comes first
    (``waiting_state``) waits for structures right after it. ``described`` are the structures of the last
    state, to which a second state may be added. The name of a finding ends all three, and until the next
    separator (``is_blocked``) no structure waits.
    """
    mentions, normals = _read_heart_ratio(sentence)
    pending: list[PhraseMatch[list[Subject]]] = []
    waiting_state: PhraseMatch[str] | None = None  # a state that comes before its structures
    state_end = 0  # the index after the last structure in that state
    described: list[PhraseMatch[list[Subject]]] = []  # structures that may get a second state
    is_blocked = False
    for i, kind, match in _list_events(sentence):
        if pending and sentence.scope.clause[i] != sentence.scope.clause[pending[-1].first]:
            pending = []
        if kind == "break":
            is_blocked = False
            described = [] if match == "with" else described
        elif kind == "named":
            described = pending if _is_predicate(sentence, match, pending) else []
            is_blocked, pending, waiting_state = True, [], None
        elif kind == "subject":
            described = described if waiting_state is None and not is_blocked else []
            # "The chest shows the heart to be large", "Chest: heart normal"
            if pending and sentence.get_words(pending[-1].end, i) & {*_SHOWING, ":"}:
                pending = []
            # "normal size and contour of the heart"
            if waiting_state is not None and (
                i - state_end <= 3 or sentence.get_words(state_end, i) <= _ASPECTS
            ):
                _add_state_mentions(sentence, [match], waiting_state, mentions, normals)
                state_end = match.end
            elif not is_blocked:
                pending.append(match)
                described = []
        elif pending or described:
            if _add_state_mentions(sentence, pending or described, match, mentions, normals):
                pending, described = [], pending or described
        elif match.value in ("normal", "abnormal") or not is_blocked:
            waiting_state, state_end = match, match.end
    return mentions, normals if normals or mentions else _find_stable_structures(sentence)


def _list_events(sentence: MarkedSentence) -> list[tuple[int, str, Any]]:
    """Return the structures, states, names and separators of a sentence as (index of the first word,
    kind, match or word), in order."""
    events: list[tuple[int, str, Any]] = [(match.first, "subject", match) for match in sentence.subjects]
    events += [(match.first, "state", match) for match in sentence.states]
    events += [(match.first, "named", match) for match in sentence.names]
    events += [
        (i, "break", token.word)
        for i, token in enumerate(sentence.words)
        if token.word in (",", "and", "with", "otherwise")
    ]
    return sorted(events, key=lambda event: event[0])


def _read_heart_ratio(sentence: MarkedSentence) -> tuple[list[Mention], list[NormalMention]]:
    """Return the enlarged or the normal heart that a cardiothoracic ratio states ("cardiothoracic ratio of
    0.56"); without a ratio, the structures whose stated size is too large."""
    words = sentence.words
    for subject in sentence.subjects:
        if words[subject.first].word not in ("ctr", "cardiothoracic"):
            continue
        for i in range(subject.end, min(subject.end + 5, len(words))):
            if not re.fullmatch(r"0?\.\d+|\d\d", words[i].word):
                continue
            gap = sentence.get_words(subject.end, i)
            ratio = float(words[i].word) / (100 if len(words[i].word) == 2 else 1)
            is_large = ratio > _MAX_RATIO or (ratio == _MAX_RATIO and bool(gap & _ABOVE_WORDS))
            sentence.use(subject.first, i + 1)
            if is_large and not gap & _BELOW_WORDS:
                return [sentence.build_mention(subject.first, subject.end, [Sense("cardiomegaly", HOME)])], []
            span = words[subject.first].start, words[i].end
            return [], [NormalMention(subject.value, "normal", *span, None)]
    return _find_enlarged_structures(sentence), []


def _find_enlarged_structures(sentence: MarkedSentence) -> list[Mention]:
    """Return mentions of the structures whose stated size is at or above their limit: "ascending aorta
    measures 4.6 cm"."""
    enlarged, sizes = [], sentence.select_current(sentence.sizes)
    for match in sentence.limits:
        limit, observation = match.value
        size = next((size for size in sizes if size.first >= match.end), None)
        gap = sentence.get_words(match.end, size.first) if size is not None else set()
        if size is not None and max(size.value) >= limit and gap and gap <= _MEASURE_WORDS:
            sentence.use(match.first, size.end)
            enlarged.append(sentence.build_mention(match.first, match.end, [Sense(observation, HOME)]))
    return enlarged


def _is_predicate(
    sentence: MarkedSentence, name: PhraseMatch[list[Sense]], subjects: list[PhraseMatch[list[Subject]]]
) -> bool:
    """Return whether the name of a finding is a state of the structures before it, as in "the lungs are
    hyperinflated but clear"."""
    if not subjects or not BE & sentence.get_words(subjects[-1].end, name.first):
        return False
    keys = {subject_sense.key for subject in subjects for subject_sense in subject.value}
    states = {key for (structure, _), key in sentence.vocab.abnormal_states.items() if structure in keys}
    return bool(states & {sense.key for sense in name.value})


def _add_state_mentions(
    sentence: MarkedSentence,
    subjects: list[PhraseMatch[list[Subject]]],
    state: PhraseMatch[str],
    mentions: list[Mention],
    normals: list[NormalMention],
) -> bool:
    """Add to ``mentions`` or ``normals``, in place, an entry for each structure to which a state applies;
    return whether it applies to any."""
    text = normalize(" ".join(token.word for token in sentence.words[state.first : state.end]))
    if state.value != "normal":
        abnormal = [
            mention for subject in subjects if (mention := _get_state_finding(sentence, subject, state, text))
        ]
        mentions += abnormal
        return bool(abnormal)
    # "Clear of effusion" denies only the effusion; "in satisfactory position" describes a device.
    if sentence.scope.denied[state.first] or sentence.get_words(state.end, state.end + 1) & _NOT_OF_SUBJECT:
        return False
    # Some states, such as "anterior", are normal only for one structure, here the placenta.
    states = sentence.vocab.entry_states
    described = [
        subject
        for subject in subjects
        if text in sentence.vocab.normal or any(text in states.get(sense.key, ()) for sense in subject.value)
    ]
    sentence.use_all([state, *described] if described else [])
    for subject in described:
        for i in (*range(subject.first, subject.end), *range(state.first, state.end)):
            sentence.normal[i] = True
        change = _find_change(sentence, subject.first, max(state.end, subjects[-1].end))
        start, *_, end = sorted([subject.first, subject.end, state.first, state.end])
        span = sentence.words[start].start, sentence.words[end - 1].end
        normals.append(NormalMention(subject.value, text, *span, change))
    return bool(described)


def _get_state_finding(
    sentence: MarkedSentence, subject: PhraseMatch[list[Subject]], state: PhraseMatch[str], text: str
) -> Mention | None:
    """Return the finding that a structure and its abnormal state express; None if there is none.

    ``text`` is the normalized text of the state.
    """
    phrase = " ".join(token.word for token in sentence.words[subject.first : subject.end])
    observation = f"not {subject.value[0].key}" if state.value == "abnormal" else None
    for key in (*(sense.key for sense in subject.value), phrase):
        observation = observation or sentence.vocab.abnormal_states.get((key, text))
    if observation is None:
        return None
    region = subject.value[0].region or HOME
    mention = sentence.build_mention(state.first, state.end, [Sense(observation, region)])
    mention.char_start = min(mention.char_start, sentence.words[subject.first].start)
    mention.char_end = max(mention.char_end, sentence.words[subject.end - 1].end)
    sentence.use_all([state, subject])
    return mention


def _find_change(sentence: MarkedSentence, first: int, end: int) -> str | None:
    """Return the change that is stated within three words of a normal structure, and mark it as used;
    None if there is none."""
    for change in sentence.changes:
        # A change after a comma may describe the next structure.
        next_positions = range(change.end, change.end + 4)
        is_of_next = "," in sentence.get_words(end, change.first) and any(
            subject.first in next_positions for subject in sentence.subjects
        )
        if first - 3 <= change.first <= end + 3 and not is_of_next:
            sentence.use(change.first, change.end)
            return change.value
    return None


def _find_stable_structures(sentence: MarkedSentence) -> list[NormalMention]:
    """Return the structures that are called stable, which counts as normal in a sentence without a
    finding: "stable cardiomediastinal silhouette"."""
    if sentence.names:
        return []
    stable_words = [match for match in sentence.changes if match.value == "unchanged"]
    subjects = [
        match
        for match in sentence.subjects
        if {sense.key for sense in match.value} & sentence.vocab.normal_if_stable
    ]
    normals = []
    for subject in subjects:
        start, end = sentence.words[subject.first].start, sentence.words[subject.end - 1].end
        if any(_is_near_stable(sentence, match, subject) for match in stable_words):
            normals.append(NormalMention(subject.value, "stable", start, end, "unchanged"))
    if normals:
        sentence.use_all([*stable_words, *subjects])
    return normals


def _is_near_stable(
    sentence: MarkedSentence, stable: PhraseMatch[str], subject: PhraseMatch[list[Subject]]
) -> bool:
    """Return whether a word for "stable" describes a structure: their first words are at most five words
    apart, or no word between them begins a clause or is "with" or "without"."""
    first_span, second_span = sorted([(stable.first, stable.end), (subject.first, subject.end)])
    gap = sentence.get_words(first_span[1], second_span[0])
    return abs(stable.first - subject.first) <= 5 or not gap & (_CLAUSE_STARTS | {"with", "without"})


def find_stacked_states(sentence: MarkedSentence) -> list[Mention]:
    """Return mentions of the states before a name that contains their structure, such as "calcified" in
    "calcified tortuous aorta"."""
    further_mentions = []
    for name in sentence.names:
        if name.value[0].key == IGNORED:
            continue
        texts = [token.word for token in sentence.words[name.first : name.end]]
        # The structures within the name, and then the word before the name and before further states.
        keys = {match.key for subject in sentence.vocab.subjects.find(texts) for match in subject.value}
        i = name.first - 1
        while i >= 0 and sentence.words[i].word in ("and", ",", "/", "mildly", "slightly"):
            i -= 1
        states = (sentence.vocab.abnormal_states.get((key, sentence.words[i].word)) for key in sorted(keys))
        is_change = any(match.first <= i < match.end for match in sentence.changes)
        key = next(filter(None, states), None) if i >= 0 and not is_change else None
        is_taken = any(match.first <= i < match.end for match in sentence.spots) or any(
            match.first <= i < match.end and sentence.words[i].word not in ADJECTIVES
            for match in sentence.names
        )
        if key is not None and not is_taken and key not in {sense.key for sense in name.value}:
            further_mentions.append(sentence.build_mention(i, i + 1, [Sense(key, HOME)]))
            sentence.use(i, i + 1)
    return further_mentions
