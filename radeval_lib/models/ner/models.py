"""NER models by name: classifiers of tokens, whoever trained them, their labels read in one of two ways, and
classifiers of spans that this library saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import ModelError
from radeval_lib.models.batching import (
    MAX_PIECES,
    Precision,
    device_of,
    in_batches,
    longer_than,
    of_distinct,
    padded,
    precision_of,
    well_formed,
)
from radeval_lib.models.ner.entities import Decoding, decode, words_of
from radeval_lib.models.ner.schemes import SETTINGS, SpanScheme
from radeval_lib.models.pretrained import TRAINED, pretrained, weights

_SPECIAL = ("[CLS]", "[SEP]")  # the released code knows these two by name and no others


class IobNerModel:
    """Tags sentences with a token-classification model with the labels O, B-TYPE and I-TYPE.

    Sentences that the tokenizer makes the same tokens of are tagged once. Longer ones than
    :data:`MAX_PIECES`, or than the model has places for, are cut, as in the released code.

    Parameters
    ----------
    model : folder or hub name.
    decoding : ``released``, as RaTEScore's code reads the labels, or ``standard``; see :func:`decode`.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``; see :func:`~radeval_lib.models.batching.precision_of`.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or its labels are others.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        decoding: Decoding = "released",
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

        self.name, self.decoding = str(model), decoding
        self.device = device_of(device)
        self.precision = precision_of(self.device, precision)
        self.labels = iob_labels(pretrained(AutoConfig, model).id2label, self.name)
        self.tokenizer: Any = pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModelForTokenClassification, model, TRAINED).to(self.device)
        limit = getattr(self.model.config, "max_position_embeddings", 0) or MAX_PIECES
        self.max_tokens = min(MAX_PIECES, limit)
        self._words: dict[tuple[int, ...], str] = {}

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity in each sentence; the text is decoded from the tokens."""
        if not sentences:
            return []
        encoded = self.tokenizer(
            [well_formed(sentence) for sentence in sentences], truncation=True, max_length=self.max_tokens
        )
        sequences = [tuple(ids) for ids in encoded["input_ids"]]
        return list(map(list, of_distinct(sequences, self._tagged)))

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Return whether each sentence is longer than the model can read."""
        return longer_than(self.max_tokens, self.tokenizer, sentences)

    def _entities(self, ids: tuple[int, ...], row: NDArray[np.int16]) -> list[tuple[str, str]]:
        """Return (text, type) of each entity, given the pieces of a sentence and the index of each one's
        label."""
        if not row.any() and self.labels[0] == "O":
            return []
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        special = [token in _SPECIAL for token in tokens]
        spans = decode([self.labels[index] for index in row], special, self.decoding)
        return [(self._text(ids[start:end]), kind) for start, end, kind in spans]

    def _text(self, ids: tuple[int, ...]) -> str:
        """Return the text of these pieces; up to 200,000 answers are kept, because most entities recur."""
        if ids not in self._words:
            if len(self._words) > 200_000:
                self._words.clear()
            tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
            self._words[ids] = self.tokenizer.convert_tokens_to_string(tokens)
        return self._words[ids]

    def _tagged(self, sequences: list[tuple[int, ...]]) -> Iterator[list[tuple[str, str]]]:
        """Return the entities of sequences, by the likeliest label of each token."""

        def best(batch: list[int], device: Any) -> list[NDArray[np.int16]]:
            inputs = padded(self.tokenizer, (list(sequences[index]) for index in batch)).to(device)
            rows = self.model(**inputs).logits.argmax(dim=-1).cpu().numpy().astype(np.int16)
            return [row[: len(sequences[index])].copy() for index, row in zip(batch, rows, strict=True)]

        rows = in_batches(self.model, list(map(len, sequences)), best, precision=self.precision)
        return map(self._entities, sequences, rows)


def iob_labels(id2label: dict[int, str], where: str) -> list[str]:
    """Return the labels by index, types in upper case; a :class:`ModelError` if they are not IOB."""
    indices = sorted(id2label)
    labels = [str(id2label[index]) for index in indices]
    odd = [label for label in labels if label != "O" and not (label[:2] in ("B-", "I-") and label[2:])]
    if indices != list(range(len(indices))) or odd:
        wrong = f"labels are not IOB: {', '.join(labels[:12])}"
        raise ModelError(wrong, Path(where).name, "Give a token classifier with O, B-TYPE and I-TYPE.")
    return [label if label == "O" else label[:2] + label[2:].upper() for label in labels]


class SpanNerModel:
    """Tags sentences with a saved span model; overlapping entities are all kept."""

    def __init__(self, model: str | Path, *, device: str, precision: Precision = "auto") -> None:
        self.name = str(model)
        self.scheme = SpanScheme.load(model)
        self.scheme.module.to(device_of(device))
        self.precision = precision_of(device_of(device), precision)

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity in each sentence, as written in the sentence."""
        return list(map(list, of_distinct(sentences, self._tagged)))

    def _tagged(self, texts: list[str]) -> list[list[tuple[str, str]]]:
        borders = [words_of(text) for text in texts]
        words = [[text[a:b] for a, b in spans] for text, spans in zip(texts, borders, strict=True)]
        predicted = self.scheme.predict(words, self.precision)
        return [
            [(text[spans[start][0] : spans[end - 1][1]], kind) for start, end, kind in entities]
            for text, spans, entities in zip(texts, borders, predicted, strict=True)
        ]

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Return whether each sentence is longer than the model can read."""
        return longer_than(MAX_PIECES, self.scheme.tokenizer, sentences)


def open_ner_model(
    model: str | Path, *, decoding: Decoding, device: str, precision: Precision = "auto"
) -> IobNerModel | SpanNerModel:
    """Return the NER model of a folder or hub name: of spans if this library saved it, else of tokens.

    ``decoding`` is of labels of tokens alone. A :class:`ModelError` if the model cannot be loaded.
    """
    if (Path(model) / SETTINGS).is_file():
        return SpanNerModel(model, device=device, precision=precision)
    return IobNerModel(model, decoding=decoding, device=device, precision=precision)
