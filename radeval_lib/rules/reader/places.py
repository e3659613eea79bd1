"""Places in a sentence, with those that share a side or a noun: "the right upper and lower lobes"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from radeval_lib.rules.reader.meanings import Spot
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.vocabulary import Vocabulary
from radeval_lib.rules.report_text import Token

JOINTS = frozenset(["and", "or", "/"])
"""Words that join two of a kind."""

ZONES = frozenset(["upper", "lower", "middle", "mid"])
"""Words that part a place into its zones."""

_SIDED = frozenset(["left", "right", "bilateral", "both"])


def places(words: Sequence[Token], known: Vocabulary) -> list[PhraseMatch[list[Spot]]]:
    """The places of a sentence; of "the right upper and lower lobes" both have side and noun."""
    found = known.spots.find([word.word for word in words])
    found = [_with_other_side(one, words) for one in found]
    for at in range(len(words) - 3):
        first, joint = words[at].word, words[at + 1].word
        if first not in ZONES or joint not in JOINTS | {","}:
            continue
        side = words[at - 1].word if at and words[at - 1].word in _SIDED else ""
        own = words[at + 2].word in _SIDED
        later = at + 2 + own
        if later + 1 >= len(words) or words[later].word not in ZONES:
            continue
        noun = words[later + 1].word
        found += [
            PhraseMatch(at, at + 1, one.value) for one in known.spots.find(f"{side} {first} {noun}".split())
        ]
        if side and not own:
            found = [one for one in found if one.first != later]
            shared = known.spots.find(f"{side} {words[later].word} {noun}".split())
            found += [PhraseMatch(later, later + 2, one.value) for one in shared]
    return found


def both_sides(spot: Spot) -> Spot:
    """A place of one side as that of both; one without a side as it is."""
    one_sided = spot.location.side in ("left", "right")
    return spot._replace(location=replace(spot.location, side="bilateral")) if one_sided else spot


def _with_other_side(spot: PhraseMatch[list[Spot]], words: Sequence[Token]) -> PhraseMatch[list[Spot]]:
    """ "The left and right lungs" are both."""
    before = [word.word for word in words[max(0, spot.first - 2) : spot.first]]
    own = words[spot.first].word
    if before[1:] not in (["and"], ["or"]) or {own, before[0]} != {"left", "right"}:
        return spot
    return PhraseMatch(spot.first - 2, spot.end, [both_sides(one) for one in spot.value])
