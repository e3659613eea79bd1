"""The IOB scheme to train: a token classifier over B-, I- and O (Zhao et al. 2024, Sections 2.5 and A.9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.data.entity_types import TYPES
from radeval_lib.models.batching import batch_size_for, buckets
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.heads import NEW_TAGGER
from radeval_lib.models.loading import ModelError, pretrained, quiet, weights
from radeval_lib.models.ner.agreement import WordSpan
from radeval_lib.models.ner.iob_tagger import MAX_TOKENS
from radeval_lib.models.ner.schemes import IGNORED
from radeval_lib.models.ner.tagging import decode_standard

if TYPE_CHECKING:
    import torch


class IobScheme:
    """A token classifier over any encoder.

    Every piece of an entity's words is labelled, B- on the first and I- on the rest, because the released
    decoder reads labels piece by piece. The closing special token is labelled O for the same reason.
    """

    def __init__(self, init_model: str | Path, types: Sequence[str] = TYPES) -> None:
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        self.labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = weights(
            AutoModelForTokenClassification,
            init_model,
            NEW_TAGGER,
            num_labels=len(self.labels),
            id2label=dict(enumerate(self.labels)),
            label2id=self._index,
        )

    def example(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        encoded = self._encoded([words])[0]
        labels = ["O"] * len(words)
        for start, end, kind in spans:
            labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        row, before = [], None
        word_ids = encoded.word_ids
        for position, word in enumerate(word_ids):
            if word is None:
                row.append(IGNORED if position == 0 else self._index["O"])
            else:
                label = labels[word]
                row.append(self._index["I" + label[1:] if word == before and label != "O" else label])
            before = word
        return {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "labels": row}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        import torch

        inputs = [{key: example[key] for key in ("input_ids", "attention_mask")} for example in examples]
        batch: dict[str, torch.Tensor] = dict(self.tokenizer.pad(inputs, return_tensors="pt"))
        rows = [torch.tensor(example["labels"]) for example in examples]
        batch["labels"] = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=IGNORED)
        return batch

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        import torch

        encoded = self._encoded(sentences)
        device = next(self.module.parameters()).device
        result: list[list[WordSpan]] = [[] for _ in sentences]
        was_training = self.module.training
        self.module.eval()
        with torch.inference_mode():
            for batch in buckets([len(row.ids) for row in encoded], batch_size_for(device)):
                inputs = [{"input_ids": encoded[index].ids} for index in batch]
                padded = self.tokenizer.pad(inputs, return_tensors="pt").to(device)
                best = self.module(**padded).logits.argmax(dim=-1).tolist()
                for index, row in zip(batch, best, strict=True):
                    result[index] = self._words(encoded[index].word_ids, row)
        self.module.train(was_training)
        return result

    def save(self, folder: str | Path) -> None:
        with quiet():
            self.module.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _words(self, word_ids: Sequence[int | None], row: Sequence[int]) -> list[WordSpan]:
        """Spans of words: a span of pieces takes in every word of which it holds a piece."""
        labels = [self.labels[index] for index in row[: len(word_ids)]]
        spans = decode_standard(labels, [word is None for word in word_ids])
        found: dict[tuple[int, int], WordSpan] = {}
        for span in spans:
            start, end = word_ids[span.start], word_ids[span.end]
            if start is not None and end is not None:
                found.setdefault((start, end + 1), (start, end + 1, span.type))
        return list(found.values())

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        words = [[well_formed(word) or " " for word in sentence] for sentence in sentences]
        encoded = self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_TOKENS)
        return list(encoded.encodings)


def fast_tokenizer(factory: Any, model: str | Path) -> Any:
    """The model's tokenizer, which must be one that can say which word a piece is from."""
    tokenizer = pretrained(factory, model)
    if not tokenizer.is_fast:
        raise ModelError(
            f"{Path(str(model)).name!r} has no fast tokenizer", remedy="Give a model that has one."
        )
    if "roberta" in type(tokenizer).__name__.lower():
        tokenizer = pretrained(factory, model, add_prefix_space=True)
    return tokenizer
