"""Assembles a text from pieces, keeping the position of every annotation exact."""

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
    """An :class:`AnnotatedText` under construction.

    Pieces are separated by one space, except before a comma or a period; a piece's tokens are those of the
    piece alone, which equals the tokens of the whole text because pieces end at white space or punctuation.
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
        """Start a sentence; its first letter will be a capital."""
        if self.end:
            self._parts.append(" ")
            self.end += 1
        self._start = self.end

    def close_sentence(self, statements: tuple[int, ...]) -> None:
        """End the sentence with a period."""
        self._parts.append(".")
        self.end += 1
        self._tokens += 1
        self._sentences.append(Sentence(self._start, self.end, statements))

    def word(self, text: str) -> Span:
        """Add plain text, and return its span."""
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
        """Add a compiled phrase; observations without a label get ``label``.

        Returns the start, and the ids of its observation head and anatomy head (-1: none).
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
            span, places = (
                (start + mark.start, start + mark.end),
                (first_token + mark.first, first_token + mark.last),
            )
            self._marks.append((*span, *places, tokens, mark.label or label))
        for source, name, target in phrase.relations:
            self._relations.append((base + source, name, base + target))
        for begin, end, kind in phrase.spans:
            self._entities.append((start + begin, start + end, kind))
        self.end = start + len(text)
        self._tokens = first_token + phrase.ntokens
        head, anatomy = phrase.head, phrase.anatomy
        return start, base + head if head >= 0 else -1, base + anatomy if anatomy >= 0 else -1

    def relate(self, source: int, name: str, target: int) -> None:
        """Add a RadGraph relation between two ids."""
        self._relations.append((source, name, target))

    def entity(self, start: int, end: int, label: str) -> None:
        """Add a RaTE entity."""
        self._entities.append((start, end, label))

    def role(self, relation: SpatialRelation) -> None:
        """Add a spatial relation."""
        self._roles.append(relation)

    def build(self) -> AnnotatedText:
        """Return the finished text."""
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
    COMMA = CAUSE  # of a denial, which has no cause
    VERB = 9
    MODE = 10
    EXTRA = 11


def byte(wording: int, which: int) -> int:
    """Return one byte of the wording, 0 to 255."""
    return (wording >> (8 * which)) & 255


def pick(options: Sequence[_T], wording: int, which: int) -> _T:
    """Return the option selected by this byte of the wording."""
    return options[byte(wording, which) % len(options)]


@lru_cache(maxsize=4096)
def article(text: str) -> str:
    """Return "a" or "an" for ``text``, by its sound: an opacity, a unilateral, an 8 mm, an NG tube."""
    word = text.split(" ", 1)[0]
    if word[0].isdigit():
        return "an" if re.match(r"8|1[18](\D|$)", word) else "a"
    if len(word) == 1 or word[:2].isupper() or re.match(r"[A-Z]\d", word):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    if re.match(r"(?i)uni|ure|uti|us[eu]|eu|one", word):
        return "a"
    return "an" if word[0].lower() in "aeiou" else "a"


@lru_cache(maxsize=16384)
def size_phrase(size_mm: tuple[int, ...], centimetres: bool) -> Phrase:
    """Return a size in words, one RadGraph entity: "8 mm", "2.3 x 1.8 cm"."""
    numbers = [f"{mm / 10:g}" if centimetres else str(mm) for mm in size_mm]
    return parse_name("_x_".join(numbers) + ("_cm" if centimetres else "_mm"))


def compile_frame(template: str) -> Frame:
    """Compile a template of ``grammar.yml``."""
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
    """Return the compiled frames of each key."""
    return {key: tuple(compile_frame(t) for t in phrasing) for key, phrasing in templates.items()}


class Words:
    """The content of ``grammar.yml``, ready for use."""

    def __init__(self, lexicon: Lexicon) -> None:
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
        ``needs`` and none in ``lacks``; raises KeyError if the file has no such kind or variant."""
        key = (kind, variant, needs, lacks)
        if key not in self._filtered:
            frames = (compile_frame(template) for template in self._raw[kind][variant])
            fit = tuple(frame for frame in frames if needs <= frame.slots and not frame.slots & lacks)
            self._filtered[key] = fit
        return self._filtered[key]


@lru_cache(maxsize=1)
def load_words() -> Words:
    """Return the compiled grammar of the packaged lexicon."""
    return Words(load_lexicon())
