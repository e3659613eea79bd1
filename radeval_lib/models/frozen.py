"""Encoders that are not trained any more: what they give for a text is computed once, then kept in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.batching import in_batches, padded
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.word_pieces import encode_words, fast_tokenizer

if TYPE_CHECKING:
    import torch

Features = NDArray[np.float32]
"""One row per text or word, shape (n, h)."""


def frozen(encoder: Any) -> torch.nn.Module:
    """Return the encoder as a layer without gradients below others that are trained, always in evaluation
    mode.

    ``forward`` takes ``input_ids`` and ``attention_mask``, shape (n, pieces), padded on the right; of what it
    returns ``last_hidden_state`` has the shape (n, pieces, h), with zeros where there is padding.
    """
    import torch

    class Frozen(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder.requires_grad_(False).eval()
            self._known: dict[tuple[int, ...], torch.Tensor] = {}

        def train(self, mode: bool = True) -> Any:
            """Keep evaluation mode, whatever the layers above are in."""
            return super().train(False)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
            lengths = attention_mask.sum(1).tolist()
            texts = [tuple(row[:length]) for row, length in zip(input_ids.tolist(), lengths, strict=True)]
            new = [place for place, text in enumerate(texts) if text not in self._known]
            if new:
                # Normal tensors, since a text that is first read in inference may be learned from later.
                with torch.inference_mode(False), torch.no_grad():
                    states = self.encoder(
                        input_ids=input_ids[new].clone(), attention_mask=attention_mask[new].clone()
                    ).last_hidden_state
                    for place, row in zip(new, states, strict=True):
                        self._known[texts[place]] = row[: lengths[place]].clone()
            hidden = torch.nn.utils.rnn.pad_sequence([self._known[text] for text in texts], batch_first=True)
            missing = input_ids.shape[1] - hidden.shape[1]
            return SimpleNamespace(last_hidden_state=torch.nn.functional.pad(hidden, (0, 0, 0, missing)))

    return Frozen()


class FrozenEncoder(Encoder):
    """Features of sentences that are given as words, and of each of the words."""

    def __init__(self, model: str | Path, *, device: str = "auto") -> None:
        from transformers import AutoTokenizer

        super().__init__(model, device=device)
        self.tokenizer = fast_tokenizer(AutoTokenizer, model)
        self._known: dict[tuple[str, ...], tuple[Features, Features]] = {}

    def of_words(self, sentences: Sequence[Sequence[str]]) -> list[Features]:
        """For each sentence, the last hidden state of each word's first piece, shape (words, h); zeros for
        words beyond the encoder's reach."""
        return [self._known[tuple(words)][1] for words in self._read(sentences)]

    def of_texts(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Return the last hidden state of the first token of each sentence; shape (n, h)."""
        rows = [self._known[tuple(words)][0] for words in self._read(sentences)]
        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)

    def _read(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Return the sentences, after their features were computed where they are not known yet."""
        missing = list(dict.fromkeys(key for words in sentences if (key := tuple(words)) not in self._known))
        encoded = encode_words(self.tokenizer, missing)

        def features(batch: list[int], device: Any) -> Iterator[tuple[Features, Features]]:
            inputs = padded(self.tokenizer, (encoded[index][0] for index in batch))
            states = self.model(**inputs.to(device)).last_hidden_state.float().cpu().numpy()
            for index, hidden in zip(batch, states, strict=True):
                places = [first for first, _ in encoded[index][1]]
                rows = np.zeros((len(missing[index]), hidden.shape[1]), np.float32)
                rows[: len(places)] = hidden[places]
                yield hidden[0].copy(), rows

        found = in_batches(self.model, [len(ids) for ids, _ in encoded], features)
        self._known.update(zip(missing, found, strict=True))
        return sentences
