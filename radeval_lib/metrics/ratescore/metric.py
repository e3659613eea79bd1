"""RaTEScore as a metric: sentences, entities, embeddings and a score for every pair of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import TYPES
from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.cautions import Reason
from radeval_lib.metrics.ratescore import formula
from radeval_lib.metrics.ratescore.sentences import split
from radeval_lib.models.batching import Precision, well_formed
from radeval_lib.models.entities import Decoding

if TYPE_CHECKING:
    from radeval_lib.models.encoders import Encoder
    from radeval_lib.models.entities import NerModel
    from radeval_lib.rules.report_text.words import Span

CHUNK = 2_000
"""Pairs whose texts are read together; memory grows with this, and with the number of distinct entities."""
_MATCHED_CREDIT = 0.5  # an entity that keeps at least this share of its weight is reported as matched


class _Reading(NamedTuple):
    """The entities of a text, and cautions about reading it."""

    entities: tuple[formula.NamedEntity, ...]
    notes: tuple[str, ...]


@register
class RaTEScore(Metric):
    """RaTEScore (Zhao et al. 2024).

    Every text, sentence and entity is read once, however often it occurs. A text without a sentence or an
    entity gets the value that ``empty`` names; the package misaligns all later pairs there.

    Parameters
    ----------
    preset : ``released`` (what the package 0.6.0 does) or ``paper`` (Section 2.4).
    weights : ``long``, ``short``, or a YAML or JSON file of 25 weights and a penalty.
    ner_model : folder or hub name of a token classifier with IOB labels, or of a span tagger that this
        library saved.
    encoder : folder or hub name of the entity encoder.
    penalty, orientation, empty, min_characters, pooling, cosine, decoding : see
        :class:`~radeval_lib.metrics.ratescore.formula.Options`; None keeps the preset's.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``, of both models: ``auto`` is bfloat16 on a GPU, float32
        on a CPU. What bfloat16 gains and changes is in ``benchmarks/README.md``.
    """

    name = "ratescore"
    title = "RaTEScore"
    range = (0.0, 1.0)  # if no cosine is negative; with ``cosine=keep`` a score can leave it
    citation = "zhao2024ratescore"
    needs = ("ner_model", "encoder")
    variant = "preset"
    reads_lines = True  # the released rules do

    preset: formula.Preset = "released"
    weights: str = "long"
    ner_model: str = "Angelakeke/RaTE-NER-Deberta"
    encoder: str = "FremyCompany/BioLORD-2023-C"
    penalty: formula.PenaltyRule | None = None
    orientation: formula.Orientation | None = None
    empty: formula.Empty | None = None
    min_characters: int | None = None
    pooling: formula.Pooling | None = None
    cosine: formula.Cosine | None = None
    decoding: Decoding | None = None
    device: str = "auto"
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        changes = {option.name: getattr(self, option.name) for option in fields(formula.Options)}
        self.options = formula.options(self.preset, **changes)
        vars(self).update(asdict(self.options))  # what the preset decides
        self.scorer = formula.Scorer(self.weights, self.options)

    def bounds(self) -> tuple[float, float]:
        """Return ``range``; no bounds if negative cosines are kept."""
        return (-math.inf, math.inf) if self.options.cosine == "keep" else self.range

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "weights": self.scorer.weights.name}

    @cached_property
    def tagger(self) -> NerModel:
        """The NER model, loaded when first needed."""
        from radeval_lib.models.ner_models import open_ner_model

        tagger = open_ner_model(
            self.ner_model, decoding=self.options.decoding, device=self.device, precision=self.precision
        )
        types = {label.partition("-")[2] for label in getattr(tagger, "labels", []) if label != "O"}
        if unknown := sorted(types - set(TYPES)):
            problem = f"the tagger has the unknown type {unknown[0]!r}"
            raise MetricError(problem, "ratescore.ner_model", f"Give one of {', '.join(TYPES)}.")
        return tagger

    @cached_property
    def entity_encoder(self) -> Encoder:
        """The entity encoder, loaded when first needed."""
        from radeval_lib.models.encoders import Encoder as TextEncoder

        return TextEncoder(
            self.encoder, pooling=self.options.pooling, device=self.device, precision=self.precision
        )

    def entities(self, texts: Sequence[str]) -> list[tuple[formula.NamedEntity, ...]]:
        """Return the entities of each text, in order."""
        readings = self._read(list(dict.fromkeys(texts)))
        return [readings[text].entities for text in texts]

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, formula.Explanation]]:
        # The encoder is loaded only where an entity is found.
        vectors = Vectors(lambda texts: self.entity_encoder.encode(texts))
        readings: dict[str, _Reading] = {}
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair if text not in readings))
            readings.update(self._read(texts))
            vectors.learn(entity.text for text in texts for entity in readings[text].entities)
            for reference, candidate in chunk:
                sides = {"reference": readings[reference], "candidate": readings[candidate]}
                ours, theirs = (reading.entities for reading in sides.values())
                notes = [f"{side}: {note}" for side, reading in sides.items() for note in reading.notes]
                table = vectors.rows(ours) @ vectors.rows(theirs).T if ours and theirs else None
                explanation = self.scorer.score(ours, theirs, table, notes=notes)
                yield explanation.score, explanation

    def cautions(self, reference: str, candidate: str, detail: formula.Explanation) -> Iterator[str]:
        yield from detail.notes

    def explain(self, reference: str, candidate: str, detail: formula.Explanation) -> Iterator[Reason]:
        """Yield each entity with the entity of the other text that it is compared with. It is matched if it
        keeps at least half of its weight."""
        ours, theirs = (
            [(entity.type, find(entity.text)) for entity in side]
            for find, side in (
                (Finder(reference), detail.reference),
                (Finder(candidate), detail.candidate),
            )
        )
        if detail.precision is None or detail.recall is None:  # a side without an entity: nothing to compare
            yield from (Reason("unmatched", kind, credit=0.0, reference=span) for kind, span in ours)
            yield from (Reason("unmatched", kind, credit=0.0, candidate=span) for kind, span in theirs)
            return
        reported = set()
        for entities, others, direction in ((theirs, ours, detail.precision), (ours, theirs, detail.recall)):
            for term in direction.matches:
                kind, span = entities[term.query]
                other, nearest = others[term.match]
                credit = term.penalty * term.cosine
                matched = credit >= _MATCHED_CREDIT
                pair = (nearest if matched else None, span)
                spans = pair if entities is theirs else pair[::-1]
                rule = f"cosine {term.cosine:.2f} with the nearest entity, of type {other}"
                rule += f"; penalty {term.penalty:g}" if term.penalty != 1 else ""
                # If two entities are each other's nearest, once is enough.
                if not matched or (kind, other, *spans) not in reported:
                    yield Reason(
                        "matched" if matched else "unmatched",
                        kind,
                        rule=rule,
                        credit=round(credit, 4),
                        reference=spans[0],
                        candidate=spans[1],
                    )
                reported.add((other, kind, *spans))

    def _read(self, texts: Sequence[str]) -> dict[str, _Reading]:
        """Return the entities of each text with notes for cautions, by the text; equal sentences are tagged
        once."""
        sentences = [split(text, self.options.min_characters) for text in texts]
        distinct = list(dict.fromkeys(sentence for row in sentences for sentence in row))
        tagged = dict(zip(distinct, self.tagger.tag(distinct), strict=True)) if distinct else {}
        # A piece is at least a character long, so only these can be longer than the tagger reads.
        long = [sentence for sentence in distinct if len(sentence) > 500]
        over = self.tagger.cut(long) if long and hasattr(self.tagger, "cut") else []
        cut, readings = {*compress(long, over)}, {}
        for text, row in zip(texts, sentences, strict=True):
            notes = ["no sentence"] if not row else []
            if not cut.isdisjoint(row):
                notes.append("a sentence is longer than the entity tagger reads; its end was left out")
            if well_formed(text) != text:
                notes.append("characters that cannot be written were read as U+FFFD")
            entities = (formula.NamedEntity(*entity) for sentence in row for entity in tagged[sentence])
            readings[text] = _Reading(tuple(entities), tuple(notes))
        return readings


class Vectors:
    """Unit vectors of the entity texts seen so far.

    Parameters
    ----------
    encode : texts to vectors, shape (number of texts, dimension).
    """

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[Any]]) -> None:
        self._encode = encode
        self._row_of: dict[str, int] = {}
        self._matrix: NDArray[np.float64] = np.empty((0, 0))

    def learn(self, texts: Iterator[str]) -> None:
        """Encode the new texts, in alphabetical order."""
        new = sorted({text for text in texts if text not in self._row_of})
        if not new:
            return
        block = formula.unit(self._encode(new))
        self._matrix = np.vstack((self._matrix, block)) if len(self._matrix) else block
        self._row_of.update({text: len(self._row_of) + index for index, text in enumerate(new)})

    def rows(self, entities: Sequence[formula.NamedEntity]) -> NDArray[np.float64]:
        """Return the vectors of entities with known texts, shape (entities, dimension)."""
        return self._matrix[[self._row_of[entity.text] for entity in entities]]


class Finder:
    """Finds words in a text one after another, ignoring white space and capitals."""

    def __init__(self, text: str) -> None:
        self._text, self._end = text, 0

    def __call__(self, words: str) -> Span | None:
        """Return the position of the words after the previous match, else anywhere; None if they do not
        occur."""
        if not (signs := "".join(words.split())):
            return None
        pattern = r"\s*".join(map(re.escape, signs))
        before = r"(?<![^\W_])" if signs[0].isalnum() else ""  # not within a word
        behind = r"(?![^\W_])" if signs[-1].isalnum() else ""
        search = re.compile(f"{before}{pattern}{behind}", re.IGNORECASE).search
        if match := search(self._text, self._end) or search(self._text):
            self._end = match.end()
        return match and match.span()
