"""Parses a sentence into mentions of findings and of normal structures, with their attributes.

>>> parsed = parse("Small left effusion, no pneumothorax")
>>> [(mention.presence, mention.severity) for mention in parsed.mentions]
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
from radeval_lib.rules.reader.records import HOME, IGNORED, Mention, Parsed, Sense, UnusedWord
from radeval_lib.rules.reader.scope import BE
from radeval_lib.rules.reader.vocabulary import load_vocabulary
from radeval_lib.rules.report_text import MASK

_FIRST = attrgetter("first")
# Words between two findings that make them uncertain, and between two diagnoses that make them alternatives.
_OR_WORDS = frozenset(["or", "versus", "vs"])
# Words that can come between two diagnoses of one sign: "pneumonia or less likely atelectasis".
_ALTERNATIVE_WORDS = _OR_WORDS | frozenset(
    ["and", "/", "possibly", "possible", "less", "likely", "focal", "early", "superimposed", "a", MASK]
)


_DATE_NEIGHBOURS = DATES | {"/", ":", MASK} | word_set("series image slice view day hour am pm dated")


# Findings that can be equated with a more specific one: "the opacity is atelectasis".
_OPACITIES = frozenset(["opacity", "nodule", "lung_mass", "airspace_disease", "infiltrate", "consolidation"])
# Words that can come between a side and its attribute, and between two pairs of side and attribute.
_BESIDE_SIDE = frozenset(["on", "in", "at", "the", "is", "are", "one", "side", "(", ":"])
_BETWEEN_SIDES = frozenset(["and", ",", "but", "while", "whereas", "with", "the", ")", "/"])
# Verbs with which a clause without a finding's name states something about a side.
_STATING_VERBS = BE | {"persist", "persists", "resolved", "cleared", "seen", "gone", "not"}


@lru_cache(maxsize=65536)
def parse(text: str, side: str = "") -> Parsed:
    """Return the mentions of findings and normal structures in a sentence; the result is cached, so do not
    change it.

    ``side`` is the last side that earlier sentences name, for words such as "contralateral".
    """
    sentence = MarkedSentence(text, load_vocabulary(), side)
    mentions = [
        sentence.build_mention(match.first, match.end, _narrow_senses(sentence, match))
        for match in sentence.names
        if match.value[0].key != IGNORED
    ]
    state_mentions, normals = read_states(sentence)
    mentions = sorted([*mentions, *state_mentions], key=_FIRST)
    mentions = [mention for mention in mentions if not sentence.scope.hypothetical[mention.first]]
    # "Previously a 2 cm nodule, now 3 cm" reports a nodule, although its mention is in the past.
    mentions = [mention for mention in mentions if not sentence.past[mention.first]] or (
        mentions if not normals and NOW & sentence.get_words(0, len(sentence.words)) else []
    )
    mentions = sorted([*_drop_parts_of_names(sentence, mentions), *find_stacked_states(sentence)], key=_FIRST)
    mentions = sorted([*mentions, *_find_other_sides(sentence, mentions)], key=_FIRST)
    _mark_uncertain(sentence, mentions)
    _link_signs(sentence, mentions)
    # A phrase that is not a finding ("aeration") takes the attributes that describe it.
    word_texts = [token.word for token in sentence.words]
    ignored_mentions = [
        sentence.build_mention(match.first, match.end, match.value)
        for match in sentence.names
        if match.value[0].key == IGNORED
        and " ".join(word_texts[match.first : match.end]) in sentence.vocab.no_findings
    ]
    side_pairs = _find_side_pairs(sentence, mentions)
    if owners := sorted([*mentions, *ignored_mentions, *(part for _, part in side_pairs)], key=_FIRST):
        attach(sentence, owners)
        attach_changes(sentence, owners)
    mentions += _apply_side_pairs(side_pairs)
    if normals and not mentions:
        sentence.use_all(sentence.spots)
        sentence.use_all(sentence.sides)
    used, unused = measure_usage(sentence, mentions)
    spots = tuple(spot.value for spot in sentence.spots)
    return Parsed(tuple(mentions), tuple(normals), spots, used, unused, tuple(sentence.misspelt))


def _narrow_senses(sentence: MarkedSentence, match: PhraseMatch[list[Sense]]) -> list[Sense]:
    """Return the senses of a name; a general name means an abnormality of the structure before it: "The bones
    show no acute abnormality" is about the bones."""
    if match.value[0].key == "acute_disease":
        for subject in sentence.subjects:
            observation = sentence.vocab.no_abnormality.get(subject.value[0].key)
            if observation and subject.end <= match.first <= subject.end + 6:
                return [Sense(observation, HOME)]
    return match.value


def _find_other_sides(sentence: MarkedSentence, mentions: list[Mention]) -> list[Mention]:
    """Return mentions of earlier findings in clauses that name a side but no finding, such as "the left
    remains" in "right effusion resolved but the left remains"."""
    side_mentions: list[Mention] = []
    clauses = sentence.scope.clause
    if not mentions or not any(clauses):
        return side_mentions
    for side in sentence.sides:
        clause_start = clauses[side.first]
        earlier_mentions = [mention for mention in mentions if mention.end <= clause_start]
        clause_indices = [i for i, first in enumerate(clauses) if first == clause_start]
        phrases = (*sentence.names, *sentence.subjects, *sentence.spots, *side_mentions)
        has_verb = bool(sentence.get_words(clause_start, clause_indices[-1] + 1) & _STATING_VERBS)
        is_named = side.value == "bilateral" or any(phrase.first in clause_indices for phrase in phrases)
        if earlier_mentions and has_verb and not is_named:
            side_mentions.append(sentence.build_mention(side.first, side.end, earlier_mentions[-1].senses))
    return side_mentions


def _find_side_pairs(sentence: MarkedSentence, mentions: list[Mention]) -> list[tuple[Mention, Mention]]:
    """Return pairs of a finding and the mention of one of its sides, if the sides of a finding differ in
    degree, size or change.

    Examples: "moderate right and small left effusions", "effusions, moderate on the right and small on the
    left", "small left and no right effusion". The last side in a list before the name belongs to the finding
    itself and is not in a pair.
    """
    sided = [spot for spot in sentence.spots if spot.value[0].location.side] + sentence.sides
    if len(sided) < 2 or not mentions:
        return []
    denials = [cue for cue in sentence.scope.forward_cues if cue.value == "negation_before"]
    attributes: list[PhraseMatch[Any]] = [*sentence.degrees, *sentence.sizes, *sentence.changes, *denials]
    # (first, end, change) of each side with its attribute; the change is None for other attributes.
    pairs: list[tuple[int, int, str | None]] = []
    for side in sorted(sided, key=_FIRST):
        next_position = skip(sentence.words, side.end, _BESIDE_SIDE)
        for match in sorted(attributes, key=_FIRST):
            is_adjacent = (
                match.first == next_position or skip(sentence.words, match.end, _BESIDE_SIDE) == side.first
            )
            first, end = min(match.first, side.first), max(match.end, side.end)
            if is_adjacent and all(first >= pair[1] or end <= pair[0] for pair in pairs):
                pairs.append((first, end, match.value if match in sentence.changes else None))
                break
    side_pairs = []
    for pair, next_pair in pairwise(pairs):
        gap = sentence.get_words(pair[1], next_pair[0])
        next_mention = next((item for item in mentions if 0 <= item.first - next_pair[1] <= 1), None)
        previous_mention = next((item for item in reversed(mentions) if 0 <= pair[0] - item.end <= 2), None)
        owner = previous_mention if next_mention is None else next_mention
        overlaps = any(pair[0] < mention.end and mention.first < next_pair[1] for mention in mentions)
        if owner is None or overlaps or not gap or gap - _BETWEEN_SIDES:
            continue
        for first, end, change in (pair,) if next_mention is not None else (pair, next_pair):
            part = sentence.build_mention(first, end, owner.senses)
            part = replace(part, char_start=owner.char_start, char_end=owner.char_end, change=change)
            side_pairs.append((owner, part))
    return side_pairs


def _apply_side_pairs(side_pairs: list[tuple[Mention, Mention]]) -> list[Mention]:
    """Return the mentions of sides that become separate findings; the first side after its finding instead
    replaces the finding's side, degree, size and change, in place.

    ``side_pairs`` are the pairs that :func:`_find_side_pairs` returns.
    """
    further_mentions, divided_owners = [], set()
    for owner, part in side_pairs:
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
    """Return the mentions that are not part of the mention after them."""
    pairs = zip_longest(mentions, mentions[1:])
    return [
        mention for mention, other in pairs if other is None or not _belongs_to_next(sentence, mention, other)
    ]


def _belongs_to_next(sentence: MarkedSentence, mention: Mention, next_mention: Mention) -> bool:
    """Return whether a mention and the next one are the same finding: "calcified small granuloma", "lines and
    tubes: ETT", "fracture of a sternotomy wire"."""
    gap = sentence.get_words(mention.end, next_mention.first)
    is_adjective = mention.end == mention.first + 1 and sentence.words[mention.first].word in ADJECTIVES
    if is_adjective and next_mention.first - mention.end <= 5 and not SEPARATORS.keys() & gap:
        return True
    is_heading = all(sense.key == "tubes_lines" for sense in mention.senses)
    has_colon = ":" in sentence.get_words(mention.end, mention.end + 1)
    return (is_heading and has_colon) or _is_device_fracture(sentence, mention, next_mention)


def _is_device_fracture(sentence: MarkedSentence, mention: Mention, next_mention: Mention) -> bool:
    """Return whether a mention is the fracture of a device, which is not a finding of a bone: "fracture of a
    sternotomy wire"."""
    if not all(sense.key in sentence.vocab.devices for sense in next_mention.senses):
        return False
    names_fracture = sentence.get_words(mention.first, mention.end) & {"fracture", "fx"}
    is_near = next_mention.first - mention.end <= 4
    return bool(names_fracture) and is_near and "of" in sentence.get_words(mention.end, next_mention.first)


def _mark_uncertain(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Make two findings uncertain, in place, if "or" or "versus" joins them: "atelectasis or scarring"."""
    for mention, next_mention in pairwise(mentions):
        gap = sentence.get_words(mention.end, next_mention.first)
        is_near = next_mention.first - mention.end <= 5 and not gap & {",", "with"}
        if is_near and gap & _OR_WORDS and mention.presence != "absent" and next_mention.presence != "absent":
            for alternative in (mention, next_mention):
                alternative.probable = alternative.probable or alternative.presence == "present"
                alternative.presence = "uncertain"


def _link_signs(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Set the diagnoses of each sign, in place: "opacity, suggestive of pneumonia", "the opacity is
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
        later_indices = [i for i in range(number + 1, len(mentions)) if mentions[i].presence != "absent"]
        if not later_indices or mention.presence == "absent" or mention.sign_of:
            continue
        first = mentions[later_indices[0]].first
        verbs = {"is", "are"} | ({"but"} if later_indices[0] > number + 1 else set())
        gap = sentence.get_words(mention.end, first)
        is_equated = gap & {"is", "are"} and sentence.get_words(first - 2, first) & verbs
        is_opacity = any(sense.key in _OPACITIES for sense in mention.senses)
        if is_equated and not gap & {",", "and"} and is_opacity:
            mention.sign_of = (later_indices[0],)


def _select_joined_diagnoses(
    sentence: MarkedSentence, mentions: list[Mention], diagnoses: list[int]
) -> tuple[int, ...]:
    """Return the first diagnosis and those joined to it by "or", "versus" or "/", between which there are
    no other words than those in ``_ALTERNATIVE_WORDS``.

    ``diagnoses``, like the result, are indices into ``mentions``.
    """
    last_index = 0
    for index, next_index in pairwise(diagnoses):
        gap = sentence.get_words(mentions[index].end, mentions[next_index].first)
        if not gap <= _ALTERNATIVE_WORDS or not gap & (_OR_WORDS | {"/"}):
            break
        last_index += 1
    return tuple(diagnoses[: last_index + 1])


# The words of a sentence that were used in reading it, and those that were not.


def measure_usage(sentence: MarkedSentence, mentions: list[Mention]) -> tuple[int, tuple[UnusedWord, ...]]:
    """Return the number of meaningful words that were used in reading a sentence, and the meaningful words
    that were not.

    ``mentions`` are the findings that were read. Words about earlier or hypothetical states are not counted.
    """
    sentence.use_all(sentence.names)
    kinds = _classify_words(sentence, mentions)
    # "Calcified" is a separate finding in "tortuous calcified aorta".
    calcified = any(sense.key in sentence.vocab.calcified for mention in mentions for sense in mention.senses)
    descriptors = sentence.vocab.descriptors if mentions else frozenset[str]()
    ignorable = sentence.vocab.passed_over | (descriptors if calcified else descriptors - {"calcified"})
    neutrals = {i for match in sentence.qualities if not match.value for i in range(match.first, match.end)}
    used, unused = 0, []
    for i, (word, start, end) in enumerate(sentence.words):
        if sentence.past[i] or sentence.scope.hypothetical[i] or not word[-1].isalnum():
            continue
        ignored = (
            word in ignorable
            or i in neutrals
            or (len(word) == 1 and not word.isdigit())
            or (word == "interval" and i > 0 and sentence.words[i - 1].word == "the")
            or _degree_adds_nothing(sentence, i)
        )
        if sentence.used[i]:
            used += not ignored
            continue
        ignored = ignored or (word.isdigit() and (not mentions or _is_date_number(sentence, i)))
        if kinds[i] or not ignored:
            unused.append(UnusedWord(start, end, kinds[i] or "word"))
    return used, tuple(dict.fromkeys(unused))


def _is_date_number(sentence: MarkedSentence, i: int) -> bool:
    """Return whether a number is part of a date or counts an image: "3/4/2019", "series 4"."""
    word = sentence.words[i].word
    if len(word) == 4 and word.startswith(("19", "20")):
        return True  # The number is a year.
    neighbours = sentence.get_words(max(0, i - 1), i) | sentence.get_words(i + 1, i + 2)
    return bool(neighbours & _DATE_NEIGHBOURS)


def _degree_adds_nothing(sentence: MarkedSentence, i: int) -> bool:
    """Return whether a word of degree without a step describes a change or is denied, so that it adds
    nothing, as in "no significant effusion"."""
    of_change = any(i < change.first <= i + 2 for change in sentence.changes)
    return sentence.words[i].word in sentence.vocab.unscaled and (of_change or sentence.scope.denied[i])


def _classify_words(sentence: MarkedSentence, mentions: list[Mention]) -> list[str]:
    """Return the kind of each word: size, place, side, degree, change or negation; empty for other words."""
    kinds = [
        "degree" if token.word in sentence.vocab.unscaled and not _degree_adds_nothing(sentence, i) else ""
        for i, token in enumerate(sentence.words)
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
    """Return the negations that reach forward but deny none of the mentions.

    Mark as used the other cues that reach forward and, of those that reach back, all hedges and the negations
    after a denied mention.
    """
    unused = []
    for cue in sentence.scope.forward_cues:
        if cue.value != "negation_before":
            sentence.use(cue.first, cue.end)
            continue
        next_mention = next((item for item in mentions if item.end > cue.first), None)
        previous_mention = next((item for item in reversed(mentions) if item.first < cue.first), None)
        if any(item is not None and item.presence == "absent" for item in (next_mention, previous_mention)):
            sentence.use(cue.first, cue.end)
        elif not any(sentence.used[cue.first : cue.end]):
            unused.append(cue)
    for negation in sentence.scope.backward_cues:
        if negation.value == "hedge" or any(
            mention.presence == "absent" and mention.first < negation.first for mention in mentions
        ):
            sentence.use(negation.first, negation.end)
    return unused
