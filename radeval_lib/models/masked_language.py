"""Continue the pretraining of an encoder by masked language modelling on texts of one domain.

Source: Gururangan et al. 2020 ("Don't stop pretraining"). BioClinicalBERT and both RadBERTs in RaLEs, Table
2, were derived in this way from encoders of other domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.models import batching
from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained, save_checkpoint

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SHARE = 0.15
"""The share of a text's tokens that are to be predicted (Devlin et al. 2019). Of these, 80% are masked, 10%
are replaced with random tokens and 10% are left unchanged."""

_MAX_TOKENS = 128
"""Maximum number of tokens of a text; longer texts are truncated."""


class MaskedLanguageModel:
    """An encoder with a new head that predicts masked tokens, for training with
    :func:`~radeval_lib.models.training.train`.

    The head is a layer whose output is multiplied by the encoder's token embeddings. Set ``measure`` to
    ``score`` in the training settings to choose the epoch by the mean log-likelihood of the tokens to
    predict, with the same masks in every epoch.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of an encoder whose tokenizer has a mask token, and whose
        embeddings and hidden states have the same size.
    seed : seed of the masks. The head's weights are drawn from torch's global generator.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded.
    """

    new_layers = ("head.", "bias.")

    def __init__(self, init_model: str | Path, *, seed: int) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer: Any = load_pretrained(AutoTokenizer, init_model)
        self.module: Any = _build_module(load_model(AutoModel, init_model, ENCODER))
        self.generator = torch.Generator().manual_seed(seed)
        self._dev_seed = seed + 1

    def make_example(self, record: str) -> dict[str, Any]:
        """Return a training example, a dictionary with two lists: ``input_ids``, the text's first 128 token
        ids with special tokens, and ``special``, 1 for special tokens, which are never masked, else 0."""
        text, options = batching.fix_unicode(record), {"return_special_tokens_mask": True}
        encoded = self.tokenizer(text, truncation=True, max_length=_MAX_TOKENS, **options)
        return {"input_ids": encoded["input_ids"], "special": encoded["special_tokens_mask"]}

    def collate(
        self, examples: Sequence[dict[str, Any]], generator: torch.Generator | None = None
    ) -> dict[str, Tensor]:
        """Return examples as a padded batch with new masks.

        The batch has ``input_ids`` (with masks), ``attention_mask`` and ``labels`` (the ids of the tokens to
        predict, elsewhere :data:`~radeval_lib.models.batching.IGNORED`), int64 tensors of shape (examples,
        tokens of the longest example). ``generator``: torch generator that draws the masks; None takes the
        generator of this object.
        """
        import torch

        generator = generator or self.generator
        batch = dict(batching.pad_rows(self.tokenizer, (example["input_ids"] for example in examples)))
        ids = batch["input_ids"]
        special = batching.stack_rows((example["special"] for example in examples), padding_value=1)
        chosen = (torch.rand(ids.shape, generator=generator) < SHARE) & (special == 0)
        draw = torch.rand(ids.shape, generator=generator)  # below 0.8: masked; from 0.9: replaced
        random_ids = torch.randint(len(self.tokenizer), ids.shape, generator=generator)
        batch["labels"] = ids.masked_fill(~chosen, batching.IGNORED)
        batch["input_ids"] = torch.where(
            chosen & (draw < 0.8),
            torch.full_like(ids, self.tokenizer.mask_token_id),
            torch.where(chosen & (draw >= 0.9), random_ids, ids),
        )
        return batch

    def measure(self, records: Sequence[str]) -> dict[str, float]:
        """Return a dictionary with ``score``, the mean log-likelihood (nats, 0 or below) of the tokens to
        predict, and ``right``, the share (0 to 1) of these tokens that are predicted correctly.

        Both are 0 if there are no tokens to predict.
        """
        import torch

        examples = [self.make_example(record) for record in records]
        generator = torch.Generator().manual_seed(self._dev_seed)
        loss_sum, correct, total = 0.0, 0, 0
        lengths = [len(example["input_ids"]) for example in examples]
        with batching.use_eval_mode(self.module) as device:
            for rows in batching.group_by_length(lengths, batching.pick_batch_tokens(device)):
                batch = self.collate([examples[row] for row in rows], generator)
                output = self.module(**{key: value.to(device) for key, value in batch.items()})
                count = int((batch["labels"] != batching.IGNORED).sum())
                loss_sum += float(output["loss"]) * count
                correct, total = correct + int(output["right"]), total + count
        # Not -loss_sum, which would be -0.0 if nothing is masked.
        return {"score": (0.0 - loss_sum) / max(1, total), "right": correct / max(1, total)}

    def save(self, folder: str | Path) -> None:
        """Write the encoder (without the head), its configuration and its tokenizer to ``folder``."""
        save_checkpoint(folder, self.module.encoder, self.tokenizer)


def _build_module(encoder: Any) -> torch.nn.Module:
    """Return a module that consists of the encoder and a new head.

    The module's ``forward`` takes a batch of :meth:`MaskedLanguageModel.collate` and returns a mapping with
    ``loss``, the mean negative log-likelihood of the tokens to predict (0 if there are none), and ``right``,
    the number of these tokens that are predicted correctly.
    """
    import torch
    from torch import nn

    class MaskedTokenModule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            size = int(encoder.config.hidden_size)
            vocabulary_size = encoder.get_input_embeddings().weight.shape[0]
            transform = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.LayerNorm(size))
            self.head = nn.ModuleDict({"transform": transform})
            # An embedding, so that the name of its weight begins with "bias.", one of `new_layers`.
            self.bias = nn.Embedding(vocabulary_size, 1)
            nn.init.zeros_(self.bias.weight)

        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, **_: Any
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            is_target = labels != batching.IGNORED
            targets = labels[is_target]
            states = self.head["transform"](hidden[is_target])
            logits = states @ self.encoder.get_input_embeddings().weight.T + self.bias.weight[:, 0]
            if not len(targets):  # a batch of very short texts may have no token to predict
                return {"loss": hidden.sum() * 0, "right": torch.tensor(0)}
            loss = nn.functional.cross_entropy(logits.float(), targets)
            return {"loss": loss, "right": (logits.argmax(-1) == targets).sum()}

    return MaskedTokenModule()
