"""Assembles a text from words and phrases, and computes the exact position of every annotation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeVar

from radeval_lib.rules.generator.records import (
    AnnotatedText,
    RadGraphEntity,
    RateEntity,
    Sentence,
    SpatialRelation,
)
from radeval_lib.rules.lexicon.entries import Lexicon, Phrase, parse_name, tokenize
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.report_text.words import Span


@dataclass(slots=True)
class TextBuilder:
    """An :class:`AnnotatedText` under construction; ``end`` is the length of the text so far.

    Words and phrases are separated by one space, except before a comma or a period. They have the same tokens
    alone as in the whole text, because they end at white space or punctuation.
    """

    end: int = 0
    _ntokens: int = 0
    _sentence_start: int = -1
    _parts: list[str] = field(default_factory=list)
    _marks: list[tuple[int, int, int, int, str, str]] = field(default_factory=list)
    _relations: list[tuple[int, str, int]] = field(default_factory=list)
    _entities: list[tuple[int, int, str]] = field(default_factory=list)
    _roles: list[SpatialRelation] = field(default_factory=list)
    _sentences: list[Sentence] = field(default_factory=list)

    def open_sentence(self) -> None:
        """Begin a sentence; the first letter of its first word becomes a capital."""
        if self.end:
            self._parts.append(" ")
            self.end += 1
        self._sentence_start = self.end

    def close_sentence(self, uids: tuple[int, ...]) -> None:
        """End the sentence with a period; ``uids`` are those of the statements that it expresses."""
        self._parts.append(".")
        self.end += 1
        self._ntokens += 1
        self._sentences.append(Sentence(self._sentence_start, self.end, uids))

    def add_text(self, text: str) -> Span:
        """Add text without annotations, and return its (start, end)."""
        start = self.end
        if start == self._sentence_start:
            text = text[0].upper() + text[1:]
        elif text[0] not in ",.":
            self._parts.append(" ")
            start += 1
        self._parts.append(text)
        self.end = start + len(text)
        self._ntokens += len(tokenize(text))
        return start, self.end

    def add_phrase(self, phrase: Phrase, label: str = "OBS-DP") -> tuple[int, int, int]:
        """Add a phrase with its annotations; observations without a label get ``label``.

        Returns
        -------
        start : the position of its first character.
        head, anatomy : the ids of its observation head and its anatomy head; -1 if missing. The id of an
            entity is its index among the RadGraph entities of the text.
        """
        start, text = self.end, phrase.text
        is_first = start == self._sentence_start
        if is_first:
            text = text[0].upper() + text[1:]
        else:
            self._parts.append(" ")
            start += 1
        self._parts.append(text)
        first_id, first_token = len(self._marks), self._ntokens
        for mark in phrase.marks:
            tokens = mark.tokens
            if is_first and mark.start == 0:
                tokens = tokens[0].upper() + tokens[1:]
            span = start + mark.start, start + mark.end
            token_span = first_token + mark.first, first_token + mark.last
            self._marks.append((*span, *token_span, tokens, mark.label or label))
        for source, name, target in phrase.relations:
            self._relations.append((first_id + source, name, first_id + target))
        for begin, end, rate_type in phrase.spans:
            self._entities.append((start + begin, start + end, rate_type))
        self.end = start + len(text)
        self._ntokens = first_token + phrase.ntokens
        head, anatomy = phrase.head, phrase.anatomy
        return start, first_id + head if head >= 0 else -1, first_id + anatomy if anatomy >= 0 else -1

    def relate(self, source: int, name: str, target: int) -> None:
        """Add a RadGraph relation of type ``name``; ``source`` and ``target`` are ids of entities."""
        self._relations.append((source, name, target))

    def add_entity(self, start: int, end: int, label: str) -> None:
        """Add a RaTE entity of type ``label``, which spans the characters from ``start`` to ``end``."""
        self._entities.append((start, end, label))

    def add_roles(self, relation: SpatialRelation) -> None:
        """Add the spatial roles of a relation."""
        self._roles.append(relation)

    def build(self) -> AnnotatedText:
        """Return the text with all its annotations."""
        text = "".join(self._parts)
        outgoing: list[list[tuple[str, str]]] = [[] for _ in self._marks]
        for source, name, target in self._relations:
            outgoing[source].append((name, str(target + 1)))
        entities = [RateEntity(start, end, text[start:end], label) for start, end, label in self._entities]
        marks = zip(self._marks, outgoing, strict=True)
        graph = [RadGraphEntity(*mark, tuple(relations)) for mark, relations in marks]
        return AnnotatedText(text, tuple(self._sentences), tuple(entities), tuple(graph), tuple(self._roles))


# The frames and closed word classes of ``lexicon/grammar.yml``, compiled.


# A slot "{np}", or an annotated word or phrase: "[increased]", "[!not changed]".
_SLOT = re.compile(r"\{(\w+)\}|\[(!?)([^\]]+)\]")
_T = TypeVar("_T")


class Frame(NamedTuple):
    """A compiled template.

    Attributes
    ----------
    operations : what to write, in order: (name, "", None) for a slot, ("word", text, None) for a text without
        annotations, and ("mark", "", phrase) or, if the phrase is negated, ("denied", "", phrase).
    slots : the first items of the operations, among them the names of all slots.
    """

    operations: tuple[tuple[str, str, Phrase | None], ...]
    slots: frozenset[str]


class Byte(IntEnum):
    """The byte of a wording seed that decides each choice, counted from the lowest byte."""

    FRAME = 0
    NAME = 1
    SEVERITY = 2
    LIST = 3
    PLACE = 4
    SIZE = 5
    CHANGE = 6
    SINCE = 7
    CAUSE = 8
    COMMA = CAUSE  # Denials have no cause, so this byte is free for them.
    VERB = 9
    MODE = 10
    EXTRA = 11


def get_byte(wording_seed: int, position: int) -> int:
    """Return one byte of a wording seed, from 0 to 255; ``position`` counts from the lowest byte."""
    return (wording_seed >> (8 * position)) & 255


def pick(options: Sequence[_T], wording_seed: int, position: int) -> _T:
    """Return the option that the byte of a wording seed at a position selects."""
    return options[get_byte(wording_seed, position) % len(options)]


@lru_cache(maxsize=4096)
def choose_article(text: str) -> str:
    """Return the article that the sound of a text requires, as in "a unilateral", "an 8 mm" and "an NG
    tube"."""
    word = text.split(" ", 1)[0]
    if word[0].isdigit():
        return "an" if re.match(r"8|1[18](\D|$)", word) else "a"
    if len(word) == 1 or word[:2].isupper() or re.match(r"[A-Z]\d", word):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    if re.match(r"(?i)uni|ure|uti|us[eu]|eu|one", word):
        return "a"
    return "an" if word[0].lower() in "aeiou" else "a"


@lru_cache(maxsize=16384)
def build_size_phrase(size_mm: tuple[int, ...], in_centimetres: bool) -> Phrase:
    """Return a size, such as "8 mm" or "2.3 x 1.8 cm", as a phrase with one RadGraph entity."""
    numbers = [f"{mm / 10:g}" if in_centimetres else str(mm) for mm in size_mm]
    return parse_name("_x_".join(numbers) + ("_cm" if in_centimetres else "_mm"))


def compile_frame(template: str) -> Frame:
    """Compile a template of ``grammar.yml``, such as "there {be} {np}", to a frame."""
    operations: list[tuple[str, str, Phrase | None]] = []
    position = 0
    for match in _SLOT.finditer(template):
        if literal := template[position : match.start()].strip():
            operations.append(("word", literal, None))
        if match[1]:
            operations.append((match[1], "", None))
        else:
            operations.append(("denied" if match[2] else "mark", "", parse_name(match[3])))
        position = match.end()
    if literal := template[position:].strip():
        operations.append(("word", literal, None))
    return Frame(tuple(operations), frozenset(name for name, _, _ in operations))


#: A mapping from key, such as a change, to alternative frames.
FrameTable = dict[str, tuple[Frame, ...]]


def _compile_frames(section: dict[str, list[str]]) -> FrameTable:
    """Compile the templates under each key of a section of ``grammar.yml``."""
    return {key: tuple(compile_frame(t) for t in templates) for key, templates in section.items()}


class Words:
    """The compiled words and frames of ``grammar.yml``.

    Attributes
    ----------
    lists : the lists of words, as in the file.
    scales : a mapping from (name, "adjectives" or "adverbs") to the alternative phrases of each step.
    change : a mapping from (form, whether words of size are included) to the frames for each change.
    change_modifiers : the phrases for each change that may precede a noun; the first key says whether words
        of size are included.
    again : the frames that begin a sentence with a change.
    many : the phrases for several findings.
    sides : a mapping from side to phrase.
    bodies : a mapping from (region, organ system) to the structure that a denial may name, and whether its
        name is a plural.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        """Compile the words and frames of the lexicon's grammar."""
        grammar = self._grammar = lexicon.grammar
        self._filtered: dict[tuple[str, str, frozenset[str], frozenset[str]], tuple[Frame, ...]] = {}
        self.lists = grammar["lists"]
        self.scales = {
            (name, kind): tuple(tuple(parse_name(word) for word in step) for step in scale[kind])
            for name, scale in grammar["scales"].items()
            for kind in ("adjectives", "adverbs")
        }
        change, sized = grammar["change"], grammar["change"]["sized"]
        self.change: dict[tuple[str, bool], FrameTable] = {
            (form, with_size): _compile_frames(change[form] | (sized[form] if with_size else {}))
            for form in ("post", "verb")
            for with_size in (False, True)
        }
        self.change["state", False] = _compile_frames(change["post"] | change["state"])
        self.change_modifiers = {
            with_size: {
                key: tuple(parse_name(word) for word in words)
                for key, words in (change["pre"] | (sized["pre"] if with_size else {})).items()
            }
            for with_size in (False, True)
        }
        self.again = _compile_frames(grammar["again"])
        self.many = tuple(parse_name(word) for word in self.lists["many"])
        self.sides = {word: parse_name(word, anatomy=True) for word in ("left", "right", "bilateral")}
        regions = {
            region.key: region for protocol in lexicon.protocols.values() for region in protocol.regions
        }
        self.bodies = {
            (key, system): body for key, region in regions.items() for system, body in region.bodies.items()
        }

    def find_frames(
        self,
        kind: str,
        variant: str,
        required: frozenset[str] = frozenset(),
        forbidden: frozenset[str] = frozenset(),
    ) -> tuple[Frame, ...]:
        """Return the frames under ``kind`` and ``variant`` in ``grammar.yml`` that have all required slots
        and no forbidden one.

        Raises
        ------
        KeyError
            If the file lacks the kind or the variant.
        """
        key = (kind, variant, required, forbidden)
        if key not in self._filtered:
            frames = (compile_frame(template) for template in self._grammar[kind][variant])
            fitting = (frame for frame in frames if required <= frame.slots and not frame.slots & forbidden)
            self._filtered[key] = tuple(fitting)
        return self._filtered[key]


@lru_cache(maxsize=1)
def load_words() -> Words:
    """Return the words and frames of the lexicon, which are compiled at the first call."""
    return Words(load_lexicon())
