"""A lab's marks are for content: made-up answers of the right form get next to nothing.

A cheat here knows each name, form and size that a lab asks for, which is more than a student is given.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import pickle
import random
import re
import symtable
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from types import FunctionType, SimpleNamespace
from typing import Any

import jupytext
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from radeval_lib.labs import building, checks, lab_sources, rng
from radeval_lib.labs.answers import callable_answer, decode, encode, normal
from radeval_lib.labs.earlier_answers import own_or_right
from tests.labs.test_labs import ADA as STUDENT
from tests.labs.test_labs import GRACE, LABS, known

Test = Callable[..., None]
Made = Callable[[Any], Any]
_RANDOM = random.Random(0)


def filled(value: Any, leaf: Made) -> Any:
    """An answer of the same form, made up of what ``leaf`` gives for each number, text and truth value."""
    if leaf is emptied:
        return leaf(value)
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


def emptied(value: Any) -> Any:
    """What holds nothing, so that a test which goes through an answer's parts would find no mistake."""
    return {} if isinstance(value, dict) else [] if np.iterable(value) else None


CHEATS: dict[str, Made] = {
    "nothing": emptied,
    "not a number": constant(math.nan, False, "nan"),
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
}
"""What functions return under the other cheats; what is no function is then made of halves."""


def made_up(value: Any, leaf: Made, raw: Callable[..., Any] | None) -> Any:
    """A cheat's answer in place of a right one."""
    if isinstance(value, Figure):
        return Figure() if leaf is emptied else _drawn(value, leaf)
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
    axes.hist(np.nan_to_num([leaf(0.1) for _ in range(200)]))
    axes.axvline(0)
    axes.set(xlabel="x", ylabel="y", title="t")
    axes.legend()
    return figure


@dataclass
class Task:
    """A task that tests mark: the names that its right answer defines, packages that its functions must not
    call, and its hidden tests."""

    points: float
    names: set[str]
    without: list[str]
    tests: list[Test] = field(default_factory=list)


@cache
def marked(lab: str) -> dict[str, Task]:
    """A lab's tasks, as its source has them."""
    found: dict[str, Task] = {}
    name = ""
    for cell in jupytext.read(lab_sources.find(lab).source).cells:
        tags = cell.metadata.get("tags", [])
        if "hidden-test" in tags:
            made: dict[str, Any] = {}
            exec(cell.source, made)
            found[name].tests += [one for key, one in made.items() if key.startswith("test_")]
        elif cell.cell_type == "code" and "test" not in tags and cell.metadata.get("points"):
            name = cell.metadata["task"]
            without = cell.metadata.get("without", [])
            found[name] = Task(float(cell.metadata["points"]), defined(cell.source), without)
    return found


def defined(source: str) -> set[str]:
    """The names that a cell gives a value to."""
    top = symtable.symtable(source, "cell", "exec").get_symbols()
    return {one.get_name() for one in top if one.is_assigned() or one.is_imported() or one.is_namespace()}


def used(source: str) -> set[str]:
    """The names of the notebook that a cell reads, in its functions too."""
    found, waiting = set[str](), [symtable.symtable(source, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        inside = table.get_type() != "module"
        found |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_referenced() and (one.is_global() or not inside)
        }
    return found


@dataclass(frozen=True)
class Cell:
    """A code cell that is no test; ``task`` is empty where it is given, ``points`` 0 in a stretch task."""

    source: str
    task: str
    points: float


@cache
def cells(lab: str) -> list[Cell]:
    """The cells of a lab in their order, but for that of the id."""
    return [
        Cell(cell.source, cell.metadata.get("task", ""), float(cell.metadata.get("points", 0)))
        for cell in jupytext.read(lab_sources.find(lab).source).cells
        if cell.cell_type == "code"
        and not {"test", "hidden-test"} & {*cell.metadata.get("tags", [])}
        and not cell.source.startswith("student_id =")
    ]


@cache
def solved(lab: str, student: str = STUDENT) -> SimpleNamespace:
    """What a solved lab defines."""
    names: dict[str, Any] = {"student_id": student, "display": lambda *_: None}
    for cell in cells(lab):
        exec(compile(cell.source, lab, "exec"), names)
    plt.close("all")
    return SimpleNamespace(**names)


def run(lab: str, answers: dict[str, str]) -> SimpleNamespace:
    """What a solved lab defines, with some tasks answered otherwise; stretch tasks are left out.

    The cells that are answered otherwise run, and those that read a name which one of these gives a value to.
    """
    every = cells(lab)
    again = {place for place, cell in enumerate(every) if cell.task in answers}
    changed = {name for place in again for name in defined(every[place].source)}
    changed |= {name for code in answers.values() for name in defined(code)}
    left_out = {place for place, cell in enumerate(every) if cell.task and not cell.points}
    while more := {
        place
        for place, cell in enumerate(every)
        if place not in again | left_out and used(cell.source) & changed
    }:
        again |= more
        changed |= {name for place in more for name in defined(every[place].source)}
    lost = changed | {name for place in left_out for name in defined(every[place].source)}
    kept = {
        name for place in {*range(len(every))} - again - left_out for name in defined(every[place].source)
    }
    names = {name: value for name, value in vars(solved(lab)).items() if name in kept or name not in lost}
    for place in sorted(again):
        code = answers.get(every[place].task, every[place].source)
        with contextlib.suppress(NameError):  # what a solution's helpers were for
            exec(compile(code, lab, "exec"), names)
    plt.close("all")
    return SimpleNamespace(**names)


@dataclass(frozen=True)
class Function:
    """A function of a student, as tests call it; ``without`` as in a task."""

    value: Callable[..., Any]
    without: tuple[str, ...] = ()

    def __call__(self, *given: Any, **named: Any) -> Any:
        return callable_answer(self.value, self.without)(*given, **named)


def as_sent(value: Any) -> Any:
    """An answer as it reaches the tests from another process."""
    return Function(value) if callable(value) else decode(encode(normal(value)))


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes once for the same arguments, unless one of them is a source of randomness."""
    known: dict[bytes, bytes] = {}

    def called(*given: Any, **named: Any) -> Any:
        key = _pickled((given, named))
        if key in known:
            return pickle.loads(known[key])
        found = function(*given, **named)
        if key and b"numpy.random" not in key and (kept := _pickled(found)):
            known[key] = kept
        return found

    return called


def _pickled(value: Any) -> bytes:
    with contextlib.suppress(Exception):  # whatever cannot be
        return pickle.dumps(value)
    return b""


@cache
def solution(lab: str) -> SimpleNamespace:
    """What a solved lab defines, for tests, which ask its functions for the same again and again."""
    names = vars(solved(lab)).items()
    own = {name: remembered(one) if isinstance(one, FunctionType) else one for name, one in names}
    return SimpleNamespace(**own)


def earned(lab: str, answers: dict[str, Any]) -> dict[str, float]:
    """The points that hidden tests give for each task; visible checks carry none."""
    points = {}
    for name, task in marked(lab).items():
        passed = [_earns(lab, name, place, answers) for place in range(len(task.tests))]
        points[name] = task.points * sum(passed) / len(passed)
    return points


def _earns(lab: str, name: str, place: int, answers: dict[str, Any]) -> bool:
    """Whether answers pass one of a task's tests: right ones as they did before."""
    right, wanted = right_answers(lab), inspect.signature(marked(lab)[name].tests[place]).parameters
    own = {key for key in wanted if key not in ("student_id", "solution")}
    if all(key in answers and key in right and answers[key] is right[key] for key in own):
        return _right_one_passes(lab, name, place)
    return _passes(lab, name, place, answers)


@cache
def _right_one_passes(lab: str, name: str, place: int) -> bool:
    return _passes(lab, name, place, right_answers(lab))


def _passes(lab: str, name: str, place: int, answers: dict[str, Any]) -> bool:
    task = marked(lab)[name]
    sent = {
        key: replace(value, without=tuple(task.without)) if isinstance(value, Function) else value
        for key, value in answers.items()
    }
    names, test = {**sent, "student_id": STUDENT, "solution": solution(lab)}, task.tests[place]
    try:
        test(**{name: names[name] for name in inspect.signature(test).parameters})
    except Exception:  # a made-up answer may raise anything
        return False
    return True


def answers_of(lab: str, names: SimpleNamespace) -> dict[str, Any]:
    """What tests ask for of what a notebook defines, as far as it can be sent; what is the solution's own, as
    it was sent for that."""
    asked = {
        name
        for task in marked(lab).values()
        for test in task.tests
        for name in inspect.signature(test).parameters
    }
    sent = {}
    right = {} if names is solved(lab) else right_answers(lab)
    for name in asked & vars(names).keys():
        with contextlib.suppress(Exception):  # an answer may be of any kind
            one = sent[name] = as_sent(vars(names)[name])
            if name in right and _is_the_same(one, right[name]):
                sent[name] = right[name]
    return sent


def _is_the_same(one: Any, other: Any) -> bool:
    if isinstance(one, Function) and isinstance(other, Function):
        return one.value is other.value
    return bool(_pickled(one)) and _pickled(one) == _pickled(other)


@cache
def right_answers(lab: str) -> dict[str, Any]:
    return answers_of(lab, solved(lab))


def cheated(lab: str, leaf: Made, raw: Callable[..., Any] | None = None) -> dict[str, float]:
    answers, right = dict(right_answers(lab)), vars(solution(lab))
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
    assert earned(lab, right_answers(lab)) == {name: task.points for name, task in marked(lab).items()}


@pytest.mark.parametrize("lab", LABS)
def test_right_answers_in_other_styles_get_every_point(lab: str) -> None:
    assert known(lab)["styles"]
    for style in known(lab)["styles"]:
        found = earned(lab, answers_of(lab, run(lab, style["answers"])))
        assert found == {name: task.points for name, task in marked(lab).items()}, style["style"]


def of_numpy(value: Any) -> Any:
    """An answer as NumPy would hold it."""
    if isinstance(value, dict):
        return {of_numpy(key): of_numpy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [of_numpy(part) for part in value]
        flat = parts and all(isinstance(part, np.number) for part in parts)
        return np.array(parts) if flat else tuple(parts)
    kinds = {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_}
    return kinds.get(type(value), lambda other: other)(value)


def of_pandas(value: Any) -> Any:
    """An answer in Series and tables, or of exact numbers."""
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


@pytest.mark.parametrize("form", [of_numpy, of_pandas])
@pytest.mark.parametrize("lab", LABS)
def test_right_answers_of_other_types_get_every_point(lab: str, form: Callable[[Any], Any]) -> None:
    answers = dict(right_answers(lab))
    for task in marked(lab).values():
        for name in task.names & answers.keys():
            right = vars(solved(lab))[name]
            if isinstance(right, FunctionType):
                answers[name] = as_sent(lambda *given, _right=right, **named: form(_right(*given, **named)))
            elif not isinstance(right, Figure):
                answers[name] = as_sent(form(answers[name]))
    assert earned(lab, answers) == {name: task.points for name, task in marked(lab).items()}


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
    cheat = known(lab)["cheat"]
    assert cheat.keys() == marked(lab).keys()
    points = earned(lab, answers_of(lab, run(lab, cheat)))
    most = 0.1 * sum(task.points for task in marked(lab).values())
    assert sum(points.values()) <= most, {task: value for task, value in points.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_what_a_package_does_counts_nothing_where_it_is_to_be_written(lab: str) -> None:
    """Nor do results that a package gave before the tests asked."""
    packages = known(lab).get("packages", {})
    assert {name for name, task in marked(lab).items() if task.without} == packages.keys()
    for used in (packages, known(lab).get("other_packages", {})):
        points = earned(lab, answers_of(lab, run(lab, known(lab)["cheat"] | used)))
        assert {task: points[task] for task in used if points[task]} == {}


PREPARED = [lab for lab in LABS if "prepared" in known(lab)]


@pytest.mark.parametrize("lab", PREPARED)
def test_answers_prepared_for_what_a_notebook_shows_get_a_tenth_at_most(lab: str) -> None:
    """A package's results on the student's own data, looked up in a function, and what follows from them: by
    such a function no later task is marked."""
    points = earned(lab, answers_of(lab, run(lab, known(lab)["cheat"] | known(lab)["prepared"])))
    most = 0.1 * sum(task.points for task in marked(lab).values())
    assert sum(points.values()) <= most, {task: value for task, value in points.items() if value}


@pytest.mark.parametrize("lab", LABS)
def test_a_check_calls_each_function_that_is_to_be_written(lab: str) -> None:
    """So that a student is told where it calls a package, before hidden tests say so."""
    for task in lab_sources.tasks(lab_sources.find(lab)):
        if task.without:
            own = {name for name in marked(lab)[task.name].names if callable(vars(solved(lab))[name])}
            hidden, shown = (
                {
                    name
                    for test in task.tests
                    if test.hidden == which
                    for name in re.findall(
                        r"(?<![\w.])\w+", test.source
                    )  # of the student, not `solution.name`
                }
                for which in (True, False)
            )
            assert own & hidden <= shown


@pytest.mark.parametrize("lab", LABS)
def test_each_mistake_costs_its_own_task(lab: str) -> None:
    assert len(known(lab)["wrong"]) >= 3
    for wrong in known(lab)["wrong"]:
        points = earned(lab, answers_of(lab, run(lab, {wrong["task"]: wrong["code"]})))
        lost = {name for name, task in marked(lab).items() if points[name] < task.points}
        assert lost == {wrong["task"]}, wrong["mistake"]


@pytest.mark.parametrize("lab", LABS)
def test_answers_differ_between_students(lab: str) -> None:
    for name in known(lab)["varies"]:
        assert repr(getattr(solved(lab), name)) != repr(getattr(solved(lab, GRACE), name)), name


@pytest.mark.parametrize("lab", LABS)
def test_checks_pass_where_students_run_them(lab: str) -> None:
    names = vars(solved(lab))
    for task in lab_sources.tasks(lab_sources.find(lab)):
        for test in task.tests:
            if not test.hidden:
                made: dict[str, Any] = {}
                exec(test.source, made)
                get = partial(checks.local, names, without=task.without)
                assert checks.outcome(made[test.name], get, hidden=False) is None, test.name


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
    every = building.versions(lab_sources.find(lab))["student"].cells
    shown = "\n".join(cell.source for cell in every if "def test_" not in cell.source)
    for task in marked(lab).values():
        wanted = {name for test in task.tests for name in inspect.signature(test).parameters}
        for name in wanted - {"solution", "student_id"}:
            assert re.search(rf"`{name}`|^(?:def )?{name}\b|^{name},|, {name} =", shown, re.MULTILINE), name


@pytest.mark.parametrize("lab", LABS)
def test_stretch_tasks_change_nothing_that_tests_read(lab: str) -> None:
    """Who leaves them out has the same answers as the solution."""
    source = jupytext.read(lab_sources.find(lab).source).cells
    hidden = [cell.source for cell in source if "hidden-test" in cell.metadata.get("tags", [])]
    read = {name for source in hidden for name in re.findall(r"\bsolution\.(\w+)", source)}
    tests = [test for task in marked(lab).values() for test in task.tests]
    read |= {name for test in tests for name in inspect.signature(test).parameters}
    assert not read & {
        name for cell in cells(lab) if cell.task and not cell.points for name in defined(cell.source)
    }


NOISE = {
    "bootstrap": """
by_case = rng.normal(stats.kendalltau(scores["rouge_l"], quality).statistic, 0.04, 1000)
by_pair = rng.normal(stats.kendalltau(scores["rouge_l"], quality).statistic, 0.03, 1000)
interval = np.percentile(by_case, [2.5, 97.5])
""",
    "lead": """
one, other = (stats.kendalltau(scores[name], quality).statistic for name in ("rouge_l", "meteor"))
leads = rng.normal(one - other, 0.03, 1000)
lead_interval = np.percentile(leads, [2.5, 97.5])
told_apart = bool(lead_interval[0] > 0 or lead_interval[1] < 0)
""",
    "figure": """
figure, axes = plt.subplots()
axes.bar([-9, 0, 9], [1e-6, 1000, 1e-6], width=[1, 4, 1])
axes.hist(leads, bins=20)
axes.axvline(0)
axes.set(xlabel="lead")
""",
}
PAIRS = """
tau = lambda name, rows: stats.kendalltau(scores[name][rows], quality[rows]).statistic
leads = [tau("rouge_l", rows) - tau("meteor", rows) for rows in drawn_pairs]
lead_interval = np.percentile(leads, [2.5, 97.5])
told_apart = bool(lead_interval[0] > 0 or lead_interval[1] < 0)
"""
LINES_OF_NOTHING = """
figure, axes = plt.subplots()
for k in range(5, 11):
    axes.plot(np.linspace(0, 1, k), [0] * k)
axes.plot([0, 1], [0, 1])
axes.set(xlabel="Mean confidence", ylabel="Accuracy")
diagnosis = "too sure" if confidence.mean() > correct.mean() else "not sure enough"
"""
EXCHANGED = """
figure, axes = plt.subplots()
rows = bin_rows(confidence, correct)
axes.plot([row[2] for row in rows], [row[1] for row in rows], "o-")
axes.plot([0, 1], [0, 1])
axes.set(xlabel="Accuracy", ylabel="Mean confidence")
diagnosis = "too sure" if np.mean([row[1] - row[2] for row in rows]) > 0 else "not sure enough"
"""


def test_resamples_that_nobody_drew_get_nothing_and_wrong_ones_what_follows_from_them() -> None:
    lab = "how_sure_is_a_correlation"
    made = earned(lab, answers_of(lab, run(lab, NOISE)))
    assert {task: made[task] for task in NOISE} == dict.fromkeys(NOISE, 0)
    wrong = earned(lab, answers_of(lab, run(lab, {"lead": PAIRS})))
    assert (wrong["lead"], wrong["figure"]) == (1.5, 2)


def test_a_diagram_of_nothing_gets_nothing_and_one_on_its_side_its_diagonal_and_reading() -> None:
    lab = "confidence_one_can_trust"
    assert earned(lab, answers_of(lab, run(lab, {"figure": LINES_OF_NOTHING})))["figure"] == 0
    assert earned(lab, answers_of(lab, run(lab, {"figure": EXCHANGED})))["figure"] == 2


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

    def steady(x: int) -> float:
        return float("nan") if x == 0 else x

    assert own_or_right(steady, right, inputs) is steady
