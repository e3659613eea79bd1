"""RaTEScore as a metric: texts are split into sentences, entities extracted and encoded, and pairs scored."""

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
from radeval_lib.models.batching import Precision, fix_unicode
from radeval_lib.models.entities import Decoding

if TYPE_CHECKING:
    from radeval_lib.models.encoders import Encoder
    from radeval_lib.models.entities import NerModel
    from radeval_lib.rules.report_text.words import Span

#: The number of pairs whose texts are tagged together; memory grows with it and with the number of distinct
#: entities.
CHUNK = 2_000
_MATCHED_CREDIT = 0.5  # An entity that keeps at least this share of its weight is reported as matched.


class _TaggedText(NamedTuple):
    """The entities that were found in a text, and cautions about how it was read."""

    entities: tuple[formula.NamedEntity, ...]
    notes: tuple[str, ...]


@register
class RaTEScore(Metric):
    """RaTEScore (Zhao et al. 2024), from 0 to 1 unless negative cosines are kept.

    Every distinct text, sentence and entity is processed once. If a text has no sentence or no entity, the
    option ``empty`` sets the pair's score; the released package assigns wrong scores to all pairs after such
    a text. Each score's detail is an :class:`~radeval_lib.metrics.ratescore.formula.Explanation`.

    Parameters
    ----------
    preset : ``released`` (as in the package 0.6.0) or ``paper`` (as in Section 2.4).
    weights : ``long``, ``short``, or a YAML or JSON file of 25 weights and a penalty.
    ner_model : the folder or Hugging Face Hub name of a token classifier with IOB labels, or the folder of a
        span tagger that this library saved.
    encoder : the folder or Hugging Face Hub name of the entity encoder.
    penalty, orientation, empty, min_characters, pooling, cosine, decoding : see
        :class:`~radeval_lib.metrics.ratescore.formula.Options`; None keeps the value of the preset.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : the number type of both models: ``float32``, ``bfloat16``, or ``auto`` for bfloat16 on a GPU
        and float32 on a CPU; ``benchmarks/README.md`` compares them.
    """

    name = "ratescore"
    title = "RaTEScore"
    range = (0.0, 1.0)  # With ``cosine=keep``, scores can be outside; see ``bounds``.
    citation = "zhao2024ratescore"
    required_roles = ("ner_model", "encoder")
    variant = "preset"
    reads_lines = True  # The released rules split sentences at line breaks.

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
        """Combine the preset with the options that are not None, and load the weights.

        Raises
        ------
        KeyError, ValidationError
            If the preset or an option's value is unknown.
        MetricError
            If the weights do not exist or are malformed.
        """
        overrides = {option.name: getattr(self, option.name) for option in fields(formula.Options)}
        self.options = formula.options(self.preset, **overrides)
        vars(self).update(asdict(self.options))  # Settings that were None get the value of the preset.
        self.scorer = formula.Scorer(self.weights, self.options)

    def bounds(self) -> tuple[float, float]:
        """Return the lowest and the highest possible score; infinite if negative cosines are kept."""
        return (-math.inf, math.inf) if self.options.cosine == "keep" else self.range

    def settings(self) -> dict[str, Any]:
        """Return the settings that can change a score; a file of weights is named with its checksum."""
        return {**super().settings(), "weights": self.scorer.weights.name}

    @cached_property
    def tagger(self) -> NerModel:
        """The NER model, loaded when first needed.

        Raises
        ------
        ModelError
            If the model cannot be loaded.
        MetricError
            If a label of the model has an unknown type.
        """
        from radeval_lib.models.ner_models import open_ner_model

        tagger = open_ner_model(
            self.ner_model, decoding=self.options.decoding, device=self.device, precision=self.precision
        )
        types = {label.partition("-")[2] for label in getattr(tagger, "labels", []) if label != "O"}
        if unknown := sorted(types - set(TYPES)):
            problem = f"a label of the model has the unknown type {unknown[0]!r}"
            remedy = f"Name a model whose labels have only the types {', '.join(TYPES)}."
            raise MetricError(problem, "ratescore.ner_model", remedy)
        return tagger

    @cached_property
    def entity_encoder(self) -> Encoder:
        """The entity encoder, loaded when first needed; raises ModelError if it cannot be loaded."""
        from radeval_lib.models.encoders import Encoder as TextEncoder

        return TextEncoder(
            self.encoder, pooling=self.options.pooling, device=self.device, precision=self.precision
        )

    def entities(self, texts: Sequence[str]) -> list[tuple[formula.NamedEntity, ...]]:
        """Return the entities of each text, in the order of the text."""
        tagged_texts = self._tag_texts(list(dict.fromkeys(texts)))
        return [tagged_texts[text].entities for text in texts]

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, formula.Explanation]]:
        """Yield the score and the explanation of each pair."""
        # The lambda delays loading the encoder until the first entity is found.
        table = Vectors(lambda texts: self.entity_encoder.encode(texts))
        tagged_texts: dict[str, _TaggedText] = {}
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair if text not in tagged_texts))
            tagged_texts.update(self._tag_texts(texts))
            table.add(entity.text for text in texts for entity in tagged_texts[text].entities)
            for reference, candidate in chunk:
                sides = {"reference": tagged_texts[reference], "candidate": tagged_texts[candidate]}
                entities = [tagged.entities for tagged in sides.values()]
                notes = [f"{side}: {note}" for side, tagged in sides.items() for note in tagged.notes]
                similarity = table.rows(entities[0]) @ table.rows(entities[1]).T if all(entities) else None
                explanation = self.scorer.score(entities[0], entities[1], similarity, notes=notes)
                yield explanation.score, explanation

    def cautions(self, reference: str, candidate: str, detail: formula.Explanation) -> Iterator[str]:
        """Yield the notes of the pair's explanation: on how the texts were read, and on a text without
        entities."""
        yield from detail.notes

    def explain(self, reference: str, candidate: str, detail: formula.Explanation) -> Iterator[Reason]:
        """Yield a reason for each entity, with the most similar entity of the other text.

        An entity counts as matched if its cosine similarity times its penalty is at least 0.5. Two entities
        that are each other's match have one reason together.
        """
        sides = (Finder(reference), detail.reference), (Finder(candidate), detail.candidate)
        entities = [[(entity.type, find(entity.text)) for entity in side] for find, side in sides]
        if detail.precision is None or detail.recall is None:  # One text has no entities to compare with.
            yield from (Reason("unmatched", kind, credit=0.0, reference=span) for kind, span in entities[0])
            yield from (Reason("unmatched", kind, credit=0.0, candidate=span) for kind, span in entities[1])
            return
        reported_pairs = set()
        for side, direction in ((1, detail.precision), (0, detail.recall)):
            for term in direction.matches:
                kind, span = entities[side][term.query]
                match_type, match_span = entities[1 - side][term.match]
                credit = term.penalty * term.cosine
                is_matched = credit >= _MATCHED_CREDIT
                pair = (match_span if is_matched else None, span)
                spans = pair if side == 1 else pair[::-1]
                rule = f"cosine {term.cosine:.2f} with the nearest entity, of type {match_type}"
                rule += f"; penalty {term.penalty:g}" if term.penalty != 1 else ""
                # If two entities are each other's match, they are reported once.
                if not is_matched or (kind, match_type, *spans) not in reported_pairs:
                    yield Reason(
                        "matched" if is_matched else "unmatched",
                        kind,
                        rule=rule,
                        credit=round(credit, 4),
                        reference=spans[0],
                        candidate=spans[1],
                    )
                reported_pairs.add((match_type, kind, *spans))

    def _tag_texts(self, texts: Sequence[str]) -> dict[str, _TaggedText]:
        """Return a mapping from text to its entities and cautions; each distinct sentence is tagged once."""
        sentences_of = {text: split(text, self.options.min_characters) for text in texts}
        distinct = list(dict.fromkeys(sentence for own in sentences_of.values() for sentence in own))
        pairs_of = dict(zip(distinct, self.tagger.tag(distinct), strict=True)) if distinct else {}
        # A token has at least one character, so that only long sentences can exceed the tagger's limit.
        long_ones = [sentence for sentence in distinct if len(sentence) > 500]
        find_truncated: Any = getattr(self.tagger, "find_truncated", lambda sentences: [])
        truncated, tagged_texts = {*compress(long_ones, find_truncated(long_ones) if long_ones else [])}, {}
        for text, sentences in sentences_of.items():
            notes = ["no sentence"] if not sentences else []
            if not truncated.isdisjoint(sentences):
                notes.append("a sentence is longer than the entity tagger reads; its end was left out")
            if fix_unicode(text) != text:
                notes.append("characters that cannot be written were read as U+FFFD")
            entities = (formula.NamedEntity(*pair) for sentence in sentences for pair in pairs_of[sentence])
            tagged_texts[text] = _TaggedText(tuple(entities), tuple(notes))
        return tagged_texts


class Vectors:
    """A table of unit vectors of entity texts, each of which is encoded once.

    Parameters
    ----------
    encode : a function from n texts to their vectors, shape (n, dimension).
    """

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[Any]]) -> None:
        """Start with an empty table."""
        self._encode = encode
        self._row_of: dict[str, int] = {}
        self._matrix: NDArray[np.float64] = np.empty((0, 0))

    def add(self, texts: Iterator[str]) -> None:
        """Encode the texts that the table does not have yet, in alphabetical order, and add their vectors."""
        new_texts = sorted({text for text in texts if text not in self._row_of})
        if not new_texts:
            return
        new_vectors = formula.normalize_rows(self._encode(new_texts))
        self._matrix = np.vstack((self._matrix, new_vectors)) if len(self._matrix) else new_vectors
        self._row_of.update({text: len(self._row_of) + index for index, text in enumerate(new_texts)})

    def rows(self, entities: Sequence[formula.NamedEntity]) -> NDArray[np.float64]:
        """Return the unit vectors of entities whose texts are in the table, float64 of shape (entities,
        dimension)."""
        return self._matrix[[self._row_of[entity.text] for entity in entities]]


class Finder:
    """A search for one entity of a text after another, which ignores white space and letter case."""

    def __init__(self, text: str) -> None:
        """Start at the beginning of the text."""
        self._text, self._end = text, 0

    def __call__(self, words: str) -> Span | None:
        """Return (start, end) of the first occurrence of ``words`` after the previous match, or else anywhere
        in the text; None if there is no occurrence."""
        if not (characters := "".join(words.split())):
            return None
        pattern = r"\s*".join(map(re.escape, characters))
        left_edge = r"(?<![^\W_])" if characters[0].isalnum() else ""  # Do not match within a word.
        right_edge = r"(?![^\W_])" if characters[-1].isalnum() else ""
        search = re.compile(f"{left_edge}{pattern}{right_edge}", re.IGNORECASE).search
        if match := search(self._text, self._end) or search(self._text):
            self._end = match.end()
        return match and match.span()
