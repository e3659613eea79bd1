"""Finds the places in a sentence, including those that share a side or a noun ("the right upper and lower
lobes"), comparisons of the two sides, and places at which a finding is denied."""

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
CONJUNCTIONS = frozenset(["and", "or", "/"])

#: Words for the zones of a lung or another place.
ZONES = frozenset(["upper", "lower", "middle", "mid"])

_SIDE_WORDS = frozenset(["left", "right", "bilateral", "both"])


def find_places(words: Sequence[Token], vocabulary: Vocabulary) -> list[PhraseMatch[list[Spot]]]:
    """Return the anatomical places in a sentence with their possible meanings.

    "The right upper and lower lobes" are two places, which share the side and the noun.
    """
    spots = vocabulary.spots.find([token.word for token in words])
    spots = [_widen_to_both_sides(spot, words) for spot in spots]
    for i in range(len(words) - 3):
        zone, conjunction = words[i].word, words[i + 1].word
        if zone not in ZONES or conjunction not in CONJUNCTIONS | {","}:
            continue
        side = words[i - 1].word if i and words[i - 1].word in _SIDE_WORDS else ""
        has_own_side = words[i + 2].word in _SIDE_WORDS  # "the right upper and left lower lobes"
        second_zone = i + 3 if has_own_side else i + 2
        if second_zone + 1 >= len(words) or words[second_zone].word not in ZONES:
            continue
        noun = words[second_zone + 1].word
        spots += [
            PhraseMatch(i, i + 1, spot.value)
            for spot in vocabulary.spots.find(f"{side} {zone} {noun}".split())
        ]
        if side and not has_own_side:  # The second zone has the side of the first.
            spots = [spot for spot in spots if spot.first != second_zone]
            shared_places = vocabulary.spots.find(f"{side} {words[second_zone].word} {noun}".split())
            spots += [PhraseMatch(second_zone, second_zone + 2, spot.value) for spot in shared_places]
    return spots


def make_bilateral(spot: Spot) -> Spot:
    """Return a one-sided place as a bilateral one; return any other place unchanged."""
    is_one_sided = spot.location.side in ("left", "right")
    return spot._replace(location=replace(spot.location, side="bilateral")) if is_one_sided else spot


def _widen_to_both_sides(match: PhraseMatch[list[Spot]], words: Sequence[Token]) -> PhraseMatch[list[Spot]]:
    """Return a place as bilateral, and its match extended to the first side, if "and" or "or" joins both
    sides before it ("the left and right lungs"); else return the match unchanged."""
    words_before = [token.word for token in words[max(0, match.first - 2) : match.first]]
    side_word = words[match.first].word
    if words_before[1:] not in (["and"], ["or"]) or {side_word, words_before[0]} != {"left", "right"}:
        return match
    return PhraseMatch(match.first - 2, match.end, [make_bilateral(spot) for spot in match.value])


# Comparisons of the two sides of a finding: "larger on the right", "left > right".


_SIDES = frozenset(["left", "right"])
_TO_SIDES = (["to", "left"], ["to", "right"])
OTHER_SIDE = {"left": "right", "right": "left"}
_LESS_WORDS = frozenset(["<", "smaller", "less", "better"])
# Words between a comparative and the side that it describes: "larger on the right".
_BEFORE_SIDE = frozenset(["on", "at", "in", "the", "to", "toward", "than", "one", "that"])
_SHIFTS = frozenset(["shift", "shifted", "deviation", "deviated", "displaced", "displacement", "shifting"])
# Words between a side and a comparative: "right is slightly larger than left".
_BEFORE_COMPARATIVE = word_set("is slightly much somewhat mildly")
# Words between a side and the comparative that describes it: "left side being greater".
_AFTER_SIDE = word_set("is being side one slightly much somewhat mildly appearing appear a bit")


def find_side_comparisons(words: Sequence[Token]) -> Iterator[PhraseMatch[str]]:
    """Yield the comparisons of the two sides, with the value "bilateral": "larger on the right", "left >
    right", "the right being larger".

    A shift from one side to the other ("right to left shift") has the second side as its value.
    """
    i, has_shift = 0, any(token.word in _SHIFTS for token in words)
    while i < len(words):
        end, side = 0, "bilateral"
        if words[i].word not in _SIDES:
            end = _match_larger_on(words, i)
        elif has_shift and [token.word for token in words[i + 1 : i + 3]] in _TO_SIDES:
            end, side = i + 3, words[i + 2].word
        else:
            end = _match_larger_side(words, i) or _match_side_by_side(words, i)
        if end:
            yield PhraseMatch(i, end, side)
        i = end or i + 1


def find_greater_side(words: Sequence[Token], compared: PhraseMatch[str]) -> str | None:
    """Return the side with more of a finding according to a comparison of the two sides; None for a shift, or
    if the comparison names no side."""
    compared_words = [token.word for token in words[compared.first : compared.end]]
    side = next((word for word in compared_words if word in _SIDES), None)
    if compared.value != "bilateral" or side is None:
        return None
    says_less = not _LESS_WORDS.isdisjoint(compared_words)
    names_lesser_side = "than" in compared_words[: compared_words.index(side)]  # "larger than on the left"
    return OTHER_SIDE[side] if says_less != names_lesser_side else side


def _match_larger_on(words: Sequence[Token], i: int) -> int:
    """Return the index after a comparison such as "larger on the right" or "> left than right" that begins
    at index ``i``; 0 if there is none, as in "a larger right effusion"."""
    comparison = match_comparative(words, i)
    end = skip(words, comparison, _BEFORE_SIDE) if comparison else 0
    # A side directly after a comparative needs "than": "larger left than right".
    is_adjacent = end == comparison and words[i].word not in ("<", ">")
    if is_adjacent and (not end or [token.word for token in words[end + 1 : end + 2]] != ["than"]):
        return 0
    if not 0 < end < len(words) or words[end].word not in _SIDES or words[end - 1].word == "to":
        return 0
    other_side = skip(words, end + 1, frozenset(["side", "than", "on", "the"]))
    return other_side + 1 if other_side < len(words) and words[other_side].word in _SIDES else end + 1


def _match_side_by_side(words: Sequence[Token], i: int) -> int:
    """Return the index after a comparison such as "right more than left" or "left > right" that begins at
    index ``i``; 0 if there is none."""
    end = match_comparative(words, skip(words, i + 1, _BEFORE_COMPARATIVE))
    end = skip(words, end, frozenset(["than", "on", "the", "to", "side"])) if end else 0
    is_other_side = 0 < end < len(words) and words[end].word in _SIDES and words[end].word != words[i].word
    return end + 1 if is_other_side else 0


def _match_larger_side(words: Sequence[Token], i: int) -> int:
    """Return the index after a comparison such as "right is larger" or "left side being greater" that begins
    with the side at index ``i``; 0 if there is none."""
    end = skip(words, i + 1, _AFTER_SIDE)
    if end == i + 1 or not (end := match_comparative(words, end)):
        return 0
    return end if end >= len(words) or words[end].word in (",", ".", ")", "and", "one") else 0


# Places and sides that are contrasted with the place of a finding: "on the left, not on the right".


# Words that can come before and after an aside that names no other finding.
_WORDS_BEFORE = frozenset([",", "and", "but", "with", "("])
_WORDS_AFTER = word_set(", . ) but which at today now currently previously since as")
_DENIALS = frozenset(["not", "none", "nothing", "absent", "without"])
# Words between the denial and the place in an aside: "none seen on the right".
_FILLERS = word_set("any one seen present visible identified noted evident in on at within over of to the")


def find_denied_places(
    words: Sequence[Token], matches: Sequence[PhraseMatch[Any]], named: Sequence[bool]
) -> Iterator[PhraseMatch[None]]:
    """Yield the asides in a sentence that deny a finding at a place, such as "not on the right" in "on the
    left, not on the right".

    The finding and its place are named before the aside. If other words deny that finding, the aside adds a
    place to the denial ("no effusion on the left, none on the right").

    Parameters
    ----------
    words : the sentence's n words.
    matches : the sentence's places and sides.
    named : for each word, whether it is part of a finding's name; length n.
    """
    end_of = {match.first: match.end for match in sorted(matches, key=lambda match: match.end)}
    for i in range(1, len(words)):
        if (
            words[i].word not in _DENIALS
            or not any(named[:i])
            or not any(end <= i for end in end_of.values())
        ):
            continue
        has_verb = i > 1 and words[i - 1].word in ("is", "are")
        word_before = words[i - 2 if has_verb else i - 1].word
        if word_before not in _WORDS_BEFORE and i not in end_of.values():
            continue
        place_start = end = skip(words, i + 1, _FILLERS)
        while end in end_of:
            end = skip(words, end_of[end], frozenset(["side"]))
            next_place = skip(words, end, frozenset(["or", "and", "/", *_FILLERS]))
            end = next_place if next_place in end_of else end
        if end > place_start and (end == len(words) or words[end].word in _WORDS_AFTER):
            yield PhraseMatch(i, end, None)
