"""GREEN's training data: prompts with two reports, and GPT-4's analyses of them (Ostmeier et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import mark

NAME = "green_training"
TURNS = ("human", "gpt")
CONVERSATION_KEYS = ("conversations", "conv")  # the reference training code reads both names


def load(path: Path) -> list[JudgedPair]:
    """Prompt and analysis of every conversation of a JSON list or JSON lines, in the file's order."""
    return reading.unique(_pairs(path), lambda pair: pair.id)


def _pairs(path: Path) -> Iterator[tuple[str, JudgedPair]]:
    for position, item in reading.read_objects(path):
        where = f"{path.name}, record {position}"
        key = next((key for key in CONVERSATION_KEYS if key in item), CONVERSATION_KEYS[0])
        turns = [_turn(turn, where) for turn in reading.take(item, key, list, where)]
        if tuple(speaker for speaker, _ in turns) != TURNS:
            raise FormatError(f"turns must be {' then '.join(TURNS)}, not {len(turns)} others", where)
        prompt, analysis = (mark(text, NAME, True) for _, text in turns)
        name = str(item.get("id", f"{path.stem}-{position}"))
        yield where, reading.make(JudgedPair, where, id=name, prompt=prompt, analysis=analysis)


def _turn(turn: Any, where: str) -> tuple[str, str]:
    if not isinstance(turn, dict):
        raise FormatError(f"a turn must be an object, not {type(turn).__name__}", where)
    return reading.take(turn, "from", str, where), reading.take(turn, "value", str, where)
