"""A lab's marks are for content: made-up answers of the right form get next to nothing.

A cheat here knows each name, form and size that a lab asks for, which is more than a student is given.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from otter.nbmeta_config import NBMetadataConfig
from otter.test_files import create_test_file

from radeval_lib.labs.student import plain
from tests.labs.test_labs import ADA, LABS, solved, tasks, versions

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


def defined(lab: str) -> Iterator[tuple[str, set[str]]]:
    """Each task that tests mark, and the names that its answer defines."""
    cells = [cell.source for cell in versions(lab)["instructor"].cells]
    for task in tasks(lab):
        body = ast.parse(cells[cells.index(f'grader.check("{task}")') - 1]).body
        names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(ast.Module([one for one in body if not isinstance(one, ast.FunctionDef)], [])):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
        yield task, names


def as_sent(value: Any) -> Any:
    """A value as it reaches the tests from another process."""
    return value if callable(value) else json.loads(json.dumps(value, default=plain))


def earned(lab: str, answers: dict[str, Any]) -> dict[str, float]:
    """The points that hidden tests give for each task; visible checks carry none."""
    config = NBMetadataConfig.from_notebook(versions(lab)["grader"])
    names = {**answers, "student_id": ADA, "solution": solved(lab, ADA)}
    points = {}
    for task, possible in tasks(lab).items():
        test = create_test_file("grader.ipynb", config, task)
        test.run(names)
        hidden = [one.passed for one in test.test_case_results if one.test_case.hidden]
        points[task] = possible * sum(hidden) / len(hidden)
    return points


def right_answers(lab: str) -> dict[str, Any]:
    return {
        name: as_sent(value)
        for name, value in vars(solved(lab, ADA)).items()
        if not isinstance(value, ModuleType) and not name.startswith("_") and _sendable(value)
    }


def _sendable(value: Any) -> bool:
    try:
        as_sent(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def cheated(lab: str, leaf: Made, raw: Callable[..., Any] | None = None) -> dict[str, float]:
    answers = right_answers(lab)
    wanted = vars(solved(lab, ADA))
    for _, names in defined(lab):
        for name in names & answers.keys():
            answers[name] = as_sent(made_up(wanted[name], leaf, raw))
    return earned(lab, answers)


@pytest.mark.parametrize("lab", LABS)
def test_right_answers_get_every_point_of_content(lab: str) -> None:
    assert earned(lab, right_answers(lab)) == tasks(lab)


@pytest.mark.parametrize("lab", LABS)
def test_made_up_answers_get_a_tenth_at_most(lab: str) -> None:
    best = dict.fromkeys(tasks(lab), 0.0)
    made = {name: cheated(lab, leaf) for name, leaf in CHEATS.items()}
    made |= {name: cheated(lab, CHEATS["halves"], raw) for name, raw in RAW.items()}
    most = 0.1 * sum(tasks(lab).values())
    for name, points in made.items():
        assert sum(points.values()) <= most, (name, {task: value for task, value in points.items() if value})
        best = {task: max(best[task], points[task]) for task in best}
    # Whoever picks, for each task, the kind of made-up answer that happens to do best.
    assert sum(best.values()) <= 2 * most, {task: value for task, value in best.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_every_mark_is_for_content(lab: str) -> None:
    """And each hidden test says of its own what is wrong."""
    config = NBMetadataConfig.from_notebook(versions(lab)["grader"])
    messages = []
    for task in tasks(lab):
        hidden = [one for one in create_test_file("grader.ipynb", config, task).test_cases if one.hidden]
        assert hidden, task
        messages += [one.failure_message for one in hidden]
    assert len(set(messages)) == len(messages)
    assert all(message.endswith((".", "?")) and len(message) > 20 for message in messages)


def test_a_task_counts_for_itself_whatever_came_before() -> None:
    from radeval_lib.labs.earlier_answers import own_or_right

    inputs = [(0,), (1,), (2,), (3,)]
    right: Callable[[int], int] = lambda x: x  # noqa: E731
    wrong: Callable[[int], int] = lambda x: 2 * x  # noqa: E731
    assert own_or_right(wrong, right, inputs) is wrong
    for made in (lambda x: 7, lambda x: _RANDOM.random(), lambda x: 1 / x, lambda: 0):
        assert own_or_right(made, right, inputs) is right
