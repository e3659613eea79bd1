"""Language models as judges: the released form byte for byte, prompts that fit, batches, and tuning."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from radeval_lib.data import generated
from radeval_lib.jobs.green import settings
from radeval_lib.models.batching import IGNORED
from radeval_lib.models.language_model_judge import (
    CausalJudge,
    JudgeTuning,
    fill_released_prompt,
    is_released,
    make_small_lm,
    wrap_as_chat,
)
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.rules.judge.base import JudgeError
from radeval_lib.study.profiles import profile

PAIRS = list(generated.generate_judged_pairs(12, 5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(0)
    module, tokenizer = make_small_lm([pair.prompt for pair in PAIRS], vocabulary=600, width=32, layers=1)
    where = tmp_path_factory.mktemp("judge")
    JudgeTuning(module, tokenizer).save(where)
    return where


def test_answers_do_not_depend_on_batches_or_order(folder, caplog):
    pairs = [(f"No effusion. Nodule {n}." * n, "Clear lungs.") for n in range(1, 6)]
    alone = CausalJudge(folder, batch_size=1, max_new_tokens=12, device="cpu").judge(pairs)
    together = CausalJudge(folder, batch_size=5, max_new_tokens=12, device="cpu").judge(pairs[::-1])[::-1]
    assert alone == together
    assert "max_new_tokens=12" in caplog.text


def test_a_long_report_is_shortened_and_the_layout_kept(folder):
    judge = CausalJudge(folder, max_new_tokens=100, device="cpu")
    ids = judge.fit_prompt("effusion " * 5000, "clear " * 5000)
    assert len(ids) <= 2048 - 100
    assert judge.tokenizer.decode(ids).endswith("<count>. <findings>\n\n")  # as JudgeTuning teaches it


def test_a_prompt_that_cannot_fit_is_refused(folder):
    with pytest.raises(JudgeError):
        CausalJudge(folder, max_new_tokens=2000, device="cpu").judge([("a", "b")])


def test_only_the_analysis_is_learned_and_never_cut():
    module, tokenizer = make_small_lm([pair.prompt for pair in PAIRS], vocabulary=600, width=32, layers=1)
    task = JudgeTuning(module, tokenizer, max_length=1200)
    example = task.make_example(PAIRS[0])
    learned = [token for token in example["labels"] if token != IGNORED]
    assert tokenizer.decode(learned, skip_special_tokens=True) == PAIRS[0].analysis
    assert learned[-1] == tokenizer.eos_token_id
    tight = JudgeTuning(module, tokenizer, max_length=len(learned) + 10).make_example(PAIRS[0])
    assert [token for token in tight["labels"] if token != IGNORED] == learned
    assert len(tight["input_ids"]) == len(learned) + 10


@pytest.mark.parametrize("lora", [0, 4])
def test_training_makes_the_analyses_likelier(lora, tmp_path):
    torch.manual_seed(1)
    module, tokenizer = make_small_lm([pair.prompt for pair in PAIRS], vocabulary=600, width=32, layers=1)
    task = JudgeTuning(module, tokenizer, max_length=400, lora_rank=lora)
    before = task.measure(PAIRS[:3])["likelihood"]
    settings = TrainingSettings(
        learning_rate=1e-2, batch_size=4, epochs=2, warmup=0.0, measure="likelihood", device="cpu"
    )
    trained = train(task, PAIRS[3:], PAIRS[:3], settings)
    assert trained.best["likelihood"] > before
    trained.task.save(tmp_path)
    CausalJudge(tmp_path, max_new_tokens=4, device="cpu").judge([("a", "b")])


def test_the_profile_full_has_the_settings_that_the_paper_states():
    full = settings(profile("full"))
    tuning = full.tuning(0, "cpu")
    assert tuning.batch_size * tuning.accumulate == 2048
    assert (tuning.epochs, tuning.learning_rate, tuning.warmup, tuning.weight_decay) == (12, 1e-4, 0.05, 0.1)
    assert (full.longest, full.ranks) == (2048, [0])


PAIR = ("No effusion.\n  Heart size is {normal}.", "Small right\tpleural effusion.")
RELEASED = Path(__file__).with_name("released_chat.txt").read_bytes()
"""What ``make_prompt`` and the chat template of the package make of :data:`PAIR`, with the token ``</s>``."""

TEMPLATE = (
    "{% for message in messages %}\n{% if message['from'] == 'human' %}\n"
    "{{ '<|user|>\n' + message['value'] + eos_token }}\n{% elif message['from'] == 'gpt' %}\n"
    "{{ '<|assistant|>\n'  + message['value'] + eos_token }}\n{% endif %}\n"
    "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}"
)
"""The template of the released tokenizers, without the branch of system messages, which are never sent."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model as released ones are: Llama's form, and the template in its tokenizer's files."""
    torch.manual_seed(0)
    module, tokenizer = make_small_lm([RELEASED.decode()], vocabulary=400, width=32, layers=1)
    tokenizer.chat_template = TEMPLATE
    where = tmp_path_factory.mktemp("judge")
    JudgeTuning(module, tokenizer).save(where)
    return where


def test_the_conversation_is_the_released_one_byte_for_byte():
    assert wrap_as_chat(fill_released_prompt(*PAIR), "</s>").encode() == RELEASED


def test_the_template_of_the_tokenizer_makes_the_same_of_the_released_turns(saved):
    tokenizer = CausalJudge(saved, max_new_tokens=8, device="cpu").tokenizer
    turns = [{"from": "human", "value": fill_released_prompt(*PAIR)}, {"from": "gpt", "value": ""}]
    made = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert made.encode() == RELEASED


def test_a_released_model_is_given_that_conversation(saved):
    judge = CausalJudge(saved, max_new_tokens=8, device="cpu")
    ids = judge.fit_prompt(*PAIR)
    assert judge.tokenizer.decode(ids).encode() == RELEASED + b"</s>"  # Llama's tokenizer ends every text
    assert "Objective: Evaluate" in judge.signature
    assert len(judge.judge([PAIR])) == 1


@pytest.mark.parametrize(
    ("name", "template", "released"),
    [
        ("StanfordAIMI/GREEN-RadLlama2-7b", None, True),
        ("StanfordAIMI/GREEN-Mistral-7b", "{{ messages[0]['content'] }}", True),
        ("models/judge", TEMPLATE, True),
        ("models/judge", "{{ messages[0]['content'] }}", False),
        ("evergreen-phi", None, False),
    ],
)
def test_what_a_released_model_is_known_by(name, template, released):
    assert is_released(name, template) == released
