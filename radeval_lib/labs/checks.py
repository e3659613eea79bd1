"""What a lab's tests call: answers in one form and how they differ from what is expected, whether a function
calls a package that does the same, and marks that depend on a student's own earlier answers."""

from __future__ import annotations

import copy
import dis
import importlib.util
import linecache
import sys
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

SOLUTION_FILE = "lab_solution.py"
"""The solved lab as a script: in the autograder's archive, for hidden tests that compare with it."""
_SEQUENCES: Any = (list, tuple, range, deque, type({}.keys()), type({}.values()), type({}.items()))
_NO_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}  # of Python's instructions
_LONGEST = 300  # characters of a value in a message
_SHARE, _CORRELATION = 1 / 3, 0.9
"""What a usual mistake leaves, such as a sign, a factor or a case left out: more than this share of results
right, or numbers that correlate with the right ones; a constant or made-up answer has neither."""


class AnswerError(Exception):
    """An answer that is missing, or of a type that no test can read."""


class StudentError(Exception):
    """A student's function that raised an error instead of returning a result."""


class BorrowedError(Exception):
    """A function that was to be written by hand calls a package that does the same."""


def values_of_names(env: Mapping[str, Any], names: Sequence[str], without: Collection[str] = ()) -> list[Any]:
    """Return the values of the notebook's names that a test takes.

    Parameters
    ----------
    env : the notebook's names, from Otter.
    names : those asked for; ``solution`` is the solved lab for the notebook's id.
    without : packages that the task's functions must not call, see :func:`by_hand`.

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


@contextmanager
def by_hand(packages: Collection[str]) -> Iterator[None]:
    """Raise a BorrowedError at the end of a block if a function of one of these packages ran in it.

    A package may be given down to a module or a function, as ``radeval_lib.labs.tagging.score``. Calls in
    other threads and processes are not seen.
    """
    borrowed: list[str] = []
    within = tuple(f"{name}." for name in packages)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            module, name = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call":
            module, name = getattr(called, "__module__", None), getattr(called, "__qualname__", "")
        else:
            return
        if f"{module}.{name}.".startswith(within) and module != __name__:
            borrowed.append(f"{module}.{name}")

    before = sys.getprofile()
    if packages:
        sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
    if borrowed:
        raise BorrowedError(f"it calls {borrowed[0]}: write this one yourself")


def make_unseen_pairs(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return six pairs of a candidate and a reference that no notebook contains. One is of ``texts``, two or
    more of at least six words each; the other begins like it and continues differently."""
    made = []
    for number in range(6):
        first, other = (texts[index].split() for index in rng.choice(len(texts), 2, replace=False))
        start, rest = first[: rng.integers(3, len(first) - 2)], other[rng.integers(len(other) - 3) :]
        pair = " ".join(start + rest), " ".join(first)
        made.append(pair if number % 2 else pair[::-1])
    return made


def own_or_right(
    students: Callable[..., Any], right: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """Return the student's own function if it is right or plausibly mistaken; otherwise the right one.

    It resembles the right one if it gives the same when asked again, and if more than a third of its results
    are right, with at least two different ones among them, or if its numbers correlate with the right ones
    above 0.9. Later tasks are marked by the right function if another was made up.

    Parameters
    ----------
    students, right : functions that give answers in :func:`normal` form.
    inputs : the arguments of each call, on which the right function gives several answers. Of results that
        are lists or dictionaries each part counts.
    """
    asked = list(inputs)
    try:
        first, again, wanted = (
            [_parts(function(*given)) for given in asked] for function in (students, students, right)
        )
    except Exception:  # a student's function may raise anything
        return right
    if first != again or [len(part) for part in first] != [len(part) for part in wanted]:
        return right
    pairs = [pair for mine, its in zip(first, wanted, strict=True) for pair in zip(mine, its, strict=True)]
    same = [mine for mine, its in pairs if mine == its]
    resembles = len(same) > _SHARE * len(pairs) and len(set(same)) > 1
    return students if resembles or _correlate(pairs) else right


def _parts(value: Any) -> list[Any]:
    """Return the numbers and texts that a result is made of; numbers to six decimals, NaN as text."""
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _parts(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        is_number = isinstance(value, int | float | np.number)
        return [("nan" if np.isnan(value) else round(float(value), 6)) if is_number else value]
    return [part for item in value for part in _parts(item)]


def _correlate(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether four numbers or more go together, up or down."""
    try:
        first, other = np.asarray(pairs, dtype=float).T
    except (TypeError, ValueError):
        return False
    varies = len(first) >= 4 and np.isfinite([first, other]).all() and np.ptp(first) > 0 and np.ptp(other) > 0
    return bool(varies and abs(np.corrcoef(first, other)[0, 1]) > _CORRELATION)
