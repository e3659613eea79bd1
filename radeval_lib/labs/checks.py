"""Functions for the tests of labs.

They convert students' answers into one form, compare them with expected values, detect calls to packages that
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
"""File in the autograder's archive with the solved lab's code; hidden tests compare with its results."""
_SEQUENCES: Any = (list, tuple, range, deque, type({}.keys()), type({}.values()), type({}.items()))
# The bytecode instructions of a function that has only a docstring or `...`.
_NO_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
_MESSAGE_LENGTH = 300  # maximum number of characters of a value in a message
# With a plausible mistake, such as a wrong sign or factor or a forgotten case, more than this share of
# results are right, or four or more numbers correlate more than this with the right numbers. A constant or
# made-up answer does neither.
_RIGHT_SHARE, _CORRELATION = 1 / 3, 0.9


class AnswerError(Exception):
    """An answer that is missing or that tests cannot read, or a missing solution."""


class StudentError(Exception):
    """An error that a student's function raised."""


class BorrowedError(Exception):
    """A call, by a student's function, to a package that solves the task."""


def values_of_names(env: Mapping[str, Any], names: Sequence[str], banned: Collection[str] = ()) -> list[Any]:
    """Return the values that a student's notebook gives to some names, for a test.

    Parameters
    ----------
    env : all names of the notebook with their values, from Otter.
    names : the names to read. ``solution`` stands for the solved lab with this student's id.
    banned : packages that the functions must not call, see :func:`forbid_calls`.

    Returns
    -------
    list
        Values as :func:`normalize` returns them; for ``solution``, an object whose attributes are the names
        in the solved lab. A function is wrapped: the wrapper passes on copies of the arguments and normalizes
        the result. The wrapper raises StudentError if the student's function fails, BorrowedError if the
        function calls a banned package, and AnswerError if the function has no body or its result cannot be
        normalized.

    Raises
    ------
    AnswerError
        If a name is not defined, its value cannot be normalized, or ``solution`` is read outside the
        autograder.
    """
    return [_read_answer(env, name, banned) for name in names]


def _read_answer(env: Mapping[str, Any], name: str, banned: Collection[str]) -> Any:
    """Return the value of one name; parameters and errors are those of :func:`values_of_names`."""
    if name == "solution":
        return _run_solution(str(_read_answer(env, "student_id", ())))
    if name not in env:
        raise AnswerError(f"`{name}` is not defined: run the cell of this task and all cells before it")
    value = env[name]
    if not callable(value):
        return normalize(value, name)

    def call(*arguments: Any, **keywords: Any) -> Any:
        arguments, keywords = copy.deepcopy((arguments, keywords))
        with forbid_calls(banned, name):
            try:
                result = value(*arguments, **keywords)
            except (Exception, SystemExit) as error:
                raise StudentError(f"`{name}` stopped{_describe_error(error)}") from None
        code = getattr(value, "__code__", None)
        if result is None and code and {step.opname for step in dis.get_instructions(code)} <= _NO_BODY:
            raise AnswerError(f"`{name}` has no answer yet: replace `...`")  # the body given to students
        return normalize(result, f"{name}(...)")

    return call


def _describe_error(error: BaseException) -> str:
    """Return an error's type and message, to append to a clause such as ``it stopped``.

    If code of the notebook raised the error, or called the code that did, the line and its number come first.
    """
    message = _shorten("".join(traceback.format_exception_only(error)).strip())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "ipykernel" in frame.filename]
    if not frames:
        return f": {message}"
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return f" in line {frames[-1].lineno} of its cell, `{line}`: {message}"


@cache
def _run_solution(student_id: str) -> SimpleNamespace:
    """Run the solved lab with a student's id, and return the names that it defines, as attributes.

    Raises AnswerError if the script :data:`SOLUTION_FILE` is not found; it exists only while Otter grades.
    """
    spec = importlib.util.find_spec(Path(SOLUTION_FILE).stem)
    if spec is None or spec.origin is None:
        raise AnswerError(f"this test needs {SOLUTION_FILE}: run the test in the autograder")
    names: dict[str, Any] = {"student_id": student_id, "display": lambda *_: None}
    exec(compile(Path(spec.origin).read_text(encoding="utf-8"), SOLUTION_FILE, "exec"), names)
    return SimpleNamespace(**names)


def normalize(value: Any, name: str = "it") -> Any:
    """Return a value converted to the form that tests compare: only built-in types, also inside lists.

    ``name`` is the name of the value in messages.

    Returns
    -------
    None, bool, int, float, str, list or dict
        Tuples, arrays, sets (sorted) and Series with numeric labels become lists. A dataclass becomes a
        dictionary of its fields, and a Series with other labels a dictionary from label to value. A DataFrame
        becomes a dictionary of its columns and its named index levels, each a list. Fractions and decimals
        become floats.

    Raises
    ------
    AnswerError
        For ``...``, a value of any other type, a label that occurs twice, a number too large for a float, or
        an object that raises an error when it is read. The value may be inside ``value``.
    """
    try:
        return _normalize(value, name)
    except AnswerError:
        raise
    except Exception as error:  # an object of a student's or a package's class may raise anything
        raise AnswerError(f"`{name}` cannot be read{_describe_error(error)}") from None


def _normalize(value: Any, name: str) -> Any:
    """Return a value as :func:`normalize` does, but pass on any error that the object itself raises."""
    if value is ...:
        raise AnswerError(f"`{name}` has no answer yet: replace `...`")
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
        return _to_dict(value.items(), name)
    if isinstance(value, _SEQUENCES):
        return [_normalize(item, name) for item in value]
    if isinstance(value, Set):
        return sorted((_normalize(item, name) for item in value), key=_make_sort_key)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _normalize(getattr(value, field.name), name) for field in fields(value)}
    if isinstance(value, pd.DataFrame):
        levels = [level for level in value.index.names if level is not None]
        indices = [(level, value.index.get_level_values(level)) for level in levels]
        return _to_dict([*indices, *((label, column.tolist()) for label, column in value.items())], name)
    if isinstance(value, pd.Series) and (is_bool_dtype(value.index) or not is_numeric_dtype(value.index)):
        return _to_dict(value.items(), name)
    # Arrays of NumPy, pandas and torch.
    if hasattr(value, "tolist") and not hasattr(plain := value.tolist(), "tolist"):
        return _normalize(plain, name)
    kind, supported = type(value).__name__, "number, string, list, dictionary or DataFrame"
    raise AnswerError(f"`{name}` is or contains a value of unsupported type {kind}: use a {supported}")


def _to_dict(items: Iterable[tuple[Any, Any]], name: str) -> dict[Any, Any]:
    """Return a dictionary from normalized label to normalized value, from (label, value) pairs.

    Raises AnswerError if a label occurs twice. ``name`` is the name of the dictionary in messages.
    """
    normalized: dict[Any, Any] = {}
    for label, value in items:
        key = _make_key(label, name)
        if key in normalized:
            raise AnswerError(f"`{name}` has the label {_format_value(key)} twice: use it once")
        normalized[key] = _normalize(value, name)
    return normalized


def _make_key(label: Any, name: str) -> Any:
    """Return a normalized label as a dictionary key: lists become tuples, and every NaN the same object."""
    key = _normalize(label, name)
    if isinstance(key, list):
        return tuple(_make_key(part, name) for part in key)
    return math.nan if key != key else key


def _make_sort_key(item: Any) -> tuple[str, Any]:
    """Return the sort key of a set's item: numbers come first, by value, then others by type and text."""
    if isinstance(item, int | float):
        return "", item
    return type(item).__name__, item if isinstance(item, str) else repr(item)


def equal(answer: Any, expected: Any, atol: float = 1e-6) -> bool:
    """Return whether two answers are equal, including all items of lists and dictionaries.

    Numbers may differ by ``atol`` plus 1e-5 times the absolute expected value. NaN equals NaN, and infinity
    equals infinity of the same sign. ``True`` does not equal 1. Raises AnswerError if an answer cannot be
    normalized.
    """
    answer, expected = normalize(answer), normalize(expected)
    if isinstance(expected, dict) and isinstance(answer, dict):
        same_keys = answer.keys() == expected.keys()
        return same_keys and all(equal(answer[key], expected[key], atol) for key in expected)
    if isinstance(expected, list) and isinstance(answer, list):
        return len(answer) == len(expected) and all(map(equal, answer, expected, repeat(atol)))
    if type(answer) in (int, float) and type(expected) in (int, float):
        return bool(np.isclose(float(answer), float(expected), rtol=1e-5, atol=atol, equal_nan=True))
    return type(answer) is type(expected) and bool(answer == expected)


def same(answer: Any, expected: Any, quantity: str, within: float = 1e-6) -> None:
    """Raise an AssertionError unless two answers are equal by :func:`equal`.

    ``quantity`` is the name of the answer; the message shows both values. ``within`` is the absolute
    tolerance for numbers. Raises AnswerError if an answer cannot be normalized.
    """
    answer, expected = normalize(answer, quantity), normalize(expected)
    if not equal(answer, expected, within):
        raise AssertionError(f"{quantity} is {_format_value(answer)}; expected: {_format_value(expected)}")


def _format_value(value: Any) -> str:
    """Return a value as a string for a message: a float rounded to six decimals, a long string cut."""
    return _shorten(repr(round(value, 6) if isinstance(value, float) else value))


def _shorten(text: str) -> str:
    """Return the first 300 characters of a string, followed by ``...`` if it is longer."""
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]}..."


@contextmanager
def forbid_calls(packages: Collection[str], name: str) -> Iterator[None]:
    """Watch the calls in a ``with`` block, and raise a BorrowedError at its end if one is to ``packages``.

    Parameters
    ----------
    packages : names of packages, modules or functions, such as ``radeval_lib.labs.tagging.score``. Calls in
        other threads and processes are not detected.
    name : name of the student's function, for the message.
    """
    calls, prefixes = list[str](), tuple(f"{package}." for package in packages)

    def watch(frame: FrameType, event: str, callee: object) -> None:
        if event == "call":
            module, function = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call":
            module, function = getattr(callee, "__module__", None), getattr(callee, "__qualname__", "")
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
    """Return six random (candidate, reference) pairs that are in no notebook.

    One string of each pair is from ``texts``; the other begins with the same words and ends with the last
    words of another text. The two alternate as the candidate. ``texts`` must have two or more strings of at
    least six words.
    """
    pairs = []
    for number in range(6):
        first, second = (texts[index].split() for index in rng.choice(len(texts), 2, replace=False))
        start, end = first[: rng.integers(3, len(first) - 2)], second[rng.integers(len(second) - 3) :]
        pair = " ".join(start + end), " ".join(first)
        pairs.append(pair if number % 2 else pair[::-1])
    return pairs


def own_or_right(
    function: Callable[..., Any], solution: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """Return the function with which later tasks are marked: ``function`` if plausible, else ``solution``.

    A mistake thus costs marks only in its own task. A function is plausible if it returns the same results
    when called twice, as many as ``solution`` does, and if one of these conditions holds:

    - more than a third of its results are right, and the right results are not all equal;
    - there are four or more results, all numbers, and their correlation with those of ``solution`` is above
      0.9 or below -0.9.

    Parameters
    ----------
    function : the student's function, or anything else, which is never plausible.
    solution : the function of the solved lab; both functions return normalized answers.
    inputs : the arguments of each call; the results of ``solution`` must differ. Each item of a list or
        dictionary counts as a result.
    """
    calls = list(inputs)
    expected = [_flatten(solution(*arguments)) for arguments in calls]
    try:
        results, repeated = ([_flatten(function(*arguments)) for arguments in calls] for _ in range(2))
    except Exception:  # a student's function may raise anything, or not be a function
        return solution
    if results != repeated or list(map(len, results)) != list(map(len, expected)):
        return solution
    pairs = [pair for call in zip(results, expected, strict=True) for pair in zip(*call, strict=True)]
    hits = [result for result, expected_result in pairs if result == expected_result]
    is_plausible = len(hits) > _RIGHT_SHARE * len(pairs) and len(set(hits)) > 1
    if not is_plausible and len(pairs) > 3 and all(type(part) is float for pair in pairs for part in pair):
        with np.errstate(all="ignore"):  # the correlation is NaN for constant or infinite numbers
            is_plausible = bool(abs(np.corrcoef(np.transpose(pairs))[0, 1]) > _CORRELATION)
    return function if is_plausible else solution


def _flatten(value: Any) -> list[Any]:
    """Return all numbers and strings in a result as a flat list, in order; dictionaries are sorted by key.

    Numbers become floats rounded to six decimals, and NaN becomes the string ``nan``.
    """
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _flatten(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        is_number = isinstance(value, int | float | np.number)
        return [("nan" if np.isnan(value) else round(float(value), 6)) if is_number else value]
    return [part for item in value for part in _flatten(item)]
