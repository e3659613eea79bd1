"""The pipeline end to end on a tiny repository: what is redone, what a failure or a kill leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from papermill.iorw import papermill_io

from radeval_lib.errors import NotebookError
from radeval_lib.paths import BUILD_LOCK, ROOT
from radeval_lib.pipeline import steps
from radeval_lib.study import runs
from tests.pipeline.conftest import RECORDS, TinyRepository

RESULT = "results/facts/{name}/facts.table{number}.printed.json"


CELL = """import pandas as pd

run.save({"squares": pd.DataFrame({"n": [number], "square": [number**2]})},
         model=lambda folder: (folder / "kept").write_text(str(number)))"""

READS_CELLS = """rows = [kept.tables["squares"].iloc[0].tolist() for kept in run.jobs("facts/cell")]
print([tuple(row) for row in rows])
""" + RECORDS.format(exhibit="facts.table1")


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
    second = [tiny.build / RESULT.format(name="two", number=2), tiny.build / "executed/facts/two.ipynb"]
    contents = [path.read_bytes() for path in second]
    assert str(tiny.path) not in contents[1].decode()

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

    # A page that fails is named and not taken for done, and the others are made.
    tiny.write("facts/one", "raise ValueError('the 3rd cell is broken')")
    tiny.write("facts/two", RECORDS.format(exhibit="facts.table2"))
    failed = tiny.radbook("build")
    assert failed.returncode != 0
    assert "notebooks/facts/one.md: code cell 3" in failed.stdout
    assert set(_executed(tiny)) == {"one.failed", "two"}
    assert [path.read_bytes() for path in second] == contents  # the same inputs give the same bytes
    assert not (tiny.build / "_build" / "html" / "index.html").exists()
    again = tiny.radbook("build", "--dry-run")
    assert "facts/one" in again.stdout
    assert "facts/two" not in again.stdout


@pytest.mark.nightly
def test_a_cell_that_never_ends_is_stopped(tiny: TinyRepository) -> None:
    profile = tiny.path / "data_manifests" / "profiles" / "embedded.yml"
    settings = profile.read_text(encoding="utf-8")
    limits = "limits: {cell_minutes: 1, start_seconds: 1800}"
    profile.write_text(re.sub(r"limits: \{.*\}", limits, settings), encoding="utf-8")
    tiny.write("facts/one", "while True:\n    pass")
    stopped = tiny.radbook("run", "facts/one", "--quiet")
    assert (stopped.returncode, stopped.stderr.count("\n")) == (2, 1)
    assert all(part in stopped.stderr for part in ("'while True:'", "cell_minutes", "profiles/embedded.yml"))


@pytest.mark.nightly
def test_a_killed_build_finishes_when_run_again(tiny: TinyRepository) -> None:
    command, nowhere = tiny.command(["build", "--cores", "1"]), subprocess.DEVNULL
    build = subprocess.Popen(
        command, cwd=tiny.path, env=tiny.environment(), stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    limit = time.monotonic() + 180
    while not any((tiny.build / "executed" / "facts").glob(".part-*")) and time.monotonic() < limit:
        time.sleep(0.01)
    assert build.poll() is None
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not (tiny.build / "_build" / "html" / "index.html").exists()
    again = tiny.radbook("build")
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(_executed(tiny)) == {"one", "two"}
    assert (tiny.build / RESULT.format(name="one", number=1)).is_file()
    assert (tiny.build / "_build" / "html" / "notebooks" / "facts" / "two.html").is_file()


@pytest.mark.nightly
def test_snakemake_runs_the_same_graph_by_itself(tiny: TinyRepository) -> None:
    laptop = ["--workflow-profile", "workflow/profiles/laptop", "--cores", "2"]
    done = tiny.run([sys.executable, "-m", "snakemake", *laptop])
    assert done.returncode == 0, done.stderr[-3000:]
    assert set(_executed(tiny)) == {"one", "two"}
    assert "up to date" in tiny.radbook("build", "--dry-run").stdout


def test_a_new_system_takes_a_cell_notebook_a_plan_and_a_section(tiny: TinyRepository) -> None:
    profile = tiny.plan_jobs([2, 3])
    tiny.write("facts/cell", CELL, parameters={"number": 0}, begin="number=number")
    tiny.write("facts/one", READS_CELLS, declares="jobs: [facts/cell]")
    built = tiny.radbook("build")
    assert built.returncode == 0, built.stdout + built.stderr
    order = "1 of 2 pages need", "running facts/two", "Ready to read: build/embedded", "running facts/cell"
    places = [built.stdout.index(line) for line in order]
    assert places == sorted(places)
    page = json.loads((tiny.build / "executed/facts/one.ipynb").read_text(encoding="utf-8"))
    assert "[(2, 4), (3, 9)]" in json.dumps(page)
    assert (tiny.build / "jobs/facts/cell/2/model/kept").read_text() == "2"

    profile.write_text(profile.read_text().replace("[2, 3]", "[2, 3, 5]"), encoding="utf-8")
    planned = tiny.radbook("build", "--dry-run").stdout
    assert "facts/cell/5" in planned
    assert "facts/cell/3" not in planned
    tiny.write("facts/two", READS_CELLS)
    assert tiny.radbook("run", "facts/two", "--quiet").returncode == 2  # it declares no cells


@pytest.mark.nightly
def test_one_papers_pages_can_be_built_alone_and_no_name_reaches_a_shell(tiny: TinyRepository) -> None:
    root = tiny.path / "data" / "$(touch ran) `touch ran`; touch ran 'quoted' {wildcard}\nline"
    root.mkdir(parents=True)
    (tiny.path / "notebooks" / "green").mkdir()
    (tiny.path / "notebooks" / "facts" / "two.md").rename(tiny.path / "notebooks" / "green" / "two.md")
    toc = tiny.path / "book" / "_toc.yml"
    toc.write_text(toc.read_text().replace("facts/two", "green/two"), encoding="utf-8")
    built = tiny.radbook("build", "--only", "facts", "--data-root", str(root))
    assert built.returncode == 0, built.stdout + built.stderr
    assert not list(tiny.path.rglob("ran"))
    pages = tiny.build / "_build" / "html" / "notebooks"
    assert "This page is not built yet" in (pages / "green" / "two.html").read_text(encoding="utf-8")
    assert "consistent" in (pages / "facts" / "one.html").read_text(encoding="utf-8")


def test_bad_input_gets_one_clear_line(tiny: TinyRepository) -> None:
    for arguments in (
        ["build", "--only", "fcats"],
        ["build", "--data-root", "/no/such/folder"],
        ["run", "facts/one", "-p", "seed", "colour"],
        ["exhibits", "facts.table9"],
    ):
        refused = tiny.radbook(*arguments)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert arguments[-1] in refused.stderr


def test_papermill_reads_a_source_from_any_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "notebooks" / "rales" / "nlu_scores.md"
    wanted = papermill_io.read(str(page))
    for folder in (ROOT, page.parent, ROOT / "book", ROOT.parent):
        monkeypatch.chdir(folder)
        assert papermill_io.read(os.path.relpath(page)) == wanted
    with pytest.raises(click.ClickException):
        papermill_io.read("notebooks/a/b.md")


def test_a_run_by_hand_waits_for_no_build_to_write_there(tmp_path: Path) -> None:
    given = {"profile": "embedded", "seed": 2, "output_dir": str(tmp_path)}
    with steps.hold_lock(tmp_path / BUILD_LOCK), pytest.raises(NotebookError):
        runs.begin_job("rales/nlu_scores", **given)
    runs.begin_job("rales/nlu_scores", **given)


def test_papermill_runs_a_source_by_hand(tiny: TinyRepository) -> None:
    def papermill(*parameters: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "papermill", "notebooks/facts/one.md", "out.ipynb"]
        return tiny.run([*command, *(word for name in parameters for word in ("-p", *name.split("=")))])

    pattern = f"build/**/{RESULT.format(name='one', number=1)}"
    done = papermill("profile=smoke", "seed=3", "sede=7")
    assert done.returncode == 0, done.stderr
    assert "unknown parameter: sede" in done.stderr
    # Another seed than the build's leaves the build's results alone.
    (path,) = tiny.path.glob(pattern)
    assert path.is_relative_to(tiny.path / "build" / "runs")
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["provenance"]["seed"], result["provenance"]["profile"]["name"]) == (3, "smoke")
