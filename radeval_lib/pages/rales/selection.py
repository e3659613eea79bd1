"""The cell on selecting by the test set: one search, on several draws of records, scored on both sides."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from radeval_lib.pages.rales.fitting import Plan, ready_encoder, search_on, what_of
from radeval_lib.pages.rales.settings import RalesSettings
from radeval_lib.pages.rales.tasks import BenchmarkTask
from radeval_lib.study.runs import Run


def repeated_search(run: Run, settings: RalesSettings, encoder: str, task: BenchmarkTask) -> pd.DataFrame:
    """Counts on the test part of every trial of every search, with ``search``, ``trial`` and ``value``, the
    trial's measure on validation."""
    chosen = settings.selection
    small = settings.model_copy(update={"documents": {task.name: chosen.documents}})
    parts, rows = task.parts(run.load(task.role)), []
    with tempfile.TemporaryDirectory() as folder:
        start = ready_encoder(run, settings, encoder, parts, run.seed, Path(folder))
        device, where = run.profile.device, run.unfinished("searches")
        plan = Plan(task, parts, small, "all", run.seed, device, run.rng, lambda draw: start, where)
        for number in range(chosen.searches):
            own, what = where / f"search {number}", what_of(run, encoder)
            rows += [
                trial.tables["counts"].assign(search=number, trial=trial.number, value=trial.value)
                for trial in search_on(plan, number, chosen.trials, own, what, run.seed + number)
            ]
    return pd.concat(rows, ignore_index=True)
