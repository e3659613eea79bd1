"""Grading of a folder of submissions, each by a separate ``otter run`` that bubblewrap isolates."""

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
_SANDBOX = "/submission"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache")
_MEMORY_LIMIT = 8 * 10**9  # bytes of address space per process
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_GRACE = 120  # seconds; a notebook that is running this long after the time limit is not graded
_STUDENT_ID = re.compile(r"^student_id\s*=\s*[\"']?(.*?)[\"']?\s*(?:#.*)?$", re.MULTILINE)
_LAB_NAME = re.compile(r"otter\.Notebook\([\"'](\w+)\.ipynb[\"']\)")


@dataclass(frozen=True)
class Rules:
    """Options for grading submissions.

    Attributes
    ----------
    seconds : time limit per notebook.
    lab : number or name of the lab to assume for notebooks that name none; empty to leave them ungraded.
    isolated : whether bubblewrap isolates each submission.
    jobs : number of submissions graded at once; 0 for one per core.
    """

    seconds: int = 120
    lab: str = ""
    isolated: bool = True
    jobs: int = 0


def grade(folder: Path, output: Path, rules: Rules, say: Callable[[str], None] = print) -> pd.DataFrame:
    """Grade every notebook below a folder, and write the marks and the feedback.

    Parameters
    ----------
    folder : the folder with the submissions.
    output : CSV file for the marks. The feedback on each notebook is written beside it, to
        ``<name>_feedback/<file>.txt``, where ``<name>`` is the name of the CSV file without ``.csv``.
    rules : the options.
    say : called with a line about each notebook.

    Returns
    -------
    DataFrame
        One row per notebook: ``file`` (path in the folder), ``student`` (the id in the notebook), ``lab``,
        ``status`` (``graded``, or the reason why not), ``points`` (from tests), ``of`` (the maximum of
        ``points``), and a column of points for each task that carries points. Points are NaN for a task that
        is marked by hand or belongs to another lab, and for a notebook that was not graded. If no notebook
        was graded, there are no columns of points.

    Raises
    ------
    NotebookError
        If there is no notebook, bubblewrap is needed but not installed, or ``rules.lab`` is needed but is not
        a lab.
    """
    if rules.isolated and not shutil.which("bwrap"):
        remedy = "Install it (Linux: apt install bubblewrap), or add --trust-submissions."
        raise NotebookError("bubblewrap, which isolates submissions, is not installed", remedy=remedy)
    files = [path for path in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts]
    if not files:
        raise NotebookError("no notebook (*.ipynb)", str(folder), "Pass the folder with the submissions.")
    feedback = output.with_name(f"{output.stem}_feedback")
    archives = Path(tempfile.mkdtemp())
    try:
        for lab in {lab for path in files if (lab := _find_lab(path, rules.lab))}:
            sources.build(lab, archives)
        with ThreadPoolExecutor(rules.jobs or os.cpu_count()) as pool:

            def grade_file(path: Path) -> dict[str, Any]:
                name = str(path.relative_to(folder))
                row, text = _grade_submission(path, archives, rules)
                atomic.write_text(feedback / f"{name}.txt", text)
                say(f"{name}: {row['points']:g} of {row['of']:g}" if "of" in row else f"{name}: {text}")
                return {"file": name, **row}

            table = pd.DataFrame(pool.map(grade_file, files))
    finally:
        shutil.rmtree(archives)
    atomic.write_text(output, table.to_csv(index=False))
    return table


def _find_lab(path: Path, default: str) -> Lab | None:
    """Return the lab that a notebook names in its call to Otter or, without such a call, the lab ``default``.

    Return None if the named lab does not exist, or if the notebook names none and ``default`` is empty.
    Raises NotebookError if ``default`` is needed but does not exist.
    """
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8").replace('\\"', '"')
        if match := _LAB_NAME.search(text):
            return next((lab for lab in sources.list_labs() if lab.name == match[1]), None)
    return sources.find(default) if default else None


def _grade_submission(path: Path, archives: Path, rules: Rules) -> tuple[dict[str, Any], str]:
    """Return (row, feedback) of a submission: its row of the table, without ``file``, and a string.

    If the submission cannot be graded, the feedback says why. ``archives`` is the folder of built labs.
    """
    lab = _find_lab(path, rules.lab)
    row: dict[str, Any] = {"student": "", "lab": ""}
    try:
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        row["student"] = next((match[1] for cell in code if (match := _STUDENT_ID.search(cell.source))), "")
        if lab is None and (names := [match[1] for cell in code if (match := _LAB_NAME.search(cell.source))]):
            problem = f"no lab is called {names[0]!r}"
            raise NotebookError(problem, remedy="Correct the name in otter.Notebook(...).")
        if lab is None:
            problem = 'the notebook does not call otter.Notebook("LAB.ipynb")'
            raise NotebookError(problem, remedy="Add the call, or grade again with --lab.")
        row["lab"] = lab.name
        notebook.metadata = {"kernelspec": _KERNEL}
        for cell in code:
            cell.outputs = []
        scores = _run_otter(notebook, archives / "autograder" / f"{lab.name}.zip", rules)
    except Exception as error:  # a submission may be anything
        status = f"not graded: {error if isinstance(error, NotebookError) else type(error).__name__}"
        return row | {"status": status}, status
    row |= {"status": "graded", "points": sum(score["score"] for score in scores.values())}
    row |= {"of": sum(score["max_score"] for score in scores.values())}
    row |= {task.name: scores.get(task.name, {}).get("score") for task in sources.list_tasks(lab)}
    feedback = [f"{test['score']:g} of {test['max_score']:g} {test['output']}" for test in scores.values()]
    return row, "\n\n".join(feedback)


def _run_otter(notebook: NotebookNode, archive: Path, rules: Rules) -> dict[str, dict[str, Any]]:
    """Grade a notebook with Otter, and return a mapping from task to test result, for tasks with tests.

    A result has the keys ``score``, ``max_score`` and ``output``, among others. Raises NotebookError if Otter
    fails, does not end in time or runs no test.
    """
    environment = {"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment |= {SECONDS: str(rules.seconds), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "results").mkdir()
        nbformat.write(notebook, folder / "lab.ipynb")
        shutil.copy(archive, folder / "autograder.zip")
        command = [sys.executable, "-m", "otter", "run", "lab.ipynb", "-o", "results"]
        process = subprocess.Popen(
            [*_make_isolation_command(folder), *command] if rules.isolated else command,
            cwd=folder,
            env=environment if rules.isolated else os.environ | environment,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT)),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            messages = process.communicate(timeout=rules.seconds + _GRACE)[1]
            results = json.loads((folder / "results" / "results.json").read_text(encoding="utf-8"))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            problem = f"the notebook did not end within {rules.seconds} + {_GRACE} seconds"
            raise NotebookError(problem, remedy="Correct the cell that does not end.") from None
        except OSError:
            raise NotebookError(f"Otter failed: {(messages.strip().splitlines() or ['?'])[-1]}") from None
    scores = {test["name"]: test for test in results["tests"] if "max_score" in test}
    if not scores:
        raise NotebookError("the notebook ended before its tests", remedy="Correct the cell that ends it.")
    return scores


def _make_isolation_command(folder: Path) -> list[str]:
    """Return the bubblewrap command; append the command to isolate.

    The isolated process has no network. It can read only the system, Python, the library with its manifests,
    and ``folder``. It can write only to ``results`` in ``folder`` and to temporary folders.
    """
    packages = [path for path in sys.path if path.endswith("-packages")]
    paths = {sys.prefix, sys.base_prefix, *packages, *_SYSTEM, str(ROOT / "radeval_lib"), str(MANIFESTS)}
    binds = [part for path in sorted(paths, key=len) for part in ("--ro-bind-try", path, path)]
    hosts = folder / "hosts"  # defines localhost, through which Otter and the kernel connect
    hosts.write_text("127.0.0.1 localhost\n", encoding="utf-8")
    return [
        *("bwrap", "--die-with-parent", "--unshare-all", "--hostname", "lab"),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--tmpfs", "/tmp", "--tmpfs", _HOME, "--setenv", "HOME", _HOME, *binds),
        *("--ro-bind", str(hosts), "/etc/hosts"),
        *("--ro-bind", str(folder), _SANDBOX, "--bind", str(folder / "results"), f"{_SANDBOX}/results"),
        *("--chdir", _SANDBOX),
    ]
