"""Token classifiers over B-, I- and O (Zhao et al. 2024, Sections 2.5 and A.9): to train, and trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.categories import TYPES
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models.batching import (
    IGNORED,
    in_batches,
    of_distinct,
    padded,
    stacked,
)
from radeval_lib.models.devices import Precision, device_of, precision_of
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.ner.entities import Decoding, decode, decode_standard, gold_spans, span_scores
from radeval_lib.models.pretrained import pretrained, weights
from radeval_lib.models.saving import save_checkpoint
from radeval_lib.models.soundness import NER_MODEL, NEW_NER_MODEL

if TYPE_CHECKING:
    import torch


class Scheme:
    """A tagging scheme, to be trained on annotated sentences (a :class:`~radeval_lib.models.training.Task`);
    strict span F1, ``f1``, chooses the epoch."""

    new_layers = ("head.", "classifier.")
    module: Any

    def encoded(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        """A sentence as the numbers that the module takes; words beyond its reach are cut."""
        raise NotImplementedError

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """A padded batch."""
        raise NotImplementedError

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """The entities of sentences that are given as words."""
        raise NotImplementedError

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        raise NotImplementedError

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        return self.encoded(plain_words(record), gold_spans(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Micro F1, precision and recall of strict spans, and accuracy of words' labels."""
        words = list(map(plain_words, records))
        scores = span_scores(list(map(gold_spans, records)), self.predict(words), list(map(len, words)))
        measures = {name: float(getattr(scores.spans, name)) for name in ("f1", "precision", "recall")}
        return {**measures, "accuracy": scores.accuracy}


MAX_TOKENS = 512
"""Longer sentences are cut, as in the released code."""

_SPECIAL = ("[CLS]", "[SEP]")  # the released code knows these two by name and no others


class IobNerModel:
    """Tags sentences with a token-classification model whose labels are O, B-TYPE and I-TYPE.

    Sentences that the tokenizer makes the same tokens of are tagged once.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        decoding: Decoding = "released",
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        check_choice(decoding, Decoding, "decoding", ModelError)
        from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

        self.name, self.decoding = str(model), decoding
        self.device = device_of(device)
        self.precision = precision_of(self.device, precision)
        self.labels = iob_labels(pretrained(AutoConfig, model).id2label, self.name)
        self.tokenizer: Any = pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModelForTokenClassification, model, NER_MODEL).to(self.device)
        limit = getattr(self.model.config, "max_position_embeddings", 0) or MAX_TOKENS
        self.max_tokens = min(MAX_TOKENS, limit)
        self._words: dict[tuple[int, ...], str] = {}

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """(text, type) of each entity of each sentence; the text is what the tokens decode to."""
        if not sentences:
            return []
        encoded = self.tokenizer(
            [well_formed(sentence) for sentence in sentences], truncation=True, max_length=self.max_tokens
        )
        sequences = [tuple(ids) for ids in encoded["input_ids"]]
        return list(map(list, of_distinct(sequences, self._found)))

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Whether each sentence is longer than the model reads."""
        return longer_than(self.max_tokens, self.tokenizer, sentences)

    def _entities(self, ids: tuple[int, ...], row: NDArray[np.int16]) -> list[tuple[str, str]]:
        """(text, type) of each entity, given the pieces of a sentence and the index of each one's label."""
        if not row.any() and self.labels[0] == "O":
            return []
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        special = [token in _SPECIAL for token in tokens]
        spans = decode([self.labels[index] for index in row], special, self.decoding)
        return [(self._text(ids[start:end]), kind) for start, end, kind in spans]

    def _text(self, ids: tuple[int, ...]) -> str:
        """What pieces decode to; up to 200,000 answers are kept, for most entities occur again and again."""
        if ids not in self._words:
            if len(self._words) > 200_000:
                self._words.clear()
            tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
            self._words[ids] = self.tokenizer.convert_tokens_to_string(tokens)
        return self._words[ids]

    def _found(self, sequences: list[tuple[int, ...]]) -> Iterator[list[tuple[str, str]]]:
        """The entities of sequences, of each token the likeliest label."""

        def best(batch: list[int], device: Any) -> list[NDArray[np.int16]]:
            inputs = padded(self.tokenizer, (list(sequences[index]) for index in batch)).to(device)
            rows = self.model(**inputs).logits.argmax(dim=-1).cpu().numpy().astype(np.int16)
            return [row[: len(sequences[index])].copy() for index, row in zip(batch, rows, strict=True)]

        rows = in_batches(self.model, list(map(len, sequences)), best, precision=self.precision)
        return map(self._entities, sequences, rows)


def iob_labels(id2label: dict[int, str], where: str) -> list[str]:
    """The labels by index, types in upper case."""
    indices = sorted(id2label)
    labels = [str(id2label[index]) for index in indices]
    wrong = [label for label in labels if label != "O" and not (label[:2] in ("B-", "I-") and label[2:])]
    if indices != list(range(len(indices))) or wrong:
        found = f"labels are not IOB: {', '.join(labels[:12])}"
        raise ModelError(found, Path(where).name, "Give a token classifier with O, B-TYPE and I-TYPE.")
    return [label if label == "O" else label[:2] + label[2:].upper() for label in labels]


def longer_than(most: int, tokenizer: Any, sentences: Sequence[str]) -> list[bool]:
    """Whether each sentence has more than ``most`` pieces, special tokens counted."""
    texts = [well_formed(sentence) for sentence in sentences]
    return [len(ids) > most for ids in tokenizer(texts, verbose=False)["input_ids"]] if texts else []


class IobScheme(Scheme):
    """A token classifier over any encoder.

    Every piece of an entity's words is labelled, B- on the first and I- on the rest, because the released
    decoder reads labels piece by piece. The closing special token is labelled O for the same reason.
    """

    def __init__(self, init_model: str | Path, types: Sequence[str] = TYPES) -> None:
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        if len(set(types)) < len(types):
            raise ModelError(f"a type twice among {', '.join(types)}", "IOB scheme", "Give each once.")
        self.labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]
        self.types = tuple(types)
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = fast_tokenizer(AutoTokenizer, init_model)
        config = labelled(self.labels)
        self.module: Any = weights(AutoModelForTokenClassification, init_model, NEW_NER_MODEL, **config)

    def encoded(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        encoded = self._encoded([words])[0]
        labels = ["O"] * len(words)
        for start, end, kind in spans:
            if f"B-{kind}" not in self._index:
                wrong = f"the type {kind!r} is none of the scheme's"
                raise ModelError(wrong, "IOB scheme", f"Types: {', '.join(self.types)}.")
            labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        return {"input_ids": encoded.ids, "labels": self._row(encoded.word_ids, labels)}

    def _row(self, word_ids: Sequence[int | None], labels: Sequence[str]) -> list[int]:
        """The index of each piece's label, given those of the words."""
        row, before = [], None
        for position, word in enumerate(word_ids):
            if word is None:
                row.append(IGNORED if position == 0 else self._index["O"])
            else:
                label = labels[word]
                row.append(self._index["I" + label[1:] if word == before and label != "O" else label])
            before = word
        return row

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        labels = stacked((example["labels"] for example in examples), IGNORED)
        return {**padded(self.tokenizer, (example["input_ids"] for example in examples)), "labels": labels}

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        encoded = self._encoded(sentences)

        def found(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = padded(self.tokenizer, (encoded[index].ids for index in batch)).to(device)
            best = self.module(**inputs).logits.argmax(dim=-1).tolist()
            return (self._words(encoded[index].word_ids, row) for index, row in zip(batch, best, strict=True))

        return in_batches(self.module, [len(row.ids) for row in encoded], found)

    def save(self, folder: str | Path) -> None:
        save_checkpoint(folder, self.module, self.tokenizer)

    def _words(self, word_ids: Sequence[int | None], row: Sequence[int]) -> list[WordSpan]:
        """Spans of words: a span of pieces takes in every word of which it holds a piece."""
        pieces = zip(row[: len(word_ids)], word_ids, strict=True)
        labels = ["O" if word is None else self.labels[index] for index, word in pieces]
        spans: dict[tuple[int, int], WordSpan] = {}
        for first, end, kind in decode_standard(labels):
            start, last = word_ids[first], word_ids[end - 1]
            if start is not None and last is not None:
                spans.setdefault((start, last + 1), (start, last + 1, kind))
        return list(spans.values())

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        if not sentences:  # of which a tokenizer would make one
            return []
        words = [[well_formed(word) or " " for word in sentence] for sentence in sentences]
        encoded = self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_TOKENS)
        return list(encoded.encodings)


def labelled(labels: Sequence[str]) -> dict[str, Any]:
    """A classifier's labels as its configuration has them."""
    numbered = dict(enumerate(labels))
    return {
        "num_labels": len(labels),
        "id2label": numbered,
        "label2id": {label: at for at, label in numbered.items()},
    }


def fast_tokenizer(factory: Any, model: str | Path) -> Any:
    """The model's tokenizer, which must be one that can say which word a piece is from."""
    tokenizer = pretrained(factory, model)
    if not tokenizer.is_fast:
        name = Path(str(model)).name
        raise ModelError(f"{name!r} has no fast tokenizer", remedy="Give a model that has one.")
    if "roberta" in type(tokenizer).__name__.lower():
        tokenizer = pretrained(factory, model, add_prefix_space=True)
    return tokenizer


class FirstPieceScheme(IobScheme):
    """As :class:`~radeval_lib.models.ner.iob.IobScheme`, with one label a word.

    "For words comprised of multiple sub-word tokens, the label is assigned to the first token" (RaLEs,
    Section 4.2.2); other pieces are left out of the loss and of decoding. Words beyond the encoder's reach
    are O. Decoding is that of ``seqeval``'s default mode: an I- that continues nothing begins an entity.
    """

    def _row(self, word_ids: Sequence[int | None], labels: Sequence[str]) -> list[int]:
        pairs = zip(word_ids, [None, *word_ids], strict=False)  # each with the word before it
        return [
            IGNORED if word is None or word == before else self._index[labels[word]] for word, before in pairs
        ]

    def _words(self, word_ids: Sequence[int | None], row: Sequence[int]) -> list[WordSpan]:
        labels: list[str] = []
        for index, word in zip(row, word_ids, strict=False):
            if word is not None and word == len(labels):
                labels.append(self.labels[index])
        return decode_standard(labels)
