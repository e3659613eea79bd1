"""Finds the phrases in a sentence: names, places, degrees, changes, states, negations and hedges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeVar

from radeval_lib.rules.reader.changes import CHANGE_NOUNS, MORE, find_denied_changes, find_past_words, skip
from radeval_lib.rules.reader.phrases import VOLUMES, PhraseMatch, find_grades, find_segments, find_sizes
from radeval_lib.rules.reader.places import (
    OTHER_SIDE,
    ZONES,
    find_denied_places,
    find_places,
    find_side_comparisons,
    make_bilateral,
)
from radeval_lib.rules.reader.records import HOME, IGNORED, WHOLE, Mention, Presence, Sense, Spot
from radeval_lib.rules.reader.scope import PROBABLE, ScopeWords, WordFlags, find_scope
from radeval_lib.rules.reader.vocabulary import Vocabulary
from radeval_lib.rules.report_text import Token, tokenize

# Beginnings of words that give the name of a place a side.
_SIDE_PREFIXES = ("bi", "both", "left", "right")
# Words that can come between a comparative and a place: "more prominent in the bases".
_BEFORE_PLACE = frozenset(["in", "at", "within", "the", "on", "towards"])
# Words before "study" that mean an earlier study.
_PRIORS = frozenset(["prior", "previous", "earlier", "comparison"])
V = TypeVar("V")


def _mark_words(n: int, *groups: Sequence[PhraseMatch[Any]], begins: bool = False) -> list[bool]:
    """Return for each of ``n`` words whether it is in one of the phrases or, with ``begins``, whether it
    is the first word of a phrase."""
    flags = [False] * n
    for group in groups:
        for match in group:
            for position in range(match.first, match.first + 1 if begins else match.end):
                flags[position] = True
    return flags


def _resolve_sides(words: list[Token], side: str) -> list[Token]:
    """Return the words with "ipsilateral" and "contralateral" replaced by left or right, according to the
    last side named before them; ``side`` is the last side that earlier statements name, or empty."""
    resolved = []
    for token in words:
        if token.word in OTHER_SIDE:
            side = token.word
        elif side and token.word in ("ipsilateral", "contralateral"):
            token = token._replace(word=side if token.word == "ipsilateral" else OTHER_SIDE[side])
        resolved.append(token)
    return resolved


class MarkedSentence:
    """The phrases in a statement by kind, and the words that were used in reading the statement.

    Kinds of phrases are searched one after another, and later searches skip words that earlier searches
    found. Functions that read the sentence mark the words that they use (:meth:`use`).

    Attributes
    ----------
    vocab : the vocabulary.
    words : the statement's n words, with misspelt ones corrected.
    misspelt : (start, end, corrected word) of each misspelt word, in characters.
    used : for each word, whether it was used; length n.
    normal : for each word, whether it belongs to a normal statement; length n.
    names : names of findings, each with the observations for which it may stand.
    spots : places, each with its possible meanings; without places in asides ("not on the right").
    compared : comparisons of the two sides, such as "larger on the right".
    changes : words of change, each with the kind of change.
    degrees : words of degree that do not describe a change, each with its step of severity.
    states : words for a state, each with "normal", "abnormal" or a word of the vocabulary's
        ``abnormal_states``.
    subjects : structures, each with the normal statements of which it may be the subject.
    sides : words for sides, each with "left", "right" or "bilateral"; without sides in asides.
    sizes : measurements in millimetres.
    volumes : volumes in millilitres.
    grades : grades, stages and categories.
    qualities : words for mutually exclusive qualities, each with the quality; None for phrases that state no
        quality.
    limits : structures, each with the least size in millimetres that is too large and the observation that
        such a size means.
    past : for each word, whether it describes an earlier state; length n.
    scope : the words that negations, hedges and hypothetical phrases reach.
    """

    def __init__(self, statement: str, vocabulary: Vocabulary, side: str = "") -> None:
        """Find the phrases of a statement; ``side`` is the last side that earlier statements name."""
        self.vocab = vocabulary
        self.words = _resolve_sides(tokenize(statement), side)
        self.misspelt: list[tuple[int, int, str]] = []
        for i, token in enumerate(self.words):
            if (correction := vocabulary.spelling.correct(token.word)) is not None:
                self.words[i] = token._replace(word=correction)
                self.misspelt.append((token.start, token.end, correction))
        texts, n = [token.word for token in self.words], len(self.words)
        self.used, self.normal = [False] * n, [False] * n
        # Some names, such as "lymph nodes", are a finding only with a prefix, such as "enlarged".
        self.names = [
            match._replace(value=senses)
            for match in vocabulary.observations.find(texts)
            if (senses := [sense for sense in match.value if all(word in texts for word in sense.prefix)])
        ]
        in_name = _mark_words(n, self.names)
        # Places, without those within phrases that name no place.
        self.spots: list[PhraseMatch[list[Spot]]] = [
            match._replace(value=[self._trim_side(spot, match, statement) for spot in match.value])
            for match in find_places(self.words, self.vocab)
            if not self._is_in_ignored_phrase(match)
        ]
        self.sizes: list[PhraseMatch[tuple[float, ...]]] = find_sizes(self.words)
        self._mark_changes(texts, in_name)
        self._mark_structures(texts, in_name)
        self.sides = vocabulary.sides.find(texts, _mark_words(n, self.spots, self.compared)) + self.compared
        self.volumes = list(find_sizes(self.words, VOLUMES))
        self.grades = list(find_grades(self.words))
        self.qualities = [
            *vocabulary.qualities.find(texts),
            *find_segments(self.words),
        ]
        self.limits = vocabulary.limits.find(texts, in_name) if self.sizes else []
        self.past = find_past_words(self.words, self.sizes)
        self._mark_scope(in_name)

    def _mark_changes(self, texts: list[str], in_name: list[bool]) -> None:
        """Set ``compared``, ``changes`` and ``degrees``, and make the places within comparisons bilateral."""
        denied_changes = list(find_denied_changes(self.words, in_name))
        self.compared = list(find_side_comparisons(self.words))
        self.spots = [self._widen_if_compared(match) for match in self.spots]
        taken_words = _mark_words(len(texts), denied_changes, self.compared)
        changes = [
            match
            for match in self.vocab.changes.find(texts, in_name)
            if not taken_words[match.first] and not self._states_no_change(match)
        ]
        self.changes = sorted(denied_changes + changes)
        self.degrees = [
            match
            for match in self.vocab.degrees.find(texts, in_name)
            if not (taken_words[match.first] or self._describes_change(match))
        ]

    def _mark_structures(self, texts: list[str], in_name: list[bool]) -> None:
        """Find the states (``states``) and the structures that they may describe (``subjects``)."""
        # A zone is not a state: "lower" in "the right lower lung".
        zones = [spot for spot in self.spots if ZONES & self.get_words(spot.first, spot.end)]
        self.states = self.vocab.states.find(texts, _mark_words(len(texts), self.names, zones))
        subjects = [
            match
            for match in self.vocab.subjects.find(texts, in_name)
            # "The prior exam" is not this study.
            if not (match.value[0].key == WHOLE and self.get_words(match.first - 1, match.first) & _PRIORS)
        ]
        self.subjects = [
            match
            for match, next_match in zip_longest(subjects, subjects[1:])
            # The vessels are the subject in "lung vascularity".
            if next_match is None
            or match.end != next_match.first
            or next_match.value[0].key != "vascularity"
            or {"lungs_clear", "hila"}.isdisjoint(subject.key for subject in match.value)
        ]

    def _mark_scope(self, in_name: list[bool]) -> None:
        """Set ``scope``, and remove the places and sides of asides from ``spots`` and ``sides``."""
        n = len(self.words)
        asides = list(find_denied_places(self.words, [*self.spots, *self.sides], in_name))
        flags = WordFlags(
            blocked=_mark_words(n, self.changes, self.compared, asides),
            attribute_starts=_mark_words(n, self.degrees, self.sizes, self.changes, self.sides, begins=True),
            subjects=_mark_words(n, self.subjects, begins=True),
            named=in_name,
            placed=_mark_words(n, self.spots),
            rarely_denied=_mark_words(n, [match for match in self.names if self._is_rarely_denied(match)]),
        )
        self.scope: ScopeWords = find_scope(self.words, self.vocab, flags)
        # Only asides about a finding that no other words deny restrict its places.
        asides = [
            aside
            for aside in asides
            if not self.scope.denied[max(name.first for name in self.names if name.first < aside.first)]
        ]
        self.use_all(asides)
        in_aside = _mark_words(n, asides)
        self.spots = [match for match in self.spots if not in_aside[match.first]]
        self.sides = [match for match in self.sides if not in_aside[match.first]]

    def _is_rarely_denied(self, name: PhraseMatch[list[Sense]]) -> bool:
        """Return whether all observations of the chest for which a name may stand are devices or rarely
        denied in lists; False if it stands for none of the chest."""
        keys = {sense.key for sense in name.value if sense.region == HOME}
        return bool(keys) and keys <= self.vocab.rarely_denied | self.vocab.devices

    def _is_in_ignored_phrase(self, spot: PhraseMatch[list[Spot]]) -> bool:
        """Return whether a place is part of a longer phrase that is ignored, such as "outside the thoracic
        cavity"."""
        return any(
            name.value[0].key == IGNORED
            and name.first <= spot.first
            and spot.end <= name.end
            and spot.end - spot.first < name.end - name.first
            and spot.value[0].location.place != "jugular_vein"
            for name in self.names
        )

    def _widen_if_compared(self, match: PhraseMatch[list[Spot]]) -> PhraseMatch[list[Spot]]:
        """Return a place as bilateral if it is within a comparison of the two sides ("right more than
        left basilar"); else return it unchanged."""
        is_compared = any(
            comparison.first <= match.first < comparison.end and comparison.value == "bilateral"
            for comparison in self.compared
        )
        return match._replace(value=[make_bilateral(spot) for spot in match.value]) if is_compared else match

    def _trim_side(self, spot: Spot, match: PhraseMatch[list[Spot]], statement: str) -> Spot:
        """Return a bilateral place without its side if it is named in the singular: unlike "bases", "the
        lung base" is on one side. Any other place is returned unchanged."""
        last_token = self.words[match.end - 1]
        is_plural = statement[last_token.start : last_token.end].lower() != last_token.word
        names_side = any(word.startswith(_SIDE_PREFIXES) for word in self.get_words(match.first, match.end))
        if spot.location.side != "bilateral" or is_plural or names_side:
            return spot
        place = spot.location.place
        return spot._replace(location=replace(spot.location, side=None)) if place else spot

    def _states_no_change(self, change: PhraseMatch[str]) -> bool:
        """Return whether a word of change states no change since an earlier study, but compares places, sizes
        or findings: "more prominent in the bases", "larger than 3 cm", "the larger nodule"."""
        if self.words[change.first].word not in MORE:
            return False
        i = skip(self.words, change.end, frozenset(["than"]))
        if any(size.first == i for size in self.sizes):
            return True
        has_article = "the" in self.get_words(change.first - 1, change.first)
        if has_article and any(change.end == name.first for name in self.names):
            self.use(change.first, change.end)
            return True
        i = skip(self.words, i, _BEFORE_PLACE)
        words_after = self.get_words(i, len(self.words))
        return (
            i > change.end
            and any(spot.first == i for spot in self.spots)
            and not words_after & {"than", "since", "compared", "prior", "previous", "previously"}
        )

    def _describes_change(self, degree: PhraseMatch[int]) -> bool:
        """Return whether a degree describes a change or a comparison of sides, as in "slightly improved" and
        "marked interval increase in"; if so, mark it as used."""
        last_word = self.words[degree.end - 1].word
        i = degree.end + (degree.end < len(self.words) and self.words[degree.end].word == "interval")
        if any(match.first == degree.end and match.value == "bilateral" for match in self.compared):
            self.use(degree.first, degree.end)
            return True  # "slightly greater on the left"
        change = next((match for match in self.changes if match.first in (degree.end, i)), None)
        if change is None:
            return False
        has_noun = self.get_words(change.first, change.end) & CHANGE_NOUNS
        if not (last_word.endswith("ly") or last_word == "little" or has_noun):
            return False
        self.use(degree.first, degree.end)
        return True

    def use(self, first: int, end: int) -> None:
        """Mark the words from index ``first`` to before ``end`` as used."""
        for i in range(first, end):
            self.used[i] = True

    def use_all(self, matches: Iterable[PhraseMatch[Any]]) -> None:
        """Mark all words of the phrases as used."""
        for match in matches:
            self.use(match.first, match.end)

    def get_words(self, first: int, end: int) -> set[str]:
        """Return the set of the words from index ``first`` to before ``end``."""
        return {token.word for token in self.words[first:end]}

    def build_mention(self, first: int, end: int, senses: list[Sense]) -> Mention:
        """Return a mention of the finding that the words from index ``first`` to before ``end`` name; it is
        absent or uncertain if a negation or a hedge reaches the first word."""
        presence: Presence = "present"
        if self.scope.denied[first]:
            presence = "absent"
        elif self.scope.doubted[first]:
            presence = "uncertain"
        words_before = tuple(token.word for token in self.words[max(0, first - 6) : first])
        return Mention(
            first,
            end,
            senses,
            presence,
            self.words[first].start,
            self.words[end - 1].end,
            words_before=words_before,
            probable=presence == "uncertain" and self.scope.doubted[first] == PROBABLE,
        )

    def select_current(self, matches: Sequence[PhraseMatch[V]]) -> list[PhraseMatch[V]]:
        """Return the phrases whose first word does not describe an earlier state."""
        return [match for match in matches if not self.past[match.first]]
