"""Reads a report: it parses the sentences, decides what ambiguous words mean in the report, and measures how
much of it was read.

A name may stand for several observations, as "mass" does for a lung mass and a breast mass. It is read as the
observation whose places fit the place mentioned with it or, if that does not decide, as an observation in the
region to which most other words of the report belong. A report that names no region is read as a report of
the chest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from radeval_lib.rules.reader.phrases import word_set
from radeval_lib.rules.reader.places import OTHER_SIDE
from radeval_lib.rules.reader.records import (
    HOME,
    MEASURED,
    Finding,
    Location,
    Mention,
    NormalMention,
    NormalStatement,
    Reading,
    Sense,
    Spot,
    Subject,
)
from radeval_lib.rules.reader.sentence import Parsed, parse
from radeval_lib.rules.reader.vocabulary import load_vocabulary
from radeval_lib.rules.report_text import Section, Statement, findings, sections
from radeval_lib.rules.report_text.words import Span

_PLAINLY_NORMAL = frozenset(["normal", "unremarkable", "clear", "intact", "within normal limit"])
_BEFORE_DENIED = frozenset(["no", "of", "for", "any", "without", "or", "nor", "and", "/", ","])
_QUALIFIERS = frozenset(["acute", "active", "discrete", "displaced", "focal", "large", "overt", "suspicious"])
_TIP_POSITIONS = frozenset(["malposition", "good_position"])
_RELATIVE_SIDE = re.compile(r"ipsilateral|contralateral", re.IGNORECASE)
# Matches the beginning of a statement that refers back to a finding in the statement before.
_REFERS_BACK = re.compile(
    r"(?:it|this|these|they)\b|the\s(?:left|right)\s(?:one\s|side\s)?(?:is|has|remains|measures|appears)\b"
    r"|(?:(?:its|the|catheter|distal)\s)*(?P<tip>tips?\b)",
    re.IGNORECASE,
)
_SIDES = re.compile(r"\b(?:left|right)\b")
_FIT_SCORE = 1000.0  # the score of a place that fits; a region scores its number of votes


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    """Return the findings and normal statements of a report, in the order of a :class:`Reading`.

    Parameters
    ----------
    text : a report or a section of a report, in English; de-identification markers ("XXXX", "___") are read
        as missing words.

    Returns
    -------
    Reading
        Positions are character positions in ``text``. An empty text gives an empty reading.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    return _Report(text).read()


def explain_unread(text: str) -> str:
    """Return the reason why a report as a whole is not read, such as another language or endlessly repeated
    words; empty if it is read. Raises PlaceholderError if the text is a placeholder."""
    return _find_unread_reason(" ".join(statement.text for statement in findings(text)))


@lru_cache(maxsize=8192)
def parse_report(text: str) -> list[tuple[Statement, Parsed]]:
    """Return the statements about this study with their parsed sentences, in the order of :func:`findings`.

    A statement without a finding that refers back ("It measures 8 mm") is read together with the name of the
    finding in the statement before. The list is cached, so do not change it. Raises PlaceholderError if the
    text is a placeholder.
    """
    sentences: list[tuple[Statement, Parsed]] = []
    last_side, names_other_side = "", _RELATIVE_SIDE.search(text)
    for statement in findings(text):
        sentence = parse(statement.text, last_side)
        reference = _REFERS_BACK.match(statement.text) if sentences and not sentence.mentions else None
        about_tip = reference is not None and reference["tip"] is not None
        if reference and (prefixed := _prefix_with_name(*sentences[-1], statement, last_side, about_tip)):
            statement, sentence = prefixed
        sentences.append((statement, sentence))
        if names_other_side and (sides_named := _SIDES.findall(statement.text.lower())):
            last_side = sides_named[-1]
    return sentences


def _prefix_with_name(
    previous: Statement, previous_sentence: Parsed, statement: Statement, side: str, about_tip: bool
) -> tuple[Statement, Parsed] | None:
    """Return a statement prefixed with the name of the last finding that the previous statement does not
    deny, and its parsed sentence; None if there is no such finding, or if the statement adds nothing about
    the finding.

    Parameters
    ----------
    previous, previous_sentence : the previous statement and its parsed sentence.
    statement : the statement that refers back.
    side : the last side that earlier statements name.
    about_tip : whether the statement is about the tip of a device, so that only a device can be meant.
    """
    candidates = [
        mention
        for mention in previous_sentence.mentions
        if mention.presence != "absent"
        and (not about_tip or any(sense.key in load_vocabulary().devices for sense in mention.senses))
    ]
    if not candidates:
        return None
    prefix = f"{previous.text[candidates[-1].char_start : candidates[-1].char_end]} "
    offsets = [*[statement.start] * (len(prefix) - 1), statement.end, *statement.offsets]
    statement_with_name = replace(statement, text=prefix + statement.text, offsets=offsets)
    sentence = parse(statement_with_name.text, side)
    says_more = any(item.spots or item.sides or item.size_mm or item.change for item in sentence.mentions)
    return (statement_with_name, sentence) if says_more else None


class _Report:
    """The parsed sentences of a report, and the votes of its words for regions of the body."""

    def __init__(self, text: str) -> None:
        """Parse a report, and count the votes of its words for regions."""
        self.text, self.vocab = text, load_vocabulary()
        self.parsed = [] if explain_unread(text) else parse_report(text)
        self.regions = Counter({HOME: 3})
        # A repeated sentence votes once, so that repetition does not change how the report is read.
        for sentence in {
            " ".join(statement.text.lower().split()): sentence for statement, sentence in self.parsed
        }.values():
            self._vote([sense.region for sense in mention.senses] for mention in sentence.mentions)
            self._vote([spot.region for spot in spots] for spots in sentence.spots)
            self._vote([subject.region for subject in normal.subjects] for normal in sentence.normals)

    def _vote(self, regions_of_words: Iterable[list[str]]) -> None:
        """Add two votes for the region of each word whose possible meanings are all of one region."""
        for regions in regions_of_words:
            regions_named = set(filter(None, regions))
            if len(regions_named) == 1:
                self.regions[regions_named.pop()] += 2

    def read(self) -> Reading:
        """Return the findings and normal statements of the report, without stray names and names that are
        part of another name."""
        finding_list: list[Finding] = []
        normals: list[NormalStatement] = []
        stray_spans = []
        for statement, sentence in self.parsed:
            pairs = [(mention, self._choose_sense(mention)) for mention in sentence.mentions]
            kept_numbers = []
            for number, (mention, sense) in enumerate(pairs):
                if self._is_stray(mention, sense):
                    stray_spans.append(statement.span(mention.char_start, mention.char_end))
                elif not self._is_absorbed(mention, pairs, statement):
                    kept_numbers.append(number)
            indices = {number: len(finding_list) + rank for rank, number in enumerate(kept_numbers)}
            for number in kept_numbers:
                mention, sense = pairs[number]
                diagnoses = tuple(indices[other] for other in mention.sign_of if other in indices)
                finding_list.append(self._build_finding(mention, sense, statement, diagnoses))
            normals += [
                self._build_normal(mention, statement)
                for mention in sentence.normals
                if any(subject.region for subject in mention.subjects)
            ]
        return Reading(tuple(finding_list), tuple(normals), tuple(stray_spans))

    def _is_stray(self, mention: Mention, sense: Sense) -> bool:
        """Return whether a one-word name, such as "foci", would be the only word of its region in a report of
        the chest."""
        return (
            sense.region != HOME
            and mention.end - mention.first == 1
            and self.regions[sense.region] <= 2
            and 3 < self.regions[HOME] == max(self.regions.values())
        )

    @staticmethod
    def _is_absorbed(mention: Mention, pairs: Iterable[tuple[Mention, Sense]], statement: Statement) -> bool:
        """Return whether a mention is only the prefix of another finding's name, such as "calcified" in
        "calcified hilar lymph nodes"; ``pairs`` are the sentence's mentions with their senses."""
        words = statement.text[mention.char_start : mention.char_end].lower()
        return any(
            words in sense.prefix and other is not mention and 0 <= other.first - mention.end <= 5
            for other, sense in pairs
        )

    def _choose_sense(self, mention: Mention) -> Sense:
        """Return the most likely sense of a name: a sense whose prefix precedes the name, else a sense whose
        places fit, else a sense in the region with the most votes."""
        words_before = set(mention.words_before)
        senses = [sense for sense in mention.senses if words_before.issuperset(sense.prefix)]
        if not senses:
            senses = [sense._replace(prefix=()) for sense in mention.senses]
        if len(senses) == 1:
            return senses[0]
        places = {spot.location.place for spots in mention.spots for spot in spots}

        def score(sense: Sense) -> float:
            fits = bool(self.vocab.places.get(sense.key, frozenset()) & places)
            return _FIT_SCORE * fits + self.regions[sense.region] + 2 * _FIT_SCORE * len(sense.prefix)

        best = max(senses, key=score)
        chest_senses = [sense for sense in senses if sense.region == HOME]
        return max(chest_senses, key=score) if chest_senses and self._is_stray(mention, best) else best

    def _choose_location(self, spots: Sequence[Spot], sense: Sense) -> Location:
        """Return the most likely meaning of an ambiguous place: a place where the observation can be, else a
        place in the observation's region."""
        if not any(spot.region in (HOME, sense.region) or self.regions[spot.region] > 2 for spot in spots):
            return Location(None, spots[0].location.side)  # A place of another region gives only a side.
        usual_places = self.vocab.places.get(sense.key, frozenset())

        def score(spot: Spot) -> float:
            fits = spot.location.place in usual_places
            return _FIT_SCORE * fits + (spot.region == sense.region) + self.regions[spot.region] / 100

        return max(spots, key=score).location

    def _locate(self, mention: Mention, sense: Sense) -> tuple[Location, ...]:
        """Return the distinct locations of a mention; a side that is named apart from a place is added to the
        places without a side."""
        vocab, is_device = self.vocab, sense.key in self.vocab.devices
        if sense.key in vocab.placeless:  # "The right lung is hyperexpanded" states only a side.
            lungs = {
                spot.location.side
                for spots in mention.spots
                for spot in spots
                if spot.location.place == "lung"
            }
            return tuple(Location(None, side) for side in lungs if side in OTHER_SIDE and len(lungs) == 1)
        locations = [self._choose_location(spots, sense) for spots in mention.spots]
        if is_device:  # The chest wall is the place of the generator or port, not of the tip.
            locations = [Location(None, loc.side) if loc.place == "chest_wall" else loc for loc in locations]
        if sense.key in vocab.paired:  # A place adds only a side, because the name implies the place.
            locations = [Location(None, loc.side) for loc in locations]
        locations = [
            loc
            for loc in locations
            if (loc.side or loc.place not in (None, "lung"))
            and (is_device or loc.place not in _TIP_POSITIONS)
        ]
        if sides := set(mention.sides):
            side = "bilateral" if len(sides) > 1 else sides.pop()
            locations = [
                Location(loc.place, side) if loc.side is None and loc.place in vocab.sided else loc
                for loc in locations
            ]
            if is_device or not any(loc.side for loc in locations):
                locations.append(Location(None, side))
        return tuple(dict.fromkeys(locations))

    def _build_finding(
        self, mention: Mention, sense: Sense, statement: Statement, diagnoses: tuple[int, ...]
    ) -> Finding:
        """Return the finding that a mention states, given its sense and the indices of its diagnoses."""
        start, end = statement.span(mention.char_start, mention.char_end)
        words, locations = self.text[start:end], self._locate(mention, sense)
        is_qualified = locations or mention.severity is not None or mention.size_mm or mention.change
        # "No effusion" denies the name itself; "no large effusion" and "no acute effusion" deny only a kind.
        name_is_denied = bool(_BEFORE_DENIED.intersection(mention.words_before[-1:]))
        name_is_denied = name_is_denied and words.lower().split()[0] not in _QUALIFIERS
        outright = mention.presence == "absent" and not is_qualified and name_is_denied
        return Finding(
            sense.key,
            mention.presence,
            start,
            end,
            words,
            locations,
            sign_of=diagnoses,
            outright=outright,
            qualities=frozenset(mention.qualities),
            **{name: getattr(mention, name) for name in (*MEASURED, "change", "probable")},
        )

    def _build_normal(self, normal_mention: NormalMention, statement: Statement) -> NormalStatement:
        """Return the normal statement of a mention, about the structure in the region with the most votes."""
        state = normal_mention.state

        def score(subject: Subject) -> tuple[float, bool]:
            fits = state not in _PLAINLY_NORMAL and state in self.vocab.entry_states.get(subject.key, ())
            return self.regions[subject.region], fits

        subject = max((subject for subject in normal_mention.subjects if subject.region), key=score)
        start, end = statement.span(normal_mention.char_start, normal_mention.char_end)
        return NormalStatement(subject.key, start, end, self.text[start:end], normal_mention.change)


# Reasons why a text as a whole is not read.


NOT_ENGLISH = "not English"
LOOP = "the same words over and over"
OTHER_IMAGE = "another kind of image than radiology makes"


_WORDS = re.compile(r"[^\W\d_]+")
_ENGLISH_WORDS = word_set(
    """
    the of is are and with in there to no for no not without normal clear left right evidence seen or on
    has small large mild be was were this that from at as by stable unchanged lung lungs heart chest
    """
)
_FOREIGN_WORDS = word_set(
    """
    kein keine keinen ohne nicht und der die das mit im zur beidseits rechts links unauffaellig
    unauffallig herz lunge sin con del los las una derrame derecho izquierdo pulmon pulmones corazon se
    observa sans avec pas les des une droit droite gauche epanchement coeur poumon poumons normaux aucun
    aucune nessun nessuna senza destra sinistra versamento polmone cuore geen zonder niet het een sem
    esquerda direita pulmao nao observou obserwuje brak bez plynu zmian ingen ikke uten hoyre venstre ej
    utan normalt akciger kalp yok
    """
)
_NON_RADIOLOGY_WORDS = re.compile(
    r"\b(?:hematoxylin|h ?& ?e stain\w*|immunohistochem\w+|microscop\w+|histolog\w+|biops(?:y|ies) specimen|"
    r"endoscop\w+|colonoscop\w+|dermoscop\w+|fundus photograph\w*|sinus rhythm|st[- ]segments?|qrs|"
    r"electrocardiogra\w+|mitotic|photograph of|selfie)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def _find_unread_reason(text: str) -> str:
    """Return the reason why a text in plain characters is not read: :data:`NOT_ENGLISH`, :data:`LOOP` or
    :data:`OTHER_IMAGE`; empty if it is read."""
    words = [word.lower() for word in _WORDS.findall(text)]
    if not words:
        return ""
    if not text.isascii() and sum(not word.isascii() for word in words) > len(words) / 3:
        return NOT_ENGLISH
    if sum(word in _FOREIGN_WORDS for word in words) > sum(word in _ENGLISH_WORDS for word in words):
        return NOT_ENGLISH
    # A text with a loop has few distinct words; this cheap test makes counting unnecessary for most texts.
    if len(words) >= 6 and len(set(words)) <= 0.6 * len(words) + 1:
        counts = Counter(word for word in words if word not in _ENGLISH_WORDS)
        if counts and counts.most_common(1)[0][1] > 0.4 * len(words) >= 3:
            repeated = counts.most_common(1)[0][0]
            return "" if repeated.startswith("xx") else LOOP
    is_repetitive = len(words) >= 30 and len(set(pairwise(words))) <= len(words) * 5 / 6
    if is_repetitive and Counter(pairwise(words)).most_common(1)[0][1] > len(words) / 6:
        return LOOP
    if len({match.group().lower() for match in _NON_RADIOLOGY_WORDS.finditer(text)}) > 1:
        return OTHER_IMAGE
    return ""


# The share of a text that was used in reading it.


class ReadInPart(NamedTuple):
    """A statement with meaningful words that were not used in reading it.

    Attributes
    ----------
    span : the (start, end) of the statement in the text.
    unused : the (start, end) of each unused word.
    kinds : the kind of each unused word: "degree", "side", "size", "place", "negation", "change", or "word"
        for any other word.
    """

    span: Span
    unused: tuple[Span, ...]
    kinds: tuple[str, ...]


class Coverage(NamedTuple):
    """How much of a text was read.

    Attributes
    ----------
    share : the fraction of the meaningful words that the reading used, from 0 to 1; None if there are none.
    statements : the (start, end) of each statement about this study that has a meaningful word.
    unread : the (start, end) of each statement in which nothing was read.
    in_part : the statements with an unused word.
    sections : the sections, in the order of :func:`radeval_lib.rules.report_text.sections`.
    remarks : the reason why the text as a whole was not read, and the words whose spelling was corrected.
    """

    share: float | None
    statements: tuple[Span, ...]
    unread: tuple[Span, ...]
    in_part: tuple[ReadInPart, ...]
    sections: tuple[Section, ...]
    remarks: tuple[str, ...]


@lru_cache(maxsize=8192)
def coverage(text: str) -> Coverage:
    """Return the share of the meaningful words of a report that was used in reading it, and the statements
    and words that were not used.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    statement_spans, unread, in_part = [], [], []
    reason = explain_unread(text)
    remarks = [f"not read: {reason}"] if reason else []
    used, total, strays = 0, 0, read(text).strays
    for statement, sentence in parse_report(text):
        if not (word_count := sentence.used + len(sentence.unused)):
            continue
        span, total = (statement.start, statement.end), total + word_count
        statement_spans.append(span)
        inner_strays = [stray for stray in strays if span[0] <= stray[0] < span[1]]
        if reason or not (len(sentence.mentions) > len(inner_strays) or sentence.normals):
            unread.append(span)
            continue
        used += max(sentence.used - len(inner_strays), 0)
        unused = [(statement.span(word.char_start, word.char_end), word.kind) for word in sentence.unused]
        unused += [(stray, "word") for stray in inner_strays]
        if unused:
            unused_spans, kinds = zip(*unused, strict=True)
            in_part.append(ReadInPart(span, unused_spans, kinds))
        for start, end, correction in sentence.misspelt:
            remarks.append(f'"{statement.text[start:end].lower()}" read as "{correction}"')
    share, distinct = used / total if total else None, tuple(dict.fromkeys(remarks))
    return Coverage(share, tuple(statement_spans), tuple(unread), tuple(in_part), sections(text), distinct)
