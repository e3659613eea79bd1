"""RaTEScore as a metric: sentences, entities, embeddings, score, one value a pair whatever the texts hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.categories import TYPES
from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.ratescore.scoring import (
    Cosine,
    Empty,
    Explanation,
    NamedEntity,
    Options,
    Orientation,
    PenaltyRule,
    Pooling,
    Scorer,
    options,
    split,
    unit,
)
from radeval_lib.metrics.reasons import HALF, Finder, Reason

if TYPE_CHECKING:
    from radeval_lib.models.encoders import Encoder
    from radeval_lib.models.ner.entities import Tagger

CHUNK = 2_000
"""Pairs whose texts are read together; memory grows with this, and with the number of distinct entities."""


class _Reading:
    """What was found in a text: its entities, and what a reader should know."""

    __slots__ = ("entities", "notes")

    def __init__(self, entities: tuple[NamedEntity, ...], notes: tuple[str, ...]) -> None:
        self.entities, self.notes = entities, notes


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
    penalty, orientation, empty, min_characters, pooling, cosine, decoding : see :class:`Options`; None
        keeps the preset's.
    device : ``auto``, ``cpu`` or ``cuda``.
    cache : folder where entities and vectors are kept between runs, or None. It holds no readable text:
        entities can be read only by who has the report that they are from.
    """

    name = "ratescore"
    title = "RaTEScore"
    range = (0.0, 1.0)  # where no cosine is negative; with ``cosine=keep`` a score can leave it
    citation = "zhao2024ratescore"
    needs = ("ner_model", "encoder")
    reads_lines = True  # the released rules do

    def __init__(
        self,
        *,
        preset: str = "released",
        weights: str = "long",
        ner_model: str = "Angelakeke/RaTE-NER-Deberta",
        encoder: str = "FremyCompany/BioLORD-2023-C",
        penalty: PenaltyRule | None = None,
        orientation: Orientation | None = None,
        empty: Empty | None = None,
        min_characters: int | None = None,
        pooling: Pooling | None = None,
        cosine: Cosine | None = None,
        decoding: str | None = None,
        device: str = "auto",
        cache: str | None = None,
    ) -> None:
        self.options: Options = options(
            preset,
            penalty=penalty,
            orientation=orientation,
            empty=empty,
            min_characters=min_characters,
            pooling=pooling,
            cosine=cosine,
            decoding=decoding,
        )
        self.scorer = Scorer(weights, self.options)
        self._names = {"ner_model": ner_model, "encoder": encoder}
        self.device, self._cache, self._preset = device, cache, preset
        self._tagger: Tagger | None = None
        self._encoder: Encoder | None = None
        self._readings: _KeptReadings | None = None
        self._by_name = True

    @classmethod
    def with_models(cls, tagger: Tagger, encoder: Encoder, **settings: Any) -> RaTEScore:
        """The metric over models that are loaded already, or stand-ins for them.

        ``settings`` are the constructor's; pooling and decoding are then the models' own affair.
        """
        metric = cls(**settings)
        metric._tagger, metric._encoder, metric._by_name = tagger, encoder, False
        return metric

    def settings(self) -> dict[str, Any]:
        """Preset, weights, options and the models' names."""
        from dataclasses import asdict

        return {
            "preset": self._preset,
            "weights": self.scorer.weights.name,
            **asdict(self.options),
            **self._names,
        }

    @property
    def tagger(self) -> Tagger:
        """The entity tagger, loaded when first needed."""
        if self._tagger is None:
            from radeval_lib.models.ner.training import open_tagger

            self._tagger = open_tagger(
                self._names["ner_model"], decoding=self.options.decoding, device=self.device
            )
            labels = {
                label.partition("-")[2] for label in getattr(self._tagger, "labels", []) if label != "O"
            }
            if unknown := sorted(labels - set(TYPES)):
                raise MetricError(
                    f"the tagger has the type {unknown[0]!r}",
                    "ratescore.ner_model",
                    f"Types: {', '.join(TYPES)}.",
                )
        return self._tagger

    @property
    def encoder(self) -> Encoder:
        """The entity encoder, loaded when first needed."""
        if self._encoder is None:
            from radeval_lib.models.encoders import Encoder as TextEncoder

            self._encoder = TextEncoder(
                self._names["encoder"], pooling=self.options.pooling, device=self.device, cache=self._cache
            )
        return self._encoder

    def entities(self, texts: Sequence[str]) -> list[tuple[NamedEntity, ...]]:
        """The entities of each text, in order."""
        found = self._read(list(dict.fromkeys(texts)))
        return [found[text].entities for text in texts]

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Explanation]]:
        vectors = Vectors(lambda texts: self.encoder.encode(texts))  # loaded only where an entity is found
        known: dict[str, _Reading] = {}
        remaining = iter(pairs)
        while chunk := list(islice(remaining, CHUNK)):
            texts = list(dict.fromkeys(text for pair in chunk for text in pair if text not in known))
            known.update(self._read(texts))
            vectors.learn(entity.text for text in texts for entity in known[text].entities)
            for reference, candidate in chunk:
                explanation = self._explained(known[reference], known[candidate], vectors)
                yield explanation.score, explanation

    def _reasons(self, reference: str, candidate: str, detail: Explanation) -> Iterator[Reason]:
        """An entity with the one of the other text that it is compared with; matched if it keeps at least
        half of its weight."""
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
        for own, others, direction in ((theirs, ours, detail.precision), (ours, theirs, detail.recall)):
            for term in direction.matches:
                kind, span = own[term.query]
                other, nearest = others[term.match]
                credit = term.penalty * term.cosine
                matched = credit >= HALF
                pair = (nearest if matched else None, span)
                spans = pair if own is theirs else pair[::-1]
                rule = f"cosine {term.cosine:.2f} with the nearest entity, of type {other}"
                rule += f"; penalty {term.penalty:g}" if term.penalty != 1 else ""
                # Where two entities are each other's nearest, once is enough.
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

    def _explained(self, reference: _Reading, candidate: _Reading, vectors: Vectors) -> Explanation:
        notes = [f"reference: {note}" for note in reference.notes]
        notes += [f"candidate: {note}" for note in candidate.notes]
        ours, theirs = reference.entities, candidate.entities
        table = vectors.rows(ours) @ vectors.rows(theirs).T if ours and theirs else None
        return self.scorer.score(ours, theirs, table, notes=notes)

    def _read(self, texts: Sequence[str]) -> dict[str, _Reading]:
        kept = self._kept()
        known = {} if kept is None else kept.get(texts)
        fresh = self._found([text for text in texts if text not in known])
        if kept is not None and fresh:
            kept.put(fresh)
        return known | fresh

    def _kept(self) -> _KeptReadings | None:
        """What earlier runs found, unless the tagger is a stand-in."""
        if self._readings is None and self._cache is not None and self._by_name:
            from radeval_lib.models.pretrained import checksum, device_of

            precision = "bf16" if device_of(self.device).type == "cuda" else "fp32"
            how = (
                checksum(self._names["ner_model"]),
                self.options.decoding,
                self.options.min_characters,
                precision,
            )
            self._readings = _KeptReadings(self._cache, f"readings {how}")
        return self._readings

    def _found(self, texts: Sequence[str]) -> dict[str, _Reading]:
        if not texts:
            return {}
        sentences = [split(text, self.options.min_characters) for text in texts]
        distinct = list(dict.fromkeys(sentence for row in sentences for sentence in row))
        tagged = dict(zip(distinct, self.tagger.tag(distinct), strict=True)) if distinct else {}
        cut = self._cut(distinct)
        return {
            text: _Reading(
                tuple(NamedEntity(*entity) for sentence in row for entity in tagged[sentence]),
                tuple(_notes(text, row, cut)),
            )
            for text, row in zip(texts, sentences, strict=True)
        }

    def _cut(self, sentences: Sequence[str]) -> set[str]:
        """The sentences that the tagger reads only the beginning of."""
        # A piece is at least a character long, so only these can be longer than the model reads.
        long = [sentence for sentence in sentences if len(sentence) > 500]
        check = getattr(self.tagger, "cut", None)
        return (
            {text for text, over in zip(long, check(long), strict=True) if over} if long and check else set()
        )


class _KeptReadings:
    """Readings on disk, under the hash of the text."""

    def __init__(self, folder: str, table: str) -> None:
        from radeval_lib.models.cache import BlobCache

        self._blobs = BlobCache(folder, table)

    def get(self, texts: Sequence[str]) -> dict[str, _Reading]:
        from radeval_lib.models.cache import text_key

        keys = {text_key(text): text for text in texts}
        found = {}
        for key, value in self._blobs.get(keys).items():
            text = keys[key]
            entities, notes = json.loads(value)
            found[text] = _Reading(tuple(NamedEntity(*entity) for entity in entities), tuple(notes))
        return found

    def put(self, readings: dict[str, _Reading]) -> None:
        from radeval_lib.models.cache import text_key

        plain = {text: json.dumps([row.entities, row.notes]).encode() for text, row in readings.items()}
        self._blobs.put({text_key(text): value for text, value in plain.items()})


class Vectors:
    """Unit vectors of the entity texts met so far.

    Parameters
    ----------
    encode : texts to vectors, shape (number of texts, dimension).
    """

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[Any]]) -> None:
        self._encode = encode
        self._place: dict[str, int] = {}
        self._matrix: NDArray[np.float64] = np.empty((0, 0))

    def learn(self, texts: Iterator[str]) -> None:
        new = sorted({text for text in texts if text not in self._place})
        if not new:
            return
        block = unit(self._encode(new))
        self._matrix = np.vstack((self._matrix, block)) if len(self._matrix) else block
        self._place.update({text: len(self._place) + index for index, text in enumerate(new)})

    def rows(self, entities: Sequence[NamedEntity]) -> NDArray[np.float64]:
        return self._matrix[[self._place[entity.text] for entity in entities]]


def _notes(text: str, sentences: Sequence[str], cut: set[str]) -> Iterator[str]:
    if not sentences:
        yield "no sentence"
    if any(sentence in cut for sentence in sentences):
        yield "a sentence is longer than the entity tagger reads; its end was left out"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        yield "characters that cannot be written were read as U+FFFD"
