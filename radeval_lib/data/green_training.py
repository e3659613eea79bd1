"""GREEN's training data: prompts with two reports, and GPT-4's analyses of them (Ostmeier et al. 2024)."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import make_reader
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import mark_restricted

NAME = "green_training"
TURNS = ("human", "gpt")
CONVERSATION_KEYS = ("conversations", "conv")  # the reference training code reads either key


def load(path: Path) -> list[JudgedPair]:
    """Return the prompt and the analysis in every conversation of a JSON list or JSON-lines file, in order.

    Raises
    ------
    FormatError
        If the file is not JSON, a conversation is not one turn from ``human`` and then one from ``gpt``, or a
        turn lacks a key or is empty.
    """

    def parse_pair(item: reading.Entry) -> JudgedPair:
        key = next((key for key in CONVERSATION_KEYS if key in item), CONVERSATION_KEYS[0])
        turns = [reading.Entry(turn, item.where) for turn in item.take(key, list)]
        if tuple(turn.take("from", str) for turn in turns) != TURNS:
            raise ValueError(f"the {len(turns)} turns are not one from 'human', then one from 'gpt'")
        texts = (mark_restricted(turn.take("value", str), NAME) for turn in turns)
        return JudgedPair(str(item.get("id", f"{path.stem}-{item.number}")), *texts)

    return reading.parse_records(reading.read_objects(path), parse_pair)


read = make_reader(load, "train.json")
