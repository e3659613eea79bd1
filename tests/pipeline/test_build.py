"""The pipeline end to end on a tiny repository: what is redone, what a failure or a kill leaves behind."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import inf
from pathlib import Path

import click
import nbformat
import pytest
from papermill.iorw import papermill_io

from radeval_lib.errors import NotebookError
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import steps
from radeval_lib.study import cells, runs
from tests.pipeline.conftest import RECORDS, TinyRepository
from tests.robustness import runaway, stale

RESULT = "results/facts/{name}/facts.table{number}.printed.json"


PLAN = """
from pydantic import BaseModel
from radeval_lib.study.cells import Cell


class Settings(BaseModel):
    numbers: list[int]


def cells(profile):
    return [Cell.of("facts/cell", number=n) for n in profile.section("counting", Settings).numbers]
"""

CELL = """import pandas as pd

run.save({"squares": pd.DataFrame({"n": [number], "square": [number**2]})},
         model=lambda folder: (folder / "kept").write_text(str(number)))"""

FIGURE = """2 + 2
```

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-squares
    caption: Squares.
---
import matplotlib.pyplot as plt

plt.plot([1, 4, 9])
plt.show()
```

```{code-cell} ipython3
"""

READS_CELLS = """rows = [kept.tables["squares"].iloc[0].tolist() for kept in run.cells("facts/cell")]
print([tuple(row) for row in rows])
""" + RECORDS.format(exhibit="facts.table1")


def _started(tiny: TinyRepository, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        tiny.command(arguments),
        cwd=tiny.path,
        env=tiny.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _wait(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + 180
    while not ready() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    assert process.poll() is None


def _executed(tiny: TinyRepository) -> dict[str, int]:
    return {p.stem: p.stat().st_mtime_ns for p in (tiny.build / "executed" / "facts").glob("*.ipynb")}


def test_only_what_changed_is_redone(tiny: TinyRepository) -> None:
    removed = tiny.build / "results" / "facts" / "removed" / "facts.table1.printed.json"
    removed.parent.mkdir(parents=True)
    removed.write_text("{}", encoding="utf-8")  # of a page that an earlier state of the repository had
    first = tiny.radbook("build")
    assert first.returncode == 0, first.stdout + first.stderr
    assert not removed.exists()
    assert "2 exhibits: consistent 2" in first.stdout
    page = tiny.build / "_build" / "html" / "notebooks" / "facts" / "one.html"
    assert "consistent" in page.read_text(encoding="utf-8")

    before = _executed(tiny)
    rendered = page.stat().st_mtime_ns
    assert tiny.radbook("build").returncode == 0
    assert _executed(tiny) == before
    assert page.stat().st_mtime_ns == rendered

    tiny.write("facts/two", RECORDS.format(exhibit="facts.table2") + "\nprint('edited')")
    assert tiny.radbook("build").returncode == 0
    after = _executed(tiny)
    assert after["one"] == before["one"]
    assert after["two"] > before["two"]
    assert "edited" in page.with_name("two.html").read_text(encoding="utf-8")

    # A page that failed beside the finished book is not taken for done.
    tiny.write("facts/one", "raise ValueError('broken')")
    assert tiny.radbook("build").returncode != 0
    again = tiny.radbook("build", "--dry-run")
    assert again.returncode == 0, again.stderr
    assert "facts/one" in again.stdout
    assert "Everything is up to date" not in again.stdout


def test_edits_with_old_times_are_noticed(tiny: TinyRepository) -> None:
    assert tiny.radbook("build").returncode == 0
    assert stale.old_edit(tiny, "a title") == ""
    assert stale.old_edit(tiny, "a notebook") == ""


def test_runaway_notebooks_are_stopped(tmp_path: Path) -> None:
    kinds = ["writes into the repository"]  # it ends by itself: how busy the machine is decides nothing
    assert not [kind for kind, fault in runaway.tries(tmp_path, kinds, longest=inf) if fault]


@pytest.mark.nightly
def test_the_same_inputs_give_the_same_bytes(tiny: TinyRepository) -> None:
    kept = []
    for _ in range(2):
        assert tiny.radbook("run", "facts/one", "--quiet").returncode == 0
        result = tiny.build / RESULT.format(name="one", number=1)
        kept.append((result.read_bytes(), (tiny.build / "executed/facts/one.ipynb").read_bytes()))
    assert kept[0] == kept[1]
    assert str(tiny.path) not in kept[0][1].decode()


@pytest.mark.nightly
def test_a_failing_cell_is_named_and_the_others_still_build(tiny: TinyRepository) -> None:
    tiny.write("facts/one", "raise ValueError('the 3rd cell is broken')")
    failed = tiny.radbook("build")
    assert failed.returncode != 0
    assert "notebooks/facts/one.md: code cell 3" in failed.stdout
    assert "the 3rd cell is broken" in failed.stdout
    assert set(_executed(tiny)) == {"one.failed", "two"}
    assert (tiny.build / RESULT.format(name="two", number=2)).is_file()
    assert not (tiny.build / "_build" / "html" / "index.html").exists()

    tiny.write("facts/one", RECORDS.format(exhibit="facts.table1"))
    assert tiny.radbook("build").returncode == 0
    assert set(_executed(tiny)) == {"one", "two"}


@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["notebook", "render"])
def test_a_killed_build_finishes_when_run_again(tiny: TinyRepository, moment: str) -> None:
    build = _started(tiny, "build", "--cores", "1")
    watched = {
        "notebook": lambda: any((tiny.build / "executed" / "facts").glob(".part-*")),
        "render": lambda: (tiny.build / "book.unfinished").exists(),
    }[moment]
    _wait(watched, build)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not (tiny.build / "_build" / "html" / "index.html").exists()

    again = tiny.radbook("build")
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(_executed(tiny)) == {"one", "two"}
    for name, number in (("one", 1), ("two", 2)):
        json.loads((tiny.build / RESULT.format(name=name, number=number)).read_text(encoding="utf-8"))
    assert (tiny.build / "_build" / "html" / "notebooks" / "facts" / "two.html").is_file()


@pytest.mark.nightly
def test_a_damaged_result_is_named_and_made_anew(tiny: TinyRepository) -> None:
    assert tiny.radbook("build").returncode == 0
    result = tiny.build / RESULT.format(name="one", number=1)
    whole, before = result.read_bytes(), _executed(tiny)
    result.write_bytes(whole.replace(b'"printed": "2"', b'"printed": "3"'))
    refused = tiny.radbook("exhibits")
    assert refused.returncode == 2
    assert "build/embedded/results/facts/one/facts.table1.printed.json" in refused.stderr
    again = tiny.radbook("build")
    assert again.returncode == 0, again.stdout + again.stderr
    assert result.read_bytes() == whole
    assert _executed(tiny)["two"] == before["two"]


@pytest.mark.nightly
def test_two_builds_at_once_do_not_share_a_folder(tiny: TinyRepository) -> None:
    first = _started(tiny, "build")
    _wait(lambda: any((tiny.build / "executed" / "facts").glob(".part-*")), first)
    second = tiny.radbook("build")
    assert second.returncode == 2
    assert first.wait() == 0
    for name, number in (("one", 1), ("two", 2)):
        assert (tiny.build / RESULT.format(name=name, number=number)).is_file()


@pytest.mark.nightly
def test_snakemake_runs_the_same_graph_by_itself(tiny: TinyRepository) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--workflow-profile", "workflow/profiles/laptop", "--cores", "2"],
        cwd=tiny.path,
        env=tiny.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert set(_executed(tiny)) == {"one", "two"}
    assert "up to date" in tiny.radbook("build", "--dry-run").stdout


def test_a_new_system_takes_a_cell_notebook_a_plan_and_a_section(tiny: TinyRepository) -> None:
    package = tiny.path / "radeval_lib" / "jobs" / "counting"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "plan.py").write_text(PLAN, encoding="utf-8")
    registry = tiny.path / "radeval_lib" / "registry.py"
    line = 'PLANS = {\n    "facts/cell": "radeval_lib.jobs.counting.plan:cells",\n'
    registry.write_text(registry.read_text(encoding="utf-8").replace("PLANS = {\n", line), encoding="utf-8")
    profile = tiny.path / "data_manifests" / "profiles" / "embedded.yml"
    profile.write_text(profile.read_text() + "  counting: {numbers: [2, 3]}\n", encoding="utf-8")
    tiny.write("facts/cell", CELL, parameters={"number": 0}, begin="number=number")
    tiny.write("facts/one", FIGURE + READS_CELLS, declares="cells: [facts/cell]")
    index = tiny.path / "book" / "index.md"
    prose = index.read_text(encoding="utf-8")
    index.write_text(f"{prose}\n{{ref}}`The squares <fig-squares>` are drawn.\n", encoding="utf-8")
    built = tiny.radbook("build")
    assert built.returncode == 0, built.stdout + built.stderr
    assert not re.findall("^radbook: .*", built.stdout, re.MULTILINE)
    order = (
        "First the 1 of 2 pages",
        "running facts/two",
        "To be read: build/embedded",
        "running facts/cell",
    )
    places = [built.stdout.index(line) for line in order]
    assert places == sorted(places)
    page = json.loads((tiny.build / "executed/facts/one.ipynb").read_text(encoding="utf-8"))
    assert "[(2, 4), (3, 9)]" in json.dumps(page)
    assert (tiny.build / "cells/facts/cell/2/model/kept").read_text() == "2"

    profile.write_text(profile.read_text().replace("[2, 3]", "[2, 3, 5]"), encoding="utf-8")
    planned = tiny.radbook("build", "--dry-run").stdout
    assert "facts/cell/5" in planned
    assert "facts/cell/3" not in planned
    tiny.write("facts/two", READS_CELLS)
    assert tiny.radbook("run", "facts/two", "--quiet").returncode == 2  # it declares no cells


@pytest.mark.nightly
def test_a_run_with_other_parameters_leaves_the_books_results_alone(tiny: TinyRepository) -> None:
    assert tiny.radbook("run", "facts/one", "--quiet").returncode == 0
    result = tiny.build / RESULT.format(name="one", number=1)
    before = result.read_bytes()
    for value in (["seed", "abc"], ["output_dir", "/tmp"]):
        assert tiny.radbook("run", "facts/one", "-p", *value).returncode == 2
        assert result.read_bytes() == before
    other = tiny.radbook("run", "facts/one", "-p", "seed", "7")
    assert other.returncode == 0, other.stderr
    assert result.read_bytes() == before
    (path,) = (tiny.path / "build" / "runs").glob("*/results/facts/one/facts.table1.printed.json")
    assert json.loads(path.read_text(encoding="utf-8"))["provenance"]["seed"] == 7


@pytest.mark.nightly
def test_nothing_that_a_user_names_reaches_a_shell(tiny: TinyRepository) -> None:
    root = tiny.path / "data" / "$(touch ran) `touch ran`; touch ran 'quoted' {wildcard}\nline"
    root.mkdir(parents=True)
    built = tiny.radbook("build", "--data-root", str(root))
    assert built.returncode == 0, built.stdout + built.stderr
    assert not list(tiny.path.rglob("ran"))


@pytest.mark.nightly
def test_one_papers_pages_can_be_built_alone(tiny: TinyRepository) -> None:
    (tiny.path / "notebooks" / "green").mkdir()
    (tiny.path / "notebooks" / "facts" / "two.md").rename(tiny.path / "notebooks" / "green" / "two.md")
    toc = tiny.path / "book" / "_toc.yml"
    toc.write_text(toc.read_text().replace("facts/two", "green/two"), encoding="utf-8")
    built = tiny.radbook("build", "--only", "facts")
    assert built.returncode == 0, built.stdout + built.stderr
    pages = tiny.build / "_build" / "html" / "notebooks"
    assert "This page is not made yet" in (pages / "green" / "two.html").read_text(encoding="utf-8")
    assert "consistent" in (pages / "facts" / "one.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["build", "--profile", "nope"], "nope"),
        (["build", "--only", "fcats"], "fcats"),
        (["build", "--data-root", "/no/such/folder"], "/no/such/folder"),
        (["run", "facts/nope"], "facts/nope"),
        (["run", "facts/one", "-p", "colour", "red"], "colour"),
        (["exhibits", "facts.table9"], "facts.table9"),
    ],
)
def test_bad_input_gets_one_clear_line(tiny: TinyRepository, arguments: list[str], names: str) -> None:
    refused = tiny.radbook(*arguments)
    assert refused.returncode == 2
    assert names in refused.stderr
    assert refused.stderr.count("\n") == 1


def _planned(tiny: TinyRepository, *config: str, root: str = "") -> subprocess.CompletedProcess[str]:
    """Return what Snakemake says by itself, asked for its plan; ``root``: the environment's data root."""
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--config", *config],
        cwd=tiny.path,
        env=tiny.environment({"RADEVAL_DATA_ROOT": root} if root else {}),
        capture_output=True,
        text=True,
        check=False,
    )


def test_snakemake_by_itself_refuses_what_a_build_refuses(tiny: TinyRepository) -> None:
    profile = tiny.path / "data_manifests" / "profiles" / "public.yml"
    profile.write_text("extends: embedded\nneeds_data_root: true\n", encoding="utf-8")
    for config in (["profile=public"], ["profile=public", "data_root=/no/such/folder"], ["profile=nope"]):
        refused = _planned(tiny, *config)
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
    # A dry run of a build says what is missing instead.
    assert "running facts/one" in _planned(tiny, "profile=public", root=str(tiny.path)).stdout
    assert "facts/one" in tiny.radbook("build", "--profile", "public", "--dry-run").stdout


def test_a_page_that_trains_has_a_rule_of_its_own(tiny: TinyRepository) -> None:
    tiny.write("facts/one", RECORDS.format(exhibit="facts.table1"), declares="trains: true")
    planned = _planned(tiny, "profile=embedded")
    assert planned.returncode == 0, planned.stderr
    assert [planned.stdout.count(f"\n{rule}  ") for rule in ("model_page", "page", "book")] == [2, 2, 2]
    assert planned.stdout.count("running facts/") == 2


def test_papermill_reads_a_source_from_any_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "notebooks" / "rales" / "nlu_scores.md"
    wanted = papermill_io.read(str(page))
    assert nbformat.reads(wanted, as_version=4).cells
    for folder in (ROOT, ROOT / "notebooks", page.parent, ROOT / "book", ROOT.parent):
        monkeypatch.chdir(folder)
        assert papermill_io.read(os.path.relpath(page)) == wanted
    with pytest.raises(click.ClickException):
        papermill_io.read("notebooks/a/b.md")


def test_two_runs_by_hand_do_not_share_a_place(tmp_path: Path) -> None:
    """Whether papermill or radbook runs them; cells of one notebook have places of their own."""

    def begin(seed: int, notebook: str = "rales/nlu_scores", **parameters: str | int) -> None:
        folder = str(tmp_path / str(seed))
        runs.begin_cell(notebook, profile="embedded", seed=seed, output_dir=folder, **parameters)

    def run_by_radbook(executed: Path) -> AbstractContextManager[None]:
        return steps.locked(cells.lock_path(executed))

    with (
        run_by_radbook(tmp_path / "1" / "executed" / "rales" / "nlu_scores.ipynb"),
        pytest.raises(NotebookError),
    ):
        begin(1)
    begin(1)
    begin(1)  # the first cell of an open notebook, run again
    (tmp_path / "2").mkdir()
    with (tmp_path / "2" / ".lock").open("w") as build:
        fcntl.flock(build, fcntl.LOCK_EX)
        with pytest.raises(NotebookError):
            begin(2)
    begin(2)
    trained = {"notebook": "rales/pretraining", "init_model": "packaged-minilm"}
    place = tmp_path / "3" / "executed_cells" / "rales" / "pretraining" / "packaged-minilm.ipynb"
    with run_by_radbook(place):
        begin(3, **{**trained, "init_model": "untrained:packaged-minilm"})
        with pytest.raises(NotebookError):
            begin(3, **trained)


def test_papermill_runs_a_source_by_hand(tiny: TinyRepository) -> None:
    papermill = str(Path(sys.executable).with_name("papermill"))
    given = ["-p", "profile", "smoke", "-p", "seed", "3"]
    command = [papermill, "notebooks/facts/one.md", "out.ipynb", *given]
    done = subprocess.run(
        command, cwd=tiny.path, env=tiny.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # Another seed than the build's leaves the build's results alone.
    (path,) = tiny.path.glob(f"build/**/{RESULT.format(name='one', number=1)}")
    assert path.is_relative_to(tiny.path / "build" / "runs")
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["provenance"]["seed"], result["provenance"]["profile"]["name"]) == (3, "smoke")
