"""How released GREEN models are asked, against text that the released package made (green-score 0.0.12)."""

from pathlib import Path

import pytest
import torch

from radeval_lib.models.judges.language_model import (
    CausalJudge,
    JudgeTuning,
    is_released,
    released_chat,
    released_prompt,
    small_model,
)

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
    module, tokenizer = small_model([RELEASED.decode()], vocabulary=400, width=32, layers=1)
    tokenizer.chat_template = TEMPLATE
    where = tmp_path_factory.mktemp("judge")
    JudgeTuning(module, tokenizer).save(where)
    return where


def test_the_conversation_is_the_released_one_byte_for_byte():
    assert released_chat(released_prompt(*PAIR), "</s>").encode() == RELEASED


def test_the_template_of_the_tokenizer_makes_the_same_of_the_released_turns(saved):
    tokenizer = CausalJudge(saved, max_new_tokens=8, device="cpu").tokenizer
    turns = [{"from": "human", "value": released_prompt(*PAIR)}, {"from": "gpt", "value": ""}]
    made = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert made.encode() == RELEASED
    # Turns with "role" and "content", which other models take, would leave nothing of the reports.
    lost = tokenizer.apply_chat_template([{"role": "user", "content": PAIR[0]}], tokenize=False)
    assert "effusion" not in lost


def test_a_released_model_is_given_that_conversation(saved):
    judge = CausalJudge(saved, max_new_tokens=8, device="cpu")
    ids = judge.fitting(*PAIR)
    assert judge.tokenizer.decode(ids).encode() == RELEASED + b"</s>"  # Llama's tokenizer ends every text
    assert "Objective: Evaluate" in judge.signature
    assert len(judge.judge([PAIR])) == 1


def test_three_hundred_words_of_each_report_are_kept():
    asked = released_prompt("a " * 400, "b " * 400)
    assert f"2. Reference Report:\n    {'a ' * 299}a\n\n" in asked
    assert f"3. Candidate Report:\n    {'b ' * 299}b\n\n" in asked


@pytest.mark.parametrize(
    ("name", "template", "released"),
    [
        ("StanfordAIMI/GREEN-RadLlama2-7b", None, True),
        ("models/GREEN-Phi2", None, True),
        ("StanfordAIMI/GREEN-Mistral-7b", "{{ messages[0]['content'] }}", True),
        ("models/judge", TEMPLATE, True),
        ("models/judge", "{{ messages[0]['content'] }}", False),
        ("green", None, False),
        ("evergreen-phi", None, False),
    ],
)
def test_what_a_released_model_is_known_by(name, template, released):
    assert is_released(name, template) == released
