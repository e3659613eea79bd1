"""Assembles a text from pieces, keeping the position of every annotation exact."""

from __future__ import annotations

from dataclasses import dataclass, field

from radeval_lib.rules.generator.records import (
    AnnotatedText,
    RadGraphEntity,
    RateEntity,
    Sentence,
    SpatialRelation,
)
from radeval_lib.rules.lexicon.markup import Phrase, tokenize
from radeval_lib.rules.report_text.characters import Span


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
        """Add plain text; returns its span."""
        start = self.end
        if start != self._start:
            if text[0] not in ",.":
                self._parts.append(" ")
                start += 1
        else:
            text = text[0].upper() + text[1:]
        self._parts.append(text)
        self.end = start + len(text)
        self._tokens += len(tokenize(text))
        return start, self.end

    def phrase(self, phrase: Phrase, label: str = "OBS-DP") -> tuple[int, int, int]:
        """Add a compiled phrase; its undecided observations get ``label``.

        Returns the start, and the ids of its observation head and anatomy head (-1: none).
        """
        start, text = self.end, phrase.text
        first = start == self._start
        if first:
            text = text[0].upper() + text[1:]
        else:
            self._parts.append(" ")
            start += 1
        self._parts.append(text)
        base, token = len(self._marks), self._tokens
        for mark in phrase.marks:
            tokens = mark.tokens
            if first and mark.start == 0:
                tokens = tokens[0].upper() + tokens[1:]
            span, places = (start + mark.start, start + mark.end), (token + mark.first, token + mark.last)
            self._marks.append((*span, *places, tokens, mark.label or label))
        for source, name, target in phrase.relations:
            self._relations.append((base + source, name, base + target))
        for begin, end, kind in phrase.spans:
            self._entities.append((start + begin, start + end, kind))
        self.end = start + len(text)
        self._tokens = token + phrase.ntokens
        head, anatomy = phrase.head, phrase.anatomy
        return start, base + head if head >= 0 else -1, base + anatomy if anatomy >= 0 else -1

    def relate(self, source: int, name: str, target: int) -> None:
        """A RadGraph relation between two ids."""
        self._relations.append((source, name, target))

    def entity(self, start: int, end: int, label: str) -> None:
        """A RaTE entity."""
        self._entities.append((start, end, label))

    def role(self, relation: SpatialRelation) -> None:
        """A spatial relation."""
        self._roles.append(relation)

    def build(self) -> AnnotatedText:
        """The finished text."""
        text = "".join(self._parts)
        outgoing: list[list[tuple[str, str]]] = [[] for _ in self._marks]
        for source, name, target in self._relations:
            outgoing[source].append((name, str(target + 1)))
        entities = [RateEntity(start, end, text[start:end], label) for start, end, label in self._entities]
        marks = zip(self._marks, outgoing, strict=True)
        graph = [RadGraphEntity(*mark, tuple(relations)) for mark, relations in marks]
        sentences, roles = tuple(self._sentences), tuple(self._roles)
        return AnnotatedText(text, sentences, tuple(entities), tuple(graph), roles)
