"""Fine-tuning of a language model that is to judge, and a small one to show it with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import check_at_least
from radeval_lib.models.batching import IGNORED, evaluating, stacked
from radeval_lib.models.judges.language_model import AFTER_PROMPT
from radeval_lib.models.pretrained import quiet
from radeval_lib.models.saving import save_checkpoint
from radeval_lib.rules.judge.base import JudgeError


class JudgeTuning:
    """Teaches a causal language model the analyses of judged pairs (a
    :class:`~radeval_lib.models.training.Task`).

    Parameters
    ----------
    module, tokenizer : the model.
    longest : tokens of prompt and analysis; of a longer one the beginning of the prompt is cut.
    lora : rank of the adapters that are trained in place of the weights; 0 trains the weights.
    """

    new_layers: tuple[str, ...] = ()

    def __init__(self, module: Any, tokenizer: Any, *, longest: int = 1024, lora: int = 0) -> None:
        check_at_least(1, "judge", JudgeError, longest=longest)
        check_at_least(0, "judge", JudgeError, lora=lora)
        self.tokenizer, self._longest = tokenizer, longest
        if lora:
            from peft import LoraConfig, TaskType, get_peft_model

            settings = LoraConfig(
                task_type=TaskType.CAUSAL_LM, r=lora, lora_alpha=2 * lora, target_modules="all-linear"
            )
            with quiet():
                module = get_peft_model(module, settings)
        self._lora = bool(lora)
        self.module = module

    def example(self, record: JudgedPair) -> dict[str, Any]:
        """Return token ids of prompt and analysis; the labels of the prompt are :data:`IGNORED`."""
        texts = [f"{reveal(record.prompt)}{AFTER_PROMPT}", reveal(record.analysis)]
        asked, answer = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        answer = [*answer, self.tokenizer.eos_token_id][: self._longest]
        asked = asked[-max(1, self._longest - len(answer)) :] if len(answer) < self._longest else []
        return {"input_ids": [*asked, *answer], "labels": [IGNORED] * len(asked) + answer}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return a batch padded on the right: ``input_ids``, ``attention_mask`` and ``labels``, int64."""
        return {
            "input_ids": stacked((one["input_ids"] for one in examples), self.tokenizer.pad_token_id or 0),
            "attention_mask": stacked([1] * len(one["input_ids"]) for one in examples),
            "labels": stacked((one["labels"] for one in examples), IGNORED),
        }

    def measure(self, records: Sequence[JudgedPair]) -> dict[str, float]:
        """Return ``likelihood``: mean log-probability of a token of the analyses, in nats; at most 0, and 0
        where there is no token."""
        total, count = 0.0, 0
        with evaluating(self.module, "float32") as device:
            for start in range(0, len(records), 8):
                batch = self.collate([self.example(record) for record in records[start : start + 8]])
                tokens = int((batch["labels"][:, 1:] != IGNORED).sum())
                loss = self.module(**{key: value.to(device) for key, value in batch.items()}).loss
                total, count = total + float(loss) * tokens, count + tokens
        return {"likelihood": -total / max(1, count)}

    def save(self, folder: str | Path) -> None:
        """Write weights, with adapters merged into them, configuration and tokenizer."""
        module = self.module.merge_and_unload() if self._lora else self.module
        save_checkpoint(folder, module, self.tokenizer)


def small_model(
    texts: Sequence[str], *, vocabulary: int = 1500, width: int = 128, layers: int = 2
) -> tuple[Any, Any]:
    """Return a causal language model small enough for a laptop, with weights drawn at random, and its
    tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<pad>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        max_position_embeddings=2048,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config), tokenizer
