"""Entity tagging over spans: every span of up to eight words is classified (Zhao et al. 2024, Sections 2.5,
A.9).

A span's vector is the hidden state of its first and last piece and an embedding of its width, as in PURE's
entity model (Zhong and Chen 2020); a feed-forward head gives each type's score and that of no entity. Spans
may overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.categories import TYPES
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.errors import ModelError, check_at_least, check_once, check_share
from radeval_lib.models.batching import IGNORED, in_batches, of_distinct, padded, stacked
from radeval_lib.models.devices import Precision, device_of, precision_of
from radeval_lib.models.ner.entities import words_of
from radeval_lib.models.ner.scheme import Scheme
from radeval_lib.models.pretrained import weights
from radeval_lib.models.saving import fill, read_settings, save_checkpoint
from radeval_lib.models.uses import ENCODER
from radeval_lib.models.word_pieces import (
    MAX_PIECES,
    candidate_spans,
    encode_words,
    fast_tokenizer,
    longer_than,
    places_of_spans,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SETTINGS = "span_ner.json"
_HEAD = "span_head.safetensors"


@dataclass(frozen=True)
class SpanSettings:
    """Shape of the head; a :class:`ModelError` where a number is out of its range or a type stands twice.

    Attributes
    ----------
    types : entity types; class 0 is not an entity.
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

    def __post_init__(self) -> None:
        sizes = {"max_width": self.max_width, "width_size": self.width_size, "hidden": self.hidden}
        check_at_least(1, "span scheme", ModelError, **sizes)
        check_at_least(0, "span scheme", ModelError, layers=self.layers)
        check_share("span scheme", ModelError, dropout=self.dropout)
        check_once("span scheme", ModelError, self.types)


def span_module(encoder: Any, settings: SpanSettings) -> torch.nn.Module:
    """Return the encoder with its head; ``forward`` returns loss (where labels are given) and logits (B,
    spans, classes).

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
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
            return {"loss": loss, "logits": logits}

    return SpanModule()


class SpanScheme(Scheme):
    """The span scheme over any encoder."""

    def __init__(self, init_model: str | Path, settings: SpanSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = span_module(weights(AutoModel, init_model, ENCODER), self.settings)
        self._classes = {kind: index + 1 for index, kind in enumerate(self.settings.types)}

    @classmethod
    def load(cls, folder: str | Path) -> SpanScheme:
        """Return what :meth:`save` wrote; a :class:`ModelError` if the folder is not such a checkpoint."""
        where = Path(folder)
        scheme = cls(where, read_settings(where / SETTINGS, SpanSettings, "span tagger"))
        fill(scheme.module.head, where / _HEAD)
        scheme.module.eval()
        return scheme

    def save(self, folder: str | Path) -> None:
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def encoded(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        gold = {(start, end): self._classes[kind] for start, end, kind in spans if kind in self._classes}
        ids, places = encode_words(self.tokenizer, [words])[0]
        candidates = candidate_spans(len(places), self.settings.max_width)
        return {
            "input_ids": ids,
            **places_of_spans(places, candidates),
            "words": [start for start, _ in candidates],
            "labels": [gold.get(span, 0) for span in candidates],
        }

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        inputs = padded(self.tokenizer, (example["input_ids"] for example in examples))
        batch = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        for key, filler in {"starts": 0, "ends": 0, "widths": 0, "labels": IGNORED}.items():
            batch[key] = stacked((example[key] for example in examples), filler)
        return batch

    def predict(
        self, sentences: Sequence[Sequence[str]], precision: Precision = "auto"
    ) -> list[list[WordSpan]]:
        examples = [self.encoded(sentence, ()) for sentence in sentences if len(sentence)]

        def found(batch: list[int], device: Any) -> Iterator[list[WordSpan]]:
            inputs = self.collate([examples[index] for index in batch])
            inputs = {key: value.to(device) for key, value in inputs.items() if key != "labels"}
            best = self.module(**inputs)["logits"].argmax(dim=-1).tolist()
            return (self._found(examples[index], row) for index, row in zip(batch, best, strict=True))

        lengths = [len(example["input_ids"]) for example in examples]
        results = iter(in_batches(self.module, lengths, found, 2_048, 64, precision))
        return [next(results) if len(sentence) else [] for sentence in sentences]

    def _found(self, example: dict[str, Any], row: Sequence[int]) -> list[WordSpan]:
        """Return the entities of a sentence, given the likeliest class of each of its candidate spans."""
        # Not strict: ``row`` is padded to the longest example of its batch.
        candidates = zip(example["words"], example["widths"], row, strict=False)
        kinds = self.settings.types
        return [(start, start + width + 1, kinds[kind - 1]) for start, width, kind in candidates if kind]


class SpanNerModel:
    """Tags sentences with a span model that was saved; overlapping entities are all kept."""

    def __init__(self, model: str | Path, *, device: str, precision: Precision = "auto") -> None:
        self.name = str(model)
        self.scheme = SpanScheme.load(model)
        self.scheme.module.to(device_of(device))
        self.precision = precision_of(device_of(device), precision)

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity of each sentence, as the sentence writes it."""
        return list(map(list, of_distinct(sentences, self._found)))

    def _found(self, texts: list[str]) -> list[list[tuple[str, str]]]:
        places = [words_of(text) for text in texts]
        words = [[text[a:b] for a, b in spans] for text, spans in zip(texts, places, strict=True)]
        found = self.scheme.predict(words, self.precision)
        return [
            [(text[spans[start][0] : spans[end - 1][1]], kind) for start, end, kind in entities]
            for text, spans, entities in zip(texts, places, found, strict=True)
        ]

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Return whether each sentence is longer than the model reads."""
        return longer_than(MAX_PIECES, self.scheme.tokenizer, sentences)
