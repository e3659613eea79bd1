"""Supervised fine-tuning of a causal language model to write analyses: the task for the one trainer.

Source: Ostmeier et al. 2024, Section 3.1.2. The loss is over the analysis alone, not over the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models import heads, loading

IGNORED = -100
"""The label of a token that is not learned."""


class JudgeTuning:
    """Teaches a causal language model the analyses of judged pairs."""

    new_layers: tuple[str, ...] = ()

    def __init__(self, module: Any, tokenizer: Any, *, longest: int = 1024, lora: int = 0) -> None:
        self.tokenizer, self._longest = tokenizer, longest
        if lora:
            from peft import LoraConfig, TaskType, get_peft_model

            settings = LoraConfig(
                task_type=TaskType.CAUSAL_LM, r=lora, lora_alpha=2 * lora, target_modules="all-linear"
            )
            with loading.quiet():
                module = get_peft_model(module, settings)
        self._lora = bool(lora)
        self.module = module

    def example(self, record: JudgedPair) -> dict[str, Any]:
        """Token ids of prompt and analysis; the labels of the prompt are :data:`IGNORED`."""
        asked = self.tokenizer(f"{reveal(record.prompt)}\n\n", add_special_tokens=False)["input_ids"]
        answer = self.tokenizer(reveal(record.analysis), add_special_tokens=False)["input_ids"]
        answer = [*answer, self.tokenizer.eos_token_id][: self._longest]
        asked = asked[-max(1, self._longest - len(answer)) :] if len(answer) < self._longest else []
        return {"input_ids": [*asked, *answer], "labels": [IGNORED] * len(asked) + answer}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """A batch padded on the right: ``input_ids``, ``attention_mask`` and ``labels``, int64."""
        import torch

        width = max(len(example["input_ids"]) for example in examples)
        pad = self.tokenizer.pad_token_id or 0

        def filled(key: str, filler: int) -> torch.Tensor:
            return torch.tensor([one[key] + [filler] * (width - len(one[key])) for one in examples])

        mask = [[1] * len(one["input_ids"]) + [0] * (width - len(one["input_ids"])) for one in examples]
        return {
            "input_ids": filled("input_ids", pad),
            "attention_mask": torch.tensor(mask),
            "labels": filled("labels", IGNORED),
        }

    def measure(self, records: Sequence[JudgedPair]) -> dict[str, float]:
        """``likelihood``: mean log-probability of a token of the analyses, in nats; at most 0."""
        import torch

        self.module.eval()
        total, count = 0.0, 0
        device = next(self.module.parameters()).device
        with torch.inference_mode():
            for start in range(0, len(records), 8):
                batch = self.collate([self.example(record) for record in records[start : start + 8]])
                tokens = int((batch["labels"][:, 1:] != IGNORED).sum())
                loss = self.module(**{key: value.to(device) for key, value in batch.items()}).loss
                total, count = total + float(loss) * tokens, count + tokens
        return {"likelihood": -total / count}

    def save(self, folder: str | Path) -> None:
        """Write weights, with adapters merged into them, configuration and tokenizer."""
        module = self.module.merge_and_unload() if self._lora else self.module
        with loading.quiet():
            module.save_pretrained(str(folder), safe_serialization=True)
            self.tokenizer.save_pretrained(str(folder))


def small_model(
    texts: Sequence[str], *, vocabulary: int = 1500, width: int = 128, layers: int = 2
) -> tuple[Any, Any]:
    """A causal language model small enough for a laptop, with weights drawn at random, and its tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<pad>", "</s>"],
        initial_alphabet=alphabet,
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


def pretrained_model(name: str | Path) -> tuple[Any, Any]:
    """A causal language model in safetensors and its tokenizer, to be fine-tuned."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = loading.pretrained(AutoTokenizer, name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return loading.weights(AutoModelForCausalLM, name, heads.LANGUAGE_MODEL), tokenizer
