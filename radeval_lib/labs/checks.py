"""Functions that a lab's tests call: they bring answers into one form, compare them with expected values,
notice calls of packages that solve the task, and choose the earlier answers that later tasks are marked by.
"""

from __future__ import annotations

import copy
import dis
import importlib.util
import linecache
import math
import sys
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from itertools import repeat
from numbers import Integral, Real
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

SOLUTION_FILE = "lab_solution.py"
"""The solved lab as a script: in the autograder's archive, for hidden tests that compare with it."""
_SEQUENCES: Any = (list, tuple, range, deque, type({}.keys()), type({}.values()), type({}.items()))
_NO_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}  # of Python's instructions
_LONGEST = 300  # characters of a value in a message
# A usual mistake, such as a wrong sign or factor or a forgotten case, leaves more than this share of results
# right, or at least four numbers whose correlation with the right ones is above this. A constant or made-up
# answer does neither.
_SHARE, _CORRELATION = 1 / 3, 0.9


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
        return _solution(str(_answer(env, "student_id", ())))
    if name not in env:
        raise AnswerError(f"there is no `{name}` yet: run the cell of this task, and those before it")
    value = env[name]
    if not callable(value):
        return normal(value, name)

    def call(*arguments: Any, **named: Any) -> Any:
        arguments, named = copy.deepcopy((arguments, named))
        with by_hand(without, name):
            try:
                result = value(*arguments, **named)
            except (Exception, SystemExit) as error:
                raise StudentError(f"`{name}` stopped{_explained(error)}") from None
        code = getattr(value, "__code__", None)
        if result is None and code and {step.opname for step in dis.get_instructions(code)} <= _NO_BODY:
            raise AnswerError(f"`{name}` has no answer yet")  # a docstring and `...`, as students get it
        return normal(result, f"{name}(...)")

    return call


def _explained(error: BaseException) -> str:
    """Return the notebook's line in which an error arose, if it has one, and the error in words."""
    words = _shortened("".join(traceback.format_exception_only(error)).strip())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "ipykernel" in frame.filename]
    if not frames:
        return f": {words}"
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return f" in line {frames[-1].lineno} of its cell, `{line}`: {words}"


@cache
def _solution(student_id: str) -> SimpleNamespace:
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
        For anything else, a label that occurs twice, a number that no float can hold, and an object that
        raises an error when it is read.
    """
    try:
        return _normal(value, name)
    except AnswerError:
        raise
    except Exception as error:  # an object of a student's or a package's class may raise anything
        raise AnswerError(f"`{name}` cannot be read{_explained(error)}") from None


def _normal(value: Any, name: str) -> Any:
    if value is ...:
        raise AnswerError(f"`{name}` has no answer yet")
    if value is None or value is pd.NA:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Real | Decimal):
        number = float(value)
        return int(value) if isinstance(value, Integral) else number
    if isinstance(value, Mapping):
        return _by_label(value.items(), name)
    if isinstance(value, _SEQUENCES):
        return [_normal(item, name) for item in value]
    if isinstance(value, Set):
        return sorted((_normal(item, name) for item in value), key=_place_in_set)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _normal(getattr(value, field.name), name) for field in fields(value)}
    if isinstance(value, pd.DataFrame):
        levels = [level for level in value.index.names if level is not None]
        indices = [(level, value.index.get_level_values(level)) for level in levels]
        return _by_label([*indices, *((label, column.tolist()) for label, column in value.items())], name)
    if isinstance(value, pd.Series) and (is_bool_dtype(value.index) or not is_numeric_dtype(value.index)):
        return _by_label(value.items(), name)
    if hasattr(value, "tolist") and not hasattr(plain := value.tolist(), "tolist"):  # NumPy, pandas, torch
        return _normal(plain, name)
    kind = type(value).__name__
    raise AnswerError(f"`{name}` is of type {kind}: give a number, text, list, dictionary or table")


def _by_label(items: Iterable[tuple[Any, Any]], name: str) -> dict[Any, Any]:
    """Return labels and values in normal form; raise an AnswerError if a label occurs twice."""
    labelled: dict[Any, Any] = {}
    for label, value in items:
        key = _key(label, name)
        if key in labelled:
            raise AnswerError(f"`{name}` has the label {_in_message(key)} twice: give each its own label")
        labelled[key] = _normal(value, name)
    return labelled


def _key(label: Any, name: str) -> Any:
    """Return a label in normal form, with tuples for lists, and NaN as one object, which is equal to itself
    as a key."""
    key = _normal(label, name)
    if isinstance(key, list):
        return tuple(_key(part, name) for part in key)
    return math.nan if key != key else key


def _place_in_set(item: Any) -> tuple[str, Any]:
    """Return what a set's item is sorted by: numbers by value, whatever their types, before all others."""
    if isinstance(item, int | float):
        return "", item
    return type(item).__name__, item if isinstance(item, str) else repr(item)


def equal(came: Any, wanted: Any, within: float = 1e-6) -> bool:
    """Return whether two answers are the same: lists and dictionaries part by part, and NaN like NaN.

    Numbers may differ by ``within`` plus a hundred-thousandth of the expected value, infinity by nothing. A
    truth value is no number.
    """
    came, wanted = normal(came), normal(wanted)
    if isinstance(wanted, dict) and isinstance(came, dict):
        return came.keys() == wanted.keys() and all(equal(came[key], wanted[key], within) for key in wanted)
    if isinstance(wanted, list) and isinstance(came, list):
        return len(came) == len(wanted) and all(map(equal, came, wanted, repeat(within)))
    if type(came) in (int, float) and type(wanted) in (int, float):
        return bool(np.isclose(float(came), float(wanted), rtol=1e-5, atol=within, equal_nan=True))
    return type(came) is type(wanted) and bool(came == wanted)


def same(came: Any, wanted: Any, quantity: str, within: float = 1e-6) -> None:
    """Raise an AssertionError that shows both values unless they are :func:`equal`."""
    came, wanted = normal(came, quantity), normal(wanted)
    if not equal(came, wanted, within):
        raise AssertionError(f"{quantity} is {_in_message(came)}; expected is {_in_message(wanted)}")


def _in_message(value: Any) -> str:
    return _shortened(repr(round(value, 6) if isinstance(value, float) else value))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


@contextmanager
def by_hand(packages: Collection[str], name: str) -> Iterator[None]:
    """Raise a BorrowedError, which blames ``name``, at the end of a block if a function of one of these
    packages ran in it.

    A package may be given down to a module or a function, as ``radeval_lib.labs.tagging.score``. Calls in
    other threads and processes are not seen.
    """
    borrowed: list[str] = []
    within = tuple(f"{package}." for package in packages)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            module, function = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call":
            module, function = getattr(called, "__module__", None), getattr(called, "__qualname__", "")
        else:
            return
        if f"{module}.{function}.".startswith(within) and module != __name__:
            borrowed.append(f"{module}.{function}")

    before = sys.getprofile()
    if packages:
        sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
    if borrowed:
        raise BorrowedError(f"`{name}` calls {borrowed[0]}: write this one yourself")


def make_unseen_pairs(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return six pairs of a candidate and a reference that no notebook contains.

    In each pair one text comes from ``texts``, two or more of at least six words each; the other begins like
    it and continues differently.
    """
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
    """Return the function to mark later tasks by: the student's if it is right or plausibly mistaken,
    otherwise the right one.

    A student's function is plausible if it gives the same results when called twice, and if more than a third
    of them are right, with two different ones among these, or if four or more numbers correlate with the
    right ones above 0.9.

    Parameters
    ----------
    students, right : functions that give answers in :func:`normal` form; ``students`` may be anything.
    inputs : the arguments of each call, for which the right function gives several answers. Each part of a
        list or a dictionary counts as a result.
    """
    asked = list(inputs)
    wanted = [_parts(right(*given)) for given in asked]
    try:
        first, again = ([_parts(students(*given)) for given in asked] for _ in range(2))
    except Exception:  # a student's function may raise anything, or be none
        return right
    if first != again or [len(part) for part in first] != [len(part) for part in wanted]:
        return right
    pairs = [pair for mine, its in zip(first, wanted, strict=True) for pair in zip(mine, its, strict=True)]
    hits = [mine for mine, its in pairs if mine == its]
    resembles = len(hits) > _SHARE * len(pairs) and len(set(hits)) > 1
    if not resembles and len(pairs) > 3 and all(type(part) is float for pair in pairs for part in pair):
        with np.errstate(all="ignore"):  # NaN for constant or infinite numbers
            resembles = bool(abs(np.corrcoef(np.transpose(pairs))[0, 1]) > _CORRELATION)
    return students if resembles else right


def _parts(value: Any) -> list[Any]:
    """Return the numbers and texts that a result is made of; numbers to six decimals, NaN as text."""
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _parts(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        is_number = isinstance(value, int | float | np.number)
        return [("nan" if np.isnan(value) else round(float(value), 6)) if is_number else value]
    return [part for item in value for part in _parts(item)]
