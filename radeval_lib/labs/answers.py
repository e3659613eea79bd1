"""The one form in which answers reach tests, in a student's notebook as in grading.

Tests get numbers, texts, lists and dictionaries, whatever library they come from, so that a check which a
student can run and a hidden test see the same value. :func:`encode` and :func:`decode` carry values between
processes as JSON, and lose neither tuples, sets and arrays of plain values nor keys that are no texts; of an
empty array they keep the axes up to the one of length 0.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from numbers import Integral, Real
from types import CodeType, MappingProxyType
from typing import Any

from radeval_lib.labs.by_hand import by_hand
from radeval_lib.labs.figure_data import figure_facts

NO_ANSWER = "it has no answer yet"
_KIND = "\0kind"
_SEQUENCES: Any = (
    list,
    tuple,
    range,
    deque,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


class AnswerError(TypeError):
    """A value that is no answer: nothing was entered yet, or it is of a type that no test can read."""


def normal(value: Any) -> Any:
    """The form of an answer that tests see.

    Returns
    -------
    None, bool, int, float, str, list or dict
        Lists for tuples, arrays, sets (sorted) and Series with numbers as labels; dictionaries for
        dataclasses, Series with other labels and tables (their columns, named indices included); floats for
        fractions and decimals; what :func:`radeval_lib.labs.figure_data.figure_facts` finds for figures.

    Raises
    ------
    AnswerError
        For anything else, and where two values have one label (a repeated index or column), of which a
        dictionary would keep one.
    """
    if value is ...:
        raise AnswerError(NO_ANSWER)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real | Decimal):
        return float(value)
    if isinstance(value, Mapping | MappingProxyType):
        return _labelled(value.items())
    if isinstance(value, _SEQUENCES):
        return list(map(normal, value))
    if isinstance(value, Set):
        return _in_order([normal(item) for item in value])
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: normal(getattr(value, field.name)) for field in fields(value)}
    return _of_library(value)


def _of_library(value: Any) -> Any:
    """The same for what pandas, NumPy, torch and matplotlib make."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(value, pandas.DataFrame):
            named = [level for level in value.index.names if level is not None]
            table = value.reset_index(level=named, allow_duplicates=True) if named else value
            return _labelled((name, column.tolist()) for name, column in table.items())
        if isinstance(value, pandas.Series) and not pandas.api.types.is_numeric_dtype(value.index):
            return _labelled(value.items())
        if value is pandas.NA:
            return None
    if hasattr(getattr(value, "figure", None), "savefig"):  # axes know their figure, and a figure itself
        return normal(figure_facts(value))
    if hasattr(value, "tolist"):
        listed = value.tolist()
        if type(listed) is not type(value):
            return normal(listed)
    kind = type(value).__name__
    raise AnswerError(f"a {kind} is not a number, text, list, dictionary, table or figure")


def _labelled(items: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dictionary of what has labels, each of which stands there once."""
    made: dict[Any, Any] = {}
    for key, item in items:
        if (label := _key(key)) in made:
            raise AnswerError(f"two of its values have the label {label!r}")
        made[label] = normal(item)
    return made


def _key(key: Any) -> Any:
    """A dictionary's key, which can be looked up."""
    label = normal(key)
    if isinstance(label, dict):
        raise AnswerError(f"a {type(key).__name__} is no key that a test can look up")
    return tuple(map(_key, label)) if isinstance(label, list) else label


def _in_order(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def callable_answer(value: Any, without: Collection[str]) -> Callable[..., Any]:
    """A function as tests call it: it gets copies of its arguments, and gives its result in normal form.

    ``without`` names packages that it must not call, see :func:`radeval_lib.labs.by_hand.by_hand`. Called, it
    raises an AnswerError where it has no body yet or its result has no normal form, a BorrowedError where it
    calls one of these packages, and whatever the student's code raises.
    """
    code = getattr(value, "__code__", None)
    without_body = code is not None and _does_nothing(code)

    def called(*arguments: Any, **named: Any) -> Any:
        if without_body:
            raise AnswerError(NO_ANSWER)
        arguments, named = decode(encode((arguments, named)))
        with by_hand(without):
            return normal(value(*arguments, **named))

    return called


def _does_nothing(code: CodeType) -> bool:
    """Whether a function has no body but a docstring and ``...``, as students get it."""
    steps = [one for one in dis.get_instructions(code) if one.opname not in ("RESUME", "NOP", "RETURN_VALUE")]
    return all(one.opname in ("LOAD_CONST", "RETURN_CONST") and one.argval is None for one in steps)


def encode(value: Any) -> Any:
    """What stands for a value in JSON; a TypeError for what :func:`decode` could not make again."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | range):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {_KIND: "tuple", "items": [encode(item) for item in value]}
    if isinstance(value, Set):
        return {_KIND: "set", "items": [encode(item) for item in value]}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and key != _KIND for key in value):
            return {str(key): encode(item) for key, item in value.items()}
        return {_KIND: "dict", "items": [[encode(key), encode(item)] for key, item in value.items()]}
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return {_KIND: "array", "items": encode(value.tolist()), "dtype": str(value.dtype)}
    raise TypeError(f"a {type(value).__name__} does not travel between processes")


def decode(value: Any) -> Any:
    """The value that :func:`encode` was given; a ValueError or TypeError for what it never makes."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _KIND not in value:
        return {key: decode(item) for key, item in value.items()}
    kind, items = value[_KIND], decode(value["items"])
    if kind == "tuple":
        return tuple(items)
    if kind == "set":
        return set(items)
    if kind == "dict":
        return {key: item for key, item in items}  # noqa: C416 - a pair that is none is refused
    if kind == "array":
        return _array(items, value["dtype"])
    raise ValueError(f"{kind!r} is no kind of value")


def _array(items: Any, described: object) -> Any:
    """An array of plain numbers, truth values, texts or objects; no description makes it of another shape or
    size than its items have."""
    import numpy as np

    if not isinstance(items, list | bool | int | float | str) or not isinstance(described, str):
        raise ValueError("an array has items and the name of their type")
    kind = np.dtype(described)
    if kind.subdtype is not None or kind.kind not in "biufUO":
        raise ValueError(f"{described!r} is no type of plain values")
    wide = {"U": np.dtype(str), "O": None}  # a text is as wide as it is, not as it is said to be
    return np.array(items, dtype=wide.get(kind.kind, kind))
