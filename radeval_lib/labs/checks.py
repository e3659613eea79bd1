"""Functions for the tests of labs.

They convert students' answers into one form, compare them with expected values, detect calls of packages that
solve the task, and choose the answer to an earlier task on which a later task is marked.
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
"""Name of the solved lab as a script, in the autograder's archive; hidden tests compare with it."""
_SEQUENCES: Any = (list, tuple, range, deque, type({}.keys()), type({}.values()), type({}.items()))
# The bytecode instructions of a function that has only a docstring or `...`.
_NO_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
_MESSAGE_LENGTH = 300  # maximum number of characters of a value in a message
# With a plausible mistake, such as a wrong sign or factor or a forgotten case, more than this share of
# results are right, or four or more numbers correlate more than this with the right ones. A constant or
# made-up answer does neither.
_RIGHT_SHARE, _CORRELATION = 1 / 3, 0.9


class AnswerError(Exception):
    """An answer that is missing, or of a type that tests cannot read."""


class StudentError(Exception):
    """A student's function that raised an error."""


class BorrowedError(Exception):
    """A student's function that calls a package which solves the task."""


def values_of_names(env: Mapping[str, Any], names: Sequence[str], without: Collection[str] = ()) -> list[Any]:
    """Return a student's values of some names of the notebook, for a test.

    Parameters
    ----------
    env : all names of the notebook with their values, from Otter.
    names : the names to return. ``solution`` stands for the solved lab with this student's id.
    without : packages that the functions must not call, see :func:`by_hand`.

    Returns
    -------
    list
        Values in :func:`normal` form. A function is wrapped, so that it gets copies of its arguments and
        returns its result in normal form; it raises StudentError or BorrowedError.

    Raises
    ------
    AnswerError
        If a name is not defined, or its value has no normal form.
    """
    return [_answer(env, name, without) for name in names]


def _answer(env: Mapping[str, Any], name: str, without: Collection[str]) -> Any:
    """Return the value of one name; see :func:`values_of_names`."""
    if name == "solution":
        return _solution(str(_answer(env, "student_id", ())))
    if name not in env:
        raise AnswerError(f"`{name}` is not defined: run the cell of this task and all cells before it")
    value = env[name]
    if not callable(value):
        return normal(value, name)

    def call(*arguments: Any, **keywords: Any) -> Any:
        arguments, keywords = copy.deepcopy((arguments, keywords))
        with by_hand(without, name):
            try:
                result = value(*arguments, **keywords)
            except (Exception, SystemExit) as error:
                raise StudentError(f"`{name}` stopped{_describe_error(error)}") from None
        code = getattr(value, "__code__", None)
        if result is None and code and {step.opname for step in dis.get_instructions(code)} <= _NO_BODY:
            raise AnswerError(f"`{name}` has no answer yet")  # as in the student's notebook at the start
        return normal(result, f"{name}(...)")

    return call


def _describe_error(error: BaseException) -> str:
    """Return the type and message of an error, after the line of the notebook that raised it, if any."""
    message = _shorten("".join(traceback.format_exception_only(error)).strip())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "ipykernel" in frame.filename]
    if not frames:
        return f": {message}"
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return f" in line {frames[-1].lineno} of its cell, `{line}`: {message}"


@cache
def _solution(student_id: str) -> SimpleNamespace:
    """Return the names that the solved lab defines for a student's id, as attributes.

    Only while Otter grades, the script :data:`SOLUTION_FILE` can be found; otherwise raises AnswerError.
    """
    spec = importlib.util.find_spec(Path(SOLUTION_FILE).stem)
    if spec is None or spec.origin is None:
        raise AnswerError("this test needs the solution, which only the autograder has")
    names: dict[str, Any] = {"student_id": student_id, "display": lambda *_: None}
    exec(compile(Path(spec.origin).read_text(encoding="utf-8"), SOLUTION_FILE, "exec"), names)
    return SimpleNamespace(**names)


def normal(value: Any, name: str = "it") -> Any:
    """Return a value in the one form that tests compare.

    ``name`` is what messages call the value.

    Returns
    -------
    None, bool, int, float, str, list or dict
        Tuples, arrays, sets (sorted) and Series with numbers as labels become lists. Dataclasses, Series with
        other labels, and tables become dictionaries; that of a table has its columns and its named indices.
        Fractions and decimals become floats.

    Raises
    ------
    AnswerError
        For a value of any other type, a label that occurs twice, a number too large for a float, or an object
        that raises an error when it is read.
    """
    try:
        return _normal(value, name)
    except AnswerError:
        raise
    except Exception as error:  # an object of a student's or a package's class may raise anything
        raise AnswerError(f"`{name}` cannot be read{_describe_error(error)}") from None


def _normal(value: Any, name: str) -> Any:
    """Return a value in normal form; unlike :func:`normal`, passes on errors of the object itself."""
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
        return sorted((_normal(item, name) for item in value), key=_sort_key)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _normal(getattr(value, field.name), name) for field in fields(value)}
    if isinstance(value, pd.DataFrame):
        levels = [level for level in value.index.names if level is not None]
        indices = [(level, value.index.get_level_values(level)) for level in levels]
        return _by_label([*indices, *((label, column.tolist()) for label, column in value.items())], name)
    if isinstance(value, pd.Series) and (is_bool_dtype(value.index) or not is_numeric_dtype(value.index)):
        return _by_label(value.items(), name)
    # Arrays of NumPy, pandas and torch.
    if hasattr(value, "tolist") and not hasattr(plain := value.tolist(), "tolist"):
        return _normal(plain, name)
    kind = type(value).__name__
    raise AnswerError(f"`{name}` is of type {kind}: make it a number, text, list, dictionary or table")


def _by_label(items: Iterable[tuple[Any, Any]], name: str) -> dict[Any, Any]:
    """Return a dictionary in normal form from labels and values; raises AnswerError if a label occurs
    twice."""
    labelled: dict[Any, Any] = {}
    for label, value in items:
        key = _key(label, name)
        if key in labelled:
            raise AnswerError(f"`{name}` has the label {_format_value(key)} twice: give each its own label")
        labelled[key] = _normal(value, name)
    return labelled


def _key(label: Any, name: str) -> Any:
    """Return a label in normal form as a key: lists become tuples, and every NaN becomes the same object."""
    key = _normal(label, name)
    if isinstance(key, list):
        return tuple(_key(part, name) for part in key)
    return math.nan if key != key else key


def _sort_key(item: Any) -> tuple[str, Any]:
    """Return the key by which the items of a set are sorted: numbers by value, then others by type and
    text."""
    if isinstance(item, int | float):
        return "", item
    return type(item).__name__, item if isinstance(item, str) else repr(item)


def equal(answer: Any, expected: Any, within: float = 1e-6) -> bool:
    """Return whether two answers are equal, in all parts of lists and dictionaries.

    Numbers may differ by ``within`` plus 1e-5 times the expected value. NaN equals NaN, infinity only itself,
    and ``True`` is not equal to 1.
    """
    answer, expected = normal(answer), normal(expected)
    if isinstance(expected, dict) and isinstance(answer, dict):
        same_keys = answer.keys() == expected.keys()
        return same_keys and all(equal(answer[key], expected[key], within) for key in expected)
    if isinstance(expected, list) and isinstance(answer, list):
        return len(answer) == len(expected) and all(map(equal, answer, expected, repeat(within)))
    if type(answer) in (int, float) and type(expected) in (int, float):
        return bool(np.isclose(float(answer), float(expected), rtol=1e-5, atol=within, equal_nan=True))
    return type(answer) is type(expected) and bool(answer == expected)


def same(answer: Any, expected: Any, quantity: str, within: float = 1e-6) -> None:
    """Raise an AssertionError unless two answers are :func:`equal`.

    The message shows both, as values of ``quantity``.
    """
    answer, expected = normal(answer, quantity), normal(expected)
    if not equal(answer, expected, within):
        raise AssertionError(f"{quantity} is {_format_value(answer)}; expected: {_format_value(expected)}")


def _format_value(value: Any) -> str:
    """Return a value as text for a message, floats with six decimals."""
    return _shorten(repr(round(value, 6) if isinstance(value, float) else value))


def _shorten(text: str) -> str:
    """Return a text cut to 300 characters."""
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]}..."


@contextmanager
def by_hand(packages: Collection[str], name: str) -> Iterator[None]:
    """Raise a BorrowedError at the end of the block if a function of one of these packages was called in it.

    Parameters
    ----------
    packages : names of packages, modules or functions, such as ``radeval_lib.labs.tagging.score``. Calls in
        other threads and processes are not detected.
    name : name of the student's function, for the message.
    """
    calls, prefixes = list[str](), tuple(f"{package}." for package in packages)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            module, function = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call":
            module, function = getattr(called, "__module__", None), getattr(called, "__qualname__", "")
        else:
            return
        if f"{module}.{function}.".startswith(prefixes) and module != __name__:
            calls.append(f"{module}.{function}")

    former_profiler = sys.getprofile()
    if packages:
        sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(former_profiler)
    if calls:
        raise BorrowedError(f"`{name}` calls {calls[0]}: write this function without it")


def make_unseen_pairs(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return six random pairs of a candidate and a reference that are in no notebook.

    One text of each pair is from ``texts``; the other begins with its words and ends with those of another
    text. ``texts`` must have two or more texts of at least six words.
    """
    pairs = []
    for number in range(6):
        first, second = (texts[index].split() for index in rng.choice(len(texts), 2, replace=False))
        start, end = first[: rng.integers(3, len(first) - 2)], second[rng.integers(len(second) - 3) :]
        pair = " ".join(start + end), " ".join(first)
        pairs.append(pair if number % 2 else pair[::-1])
    return pairs


def own_or_right(
    students: Callable[..., Any], right: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """Return the function on which later tasks are marked: the student's, unless it is implausible.

    A student's function is plausible if it returns the same results when called twice, and if more than a
    third of them are right, with at least two different ones among these, or four or more numbers correlate
    above 0.9 with the right ones. Otherwise ``right`` is returned. So a mistake costs marks only in its own
    task.

    Parameters
    ----------
    students, right : functions that return answers in :func:`normal` form; ``students`` may be anything.
    inputs : the arguments of each call; the right results must differ. Each part of a list or dictionary
        counts as a result.
    """
    calls = list(inputs)
    right_results = [_flatten(right(*arguments)) for arguments in calls]
    try:
        results, repeated = ([_flatten(students(*arguments)) for arguments in calls] for _ in range(2))
    except Exception:  # a student's function may raise anything, or not be a function
        return right
    if results != repeated or list(map(len, results)) != list(map(len, right_results)):
        return right
    pairs = [pair for both in zip(results, right_results, strict=True) for pair in zip(*both, strict=True)]
    hits = [result for result, right_result in pairs if result == right_result]
    resembles = len(hits) > _RIGHT_SHARE * len(pairs) and len(set(hits)) > 1
    if not resembles and len(pairs) > 3 and all(type(part) is float for pair in pairs for part in pair):
        with np.errstate(all="ignore"):  # the correlation is NaN for constant or infinite numbers
            resembles = bool(abs(np.corrcoef(np.transpose(pairs))[0, 1]) > _CORRELATION)
    return students if resembles else right


def _flatten(value: Any) -> list[Any]:
    """Return all numbers and texts in a result as one list: numbers rounded to six decimals, NaN as
    ``nan``."""
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _flatten(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        is_number = isinstance(value, int | float | np.number)
        return [("nan" if np.isnan(value) else round(float(value), 6)) if is_number else value]
    return [part for item in value for part in _flatten(item)]
