"""GREEN's training data: prompts with two reports, and GPT-4's analyses of them (Ostmeier et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Reader, each
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import mark

NAME = "green_training"
TURNS = ("human", "gpt")
CONVERSATION_KEYS = ("conversations", "conv")  # the reference training code reads both names


def load(path: Path) -> list[JudgedPair]:
    """Prompt and analysis of every conversation of a JSON list or JSON lines, in the file's order."""
    return reading.records(reading.read_objects(path), partial(_pair, stem=path.stem))


def _pair(item: reading.Entry, stem: str) -> Iterator[JudgedPair]:
    key = next((key for key in CONVERSATION_KEYS if key in item), CONVERSATION_KEYS[0])
    turns = [reading.Entry(turn, item.where) for turn in item.take(key, list)]
    if tuple(turn.take("from", str) for turn in turns) != TURNS:
        raise FormatError(f"turns must be {' then '.join(TURNS)}, not {len(turns)} others", item.where)
    prompt, analysis = (mark(turn.take("value", str), NAME, True) for turn in turns)
    yield JudgedPair(str(item.get("id", f"{stem}-{item.at}")), prompt, analysis)


READER = Reader(each(load, "train.json"), lambda records: {"pairs": len(records)})
