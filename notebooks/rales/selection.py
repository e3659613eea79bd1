"""The cell on selecting by the test set: one search, on several draws of records, scored on both sides."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from notebooks.rales.fitting import EncoderFactory, Plan, fingerprint, search_on
from radeval_lib.jobs.rales.settings import RalesSettings
from radeval_lib.jobs.rales.tasks import BenchmarkTask
from radeval_lib.study.runs import Run


def repeated_search(run: Run, settings: RalesSettings, encoder: str, task: BenchmarkTask) -> pd.DataFrame:
    """Counts on the test part of every trial of every search, with ``search``, ``trial`` and ``value``, the
    trial's measure on validation."""
    chosen = settings.selection
    small = settings.model_copy(update={"documents": {task.name: chosen.documents}})
    parts, rows = task.parts(run.load(task.role)), []
    with tempfile.TemporaryDirectory() as folder:
        start = EncoderFactory(run, settings, encoder, parts, Path(folder))(0)
        what, where = fingerprint(run, task, encoder, start), run.unfinished("searches")
        plan = Plan(
            task=task,
            parts=parts,
            settings=small,
            regime="all",
            seed=run.seed,
            device=run.profile.device,
            rng=run.rng,
            start=lambda draw: start,
            folder=where,
        )
        for number in range(chosen.searches):
            own = where / f"search {number}"
            rows += [
                trial.tables["counts"].assign(search=number, trial=trial.number, value=trial.value)
                for trial in search_on(plan, number, chosen.trials, own, what, run.seed + number)
            ]
    return pd.concat(rows, ignore_index=True)
