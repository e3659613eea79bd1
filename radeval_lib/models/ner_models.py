"""Define NER models in two tagging schemes for training, and tag sentences with NER models.

The IOB scheme classifies tokens (Zhao et al. 2024, Sections 2.5 and A.9; RaLEs, Section 4.2.2). The span
scheme classifies every span of up to eight words (Zhao et al. 2024, Sections 2.5 and A.9): a span's vector
consists of the hidden states of its first and last token and an embedding of its width, as in PURE's entity
model (Zhong and Chen 2020), and a feed-forward head scores each type and "no entity". Spans may overlap.

Sentences can be tagged with any token classifier that has IOB labels, or with a span classifier that this
library trained.
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
from radeval_lib.data.records import AnnotatedSentence, reveal_tokens
from radeval_lib.errors import ModelError
from radeval_lib.models import batching, entities, pretrained

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SETTINGS = "span_ner.json"
_HEAD = "span_head.safetensors"


class Scheme(ABC):
    """An NER model that :func:`~radeval_lib.models.training.train` can train on annotated sentences.

    By default, the epoch is chosen by ``f1``, the micro F1 of spans whose boundaries and type must be
    correct.
    """

    new_layers = ("head.", "classifier.")
    module: Any

    @abstractmethod
    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        """Return a sentence with its entities as a training example.

        ``words``: the words of the sentence, which is truncated to
        :data:`~radeval_lib.models.batching.MAX_PIECES` tokens. ``spans``: (start, end, type) of its entities,
        in words; ``end`` is one past the last word.
        """

    @abstractmethod
    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return examples of :meth:`encode` as a padded batch: the keyword arguments of the module's
        ``forward``."""

    @abstractmethod
    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return for each sentence, given as words, a list with (start, end, type) of each entity, in words;
        ``end`` is one past the last word."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write weights (as safetensors), configuration and tokenizer to ``folder``."""

    def make_example(self, record: AnnotatedSentence) -> dict[str, Any]:
        """Return an annotated sentence as a training example: see :meth:`encode`."""
        return self.encode(reveal_tokens(record), entities.read_gold(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return a dictionary with the micro-averaged ``f1``, ``precision`` and ``recall`` of spans, and
        ``accuracy``, the share of words with the correct IOB label.

        A predicted span is correct if its boundaries and type are. All measures are from 0 to 1, and 0 if
        their denominator is 0.
        """
        words, gold = list(map(reveal_tokens, records)), list(map(entities.read_gold, records))
        scores = entities.compare_spans(gold, self.predict(words), list(map(len, words)))
        measures = {name: float(getattr(scores.spans, name)) for name in ("f1", "precision", "recall")}
        return {**measures, "accuracy": scores.accuracy}


class IobScheme(Scheme):
    """A token classifier with the labels O, B-TYPE and I-TYPE, initialized from any encoder.

    By default, every token of an entity is labelled, the first with B- and the others with I-, because
    RaTEScore's released decoder reads labels token by token. For the same reason, the closing special token
    is labelled O.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of the encoder. The weights of the new layer are drawn from
        torch's global generator.
    types : entity types, each once. :meth:`encode` raises KeyError for an entity of another type.
    first_pieces : whether only the first token of each word has a label, as in RaLEs, Section 4.2.2: "For
        words comprised of multiple sub-word tokens, the label is assigned to the first token". If True, the
        other tokens are left out of the loss and of decoding, which follows ``seqeval``'s default mode.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded or has no fast tokenizer.
    """

    def __init__(
        self, init_model: str | Path, types: Sequence[str] = TYPES, *, first_pieces: bool = False
    ) -> None:
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        self.labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]
        self.first_pieces = first_pieces
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = batching.load_fast_tokenizer(AutoTokenizer, init_model)
        config = make_label_config(self.labels)
        factory, use = AutoModelForTokenClassification, pretrained.NEW_NER_MODEL
        self.module: Any = pretrained.load_model(factory, init_model, use, **config)

    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        (encoding,) = batching.tokenize_words(self.tokenizer, [words])
        word_labels = ["O"] * len(words)
        for start, end, kind in spans:
            word_labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        labels = []
        for position, (last_word, word) in enumerate(pairwise([None, *encoding.word_ids])):
            label = "O" if word is None else word_labels[word]
            continues_word = word is not None and word == last_word
            if continues_word and label != "O":
                label = f"I{label[1:]}"
            is_ignored = (word is None or continues_word) if self.first_pieces else position == 0
            labels.append(batching.IGNORED if is_ignored else self._index[label])
        return {"input_ids": encoding.ids, "labels": labels}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        return batching.pad_labelled(self.tokenizer, examples)

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        encoded = batching.tokenize_words(self.tokenizer, sentences)

        def predict_batch(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = batching.pad_rows(self.tokenizer, (encoded[index].ids for index in batch)).to(device)
            label_indices = self.module(**inputs).logits.argmax(dim=-1).tolist()
            word_ids = (encoded[index].word_ids for index in batch)
            return map(self.find_word_spans, word_ids, label_indices)

        return batching.run_in_batches(self.module, [len(row.ids) for row in encoded], predict_batch)

    def find_word_spans(self, word_ids: Sequence[int | None], label_indices: Sequence[int]) -> list[WordSpan]:
        """Return (start, end, type), in words, of the entities in the labels of a sentence's tokens.

        ``end`` is one past the last word. An entity includes every word with a token in it; of several
        entities with the same words, the first is returned.

        Parameters
        ----------
        word_ids : the index of each token's word, or None for special tokens.
        label_indices : the index in ``labels`` of each token's label, possibly followed by padding.
        """
        pairs = zip(word_ids, label_indices, strict=False)
        labelled = [(word, self.labels[index]) for word, index in pairs if word is not None]
        if self.first_pieces:
            label_of_word = dict(reversed(labelled))
            words = range(max(label_of_word, default=-1) + 1)
            return entities.decode_standard([label_of_word.get(word, "O") for word in words])
        spans: dict[tuple[int, int], str] = {}
        for start, end, kind in entities.decode_standard([label for _, label in labelled]):
            spans.setdefault((labelled[start][0], labelled[end - 1][0] + 1), kind)
        return [(*span, kind) for span, kind in spans.items()]

    def save(self, folder: str | Path) -> None:
        pretrained.save_checkpoint(folder, self.module, self.tokenizer)


def make_label_config(labels: Sequence[str]) -> dict[str, Any]:
    """Return the part of a classifier's configuration that concerns its labels.

    It has ``num_labels``, ``id2label``, a mapping from class to label, and ``label2id``, its inverse; class i
    has the label ``labels[i]``.
    """
    id2label = dict(enumerate(labels))
    label2id = {label: index for index, label in id2label.items()}
    return {"num_labels": len(labels), "id2label": id2label, "label2id": label2id}


@dataclass(frozen=True)
class SpanSettings:
    """Entity types of the span scheme, and the shape of its head.

    Attributes
    ----------
    types : entity types, each once. Class 0 of the logits is "no entity", class i is ``types[i - 1]``.
    max_width : maximum number of words in a span.
    width_size : size of the embedding of a span's width.
    hidden : size of each hidden layer; 3096 in Zhao et al. 2024, A.9, and 150 in PURE.
    layers : number of hidden layers; the three-layer network of A.9 has two before its output layer.
    dropout : dropout probability after each hidden layer.
    """

    types: tuple[str, ...] = TYPES
    max_width: int = 8
    width_size: int = 150
    hidden: int = 150
    layers: int = 2
    dropout: float = 0.2


def build_span_module(encoder: Any, settings: SpanSettings) -> torch.nn.Module:
    """Return a module that consists of the encoder and a new head.

    The module's ``forward`` takes a batch of :meth:`SpanScheme.collate` and returns a dictionary with
    ``logits``, shape (sentences, spans, types + 1), and, if the batch has ``labels``, ``loss``, the mean
    cross-entropy over the spans of the batch. (PURE's loss is the sum over the spans.)
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
            layers: list[nn.Module] = []
            for _ in range(settings.layers):
                layers += [nn.Linear(size, settings.hidden), nn.ReLU(), nn.Dropout(settings.dropout)]
                size = settings.hidden
            self.head["scores"] = nn.Sequential(*layers, nn.Linear(size, len(settings.types) + 1))

        def forward(
            self,
            input_ids: Tensor,
            attention_mask: Tensor,
            first_pieces: Tensor,
            last_pieces: Tensor,
            word_counts: Tensor,
            labels: Tensor | None = None,
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            rows = torch.arange(len(hidden), device=hidden.device).unsqueeze(1)
            width = self.head["widths"](word_counts - 1).to(hidden.dtype)
            vectors = torch.cat((hidden[rows, first_pieces], hidden[rows, last_pieces], width), dim=-1)
            logits = self.head["scores"](vectors)
            if labels is None:
                return {"logits": logits}
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), ignore_index=batching.IGNORED
            )
            return {"loss": loss, "logits": logits}

    return SpanModule()


class SpanScheme(Scheme):
    """A classifier of spans of words, initialized from any encoder; overlapping entities are all kept.

    In training examples, entities of other types and those of more than ``max_width`` words are left out.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of the encoder. The weights of the new head are drawn from
        torch's global generator.
    settings : entity types and shape of the head.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded or has no fast tokenizer.
    """

    precision: batching.Precision = "auto"

    def __init__(self, init_model: str | Path, settings: SpanSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = batching.load_fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = build_span_module(
            pretrained.load_model(AutoModel, init_model, pretrained.ENCODER), settings
        )
        self._classes = {kind: index + 1 for index, kind in enumerate(self.settings.types)}

    @classmethod
    def load(
        cls, folder: str | Path, *, device: str = "auto", precision: batching.Precision = "auto"
    ) -> SpanScheme:
        """Return the span classifier that :meth:`save` wrote to ``folder``, in evaluation mode on ``device``.

        Raises :class:`~radeval_lib.errors.ModelError` if the folder has no such model that can be loaded, or
        if ``device`` is unknown or not available.
        """
        path = Path(folder)
        scheme = cls(path, pretrained.read_settings(path / SETTINGS, SpanSettings))
        pretrained.load_weights(scheme.module.head, path / _HEAD)
        scheme.module.eval().to(batching.pick_device(device))
        scheme.precision = precision
        return scheme

    def save(self, folder: str | Path) -> None:
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        pretrained.save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def encode(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        gold = {(start, end): self._classes[kind] for start, end, kind in spans if kind in self._classes}
        (row,) = batching.list_spans(self.tokenizer, [words], self.settings.max_width)
        candidates = zip(row["first_words"], row["word_counts"], strict=True)
        labels = [gold.get((first, first + count), 0) for first, count in candidates]
        return {**row, "labels": labels}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        padding = {"first_pieces": 0, "last_pieces": 0, "word_counts": 1, "labels": batching.IGNORED}
        return batching.pad_spans(self.tokenizer, examples, padding)

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return for each sentence a list with (string, type) of each entity.

        The string is the part of the sentence from the entity's first to its last word.
        """

        def tag_distinct(texts: list[str]) -> list[list[tuple[str, str]]]:
            offsets = [entities.find_words(text) for text in texts]
            words = [[text[a:b] for a, b in spans] for text, spans in zip(texts, offsets, strict=True)]
            return [
                [(text[spans[start][0] : spans[end - 1][1]], kind) for start, end, kind in predictions]
                for text, spans, predictions in zip(texts, offsets, self.predict(words), strict=True)
            ]

        return list(map(list, batching.map_distinct(sentences, tag_distinct)))

    def find_truncated(self, sentences: Sequence[str]) -> list[bool]:
        """Return for each sentence whether it has more tokens than the model reads, so that :meth:`tag`
        truncates it."""
        return batching.are_too_long(batching.MAX_PIECES, self.tokenizer, sentences)

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return for each sentence, given as words, a list with (start, end, type) of each entity.

        ``start`` and ``end`` count words; ``end`` is one past the last word. Empty sentences have no
        entities.
        """
        examples = [self.encode(sentence, ()) for sentence in sentences if len(sentence)]

        def predict_batch(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = self.collate([examples[index] for index in batch])
            inputs = {key: value.to(device) for key, value in inputs.items() if key != "labels"}
            predicted = self.module(**inputs)["logits"].argmax(dim=-1).tolist()
            types = self.settings.types
            for example, classes in zip((examples[index] for index in batch), predicted, strict=True):
                # Not strict: ``classes`` is padded to the example with the most spans in its batch.
                spans = zip(example["first_words"], example["word_counts"], classes, strict=False)
                yield [(first, first + count, types[index - 1]) for first, count, index in spans if index]

        lengths = [len(example["input_ids"]) for example in examples]
        output = iter(batching.run_in_batches(self.module, lengths, predict_batch, 2_048, 64, self.precision))
        return [next(output) if len(sentence) else [] for sentence in sentences]


def make_scheme(name: Literal["iob", "span"], init_model: str | Path, seed: int = 0, **fields: Any) -> Scheme:
    """Return an NER model with a pretrained encoder and new layers, for training.

    Parameters
    ----------
    name : the scheme: ``iob`` for :class:`IobScheme`, ``span`` for :class:`SpanScheme`.
    init_model : folder or Hugging Face Hub name of the encoder.
    seed : seed of the new layers' weights.
    fields : fields of :class:`SpanSettings`, as keyword arguments; the IOB scheme ignores them.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded or has no fast tokenizer.
    """
    with batching.seed_torch(seed):
        return IobScheme(init_model) if name == "iob" else SpanScheme(init_model, SpanSettings(**fields))


# Models that tag sentences, loaded from a folder or the Hugging Face Hub.


_SPECIAL = ("[CLS]", "[SEP]")  # the only special tokens that the released code recognizes


class IobNerModel:
    """An NER model that tags sentences with a token classifier with the labels O, B-TYPE and I-TYPE.

    Sentences with the same tokens are tagged only once. As in RaTEScore's released code, a sentence is
    truncated to :data:`~radeval_lib.models.batching.MAX_PIECES` tokens, or to the model's number of positions
    if that is smaller.

    Parameters
    ----------
    model : folder or Hugging Face Hub name of the classifier.
    decoding : ``released``, to decode labels as RaTEScore's released code does, or ``standard``; see
        :func:`~radeval_lib.models.entities.decode_labels`.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``; see :data:`~radeval_lib.models.batching.Precision`.

    Raises
    ------
    ModelError
        If the model cannot be loaded or has other labels, or ``device`` is unknown or not available.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        decoding: entities.Decoding = "released",
        device: str = "auto",
        precision: batching.Precision = "auto",
    ) -> None:
        from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

        self.name, self.decoding = str(model), decoding
        self.device = batching.pick_device(device)
        self.precision = precision
        self.labels = read_iob_labels(pretrained.load_pretrained(AutoConfig, model).id2label, self.name)
        self.tokenizer: Any = pretrained.load_pretrained(AutoTokenizer, model)
        loaded = pretrained.load_model(AutoModelForTokenClassification, model, pretrained.TRAINED)
        self.model: Any = loaded.to(self.device)
        limit = getattr(self.model.config, "max_position_embeddings", 0) or batching.MAX_PIECES
        self.max_tokens = min(batching.MAX_PIECES, limit)
        self._decode_cached = lru_cache(maxsize=200_000)(self._decode_ids)  # most entities recur

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return for each sentence a list with (string, type) of each entity.

        The string is decoded from the entity's tokens, so its case and spaces may differ from the sentence's.
        """
        if not sentences:
            return []
        texts = [batching.fix_unicode(sentence) for sentence in sentences]
        encoded = self.tokenizer(texts, truncation=True, max_length=self.max_tokens)
        sequences = [tuple(ids) for ids in encoded["input_ids"]]
        return list(map(list, batching.map_distinct(sequences, self._tag_distinct)))

    def find_truncated(self, sentences: Sequence[str]) -> list[bool]:
        """Return for each sentence whether it has more tokens than the model reads, so that :meth:`tag`
        truncates it."""
        return batching.are_too_long(self.max_tokens, self.tokenizer, sentences)

    def _extract_entities(self, ids: tuple[int, ...], classes: NDArray[np.int16]) -> list[tuple[str, str]]:
        """Return (string, type) of each entity of a sentence.

        ``ids``: the sentence's token ids. ``classes``: the index of each token's label.
        """
        if not classes.any() and self.labels[0] == "O":  # no entity
            return []
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        special = [token in _SPECIAL for token in tokens]
        spans = entities.decode_labels([self.labels[index] for index in classes], special, self.decoding)
        return [(self._decode_cached(ids[start:end]), kind) for start, end, kind in spans]

    def _decode_ids(self, ids: tuple[int, ...]) -> str:
        """Return the string that is made up of the tokens with these ids."""
        return str(self.tokenizer.convert_tokens_to_string(self.tokenizer.convert_ids_to_tokens(list(ids))))

    def _tag_distinct(self, sequences: list[tuple[int, ...]]) -> Iterator[list[tuple[str, str]]]:
        """Return for each sequence of token ids a list with (string, type) of each entity, decoded from the
        tokens' most probable labels."""

        def predict_labels(batch: list[int], device: Any) -> list[NDArray[np.int16]]:
            inputs = batching.pad_rows(self.tokenizer, (list(sequences[index]) for index in batch)).to(device)
            rows = self.model(**inputs).logits.argmax(dim=-1).cpu().numpy().astype(np.int16)
            return [row[: len(sequences[index])].copy() for index, row in zip(batch, rows, strict=True)]

        lengths = list(map(len, sequences))
        rows = batching.run_in_batches(self.model, lengths, predict_labels, precision=self.precision)
        return map(self._extract_entities, sequences, rows)


def read_iob_labels(id2label: dict[int, str], model: str) -> list[str]:
    """Return the labels of a token classifier, in the order of its classes, with types in upper case.

    Parameters
    ----------
    id2label : a mapping from class to label, in the model's configuration.
    model : the model's name, for the error message.

    Raises
    ------
    ModelError
        If a label is not O, B-TYPE or I-TYPE, or the classes are not numbered 0, 1, 2, ….
    """
    indices = sorted(id2label)
    labels = [str(id2label[index]) for index in indices]
    is_iob = all(label == "O" or (label[:2] in ("B-", "I-") and label[2:]) for label in labels)
    if indices != list(range(len(indices))) or not is_iob:
        problem = f"classes are {dict(list(id2label.items())[:12])}, not 0, 1, 2, … with O, B-TYPE and I-TYPE"
        raise ModelError(problem, f"model {Path(model).name}", "Use a token classifier with IOB labels.")
    return [label if label == "O" else label[:2] + label[2:].upper() for label in labels]


def open_ner_model(
    model: str | Path, *, decoding: entities.Decoding, device: str, precision: batching.Precision = "auto"
) -> IobNerModel | SpanScheme:
    """Load an NER model, ready to tag sentences, from a folder or the Hugging Face Hub.

    The model is a :class:`SpanScheme` if the folder has one, else an :class:`IobNerModel`. ``decoding``
    applies only to the latter.

    Raises
    ------
    ModelError
        If the model cannot be loaded or has other labels, or ``device`` is unknown or not available.
    """
    if (Path(model) / SETTINGS).is_file():
        return SpanScheme.load(model, device=device, precision=precision)
    return IobNerModel(model, decoding=decoding, device=device, precision=precision)
