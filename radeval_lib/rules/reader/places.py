"""Finds the places in a sentence, also those that share a side or a noun ("the right upper and lower lobes"),
comparisons of both sides, and places at which a finding is denied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from radeval_lib.rules.reader.changes import match_comparative, skip
from radeval_lib.rules.reader.phrases import PhraseMatch, word_set
from radeval_lib.rules.reader.records import Spot
from radeval_lib.rules.reader.vocabulary import Vocabulary
from radeval_lib.rules.report_text import Token

#: Words that join two places or findings.
JOINTS = frozenset(["and", "or", "/"])

#: Words for the zones of a place.
ZONES = frozenset(["upper", "lower", "middle", "mid"])

_SIDED = frozenset(["left", "right", "bilateral", "both"])


def find_places(words: Sequence[Token], vocabulary: Vocabulary) -> list[PhraseMatch[list[Spot]]]:
    """Return the places in a sentence with their possible meanings; in "the right upper and lower lobes"
    there are two places, which share the side and the noun."""
    spots = vocabulary.spots.find([word.word for word in words])
    spots = [_widen_to_both_sides(spot, words) for spot in spots]
    for at in range(len(words) - 3):
        first, joint = words[at].word, words[at + 1].word
        if first not in ZONES or joint not in JOINTS | {","}:
            continue
        side = words[at - 1].word if at and words[at - 1].word in _SIDED else ""
        has_own_side = words[at + 2].word in _SIDED  # "the right upper and left lower lobes"
        second_zone = at + 3 if has_own_side else at + 2
        if second_zone + 1 >= len(words) or words[second_zone].word not in ZONES:
            continue
        noun = words[second_zone + 1].word
        spots += [
            PhraseMatch(at, at + 1, spot.value)
            for spot in vocabulary.spots.find(f"{side} {first} {noun}".split())
        ]
        if side and not has_own_side:  # The second zone has the side of the first.
            spots = [spot for spot in spots if spot.first != second_zone]
            shared = vocabulary.spots.find(f"{side} {words[second_zone].word} {noun}".split())
            spots += [PhraseMatch(second_zone, second_zone + 2, spot.value) for spot in shared]
    return spots


def make_bilateral(spot: Spot) -> Spot:
    """Return a place on one side as bilateral; any other place unchanged."""
    one_sided = spot.location.side in ("left", "right")
    return spot._replace(location=replace(spot.location, side="bilateral")) if one_sided else spot


def _widen_to_both_sides(spot: PhraseMatch[list[Spot]], words: Sequence[Token]) -> PhraseMatch[list[Spot]]:
    """Return a place as bilateral, beginning with the other side, if both sides are joined before it:
    "the left and right lungs"; else unchanged."""
    words_before = [word.word for word in words[max(0, spot.first - 2) : spot.first]]
    side_word = words[spot.first].word
    if words_before[1:] not in (["and"], ["or"]) or {side_word, words_before[0]} != {"left", "right"}:
        return spot
    return PhraseMatch(spot.first - 2, spot.end, [make_bilateral(location) for location in spot.value])


# Both sides of a finding compared: "larger on the right", "left > right".


_SIDES = frozenset(["left", "right"])
_TO_SIDES = (["to", "left"], ["to", "right"])
OTHER_SIDE = {"left": "right", "right": "left"}
_FEWER = frozenset(["<", "smaller", "less", "better"])
_TOWARD = frozenset(["on", "at", "in", "the", "to", "toward", "than", "one", "that"])
_SHIFTS = frozenset(["shift", "shifted", "deviation", "deviated", "displaced", "displacement", "shifting"])
_BEFORE_COMPARATIVE = word_set("is slightly much somewhat mildly")
_BEING = word_set("is being side one slightly much somewhat mildly appearing appear a bit")


def find_side_comparisons(words: Sequence[Token]) -> Iterator[PhraseMatch[str]]:
    """Yield the comparisons of both sides, with the value "bilateral": "larger on the right", "left > right",
    "the right being larger".

    A shift from one side to the other has the other side as its value.
    """
    at, has_shift = 0, any(word.word in _SHIFTS for word in words)
    while at < len(words):
        end, side = 0, "bilateral"
        if words[at].word not in _SIDES:
            end = _match_larger_on(words, at)
        elif has_shift and [next_word.word for next_word in words[at + 1 : at + 3]] in _TO_SIDES:
            end, side = at + 3, words[at + 2].word
        else:
            end = _match_larger_side(words, at) or _match_side_by_side(words, at)
        if end:
            yield PhraseMatch(at, end, side)
        at = end or at + 1


def find_greater_side(words: Sequence[Token], compared: PhraseMatch[str]) -> str | None:
    """Return the side that has more according to a comparison of both sides; None for a shift, or if the
    comparison names no side."""
    compared_words = [word.word for word in words[compared.first : compared.end]]
    side = next((word for word in compared_words if word in _SIDES), None)
    if compared.value != "bilateral" or side is None:
        return None
    says_less = not _FEWER.isdisjoint(compared_words)
    names_lesser_side = "than" in compared_words[: compared_words.index(side)]  # "larger than on the left"
    return OTHER_SIDE[side] if says_less != names_lesser_side else side


def _match_larger_on(words: Sequence[Token], at: int) -> int:
    """Return the index behind a comparison such as "larger on the right" or "> left than right" that
    begins at ``at``; 0 if there is none, as in "a larger right effusion"."""
    comparison = match_comparative(words, at)
    end = skip(words, comparison, _TOWARD) if comparison else 0
    # A side right behind a comparative needs "than": "larger left than right".
    is_adjacent = end == comparison and words[at].word not in ("<", ">")
    if is_adjacent and (not end or [word.word for word in words[end + 1 : end + 2]] != ["than"]):
        return 0
    if not 0 < end < len(words) or words[end].word not in _SIDES or words[end - 1].word == "to":
        return 0
    after_side = skip(words, end + 1, frozenset(["side", "than", "on", "the"]))
    return after_side + 1 if after_side < len(words) and words[after_side].word in _SIDES else end + 1


def _match_side_by_side(words: Sequence[Token], at: int) -> int:
    """Return the index behind a comparison such as "right more than left" or "left > right" that begins
    at ``at``; 0 if there is none."""
    end = match_comparative(words, skip(words, at + 1, _BEFORE_COMPARATIVE))
    end = skip(words, end, frozenset(["than", "on", "the", "to", "side"])) if end else 0
    is_other_side = 0 < end < len(words) and words[end].word in _SIDES and words[end].word != words[at].word
    return end + 1 if is_other_side else 0


def _match_larger_side(words: Sequence[Token], at: int) -> int:
    """Return the index behind a comparison such as "right is larger" or "left side being greater" that
    begins with the side at ``at``; 0 if there is none."""
    end = skip(words, at + 1, _BEING)
    if end == at + 1 or not (end := match_comparative(words, end)):
        return 0
    return end if end >= len(words) or words[end].word in (",", ".", ")", "and", "one") else 0


# Places and sides that are contrasted with the place of a finding: "on the left, not on the right".


# Words that can come before and behind an aside that names no other finding.
_BEFORE = frozenset([",", "and", "but", "with", "("])
_BEHIND = word_set(", . ) but which at today now currently previously since as")
_DENIALS = frozenset(["not", "none", "nothing", "absent", "without"])
_ON = word_set("any one seen present visible identified noted evident in on at within over of to the")


def find_denied_places(
    words: Sequence[Token], matches: Sequence[PhraseMatch[Any]], named: Sequence[bool]
) -> Iterator[PhraseMatch[None]]:
    """Yield the asides of a sentence that deny a finding at a place ("on the left, not on the right"), from
    the denial to the end of the place.

    The finding and its own place are named before the aside. If other words deny that finding, the aside adds
    a place to the denial ("no effusion on the left, none on the right").

    Parameters
    ----------
    words : the sentence's n words.
    matches : its places and sides.
    named : for each word, whether it is in the name of a finding; length n.
    """
    end_of = {match.first: match.end for match in sorted(matches, key=lambda match: match.end)}
    for at in range(1, len(words)):
        if (
            words[at].word not in _DENIALS
            or not any(named[:at])
            or not any(end <= at for end in end_of.values())
        ):
            continue
        has_verb = at > 1 and words[at - 1].word in ("is", "are")
        word_before = words[at - 2 if has_verb else at - 1].word
        if word_before not in _BEFORE and at not in end_of.values():
            continue
        place_start = end = skip(words, at + 1, _ON)
        while end in end_of:
            end = skip(words, end_of[end], frozenset(["side"]))
            next_place = skip(words, end, frozenset(["or", "and", "/", *_ON]))
            end = next_place if next_place in end_of else end
        if end > place_start and (end == len(words) or words[end].word in _BEHIND):
            yield PhraseMatch(at, end, None)
