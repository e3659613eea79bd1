"""Answers of every type: the right one is recognised in each form, a wrong one never passes, and no error of
a student's code or of a package reaches a test."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import pandas as pd
import pytest

from radeval_lib.labs import checks

NAN, INF = math.nan, math.inf
DIFFERENT = [0, 1, 2.5, INF, -INF, NAN, "1", True, None, [], [1], [[1]], [1, 1], {}, {"a": 1}, {"b": 1}]
LOOP: list[Any] = []
LOOP.append(LOOP)
UNREADABLE: list[Any] = [10**400, Fraction(10**400), Decimal("sNaN"), 1j, b"1", object(), [len], LOOP, ...]
UNREADABLE += [pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.Series([1, 2], index=["a", "a"])]
UNREADABLE += [pd.DataFrame({"a": [1]}, index=pd.Index([3], name="a")), pd.Series([pd.Timestamp("2020")])]


def test_a_right_answer_is_recognised_in_each_form() -> None:
    checks.same(pd.Series([1.0, NAN]), [1, NAN], "it")
    checks.same({float("nan"): 1}, {NAN: 1}, "it")
    checks.same((INF, Decimal("-Infinity")), [INF, -INF], "it")
    checks.same({2.0, 1}, [1, 2], "it")
    checks.same(pd.Series([True, False, True]).value_counts(), {True: 2, False: 1}, "it")
    checks.same(pd.DataFrame({"a": [1]}, index=pd.Index([NAN], name="b")), {"a": [1], "b": [NAN]}, "it")


def test_an_answer_of_another_value_type_or_shape_fails() -> None:
    for came, wanted in permutations(DIFFERENT, 2):
        with pytest.raises(AssertionError, match="the mean is"):
            checks.same(came, wanted, "the mean")


@pytest.mark.parametrize("answer", UNREADABLE)
def test_an_unreadable_answer_is_named(answer: Any) -> None:
    with pytest.raises(checks.AnswerError, match="`mean`"):
        checks.values_of_names({"mean": answer}, ["mean"])
    (mean,) = checks.values_of_names({"mean": lambda: answer}, ["mean"])
    with pytest.raises(checks.AnswerError, match=r"`mean\(...\)`"):
        mean()


@pytest.mark.parametrize("code", ["exit()", "return mean(x)", "raise KeyError('x' * 10**6)", "return x / 0"])
def test_a_failed_check_shows_the_students_line(code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(f"def mean(x):\n    {code}\n", "/tmp/ipykernel_1/1.py", "exec"), names)
    (mean,) = checks.values_of_names(names, ["mean"])
    with pytest.raises(checks.StudentError, match=r"`mean` stopped in line 2 of its cell") as raised:
        mean(1)
    assert len(str(raised.value)) < 500
    with pytest.raises(checks.AnswerError, match="`third`"):
        checks.values_of_names(names, ["third"])
