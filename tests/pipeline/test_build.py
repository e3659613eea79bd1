"""The pipeline end to end on a tiny repository: what is redone, what a failure or a kill leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pipeline.conftest import RECORDS, TinyRepository

RESULT = "results/facts/{name}/facts.table{number}.print.json"


def _executed(tiny: TinyRepository) -> dict[str, int]:
    return {p.stem: p.stat().st_mtime_ns for p in (tiny.build / "executed" / "facts").glob("*.ipynb")}


def test_only_what_changed_is_redone(tiny: TinyRepository) -> None:
    first = tiny.radbook("build")
    assert first.returncode == 0, first.stderr
    assert "build/embedded/_build/html/index.html" in first.stdout
    assert "2 exhibits: 2 reproduced" in first.stdout
    page = tiny.build / "_build" / "html" / "notebooks" / "facts" / "one.html"
    assert "Reproduced, recomputed from printed numbers" in page.read_text(encoding="utf-8")

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


def test_a_label_may_move_to_another_page(tiny: TinyRepository) -> None:
    one, two = (tiny.path / "notebooks" / "facts" / f"{name}.md" for name in ("one", "two"))
    second = two.read_text(encoding="utf-8")
    two.write_text(second.replace("# facts/two", "# facts/two\n\n(wanders)=\n## Here"), encoding="utf-8")
    assert tiny.radbook("build").returncode == 0
    two.write_text(second, encoding="utf-8")
    first = one.read_text(encoding="utf-8")
    one.write_text(first.replace("# facts/one", "# facts/one\n\n(wanders)=\n## Here"), encoding="utf-8")
    again = tiny.radbook("build")
    assert again.returncode == 0, again.stderr


def test_the_same_inputs_give_the_same_bytes(tiny: TinyRepository) -> None:
    kept = []
    for _ in range(2):
        assert tiny.radbook("run", "facts/one", "--quiet").returncode == 0
        result = tiny.build / RESULT.format(name="one", number=1)
        kept.append((result.read_bytes(), (tiny.build / "executed/facts/one.ipynb").read_bytes()))
    assert kept[0] == kept[1]
    assert str(tiny.path) not in kept[0][1].decode()


def test_a_failing_cell_is_named_and_the_others_still_build(tiny: TinyRepository) -> None:
    tiny.write("facts/one", "raise ValueError('the 3rd cell is broken')")
    failed = tiny.radbook("build")
    assert failed.returncode != 0
    told = failed.stdout + failed.stderr
    assert "notebooks/facts/one.md: code cell 3" in told
    assert "the 3rd cell is broken" in told
    assert "radbook build" in told  # the remedy
    assert set(_executed(tiny)) == {"one.failed", "two"}
    assert (tiny.build / RESULT.format(name="two", number=2)).is_file()
    assert not (tiny.build / "_build" / "html" / "index.html").exists()

    tiny.write("facts/one", RECORDS.format(exhibit="facts.table1"))
    assert tiny.radbook("build").returncode == 0
    assert set(_executed(tiny)) == {"one", "two"}


@pytest.mark.parametrize("moment", ["notebook", "render"])
def test_a_killed_build_finishes_when_run_again(tiny: TinyRepository, moment: str) -> None:
    command = tiny.command(["build", "--cores", "1"])
    build = subprocess.Popen(
        command, cwd=tiny.path, env=tiny.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    watched = {
        "notebook": lambda: any((tiny.build / "executed" / "facts").glob(".part-*")),
        "render": lambda: (tiny.build / "book.unfinished").exists(),
    }[moment]
    limit = time.monotonic() + 120
    while not watched() and build.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    assert build.poll() is None, "the build ended before it could be killed"
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not (tiny.build / "_build" / "html" / "index.html").exists()

    again = tiny.radbook("build")
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(_executed(tiny)) == {"one", "two"}
    for name, number in (("one", 1), ("two", 2)):
        json.loads((tiny.build / RESULT.format(name=name, number=number)).read_text(encoding="utf-8"))
    assert (tiny.build / "_build" / "html" / "notebooks" / "facts" / "two.html").is_file()


def test_a_results_file_cut_short_is_told(tiny: TinyRepository) -> None:
    assert tiny.radbook("run", "facts/one", "--quiet").returncode == 0
    result = tiny.build / RESULT.format(name="one", number=1)
    whole = result.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", whole.replace(b'"agrees": true', b'"agrees": false')):
        result.write_bytes(broken)
        told = tiny.radbook("exhibits")
        assert told.returncode == 2
        assert told.stderr.count("\n") == 1
        assert "build/embedded/results/facts/one/facts.table1.print.json" in told.stderr
        assert "Delete it" in told.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "--profile", "nope"], "unknown profile 'nope'"),
        (["build", "--data-root", "/no/such/folder"], "/no/such/folder"),
        (["run", "facts/nope"], "unknown notebook 'facts/nope'"),
        (["run", "facts/one", "-p", "colour", "red"], "unknown parameter 'colour'"),
        (["run", "facts/one", "-p", "seed", "many"], "seed must be of type int"),
        (["exhibits", "facts.table9"], "unknown exhibit 'facts.table9'"),
    ],
)
def test_bad_input_gets_one_clear_line(tiny: TinyRepository, arguments: list[str], says: str) -> None:
    told = tiny.radbook(*arguments)
    assert told.returncode == 2
    assert says in told.stderr
    assert told.stderr.count("\n") == 1


def test_papermill_runs_a_source_by_hand(tiny: TinyRepository) -> None:
    command = [
        str(Path(sys.executable).with_name("papermill")),
        "notebooks/facts/one.md",
        "out.ipynb",
        "-p",
        "profile",
        "smoke",
        "-p",
        "seed",
        "3",
    ]
    done = subprocess.run(
        command, cwd=tiny.path, env=tiny.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(
        (tiny.path / "build/smoke" / RESULT.format(name="one", number=1)).read_text(encoding="utf-8")
    )
    assert result["provenance"]["seed"] == 3
