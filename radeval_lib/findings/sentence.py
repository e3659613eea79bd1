"""Reads one sentence: mentions of findings and normal structures, with everything that is said of them.

Names and places stay as ambiguous as they are ("mass", "base"); :mod:`.reader` decides by the whole report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from radeval_lib.findings.modifiers import JOINTS, ZONES, places, sizes
from radeval_lib.findings.phrases import PhraseMatch
from radeval_lib.findings.records import Presence
from radeval_lib.findings.scope import BE, ScopeWords, scope
from radeval_lib.findings.vocabulary import HOME, IGNORED, Sense, Spot, Subject, Vocabulary, plain, vocabulary
from radeval_lib.report_text import MASK, tokens

_PREPOSITIONS = frozenset(
    ["in", "at", "within", "of", "over", "overlying", "near", "along", "involving", "on", "from", "to",
     "above", "projecting", "into", "through", "throughout", "toward", "the", "for", "about", "adjacent"]
)  # fmt: skip
_SEPARATORS = {",": 3, "and": 4, "or": 4, "/": 2, "with": 4, "nor": 4, "without": 6, ":": 2, "(": 2, ")": 2}
_ASPECTS = frozenset(["size", "configuration", "contour", "appearance", "and", "of", "the", "in", "shape"])
_ADJECTIVES = frozenset(["calcified", "nodular", "consolidative", "cavitary", "fibrotic", "degenerative"])
_EITHER = frozenset(["or", "versus", "vs"])
_CHOICE = _EITHER | frozenset(
    ["and", "/", "possibly", "possible", "less", "likely", "focal", "early", "superimposed", "a", MASK]
)
_FAR = 40


@dataclass(slots=True)
class Mention:
    """A finding in a sentence; ``first`` and ``end`` count words, ``senses`` is what it may be."""

    first: int
    end: int
    senses: list[Sense]
    presence: Presence
    start: int
    stop: int
    spots: list[list[Spot]] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    severity: int | None = None
    size_mm: tuple[float, ...] = ()
    change: str | None = None
    sign_of: tuple[int, ...] = ()
    before: tuple[str, ...] = ()


class NormalMention(NamedTuple):
    """A structure called normal, in the words ``state``."""

    subjects: list[Subject]
    state: str
    start: int
    stop: int
    change: str | None


class Parsed(NamedTuple):
    """A sentence as read; positions are relative to it."""

    mentions: tuple[Mention, ...]
    normals: tuple[NormalMention, ...]
    spots: tuple[list[Spot], ...]


@lru_cache(maxsize=65536)
def parse(sentence: str) -> Parsed:
    """Read a sentence; the result is shared and must not be changed."""
    return _Sentence(sentence, vocabulary()).read()


def _marks(size: int, *groups: Sequence[PhraseMatch[Any]], begins: bool = False) -> list[bool]:
    marked = [False] * size
    for group in groups:
        for match in group:
            for place in range(match.first, match.first + 1 if begins else match.end):
                marked[place] = True
    return marked


class _Sentence:
    def __init__(self, text: str, known: Vocabulary) -> None:
        self.known = known
        self.words = tokens(text)
        size = len(self.words)
        self.named = known.observations.find(self.words)
        named = _marks(size, self.named)
        self.spots = places(self.words, known)
        self.degrees = known.degrees.find(self.words, named)
        self.changes = known.changes.find(self.words, named)
        # "Lower" calls nothing low in "the right lower lung".
        zones = [spot for spot in self.spots if ZONES & self._between(spot.first, spot.end)]
        self.states = known.states.find(self.words, _marks(size, self.named, zones))
        self.subjects = known.subjects.find(self.words, named)
        self.sides = known.sides.find(self.words, _marks(size, self.spots))
        self.sizes = list(sizes(self.words))
        descriptors = _marks(size, self.degrees, self.sizes, self.changes, self.sides, begins=True)
        self.scope: ScopeWords = scope(
            self.words, known, self.changes, descriptors, _marks(size, self.subjects, begins=True)
        )

    def read(self) -> Parsed:
        mentions = [
            self._mention(found.first, found.end, self._about(found))
            for found in self.named
            if found.value[0].key != IGNORED
        ]
        stated, normals = self._states()
        mentions = sorted([*mentions, *stated], key=lambda one: one.first)
        mentions = [one for one in mentions if not self.scope.hypothetical[one.first]]
        mentions = self._alternatives(self._whole_names(mentions))
        self._link(mentions)
        self._attach(mentions)
        return Parsed(tuple(mentions), tuple(normals), tuple(spot.value for spot in self.spots))

    def _between(self, first: int, end: int) -> set[str]:
        return {word.word for word in self.words[first:end]}

    def _about(self, found: PhraseMatch[list[Sense]]) -> list[Sense]:
        """ "The bones show no acute abnormality" is about the bones."""
        if found.value[0].key == "acute_disease":
            for subject in self.subjects:
                special = self.known.no_abnormality.get(subject.value[0].key)
                if special and subject.end <= found.first <= subject.end + 6:
                    return [Sense(special, HOME)]
        return found.value

    def _mention(self, first: int, end: int, senses: list[Sense]) -> Mention:
        presence: Presence = "present"
        if self.scope.denied[first]:
            presence = "absent"
        elif self.scope.doubted[first]:
            presence = "uncertain"
        before = tuple(word.word for word in self.words[max(0, first - 6) : first])
        return Mention(
            first, end, senses, presence, self.words[first].start, self.words[end - 1].end, before=before
        )

    # --- "the heart is enlarged", "the lungs are clear" ---

    def _states(self) -> tuple[list[Mention], list[NormalMention]]:
        events: list[tuple[int, str, Any]] = [(one.first, "subject", one) for one in self.subjects]
        events += [(one.first, "state", one) for one in self.states]
        events += [(one.first, "named", one) for one in self.named]
        events += [
            (at, "break", word.word)
            for at, word in enumerate(self.words)
            if word.word in (",", "and", "with")
        ]
        mentions: list[Mention] = []
        normals: list[NormalMention] = []
        pending: list[PhraseMatch[list[Subject]]] = []
        waiting: PhraseMatch[str] | None = None  # a state that stands before its structures,
        reach = 0  # and the end of what it was last said of
        said: list[PhraseMatch[list[Subject]]] = []  # of which something was said: "are expanded and clear"
        blocked = False
        for at, kind, one in sorted(events, key=lambda event: event[0]):
            if pending and self.scope.clause[at] != self.scope.clause[pending[-1].first]:
                pending = []
            if kind == "break":
                blocked = False
            elif kind == "named":
                blocked, pending, said, waiting = True, [], [], None
            elif kind == "subject":
                if waiting is not None and self._adjoins(reach, at):
                    self._say([one], waiting, mentions, normals)
                    reach = one.end
                elif not blocked:
                    pending.append(one)
                    said = []
            elif pending or said:
                if self._say(pending or said, one, mentions, normals):
                    pending, said = [], pending or said
            elif one.value in ("normal", "abnormal") or not blocked:
                waiting, reach = one, one.end
        return mentions, normals if normals or mentions else self._stable()

    def _say(
        self,
        subjects: list[PhraseMatch[list[Subject]]],
        state: PhraseMatch[str],
        mentions: list[Mention],
        normals: list[NormalMention],
    ) -> bool:
        """Record what the state says of the structures; whether it says anything."""
        first, end = state.first, max(state.end, subjects[-1].end)
        words = plain(" ".join(word.word for word in self.words[state.first : state.end]))
        if state.value == "normal":
            # "clear of effusion" denies that alone
            if self.scope.denied[state.first] or self._between(state.end, state.end + 1) & {"of", "from"}:
                return False
            subjects = [one for one in subjects if self._fits(one, words)]
            for subject in subjects:
                change = self._change_near(subject.first, end)
                start, *_, last = sorted([subject.first, subject.end, state.first, state.end])
                span = self.words[start].start, self.words[last - 1].end
                normals.append(NormalMention(subject.value, words, *span, change))
            return bool(subjects)
        said = False
        for subject in subjects:
            phrase = " ".join(word.word for word in self.words[subject.first : subject.end])
            for key in [one.key for one in subject.value] + [phrase]:
                observation = self.known.abnormal_states.get((key, words))
                if state.value == "abnormal":
                    observation = f"not {subject.value[0].key}"
                if observation is not None:
                    region = subject.value[0].region or HOME
                    mention = self._mention(first, state.end, [Sense(observation, region)])
                    mention.start = min(mention.start, self.words[subject.first].start)
                    mention.stop = max(mention.stop, self.words[subject.end - 1].end)
                    mentions.append(mention)
                    said = True
                    break
        return said

    def _adjoins(self, end: int, at: int) -> bool:
        """Whether a state stands right before its structure: "normal size and contour of the heart"."""
        return at - end <= 3 or self._between(end, at) <= _ASPECTS

    def _fits(self, subject: PhraseMatch[list[Subject]], words: str) -> bool:
        """Whether the words call this structure normal: "anterior" is normal of a placenta alone."""
        states = self.known.entry_states
        return words in self.known.normal or any(words in states.get(one.key, ()) for one in subject.value)

    def _change_near(self, first: int, end: int) -> str | None:
        return next((one.value for one in self.changes if first - 3 <= one.first <= end + 3), None)

    def _stable(self) -> list[NormalMention]:
        """ "Stable cardiomediastinal silhouette": as good as normal where nothing else is said of it."""
        if self.named:
            return []
        stable = [one for one in self.changes if one.value == "unchanged"]
        return [
            NormalMention(
                subject.value, "stable", self.words[subject.first].start, self.words[subject.end - 1].end,
                "unchanged",
            )
            for subject in self.subjects
            if stable
            and abs(stable[0].first - subject.first) <= 5
            and {one.key for one in subject.value} & self.known.stable
        ]  # fmt: skip

    # --- diagnoses and attributes ---

    def _whole_names(self, mentions: list[Mention]) -> list[Mention]:
        """Without an adjective that belongs to the next name: "calcified small granuloma" is one finding."""
        return [
            one
            for one, after in zip_longest(mentions, mentions[1:])
            if not (
                after is not None
                and self.words[one.first].word in _ADJECTIVES
                and one.end == one.first + 1
                and after.first - one.end <= 5
                and not _SEPARATORS.keys() & self._between(one.end, after.first)
            )
        ]

    def _alternatives(self, mentions: list[Mention]) -> list[Mention]:
        """ "Atelectasis or scarring" doubts both, and so does "versus"."""
        for one, after in pairwise(mentions):
            between = self._between(one.end, after.first)
            near = after.first - one.end <= 5 and "," not in between
            if near and between & _EITHER and one.presence != "absent" and after.presence != "absent":
                one.presence = after.presence = "uncertain"
        return mentions

    def _link(self, mentions: list[Mention]) -> None:
        """ "Opacity, suggestive of pneumonia": the finding before the link is a sign of the one behind it."""
        for link in self.scope.links:
            before = [
                number
                for number, one in enumerate(mentions)
                if one.end <= link and self.scope.clause[link] <= one.first and one.presence != "absent"
            ]
            behind = [
                number
                for number, one in enumerate(mentions)
                if link < one.first <= link + 12 and self.scope.doubted[one.first]
            ]
            if before and behind and not mentions[before[-1]].sign_of:
                mentions[before[-1]].sign_of = self._choices(mentions, behind)

    def _choices(self, mentions: list[Mention], behind: list[int]) -> tuple[int, ...]:
        """The first diagnosis, and those that "or" adds to it without a place between."""
        last = 0
        for one, after in pairwise(behind):
            between = self._between(mentions[one].end, mentions[after].first)
            if not between <= _CHOICE or not between & (_EITHER | {"/"}):
                break
            last += 1
        return tuple(behind[: last + 1])

    def _attach(self, mentions: list[Mention]) -> None:
        if not mentions:
            return
        for spot in self.spots:
            if not any(one.first <= spot.first and spot.end <= one.end for one in mentions):
                located = bool(spot.first) and (
                    self.words[spot.first - 1].word in _PREPOSITIONS
                    or any(other.end == spot.first - 1 for other in self.spots)
                )
                if one := self._nearest(mentions, spot, 0 if located else 4, 3 if located else 0):
                    one.spots.append(spot.value)
            else:
                # Of the words of a name only those say where that a finding of the name may be at.
                owner = next(one for one in mentions if one.first <= spot.first and spot.end <= one.end)
                usual = set().union(*(self.known.places.get(sense.key, ()) for sense in owner.senses))
                if usual & {one.location.place for one in spot.value}:
                    owner.spots.append(spot.value)
        self._share_places(mentions)
        for side in self.sides:
            if one := self._nearest(mentions, side, 2, 0):
                one.sides.append(side.value)
        for degree in self.degrees:
            if (one := self._nearest(mentions, degree, 4, 0)) and (
                one.severity is None or one.severity < degree.value
            ):
                one.severity = degree.value
        for size in self.sizes:
            if one := self._nearest(mentions, size, 0, 0):
                one.size_mm = size.value
        for change in self.changes:
            if self._names_finding(change, mentions):
                continue
            if (one := self._nearest(mentions, change, 1, 0)) and one.change is None:
                one.change = change.value

    def _names_finding(self, change: PhraseMatch[str], mentions: list[Mention]) -> bool:
        """Whether a word of change is part of a finding: "the vascularity is increased"."""
        if any(one.first <= change.first < one.end for one in mentions):
            return True
        word = self.words[change.first].word
        return any(
            word in sense.lead and 0 <= one.first - change.end <= 5
            for one in mentions
            for sense in one.senses
        )

    def _share_places(self, mentions: list[Mention]) -> None:
        """ "Opacities and scarring in the left base": the place belongs to both, where both may be there."""
        for one, after in pairwise(mentions):
            between = self._between(one.end, after.first)
            if one.spots or one.sides or not between & JOINTS or "," in between:
                continue
            usual = set().union(*(self.known.places.get(sense.key, ()) for sense in one.senses))
            one.spots = [
                place.value
                for place in self.spots
                if place.first >= after.end
                and any(place.value is held for held in after.spots)
                and usual & {spot.location.place for spot in place.value}
            ]

    def _nearest(
        self, mentions: list[Mention], what: PhraseMatch[Any], behind: int, before: int
    ) -> Mention | None:
        """The mention that a modifier belongs to; standing there costs ``behind`` or ``before`` it."""
        best, least = None, float(_FAR)
        for number, one in enumerate(mentions):
            if what.end <= one.first:
                cost = before + self._distance(what.end, one.first)
                cost += 6 * sum(what.end <= other.first < one.first for other in mentions)
                cost += 5 * sum(word.word == "," for word in self.words[what.end : one.first])
            elif what.first >= one.end:
                cost = behind + self._distance(one.end, what.first)
                cost += 6 * sum(one.end <= other.first < what.first for other in mentions[number + 1 :])
            else:
                cost = 0
            if self._apart(what.first, one.first, mentions):
                cost += _FAR
            if cost < least:
                best, least = one, cost
        return best

    def _apart(self, at: int, name: int, mentions: list[Mention]) -> bool:
        """Whether modifier and name are of different clauses; "in the left base there is" leads to a name."""
        here, there = self.scope.clause[at], self.scope.clause[name]
        leads = (
            here < there
            and self.words[there].word == "there"
            and self.scope.clause[there - 1] == here
            and not any(here <= one.first < there for one in mentions)
            and not BE & self._between(at, there)
        )
        return here != there and not leads

    def _distance(self, first: int, end: int) -> int:
        return sum(1 + _SEPARATORS.get(word.word, 0) for word in self.words[first:end])
