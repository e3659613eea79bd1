"""A judge that is a causal language model on this machine, as the released GREEN models are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.errors import check_at_least
from radeval_lib.models import pretrained, uses
from radeval_lib.models.devices import device_of
from radeval_lib.models.identity import checksum
from radeval_lib.models.judges.green_prompt import is_released, released_chat, released_prompt
from radeval_lib.rules.judge.base import LONGEST, JudgeError, Keep, Pair, prompt

_STEP = 25  # words by which reports are shortened until a prompt fits
AFTER_PROMPT = "\n\n"  # between prompt and analysis, where there is no chat template
_ENDED = ("llama", "mistral")  # types of models whose tokenizer ends every text in the released code


class CausalJudge:
    """Generates the analysis greedily, in batches of prompts of similar length.

    A released GREEN model is asked in its own wording and form, whatever template its tokenizer brings; any
    other by the template of its tokenizer, or as :mod:`~radeval_lib.models.judges.tuning` taught it.

    Where a prompt would leave no room for the answer, the two reports are shortened, never the end of the
    prompt: the released package cuts the end, and with it the tag after which the model answers.

    Parameters
    ----------
    model : folder or hub name.
    batch_size : prompts that are answered at once.
    max_new_tokens : the longest answer.
    length : tokens of prompt and answer together; None, or more than the model has places: as many as it has.
    device : ``auto``, ``cpu`` or ``cuda``, where it computes in bfloat16.

    Raises
    ------
    JudgeError
        If the longest answer leaves no room for a prompt, or a number is out of its range.
    ModelError
        If the model cannot be loaded.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 8,
        max_new_tokens: int = 512,
        length: int | None = None,
        device: str,
    ) -> None:
        import torch

        check_at_least(1, "judge", JudgeError, batch_size=batch_size, max_new_tokens=max_new_tokens)
        where = pretrained.locate(model)
        self._device = device_of(device)
        self.model, self.tokenizer = pretrained_model(where)
        if self._device.type == "cuda":
            self.model.to(torch.bfloat16)
        self.model.to(self._device)
        self._released = is_released(str(model), self.tokenizer.chat_template)
        self._batch, self._new = batch_size, max_new_tokens
        built = getattr(self.model.config, "max_position_embeddings", None) or 2048
        self._length = min(length or built, built)
        if self._new >= self._length:
            wrong = f"an answer of {self._new} tokens leaves no room for the prompt in {self._length}"
            raise JudgeError(wrong, "judge", "Give a smaller max_new_tokens.")
        self._name = f"{Path(where).name}|{checksum(where)}"

    @property
    def signature(self) -> str:
        """Model with its checksum, lengths and the wording of what it is asked."""
        asked = self.tokenizer.decode(self._asked("<reference>", "<candidate>", LONGEST))
        return f"causal|{self._name}|{self._new}|{self._length}|{asked}"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the model's answers; a :class:`JudgeError` if a prompt does not fit even with reports of a
        word."""
        import torch

        prompts = [self.fitting(reference, candidate) for reference, candidate in pairs]
        order = sorted(range(len(pairs)), key=lambda place: len(prompts[place]))
        answers: dict[int, str] = {}
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            # On the left, so that every prompt ends where its answer begins.
            batch = self.tokenizer.pad(
                {"input_ids": [prompts[place] for place in places]}, padding_side="left", return_tensors="pt"
            ).to(self._device)
            with torch.inference_mode(), pretrained.quiet():
                pad = self.tokenizer.pad_token_id
                output = self.model.generate(
                    **batch, max_new_tokens=self._new, do_sample=False, pad_token_id=pad
                )
            new = output[:, batch["input_ids"].shape[1] :]
            texts = self.tokenizer.batch_decode(new, skip_special_tokens=True)
            made = {place: text.strip() for place, text in zip(places, texts, strict=True)}
            answers.update(made)
            if keep is not None:
                keep(made)
        return [answers[place] for place in range(len(pairs))]

    def fitting(self, reference: str, candidate: str) -> list[int]:
        """Return token ids of the prompt, its reports shortened until the answer has room behind it."""
        words = min(LONGEST, max(len(reference.split()), len(candidate.split()), 1))
        room = self._length - self._new
        while True:
            ids = self._asked(reference, candidate, words)
            if len(ids) <= room:
                return ids
            if words == 1:
                wrong = f"the prompt alone has more than {room} tokens"
                raise JudgeError(wrong, "judge", "Give a larger length.")
            words = max(1, words - _STEP)

    def _asked(self, reference: str, candidate: str, words: int) -> list[int]:
        """Return token ids of the prompt, with two reports cut at ``words`` words."""
        if self._released:
            text = released_chat(released_prompt(reference, candidate, words), self.tokenizer.eos_token)
            ids = list(self.tokenizer(text)["input_ids"])
            # As in the released code, where the tokenizer that Llama and Mistral share ends every text.
            return [*ids, self.tokenizer.eos_token_id] if self.model.config.model_type in _ENDED else ids
        text = prompt(reference, candidate, words)
        if self.tokenizer.chat_template:
            turns = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self.tokenizer(f"{text}{AFTER_PROMPT}")["input_ids"])


def pretrained_model(name: str | Path) -> tuple[Any, Any]:
    """Return a causal language model in safetensors and its tokenizer, with padding."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = pretrained.pretrained(AutoTokenizer, name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return pretrained.weights(AutoModelForCausalLM, name, uses.LANGUAGE_MODEL), tokenizer
