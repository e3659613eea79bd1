"""Findings and normal structures said as a state of a structure: "the heart is enlarged", "clear lungs"."""

from __future__ import annotations

import re
from typing import Any

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.records import HOME, IGNORED, Mention, NormalMention, Sense, Subject, plain
from radeval_lib.rules.reader.scope import BE

# What may stand between a state and its structure: "normal size and contour of the heart".
_ASPECTS = frozenset(["size", "configuration", "contour", "appearance", "and", "of", "the", "in", "shape"])
ADJECTIVES = frozenset(["calcified", "nodular", "consolidative", "cavitary", "fibrotic", "degenerative"])
"""Names of findings that are part of the next name: "calcified small granuloma"."""
# What stands before them is not what the state is of: "the chest shows the heart to be large".
_SHOWING = frozenset(["demonstrate", "demonstrated", "show", "reveal", "shown"])
# Where they stand, another clause begins.
_BEGIN = frozenset(["there", "no", "but", "which", "demonstrate", "show"])
_LARGEST_RATIO = 0.5  # of the heart to the thorax, on a frontal view
_ABOVE = frozenset(["exceed", "above", "over", "greater", "more", "larger", ">"])
_BELOW = frozenset(["below", "under", "less", "smaller", "<"])
# Behind a normal state they say that it is of no structure: "clear of effusion", "in satisfactory position".
_NOT_OF_SUBJECT = frozenset(["of", "from", "position", "positioning"])


def read_states(sentence: MarkedSentence) -> tuple[list[Mention], list[NormalMention]]:
    """Findings and normal structures from a structure and a state: "heart is enlarged", "clear lungs".

    Goes through structures, states, names of findings and separators from left to right. Structures wait
    (``pending``) for a state that follows in their clause; a state that comes first waits (``waiting``)
    for structures right behind it. ``said`` are the structures that the last state was said of, to which
    a second state may be added. A name of a finding ends all three, and up to the next separator
    (``blocked``) no structure waits.
    """
    events: list[tuple[int, str, Any]] = [(one.first, "subject", one) for one in sentence.subjects]
    events += [(one.first, "state", one) for one in sentence.states]
    events += [(one.first, "named", one) for one in sentence.named]
    events += [
        (at, "break", word.word)
        for at, word in enumerate(sentence.words)
        if word.word in (",", "and", "with", "otherwise")
    ]
    mentions, normals = _ratio(sentence)
    pending: list[PhraseMatch[list[Subject]]] = []
    waiting: PhraseMatch[str] | None = None  # a state that stands before its structures,
    reach = 0  # and the end of what it was last said of
    said: list[PhraseMatch[list[Subject]]] = []  # of which something was said: "are expanded and clear"
    blocked = False
    for at, kind, one in sorted(events, key=lambda event: event[0]):
        if pending and sentence.scope.clause[at] != sentence.scope.clause[pending[-1].first]:
            pending = []
        if kind == "break":
            blocked = False
            said = [] if one == "with" else said
        elif kind == "named":
            said = pending if _is_state_of(sentence, one, pending) else []
            blocked, pending, waiting = True, [], None
        elif kind == "subject":
            said = said if waiting is None and not blocked else []
            # "The chest shows the heart to be large", "Chest: heart normal"
            if pending and sentence.between(pending[-1].end, at) & {*_SHOWING, ":"}:
                pending = []
            if waiting is not None and _adjoins(sentence, reach, at):
                _say(sentence, [one], waiting, mentions, normals)
                reach = one.end
            elif not blocked:
                pending.append(one)
                said = []
        elif pending or said:
            if _say(sentence, pending or said, one, mentions, normals):
                pending, said = [], pending or said
        elif one.value in ("normal", "abnormal") or not blocked:
            waiting, reach = one, one.end
    return mentions, normals if normals or mentions else _stable(sentence)


def _ratio(sentence: MarkedSentence) -> tuple[list[Mention], list[NormalMention]]:
    """A heart that is large or normal by its ratio to the thorax: "cardiothoracic ratio of 0.56"."""
    words = sentence.words
    for subject in sentence.subjects:
        if words[subject.first].word not in ("ctr", "cardiothoracic"):
            continue
        for at in range(subject.end, min(subject.end + 5, len(words))):
            if not re.fullmatch(r"0?\.\d+|\d\d", words[at].word):
                continue
            said = sentence.between(subject.end, at)
            value = float(words[at].word) / (100 if len(words[at].word) == 2 else 1)
            large = value > _LARGEST_RATIO or (value == _LARGEST_RATIO and bool(said & _ABOVE))
            sentence.use(subject.first, at + 1)
            if large and not said & _BELOW:
                return [sentence.mention(subject.first, subject.end, [Sense("cardiomegaly", HOME)])], []
            span = words[subject.first].start, words[at].end
            return [], [NormalMention(subject.value, "normal", *span, None)]
    return [], []


def _is_state_of(
    sentence: MarkedSentence, name: PhraseMatch[list[Sense]], subjects: list[PhraseMatch[list[Subject]]]
) -> bool:
    """Whether a name of a finding is the predicate of structures: "the lungs are hyperinflated but
    clear"."""
    if not subjects or not BE & sentence.between(subjects[-1].end, name.first):
        return False
    own = {one.key for subject in subjects for one in subject.value}
    states = {key for (structure, _), key in sentence.known.abnormal_states.items() if structure in own}
    return bool(states & {sense.key for sense in name.value})


def _say(
    sentence: MarkedSentence,
    subjects: list[PhraseMatch[list[Subject]]],
    state: PhraseMatch[str],
    mentions: list[Mention],
    normals: list[NormalMention],
) -> bool:
    """Add a mention or a normal statement for each structure to which the state applies; whether there
    is any."""
    words = plain(" ".join(word.word for word in sentence.words[state.first : state.end]))
    if state.value != "normal":
        found = [one for subject in subjects if (one := _abnormal(sentence, subject, state, words))]
        mentions += found
        return bool(found)
    # "clear of effusion" denies that alone, "in satisfactory position" is said of a device
    if sentence.scope.denied[state.first] or sentence.between(state.end, state.end + 1) & _NOT_OF_SUBJECT:
        return False
    fitting = [one for one in subjects if _fits(sentence, one, words)]
    sentence.use_all([state, *fitting] if fitting else [])
    for subject in fitting:
        for at in (*range(subject.first, subject.end), *range(state.first, state.end)):
            sentence.normal[at] = True
        change = _change_near(sentence, subject.first, max(state.end, subjects[-1].end))
        start, *_, last = sorted([subject.first, subject.end, state.first, state.end])
        span = sentence.words[start].start, sentence.words[last - 1].end
        normals.append(NormalMention(subject.value, words, *span, change))
    return bool(fitting)


def _abnormal(
    sentence: MarkedSentence, subject: PhraseMatch[list[Subject]], state: PhraseMatch[str], words: str
) -> Mention | None:
    """The finding that a structure in an abnormal state is; None where the two state none."""
    phrase = " ".join(word.word for word in sentence.words[subject.first : subject.end])
    observation = f"not {subject.value[0].key}" if state.value == "abnormal" else None
    for key in (*(one.key for one in subject.value), phrase):
        observation = observation or sentence.known.abnormal_states.get((key, words))
    if observation is None:
        return None
    region = subject.value[0].region or HOME
    mention = sentence.mention(state.first, state.end, [Sense(observation, region)])
    mention.start = min(mention.start, sentence.words[subject.first].start)
    mention.stop = max(mention.stop, sentence.words[subject.end - 1].end)
    sentence.use_all([state, subject])
    return mention


def _adjoins(sentence: MarkedSentence, end: int, at: int) -> bool:
    """Whether a state stands right before its structure: "normal size and contour of the heart"."""
    return at - end <= 3 or sentence.between(end, at) <= _ASPECTS


def _fits(sentence: MarkedSentence, subject: PhraseMatch[list[Subject]], words: str) -> bool:
    """Whether the words call this structure normal: "anterior" is normal of a placenta alone."""
    states = sentence.known.entry_states
    return words in sentence.known.normal or any(words in states.get(one.key, ()) for one in subject.value)


def _change_near(sentence: MarkedSentence, first: int, end: int) -> str | None:
    """The change that is said within three words of a normal structure; it is marked as used."""
    near = next(
        (
            one
            for one in sentence.changes
            if first - 3 <= one.first <= end + 3 and not _of_next(sentence, end, one)
        ),
        None,
    )
    if near is None:
        return None
    sentence.use(near.first, near.end)
    return near.value


def _of_next(sentence: MarkedSentence, end: int, change: PhraseMatch[str]) -> bool:
    """Whether a change behind a comma is of the next structure."""
    following = range(change.end, change.end + 4)
    return "," in sentence.between(end, change.first) and any(
        subject.first in following for subject in sentence.subjects
    )


def _stable(sentence: MarkedSentence) -> list[NormalMention]:
    """ "Stable cardiomediastinal silhouette": as good as normal where nothing else is said of it."""
    if sentence.named:
        return []
    stable = [one for one in sentence.changes if one.value == "unchanged"]
    known = [one for one in sentence.subjects if {each.key for each in one.value} & sentence.known.stable]
    found = [one for one in known if any(_near_stable(sentence, each, one) for each in stable)]
    if found:
        sentence.use_all([*stable, *known])
    return [
        NormalMention(
            one.value,
            "stable",
            sentence.words[one.first].start,
            sentence.words[one.end - 1].end,
            "unchanged",
        )
        for one in found
    ]


def _near_stable(
    sentence: MarkedSentence, stable: PhraseMatch[str], subject: PhraseMatch[list[Subject]]
) -> bool:
    """Whether the word is said of the structure, or of all that are listed with it."""
    first, end = sorted([(stable.first, stable.end), (subject.first, subject.end)])
    between = sentence.between(first[1], end[0])
    return abs(stable.first - subject.first) <= 5 or not between & (_BEGIN | {"with", "without"})


def stacked_states(sentence: MarkedSentence) -> list[Mention]:
    """States before a name that holds their structure: "calcified tortuous aorta" is calcified too."""
    found = []
    for name in sentence.named:
        if name.value[0].key == IGNORED:
            continue
        text = [word.word for word in sentence.words[name.first : name.end]]
        keys = {one.key for subject in sentence.known.subjects.find(text) for one in subject.value}
        at = name.first - 1
        while at >= 0 and sentence.words[at].word in ("and", ",", "/", "mildly", "slightly"):
            at -= 1
        states = (sentence.known.abnormal_states.get((key, sentence.words[at].word)) for key in sorted(keys))
        changed = any(one.first <= at < one.end for one in sentence.changes)
        key = next(filter(None, states), None) if at >= 0 and not changed else None
        taken = any(one.first <= at < one.end for one in sentence.spots) or any(
            one.first <= at < one.end and sentence.words[at].word not in ADJECTIVES for one in sentence.named
        )
        if key is not None and not taken and key not in {sense.key for sense in name.value}:
            found.append(sentence.mention(at, at + 1, [Sense(key, HOME)]))
            sentence.use(at, at + 1)
    return found
