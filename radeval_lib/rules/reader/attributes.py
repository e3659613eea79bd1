"""Attaches places, sides, degrees and sizes to the findings of a sentence that they are said of."""

from __future__ import annotations

from itertools import pairwise

from radeval_lib.rules.reader.marked_sentence import MarkedSentence
from radeval_lib.rules.reader.meanings import Spot
from radeval_lib.rules.reader.mentions import Mention
from radeval_lib.rules.reader.nearest import nearest
from radeval_lib.rules.reader.phrases import PhraseMatch
from radeval_lib.rules.reader.places import JOINTS, both_sides

# Before a place they say that something is there: "in the left base".
_PREPOSITIONS = frozenset(
    ["in", "at", "within", "of", "over", "overlying", "near", "along", "involving", "on", "from", "to",
     "above", "projecting", "into", "through", "throughout", "toward", "the", "for", "about", "adjacent"]
)  # fmt: skip
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
_JOINING = frozenset([",", "and", "/", "adjacent", "associated", "overlying"])  # and of these one must
_OTHER_SIDE = {"left": "right", "right": "left"}
GROWN = 1.15
"""A size that is larger than before by more than this factor has increased."""


def attach(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Attach places, sides, degrees and sizes, in this order, to the mentions nearest to them, in place.

    What says how something was before is left out but for sizes, from which a change follows; words that were
    attached are marked as used.
    """
    _attach_places(sentence, mentions)
    _share_places(sentence, mentions)
    _share_sides(sentence, mentions)
    _attach_sides(sentence, mentions)
    _attach_degrees(sentence, mentions)
    _attach_sizes(sentence, mentions)


def _attach_places(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Places; the words of a name are one only where a finding of that name may be there."""
    for spot in sentence.now(sentence.spots):
        if all(sentence.normal[spot.first : spot.end]):
            continue  # "the right lung is clear" says where nothing is
        overlaid = [one for one in mentions if one.first < spot.end and spot.first < one.end]
        if overlaid and all(sense.key in sentence.known.devices for sense in overlaid[0].senses):
            # The vein in the name of a line is where it goes in, not where it lies.
            sentence.use(spot.first, spot.end)
            overlaid[0].sides += [side for side in [spot.value[0].location.side] if side]
        elif not any(one.first <= spot.first and spot.end <= one.end for one in mentions):
            located = bool(spot.first) and (
                sentence.words[spot.first - 1].word in _PREPOSITIONS
                or any(other.end == spot.first - 1 for other in sentence.spots)
            )
            if one := nearest(sentence, mentions, spot, 0 if located else 4, 3 if located else 0):
                one.spots.append(spot.value)
                sentence.use(spot.first, spot.end)
                if _at_place(sentence, one, spot):
                    one.distance_mm = 0.0
        else:
            owner = next(one for one in mentions if one.first <= spot.first and spot.end <= one.end)
            usual = set().union(*(sentence.known.places.get(sense.key, ()) for sense in owner.senses))
            if usual & {one.location.place for one in spot.value}:
                owner.spots.append(spot.value)


def _attach_sides(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Sides that are said apart from a place."""
    for side in sentence.now(sentence.sides):
        if one := nearest(sentence, mentions, side, 2, 0):
            one.sides.append(side.value)
            places = {spot.location.side for spots in one.spots for spot in spots}
            if side.value in _OTHER_SIDE and _OTHER_SIDE[side.value] in places:
                continue  # it says where something else is
            alone = not any(spot.first < side.end and side.first < spot.end for spot in sentence.spots)
            if (
                alone
                and side in sentence.compared
                and sentence.words[side.first].word not in ("left", "right")
            ):
                # "At the left base greater than the right"
                one.spots = [[both_sides(spot) for spot in spots] for spots in one.spots]
            sentence.use(side.first, side.end)


def _attach_degrees(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Degrees; of several the highest counts."""
    for degree in sentence.now(sentence.degrees):
        # "Effusions, small on the left with atelectasis": the effusion is small
        before = [one for one in mentions if one.end <= degree.first]
        back = "on" in sentence.between(degree.end, degree.end + 1) and bool(before)
        if one := nearest(sentence, before if back else mentions, degree, 4, 0, loose=True):
            one.severity = max(degree.value, -1 if one.severity is None else one.severity)
            sentence.use(degree.first, degree.end)


def _at_place(sentence: MarkedSentence, one: Mention, spot: PhraseMatch[list[Spot]]) -> bool:
    """Whether a tube ends at the place from which its distance is measured: "tip at the carina"."""
    near = sentence.between(max(0, spot.first - 4), spot.first)
    ends = "ett" in {sense.key for sense in one.senses} and spot.value[0].location.place == "above_carina"
    return (
        ends and bool({"at", "below"} & near) and not near & (_DISTANCES - {"below"}) and not sentence.sizes
    )


def _share_places(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """ "Opacities and scarring in the left base": the place belongs to both, where both may be there."""
    for one, after in pairwise(mentions):
        between = sentence.between(one.end, after.first)
        if one.spots or one.sides or not between & JOINTS or "," in between:
            continue
        usual = set().union(*(sentence.known.places.get(sense.key, ()) for sense in one.senses))
        one.spots = [
            place.value
            for place in sentence.spots
            if place.first >= after.end
            and any(place.value is held for held in after.spots)
            and usual & {spot.location.place for spot in place.value}
        ]


def _share_sides(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """ "Left effusion, consolidation and atelectasis": the side before a list belongs to all of it."""
    sided: dict[int, str] = {side.end: side.value for side in sentence.sides}
    shared: str | None = None
    for number, one in enumerate(mentions):
        before = mentions[number - 1].end if number else 0
        reach = range(one.first, max(one.first - 4, before - 1), -1)
        own = next((sided[at] for at in reach if at in sided), None)
        if number and own is None and not one.spots and shared is not None:
            between = sentence.between(mentions[number - 1].end, one.first)
            listed = between <= _LISTING and between & _JOINING
            if listed and any(sentence.known.takes_side(sense.key) for sense in one.senses):
                one.sides.append(shared)
                continue
        shared = own if own in ("left", "right") else None


def _attach_sizes(sentence: MarkedSentence, mentions: list[Mention]) -> None:
    """Sizes, and the change that follows from those of before; distances of tips are not sizes."""
    for size in sentence.now(sentence.sizes):
        if one := nearest(sentence, mentions, size, 0, 0):
            sentence.use(size.first, size.end)
            if sentence.between(size.end, size.end + 1) & _DISTANCES:
                one.distance_mm = size.value[0]
            else:
                one.size_mm = size.value
    for size in sentence.sizes:
        if sentence.past[size.first] and (one := nearest(sentence, mentions, size, 0, 0)) and one.size_mm:
            before, after = max(size.value), max(one.size_mm)
            grown, shrunk = after > GROWN * before, after * GROWN < before
            one.change = "increased" if grown else "decreased" if shrunk else "unchanged"
