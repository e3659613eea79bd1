"""Reads one sentence: mentions of findings and normal structures, with everything said about them.

>>> [(one.presence, one.severity) for one in parse("Small left effusion, no pneumothorax").mentions]
[('present', 1), ('absent', None)]
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, zip_longest

from radeval_lib.rules.reader.attached_changes import attach_changes
from radeval_lib.rules.reader.attributes import attach
from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.meanings import HOME, IGNORED, Sense
from radeval_lib.rules.reader.mentions import Mention, Parsed
from radeval_lib.rules.reader.nearest import SEPARATORS
from radeval_lib.rules.reader.past import NOW
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.states import ADJECTIVES, read_states, stacked_states
from radeval_lib.rules.reader.usage import usage
from radeval_lib.rules.reader.vocabulary import vocabulary
from radeval_lib.rules.report_text import MASK

# Between two findings they doubt both, and between two diagnoses they make them a choice.
_EITHER = frozenset(["or", "versus", "vs"])
# What may stand between two diagnoses of one sign: "pneumonia or less likely atelectasis".
_CHOICE = _EITHER | frozenset(
    ["and", "/", "possibly", "possible", "less", "likely", "focal", "early", "superimposed", "a", MASK]
)


@lru_cache(maxsize=65536)
def parse(text: str) -> Parsed:
    """Read a sentence; the result is shared and must not be changed."""
    sentence = MarkedSentence(text, vocabulary())
    mentions = [
        sentence.mention(found.first, found.end, _about(sentence, found))
        for found in sentence.named
        if found.value[0].key != IGNORED
    ]
    stated, normals = read_states(sentence)
    mentions = sorted([*mentions, *stated], key=lambda one: one.first)
    mentions = [one for one in mentions if not sentence.scope.hypothetical[one.first]]
    # "Previously a 2 cm nodule, now 3 cm" has a nodule.
    mentions = [one for one in mentions if not sentence.past[one.first]] or (
        mentions if not normals and NOW & sentence.between(0, len(sentence.words)) else []
    )
    mentions = sorted(
        [*_whole_names(sentence, mentions), *stacked_states(sentence)], key=lambda one: one.first
    )
    _doubt_alternatives(sentence, mentions)
    _link(sentence, mentions)
    # What is no finding keeps what is said of it from those that are.
    others = [
        sentence.mention(one.first, one.end, one.value) for one in sentence.named if _takes(sentence, one)
    ]
    if owners := sorted([*mentions, *others], key=lambda one: one.first):
        attach(sentence, owners)
        attach_changes(sentence, owners)
    if normals and not mentions:
        sentence.use_all(sentence.spots)
        sentence.use_all(sentence.sides)
    used, unused = usage(sentence, mentions)
    spots = tuple(spot.value for spot in sentence.spots)
    return Parsed(tuple(mentions), tuple(normals), spots, used, unused, tuple(sentence.misspelt))


def _about(sentence: MarkedSentence, found: PhraseMatch[list[Sense]]) -> list[Sense]:
    """ "The bones show no acute abnormality" is about the bones."""
    if found.value[0].key == "acute_disease":
        for subject in sentence.subjects:
            special = sentence.known.no_abnormality.get(subject.value[0].key)
            if special and subject.end <= found.first <= subject.end + 6:
                return [Sense(special, HOME)]
    return found.value


def _takes(sentence: MarkedSentence, found: PhraseMatch[list[Sense]]) -> bool:
    """Whether a phrase is not a finding, and keeps what is said of it from the others: "aeration"."""
    if found.value[0].key != IGNORED:
        return False
    return (
        " ".join(word.word for word in sentence.words[found.first : found.end]) in sentence.known.no_findings
    )


def _whole_names(sentence: MarkedSentence, mentions: list[Mention]) -> list[Mention]:
    """Without an adjective that belongs to the next name: "calcified small granuloma" is one finding."""
    return [
        one
        for one, after in zip_longest(mentions, mentions[1:])
        if not (
            after is not None
            and sentence.words[one.first].word in ADJECTIVES
            and one.end == one.first + 1
            and after.first - one.end <= 5
            and not SEPARATORS.keys() & sentence.between(one.end, after.first)
        )
        and not _of_hardware(sentence, one, after)
        and not _heads(sentence, one, after)
    ]


def _heads(sentence: MarkedSentence, one: Mention, after: Mention | None) -> bool:
    """ "Lines and tubes: ETT" names one."""
    group = all(sense.key == "tubes_lines" for sense in one.senses)
    return group and after is not None and ":" in sentence.between(one.end, one.end + 1)


def _of_hardware(sentence: MarkedSentence, one: Mention, after: Mention | None) -> bool:
    """ "Fracture of a sternotomy wire" breaks no bone."""
    if after is None or not all(sense.key in sentence.known.devices for sense in after.senses):
        return False
    broken = sentence.between(one.first, one.end) & {"fracture", "fx"}
    return bool(broken) and after.first - one.end <= 4 and "of" in sentence.between(one.end, after.first)


def _doubt_alternatives(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """ "Atelectasis or scarring" doubts both, and so does "versus"."""
    for one, after in pairwise(mentions):
        between = sentence.between(one.end, after.first)
        near = after.first - one.end <= 5 and not between & {",", "with"}
        if near and between & _EITHER and one.presence != "absent" and after.presence != "absent":
            one.presence = after.presence = "uncertain"


def _link(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """ "Opacity, suggestive of pneumonia": the finding before the link is a sign of the one behind it."""
    for link in sentence.scope.links:
        before = [
            number
            for number, one in enumerate(mentions)
            if one.end <= link and sentence.scope.clause[link] <= one.first and one.presence != "absent"
        ]
        behind = [
            number
            for number, one in enumerate(mentions)
            if link < one.first <= link + 12 and sentence.scope.doubted[one.first]
        ]
        if before and behind and not mentions[before[-1]].sign_of:
            mentions[before[-1]].sign_of = _choices(sentence, mentions, behind)


def _choices(sentence: MarkedSentence, mentions: list[Mention], behind: list[int]) -> tuple[int, ...]:
    """The first diagnosis, and those that "or" adds to it without a place between."""
    last = 0
    for one, after in pairwise(behind):
        between = sentence.between(mentions[one].end, mentions[after].first)
        if not between <= _CHOICE or not between & (_EITHER | {"/"}):
            break
        last += 1
    return tuple(behind[: last + 1])
