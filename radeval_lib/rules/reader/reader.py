"""Reads a report: its sentences one by one, and then what their words stand for in this report.

The same name may stand for several observations ("mass" for one in the lung or in the breast). It is read
as the one whose places fit the place mentioned with it, then as one of the region that most of the
report's other words belong to; the chest is the region of a report that does not tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from radeval_lib.rules.reader.meanings import HOME, Sense, Spot, Subject
from radeval_lib.rules.reader.mentions import Mention, NormalMention
from radeval_lib.rules.reader.readable import unreadable
from radeval_lib.rules.reader.records import Finding, Location, NormalStatement, Reading
from radeval_lib.rules.reader.sentence import parse
from radeval_lib.rules.reader.vocabulary import vocabulary
from radeval_lib.rules.report_text import Statement, findings

_PLAIN = frozenset(["normal", "unremarkable", "clear", "intact", "within normal limit"])
_BEFORE = frozenset(["no", "of", "for", "any", "without", "or", "nor", "and", "/", ","])
_KINDS = frozenset(["acute", "active", "discrete", "displaced", "focal", "large", "overt", "suspicious"])
_POSITIONS = frozenset(["malposition", "good_position"])
_FITS = 1000.0  # what a fitting place counts for, against the share of a region


def read(text: str) -> Reading:
    """The findings and normal statements of a report, in its order.

    Parameters
    ----------
    text : a report or a section of one, in English; marks of de-identification ("XXXX", "___") are read as
        words that are missing.

    Returns
    -------
    Reading
        Positions are characters of ``text``. An empty text gives an empty reading.
    """
    return _Report(text).read()


def why_unread(text: str) -> str:
    """Why a text as a whole is not read (another language, a loop of words), or nothing."""
    return unreadable(" ".join(one.text for one in findings(text)))


class _Report:
    """A report's sentences as read, and how many of its words vote for each region."""

    def __init__(self, text: str) -> None:
        self.text, self.known = text, vocabulary()
        self.parsed = [] if why_unread(text) else [(one, parse(one.text)) for one in findings(text)]
        self.regions = Counter({HOME: 3})
        # A sentence that is said twice votes once, so that it reads the same.
        for one in {" ".join(said.text.lower().split()): one for said, one in self.parsed}.values():
            self._vote([sense.region for sense in mention.senses] for mention in one.mentions)
            self._vote([spot.region for spot in spots] for spots in one.spots)
            self._vote([subject.region for subject in normal.subjects] for normal in one.normals)

    def _vote(self, readings: Iterable[list[str]]) -> None:
        """Words whose readings are all of one region vote for it."""
        for regions in readings:
            named = set(filter(None, regions))
            if len(named) == 1:
                self.regions[named.pop()] += 2

    def read(self) -> Reading:
        """The reading: of each mention its sense, place and limits, without stray words and parts of
        names."""
        findings: list[Finding] = []
        normals: list[NormalStatement] = []
        for said, sentence in self.parsed:
            chosen = [(one, self._sense(one)) for one in sentence.mentions]
            kept = [
                number
                for number, (one, sense) in enumerate(chosen)
                if not self._stray(one, sense) and not self._absorbed(one, chosen, said)
            ]
            places = {number: len(findings) + place for place, number in enumerate(kept)}
            for number in kept:
                one, sense = chosen[number]
                sign = tuple(places[other] for other in one.sign_of if other in places)
                findings.append(self._finding(one, sense, said, sign))
            normals += [
                self._normal(one, said)
                for one in sentence.normals
                if any(subject.region for subject in one.subjects)
            ]
        return Reading(tuple(findings), tuple(normals))

    def _stray(self, one: Mention, sense: Sense) -> bool:
        """Whether a single word would alone bring another region into a report of the chest ("foci")."""
        return (
            sense.region != HOME
            and one.end - one.first == 1
            and self.regions[sense.region] <= 2
            and 3 < self.regions[HOME] == max(self.regions.values())
        )

    def _absorbed(self, one: Mention, chosen: Iterable[tuple[Mention, Sense]], said: Statement) -> bool:
        """Whether a mention is but the first word of another name ("calcified ... lymph nodes")."""
        words = said.text[one.start : one.stop].lower()
        return any(
            words in sense.lead and other is not one and 0 <= other.first - one.end <= 5
            for other, sense in chosen
        )

    def _sense(self, mention: Mention) -> Sense:
        """What an ambiguous name stands for here: one whose lead words stand before it, then one whose places
        fit, then one of the region with the most votes."""
        senses = [
            sense for sense in mention.senses if not sense.lead or set(sense.lead) <= set(mention.before)
        ]
        if not senses:
            senses = [sense._replace(lead=()) for sense in mention.senses]
        if len(senses) == 1:
            return senses[0]
        said = {spot.location.place for spots in mention.spots for spot in spots}

        def worth(sense: Sense) -> float:
            fits = bool(self.known.places.get(sense.key, frozenset()) & said)
            return _FITS * fits + self.regions[sense.region] + 2 * _FITS * len(sense.lead)

        best = max(senses, key=worth)
        at_home = [sense for sense in senses if sense.region == HOME]
        return max(at_home, key=worth) if at_home and self._stray(mention, best) else best

    def _location(self, spots: Sequence[Spot], sense: Sense) -> Location:
        """What an ambiguous place stands for here: one where the observation may be, then one of its
        region."""
        if not any(spot.region in (HOME, sense.region) or self.regions[spot.region] > 2 for spot in spots):
            return Location(None, spots[0].location.side)  # of a place foreign to the report the side counts
        fitting = self.known.places.get(sense.key, frozenset())

        def worth(spot: Spot) -> float:
            fits = spot.location.place in fitting
            return _FITS * fits + (spot.region == sense.region) + self.regions[spot.region] / 100

        return max(spots, key=worth).location

    def _locations(self, one: Mention, sense: Sense) -> tuple[Location, ...]:
        """The places of a mention, each once, with the side that is said apart from them."""
        known, device = self.known, sense.key in self.known.devices
        if sense.key in known.placeless:
            return self._side_of_lung(one)
        said = [self._location(spots, sense) for spots in one.spots]
        if sense.key in known.paired:  # of "right hemidiaphragm" the side counts: the name says where
            said = [Location(None, where.side) for where in said]
        said = [
            where
            for where in said
            if (where.side or where.place not in (None, "lung")) and (device or where.place not in _POSITIONS)
        ]
        if sides := set(one.sides):
            side = "bilateral" if len(sides) > 1 else sides.pop()
            said = [
                Location(where.place, side) if where.side is None and where.place in known.sided else where
                for where in said
            ]
            if device or not any(where.side for where in said):
                said.append(Location(None, side))
        return tuple(dict.fromkeys(said))

    @staticmethod
    def _side_of_lung(one: Mention) -> tuple[Location, ...]:
        """The one side of which a lung is named: "the right lung is hyperexpanded"."""
        sides = {spot.location.side for spots in one.spots for spot in spots if spot.location.place == "lung"}
        return tuple(Location(None, side) for side in sides & {"left", "right"}) if len(sides) == 1 else ()

    def _finding(self, one: Mention, sense: Sense, statement: Statement, sign: tuple[int, ...]) -> Finding:
        start, end = statement.span(one.start, one.stop)
        words, locations = self.text[start:end], self._locations(one, sense)
        said = (one.severity, one.size_mm, one.change)
        limited = locations or one.severity is not None or one.size_mm or one.change
        # Whether the name itself is what the words before it deny, and is not the name of a kind.
        named = bool(_BEFORE.intersection(one.before[-1:])) and words.lower().split()[0] not in _KINDS
        outright = one.presence == "absent" and not limited and named
        return Finding(
            sense.key, one.presence, start, end, words, locations, *said, sign, outright, one.distance_mm
        )

    def _normal(self, one: NormalMention, statement: Statement) -> NormalStatement:
        def worth(subject: Subject) -> tuple[float, bool]:
            states = self.known.entry_states.get(subject.key, frozenset())
            return self.regions[subject.region], one.state not in _PLAIN and one.state in states

        chosen = max((subject for subject in one.subjects if subject.region), key=worth)
        start, end = statement.span(one.start, one.stop)
        return NormalStatement(chosen.key, start, end, self.text[start:end], one.change)
