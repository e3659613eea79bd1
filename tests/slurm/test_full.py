"""A job of each kind that `full` plans, on a cluster with SLURM, on files and models of the exact formats."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from radeval_lib.study.jobs import Job, job_folder, read
from tests.full import tiny
from tests.pipeline.conftest import TinyRepository
from tests.slurm import cluster

pytestmark = [pytest.mark.nightly, cluster.needs_slurm]

KINDS = ("scheme", "task", "regime", "system")
"""Parameters that decide which code a job runs."""
_LIST = """
import json
from radeval_lib.pipeline import steps
jobs = steps.graph("full").jobs
print(json.dumps([[job.notebook, dict(job.items)] for job in jobs.values()]))
"""


def one_of_each_kind(project: TinyRepository) -> dict[str, Job]:
    """Return a job of each kind by its name, the next of its kind each time: each encoder gets its turn."""
    listed = project.run([sys.executable, "-c", _LIST])
    groups: dict[tuple[Any, ...], list[Job]] = {}
    for notebook, parameters in json.loads(listed.stdout):
        kind = (notebook, *(parameters.get(name) for name in KINDS))
        groups.setdefault(kind, []).append(Job.of(notebook, **parameters))
    chosen = [group[number % len(group)] for number, group in enumerate(groups.values())]
    return {f"{job.notebook}/{job.slug}": job for job in chosen}


def test_each_kind_of_job_runs_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = tiny.make(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(full.hub))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config, project = f"data_root={full.root}", TinyRepository(full.path)
    jobs = one_of_each_kind(project)
    with cluster.running(tmp_path / "cluster", workers=3) as slurm:
        at_work = cluster.Study(project, slurm, "full")
        status = at_work.run(*jobs, config=config, seconds=3600)
        assert status == 0, at_work.output.read_text(encoding="utf-8")[-3000:]
        for job in jobs.values():
            read(job_folder(at_work.build, job), job, "full")
        ran = (tmp_path / "cluster" / "jobs.txt").read_text().splitlines()
        states = [re.findall(r"JobState=(\w+) .*ProcCnt=(\d+)", line) for line in ran]
        assert states == [[("COMPLETED", str(tiny.SMALL["threads"]))]] * len(ran)
        assert at_work.run(*jobs, config=config) == 0
        assert "Nothing to be done" in at_work.output.read_text(encoding="utf-8")
