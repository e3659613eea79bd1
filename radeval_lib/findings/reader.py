"""Reads a report: its sentences one by one, and then what their words stand for in this report.

The same name may stand for several observations ("mass" for one in the lung or in the breast). It is read
as the one whose places fit the place that is said with it, then as one of the region that most of the
report's other words belong to; the chest is the region of a report that does not tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from radeval_lib.findings.records import Finding, Location, NormalStatement, Reading
from radeval_lib.findings.sentence import Mention, NormalMention, Parsed, parse
from radeval_lib.findings.vocabulary import HOME, Sense, Spot, Vocabulary, vocabulary
from radeval_lib.findings.words import sentences, tokens

_PLAIN = frozenset(["normal", "unremarkable", "clear", "intact", "within normal limit"])
_BEFORE = frozenset(["no", "of", "for", "any", "without", "or", "nor", "and", "/", ","])
_KINDS = frozenset(["acute", "active", "discrete", "displaced", "focal", "large", "overt", "suspicious"])
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
    known = vocabulary()
    parts = [(start, sentence, parse(sentence)) for start, sentence in sentences(text)]
    parsed = [(start, one) for start, _, one in parts]
    # A sentence that is said twice votes once, so that it reads the same.
    regions = _regions({" ".join(sentence.lower().split()): one for _, sentence, one in parts}.values())
    findings: list[Finding] = []
    normals: list[NormalStatement] = []
    for offset, sentence in parsed:
        chosen = {number: (one, _sense(one, regions, known)) for number, one in enumerate(sentence.mentions)}
        kept = {
            number: (one, sense)
            for number, (one, sense) in chosen.items()
            if not _stray(one, sense, regions) and not _absorbed(one, chosen.values(), text, offset)
        }
        places = {number: len(findings) + place for place, number in enumerate(kept)}
        for one, sense in kept.values():
            sign = tuple(places[number] for number in one.sign_of if number in places)
            findings.append(_finding(one, sense, regions, known, text, offset, sign))
        normals += [
            _normal(one, regions, known, text, offset)
            for one in sentence.normals
            if any(subject.region for subject in one.subjects)
        ]
    return Reading(tuple(findings), tuple(normals), any(one.recommends for _, one in parsed))


def coverage(text: str) -> float:
    """The share of a report's sentences that the reader can make something of.

    Such a sentence holds a finding or normal statement that :func:`read` gives back, asks for another
    examination, or has a phrase of those that state no finding (``asides`` in ``reading.yml``). It need not
    be understood whole, so the share is an upper bound: a low one warns that what is compared is not what
    the report says. Sentences without a letter do not count.

    Parameters
    ----------
    text : as for :func:`read`.

    Returns
    -------
    float
        From 0 to 1; 1 for a text without a sentence, of which nothing is left unread.
    """
    reading, known = read(text), vocabulary()
    at = [one.start for one in reading.findings] + [one.start for one in reading.normals]
    heard = [
        any(start <= place < start + len(sentence) for place in at)
        or parse(sentence).recommends
        or bool(known.asides.find(tokens(sentence)))
        for start, sentence in sentences(text)
        if any(map(str.isalpha, sentence))
    ]
    return sum(heard) / len(heard) if heard else 1.0


def _stray(one: Mention, sense: Sense, regions: Counter[str]) -> bool:
    """Whether a single word would alone bring another region into a report of the chest ("foci")."""
    return (
        sense.region != HOME
        and one.end - one.first == 1
        and regions[sense.region] <= 2
        and 3 < regions[HOME] == max(regions.values())
    )


def _absorbed(one: Mention, chosen: Iterable[tuple[Mention, Sense]], text: str, offset: int) -> bool:
    """Whether a mention is but the first word of another name ("calcified ... lymph nodes")."""
    words = text[offset + one.start : offset + one.stop].lower()
    return any(
        words in sense.lead and other is not one and 0 <= other.first - one.end <= 5
        for other, sense in chosen
    )


def _regions(parsed: Iterable[Parsed]) -> Counter[str]:
    """The votes of words for the regions that they belong to."""
    votes: Counter[str] = Counter({HOME: 3})
    for sentence in parsed:
        for mention in sentence.mentions:
            named = {sense.region for sense in mention.senses}
            if len(named) == 1:
                votes[named.pop()] += 2
        for spots in sentence.spots:
            shown = {spot.region for spot in spots}
            if len(shown) == 1:
                votes[shown.pop()] += 2
        for normal in sentence.normals:
            about = {subject.region for subject in normal.subjects if subject.region}
            if len(about) == 1:
                votes[about.pop()] += 2
    return votes


def _sense(mention: Mention, regions: Counter[str], known: Vocabulary) -> Sense:
    senses = [sense for sense in mention.senses if not sense.lead or set(sense.lead) <= set(mention.before)]
    if not senses:
        senses = [sense._replace(lead=()) for sense in mention.senses]
    if len(senses) == 1:
        return senses[0]
    said = {spot.location.place for spots in mention.spots for spot in spots}

    def worth(sense: Sense) -> float:
        fits = bool(known.places.get(sense.key, frozenset()) & said)
        return _FITS * fits + regions[sense.region] + 2 * _FITS * len(sense.lead)

    best = max(senses, key=worth)
    at_home = [sense for sense in senses if sense.region == HOME]
    return max(at_home, key=worth) if at_home and _stray(mention, best, regions) else best


def _spot(spots: Sequence[Spot], sense: Sense, regions: Counter[str], known: Vocabulary) -> Location:
    fitting = known.places.get(sense.key, frozenset())

    def worth(spot: Spot) -> float:
        return (
            _FITS * (spot.location.place in fitting)
            + (spot.region == sense.region)
            + regions[spot.region] / 100
        )

    return max(spots, key=worth).location


def _locations(one: Mention, sense: Sense, regions: Counter[str], known: Vocabulary) -> tuple[Location, ...]:
    if sense.key in known.placeless:
        return ()
    said = [
        _spot(spots, sense, regions, known)
        if any(spot.region in (HOME, sense.region) or regions[spot.region] > 2 for spot in spots)
        else Location(None, spots[0].location.side)  # of a place foreign to the report the side counts
        for spots in one.spots
    ]
    if sense.key in known.paired:  # the finding names its own place: of "right hemidiaphragm" the side counts
        said = [Location(None, where.side) for where in said]
    said = [where for where in said if where.side or where.place not in (None, "lung")]
    sides = set(one.sides)
    side = "bilateral" if len(sides) > 1 else next(iter(sides), None)
    if side is None:
        return tuple(dict.fromkeys(said))
    filled = [
        Location(where.place, side) if where.side is None and where.place in known.sided else where
        for where in said
    ]
    if sense.key in known.devices or not any(where.side for where in filled):
        filled.append(Location(None, side))
    return tuple(dict.fromkeys(filled))


def _finding(
    one: Mention,
    sense: Sense,
    regions: Counter[str],
    known: Vocabulary,
    text: str,
    offset: int,
    sign: tuple[int, ...],
) -> Finding:
    start, end = offset + one.start, offset + one.stop
    locations = _locations(one, sense, regions, known)
    limited = locations or one.severity is not None or one.size_mm or one.change
    return Finding(
        sense.key,
        one.presence,
        start,
        end,
        text[start:end],
        locations,
        one.severity,
        one.size_mm,
        one.change,
        sign,
        one.presence == "absent" and not limited and _outright(one, text[start:end]),
    )


def _outright(one: Mention, words: str) -> bool:
    """Whether the name itself is what the words before it deny, and is not the name of a kind."""
    return bool(_BEFORE.intersection(one.before[-1:])) and words.lower().split()[0] not in _KINDS


def _normal(
    one: NormalMention, regions: Counter[str], known: Vocabulary, text: str, offset: int
) -> NormalStatement:
    subjects = [subject for subject in one.subjects if subject.region]

    def worth(position: int) -> tuple[float, bool, int]:
        subject = subjects[position]
        fits = one.state not in _PLAIN and one.state in known.entry_states.get(subject.key, frozenset())
        return regions[subject.region], fits, -position

    chosen = subjects[max(range(len(subjects)), key=worth)]
    start, end = offset + one.start, offset + one.stop
    return NormalStatement(chosen.key, start, end, text[start:end], one.change)
