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

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.labs import building, sources
from radeval_lib.labs.sources import Lab
from radeval_lib.labs.time_limit import SECONDS
from radeval_lib.paths import MANIFESTS, ROOT

_HOME = "/home/student"
_IN = "/submission"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache")
_MEMORY, _FILE = 8 * 10**9, 10**8  # bytes of address space of a process, of a file
_GRACE = 120  # seconds beyond the notebook's limit for what cannot be interrupted, then it is not graded
_ID = re.compile(r"^student_id\s*=\s*[\"']?(.*?)[\"']?\s*(?:#.*)?$", re.MULTILINE)
_LAB = re.compile(r"otter\.Notebook\([\"'](\w+)\.ipynb[\"']\)")


@dataclass(frozen=True)
class Rules:
    """How submissions are run."""

    seconds: int = 120
    lab: str = ""
    isolated: bool = True
    jobs: int = 0


def grade(folder: Path, output: Path, rules: Rules, say: Callable[[str], None] = print) -> pd.DataFrame:
    """Grade every notebook below a folder, and write a table and what Otter says of each.

    Returns
    -------
    DataFrame
        A row for each submission: ``file``, ``student`` (the id in it), ``lab``, ``status`` (*graded*, or why
        it was not), ``points`` of the tests, ``of``, a column for each task, empty where it is not graded or
        to be marked by hand. Feedback is in ``<output>_feedback/<file>.txt``.
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
        needed = {lab.name: lab for path in files if (lab := _lab_of(path, rules.lab))}
        for lab in needed.values():
            building.build(lab, archives)
        with ThreadPoolExecutor(rules.jobs or os.cpu_count()) as pool:

            def run(path: Path) -> dict[str, Any]:
                name = str(path.relative_to(folder))
                row, said = _graded(path, _lab_of(path, rules.lab), archives, rules)
                atomic.write_text(feedback / f"{name}.txt", said)
                say(
                    f"{name}: "
                    + (f"{row['points']:g} of {row['of']:g}" if "points" in row else row["status"])
                )
                return {"file": name, **row}

            table = pd.DataFrame(pool.map(run, files))
    finally:
        shutil.rmtree(archives)
    atomic.write_text(output, table.to_csv(index=False))
    return table


def _lab_of(path: Path, named: str) -> Lab | None:
    """Return the lab that a notebook names where it begins, or else the one that was named."""
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8").replace('\\"', '"')
        if match := _LAB.search(text):
            return next((lab for lab in sources.labs() if lab.name == match[1]), None)
    return sources.find(named) if named else None


def _graded(path: Path, lab: Lab | None, archives: Path, rules: Rules) -> tuple[dict[str, Any], str]:
    """Return a submission's row without its file, and its feedback."""
    try:
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        student = next((match[1] for cell in code if (match := _ID.search(cell.source))), "")
    except Exception as error:  # whatever may be in a file
        status = f"not graded: no notebook ({type(error).__name__})"
        return {"student": "", "lab": "", "status": status}, status
    row = {"student": student, "lab": lab.name if lab else ""}
    if lab is None:
        status = "not graded: it does not say which lab it is; name it with --lab"
        return row | {"status": status}, status
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for cell in code:
        cell.outputs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "results").mkdir()
        nbformat.write(notebook, folder / f"{lab.name}.ipynb")
        shutil.copy(archives / "autograder" / f"{lab.name}.zip", folder / "autograder.zip")
        why = _run(folder, path.parent, lab.name, rules)
        try:
            results = json.loads((folder / "results" / "results.json").read_text(encoding="utf-8"))
            scores = {test["name"]: test for test in results["tests"] if "max_score" in test}
        except (OSError, ValueError):
            scores = {}
    if not scores:
        status = f"not graded: {why or 'Otter has no results'}"
        return row | {"status": status}, status
    row |= {"status": "graded", "points": sum(one["score"] for one in scores.values())}
    row |= {"of": sum(one["max_score"] for one in scores.values())}
    row |= {task.name: scores.get(task.name, {}).get("score") for task in sources.tasks(lab)}
    said = [f"{one['score']:g} of {one['max_score']:g} {one['output']}" for one in scores.values()]
    return row, "\n\n".join(said)


def _run(folder: Path, handed_in: Path, lab: str, rules: Rules) -> str:
    """Run Otter on the notebook in a folder, and leave its results there; return why there are none."""
    command = [sys.executable, "-m", "otter", "run", f"{lab}.ipynb", "-a", "autograder.zip", "-o", "results"]
    environment = {"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment |= {SECONDS: str(rules.seconds), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    if rules.isolated:
        command, place = _isolated(folder) + command, Path("/")
    else:
        environment, place = os.environ | environment, folder

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))

    process = subprocess.Popen(
        command, cwd=place, env=environment, preexec_fn=limit, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _, printed = process.communicate(timeout=rules.seconds + _GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return f"it did not end within {rules.seconds} + {_GRACE} seconds"
    return (printed.strip().splitlines() or [""])[-1]


def _isolated(folder: Path) -> list[str]:
    """Begin a command that sees Python, the library and the folder alone, without network; of the folder it
    may write to ``results``."""
    packages = [path for path in sys.path if path.endswith("-packages")]
    paths = {sys.prefix, sys.base_prefix, *packages, *_SYSTEM, str(ROOT / "radeval_lib"), str(MANIFESTS)}
    binds = [part for path in sorted(paths, key=len) for part in ("--ro-bind-try", path, path)]
    hosts = folder / "hosts"  # Otter and the kernel speak to each other by this name
    hosts.write_text("127.0.0.1 localhost\n", encoding="utf-8")
    return [
        *(
            "bwrap",
            "--die-with-parent",
            "--unshare-all",
            "--hostname",
            "lab",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
        ),
        *("--tmpfs", "/tmp", "--tmpfs", _HOME, "--setenv", "HOME", _HOME, *binds),
        *("--ro-bind", str(hosts), "/etc/hosts"),
        *("--ro-bind", str(folder), _IN, "--bind", str(folder / "results"), f"{_IN}/results", "--chdir", _IN),
    ]
