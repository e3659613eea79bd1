"""NER models: tagging schemes to train, and models by name that tag sentences.

Schemes classify tokens (Zhao et al. 2024, Sections 2.5 and A.9, and RaLEs, Section 4.2.2) or spans (Zhao et
al. 2024, Sections 2.5 and A.9). Any token classifier with IOB labels can tag; a span classifier only if this
library trained it.

The span scheme classifies every span of up to eight words. A span's vector is the hidden state of its first
and last piece and an embedding of its width, as in PURE's entity model (Zhong and Chen 2020); a feed-forward
head gives each type's score and that of no entity. Spans may overlap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import TYPES
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.errors import ModelError
from radeval_lib.models import batching
from radeval_lib.models.entities import (
    Decoding,
    decode,
    decode_standard,
    gold_spans,
    span_scores,
    words_of,
)
from radeval_lib.models.pretrained import (
    ENCODER,
    NEW_NER_MODEL,
    TRAINED,
    fill,
    load_pretrained,
    read_settings,
    save_checkpoint,
    weights,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SETTINGS = "span_ner.json"
_HEAD = "span_head.safetensors"


class Scheme(ABC):
    """A tagging scheme to train on annotated sentences (a :class:`~radeval_lib.models.training.Task`); strict
    span F1, ``f1``, chooses the epoch."""

    new_layers = ("head.", "classifier.")
    module: Any

    @abstractmethod
    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        """Return a sentence as the module's numbers; words beyond its reach are cut."""

    @abstractmethod
    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return a padded batch."""

    @abstractmethod
    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of sentences given as words."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        """Return an annotated sentence as the module's numbers."""
        return self.encode(plain_words(record), gold_spans(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return micro F1, precision and recall of strict spans, and the accuracy of words' labels."""
        words = list(map(plain_words, records))
        scores = span_scores(list(map(gold_spans, records)), self.predict(words), list(map(len, words)))
        measures = {name: float(getattr(scores.spans, name)) for name in ("f1", "precision", "recall")}
        return {**measures, "accuracy": scores.accuracy}


class IobScheme(Scheme):
    """A token classifier over any encoder.

    Every piece of an entity's words is labelled, B- on the first and I- on the rest, because the released
    decoder reads labels piece by piece. The closing special token is labelled O for the same reason.

    Parameters
    ----------
    init_model : folder or hub name of the encoder.
    types : entity types, each once.
    first_pieces : whether only the first piece of each word has a label, as in RaLEs, Section 4.2.2: "For
        words comprised of multiple sub-word tokens, the label is assigned to the first token". Other pieces
        are then left out of the loss and of decoding, which is that of ``seqeval``'s default mode.
    """

    def __init__(
        self, init_model: str | Path, types: Sequence[str] = TYPES, *, first_pieces: bool = False
    ) -> None:
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        self.labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]
        self.first_pieces = first_pieces
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = batching.fast_tokenizer(AutoTokenizer, init_model)
        config = label_settings(self.labels)
        self.module: Any = weights(AutoModelForTokenClassification, init_model, NEW_NER_MODEL, **config)

    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        (encoding,) = batching.encodings(self.tokenizer, [words])
        of_words = ["O"] * len(words)
        for start, end, kind in spans:
            of_words[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        row = []
        for position, (before, word) in enumerate(pairwise([None, *encoding.word_ids])):
            label = "O" if word is None else of_words[word]
            continued = word is not None and word == before
            if continued and label != "O":
                label = f"I{label[1:]}"
            silent = (word is None or continued) if self.first_pieces else position == 0
            row.append(batching.IGNORED if silent else self._index[label])
        return {"input_ids": encoding.ids, "labels": row}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        return batching.labelled_batch(self.tokenizer, examples)

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        rows = batching.encodings(self.tokenizer, sentences)

        def spans(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = batching.pad_rows(self.tokenizer, (rows[index].ids for index in batch)).to(device)
            best = self.module(**inputs).logits.argmax(dim=-1).tolist()
            chosen = [rows[index].word_ids for index in batch]
            return (self.word_spans(word_ids, row) for word_ids, row in zip(chosen, best, strict=True))

        return batching.in_batches(self.module, [len(row.ids) for row in rows], spans)

    def word_spans(self, word_ids: Sequence[int | None], row: Sequence[int]) -> list[WordSpan]:
        """Return entities as spans of words: one of pieces includes every word that has a piece in it.

        Parameters
        ----------
        word_ids : the word of each piece; None for special tokens.
        row : the index of each piece's label, possibly padded.
        """
        labelled = zip(word_ids, row, strict=False)
        pieces = [(word, self.labels[index]) for word, index in labelled if word is not None]
        if self.first_pieces:
            first = dict(reversed(pieces))
            return decode_standard([first.get(word, "O") for word in range(max(first, default=-1) + 1)])
        spans: dict[tuple[int, int], str] = {}
        for start, end, kind in decode_standard([label for _, label in pieces]):
            spans.setdefault((pieces[start][0], pieces[end - 1][0] + 1), kind)
        return [(*span, kind) for span, kind in spans.items()]

    def save(self, folder: str | Path) -> None:
        save_checkpoint(folder, self.module, self.tokenizer)


def label_settings(labels: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a classifier's configuration that hold its labels."""
    numbered = dict(enumerate(labels))
    by_label = {label: index for index, label in numbered.items()}
    return {"num_labels": len(labels), "id2label": numbered, "label2id": by_label}


@dataclass(frozen=True)
class SpanSettings:
    """Shape of the head of the span scheme.

    Attributes
    ----------
    types : entity types, each once; class 0 is not an entity.
    max_width : the widest span, in words.
    width_size : dimension of the width embedding.
    hidden : size of each hidden layer; A.9 says 3096, PURE's own is 150.
    layers : hidden layers; A.9's three-layer MLP has two of them before the output.
    dropout : within the head.
    """

    types: tuple[str, ...] = TYPES
    max_width: int = 8
    width_size: int = 150
    hidden: int = 150
    layers: int = 2
    dropout: float = 0.2


def span_module(encoder: Any, settings: SpanSettings) -> torch.nn.Module:
    """Return the encoder with its head. ``forward`` returns logits (B, spans, classes), and the loss if
    labels are given.

    The loss is the mean cross-entropy over the spans of a batch; PURE's is the sum, which differs in scale
    alone.
    """
    import torch
    from torch import nn

    class SpanModule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            self.head = nn.ModuleDict()
            self.head["widths"] = nn.Embedding(settings.max_width, settings.width_size)
            size = 2 * int(encoder.config.hidden_size) + settings.width_size
            steps: list[nn.Module] = []
            for _ in range(settings.layers):
                steps += [nn.Linear(size, settings.hidden), nn.ReLU(), nn.Dropout(settings.dropout)]
                size = settings.hidden
            self.head["scores"] = nn.Sequential(*steps, nn.Linear(size, len(settings.types) + 1))

        def forward(
            self,
            input_ids: Tensor,
            attention_mask: Tensor,
            starts: Tensor,
            ends: Tensor,
            widths: Tensor,
            labels: Tensor | None = None,
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            rows = torch.arange(len(hidden), device=hidden.device).unsqueeze(1)
            width = self.head["widths"](widths)
            vectors = torch.cat((hidden[rows, starts], hidden[rows, ends], width.to(hidden.dtype)), dim=-1)
            logits = self.head["scores"](vectors)
            if labels is None:
                return {"logits": logits}
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), ignore_index=batching.IGNORED
            )
            return {"loss": loss, "logits": logits}

    return SpanModule()


class SpanScheme(Scheme):
    """The span scheme over any encoder; overlapping entities are all kept."""

    precision: batching.Precision = "auto"

    def __init__(self, init_model: str | Path, settings: SpanSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = batching.fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = span_module(weights(AutoModel, init_model, ENCODER), self.settings)
        self._classes = {kind: index + 1 for index, kind in enumerate(self.settings.types)}

    @classmethod
    def load(
        cls, folder: str | Path, *, device: str = "auto", precision: batching.Precision = "auto"
    ) -> SpanScheme:
        """Return the scheme that :meth:`save` wrote; raises :class:`ModelError` for any other folder."""
        where = Path(folder)
        scheme = cls(where, read_settings(where / SETTINGS, SpanSettings))
        fill(scheme.module.head, where / _HEAD)
        scheme.module.eval().to(batching.device_of(device))
        scheme.precision = precision
        return scheme

    def save(self, folder: str | Path) -> None:
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        gold = {(start, end): self._classes[kind] for start, end, kind in spans if kind in self._classes}
        (row,) = batching.span_rows(self.tokenizer, [words], self.settings.max_width)
        ends = zip(row["words"], row["widths"], strict=True)
        labels = [gold.get((start, start + width + 1), 0) for start, width in ends]
        return {**row, "labels": labels}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        padding = {"starts": 0, "ends": 0, "widths": 0, "labels": batching.IGNORED}
        return batching.span_batch(self.tokenizer, examples, padding)

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity in each sentence, as written in the sentence."""

        def tagged(texts: list[str]) -> list[list[tuple[str, str]]]:
            borders = [words_of(text) for text in texts]
            words = [[text[a:b] for a, b in spans] for text, spans in zip(texts, borders, strict=True)]
            return [
                [(text[spans[start][0] : spans[end - 1][1]], kind) for start, end, kind in entities]
                for text, spans, entities in zip(texts, borders, self.predict(words), strict=True)
            ]

        return list(map(list, batching.of_distinct(sentences, tagged)))

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Return whether each sentence is longer than the model can read."""
        return batching.longer_than(batching.MAX_PIECES, self.tokenizer, sentences)

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        examples = [self.encode(sentence, ()) for sentence in sentences if len(sentence)]

        def spans(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = self.collate([examples[index] for index in batch])
            inputs = {key: value.to(device) for key, value in inputs.items() if key != "labels"}
            best = self.module(**inputs)["logits"].argmax(dim=-1).tolist()
            kinds = self.settings.types
            for index, row in zip(batch, best, strict=True):
                # Not strict: ``row`` is padded to the longest example of its batch.
                candidates = zip(examples[index]["words"], examples[index]["widths"], row, strict=False)
                yield [(word, word + width + 1, kinds[kind - 1]) for word, width, kind in candidates if kind]

        lengths = [len(example["input_ids"]) for example in examples]
        results = iter(batching.in_batches(self.module, lengths, spans, 2_048, 64, self.precision))
        return [next(results) if len(sentence) else [] for sentence in sentences]


def scheme_of(name: Literal["iob", "span"], init_model: str | Path, seed: int = 0, **head: Any) -> Scheme:
    """Return an untrained scheme, its new layers drawn from ``seed``; ``head`` sets fields of
    :class:`SpanSettings`."""
    with batching.seeded(seed):
        return IobScheme(init_model) if name == "iob" else SpanScheme(init_model, SpanSettings(**head))


# Models by name.


_SPECIAL = ("[CLS]", "[SEP]")  # the released code knows these two by name and no others


class IobNerModel:
    """Tags sentences with a token-classification model with the labels O, B-TYPE and I-TYPE.

    Sentences that the tokenizer makes the same tokens of are tagged once. Longer ones than
    :data:`batching.MAX_PIECES`, or than the model's number of positions, are cut, as in the released code.

    Parameters
    ----------
    model : folder or hub name.
    decoding : ``released``, as RaTEScore's code reads the labels, or ``standard``; see :func:`decode`.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``; see :data:`~radeval_lib.models.batching.Precision`.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or has other labels.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        decoding: Decoding = "released",
        device: str = "auto",
        precision: batching.Precision = "auto",
    ) -> None:
        from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

        self.name, self.decoding = str(model), decoding
        self.device = batching.device_of(device)
        self.precision = precision
        self.labels = iob_labels(load_pretrained(AutoConfig, model).id2label, self.name)
        self.tokenizer: Any = load_pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModelForTokenClassification, model, TRAINED).to(self.device)
        limit = getattr(self.model.config, "max_position_embeddings", 0) or batching.MAX_PIECES
        self.max_tokens = min(batching.MAX_PIECES, limit)
        self._text_of = lru_cache(maxsize=200_000)(self._joined)  # most entities recur

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity in each sentence; the text is decoded from the tokens."""
        if not sentences:
            return []
        texts = [batching.well_formed(sentence) for sentence in sentences]
        encoded = self.tokenizer(texts, truncation=True, max_length=self.max_tokens)
        sequences = [tuple(ids) for ids in encoded["input_ids"]]
        return list(map(list, batching.of_distinct(sequences, self._tagged)))

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Return whether each sentence is longer than the model can read."""
        return batching.longer_than(self.max_tokens, self.tokenizer, sentences)

    def _entities(self, ids: tuple[int, ...], row: NDArray[np.int16]) -> list[tuple[str, str]]:
        """Return (text, type) of each entity, given the pieces of a sentence and the index of each one's
        label."""
        if not row.any() and self.labels[0] == "O":
            return []
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        special = [token in _SPECIAL for token in tokens]
        spans = decode([self.labels[index] for index in row], special, self.decoding)
        return [(self._text_of(ids[start:end]), kind) for start, end, kind in spans]

    def _joined(self, ids: tuple[int, ...]) -> str:
        """Return the text of these pieces."""
        return str(self.tokenizer.convert_tokens_to_string(self.tokenizer.convert_ids_to_tokens(list(ids))))

    def _tagged(self, sequences: list[tuple[int, ...]]) -> Iterator[list[tuple[str, str]]]:
        """Return the entities of sequences, from the likeliest label of each token."""

        def best(batch: list[int], device: Any) -> list[NDArray[np.int16]]:
            inputs = batching.pad_rows(self.tokenizer, (list(sequences[index]) for index in batch)).to(device)
            rows = self.model(**inputs).logits.argmax(dim=-1).cpu().numpy().astype(np.int16)
            return [row[: len(sequences[index])].copy() for index, row in zip(batch, rows, strict=True)]

        rows = batching.in_batches(self.model, list(map(len, sequences)), best, precision=self.precision)
        return map(self._entities, sequences, rows)


def iob_labels(id2label: dict[int, str], where: str) -> list[str]:
    """Return the labels by index, types in upper case; a :class:`ModelError` if they are not IOB."""
    indices = sorted(id2label)
    labels = [str(id2label[index]) for index in indices]
    odd = [label for label in labels if label != "O" and not (label[:2] in ("B-", "I-") and label[2:])]
    if indices != list(range(len(indices))) or odd:
        problem = f"labels are not IOB: {', '.join(labels[:12])}"
        raise ModelError(problem, Path(where).name, "Give a token classifier with O, B-TYPE and I-TYPE.")
    return [label if label == "O" else label[:2] + label[2:].upper() for label in labels]


def open_ner_model(
    model: str | Path, *, decoding: Decoding, device: str, precision: batching.Precision = "auto"
) -> IobNerModel | SpanScheme:
    """Return the NER model of a folder or hub name: a :class:`SpanScheme` if this library saved one there,
    else a token classifier.

    ``decoding`` applies to token classifiers. A :class:`ModelError` if the model cannot be loaded.
    """
    if (Path(model) / SETTINGS).is_file():
        return SpanScheme.load(model, device=device, precision=precision)
    return IobNerModel(model, decoding=decoding, device=device, precision=precision)
