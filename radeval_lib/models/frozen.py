"""An encoder that nothing trains, below layers that are trained: it reads each text once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def frozen(encoder: Any) -> torch.nn.Module:
    """The encoder with its weights held fast and without dropout, as features are read off it; every epoch
    gets the states that were computed when a text was first read.

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
            """Evaluation mode, whatever the layers above are in."""
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
