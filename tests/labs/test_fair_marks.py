"""A lab's marks are for content: made-up answers of the right form get next to nothing.

A cheat here knows each name, form and size that a lab asks for, which is more than a student is given.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import jupytext
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.figure import Figure

from radeval_lib.labs import building, rng
from radeval_lib.labs.answers import callable_answer, decode, encode, normal
from radeval_lib.labs.earlier_answers import own_or_right

LABS = [lab.name for lab in building.labs()]
STUDENT = "ada"
Test = Callable[..., None]
Made = Callable[[Any], Any]
_RANDOM = random.Random(0)


def filled(value: Any, leaf: Made) -> Any:
    """An answer of the same form, made up of what ``leaf`` gives for each number, text and truth value."""
    if isinstance(value, dict):
        return {key: filled(part, leaf) for key, part in value.items()}
    if isinstance(value, pd.DataFrame):
        return pd.DataFrame(filled(value.to_dict("list"), leaf))
    if isinstance(value, np.ndarray):
        return filled(value.tolist(), leaf)
    if isinstance(value, list | tuple):
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


CHEATS: dict[str, Made] = {
    "zeros": constant(0, False, ""),
    "ones": constant(1, True, "holds"),
    "halves": constant(0.5, True, "O"),
    "threes": constant(3, False, "consistent"),
    "random": at_random,
}
RAW: dict[str, Callable[..., Any]] = {
    "the first argument": lambda *given, **_: given[0] if given else None,
    "the last argument": lambda *given, **_: given[-1] if given else None,
    "None": lambda *_, **__: None,
    "True": lambda *_, **__: True,
    "nothing": lambda *_, **__: [],
}
"""What functions return under the other cheats; what is no function is then made of halves."""


def made_up(value: Any, leaf: Made, raw: Callable[..., Any] | None) -> Any:
    """A cheat's answer in place of a right one."""
    if isinstance(value, Figure):
        return _drawn(value, leaf)
    if isinstance(value, FunctionType):
        return raw or (lambda *given, **named: filled(value(*given, **named), leaf))
    return filled(value, leaf)


def _drawn(right: Figure, leaf: Made) -> Figure:
    """A figure with names for everything, points of a cheat, and the lines that labs ask for."""
    figure = Figure()
    axes = figure.subplots()
    points = [[leaf(0.1), leaf(0.1)] for _ in range(80)]
    axes.scatter(*zip(*points, strict=True), label="a")
    axes.plot([0, 1], [0, 1], label="b")
    axes.hist([leaf(0.1) for _ in range(200)])
    axes.axvline(0)
    axes.set(xlabel="x", ylabel="y", title="t")
    axes.legend()
    return figure


@dataclass
class Task:
    """A task that tests mark: the names that its right answer defines, and its hidden tests."""

    points: float
    names: set[str]
    tests: list[Test] = field(default_factory=list)


@cache
def marked(lab: str) -> dict[str, Task]:
    """A lab's tasks, as its source has them."""
    found: dict[str, Task] = {}
    name = ""
    for cell in jupytext.read(building.find(lab).source).cells:
        tags = cell.metadata.get("tags", [])
        if "hidden-test" in tags:
            made: dict[str, Any] = {}
            exec(cell.source, made)
            found[name].tests += [one for key, one in made.items() if key.startswith("test_")]
        elif cell.cell_type == "code" and "test" not in tags and cell.metadata.get("points"):
            name = cell.metadata["task"]
            found[name] = Task(float(cell.metadata["points"]), set(_defined(ast.parse(cell.source).body)))
    return found


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.FunctionDef):
            yield one.name
            continue
        for node in ast.walk(one):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def run(lab: str, answers: dict[str, str]) -> SimpleNamespace:
    """What a solved lab defines, with some tasks answered otherwise."""
    names: dict[str, Any] = {"student_id": STUDENT, "display": lambda *_: None}
    for cell in jupytext.read(building.find(lab).source).cells:
        given = cell.cell_type == "code" and not {"test", "hidden-test"} & {*cell.metadata.get("tags", [])}
        if answers and "task" in cell.metadata and not cell.metadata.get("points"):
            continue  # a stretch task, which students may leave out
        if given and not cell.source.startswith("student_id ="):
            code = answers.get(cell.metadata.get("task", ""), cell.source)
            with contextlib.suppress(NameError if answers else ()):  # what a solution's helpers were for
                exec(compile(code, lab, "exec"), names)
    plt.close("all")
    return SimpleNamespace(**names)


@cache
def solved(lab: str) -> SimpleNamespace:
    """What a solved lab defines."""
    return run(lab, {})


def as_sent(value: Any) -> Any:
    """An answer as it reaches the tests from another process."""
    return callable_answer(value) if callable(value) else decode(encode(normal(value)))


def earned(lab: str, answers: dict[str, Any]) -> dict[str, float]:
    """The points that hidden tests give for each task; visible checks carry none."""
    names = {**answers, "student_id": STUDENT, "solution": solved(lab)}
    points = {}
    for name, task in marked(lab).items():
        passed = [_passes(test, names) for test in task.tests]
        points[name] = task.points * sum(passed) / len(passed)
    return points


def _passes(test: Test, names: dict[str, Any]) -> bool:
    try:
        test(**{name: names[name] for name in inspect.signature(test).parameters})
    except Exception:  # a made-up answer may raise anything
        return False
    return True


def answers_of(names: SimpleNamespace) -> dict[str, Any]:
    """What can be sent to the tests of what a notebook defines."""
    return {
        name: as_sent(value)
        for name, value in vars(names).items()
        if not isinstance(value, ModuleType) and not name.startswith("_") and _sendable(value)
    }


def _sendable(value: Any) -> bool:
    try:
        as_sent(value)
    except Exception:  # a notebook's names hold whatever a library has
        return False
    return True


def cheated(lab: str, leaf: Made, raw: Callable[..., Any] | None = None) -> dict[str, float]:
    answers, right = answers_of(solved(lab)), vars(solved(lab))
    _RANDOM.seed(0)  # a random answer is the same in whatever order the tests run
    for task in marked(lab).values():
        for name in task.names & answers.keys():
            answers[name] = as_sent(made_up(right[name], leaf, raw))
    return earned(lab, answers)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some answers write files


@pytest.mark.parametrize("lab", LABS)
def test_right_answers_get_every_point_of_content(lab: str) -> None:
    assert earned(lab, answers_of(solved(lab))) == {name: task.points for name, task in marked(lab).items()}


@pytest.mark.parametrize("lab", LABS)
def test_right_answers_in_other_styles_get_every_point(lab: str) -> None:
    known = yaml.safe_load((Path(__file__).parent / f"{lab}.yml").read_text(encoding="utf-8"))
    assert known["styles"]
    for style in known["styles"]:
        found = earned(lab, answers_of(run(lab, style["answers"])))
        assert found == {name: task.points for name, task in marked(lab).items()}, style["style"]


@pytest.mark.parametrize("lab", LABS)
def test_made_up_answers_get_a_tenth_at_most(lab: str) -> None:
    made = {name: cheated(lab, leaf) for name, leaf in CHEATS.items()}
    made |= {name: cheated(lab, CHEATS["halves"], raw) for name, raw in RAW.items()}
    most = 0.1 * sum(task.points for task in marked(lab).values())
    for name, points in made.items():
        assert sum(points.values()) <= most, (name, {task: value for task, value in points.items() if value})
    # Whoever picks, for each task, the kind of made-up answer that happens to do best.
    best = {task: max(points[task] for points in made.values()) for task in marked(lab)}
    assert sum(best.values()) <= most, {task: value for task, value in best.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_a_cheat_who_knows_what_is_shown_gets_a_tenth_at_most(lab: str) -> None:
    """Answers that pass what a student sees, guesses at what the text hints at, and made-up answers that
    agree with each other: a figure of invented values, an interval of them, a verdict on them."""
    cheat = yaml.safe_load((Path(__file__).parent / f"{lab}.yml").read_text(encoding="utf-8"))["cheat"]
    assert cheat.keys() == marked(lab).keys()
    points = earned(lab, answers_of(run(lab, cheat)))
    most = 0.1 * sum(task.points for task in marked(lab).values())
    assert sum(points.values()) <= most, {task: value for task, value in points.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_every_mark_is_for_content_and_every_hidden_test_says_what_is_wrong(lab: str) -> None:
    tests = [test for task in marked(lab).values() for test in task.tests]
    assert all(task.tests for task in marked(lab).values())
    messages = [" ".join((test.__doc__ or "").split()) for test in tests]
    assert len(set(messages)) == len(messages)
    assert all(message.endswith((".", "?")) and len(message) > 20 for message in messages)


@pytest.mark.parametrize("lab", LABS)
def test_names_that_a_task_wants_are_in_its_text(lab: str) -> None:
    """Or defined in what a student is given: nobody has to guess a name from a check."""
    cells = building.versions(building.find(lab))["student"].cells
    shown = "\n".join(cell.source for cell in cells if "def test_" not in cell.source)
    for task in marked(lab).values():
        wanted = {name for test in task.tests for name in inspect.signature(test).parameters}
        for name in wanted - {"solution", "student_id"}:
            assert re.search(rf"`{name}`|^(?:def )?{name}\b|^{name},|, {name} =", shown, re.MULTILINE), name


@pytest.mark.parametrize("lab", LABS)
def test_stretch_tasks_change_nothing_that_tests_read(lab: str) -> None:
    """Who leaves them out has the same answers as the solution."""
    cells = jupytext.read(building.find(lab).source).cells
    hidden = [cell.source for cell in cells if "hidden-test" in cell.metadata.get("tags", [])]
    read = {name for source in hidden for name in re.findall(r"\bsolution\.(\w+)", source)}
    tests = [test for task in marked(lab).values() for test in task.tests]
    read |= {name for test in tests for name in inspect.signature(test).parameters}
    for cell in cells:
        if cell.cell_type == "code" and "task" in cell.metadata and not cell.metadata.get("points"):
            assert not read & set(_defined(ast.parse(cell.source).body))


def test_a_task_counts_for_itself_whatever_came_before() -> None:
    inputs = [(0,), (1,), (2,), (3,)]
    draw = rng(STUDENT, "made up")

    def right(x: int) -> int:
        return x

    def wrong(x: int) -> int:
        return 2 * x

    assert own_or_right(wrong, right, inputs) is wrong
    for made in (lambda x: 7, lambda x: draw.random(), lambda x: 1 / x, lambda: 0):
        assert own_or_right(made, right, inputs) is right
