"""Answers reach visible checks and hidden tests in one form, whatever library they come from."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
from collections import Counter, OrderedDict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from radeval_lib.labs import PLACEHOLDER, checks, known_id, seed
from radeval_lib.labs.answers import AnswerError, callable_answer, decode, encode, normal
from radeval_lib.labs.by_hand import BorrowedError, spliced
from radeval_lib.labs.checks import StudentError
from radeval_lib.labs.judge import StudentChannel


@dataclass
class Row:
    lower: float
    upper: np.float64


Pair = namedtuple("Pair", "a b")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner) | st.sets(st.integers())
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(2.5), 2.5),
        (Fraction(1, 4), 0.25),
        (Decimal("0.25"), 0.25),
        ([Fraction(1, 2), np.float32(0.5)], [0.5, 0.5]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([Fraction(1, 2)], dtype=object), [0.5]),
        ((1, (2, 3)), [1, [2, 3]]),
        (range(3), [0, 1, 2]),
        ({"b", "a"}, ["a", "b"]),
        ({(1, 2): np.int64(1)}, {(1, 2): 1}),
        ({np.int64(3): 1}, {3: 1}),
        ({1: "a"}.items(), [[1, "a"]]),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (Row(1, np.float64(2)), {"lower": 1, "upper": 2.0}),
        (Pair(1, 2), [1, 2]),
        (pd.Series([0.1, 0.2]), [0.1, 0.2]),
        (pd.Series([0.1, 0.2], index=[7, 3]), [0.1, 0.2]),
        (pd.Series({"one": 1, "six": 2}), {"one": 1, "six": 2}),
        (pd.Index([1, 2]), [1, 2]),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 6]), {"a": [1, 2], "b": ["x", "y"]}),
        (pd.DataFrame({"a": [1], "b": [2]}).set_index("a"), {"a": [1], "b": [2]}),
        (pd.NA, None),
    ],
)
def test_answers_of_any_library_have_one_form(answer: Any, wanted: Any) -> None:
    found = normal(answer)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    "answer", [..., [1, ...], {"a": ...}, object(), (n for n in range(3)), map(str, [1]), b"a", 1j, print]
)
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    with pytest.raises(AnswerError):
        normal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        pd.Series([1, 2], index=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame({"a": [1]}, index=pd.Index([2], name="a")),
        {frozenset([1]): 2, (1,): 3},
    ],
)
def test_of_two_values_with_one_label_none_is_lost(answer: Any) -> None:
    with pytest.raises(AnswerError, match="two of its values have the label"):
        normal(answer)


def test_axes_are_their_figure() -> None:
    axes = Figure().subplots()
    axes.plot([0, 1], [2, 3])
    assert normal(axes) == normal(axes.figure)
    assert normal(axes)["axes"][0]["lines"] == [[[0, 2], [1, 3]]]


@given(VALUES)
def test_nothing_is_lost_between_processes(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value)))) == value


@pytest.mark.parametrize("array", [[1, 2], [[0.5], [1]], [True], ["a", "bc"], [], "a", 3, [None, 1]])
def test_arrays_stay_what_they_are_between_processes(array: Any) -> None:
    for value in (np.array(array), np.array(array, dtype=object)):
        found = decode(json.loads(json.dumps(encode(value))))
        assert (found.shape, found.tolist()) == (value.shape, value.tolist())


@pytest.mark.parametrize(
    "described",
    ["(1,)f8", "(1,1)f8", "(0,)i4", "f8,f8", "V8", "M8[s]", "S3", "c16", "no type", 8, ["f8"], None],
)
def test_arrays_of_another_form_are_refused(described: Any) -> None:
    forged = {"\0kind": "array", "items": [], "dtype": described}
    with pytest.raises((ValueError, TypeError)):
        decode(forged)


def test_a_texts_width_is_its_own() -> None:
    assert decode({"\0kind": "array", "items": ["a"], "dtype": "<U100000000"}).itemsize == 4


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ({"\0kind": "array", "items": [], "dtype": "f8"}, []),
        ({"\0kind": "set", "items": [2, 1]}, [1, 2]),
        ([1, {"a": 2.5}], [1, {"a": 2.5}]),
    ],
)
def test_a_judge_sees_the_one_form_whatever_was_sent(sent: Any, got: Any) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(json.dumps({"value": {"plain": sent}}).encode() + b"\n")
        assert StudentChannel(ours, 1).get("answer") == got
        theirs.sendall(
            json.dumps({"value": {"plain": {"\0kind": "array", "items": [], "dtype": "(1,)f8"}}}).encode()
            + b"\n"
        )
        with pytest.raises(StudentError, match="could not be read"):
            StudentChannel(ours, 1).get("answer")


@given(VALUES)
def test_the_one_form_is_stable(value: Any) -> None:
    once = normal(value)
    assert normal(once) == once == decode(json.loads(json.dumps(encode(once))))


def test_functions_get_arrays_and_tuples_and_give_the_one_form() -> None:
    def tell(one: Any, *, other: Any) -> Any:
        return {"one": type(one).__name__, "other": type(other).__name__, "mean": np.mean(one)}

    assert callable_answer(tell, ())(np.array([1, 3]), other=(1, 2)) == {
        "one": "ndarray",
        "other": "tuple",
        "mean": 2.0,
    }


def test_functions_cannot_change_what_a_test_holds() -> None:
    held = [1, 2]
    assert callable_answer(lambda items: items.pop(), ())(held) == 2
    assert held == [1, 2]


def test_a_check_says_its_own_message_and_a_hidden_test_no_more() -> None:
    def too_small(answer: Any) -> None:
        """more than three"""
        assert answer > 3, "more than three" if not isinstance(answer, str) else answer

    def of_no_form(answer: Any) -> None:
        answer["a"]

    def calls(function: Any) -> None:
        function("secret")

    def leak(text: str) -> None:
        raise ValueError(text)

    class SecretError(Exception):
        pass

    def leak_by_name(text: str) -> None:
        raise type(text, (SecretError,), {})()

    def said(test: Any, value: Any, hidden: bool) -> str:
        names = {"answer": value, "function": value}
        return checks.outcome(test, lambda name: checks.local(names, name, ()), hidden=hidden) or "passes"

    for hidden in (False, True):
        assert said(too_small, 4, hidden) == "passes"
        assert said(too_small, np.int64(2), hidden).startswith("more than three")
        assert said(too_small, ..., hidden) == "answer: it has no answer yet"
        assert said(of_no_form, 2, hidden).startswith(checks.NOT_OF_THIS_FORM)
    assert said(calls, leak, False) == "ValueError: secret"
    for function in (leak, leak_by_name):
        assert "secret" not in said(calls, function, True)


def test_a_function_that_calls_a_package_is_found_however_it_does() -> None:
    kept, without = json.dumps, ("json",)

    def caught(value: Any) -> Any:
        try:
            return json.dumps(value)
        except Exception:
            return None

    def through(value: Any) -> Any:
        return caught(value)

    def unwatched(value: Any) -> Any:
        sys.setprofile(None)
        return json.dumps(value)

    def in_a_thread(value: Any) -> Any:
        with ThreadPoolExecutor() as pool:
            return pool.submit(json.dumps, value).result()

    def in_a_process(value: Any) -> Any:
        code = f"import json; print(json.dumps({value}))"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    class Late(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return [("a", json.dumps(1))]

    for borrowed in (
        json.dumps,
        lambda value: [kept(one) for one in [value]],
        caught,
        unwatched,
        in_a_thread,
        in_a_process,
        lambda _: Late(),
    ):
        assert callable_answer(borrowed, ())([1]) is not None
        with pytest.raises(BorrowedError, match="write this one yourself"):
            callable_answer(borrowed, without)([1])
    assert callable_answer(lambda values: sum(values), without)([1, 2]) == 3
    for part, seen in (("json.encoder", True), ("json.dumps", True), ("json.dump", False), ("jso", False)):
        called = partial(callable_answer(json.dumps, (part,)), [1])
        if seen:
            with pytest.raises(BorrowedError):
                called()
        else:
            assert called() == "[1]"
    with pytest.raises(BorrowedError, match=r"it calls math\.hypot"):  # which is not written in Python
        callable_answer(math.hypot, ("math",))(3, 4)
    with pytest.raises(BorrowedError, match=r"it calls json in `return json\.dumps\(value\)`: write"):
        callable_answer(through, without)([1])
    with pytest.raises(ZeroDivisionError):
        callable_answer(lambda value: value / 0, without)(1)
    assert sys.getprofile() is None

    def test(function: Any) -> None:
        assert function([1]) == "[1]"

    names = {"function": json.dumps}
    for packages, hidden, said in (
        ((), True, None),
        (without, True, checks.BORROWED),
        (without, False, "BorrowedError: it calls json.dumps: write this one yourself"),
    ):
        get = partial(checks.local, names, without=packages)
        assert checks.outcome(test, get, hidden=hidden) == said


def test_a_function_without_a_body_has_no_answer() -> None:
    def empty(text: str) -> None:
        """What to write."""
        ...

    def test(function: Any) -> None:
        assert function("a") is None

    for function in (empty, lambda _: None):
        for hidden in (False, True):
            get = partial(checks.local, {"function": function}, without=())
            assert checks.outcome(test, get, hidden=hidden) == "it has no answer yet"
    for function in (lambda text: None if text else 1, lambda text: print(end="")):
        assert (
            checks.outcome(test, partial(checks.local, {"function": function}, without=()), hidden=False)
            is None
        )


def test_ids_are_texts_or_whole_numbers() -> None:
    assert known_id(" Ada ") == "Ada"
    assert known_id(17) == known_id(np.int64(17)) == known_id(17.0) == known_id("17") == "17"
    assert seed(17) == seed("17")
    assert seed("ADA") == seed("ada")
    assert known_id(PLACEHOLDER) == PLACEHOLDER
    for wrong in (..., None, True, 1.5, float("nan"), [], "", " ", "a\nb", "x" * 81, b"ada"):
        with pytest.raises(ValueError, match="an id is a text"):
            known_id(wrong)


def test_spliced_texts_are_new_and_go_both_ways() -> None:
    texts = [f"a{n} b{n} c{n} d{n} e{n} f{n} g{n}" for n in range(5)]
    made = spliced(texts, np.random.default_rng(0))
    assert made == spliced(texts, np.random.default_rng(0)) != spliced(texts, np.random.default_rng(1))
    for one, two in made:
        assert (one in texts) != (two in texts)
        assert one.split()[:3] == two.split()[:3]
    assert {one in texts for one, _ in made} == {True, False}
