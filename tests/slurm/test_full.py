"""A cell of each kind that `full` plans, as jobs of SLURM, on files and models of the exact formats."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from radeval_lib.pipeline import steps
from radeval_lib.study import cells, profiles
from tests.pipeline.conftest import TinyRepository
from tests.slurm import cluster, full, study

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(study.missing()), reason=study.missing() or "SLURM is here"),
]


def test_each_kind_of_cell_runs_as_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profiles.profile("full")
    chosen = full.one_of_each_kind(profile)
    names = {f"{cell.notebook}/{cell.slug}": cell for cell in chosen}
    (tmp_path / "repository").mkdir()
    full.write_repository(tmp_path / "repository")
    for name, content in full.files().items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(content)
    full.write_models(tmp_path / "hub", full.hub_names(profile))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config = f"data_root={tmp_path / 'data'}"
    with cluster.running(tmp_path / "cluster", workers=3) as slurm:
        at_work = study.Study(TinyRepository(tmp_path / "repository"), slurm, "full")
        started = time.monotonic()
        status = at_work.run(*names, config=config, seconds=3600)
        said = at_work.said.read_text(encoding="utf-8")
        print(f"{len(names)} cells of {len(steps.graph('full').cells)} in {time.monotonic() - started:.0f} s")
        assert status == 0, said[-3000:]
        for cell in chosen:
            cells.check(cells.folder(at_work.build, cell), cell, "full")
        jobs = (tmp_path / "cluster" / "jobs.txt").read_text().splitlines()
        assert [re.findall(r"JobState=(\w+) .*ProcCnt=(\d+)", job) for job in jobs] == [
            [("COMPLETED", str(full.LESS["threads"]))] for _ in jobs
        ]
        assert len(jobs) == len(names)
        assert at_work.run(*names, config=config) == 0
        assert "Nothing to be done" in at_work.said.read_text(encoding="utf-8")
