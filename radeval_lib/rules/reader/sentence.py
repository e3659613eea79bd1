"""Parses a sentence into mentions of findings and of normal structures, with their attributes.

>>> [(one.presence, one.severity) for one in parse("Small left effusion, no pneumothorax").mentions]
[('present', 1), ('absent', None)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from operator import attrgetter
from typing import Any

from radeval_lib.rules.reader.attributes import (
    ADJECTIVES,
    SEPARATORS,
    attach,
    attach_changes,
    find_stacked_states,
    read_states,
)
from radeval_lib.rules.reader.changes import DATES, NOW, skip
from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.reader.records import HOME, IGNORED, Mention, Parsed, Sense, Unused
from radeval_lib.rules.reader.scope import BE
from radeval_lib.rules.reader.vocabulary import load_vocabulary
from radeval_lib.rules.report_text import MASK

_FIRST = attrgetter("first")
# Words that make two findings uncertain, and two diagnoses alternatives, if they come between them.
_EITHER = frozenset(["or", "versus", "vs"])
# Words between two diagnoses of one sign: "pneumonia or less likely atelectasis".
_CHOICE = _EITHER | frozenset(
    ["and", "/", "possibly", "possible", "less", "likely", "focal", "early", "superimposed", "a", MASK]
)


_NEXT_TO_DATES = DATES | {"/", ":", MASK} | word_set("series image slice view day hour am pm dated")


# Findings that can be equated with a more specific one: "the opacity is atelectasis".
_OPAQUE = frozenset(["opacity", "nodule", "lung_mass", "airspace_disease", "infiltrate", "consolidation"])
# Words that can come between a side and its attribute, and words between two such pairs.
_NEXT_TO_SIDES = frozenset(["on", "in", "at", "the", "is", "are", "one", "side", "(", ":"])
_BETWEEN_SIDES = frozenset(["and", ",", "but", "while", "whereas", "with", "the", ")", "/"])
# Verbs by which a clause without a finding's name states something about a side.
_STATING_VERBS = BE | {"persist", "persists", "resolved", "cleared", "seen", "gone", "not"}


@lru_cache(maxsize=65536)
def parse(text: str, side: str = "") -> Parsed:
    """Return the mentions of findings and normal structures in a sentence; the result is cached and must not
    be changed.

    ``side`` is the last side that earlier sentences name, for words such as "contralateral".
    """
    sentence = MarkedSentence(text, load_vocabulary(), side)
    mentions = [
        sentence.build_mention(match.first, match.end, _narrow_senses(sentence, match))
        for match in sentence.named
        if match.value[0].key != IGNORED
    ]
    state_mentions, normals = read_states(sentence)
    mentions = sorted([*mentions, *state_mentions], key=_FIRST)
    mentions = [mention for mention in mentions if not sentence.scope.hypothetical[mention.first]]
    # "Previously a 2 cm nodule, now 3 cm" states a nodule, although its name is in the past.
    mentions = [mention for mention in mentions if not sentence.past[mention.first]] or (
        mentions if not normals and NOW & sentence.get_words(0, len(sentence.words)) else []
    )
    mentions = sorted([*_drop_parts_of_names(sentence, mentions), *find_stacked_states(sentence)], key=_FIRST)
    mentions = sorted([*mentions, *_find_other_sides(sentence, mentions)], key=_FIRST)
    _doubt_alternatives(sentence, mentions)
    _link_signs(sentence, mentions)
    # A phrase that is not a finding ("aeration") takes its own attributes, so that no finding gets them.
    word_texts = [word.word for word in sentence.words]
    ignored_mentions = [
        sentence.build_mention(match.first, match.end, match.value)
        for match in sentence.named
        if match.value[0].key == IGNORED
        and " ".join(word_texts[match.first : match.end]) in sentence.vocab.no_findings
    ]
    parts = _split_by_side(sentence, mentions)
    if owners := sorted([*mentions, *ignored_mentions, *(part for _, part in parts)], key=_FIRST):
        attach(sentence, owners)
        attach_changes(sentence, owners)
    mentions += _divide_by_side(parts)
    if normals and not mentions:
        sentence.use_all(sentence.spots)
        sentence.use_all(sentence.sides)
    used, unused = measure_usage(sentence, mentions)
    spots = tuple(spot.value for spot in sentence.spots)
    return Parsed(tuple(mentions), tuple(normals), spots, used, unused, tuple(sentence.misspelt))


def _narrow_senses(sentence: MarkedSentence, match: PhraseMatch[list[Sense]]) -> list[Sense]:
    """Return the senses of a name, limited to the structure if the name is general: "The bones show no acute
    abnormality" is about the bones."""
    if match.value[0].key == "acute_disease":
        for subject in sentence.subjects:
            observation = sentence.vocab.no_abnormality.get(subject.value[0].key)
            if observation and subject.end <= match.first <= subject.end + 6:
                return [Sense(observation, HOME)]
    return match.value


def _find_other_sides(sentence: MarkedSentence, mentions: list[Mention]) -> list[Mention]:
    """Return mentions of the findings of clauses that name a side but no finding: "right effusion
    resolved but the left remains"."""
    more: list[Mention] = []
    clauses = sentence.scope.clause
    if not mentions or not any(clauses):
        return more
    for side in sentence.sides:
        begin = clauses[side.first]
        earlier = [mention for mention in mentions if mention.end <= begin]
        inside = [at for at, first in enumerate(clauses) if first == begin]
        phrases = (*sentence.named, *sentence.subjects, *sentence.spots, *more)
        has_verb = bool(sentence.get_words(begin, inside[-1] + 1) & _STATING_VERBS)
        is_named = side.value == "bilateral" or any(phrase.first in inside for phrase in phrases)
        if earlier and has_verb and not is_named:
            more.append(sentence.build_mention(side.first, side.end, earlier[-1].senses))
    return more


def _split_by_side(sentence: MarkedSentence, mentions: list[Mention]) -> list[tuple[Mention, Mention]]:
    """Return (finding, mention of one of its sides) for findings whose sides differ in degree, size or
    change.

    Examples: "moderate right and small left effusions", "effusions, moderate on the right and small on the
    left", "small left and no right effusion". The last side of a list before the name belongs to the finding
    itself and is not returned.
    """
    sided = [spot for spot in sentence.spots if spot.value[0].location.side] + sentence.sides
    if len(sided) < 2 or not mentions:
        return []
    denials = [cue for cue in sentence.scope.forward_cues if cue.value == "negation_before"]
    attributes: list[PhraseMatch[Any]] = [*sentence.degrees, *sentence.sizes, *sentence.changes, *denials]
    pairs: list[tuple[int, int, str | None]] = []
    for side in sorted(sided, key=_FIRST):
        next_position = skip(sentence.words, side.end, _NEXT_TO_SIDES)
        for match in sorted(attributes, key=_FIRST):
            is_adjacent = (
                match.first == next_position or skip(sentence.words, match.end, _NEXT_TO_SIDES) == side.first
            )
            first, end = min(match.first, side.first), max(match.end, side.end)
            if is_adjacent and all(first >= pair[1] or end <= pair[0] for pair in pairs):
                pairs.append((first, end, match.value if match in sentence.changes else None))
                break
    parts = []
    for pair, following in pairwise(pairs):
        between = sentence.get_words(pair[1], following[0])
        after = next((each for each in mentions if 0 <= each.first - following[1] <= 1), None)
        before = next((each for each in reversed(mentions) if 0 <= pair[0] - each.end <= 2), None)
        owner = before if after is None else after
        overlaps = any(pair[0] < each.end and each.first < following[1] for each in mentions)
        if owner is None or overlaps or not between or between - _BETWEEN_SIDES:
            continue
        for first, end, change in (pair,) if after is not None else (pair, following):
            part = sentence.build_mention(first, end, owner.senses)
            parts.append(
                (owner, replace(part, char_start=owner.char_start, char_end=owner.char_end, change=change))
            )
    return parts


def _divide_by_side(parts: list[tuple[Mention, Mention]]) -> list[Mention]:
    """Return the mentions of further sides; the first one behind its finding is not returned, but replaces
    the finding's own side, degree, size and change, in place.

    ``parts`` are the pairs that :func:`_split_by_side` returns.
    """
    further_mentions, divided_owners = [], set()
    for owner, part in parts:
        part.change = part.change or owner.change
        if owner.end <= part.first and id(owner) not in divided_owners:
            divided_owners.add(id(owner))
            owner.sides, owner.spots, owner.severity = part.sides, part.spots, part.severity
            owner.size_mm, owner.span_mm, owner.change = part.size_mm, part.span_mm, part.change
        else:
            part.sign_of = owner.sign_of
            further_mentions.append(part)
    return further_mentions


def _drop_parts_of_names(sentence: MarkedSentence, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions without those that are part of the next mention."""
    pairs = zip_longest(mentions, mentions[1:])
    return [
        mention for mention, after in pairs if after is None or not _belongs_to_next(sentence, mention, after)
    ]


def _belongs_to_next(sentence: MarkedSentence, mention: Mention, after: Mention) -> bool:
    """Return whether a mention and the next one, ``after``, are one finding: "calcified small granuloma",
    "lines and tubes: ETT", "fracture of a sternotomy wire"."""
    between = sentence.get_words(mention.end, after.first)
    is_adjective = mention.end == mention.first + 1 and sentence.words[mention.first].word in ADJECTIVES
    if is_adjective and after.first - mention.end <= 5 and not SEPARATORS.keys() & between:
        return True
    is_heading = all(sense.key == "tubes_lines" for sense in mention.senses)
    has_colon = ":" in sentence.get_words(mention.end, mention.end + 1)
    return (is_heading and has_colon) or _is_device_fracture(sentence, mention, after)


def _is_device_fracture(sentence: MarkedSentence, mention: Mention, after: Mention) -> bool:
    """Return whether a fracture is that of a device, which is no finding of a bone: "fracture of a sternotomy
    wire"."""
    if not all(sense.key in sentence.vocab.devices for sense in after.senses):
        return False
    names_fracture = sentence.get_words(mention.first, mention.end) & {"fracture", "fx"}
    is_near = after.first - mention.end <= 4
    return bool(names_fracture) and is_near and "of" in sentence.get_words(mention.end, after.first)


def _doubt_alternatives(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set two findings to uncertain, in place, if "or" or "versus" joins them: "atelectasis or scarring"."""
    for mention, after in pairwise(mentions):
        between = sentence.get_words(mention.end, after.first)
        is_near = after.first - mention.end <= 5 and not between & {",", "with"}
        if is_near and between & _EITHER and mention.presence != "absent" and after.presence != "absent":
            for either in (mention, after):
                either.probable = either.probable or either.presence == "present"
                either.presence = "uncertain"


def _link_signs(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the diagnoses of signs, in place: "opacity, suggestive of pneumonia", "the opacity is
    atelectasis"."""
    for link in sentence.scope.links:
        signs = [
            number
            for number, mention in enumerate(mentions)
            if mention.end <= link
            and sentence.scope.clause[link] <= mention.first
            and mention.presence != "absent"
        ]
        diagnoses = [
            number
            for number, mention in enumerate(mentions)
            if link < mention.first <= link + 12 and sentence.scope.doubted[mention.first]
        ]
        if signs and diagnoses and not mentions[signs[-1]].sign_of:
            mentions[signs[-1]].sign_of = _select_joined_diagnoses(sentence, mentions, diagnoses)
    for number, mention in enumerate(mentions):
        # "The opacity at the left base is atelectasis", "the opacity is not a nodule but a nipple shadow"
        stated_after = [at for at in range(number + 1, len(mentions)) if mentions[at].presence != "absent"]
        if not stated_after or mention.presence == "absent" or mention.sign_of:
            continue
        first = mentions[stated_after[0]].first
        verbs = {"is", "are"} | ({"but"} if stated_after[0] > number + 1 else set())
        between = sentence.get_words(mention.end, first)
        is_equated = between & {"is", "are"} and sentence.get_words(first - 2, first) & verbs
        is_opacity = any(sense.key in _OPAQUE for sense in mention.senses)
        if is_equated and not between & {",", "and"} and is_opacity:
            mention.sign_of = (stated_after[0],)


def _select_joined_diagnoses(
    sentence: MarkedSentence, mentions: list[Mention], diagnoses: list[int]
) -> tuple[int, ...]:
    """Return the first of the diagnoses, and those that "or" joins to it without a place between them.

    ``diagnoses`` are indices of ``mentions``.
    """
    last_index = 0
    for mention, after in pairwise(diagnoses):
        between = sentence.get_words(mentions[mention].end, mentions[after].first)
        if not between <= _CHOICE or not between & (_EITHER | {"/"}):
            break
        last_index += 1
    return tuple(diagnoses[: last_index + 1])


# The words of a sentence that were used in reading it, and those that were not.


def measure_usage(sentence: MarkedSentence, mentions: list[Mention]) -> tuple[int, tuple[Unused, ...]]:
    """Return the number of meaningful words that were used in reading a sentence, and the meaningful words
    that were not.

    ``mentions`` are the findings that were read. Words about earlier or hypothetical states are not counted.
    """
    sentence.use_all(sentence.named)
    kinds = _classify_words(sentence, mentions)
    # "Calcified" is a finding of its own in "tortuous calcified aorta"
    calcified = any(sense.key in sentence.vocab.calcified for mention in mentions for sense in mention.senses)
    looks = sentence.vocab.looks - ({"calcified"} if not calcified else set()) if mentions else frozenset()
    needless = sentence.vocab.passed_over | looks
    neutral = {at for each in sentence.qualities if not each.value for at in range(each.first, each.end)}
    used, unused = 0, []
    for at, (word, start, end) in enumerate(sentence.words):
        if sentence.past[at] or sentence.scope.hypothetical[at] or not word[-1].isalnum():
            continue
        ignored = (
            word in needless
            or at in neutral
            or (len(word) == 1 and not word.isdigit())
            or (word == "interval" and at > 0 and sentence.words[at - 1].word == "the")
            or _degree_adds_nothing(sentence, at)
        )
        if sentence.used[at]:
            used += not ignored
            continue
        ignored = ignored or (word.isdigit() and (not mentions or _is_date_number(sentence, at)))
        if kinds[at] or not ignored:
            unused.append(Unused(start, end, kinds[at] or "word"))
    return used, tuple(dict.fromkeys(unused))


def _is_date_number(sentence: MarkedSentence, at: int) -> bool:
    """Return whether a number is part of a date or counts an image: "3/4/2019", "series 4"."""
    word = sentence.words[at].word
    if len(word) == 4 and word.startswith(("19", "20")):
        return True  # The number is a year.
    neighbours = sentence.get_words(max(0, at - 1), at) | sentence.get_words(at + 1, at + 2)
    return bool(neighbours & _NEXT_TO_DATES)


def _degree_adds_nothing(sentence: MarkedSentence, at: int) -> bool:
    """Return whether a word of degree without a step describes a change or is denied, so that it adds
    nothing: "no significant effusion"."""
    of_change = any(at < change.first <= at + 2 for change in sentence.changes)
    return sentence.words[at].word in sentence.vocab.unscaled and (of_change or sentence.scope.denied[at])


def _classify_words(sentence: MarkedSentence, mentions: list[Mention]) -> list[str]:
    """Return the kind of each word (size, place, side, degree, change, negation); empty for other words."""
    kinds = [
        "degree" if word.word in sentence.vocab.unscaled and not _degree_adds_nothing(sentence, at) else ""
        for at, word in enumerate(sentence.words)
    ]
    groups: dict[str, Sequence[PhraseMatch[Any]]] = {
        "size": [*sentence.sizes, *sentence.volumes],
        "place": sentence.spots,
        "side": sentence.sides,
        "degree": [*sentence.degrees, *sentence.grades],
        "change": sentence.changes,
        "negation": _find_unused_negations(sentence, mentions),
    }
    for kind, group in groups.items():
        for match in group:
            kinds[match.first : match.end] = [kind] * (match.end - match.first)
    return kinds


def _find_unused_negations(sentence: MarkedSentence, mentions: list[Mention]) -> list[PhraseMatch[str]]:
    """Return the negations that deny none of the mentions; mark the others, and all hedges, as used."""
    unused = []
    for cue in sentence.scope.forward_cues:
        if cue.value != "negation_before":
            sentence.use(cue.first, cue.end)
            continue
        after = next((mention for mention in mentions if mention.end > cue.first), None)
        before = next((mention for mention in reversed(mentions) if mention.first < cue.first), None)
        if any(mention is not None and mention.presence == "absent" for mention in (after, before)):
            sentence.use(cue.first, cue.end)
        elif not any(sentence.used[cue.first : cue.end]):
            unused.append(cue)
    for negation in sentence.scope.backward_cues:
        if negation.value == "hedge" or any(
            mention.presence == "absent" and mention.first < negation.first for mention in mentions
        ):
            sentence.use(negation.first, negation.end)
    return unused
