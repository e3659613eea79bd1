"""Answers in one form for a lab's tests, whatever library they come from, and how they differ from what is
expected."""

from __future__ import annotations

import copy
import dis
import importlib.util
import linecache
import traceback
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.labs.by_hand import by_hand

SOLUTION_FILE = "lab_solution.py"
"""The solved lab as a script: in the autograder's archive, for hidden tests that compare with it."""
_SEQUENCES: Any = (list, tuple, range, deque, type({}.keys()), type({}.values()), type({}.items()))
_NO_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}  # of Python's instructions
_LONGEST = 300  # characters of a value in a message


class AnswerError(Exception):
    """An answer that is missing, or of a type that no test can read."""


class StudentError(Exception):
    """A student's function that raised an error instead of returning a result."""


def given(env: Mapping[str, Any], names: Sequence[str], without: Collection[str] = ()) -> list[Any]:
    """Return the values of the notebook's names that a test takes.

    Parameters
    ----------
    env : the notebook's names, from Otter.
    names : those asked for; ``solution`` is the solved lab for the notebook's id.
    without : packages that the task's functions must not call, see :func:`radeval_lib.labs.by_hand.by_hand`.

    Returns
    -------
    list
        Answers in :func:`normal` form. Functions get copies of their arguments, and give their results in
        normal form.

    Raises
    ------
    AnswerError
        If a name is not defined, or its value has no normal form.
    """
    return [_answer(env, name, without) for name in names]


def _answer(env: Mapping[str, Any], name: str, without: Collection[str]) -> Any:
    if name == "solution":
        return _solution(env["student_id"])
    if name not in env:
        raise AnswerError(f"there is no `{name}` yet: run the cell of this task, and those before it")
    value = env[name]
    if not callable(value):
        return normal(value, name)

    def call(*arguments: Any, **named: Any) -> Any:
        arguments, named = copy.deepcopy((arguments, named))
        try:
            with by_hand(without):
                result = value(*arguments, **named)
        except Exception as error:
            raise StudentError(f"{name} stopped{_line(error)}: {type(error).__name__}: {error}") from None
        if result is None and _has_no_body(value):
            raise AnswerError(f"`{name}` has no answer yet")
        return normal(result, f"{name}(...)")

    return call


def _has_no_body(function: Callable[..., Any]) -> bool:
    """Return whether a function is a docstring and ``...``, as students get it."""
    code = getattr(function, "__code__", None)
    return code is not None and {instruction.opname for instruction in dis.get_instructions(code)} <= _NO_BODY


def _line(error: Exception) -> str:
    """Name the notebook's line in which an error arose; empty if it has none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "ipykernel" in frame.filename]
    if not frames:
        return ""
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return f" in line {frames[-1].lineno} of its cell, `{line}`"


@cache
def _solution(student_id: Any) -> SimpleNamespace:
    """Return the solved lab's names for a student's id. Its script is beside the submission when Otter
    grades."""
    spec = importlib.util.find_spec(Path(SOLUTION_FILE).stem)
    if spec is None or spec.origin is None:
        raise AnswerError("only the autograder has the solution")
    names: dict[str, Any] = {"student_id": student_id, "display": lambda *_: None}
    exec(compile(Path(spec.origin).read_text(encoding="utf-8"), SOLUTION_FILE, "exec"), names)
    return SimpleNamespace(**names)


def normal(value: Any, name: str = "it") -> Any:
    """Return an answer in the form that tests take.

    Returns
    -------
    None, bool, int, float, str, list or dict
        Lists for tuples, arrays, sets (sorted) and Series with numbers as labels; dictionaries for
        dataclasses, Series with other labels and tables (their columns, named indices included); floats for
        fractions and decimals.

    Raises
    ------
    AnswerError
        For anything else.
    """
    if value is ...:
        raise AnswerError(f"`{name}` has no answer yet")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real | Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {_key(key): normal(item, name) for key, item in value.items()}
    if isinstance(value, _SEQUENCES):
        return [normal(item, name) for item in value]
    if isinstance(value, Set):
        items = [normal(item, name) for item in value]
        return sorted(
            items, key=lambda item: (type(item).__name__, item if np.isscalar(item) else repr(item))
        )
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: normal(getattr(value, field.name), name) for field in fields(value)}
    if isinstance(value, pd.DataFrame):
        value = value.reset_index(level=[level for level in value.index.names if level is not None])
        return {_key(column): normal(value[column].tolist(), name) for column in value}
    if isinstance(value, pd.Series) and not pd.api.types.is_numeric_dtype(value.index):
        return normal(value.to_dict(), name)
    if value is pd.NA:
        return None
    if hasattr(value, "tolist"):  # NumPy's, pandas' and torch's
        return normal(value.tolist(), name)
    kind = type(value).__name__
    raise AnswerError(f"`{name}` is a {kind}, not a number, text, list, dictionary or table")


def _key(key: Any) -> Any:
    label = normal(key)
    return tuple(map(_key, label)) if isinstance(label, list) else label


def equal(came: Any, wanted: Any, within: float = 1e-6) -> bool:
    """Return whether two answers are the same. Numbers may differ by ``within`` plus a hundred-thousandth of
    the expected value; lists and dictionaries are compared part by part."""
    came, wanted = normal(came), normal(wanted)
    if isinstance(wanted, dict):
        same_keys = isinstance(came, dict) and came.keys() == wanted.keys()
        return same_keys and all(equal(came[key], wanted[key], within) for key in wanted)
    if isinstance(wanted, list):
        same_length = isinstance(came, list) and len(came) == len(wanted)
        return same_length and all(equal(*pair, within) for pair in zip(came, wanted, strict=True))
    if isinstance(wanted, float | int) and isinstance(came, float | int):
        return bool(abs(came - wanted) <= within + 1e-5 * abs(wanted))
    return bool(came == wanted)


def same(came: Any, wanted: Any, quantity: str, within: float = 1e-6) -> None:
    """Raise an AssertionError that shows both values unless they are :func:`equal`."""
    if not equal(came, wanted, within):
        raise AssertionError(f"{quantity} is {_short(normal(came))}; expected is {_short(normal(wanted))}")


def _short(value: Any) -> str:
    text = repr(round(value, 6) if isinstance(value, float) else value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
