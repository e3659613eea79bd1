"""Continued pretraining: masked language modelling on texts of one domain.

Source: Gururangan et al. 2020 ("Don't stop pretraining"); BioClinicalBERT and both RadBERTs of RaLEs, Table
2, were made so from encoders of another domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.models.batching import (
    IGNORED,
    buckets,
    evaluating,
    pad_rows,
    stack_rows,
    tokens_for,
    well_formed,
)
from radeval_lib.models.pretrained import ENCODER, load_pretrained, save_checkpoint, weights

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SHARE = 0.15
"""The share of a text's pieces to guess (Devlin et al. 2019). Of these, 80 % are masked, 10 % are replaced at
random and 10 % are left."""

_LONGEST = 128
"""The most pieces of a text; longer texts are cut."""


class MaskedLanguageModel:
    """An encoder with a new head for masked tokens (a :class:`~radeval_lib.models.training.Task` on texts).

    The head is a layer of the encoder's width; its output is compared with the encoder's own embeddings, so
    only guessed positions are scored. The measure that chooses the epoch is ``score``, the mean
    log-likelihood of guessed pieces, in nats, on masks that are the same in every epoch.

    Parameters
    ----------
    init_model : folder or hub name of the encoder. Its tokenizer has a mask token, and its embeddings are as
        wide as its hidden states.
    seed : of the masks; the head is drawn from torch's random numbers.
    """

    new_layers = ("head.", "bias.")

    def __init__(self, init_model: str | Path, *, seed: int) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer: Any = load_pretrained(AutoTokenizer, init_model)
        self.module: Any = _module(weights(AutoModel, init_model, ENCODER))
        self.generator = torch.Generator().manual_seed(seed)
        self._dev_seed = seed + 1

    def example(self, record: str) -> dict[str, Any]:
        """Return ``input_ids`` of the text, cut at 128 tokens; ``special`` is 1 for tokens that are never
        masked."""
        encoded = self.tokenizer(
            well_formed(record), truncation=True, max_length=_LONGEST, return_special_tokens_mask=True
        )
        return {"input_ids": encoded["input_ids"], "special": encoded["special_tokens_mask"]}

    def collate(
        self, examples: Sequence[dict[str, Any]], generator: torch.Generator | None = None
    ) -> dict[str, Tensor]:
        """Return a padded batch with new masks, drawn from the task's generator unless another is given."""
        import torch

        generator = generator or self.generator
        batch = dict(pad_rows(self.tokenizer, (example["input_ids"] for example in examples)))
        ids = batch["input_ids"]
        special = stack_rows((example["special"] for example in examples), padding_value=1)
        chosen = (torch.rand(ids.shape, generator=generator) < SHARE) & (special == 0)
        fate = torch.rand(ids.shape, generator=generator)
        others = torch.randint(len(self.tokenizer), ids.shape, generator=generator)
        batch["labels"] = ids.masked_fill(~chosen, IGNORED)
        batch["input_ids"] = torch.where(
            chosen & (fate < 0.8),
            torch.full_like(ids, self.tokenizer.mask_token_id),
            torch.where(chosen & (fate >= 0.9), others, ids),
        )
        return batch

    def measure(self, records: Sequence[str]) -> dict[str, float]:
        """Return the mean log-likelihood of the masked tokens (``score``) and the share that is ``right``;
        both are 0 if there are none."""
        import torch

        examples = [self.example(record) for record in records]
        generator = torch.Generator().manual_seed(self._dev_seed)
        loss, right, total = 0.0, 0, 0
        with evaluating(self.module) as device:
            for rows in buckets([len(e["input_ids"]) for e in examples], tokens_for(device)):
                batch = self.collate([examples[row] for row in rows], generator)
                output = self.module(**{key: value.to(device) for key, value in batch.items()})
                masked = int((batch["labels"] != IGNORED).sum())
                loss += float(output["loss"]) * masked
                right, total = right + int(output["right"]), total + masked
        # Not -loss, which would be -0.0 if nothing is masked.
        return {"score": (0.0 - loss) / max(1, total), "right": right / max(1, total)}

    def save(self, folder: str | Path) -> None:
        """Write only the encoder, as safetensors, with its configuration and tokenizer."""
        save_checkpoint(folder, self.module.encoder, self.tokenizer)


def _module(encoder: Any) -> torch.nn.Module:
    """Return the encoder with its head; ``forward`` returns ``loss``, the mean negative log-likelihood of the
    masked tokens, and ``right``, the number predicted correctly."""
    import torch
    from torch import nn

    class Guesser(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            size = int(encoder.config.hidden_size)
            vocabulary = encoder.get_input_embeddings().weight.shape[0]
            transform = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.LayerNorm(size))
            # The names of weights: `head.transform.*`, and a bias that begins with one of `new_layers`.
            self.head = nn.ModuleDict({"transform": transform})
            self.bias = nn.Embedding(vocabulary, 1)
            nn.init.zeros_(self.bias.weight)

        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, **_: Any
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            guessed = labels != IGNORED
            wanted = labels[guessed]
            states = self.head["transform"](hidden[guessed])
            logits = states @ self.encoder.get_input_embeddings().weight.T + self.bias.weight[:, 0]
            if not len(wanted):  # a batch of very short texts may have nothing to guess
                return {"loss": hidden.sum() * 0, "right": torch.tensor(0)}
            loss = nn.functional.cross_entropy(logits.float(), wanted)
            return {"loss": loss, "right": (logits.argmax(-1) == wanted).sum()}

    return Guesser()
