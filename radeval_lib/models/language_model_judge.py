"""Judges that are causal language models on this machine, as the released GREEN models are; and their tuning.

The released models get their own prompt, in their own form of a conversation, byte for byte.
Source: green-score 0.0.12, ``make_prompt`` in ``green_score/utils.py``, ``get_response`` and the template of
``green_score/green.py``; the GREEN repository at d72c195 has the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.categories import GREEN_NAMES, LETTERS
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.green_analysis import INSIGNIFICANT, MATCHED, SIGNIFICANT
from radeval_lib.models.batching import IGNORED, device_of, evaluating, in_batches, labelled_batch
from radeval_lib.models.catalog import checksum, locate
from radeval_lib.models.pretrained import TRAINED, load_pretrained, quiet, save_checkpoint, weights
from radeval_lib.rules.judge.base import LONGEST, JudgeError, Keep, Pair, cut, prompt

_NAME = re.compile(r"(?i)\bGREEN-(Rad)?(Llama|Mistral|Phi)")
_TURN = "message['from']"
_CRITERIA = "\n".join(f"{letter}) {name}." for letter, name in zip(LETTERS, GREEN_NAMES, strict=True))
_ERRORS = "\n....\n".join(
    f"({letter}) <Error Type>: <The number of errors>. <Error 1>; <Error 2>; ...; <Error n>"
    for letter in (LETTERS[0], LETTERS[-1])
)
_PROMPT = f"""\
Objective: Evaluate the accuracy of a candidate radiology report in comparison to a reference radiology \
report composed by expert radiologists.

Process Overview: You will be presented with:

1. The criteria for making a judgment.
2. The reference radiology report.
3. The candidate radiology report.
4. The desired format for your assessment.

1. Criteria for Judgment:

For each candidate report, determine:

The count of clinically significant errors.
The count of clinically insignificant errors.

Errors can fall into one of these categories:

{_CRITERIA}
Note: Concentrate on the clinical findings rather than the report's writing style. Evaluate only the \
findings that appear in both reports.

2. Reference Report:
{{reference}}

3. Candidate Report:
{{candidate}}

4. Reporting Your Assessment:

Follow this specific format for your output, even if no errors are found:
```
[Explanation]:
<Explanation>

[{SIGNIFICANT}]:
{_ERRORS}

[{INSIGNIFICANT}]:
{_ERRORS}

[{MATCHED}]:
<The number of matched findings>. <Finding 1>; <Finding 2>; ...; <Finding n>
```
"""
# Every line but the first is indented if it is not empty.
_INDENTED = re.sub(r"\n(?=[^\n])", "\n    ", _PROMPT)


def is_released(name: str, chat_template: str | None = None) -> bool:
    """Return whether a model is a released one, according to its name or its tokenizer's chat template, whose
    turns have ``from`` and ``value``."""
    return bool(_NAME.search(name)) or _TURN in (chat_template or "")


def released_prompt(reference: str, candidate: str, words: int = LONGEST) -> str:
    """Return the prompt in the released wording; each report is cut at ``words`` words, like in the released
    code."""
    return _INDENTED.format(reference=cut(reference, words), candidate=cut(candidate, words))


def released_chat(asked: str, end: str) -> str:
    """Return the conversation that opens with a prompt; ``end``, the end-of-text token, closes each turn.

    An empty answer comes before the one that the model is to write, as in the released code.
    """
    return f"<|user|>\n{asked}{end}\n<|assistant|>\n{end}\n<|assistant|>\n"


_STEP = 25  # words by which reports are shortened until a prompt fits
AFTER_PROMPT = "\n\n"  # between prompt and analysis, if there is no chat template
_ENDED = ("llama", "mistral")  # types of models whose tokenizer ends every text in the released code


class CausalJudge:
    """Generates the analysis greedily, in batches of prompts of similar length.

    A released GREEN model is asked in its own wording and form, whatever template its tokenizer brings; any
    other by the template of its tokenizer, or as :class:`JudgeTuning` taught it.

    If a prompt would leave no room for the answer, the two reports are shortened, never the end of the
    prompt: the released package cuts the end, and with it the tag after which the model answers.

    Parameters
    ----------
    model : folder or hub name.
    batch_size : prompts that are answered at once.
    max_new_tokens : the longest answer.
    device : ``auto``, ``cpu`` or ``cuda``, which computes in bfloat16.

    Raises
    ------
    ModelError
        If the model cannot be loaded.
    """

    def __init__(
        self, model: str | Path, *, batch_size: int = 8, max_new_tokens: int = 512, device: str
    ) -> None:
        import torch

        where = locate(model)
        self.model, self.tokenizer = pretrained_model(where)
        on = device_of(device)
        self.model.to(on, torch.bfloat16 if on.type == "cuda" else None)
        self._released = is_released(str(model), self.tokenizer.chat_template)
        self._batch, self._new = batch_size, max_new_tokens
        self._length = getattr(self.model.config, "max_position_embeddings", None) or 2048
        self._name = f"{Path(where).name}|{checksum(where)}"

    @property
    def signature(self) -> str:
        """The model with its checksum, the lengths, and the wording of the prompt."""
        asked = self.tokenizer.decode(self._asked("<reference>", "<candidate>", LONGEST))
        return f"causal|{self._name}|{self._new}|{self._length}|{asked}"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the model's answers; raises :class:`JudgeError` if a prompt does not fit even with one-word
        reports."""
        prompts = [self.fit_prompt(reference, candidate) for reference, candidate in pairs]
        pad = self.tokenizer.pad_token_id

        def answered(batch: list[int], device: Any) -> list[str]:
            # Padded on the left, so that every prompt ends where its answer begins.
            rows = {"input_ids": [prompts[position] for position in batch]}
            inputs = self.tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(device)
            output = self.model.generate(
                **inputs, max_new_tokens=self._new, do_sample=False, pad_token_id=pad
            )
            new = output[:, inputs["input_ids"].shape[1] :]
            texts = list(map(str.strip, self.tokenizer.batch_decode(new, skip_special_tokens=True)))
            if keep is not None:
                keep(dict(zip(batch, texts, strict=True)))
            return texts

        with quiet():
            lengths = list(map(len, prompts))
            return in_batches(self.model, lengths, answered, sys.maxsize, self._batch, "float32")

    def fit_prompt(self, reference: str, candidate: str) -> list[int]:
        """Return the prompt's token ids, with its reports shortened until there is room for the answer."""
        word_limit = min(LONGEST, max(len(reference.split()), len(candidate.split()), 1))
        room = self._length - self._new
        while True:
            ids = self._asked(reference, candidate, word_limit)
            if len(ids) <= room:
                return ids
            if word_limit == 1:
                problem = f"an answer of {self._new} tokens leaves no room for the prompt in {self._length}"
                raise JudgeError(problem, "judge", "Give a smaller max_new_tokens.")
            word_limit = max(1, word_limit - _STEP)

    def _asked(self, reference: str, candidate: str, words: int) -> list[int]:
        """Return token ids of the prompt, with two reports cut at ``words`` words."""
        if self._released:
            text = released_chat(released_prompt(reference, candidate, words), self.tokenizer.eos_token)
            ids = list(self.tokenizer(text)["input_ids"])
            # As in the released code, whose tokenizer for Llama and Mistral ends every text.
            return [*ids, self.tokenizer.eos_token_id] if self.model.config.model_type in _ENDED else ids
        text = prompt(reference, candidate, words)
        if self.tokenizer.chat_template:
            turns = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self.tokenizer(f"{text}{AFTER_PROMPT}")["input_ids"])


def pretrained_model(name: str | Path) -> tuple[Any, Any]:
    """Return a causal language model from safetensors and its tokenizer, with padding."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = load_pretrained(AutoTokenizer, name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return weights(AutoModelForCausalLM, name, TRAINED), tokenizer


class JudgeTuning:
    """Tunes a causal language model on analyses of judged pairs (a
    :class:`~radeval_lib.models.training.Task`).

    Parameters
    ----------
    module, tokenizer : of the model; the tokenizer has a padding token.
    max_length : tokens of prompt and analysis together, at least 1. Longer ones lose the beginning of the
        prompt, then the end of the analysis.
    lora_rank : rank of LoRA adapters, which are trained instead of the weights; 0 trains the weights.
    """

    new_layers: tuple[str, ...] = ()

    def __init__(self, module: Any, tokenizer: Any, *, max_length: int = 1024, lora_rank: int = 0) -> None:
        self.tokenizer, self._max_length = tokenizer, max_length
        if lora_rank:
            from peft import LoraConfig, get_peft_model

            settings = LoraConfig(
                task_type="CAUSAL_LM", r=lora_rank, lora_alpha=2 * lora_rank, target_modules="all-linear"
            )
            with quiet():
                module = get_peft_model(module, settings)
        self._has_lora = bool(lora_rank)
        self.module = module

    def example(self, record: JudgedPair) -> dict[str, Any]:
        """Return token ids of prompt and analysis; the labels of the prompt are :data:`IGNORED`."""
        texts = [f"{reveal(record.prompt)}{AFTER_PROMPT}", reveal(record.analysis)]
        asked, answer = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        answer = [*answer, self.tokenizer.eos_token_id][: self._max_length]
        asked = asked[-max(1, self._max_length - len(answer)) :] if len(answer) < self._max_length else []
        return {"input_ids": [*asked, *answer], "labels": [IGNORED] * len(asked) + answer}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return a batch padded on the right: ``input_ids``, ``attention_mask`` and ``labels``, int64."""
        return labelled_batch(self.tokenizer, examples)

    def measure(self, records: Sequence[JudgedPair]) -> dict[str, float]:
        """Return ``likelihood``: the mean log-probability, in nats, of a token of the analyses. It is at most
        0, and 0 if there is no token."""
        total, count = 0.0, 0
        with evaluating(self.module, "float32") as device:
            for start in range(0, len(records), 8):
                batch = self.collate([self.example(record) for record in records[start : start + 8]])
                tokens = int((batch["labels"][:, 1:] != IGNORED).sum())
                loss = self.module(**{key: value.to(device) for key, value in batch.items()}).loss
                total, count = total + float(loss) * tokens, count + tokens
        return {"likelihood": -total / max(1, count)}

    def save(self, folder: str | Path) -> None:
        """Write weights with adapters merged into them, configuration and tokenizer."""
        module = self.module.merge_and_unload() if self._has_lora else self.module
        save_checkpoint(folder, module, self.tokenizer)


def small_model(
    texts: Sequence[str], *, vocabulary: int = 1500, width: int = 128, layers: int = 2
) -> tuple[Any, Any]:
    """Return a causal language model with random weights, small enough for a laptop, and its tokenizer."""
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    learned = ByteLevelBPETokenizer()
    special = ["<pad>", "</s>"]
    learned.train_from_iterator(texts, vocabulary, 0, show_progress=False, special_tokens=special)
    pieces = Tokenizer.from_str(learned.to_str())
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, pad_token="<pad>", eos_token="</s>")
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
