"""What a run records as read: every file that fills a role, and nothing that it did not read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from notebooks.rales.fitting import describe_inputs
from radeval_lib import checksums
from radeval_lib.errors import NotebookError
from radeval_lib.jobs.rales_tasks import task_of
from radeval_lib.paths import THREAD_VARIABLES, notebooks
from radeval_lib.study import begin
from radeval_lib.study.profiles import profile
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import declared

PUBLIC = {
    role: filler for role, filler in profile("open").roles.items() if filler not in ("synthetic", "absent")
}


def _run(notebook: str, folder: Path, root: Path | None = None, name: str = "open") -> Run:
    return begin(notebook, profile=name, seed=0, output_dir=str(folder), data_root=str(root or ""))


@pytest.mark.parametrize("role", PUBLIC)
def test_the_files_of_every_role_are_recorded(role: str, data_root: Path, tmp_path: Path) -> None:
    notebook = next(name for name in notebooks() if role in declared(name).data)
    run = _run(notebook, tmp_path, data_root)
    run.load(role)
    read = run.inputs.of([role])["data"]
    assert read
    assert read == {name: checksums.of_file(data_root / name) for name in read}
    assert run.inputs.files == {role: read}


def test_data_that_the_notebook_does_not_declare_are_refused(data_root: Path, tmp_path: Path) -> None:
    run = _run("across/which_judge", tmp_path, data_root)
    with pytest.raises(NotebookError):
        run.load("summaries")
    with pytest.raises(NotebookError):
        run.find("openi")
    with pytest.raises(NotebookError):
        run.evidence("reports")


def test_settings_that_the_notebook_does_not_declare_are_out_of_reach(tmp_path: Path) -> None:
    run = _run("across/which_judge", tmp_path, name="smoke")
    assert set(run.profile.roles) == {"rated_pairs", "fact_ratings"}
    assert run.profile.experiments == {}


def test_a_changed_file_starts_a_search_over(data_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    (root / "openi").mkdir(parents=True)
    path = root / "openi" / "indiana_reports.csv"
    shutil.copyfile(data_root / "openi" / "indiana_reports.csv", path)
    task, fingerprints = task_of("procedures"), []
    for _ in range(2):
        run = _run("rales/fitting", tmp_path / "out", root, "smoke")
        run.inputs.note_file(task.role, path, "openi/indiana_reports.csv")  # as `load` does, of any filler
        fingerprints.append(describe_inputs(run, task, "packaged-minilm-2", "packaged-minilm-2"))
        path.write_bytes(path.read_bytes() + b"\n")
    assert fingerprints[0] != fingerprints[1]


def test_threads_are_the_profiles_whatever_the_environment_says(tmp_path: Path) -> None:
    code = (
        "import torch, os\nfrom threadpoolctl import threadpool_info\nfrom radeval_lib.study import begin\n"
        f"begin('rales/nlu_scores', profile='smoke', seed=0, output_dir={str(tmp_path)!r})\n"
        "torch.ones(99, 99) @ torch.ones(99, 99)\n"
        "print(torch.get_num_threads(), *{one['num_threads'] for one in threadpool_info()})"
    )
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "2")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "1"]
