"""Grades a folder of submissions: one ``otter run`` for each, isolated by bubblewrap."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from nbformat import NotebookNode

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.labs import sources
from radeval_lib.labs.sources import Lab
from radeval_lib.labs.time_limit import SECONDS
from radeval_lib.paths import MANIFESTS, ROOT

_HOME = "/home/student"
_IN = "/submission"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache")
_MEMORY = 8 * 10**9  # bytes of address space of a process
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_GRACE = 120  # seconds beyond the notebook's limit for what cannot be interrupted, then it is not graded
_ID = re.compile(r"^student_id\s*=\s*[\"']?(.*?)[\"']?\s*(?:#.*)?$", re.MULTILINE)
_LAB = re.compile(r"otter\.Notebook\([\"'](\w+)\.ipynb[\"']\)")


@dataclass(frozen=True)
class Rules:
    """How submissions are run.

    Attributes
    ----------
    seconds : the limit of time for a notebook.
    lab : the lab of notebooks that do not name theirs, by number or name; empty: they are not graded.
    isolated : whether bubblewrap isolates each submission.
    jobs : submissions at once; 0: one per core.
    """

    seconds: int = 120
    lab: str = ""
    isolated: bool = True
    jobs: int = 0


def grade(folder: Path, output: Path, rules: Rules, say: Callable[[str], None] = print) -> pd.DataFrame:
    """Grade every notebook below a folder, and write a table of marks as CSV and Otter's report on each.

    Returns
    -------
    DataFrame
        A row for each submission: ``file``, ``student`` (the id in it), ``lab``, ``status`` (*graded*, or why
        it was not), ``points`` of the tests, ``of``, a column for each task, empty if it is not graded or to
        be marked by hand. Feedback is in ``<output>_feedback/<file>.txt``.
    """
    if rules.isolated and not shutil.which("bwrap"):
        raise NotebookError(
            "bubblewrap, which isolates submissions, is not installed",
            remedy="Install it (Linux: apt install bubblewrap), or add --trust-submissions.",
        )
    files = [path for path in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts]
    if not files:
        raise NotebookError("no notebook to grade", str(folder), "Give the folder with the submissions.")
    feedback = output.with_name(f"{output.stem}_feedback")
    archives = Path(tempfile.mkdtemp())
    try:
        for lab in {lab for path in files if (lab := _lab_of(path, rules.lab))}:
            sources.build(lab, archives)
        with ThreadPoolExecutor(rules.jobs or os.cpu_count()) as pool:

            def run(path: Path) -> dict[str, Any]:
                name = str(path.relative_to(folder))
                row, text = _graded(path, archives, rules)
                atomic.write_text(feedback / f"{name}.txt", text)
                say(f"{name}: {row['points']:g} of {row['of']:g}" if "of" in row else f"{name}: {text}")
                return {"file": name, **row}

            table = pd.DataFrame(pool.map(run, files))
    finally:
        shutil.rmtree(archives)
    atomic.write_text(output, table.to_csv(index=False))
    return table


def _lab_of(path: Path, named: str) -> Lab | None:
    """Return the lab that a notebook names for Otter, or else the lab ``named``, if any."""
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8").replace('\\"', '"')
        if match := _LAB.search(text):
            return next((lab for lab in sources.labs() if lab.name == match[1]), None)
    return sources.find(named) if named else None


def _graded(path: Path, archives: Path, rules: Rules) -> tuple[dict[str, Any], str]:
    """Return a submission's row without its file, and its feedback."""
    lab = _lab_of(path, rules.lab)
    row: dict[str, Any] = {"student": "", "lab": ""}
    try:
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        row["student"] = next((match[1] for cell in code if (match := _ID.search(cell.source))), "")
        if lab is None:
            raise NotebookError("the submission does not name its lab", remedy="Name it with --lab.")
        row["lab"] = lab.name
        notebook.metadata = {"kernelspec": _KERNEL}
        for cell in code:
            cell.outputs = []
        scores = _run(notebook, archives / "autograder" / f"{lab.name}.zip", rules)
    except Exception as error:  # whatever may be in a file
        status = f"not graded: {error if isinstance(error, NotebookError) else type(error).__name__}"
        return row | {"status": status}, status
    row |= {"status": "graded", "points": sum(score["score"] for score in scores.values())}
    row |= {"of": sum(score["max_score"] for score in scores.values())}
    row |= {task.name: scores.get(task.name, {}).get("score") for task in sources.tasks(lab)}
    feedback = [f"{test['score']:g} of {test['max_score']:g} {test['output']}" for test in scores.values()]
    return row, "\n\n".join(feedback)


def _run(notebook: NotebookNode, archive: Path, rules: Rules) -> dict[str, dict[str, Any]]:
    """Return Otter's result for each task; raise a NotebookError if it has no results."""
    environment = {"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment |= {SECONDS: str(rules.seconds), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "results").mkdir()
        nbformat.write(notebook, folder / "lab.ipynb")
        shutil.copy(archive, folder / "autograder.zip")
        command = [sys.executable, "-m", "otter", "run", "lab.ipynb", "-o", "results"]
        process = subprocess.Popen(
            [*_isolated(folder), *command] if rules.isolated else command,
            cwd=folder,
            env=environment if rules.isolated else os.environ | environment,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            printed = process.communicate(timeout=rules.seconds + _GRACE)[1]
            results = json.loads((folder / "results" / "results.json").read_text(encoding="utf-8"))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            raise NotebookError(
                f"the notebook did not end within {rules.seconds} + {_GRACE} seconds"
            ) from None
        except OSError:
            raise NotebookError((printed.strip().splitlines() or ["Otter has no results"])[-1]) from None
    scores = {test["name"]: test for test in results["tests"] if "max_score" in test}
    if not scores:
        raise NotebookError("the notebook ended before its tests")
    return scores


def _isolated(folder: Path) -> list[str]:
    """Return the beginning of a command that sees Python, the library and the folder alone, without network,
    and may write to ``results`` in the folder."""
    packages = [path for path in sys.path if path.endswith("-packages")]
    paths = {sys.prefix, sys.base_prefix, *packages, *_SYSTEM, str(ROOT / "radeval_lib"), str(MANIFESTS)}
    binds = [part for path in sorted(paths, key=len) for part in ("--ro-bind-try", path, path)]
    hosts = folder / "hosts"  # Otter and the kernel speak to each other by this name
    hosts.write_text("127.0.0.1 localhost\n", encoding="utf-8")
    return [
        *("bwrap", "--die-with-parent", "--unshare-all", "--hostname", "lab"),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--tmpfs", "/tmp", "--tmpfs", _HOME, "--setenv", "HOME", _HOME, *binds),
        *("--ro-bind", str(hosts), "/etc/hosts"),
        *("--ro-bind", str(folder), _IN, "--bind", str(folder / "results"), f"{_IN}/results", "--chdir", _IN),
    ]
