"""Token classifiers to train: Zhao et al. 2024, Sections 2.5 and A.9, and RaLEs, Section 4.2.2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.categories import TYPES
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.errors import ModelError, check_once
from radeval_lib.models.batching import IGNORED, in_batches, padded, stacked
from radeval_lib.models.ner.entities import decode_standard
from radeval_lib.models.ner.scheme import Scheme
from radeval_lib.models.pretrained import weights
from radeval_lib.models.saving import save_checkpoint
from radeval_lib.models.uses import NEW_NER_MODEL
from radeval_lib.models.word_pieces import MAX_PIECES, fast_tokenizer, well_formed

if TYPE_CHECKING:
    import torch


class IobScheme(Scheme):
    """A token classifier over any encoder.

    Every piece of an entity's words is labelled, B- on the first and I- on the rest, because the released
    decoder reads labels piece by piece. The closing special token is labelled O for the same reason.
    """

    def __init__(self, init_model: str | Path, types: Sequence[str] = TYPES) -> None:
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        check_once("IOB scheme", ModelError, types)
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
        """Return the index of each piece's label, given those of the words."""
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
        """Return spans of words: a span of pieces takes in every word of which it holds a piece."""
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
        encoded = self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_PIECES)
        return list(encoded.encodings)


def labelled(labels: Sequence[str]) -> dict[str, Any]:
    """Return a classifier's labels as its configuration has them."""
    numbered = dict(enumerate(labels))
    return {
        "num_labels": len(labels),
        "id2label": numbered,
        "label2id": {label: at for at, label in numbered.items()},
    }


class FirstPieceScheme(IobScheme):
    """As :class:`IobScheme`, with one label a word.

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
