"""Reads one sentence: mentions of findings and normal structures, with everything said about them.

Names and places stay as ambiguous as they are ("mass", "base"); :mod:`.reader` decides by the whole report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple, TypeVar

from radeval_lib.findings.changes import CHANGE_NOUNS, MORE, NOW, denied_changes, of_before, side_comparisons
from radeval_lib.findings.modifiers import JOINTS, ZONES, both_sides, places, sizes
from radeval_lib.findings.phrases import PhraseMatch
from radeval_lib.findings.records import Presence
from radeval_lib.findings.scope import BE, ScopeWords, scope
from radeval_lib.findings.vocabulary import HOME, IGNORED, Sense, Spot, Subject, Vocabulary, plain, vocabulary
from radeval_lib.report_text import MASK, tokens

# Before a place they say that something is there: "in the left base".
_PREPOSITIONS = frozenset(
    ["in", "at", "within", "of", "over", "overlying", "near", "along", "involving", "on", "from", "to",
     "above", "projecting", "into", "through", "throughout", "toward", "the", "for", "about", "adjacent"]
)  # fmt: skip
# How much further a modifier and a finding are apart for a word between them, beside 1 for any word.
_SEPARATORS = {",": 3, "and": 4, "or": 4, "/": 2, "with": 4, "nor": 4, "without": 6, ":": 2, "(": 2, ")": 2}
# What may stand between a state and its structure: "normal size and contour of the heart".
_ASPECTS = frozenset(["size", "configuration", "contour", "appearance", "and", "of", "the", "in", "shape"])
# Names of findings that are part of the next name: "calcified small granuloma".
_ADJECTIVES = frozenset(["calcified", "nodular", "consolidative", "cavitary", "fibrotic", "degenerative"])
# Behind "which" they part a sign from what it is read as: "an opacity, which may be pneumonia".
_MAY = frozenset(["may", "might", "could", "can", "probably", "possibly", "likely"])
_EITHER = frozenset(["or", "versus", "vs"])
# What may stand between two diagnoses of one sign: "pneumonia or less likely atelectasis".
_CHOICE = _EITHER | frozenset(
    ["and", "/", "possibly", "possible", "less", "likely", "focal", "early", "superimposed", "a", MASK]
)
# Behind a size they make it the distance of a tip: "3 cm above the carina".
_DISTANCES = frozenset(
    ["above", "below", "from", "proximal", "distal", "beyond", "superior", "inferior", "cephalad", "caudal",
     "cranial", "short", "away"]
)  # fmt: skip
# What may stand between findings that share the side of the first: "left effusion and adjacent atelectasis".
_LISTING = frozenset(
    [",", "and", "/", "a", "an", "the", "with", "adjacent", "associated", "overlying", "mild", "small",
     "moderate", "large", "minimal", "trace", "compressive", "passive", "mildly"]
)  # fmt: skip
# What stands before them is not what the state is of: "the chest shows the heart to be large".
_SHOWING = frozenset(["demonstrate", "demonstrated", "show", "reveal", "shown"])
# Where they stand, another clause begins.
_BEGIN = frozenset(["there", "no", "but", "which", "demonstrate", "show"])
# Between two findings and a change they say that it is of both: "effusion and atelectasis are stable".
_PLURAL = frozenset(["are", "have", "were", "all", "both", "each"])
# Where they stand between two findings, these are not items of one list.
_NOT_LISTING = BE | {"with", "without", "no", "but", "which", "or", "than", "there"}
# Behind a normal state they say that it is of no structure: "clear of effusion", "in satisfactory position".
_NOT_OF_SUBJECT = frozenset(["of", "from", "position", "positioning"])
# How words of a place begin that say a side of their own.
_BOTH = ("bi", "both", "left", "right")
_OTHER_SIDE = {"left": "right", "right": "left"}
_FAR = 40
"""What is as far from a finding as this, in words and costs of separators, is not said of it."""

GROWN = 1.15
"""A size that is larger than before by more than this factor has increased."""

V = TypeVar("V")


@dataclass(slots=True)
class Mention:
    """A finding in a sentence, and what is said of it.

    Attributes
    ----------
    first, end : its first word, and one past its last word.
    senses : the observations that its name may stand for.
    presence : present, absent or uncertain.
    start, stop : its characters in the sentence, with those of its structure where it is a state of one.
    spots : for each place said of it, the places that the words may stand for.
    sides : sides said of it, in words of their own.
    severity : the highest degree said of it, from 0; None where none is.
    size_mm : its diameters in millimetres; empty where none is given.
    distance_mm : of a device's tip, its distance from a landmark in millimetres; 0 at the landmark.
    change : the kind of change, such as "increased"; None where none is said.
    sign_of : the mentions, by their number in the sentence, that it is read as a sign of.
    before : the six words before it, at most.
    """

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
    distance_mm: float | None = None
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


class Unused(NamedTuple):
    """A word that the reading did not use: its characters, and what it is (degree, side, place, ...)."""

    start: int
    stop: int
    kind: str


class Parsed(NamedTuple):
    """A sentence as read; positions are relative to it.

    ``used`` is how many of its words that carry meaning were used, ``unused`` are those that were not;
    ``misspelt`` are (start, end, word that was read).
    """

    mentions: tuple[Mention, ...]
    normals: tuple[NormalMention, ...]
    spots: tuple[list[Spot], ...]
    used: int
    unused: tuple[Unused, ...]
    misspelt: tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=65536)
def parse(sentence: str) -> Parsed:
    """Read a sentence; the result is shared and must not be changed."""
    return _Sentence(sentence, vocabulary()).read()


def _marks(size: int, *groups: Sequence[PhraseMatch[Any]], begins: bool = False) -> list[bool]:
    """For each of ``size`` words, whether it is in a phrase of the groups, or with ``begins`` the first of
    one."""
    marked = [False] * size
    for group in groups:
        for match in group:
            for place in range(match.first, match.first + 1 if begins else match.end):
                marked[place] = True
    return marked


class _Sentence:
    """A sentence while it is read: phrases of every kind, and which words were used.

    The constructor finds the phrases (``named``, ``spots``, ``degrees``, ``changes``, ``states``,
    ``subjects``, ``sides``, ``sizes``) in this order, because later searches leave out words that earlier
    ones took, then words about the past (``past``) and the reach of negations (``scope``). :meth:`read` turns
    them into mentions and attaches places, sides, degrees, sizes and changes to the nearest.
    """

    def __init__(self, statement: str, known: Vocabulary) -> None:
        self.known = known
        self.words = tokens(statement)
        self.misspelt: list[tuple[int, int, str]] = []
        for at, token in enumerate(self.words):
            if (meant := known.spelling.meant(token.word)) is not None:
                self.words[at] = token._replace(word=meant)
                self.misspelt.append((token.start, token.end, meant))
        text, size = [token.word for token in self.words], len(self.words)
        self.used, self.normal = [False] * size, [False] * size
        self.named = known.observations.find(text)
        named = _marks(size, self.named)
        self.spots = places(self.words, known)
        self.spots = [
            one._replace(value=[self._of_one(spot, one, statement) for spot in one.value])
            for one in self.spots
            if not self._in_no_place(one)
        ]
        self.degrees = known.degrees.find(text, named)
        denied = list(denied_changes(self.words, named))
        self.compared = compared = list(side_comparisons(self.words))
        taken = _marks(size, denied, compared)
        self.changes = denied + [
            one
            for one in known.changes.find(text, named)
            if not taken[one.first] and not self._compares_places(one)
        ]
        self.changes.sort()
        self.degrees = [one for one in self.degrees if not (taken[one.first] or self._of_change(one))]
        # "Lower" calls nothing low in "the right lower lung".
        zones = [spot for spot in self.spots if ZONES & self._between(spot.first, spot.end)]
        self.states = known.states.find(text, _marks(size, self.named, zones))
        self.subjects = known.subjects.find(text, named)
        # Of "lung vascularity" the vessels are spoken of, and no lung.
        self.subjects = [
            one
            for one in self.subjects
            if not (
                one.first
                and one.value[0].key == "chest_normal"
                and self.words[one.first - 1].word in ("prior", "previous", "earlier", "comparison")
            )
        ]
        self.subjects = [
            one
            for one, after in zip_longest(self.subjects, self.subjects[1:])
            if not (after is not None and one.end == after.first and self._of_vessels(one, after))
        ]
        self.sides = known.sides.find(text, _marks(size, self.spots, compared)) + compared
        self.sizes = list(sizes(self.words))
        self.past = of_before(self.words, self.sizes)
        descriptors = _marks(size, self.degrees, self.sizes, self.changes, self.sides, begins=True)
        self.scope: ScopeWords = scope(
            self.words, known, _marks(size, self.changes, compared), descriptors,
            _marks(size, self.subjects, begins=True), named, _marks(size, self.spots),
            _marks(size, [one for one in self.named if self._seldom_denied(one)]),
        )  # fmt: skip

    def _seldom_denied(self, name: PhraseMatch[list[Sense]]) -> bool:
        keys = {sense.key for sense in name.value if sense.region == HOME}
        return bool(keys) and keys <= self.known.seldom_denied | self.known.devices

    def _of_vessels(self, one: PhraseMatch[list[Subject]], after: PhraseMatch[list[Subject]]) -> bool:
        keys = {subject.key for subject in one.value}
        return bool(keys & {"lungs_clear", "hila"}) and after.value[0].key == "vascularity"

    def _in_no_place(self, spot: PhraseMatch[list[Spot]]) -> bool:
        """Whether a place is part of a phrase that names none: "outside the thoracic cavity"."""
        return any(
            name.value[0].key == IGNORED
            and name.first <= spot.first
            and spot.end <= name.end
            and spot.end - spot.first < name.end - name.first
            and spot.value[0].location.place != "jugular_vein"
            for name in self.named
        )

    def _of_one(self, spot: Spot, found: PhraseMatch[list[Spot]], statement: str) -> Spot:
        """The place of a single word: "at the lung base" is on one side, unlike "bases"."""
        last, said = self.words[found.end - 1], self._between(found.first, found.end)
        plural = statement[last.start : last.end].lower() != last.word
        if spot.location.side != "bilateral" or plural or any(word.startswith(_BOTH) for word in said):
            return spot
        place = spot.location.place
        return spot._replace(location=replace(spot.location, side=None)) if place else spot

    def _compares_places(self, change: PhraseMatch[str]) -> bool:
        """Whether a comparative is one of places: "more prominent in the bases", not "than before"."""
        if self.words[change.first].word not in MORE:
            return False
        at = change.end
        while at < len(self.words) and self.words[at].word in ("in", "at", "within", "the", "on", "towards"):
            at += 1
        rest = self._between(at, len(self.words))
        return (
            at > change.end
            and any(spot.first == at for spot in self.spots)
            and not rest & {"than", "since", "compared", "prior", "previous", "previously"}
        )

    def _of_change(self, degree: PhraseMatch[int]) -> bool:
        """Whether a degree is one of change: "slightly improved", "marked interval increase in"."""
        last = self.words[degree.end - 1].word
        at = degree.end + (degree.end < len(self.words) and self.words[degree.end].word == "interval")
        if any(one.first == degree.end and one.value == "bilateral" for one in self.compared):
            self._use(degree.first, degree.end)
            return True  # "slightly greater on the left"
        change = next((one for one in self.changes if one.first in (degree.end, at)), None)
        if change is None:
            return False
        noun = self._between(change.first, change.end) & CHANGE_NOUNS
        if not (last.endswith("ly") or last == "little" or noun):
            return False
        self._use(degree.first, degree.end)
        return True

    def read(self) -> Parsed:
        """The sentence as read; to be called once, for it marks the words that it uses."""
        mentions = [
            self._mention(found.first, found.end, self._about(found))
            for found in self.named
            if found.value[0].key != IGNORED
        ]
        stated, normals = self._states()
        mentions = sorted([*mentions, *stated], key=lambda one: one.first)
        mentions = [one for one in mentions if not self.scope.hypothetical[one.first]]
        # "Previously a 2 cm nodule, now 3 cm" has a nodule.
        mentions = [one for one in mentions if not self.past[one.first]] or (
            mentions if not normals and NOW & self._between(0, len(self.words)) else []
        )
        mentions = sorted([*self._whole_names(mentions), *self._stacked()], key=lambda one: one.first)
        mentions = self._alternatives(mentions)
        self._link(mentions)
        others = [self._mention(one.first, one.end, one.value) for one in self.named if self._takes(one)]
        self._attach(sorted([*mentions, *others], key=lambda one: one.first))
        if normals and not mentions:
            self._use_all(self.spots)
            self._use_all(self.sides)
        used, unused = self._usage(mentions)
        spots = tuple(spot.value for spot in self.spots)
        return Parsed(tuple(mentions), tuple(normals), spots, used, unused, tuple(self.misspelt))

    def _use(self, first: int, end: int) -> None:
        for at in range(first, end):
            self.used[at] = True

    def _use_all(self, found: Iterable[PhraseMatch[Any]]) -> None:
        for one in found:
            self._use(one.first, one.end)

    def _usage(self, mentions: list[Mention]) -> tuple[int, tuple[Unused, ...]]:
        """How many words that carry meaning were used, and which were not."""
        passed = [*self.past]
        known = self.known
        # "Calcified" is a finding of its own in "tortuous calcified aorta"
        calcified = any(sense.key in known.calcified for one in mentions for sense in one.senses)
        for at, word in enumerate(self.words):
            looks = bool(mentions) and word.word in known.looks and (calcified or word.word != "calcified")
            passed[at] |= self.scope.hypothetical[at] or looks or word.word in known.passed_over
            passed[at] |= not word.word.isalnum() or (len(word.word) == 1 and not word.word.isdigit())
        for found in self.named:
            self._use(found.first, found.end)
        kinds = [""] * len(self.words)
        groups: dict[str, Sequence[PhraseMatch[Any]]] = {
            "size": self.sizes, "place": self.spots, "side": self.sides, "degree": self.degrees,
            "change": self.changes, "negation": self._vain_negations(mentions),
        }  # fmt: skip
        for at, word in enumerate(self.words):
            passed[at] |= word.word == "interval" and "the" in self._between(max(0, at - 1), at)
            if word.word in self.known.unscaled:
                of_change = any(at < one.first <= at + 2 for one in self.changes)
                kinds[at] = "" if of_change or self.scope.denied[at] else "degree"
                passed[at] |= not kinds[at]
        for kind, group in groups.items():
            for match in group:
                for at in range(match.first, match.end):
                    kinds[at] = kind
        unused = [
            Unused(word.start, word.end, kinds[at] or "word")
            for at, word in enumerate(self.words)
            if not self.used[at] and (kinds[at] or not (passed[at] or word.word.isdigit()))
            and not self.past[at] and not self.scope.hypothetical[at] and word.word.isalnum()
        ]  # fmt: skip
        used = sum(mine and not over for mine, over in zip(self.used, passed, strict=True))
        return used, tuple(dict.fromkeys(unused))

    def _vain_negations(self, mentions: list[Mention]) -> list[PhraseMatch[str]]:
        """The words of denial that deny nothing that was read; the others are marked as used."""
        vain = []
        for cue in self.scope.before:
            if cue.value != "negation_before":
                self._use(cue.first, cue.end)
                continue
            behind = next((one for one in mentions if one.end > cue.first), None)
            before = next((one for one in reversed(mentions) if one.first < cue.first), None)
            if any(one is not None and one.presence == "absent" for one in (behind, before)):
                self._use(cue.first, cue.end)
            elif not any(self.used[cue.first : cue.end]):
                vain.append(cue)
        for found in self.scope.after:
            if found.value == "hedge" or any(
                one.presence == "absent" and one.first < found.first for one in mentions
            ):
                self._use(found.first, found.end)
        return vain

    def _takes(self, found: PhraseMatch[list[Sense]]) -> bool:
        """Whether a phrase is not a finding, and keeps what is said of it from the others: "aeration"."""
        if found.value[0].key != IGNORED:
            return False
        return " ".join(word.word for word in self.words[found.first : found.end]) in self.known.no_findings

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
        """Findings and normal structures from a structure and a state: "heart is enlarged", "clear lungs".

        Goes through structures, states, names of findings and separators from left to right. Structures wait
        (``pending``) for a state that follows in their clause; a state that comes first waits (``waiting``)
        for structures right behind it. ``said`` are the structures that the last state was said of, to which
        a second state may be added. A name of a finding ends all three, and up to the next separator
        (``blocked``) no structure waits.
        """
        events: list[tuple[int, str, Any]] = [(one.first, "subject", one) for one in self.subjects]
        events += [(one.first, "state", one) for one in self.states]
        events += [(one.first, "named", one) for one in self.named]
        events += [
            (at, "break", word.word)
            for at, word in enumerate(self.words)
            if word.word in (",", "and", "with", "otherwise")
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
                said = [] if one == "with" else said
            elif kind == "named":
                said = pending if self._is_state_of(one, pending) else []
                blocked, pending, waiting = True, [], None
            elif kind == "subject":
                said = said if waiting is None and not blocked else []
                # "The chest shows the heart to be large", "Chest: heart normal"
                if pending and self._between(pending[-1].end, at) & {*_SHOWING, ":"}:
                    pending = []
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

    def _is_state_of(
        self, name: PhraseMatch[list[Sense]], subjects: list[PhraseMatch[list[Subject]]]
    ) -> bool:
        """Whether a name of a finding is the predicate of structures: "the lungs are hyperinflated but
        clear"."""
        if not subjects or not BE & self._between(subjects[-1].end, name.first):
            return False
        own = {one.key for subject in subjects for one in subject.value}
        states = {key for (structure, _), key in self.known.abnormal_states.items() if structure in own}
        return bool(states & {sense.key for sense in name.value})

    def _stacked(self) -> list[Mention]:
        """States before a name that holds their structure: "calcified tortuous aorta" is calcified too."""
        found = []
        for name in self.named:
            if name.value[0].key == IGNORED:
                continue
            text = [word.word for word in self.words[name.first : name.end]]
            keys = {one.key for subject in self.known.subjects.find(text) for one in subject.value}
            at = name.first - 1
            while at >= 0 and self.words[at].word in ("and", ",", "/", "mildly", "slightly"):
                at -= 1
            states = (self.known.abnormal_states.get((key, self.words[at].word)) for key in sorted(keys))
            changed = any(one.first <= at < one.end for one in self.changes)
            key = next(filter(None, states), None) if at >= 0 and not changed else None
            taken = any(one.first <= at < one.end for one in self.spots) or any(
                one.first <= at < one.end and self.words[at].word not in _ADJECTIVES for one in self.named
            )
            if key is not None and not taken and key not in {sense.key for sense in name.value}:
                found.append(self._mention(at, at + 1, [Sense(key, HOME)]))
                self._use(at, at + 1)
        return found

    def _say(
        self,
        subjects: list[PhraseMatch[list[Subject]]],
        state: PhraseMatch[str],
        mentions: list[Mention],
        normals: list[NormalMention],
    ) -> bool:
        """Add a mention or a normal statement for each structure to which the state applies; whether there
        is any."""
        first, end = state.first, max(state.end, subjects[-1].end)
        words = plain(" ".join(word.word for word in self.words[state.first : state.end]))
        if state.value == "normal":
            # "clear of effusion" denies that alone, "in satisfactory position" is said of a device
            if self.scope.denied[state.first] or self._between(state.end, state.end + 1) & _NOT_OF_SUBJECT:
                return False
            subjects = [one for one in subjects if self._fits(one, words)]
            if subjects:
                self._use(state.first, state.end)
            for subject in subjects:
                self._use(subject.first, subject.end)
                for at in (*range(subject.first, subject.end), *range(state.first, state.end)):
                    self.normal[at] = True
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
                    self._use(state.first, state.end)
                    self._use(subject.first, subject.end)
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
        """The change that is said within three words of a normal structure; it is marked as used."""
        near = next(
            (
                one
                for one in self.changes
                if first - 3 <= one.first <= end + 3 and not self._of_next(end, one)
            ),
            None,
        )
        if near is None:
            return None
        self._use(near.first, near.end)
        return near.value

    def _of_next(self, end: int, change: PhraseMatch[str]) -> bool:
        """Whether a change behind a comma is of the next structure."""
        following = range(change.end, change.end + 4)
        return "," in self._between(end, change.first) and any(
            subject.first in following for subject in self.subjects
        )

    def _stable(self) -> list[NormalMention]:
        """ "Stable cardiomediastinal silhouette": as good as normal where nothing else is said of it."""
        if self.named:
            return []
        stable = [one for one in self.changes if one.value == "unchanged"]
        found = [
            NormalMention(
                subject.value, "stable", self.words[subject.first].start, self.words[subject.end - 1].end,
                "unchanged",
            )
            for subject in self.subjects
            if stable
            and any(self._near_stable(one, subject) for one in stable)
            and {one.key for one in subject.value} & self.known.stable
        ]  # fmt: skip
        if found:
            self._use_all(stable)
            self._use_all(
                one for one in self.subjects if {each.key for each in one.value} & self.known.stable
            )
        return found

    def _near_stable(self, stable: PhraseMatch[str], subject: PhraseMatch[list[Subject]]) -> bool:
        """Whether the word is said of the structure, or of all that are listed with it."""
        first, end = sorted([(stable.first, stable.end), (subject.first, subject.end)])
        between = self._between(first[1], end[0])
        return abs(stable.first - subject.first) <= 5 or not between & (_BEGIN | {"with", "without"})

    # --- diagnoses and attributes ---

    def _of_normal(self, change: PhraseMatch[str], finding: Mention) -> bool:
        """Whether a word of change is nearer to what is called normal: "the heart remains normal"."""

        def between(first: int, end: int) -> int:
            return max(first - change.end, change.first - end, 0)

        apart = between(finding.first, finding.end)
        return any(said and between(at, at + 1) < apart for at, said in enumerate(self.normal))

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
            and not self._of_hardware(one, after)
            and not self._heads(one, after)
        ]

    def _heads(self, one: Mention, after: Mention | None) -> bool:
        """ "Lines and tubes: ETT" names one."""
        group = all(sense.key == "tubes_lines" for sense in one.senses)
        return group and after is not None and ":" in self._between(one.end, one.end + 1)

    def _of_hardware(self, one: Mention, after: Mention | None) -> bool:
        """ "Fracture of a sternotomy wire" breaks no bone."""
        if after is None or not all(sense.key in self.known.devices for sense in after.senses):
            return False
        broken = self._between(one.first, one.end) & {"fracture", "fx"}
        return bool(broken) and after.first - one.end <= 4 and "of" in self._between(one.end, after.first)

    def _alternatives(self, mentions: list[Mention]) -> list[Mention]:
        """ "Atelectasis or scarring" doubts both, and so does "versus"."""
        for one, after in pairwise(mentions):
            between = self._between(one.end, after.first)
            near = after.first - one.end <= 5 and not between & {",", "with"}
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
        """Attach places, sides, degrees, sizes and changes, in this order, to the mentions nearest to them,
        in place. What says how something was before is left out; words that were attached are marked as
        used."""
        if not mentions:
            return
        for spot in self._now(self.spots):
            if all(self.normal[spot.first : spot.end]):
                continue  # "the right lung is clear" says where nothing is
            overlaid = [one for one in mentions if one.first < spot.end and spot.first < one.end]
            if overlaid and all(sense.key in self.known.devices for sense in overlaid[0].senses):
                # The vein in the name of a line is where it goes in, not where it lies.
                self._use(spot.first, spot.end)
                overlaid[0].sides += [side for side in [spot.value[0].location.side] if side]
            elif not any(one.first <= spot.first and spot.end <= one.end for one in mentions):
                located = bool(spot.first) and (
                    self.words[spot.first - 1].word in _PREPOSITIONS
                    or any(other.end == spot.first - 1 for other in self.spots)
                )
                if one := self._nearest(mentions, spot, 0 if located else 4, 3 if located else 0):
                    one.spots.append(spot.value)
                    self._use(spot.first, spot.end)
                    if self._at_place(one, spot):
                        one.distance_mm = 0.0
            else:
                # Of the words of a name only those say where that a finding of the name may be at.
                owner = next(one for one in mentions if one.first <= spot.first and spot.end <= one.end)
                usual = set().union(*(self.known.places.get(sense.key, ()) for sense in owner.senses))
                if usual & {one.location.place for one in spot.value}:
                    owner.spots.append(spot.value)
        self._share_places(mentions)
        self._share_sides(mentions)
        for side in self._now(self.sides):
            if one := self._nearest(mentions, side, 2, 0):
                one.sides.append(side.value)
                places = {spot.location.side for spots in one.spots for spot in spots}
                if side.value in _OTHER_SIDE and _OTHER_SIDE[side.value] in places:
                    continue  # it says where something else is
                alone = not any(spot.first < side.end and side.first < spot.end for spot in self.spots)
                if alone and side in self.compared and self.words[side.first].word not in ("left", "right"):
                    # "At the left base greater than the right"
                    one.spots = [[both_sides(spot) for spot in spots] for spots in one.spots]
                self._use(side.first, side.end)
        for degree in self._now(self.degrees):
            # "Effusions, small on the left with atelectasis": the effusion is small
            before = [one for one in mentions if one.end <= degree.first]
            back = "on" in self._between(degree.end, degree.end + 1) and bool(before)
            if one := self._nearest(before if back else mentions, degree, 4, 0, loose=True):
                one.severity = max(degree.value, -1 if one.severity is None else one.severity)
                self._use(degree.first, degree.end)
        self._measure(mentions)
        for change in self._now(self.changes):
            whole = any(
                one.first == change.end and one.value[0].key == "chest_normal" for one in self.subjects
            )
            if whole or self._names_finding(change, mentions):
                self._use(change.first, change.end)
                continue
            one = self._nearest(self._may_have_changed(change, mentions), change, 1, 0, loose=True)
            if self._of_structure(change, mentions):
                continue
            if one is not None and one.change in (None, change.value) and not self._of_normal(change, one):
                one.change = change.value
                self._share_change(change, one, mentions)
                if not self._may_be_of_others(change, one, mentions):
                    self._use(change.first, change.end)

    def _parted(self, first: int, end: int) -> bool:
        return bool(self._between(first, end) & {",", "with", "and", "without", "in"})

    def _may_have_changed(self, change: PhraseMatch[str], mentions: list[Mention]) -> list[Mention]:
        """Without what is denied behind the change, or what a sign before it is read as: "again noted without
        fracture", "a nodule, stable, and read as a granuloma"."""
        signs = any(one.end <= change.first for one in mentions)
        read_as = min((link for link in self.scope.links if signs and link > change.first), default=None)
        stated = [
            one
            for one in mentions
            if one.first < change.first
            or (one.presence != "absent" and (read_as is None or one.first < read_as))
        ]
        return mentions if self.scope.denied[change.first] else stated

    def _may_be_of_others(self, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]) -> bool:
        """Whether a change behind two findings of a clause may be of both, and was read as of one."""
        before = [one for one in mentions if one.first < owner.first and one.presence != "absent"]
        if change.first < owner.end or not before or before[-1].change == change.value:
            return False
        between = self._between(before[-1].end, owner.first)
        return bool(between & {"and", "with", "/"}) and not between & (BE | {","})

    def _of_structure(self, change: PhraseMatch[str], mentions: list[Mention]) -> bool:
        """Whether a change is said of a structure within commas, or beside it: "large heart, mediastinum
        stable", "stable mediastinum with tortuous aorta"."""
        for one in self.subjects:
            # "The tortuous aorta is stable": that is said of the finding
            if one.value[0].key not in self.known.stable or any(
                each.start <= self.words[one.first].start < each.stop
                or (each.end <= one.first <= each.end + 3 and not self._parted(each.end, one.first))
                for each in mentions
            ):
                continue
            between = self._between(*sorted((one.first, one.end, change.first, change.end))[1:3])
            behind = one.end <= change.first and between and between <= BE | {"grossly", "also"}
            if behind or (change.end <= one.first and between <= {"the", "appearance", "of"}):
                return True
        commas = [at for at, word in enumerate(self.words) if word.word == ","]
        begin = max((at for at in commas if at < change.first), default=-1)
        end = min((at for at in commas if at > change.first), default=len(self.words))
        return (
            begin >= 0
            and any(
                begin < one.first < end and one.value[0].key in self.known.stable for one in self.subjects
            )
            and not any(begin < one.first < end for one in mentions)
        )

    def _share_change(self, change: PhraseMatch[str], owner: Mention, mentions: list[Mention]) -> None:
        """ "Stable effusion and atelectasis", "effusion and atelectasis are stable": both are."""
        at = mentions.index(owner)
        if change.end <= owner.first:
            sharing = mentions[at : at + 2]
            between = self._between(sharing[0].end, sharing[-1].first)
            # "Unchanged appearance of the left nodule and the right mass"
            of_all = "appearance" in self._between(change.end, owner.first) and not between & _NOT_LISTING
            joined = between <= {"and", "/"} or (of_all and "and" in between)
            others = sharing[1:] if joined else []
        else:
            behind = self._between(owner.end, change.first)
            plural = bool(behind & _PLURAL)
            # "Effusion and atelectasis, unchanged", "... as before"
            bare = change.value == "unchanged" and not behind & (BE | {"with", "which", "that"})
            others = []
            for one, after in reversed(list(pairwise(mentions[: at + 1]))):
                between = self._between(one.end, after.first)
                listed = between & {"and", ","} and not between & _NOT_LISTING
                if not (between == {"/"} or (listed and (plural or (bare and "," not in between)))):
                    break
                others.append(one)
        for one in others:
            if one.change is None and one.presence == owner.presence != "absent":
                one.change = change.value

    def _now(self, found: Sequence[PhraseMatch[V]]) -> list[PhraseMatch[V]]:
        """The phrases that are not about how something was before."""
        return [one for one in found if not self.past[one.first]]

    def _measure(self, mentions: list[Mention]) -> None:
        """Sizes, and the change that follows from those of before; distances of tips are not sizes."""
        for size in self._now(self.sizes):
            if one := self._nearest(mentions, size, 0, 0):
                self._use(size.first, size.end)
                if self._between(size.end, size.end + 1) & _DISTANCES:
                    one.distance_mm = size.value[0]
                else:
                    one.size_mm = size.value
        for size in self.sizes:
            if self.past[size.first] and (one := self._nearest(mentions, size, 0, 0)) and one.size_mm:
                grown = max(one.size_mm) / max(size.value) if max(size.value) else 1.0
                one.change = (
                    "increased" if grown > GROWN else "decreased" if grown < 1 / GROWN else "unchanged"
                )

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

    def _at_place(self, one: Mention, spot: PhraseMatch[list[Spot]]) -> bool:
        """Whether a tube ends at the place from which its distance is measured: "tip at the carina"."""
        near = self._between(max(0, spot.first - 4), spot.first)
        ends = "ett" in {sense.key for sense in one.senses} and spot.value[0].location.place == "above_carina"
        return (
            ends and bool({"at", "below"} & near) and not near & (_DISTANCES - {"below"}) and not self.sizes
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

    def _share_sides(self, mentions: list[Mention]) -> None:
        """ "Left effusion, consolidation and atelectasis": the side before a list belongs to all of it."""
        sided: dict[int, str] = {side.end: side.value for side in self.sides}
        shared: str | None = None
        for number, one in enumerate(mentions):
            before = mentions[number - 1].end if number else 0
            reach = range(one.first, max(one.first - 4, before - 1), -1)
            own = next((sided[at] for at in reach if at in sided), None)
            if number and own is None and not one.spots and shared is not None:
                between = self._between(mentions[number - 1].end, one.first)
                listed = between <= _LISTING and between & {
                    ",",
                    "and",
                    "/",
                    "adjacent",
                    "associated",
                    "overlying",
                }
                if listed and any(self.known.takes_side(sense.key) for sense in one.senses):
                    one.sides.append(shared)
                    continue
            shared = own if own in ("left", "right") else None

    def _nearest(
        self,
        mentions: list[Mention],
        what: PhraseMatch[Any],
        behind: int,
        before: int,
        *,
        loose: bool = False,
    ) -> Mention | None:
        """The mention that a modifier belongs to; standing there costs ``behind`` or ``before`` it.

        A ``loose`` one that is alone in its clause belongs to the clause before.
        """
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
            # What stands behind a sign and before what it is read as is said of the sign.
            signs = any(other.end <= what.first for other in mentions)
            cost += 8 * any(signs and what.end <= link < one.first for link in self.scope.links)
            if self._apart(what.first, one.first, mentions, loose):
                cost += _FAR
            if cost < least:
                best, least = one, cost
        return best

    def _apart(self, at: int, name: int, mentions: list[Mention], loose: bool) -> bool:
        """Whether modifier and name are of different clauses; "in the left base there is" leads to a name."""
        here, there = self.scope.clause[at], self.scope.clause[name]
        begins = [one.first for one in mentions] + [one.first for one in self.subjects]
        if loose and here and all(self.scope.clause[first] != here for first in begins):
            here = self.scope.clause[here - 1]  # "a pneumothorax, which is unchanged"
        leads = (
            here < there
            and self.words[there].word == "there"
            and self.scope.clause[there - 1] == here
            and not any(here <= one.first < there for one in mentions)
            and not BE & self._between(at, there)
        )
        return here != there and not leads

    def _distance(self, first: int, end: int) -> int:
        """How far apart words are; "which may be" parts a sign from what it is read as."""
        read_as = sum(
            one.word == "which" and after.word in _MAY for one, after in pairwise(self.words[first : end + 1])
        )
        return 4 * read_as + sum(1 + _SEPARATORS.get(word.word, 0) for word in self.words[first:end])
