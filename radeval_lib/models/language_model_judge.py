"""Judge with causal language models on this machine, such as the released GREEN models, and fine-tune them.

Released models get the released prompt and conversation format, byte for byte.
Source: green-score 0.0.12, ``make_prompt`` in ``green_score/utils.py``, ``get_response`` and the template of
``green_score/green.py``; the GREEN repository at d72c195 has the same.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radeval_lib.categories import GREEN_NAMES, LETTERS
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.green_analysis import INSIGNIFICANT, MATCHED, SIGNIFICANT
from radeval_lib.models.batching import IGNORED, pad_labelled, pick_device, run_in_batches, use_eval_mode
from radeval_lib.models.catalog import hash_model, locate
from radeval_lib.models.pretrained import TRAINED, hide_logs, load_model, load_pretrained, save_checkpoint
from radeval_lib.rules.judge.base import LONGEST, JudgeError, Keep, Pair, cut_words, write_prompt

_LOG = logging.getLogger(__name__)
_RELEASED_NAME = re.compile(r"(?i)\bGREEN-(Rad)?(Llama|Mistral|Phi)")
_RELEASED_TURN = "message['from']"  # occurs in the chat template of released tokenizers
_CRITERIA = "\n".join(f"{letter}) {name}." for letter, name in zip(LETTERS, GREEN_NAMES, strict=True))
_ERROR_LINES = "\n....\n".join(
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
{_ERROR_LINES}

[{INSIGNIFICANT}]:
{_ERROR_LINES}

[{MATCHED}]:
<The number of matched findings>. <Finding 1>; <Finding 2>; ...; <Finding n>
```
"""
# The released prompt indents every line except the first one and empty ones.
_INDENTED = re.sub(r"\n(?=[^\n])", "\n    ", _PROMPT)


def is_released(name: str, chat_template: str | None = None) -> bool:
    """Return whether a model is a released GREEN model.

    The model is one if ``name`` contains the name of a released model, or if the tokenizer's
    ``chat_template`` reads the keys ``from`` and ``value`` of a turn, as in released models, instead of
    ``role`` and ``content``. The template is None if the tokenizer has none or is unknown.
    """
    return bool(_RELEASED_NAME.search(name)) or _RELEASED_TURN in (chat_template or "")


def fill_released_prompt(reference: str, candidate: str, words: int = LONGEST) -> str:
    """Return the prompt of GREEN's released code for two reports, each truncated to its first ``words``
    words."""
    return _INDENTED.format(reference=cut_words(reference, words), candidate=cut_words(candidate, words))


def wrap_as_chat(prompt_text: str, end: str) -> str:
    """Return a conversation with one prompt, as a string that a released model continues with its answer.

    As in the released code, an empty answer stands between the prompt and the answer that the model is to
    write. ``end``: the model's end-of-text token, which closes each turn.
    """
    return f"<|user|>\n{prompt_text}{end}\n<|assistant|>\n{end}\n<|assistant|>\n"


_SHORTENING_STEP = 25  # number of words by which reports are shortened at a time, until the prompt fits
AFTER_PROMPT = "\n\n"  # separates prompt and analysis, if the tokenizer has no chat template
_END_TOKEN_TYPES = ("llama", "mistral")  # model types whose released tokenizer adds an end-of-text token


class CausalJudge:
    """A judge that runs a causal language model on this machine and decodes greedily, in batches.

    A released GREEN model gets the released prompt and conversation format, whatever chat template its
    tokenizer has. Any other model gets this library's prompt, in its tokenizer's chat template if there is
    one, else followed by :data:`AFTER_PROMPT`, as in :class:`JudgeTuning`.

    Reports are truncated to :data:`~radeval_lib.rules.judge.base.LONGEST` words, and further if the prompt
    leaves no room for the answer. The released package instead truncates the end of such a prompt, including
    the tag after which the model should answer.

    Parameters
    ----------
    model : folder or Hugging Face Hub name of the language model.
    batch_size : maximum number of prompts that are answered at once.
    max_new_tokens : maximum number of tokens of an answer. A longer answer is truncated, and a warning is
        logged.
    device : ``auto`` (a GPU if there is one), ``cpu`` (computes in float32) or ``cuda`` (in bfloat16).

    Raises
    ------
    ModelError
        If the model cannot be loaded, or ``device`` is unknown or not available.
    """

    def __init__(
        self, model: str | Path, *, batch_size: int = 8, max_new_tokens: int = 512, device: str
    ) -> None:
        import torch

        source = locate(model)
        self.model, self.tokenizer = load_causal_lm(source)
        target = pick_device(device)
        self.model.to(target, torch.bfloat16 if target.type == "cuda" else None)
        self._is_released = is_released(str(model), self.tokenizer.chat_template)
        self._batch_size, self._max_new_tokens = batch_size, max_new_tokens
        self._context_length = getattr(self.model.config, "max_position_embeddings", None) or 2048
        self._identity = f"{Path(source).name}|{hash_model(source)}"

    @property
    def signature(self) -> str:
        """A string of everything that determines an answer except the two reports: the model's name and
        content hash, the maximum lengths of answer and context in tokens, and the text of the prompt."""
        wording = self.tokenizer.decode(self._encode_prompt("<reference>", "<candidate>", LONGEST))
        return f"causal|{self._identity}|{self._max_new_tokens}|{self._context_length}|{wording}"

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the model's answer to each pair of (reference, candidate), in the order of ``pairs``.

        ``keep``: function that is called after each batch with a mapping from position in ``pairs`` to
        answer.

        Raises
        ------
        JudgeError
            If a prompt with one-word reports and the longest answer together exceed the model's context.
        """
        prompts = [self.fit_prompt(reference, candidate) for reference, candidate in pairs]
        special_ids = self.tokenizer.all_special_ids

        def generate(batch: list[int], device: Any) -> list[str]:
            # Padded on the left, so that every prompt ends where its answer begins.
            rows = {"input_ids": [prompts[position] for position in batch]}
            inputs = self.tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(device)
            options = {"max_new_tokens": self._max_new_tokens, "pad_token_id": self.tokenizer.pad_token_id}
            output = self.model.generate(**inputs, **options, do_sample=False)
            answers = output[:, inputs["input_ids"].shape[1] :]
            # A row that ended before the longest one is padded, so its last token is special.
            truncated = sum(last not in special_ids for last in answers[:, -1].tolist())
            if truncated and answers.shape[1] == self._max_new_tokens:
                _LOG.warning("%d answers were cut at max_new_tokens=%d", truncated, self._max_new_tokens)
            texts = list(map(str.strip, self.tokenizer.batch_decode(answers, skip_special_tokens=True)))
            if keep is not None:
                keep(dict(zip(batch, texts, strict=True)))
            return texts

        with hide_logs():
            lengths = list(map(len, prompts))
            return run_in_batches(self.model, lengths, generate, sys.maxsize, self._batch_size, "float32")

    def fit_prompt(self, reference: str, candidate: str) -> list[int]:
        """Return the token ids of the prompt for two reports, shortened so that the answer fits into the
        context.

        Both reports are truncated to the same number of words: first that of the longer report, but at most
        :data:`~radeval_lib.rules.judge.base.LONGEST`, then 25 fewer each time, until prompt and longest
        answer fit.

        Raises
        ------
        JudgeError
            If a prompt with one-word reports and the longest answer together exceed the model's context.
        """
        word_limit = min(LONGEST, max(len(reference.split()), len(candidate.split()), 1))
        room = self._context_length - self._max_new_tokens
        while True:
            ids = self._encode_prompt(reference, candidate, word_limit)
            if len(ids) <= room:
                return ids
            if word_limit == 1:
                parts = f"an answer of {self._max_new_tokens} tokens and a prompt with one-word reports"
                problem = f"{parts} together exceed the model's context of {self._context_length} tokens"
                raise JudgeError(problem, "judge", "Use a model with a longer context.")
            word_limit = max(1, word_limit - _SHORTENING_STEP)

    def _encode_prompt(self, reference: str, candidate: str, words: int) -> list[int]:
        """Return the token ids of the prompt for two reports, each truncated to its first ``words`` words."""
        if self._is_released:
            text = wrap_as_chat(fill_released_prompt(reference, candidate, words), self.tokenizer.eos_token)
            ids = list(self.tokenizer(text)["input_ids"])
            needs_end = self.model.config.model_type in _END_TOKEN_TYPES
            return [*ids, self.tokenizer.eos_token_id] if needs_end else ids
        text = write_prompt(reference, candidate, words)
        if self.tokenizer.chat_template:
            turns = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self.tokenizer(f"{text}{AFTER_PROMPT}")["input_ids"])


def load_causal_lm(name: str | Path) -> tuple[Any, Any]:
    """Load a causal language model from a folder or the Hugging Face Hub; return (model, tokenizer).

    Weights are read from safetensors. A tokenizer without a padding token pads with its end-of-text token.

    Raises
    ------
    ModelError
        If the model cannot be loaded.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = load_pretrained(AutoTokenizer, name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return load_model(AutoModelForCausalLM, name, TRAINED), tokenizer


class JudgeTuning:
    """A causal language model that :func:`~radeval_lib.models.training.train` fine-tunes to write analyses of
    report pairs.

    Parameters
    ----------
    module : the model.
    tokenizer : the model's tokenizer, which must have a padding token.
    max_length : maximum number of tokens of prompt and analysis together, at least 1. A longer example loses
        the beginning of the prompt and, if the analysis alone is too long, the end of the analysis.
    lora_rank : rank of LoRA adapters, which are trained instead of the weights; 0 trains all weights.
    """

    new_layers: tuple[str, ...] = ()

    def __init__(self, module: Any, tokenizer: Any, *, max_length: int = 1024, lora_rank: int = 0) -> None:
        self.tokenizer, self._max_length = tokenizer, max_length
        if lora_rank:
            from peft import LoraConfig, get_peft_model

            settings = LoraConfig(
                task_type="CAUSAL_LM", r=lora_rank, lora_alpha=2 * lora_rank, target_modules="all-linear"
            )
            with hide_logs():
                module = get_peft_model(module, settings)
        self._has_lora = bool(lora_rank)
        self.module = module

    def make_example(self, record: JudgedPair) -> dict[str, Any]:
        """Return a training example, a dictionary with two lists: ``input_ids``, the token ids of prompt,
        analysis and end of text, and ``labels``, the same ids with
        :data:`~radeval_lib.models.batching.IGNORED` for the prompt, so that only the analysis is learned."""
        texts = [f"{reveal(record.prompt)}{AFTER_PROMPT}", reveal(record.analysis)]
        prompt_ids, answer = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        answer = [*answer, self.tokenizer.eos_token_id][: self._max_length]
        room = self._max_length - len(answer)
        prompt_ids = prompt_ids[-room:] if room else []
        return {"input_ids": [*prompt_ids, *answer], "labels": [IGNORED] * len(prompt_ids) + answer}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return examples as a padded batch (:func:`~radeval_lib.models.batching.pad_labelled`)."""
        return pad_labelled(self.tokenizer, examples)

    def measure(self, records: Sequence[JudgedPair]) -> dict[str, float]:
        """Return a dictionary with ``likelihood``: the mean log-probability, in nats (0 or below), of the
        tokens of the analyses; 0 if there are none."""
        total, count = 0.0, 0
        with use_eval_mode(self.module, "float32") as device:
            for start in range(0, len(records), 8):
                batch = self.collate([self.make_example(record) for record in records[start : start + 8]])
                token_count = int((batch["labels"][:, 1:] != IGNORED).sum())
                loss = self.module(**{key: value.to(device) for key, value in batch.items()}).loss
                total, count = total + float(loss) * token_count, count + token_count
        return {"likelihood": -total / max(1, count)}

    def save(self, folder: str | Path) -> None:
        """Write the model and its tokenizer to ``folder``; LoRA adapters are merged into the weights."""
        module = self.module.merge_and_unload() if self._has_lora else self.module
        save_checkpoint(folder, module, self.tokenizer)


def make_small_lm(
    texts: Sequence[str], *, vocabulary: int = 1500, width: int = 128, layers: int = 2
) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a small Llama model with random weights and a byte-level BPE tokenizer.

    Parameters
    ----------
    texts : the texts from which the tokenizer is learned.
    vocabulary : maximum number of tokens in the vocabulary.
    width : size of the hidden states, a multiple of eight.
    layers : number of layers.
    """
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    trainer = ByteLevelBPETokenizer()
    specials = ["<pad>", "</s>"]
    trainer.train_from_iterator(texts, vocabulary, 0, show_progress=False, special_tokens=specials)
    backend = Tokenizer.from_str(trainer.to_str())
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>")
    sizes: Any = {"hidden_size": width, "intermediate_size": 3 * width, "num_hidden_layers": layers}
    sizes |= {"vocab_size": len(tokenizer), "num_attention_heads": 4, "max_position_embeddings": 2048}
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    return LlamaForCausalLM(LlamaConfig(**sizes, **ids, bos_token_id=None)), tokenizer
