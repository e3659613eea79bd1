"""What students get holds neither solutions nor hidden tests; every lab has the parts that a lab has."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import matplotlib as mpl
import nbformat
import numpy as np
import pytest
import seaborn as sns
from click.testing import CliRunner
from matplotlib.figure import Figure

from radeval_lib.cli import main
from radeval_lib.errors import NotebookError
from radeval_lib.labs import building, figure_data, lab_sources, rng, seed
from radeval_lib.pipeline import lab_pages
from tests.labs.test_labs import LABS, versions

SOLUTION = re.compile(r"# BEGIN SOLUTION.*?\n(.*?)# END SOLUTION", re.DOTALL)
HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# Title

"""


def source(lab: str) -> nbformat.NotebookNode:
    return jupytext.read(lab_sources.find(lab).source)


@cache
def staged() -> dict[str, str]:
    return dict(lab_pages.staged())


@pytest.mark.parametrize("lab", LABS)
def test_students_get_no_solution_and_no_hidden_test(lab: str) -> None:
    handed_out = [building.as_file(versions(lab)["student"])]
    handed_out += [text for name, text in staged().items() if lab in name]
    secrets = []
    for cell in source(lab).cells:
        if "hidden-test" in cell.metadata.get("tags", []):
            secrets += re.findall(r"^def \w+\(", cell.source, re.MULTILINE)
        elif cell.metadata.get("task"):
            hidden = SOLUTION.findall(cell.source) if cell.cell_type == "code" else [cell.source]
            secrets += [
                line.strip() for part in hidden for line in part.splitlines() if len(line.strip()) > 30
            ]
    assert len(secrets) > 10
    for text in handed_out:
        cells = nbformat.reads(text, as_version=4)
        shown = "\n".join(cell.source for cell in cells.cells) + str(cells.metadata)
        assert not [secret for secret in secrets if secret in shown]
        assert not re.search(r"SOLUTION|HIDDEN|hidden=True", text)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("def f(x):\n    return x + 1  # SOLUTION", "line 2: a mark .*: 'return x \\+ 1  # SOLUTION'"),
        ("y=3  # SOLUTION", "line 1: a mark"),
        ("d[a == 1] = 5  # SOLUTION", "line 1: a mark"),
        ("x = (1,  # SOLUTION\n     2)", "line 1: a mark"),
        ("x = 1  # solution", "line 1: a mark"),
        ("# BEGIN SOLUTION\nx = 1", "line 1: a mark"),
        ("x = 1\n# END SOLUTION", "line 2: a mark"),
        ("# BEGIN SOLUTION \nx = 1\n# END SOLUTION", "line 1: a mark"),
        ("# BEGIN SOLUTION\nx = 1\n# END SOLUTION \n", "line 1: a mark"),
        ("# begin solution\nx = 1\n# end solution", "line 1: a mark"),
        ("if 1:\n\t# BEGIN SOLUTION\n\tx = 1\n\t# END SOLUTION", "line 2: a mark"),
        ("# BEGIN SOLUTION\nx = 1\n# BEGIN SOLUTION\ny = 1\n# END SOLUTION", "line 3: a mark"),
        ("x = 1", "cell 2: task 'answer' has no solution to take out"),
        (
            "def f():\n    # BEGIN SOLUTION NO PROMPT\n    return 1\n    # END SOLUTION\ny = 2",
            "line 5: no Python without its solution: expected an indented block",
        ),
        (
            "# BEGIN SOLUTION\nx = (1,\n# END SOLUTION\n2)",
            "line 4: no Python without its solution: unmatched",
        ),
        ("y = 2\n# BEGIN SOLUTION\nx = = 1\n# END SOLUTION", "line 3: no Python with its solution"),
    ],
)
def test_a_mark_that_would_hand_out_a_solution_is_refused(
    answer: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_sources, "LABS", tmp_path)
    lab = lab_sources.Lab(1, "own", "Title")
    cell = "```{{code-cell}}\n---\ntask: answer\n---\n{}\n```\n"
    lab.source.write_text(HEADER + cell.format("# BEGIN SOLUTION\nx = 1\n# END SOLUTION"), encoding="utf-8")
    made = {name: notebook.cells[-1].source for name, notebook in building.versions(lab).items()}
    assert made == {"student": "...", "instructor": "x = 1", "grader": "x = 1"}
    lab.source.write_text(HEADER + cell.format(answer), encoding="utf-8")
    with pytest.raises(NotebookError, match=f"own.md, cell 2.*{said.removeprefix('cell 2')}"):
        building.versions(lab)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("# BEGIN SOLUTION\nx = 1\n# END SOLUTION", "cell 2, line 1: a mark of a solution"),
        ("def test_x():\n    assert 1", "a test that has no tag: 'test_x'"),
    ],
)
def test_what_students_are_given_holds_no_solution_and_no_test(
    given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_sources, "LABS", tmp_path)
    lab = lab_sources.Lab(1, "own", "Title")
    lab.source.write_text(f"{HEADER}```{{code-cell}}\n{given}\n```\n", encoding="utf-8")
    with pytest.raises(NotebookError, match=said):
        building.versions(lab)


@pytest.mark.parametrize("lab", LABS)
def test_every_lab_has_its_parts(lab: str) -> None:
    text = lab_sources.find(lab).source.read_text(encoding="utf-8")
    for part in ("Objectives", "You need", "Time", "Read first", "Data"):
        assert f"| **{part}** |" in text
    assert "\n| Part | In this lab |\n| --- | --- |\n| **Objectives** |" in text
    assert "<details>" in text
    assert "## Stretch" in text
    assert "\n## References\n" in text
    described = versions(lab)["grader"].metadata["lab"]["tasks"]
    assert 6 <= len(described) <= 10
    assert [task["points"] for task in described if task["written"]]
    assert '\nstudent_id = "your id"' in text


def test_a_lab_without_a_kernel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_sources, "LABS", tmp_path)
    lab = lab_sources.Lab(1, "own", "Title")
    lab.source.write_text("# Title\n", encoding="utf-8")
    with pytest.raises(NotebookError, match=r"own.md: no kernelspec in its header"):
        building.versions(lab)


def test_every_lab_source_has_its_place_in_the_contents() -> None:
    assert {path.stem for path in lab_sources.LABS.glob("*.md")} == set(LABS)
    assert lab_sources.find("1").name == LABS[0]
    with pytest.raises(NotebookError, match="there is no lab 'x'"):
        lab_sources.find("x")


def test_builds_repeat_and_start_keeps_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = lab_sources.find("1")
    building.build(lab, tmp_path)
    first = (tmp_path / "student" / f"{lab.name}.ipynb").read_bytes()
    building.build(lab, tmp_path)
    assert (tmp_path / "student" / f"{lab.name}.ipynb").read_bytes() == first
    monkeypatch.setattr(building, "WORK", tmp_path / "mine")
    mine = tmp_path / "mine" / f"{lab.name}.ipynb"
    assert CliRunner().invoke(main, ["labs", "start", "1"]).exit_code == 0
    assert mine.read_bytes() == first
    mine.write_text("my work")
    assert CliRunner().invoke(main, ["labs", "start", lab.name]).exit_code == 0
    assert mine.read_text() == "my work"


def test_a_folder_without_notebooks_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    output = str(tmp_path / "grades.csv")
    done = CliRunner().invoke(main, ["labs", "grade", str(tmp_path / "none"), "--output", output])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)


def test_seeds_belong_to_students() -> None:
    assert seed("Ada ") == seed("ada") != seed("grace")
    assert rng("ada", "a").random() == rng("ada", "a").random() != rng("ada", "b").random()


def test_a_figure_tells_what_it_shows() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [2, 3], label="line")
    axes.scatter([4], [5])
    axes.bar([0, 1], [6, 7])
    axes.set(xlabel="x", ylabel="y", title="t")
    axes.legend()
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert (told["lines"], told["points"], told["bars"]) == ([[[0, 2], [1, 3]]], [[[4, 5]]], [6, 7])
    assert (told["xlabel"], told["ylabel"], told["title"], told["legend"]) == ("x", "y", "t", ["line"])
    assert figure_data.figure_facts({"axes": []}) == {"axes": []}


def test_bars_lie_and_stand_each_in_their_own_call() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.barh([1, 2], [3, 4])
    axes.bar([1, 2], [5, 6])
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert told["bars"] == [3, 4, 5, 6]


@pytest.mark.parametrize("place", ["left", "center", "right"])
def test_a_title_counts_wherever_it_stands(place: str) -> None:
    with mpl.rc_context({"axes.titlelocation": place}):
        figure = Figure()
        figure.subplots().set_title("t")
        (told,) = figure_data.figure_facts(figure)["axes"]
    assert told["title"] == "t"


VALUES = rng("ada", "histogram").normal(size=300)


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: axes.hist(VALUES, bins=15),
        lambda axes: axes.hist(VALUES, bins=15, density=True),
        lambda axes: axes.hist(VALUES, bins=15, weights=[1 / 300] * 300),
        lambda axes: axes.hist(VALUES, bins=15, histtype="step"),
        lambda axes: axes.hist(VALUES, bins=15, histtype="stepfilled", density=True),
        lambda axes: axes.hist(VALUES, bins=[-4, -2, -1, 0, 0.5, 1, 4], density=True),
        lambda axes: axes.hist(VALUES, bins=15, orientation="horizontal"),
        lambda axes: axes.hist(VALUES, bins=15, orientation="horizontal", histtype="step"),
        lambda axes: [axes.hist(VALUES + shift, bins=15) for shift in (2, 0, 1)],
        lambda axes: [axes.barh(["a", "b"], [1, 2]), axes.hist(VALUES, bins=15)],
        lambda axes: [axes.hist(VALUES, bins=np.linspace(*ends, 9)) for ends in ((-4, 0), (0, 4))],
        lambda axes: sns.histplot(y=VALUES, bins=15, element="step", fill=False, ax=axes),
        lambda axes: axes.stairs(*np.histogram(VALUES, bins=15)),
        lambda axes: axes.step(np.histogram(VALUES, 15)[1][:-1], np.histogram(VALUES, 15)[0], where="post"),
        lambda axes: axes.bar(
            np.histogram(VALUES, 15)[1][:-1],
            np.histogram(VALUES, 15)[0],
            width=np.diff(np.histogram(VALUES, 15)[1]),
            align="edge",
        ),
    ],
)
def test_a_histogram_counts_in_any_of_matplotlibs_ways(draw: Callable[[Any], object]) -> None:
    figure = Figure()
    draw(figure.subplots())
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_histogram(axes, VALUES)
    assert not figure_data.shows_histogram(axes, VALUES**2)


_SHARES = np.append(rng("ada", "shares").uniform(size=300) ** 2, [0, 1])
_HEIGHTS, _EDGES = np.histogram(_SHARES, 10)


@pytest.mark.parametrize(
    "draw",
    [
        *(
            lambda axes, way=way, shown=shown: axes.hist(_SHARES, bins=10, orientation=way, histtype=shown)
            for way in ("vertical", "horizontal")
            for shown in ("bar", "step", "stepfilled")
        ),
        lambda axes: axes.hist(_SHARES, bins=np.linspace(-0.1, 1, 12), histtype="step"),  # first bin empty
        lambda axes: axes.hist(
            _SHARES, bins=np.linspace(-0.1, 1, 12), histtype="step", orientation="horizontal"
        ),
        *(
            lambda axes, across=across, fill=fill, shown=shown: sns.histplot(
                **{across: _SHARES}, bins=[0, 0.2, 0.3, 0.6, 1], element=shown, fill=fill, ax=axes
            )
            for across in "xy"
            for fill in (True, False)
            for shown in ("bars", "step")
            if across == "x" or fill  # a line that rises both ways is read along x
        ),
        lambda axes: axes.step(_EDGES, [*_HEIGHTS, _HEIGHTS[-1]], where="post"),
        lambda axes: axes.step(_EDGES, [_HEIGHTS[0], *_HEIGHTS], where="pre"),
        lambda axes: [axes.fill([], []), axes.hist(_SHARES)],
    ],
)
def test_a_histogram_may_begin_at_0_lie_or_be_seaborns(draw: Callable[[Any], object]) -> None:
    figure = Figure()
    draw(figure.subplots())
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_histogram(axes, _SHARES)
    assert not figure_data.shows_histogram(axes, _SHARES + 1)


def test_values_that_are_none_are_in_no_bin() -> None:
    figure = Figure()
    figure.subplots().hist(VALUES)
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_histogram(axes, [*VALUES, np.nan])
    assert not figure_data.shows_histogram(axes, [])
    assert not figure_data.shows_histogram(axes, [np.nan])


@pytest.mark.parametrize(
    ("counts", "where"),
    [([30, 30, 34, 3, 3], "post"), ([3, 3, 34, 30, 30], "pre"), ([30, 34, 30, 3, 3], "mid")],
)
def test_steps_may_end_in_bins_of_equal_height(counts: list[int], where: str) -> None:
    figure = Figure()
    at = np.arange(5) + {"pre": 1.0, "post": 0.0, "mid": 0.5}[where]
    figure.subplots().step(at, counts, where=where)
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_histogram(axes, np.repeat(np.arange(5) + 0.5, counts))


def test_an_area_under_a_slope_has_no_bins() -> None:
    figure = Figure()
    figure.subplots().fill_between([0, 1, 2, 3, 4, 5], [1, 1, 2, 2, 3, 3])
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert axes["counts"] == []


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: axes.bar([-99, 0, 99], [1e-6, 1000, 1e-6], width=[1, 20, 1]),
        lambda axes: axes.hist(VALUES, bins=[-9, -8, -7, 7, 8, 9]),
        lambda axes: axes.hist(VALUES, bins=[-9, 0, 9]),
    ],
)
def test_bars_that_show_nothing_of_the_values_are_no_histogram(draw: Callable[[Any], object]) -> None:
    figure = Figure()
    draw(figure.subplots())
    (axes,) = figure_data.figure_facts(figure)["axes"]
    assert not figure_data.shows_histogram(axes, VALUES)


def test_a_curve_has_one_coordinate_of_the_data() -> None:
    across, up = [0.2, 0.4, 0.9], [0.1, 0.5, 0.7]
    for x, y, shown in ((across, up, True), (up, across, True), ([0, 1, 2], [0] * 3, False)):
        figure = Figure()
        figure.subplots().plot(x, y)
        (axes,) = figure_data.figure_facts(figure)["axes"]
        assert figure_data.shows_curve(axes, across, up) == shown


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: axes.axvline(0),
        lambda axes: axes.vlines(0, 0, 5),
        lambda axes: axes.plot([0, 0], [0, 5]),
        lambda axes: axes.axline((0, 0), (0, 1)),
    ],
)
def test_a_vertical_line_counts_in_any_of_matplotlibs_ways(draw: Callable[[Any], object]) -> None:
    figure = Figure()
    draw(figure.subplots())
    ((line,),) = (axes["lines"] for axes in figure_data.figure_facts(figure)["axes"])
    assert [x for x, _ in line] == [0, 0]


def test_points_count_however_many_calls_drew_them() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.scatter([1, 2], [3, 4])
    axes.scatter(5, 6)
    axes.plot([7], [8], "o")
    axes.axline((0, 0), slope=1)
    figure.supxlabel("x")
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_points(told, [[1, 3], [2, 4], [5, 6], [7, 8]])
    assert not figure_data.shows_points(told, [[1, 3], [2, 5]])
    assert ([[0, 0], [1, 1]] in told["lines"], told["xlabel"]) == (True, "x")


def test_a_few_points_in_a_row_are_points() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.scatter([1, 2, 3], [1, 2, 3])
    axes.plot(np.arange(20), np.arange(20))
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_points(told, [[2, 2]])
    assert not figure_data.shows_points(told, [[7, 7]])
    with pytest.raises(ValueError, match="no point is wanted"):
        figure_data.shows_points(told, [])


def test_a_figure_that_shows_everything_shows_nothing() -> None:
    """Points of a grid, in one call, in many or as lines, and histograms of all shapes; but a long line and a
    curve may stand beside the points."""
    grid, edge = [[x / 50, y / 50] for x in range(51) for y in range(51)], np.linspace(0, 1, 51)
    wanted = [[x / 50, (7 * x % 50) / 50] for x in range(40)]
    ways: list[Callable[[Any], object]] = [
        lambda axes: axes.scatter(*zip(*grid, strict=True)),
        lambda axes: axes.plot(*zip(*grid, strict=True), "o"),
        lambda axes: [axes.plot(edge, [y] * 51) for y in edge],
        lambda axes: [axes.scatter([x] * 51, edge) for x in edge],
    ]
    for draw in ways:
        figure = Figure()
        draw(figure.subplots())
        (told,) = figure_data.figure_facts(figure)["axes"]
        assert not figure_data.shows_points(told, wanted)
    figure = Figure()
    axes = figure.subplots()
    axes.scatter(*zip(*wanted, strict=True))
    axes.plot(np.linspace(0, 1, 1000), np.linspace(0, 1, 1000))
    axes.plot(edge, edge**2)
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert figure_data.shows_points(told, wanted)
    figure, low, high = Figure(), VALUES.min(), VALUES.max()
    axes = figure.subplots()
    for first in range(1, 49):
        for second in range(1, 50 - first):
            axes.stairs([first, second, 50 - first - second], [low, -0.5, 0.5, high])
    (told,) = figure_data.figure_facts(figure)["axes"]
    assert not figure_data.shows_histogram(told, VALUES)
