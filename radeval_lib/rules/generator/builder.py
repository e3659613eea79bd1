"""Assembles a text from pieces, and computes the exact position of every annotation."""

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
    """A builder of an :class:`AnnotatedText`; ``end`` is the length of the text so far.

    Pieces are separated by one space, except before a comma or a period. The tokens of a piece are also those
    of the whole text, because pieces end at white space or punctuation.
    """

    end: int = 0
    _tokens: int = 0
    _start: int = -1
    _parts: list[str] = field(default_factory=list)
    _marks: list[tuple[int, int, int, int, str, str]] = field(default_factory=list)
    _relations: list[tuple[int, str, int]] = field(default_factory=list)
    _entities: list[tuple[int, int, str]] = field(default_factory=list)
    _roles: list[SpatialRelation] = field(default_factory=list)
    _sentences: list[Sentence] = field(default_factory=list)

    def open_sentence(self) -> None:
        """Begin a sentence; the first letter of the next piece becomes a capital."""
        if self.end:
            self._parts.append(" ")
            self.end += 1
        self._start = self.end

    def close_sentence(self, statements: tuple[int, ...]) -> None:
        """End the sentence with a period; ``statements`` are the uids of the statements in it."""
        self._parts.append(".")
        self.end += 1
        self._tokens += 1
        self._sentences.append(Sentence(self._start, self.end, statements))

    def word(self, text: str) -> Span:
        """Add text without annotations, and return its (start, end)."""
        start = self.end
        if start == self._start:
            text = text[0].upper() + text[1:]
        elif text[0] not in ",.":
            self._parts.append(" ")
            start += 1
        self._parts.append(text)
        self.end = start + len(text)
        self._tokens += len(tokenize(text))
        return start, self.end

    def phrase(self, phrase: Phrase, label: str = "OBS-DP") -> tuple[int, int, int]:
        """Add a compiled phrase with its annotations; observations without a label get ``label``.

        Returns
        -------
        start : the position of its first character.
        head, anatomy : the ids of its observation head and its anatomy head; -1 without one.
        """
        start, text = self.end, phrase.text
        opens = start == self._start
        if opens:
            text = text[0].upper() + text[1:]
        else:
            self._parts.append(" ")
            start += 1
        self._parts.append(text)
        base, first_token = len(self._marks), self._tokens
        for mark in phrase.marks:
            tokens = mark.tokens
            if opens and mark.start == 0:
                tokens = tokens[0].upper() + tokens[1:]
            span = start + mark.start, start + mark.end
            token_span = first_token + mark.first, first_token + mark.last
            self._marks.append((*span, *token_span, tokens, mark.label or label))
        for source, name, target in phrase.relations:
            self._relations.append((base + source, name, base + target))
        for begin, end, kind in phrase.spans:
            self._entities.append((start + begin, start + end, kind))
        self.end = start + len(text)
        self._tokens = first_token + phrase.ntokens
        head, anatomy = phrase.head, phrase.anatomy
        return start, base + head if head >= 0 else -1, base + anatomy if anatomy >= 0 else -1

    def relate(self, source: int, name: str, target: int) -> None:
        """Add a RadGraph relation between the entities with two ids."""
        self._relations.append((source, name, target))

    def entity(self, start: int, end: int, label: str) -> None:
        """Add a RaTE entity of type ``label``."""
        self._entities.append((start, end, label))

    def role(self, relation: SpatialRelation) -> None:
        """Add a spatial relation."""
        self._roles.append(relation)

    def build(self) -> AnnotatedText:
        """Return the text with all annotations."""
        text = "".join(self._parts)
        outgoing: list[list[tuple[str, str]]] = [[] for _ in self._marks]
        for source, name, target in self._relations:
            outgoing[source].append((name, str(target + 1)))
        entities = [RateEntity(start, end, text[start:end], label) for start, end, label in self._entities]
        marks = zip(self._marks, outgoing, strict=True)
        graph = [RadGraphEntity(*mark, tuple(relations)) for mark, relations in marks]
        return AnnotatedText(text, tuple(self._sentences), tuple(entities), tuple(graph), tuple(self._roles))


# Frames and closed word classes of ``lexicon/grammar.yml``, compiled.


# "{np}", "[increased]", "[!not changed]".
_SLOT = re.compile(r"\{(\w+)\}|\[(!?)([^\]]+)\]")
_T = TypeVar("_T")


class Frame(NamedTuple):
    """A compiled template.

    ``operations`` are (slot name, "", None), ("word", text, None) and ("mark" or "denied", "", phrase), a
    denied phrase being one that is itself negated ("not changed"); ``slots`` are the names among them.
    """

    operations: tuple[tuple[str, str, Phrase | None], ...]
    slots: frozenset[str]


class Byte(IntEnum):
    """The byte of a statement's wording that decides each choice, from the lowest byte up."""

    FRAME = 0
    NAME = 1
    SEVERITY = 2
    LIST = 3
    PLACE = 4
    SIZE = 5
    CHANGE = 6
    SINCE = 7
    CAUSE = 8
    COMMA = CAUSE  # Denials have no cause, so that this byte is free for them.
    VERB = 9
    MODE = 10
    EXTRA = 11


def get_byte(wording: int, which: int) -> int:
    """Return the byte of a wording at a position, counted from the lowest byte; from 0 to 255."""
    return (wording >> (8 * which)) & 255


def pick(options: Sequence[_T], wording: int, which: int) -> _T:
    """Return the option that one byte of a wording selects."""
    return options[get_byte(wording, which) % len(options)]


@lru_cache(maxsize=4096)
def choose_article(text: str) -> str:
    """Return the article "a" or "an" that a text takes by its sound: an opacity, a unilateral, an 8 mm, an NG
    tube."""
    word = text.split(" ", 1)[0]
    if word[0].isdigit():
        return "an" if re.match(r"8|1[18](\D|$)", word) else "a"
    if len(word) == 1 or word[:2].isupper() or re.match(r"[A-Z]\d", word):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    if re.match(r"(?i)uni|ure|uti|us[eu]|eu|one", word):
        return "a"
    return "an" if word[0].lower() in "aeiou" else "a"


@lru_cache(maxsize=16384)
def build_size_phrase(size_mm: tuple[int, ...], centimetres: bool) -> Phrase:
    """Return the phrase for a size, such as "8 mm" or "2.3 x 1.8 cm", which is one RadGraph entity."""
    numbers = [f"{mm / 10:g}" if centimetres else str(mm) for mm in size_mm]
    return parse_name("_x_".join(numbers) + ("_cm" if centimetres else "_mm"))


def compile_frame(template: str) -> Frame:
    """Return the frame for a template of ``grammar.yml``, such as "there {be} {np}"."""
    operations: list[tuple[str, str, Phrase | None]] = []
    at = 0
    for match in _SLOT.finditer(template):
        if literal := template[at : match.start()].strip():
            operations.append(("word", literal, None))
        if match[1]:
            operations.append((match[1], "", None))
        else:
            operations.append(("denied" if match[2] else "mark", "", parse_name(match[3])))
        at = match.end()
    if literal := template[at:].strip():
        operations.append(("word", literal, None))
    return Frame(tuple(operations), frozenset(name for name, _, _ in operations))


Table = dict[str, tuple[Frame, ...]]


def _compile_frames(templates: dict[str, list[str]]) -> Table:
    """Return the compiled frames of each key of a part of ``grammar.yml``."""
    return {key: tuple(compile_frame(t) for t in phrasing) for key, phrasing in templates.items()}


class Words:
    """The compiled words and frames of ``grammar.yml``."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Compile the words and frames of the lexicon's grammar."""
        raw = lexicon.grammar
        self._raw = raw
        self._filtered: dict[tuple[str, str, frozenset[str], frozenset[str]], tuple[Frame, ...]] = {}
        self.lists = raw["lists"]
        self.scales = {
            (name, kind): tuple(tuple(parse_name(word) for word in step) for step in scale[kind])
            for name, scale in raw["scales"].items()
            for kind in ("adjectives", "adverbs")
        }
        change, sized = raw["change"], raw["change"]["sized"]
        self.change: dict[tuple[str, bool], Table] = {
            (form, with_size): _compile_frames(change[form] | (sized[form] if with_size else {}))
            for form in ("post", "verb")
            for with_size in (False, True)
        }
        self.change["state", False] = _compile_frames(change["post"] | change["state"])
        self.before = {
            with_size: {
                key: tuple(parse_name(word) for word in wording)
                for key, wording in (change["pre"] | (sized["pre"] if with_size else {})).items()
            }
            for with_size in (False, True)
        }
        self.again = _compile_frames(raw["again"])
        self.many = tuple(parse_name(word) for word in self.lists["many"])
        self.sides = {word: parse_name(word, anatomy=True) for word in ("left", "right", "bilateral")}
        regions = {
            region.key: region for protocol in lexicon.protocols.values() for region in protocol.regions
        }
        self.bodies = {
            (key, system): body for key, region in regions.items() for system, body in region.bodies.items()
        }

    def frames(
        self,
        kind: str,
        variant: str,
        needs: frozenset[str] = frozenset(),
        lacks: frozenset[str] = frozenset(),
    ) -> tuple[Frame, ...]:
        """Return the frames below ``kind`` and ``variant`` in ``grammar.yml`` that have all slots in
        ``needs`` and none in ``lacks``; empty if there are none.

        Raises
        ------
        KeyError
            If the file has no such kind or variant.
        """
        key = (kind, variant, needs, lacks)
        if key not in self._filtered:
            frames = (compile_frame(template) for template in self._raw[kind][variant])
            fit = tuple(frame for frame in frames if needs <= frame.slots and not frame.slots & lacks)
            self._filtered[key] = fit
        return self._filtered[key]


@lru_cache(maxsize=1)
def load_words() -> Words:
    """Return the words and frames of the packaged lexicon, compiled at the first call."""
    return Words(load_lexicon())
