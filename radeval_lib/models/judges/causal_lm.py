"""A judge that is a causal language model on this machine, as the released GREEN models are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from radeval_lib.models import heads, loading
from radeval_lib.models.judges.base import LONGEST, JudgeError, Keep, Pair, prompt

_STEP = 25  # words by which reports are shortened until a prompt fits


class CausalJudge:
    """Generates the analysis greedily, in batches of prompts of similar length.

    Where a prompt would leave no room for the answer, the two reports are shortened, never the end of the
    prompt: the released package cuts the end, and with it the tag after which the model answers.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 8,
        max_new_tokens: int = 512,
        length: int | None = None,
        device: str = "auto",
        ask: Callable[[str, str, int], str] = prompt,
    ) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        where = loading.locate(model)
        self._device = loading.device_of(device)
        self.tokenizer: Any = loading.pretrained(AutoTokenizer, where)
        self.model: Any = loading.weights(AutoModelForCausalLM, where, heads.LANGUAGE_MODEL)
        if self._device.type == "cuda":
            self.model.to(torch.bfloat16)
        self.model.to(self._device).eval()
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self._ask, self._batch, self._new = ask, batch_size, max_new_tokens
        built = getattr(self.model.config, "max_position_embeddings", None) or 2048
        self._length = min(length or built, built)
        if self._new >= self._length:
            raise JudgeError(
                f"an answer of {self._new} tokens leaves no room for the prompt in {self._length}",
                "judge",
                "Give a smaller max_new_tokens.",
            )
        self._name = f"{Path(where).name}|{loading.checksum(where)}"

    @property
    def signature(self) -> str:
        """Model with its checksum, lengths and the wording of the prompt."""
        asked = self._ask("<reference>", "<candidate>", LONGEST)
        return f"causal|{self._name}|{self._new}|{self._length}|{asked}"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """The model's answers, in the input's order.

        Raises
        ------
        JudgeError
            If a prompt does not fit even with reports of a few words.
        """
        import torch

        prompts = [self.fitting(reference, candidate) for reference, candidate in pairs]
        order = sorted(range(len(pairs)), key=lambda place: len(prompts[place]))
        answers = [""] * len(pairs)
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            batch = self.tokenizer.pad(
                {"input_ids": [prompts[place] for place in places]}, return_tensors="pt"
            )
            batch = {key: value.to(self._device) for key, value in batch.items()}
            with torch.inference_mode(), loading.quiet():
                output = self.model.generate(
                    **batch,
                    max_new_tokens=self._new,
                    do_sample=False,
                    pad_token_id=self.tokenizer.pad_token_id,
                )
            new = output[:, batch["input_ids"].shape[1] :]
            for place, text in zip(
                places, self.tokenizer.batch_decode(new, skip_special_tokens=True), strict=True
            ):
                answers[place] = text.strip()
                if keep is not None:
                    keep(place, answers[place])
        return answers

    def fitting(self, reference: str, candidate: str) -> list[int]:
        """Token ids of the prompt, its reports shortened until the answer has room behind it."""
        words = min(LONGEST, max(len(reference.split()), len(candidate.split()), 1))
        room = self._length - self._new
        while True:
            ids = self._tokens(self._ask(reference, candidate, words))
            if len(ids) <= room:
                return ids
            if words == 1:
                raise JudgeError(
                    f"the prompt alone has more than {room} tokens", "judge", "Give a larger length."
                )
            words = max(1, words - _STEP)

    def _tokens(self, text: str) -> list[int]:
        if self.tokenizer.chat_template:
            turns = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self.tokenizer(text)["input_ids"])
