"""A lab's marks are for content: honest answers in any style get all of them, a mistake costs its own task
and is seen by a check, made-up answers of the right form get next to nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from radeval_lib.labs import report_pairs, seed, sources
from tests.labs.marks import (
    ADA,
    GRACE,
    LABS,
    defined,
    earned,
    full,
    functions,
    known,
    outcomes,
    run,
    solved,
    tasks,
)

Made = Callable[[Any], Any]
_RANDOM = random.Random(0)
UNSEEN = 12
"""How many of all known mistakes may pass every visible check."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some answers write files


def failing(lab: str, env: dict[str, Any]) -> dict[str, list[str]]:
    """Return what tests say, by task, where one fails."""
    text = {name: outcomes(lab, env, False, name) + outcomes(lab, env, True, name) for name in tasks(lab)}
    return {name: list(filter(None, each)) for name, each in text.items() if any(each)}


WORDLESS = ("words_are_not_findings", "student4")  # one of this id's pairs has no word in common


@pytest.mark.parametrize(("lab", "student"), [*product(LABS, [ADA, GRACE]), WORDLESS])
def test_the_solution_passes_every_test_whoever_hands_it_in(lab: str, student: str) -> None:
    assert failing(lab, solved(lab, student)) == {}


@pytest.mark.parametrize("lab", LABS)
def test_right_answers_in_other_styles_pass_every_test(lab: str) -> None:
    for style in known(lab)["styles"]:
        assert failing(lab, run(lab, style["answers"])) == {}, style["style"]


def of_numpy(value: Any) -> Any:
    """Return an answer as NumPy would hold it."""
    if isinstance(value, dict):
        return {of_numpy(key): of_numpy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [of_numpy(part) for part in value]
        flat = parts and all(isinstance(part, np.number) for part in parts)
        return np.array(parts) if flat else tuple(parts)
    kinds = {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_}
    return kinds.get(type(value), lambda other: other)(value)


def of_pandas(value: Any) -> Any:
    """Return an answer in Series and tables, or of exact numbers."""
    if isinstance(value, dict):
        parts = list(value.values())
        if parts and all(isinstance(key, str) for key in value):
            if all(isinstance(part, int | float | str) for part in parts):
                return pd.Series(value)
            if all(isinstance(part, list) for part in parts) and len(set(map(len, parts))) == 1:
                return pd.DataFrame(value)
        return {key: of_pandas(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        flat = value and all(type(part) in (int, float, bool) for part in value)
        return pd.Series(value) if flat else [of_pandas(part) for part in value]
    return Fraction(value) if type(value) is float and math.isfinite(value) else value


def answers(lab: str) -> dict[str, Any]:
    """Return the names that a lab's tasks define, with their right values."""
    names = {name for task in tasks(lab).values() for name in defined(task.answer.source)}
    return {name: solved(lab)[name] for name in names if name in solved(lab)}


@pytest.mark.parametrize("form", [of_numpy, of_pandas])
@pytest.mark.parametrize("lab", LABS)
def test_right_answers_of_other_types_pass_every_test(lab: str, form: Callable[[Any], Any]) -> None:
    env = dict(solved(lab))
    for name, right in answers(lab).items():
        if isinstance(right, FunctionType):
            env[name] = lambda *given, _right=right, **named: form(_right(*given, **named))
        elif isinstance(right, dict | list | tuple | float | int | str):
            env[name] = form(right)
    assert failing(lab, env) == {}


@pytest.mark.parametrize("lab", LABS)
def test_each_mistake_costs_its_own_task(lab: str) -> None:
    for wrong in known(lab)["wrong"]:
        points = earned(lab, run(lab, {wrong["task"]: wrong["code"]}))
        lost = {name for name, most in full(lab).items() if points[name] < most}
        assert lost == {wrong["task"]}, wrong["mistake"]


def test_visible_checks_catch_most_mistakes() -> None:
    unseen, every = [], 0
    for lab in LABS:
        for wrong in known(lab)["wrong"]:
            env = run(lab, {wrong["task"]: wrong["code"]})
            every += 1
            if not any(outcomes(lab, env, False, wrong["task"])):
                unseen.append((lab, wrong["mistake"]))
    assert every >= 64
    assert len(unseen) <= UNSEEN, unseen


@pytest.mark.parametrize("lab", LABS)
def test_at_least_half_of_a_tasks_tests_are_visible(lab: str) -> None:
    for name, tests in functions(lab).items():
        hidden = sum(is_hidden for is_hidden, _ in tests)
        assert 0 < hidden <= len(tests) / 2, name


@pytest.mark.parametrize("lab", LABS)
def test_hidden_tests_say_what_to_look_at(lab: str) -> None:
    hidden = [
        test for task in tasks(lab).values() for test in task.tests if "hidden-test" in test.metadata["tags"]
    ]
    assert hidden
    assert all("failure_message:" in sources.make_otter_test(test, ()) for test in hidden)


@pytest.mark.parametrize("lab", LABS)
def test_answers_differ_between_students(lab: str) -> None:
    for name in known(lab)["varies"]:
        assert repr(solved(lab)[name]) != repr(solved(lab, GRACE)[name]), name


def filled(value: Any, leaf: Made) -> Any:
    """Return an answer of the same form, made up of what ``leaf`` gives for each number, text and truth
    value."""
    if leaf is emptied:
        return leaf(value)
    if isinstance(value, dict):
        return {key: filled(part, leaf) for key, part in value.items()}
    if isinstance(value, pd.DataFrame):
        return pd.DataFrame(filled(value.to_dict("list"), leaf))
    if isinstance(value, np.ndarray):
        return filled(value.tolist(), leaf)
    if isinstance(value, list | tuple | set):
        return [filled(part, leaf) for part in value]
    return leaf(value)


def constant(number: float, truth: bool, text: str) -> Made:
    def leaf(value: Any) -> Any:
        if isinstance(value, bool | np.bool_):
            return truth
        return text if isinstance(value, str) else number

    return leaf


def at_random(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return _RANDOM.random() < 0.5
    if isinstance(value, str):
        return _RANDOM.choice(("", "a", "B-ANATOMY", "O", "consistent", "holds", "left", "yes"))
    return _RANDOM.randrange(7) if isinstance(value, int | np.integer) else _RANDOM.random()


def emptied(value: Any) -> Any:
    """Return what holds nothing, so that a test which goes through an answer's parts would find no
    mistake."""
    return {} if isinstance(value, dict) else [] if np.iterable(value) else None


CHEATS: dict[str, Made] = {
    "nothing": emptied,
    "not a number": constant(math.nan, False, "nan"),
    "zeros": constant(0, False, ""),
    "ones": constant(1, True, "holds"),
    "halves": constant(0.5, True, "O"),
    "random": at_random,
}
RAW: dict[str, Callable[..., Any]] = {
    "the first argument": lambda *given, **_: given[0] if given else None,
    "the last argument": lambda *given, **_: given[-1] if given else None,
    "None": lambda *_, **__: None,
}
"""What functions return under the other cheats; what is no function is then made of halves."""


def made_up(right: Callable[..., Any], leaf: Made) -> Callable[..., Any]:
    return lambda *given, **named: filled(right(*given, **named), leaf)


@pytest.mark.parametrize("lab", LABS)
def test_made_up_answers_get_a_tenth_at_most(lab: str) -> None:
    most = 0.1 * sum(full(lab).values())
    cheats = [(name, leaf, None) for name, leaf in CHEATS.items()]
    cheats += [(name, CHEATS["halves"], raw) for name, raw in RAW.items()]
    for cheat, leaf, raw in cheats:
        _RANDOM.seed(0)
        env = dict(solved(lab))
        for name, right in answers(lab).items():
            function = isinstance(right, FunctionType)
            env[name] = (raw or made_up(right, leaf)) if function else filled(right, leaf)
        points = earned(lab, env)
        assert sum(points.values()) <= most, (cheat, {task: value for task, value in points.items() if value})


@pytest.mark.parametrize("lab", LABS)
def test_who_knows_what_is_shown_and_no_more_gets_a_tenth_at_most(lab: str) -> None:
    points = earned(lab, run(lab, known(lab)["cheat"]))
    most = 0.1 * sum(full(lab).values())
    assert sum(points.values()) <= most, {task: value for task, value in points.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_what_a_package_does_counts_less_than_half_and_a_check_says_so(lab: str) -> None:
    packages = known(lab).get("packages", {})
    assert {
        name for name, task in tasks(lab).items() if task.answer.metadata.get("without")
    } == packages.keys()
    for task, code in packages.items():
        env = run(lab, {task: code})
        assert earned(lab, env)[task] < full(lab)[task] / 2, task
        assert any(said.startswith("BorrowedError") for said in outcomes(lab, env, False, task)), task


def test_no_tagger_is_tested_on_a_sentence_that_it_has_seen() -> None:
    for student in (ADA, GRACE):
        names = solved("teach_a_model_to_see_entities", student)
        tested = {tuple(words) for part in names["test"].values() for words, _ in part}
        pooled = {style: {tuple(words) for words, _ in pool} for style, pool in names["pools"].items()}
        assert not tested & set().union(*pooled.values())
        assert not {tuple(words) for words in names["ten"]} & pooled["hospital"]


def test_plain_rules_of_the_judge_leave_errors_to_analyse() -> None:
    names = solved("write_a_judge")
    at_the_ceiling = 0
    for number in range(30):
        tough = report_pairs.pairs(40, seed(f"student {number}"), "practice", "tough")
        result = [names["judge"](pair) for pair in tough]
        at_the_ceiling += names["rates"](result, [pair["errors"] for pair in tough])["f1"] > 0.95
    assert at_the_ceiling <= 2
    assert 0.3 < names["board_f1"] < 0.9


def test_an_unknown_part_of_the_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="practise"):
        report_pairs.pairs(1, 0, "practise")
