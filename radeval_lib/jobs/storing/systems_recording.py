"""Records a set of studies with the outputs of systems: see :mod:`radeval_lib.jobs.storing.system_sets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.jobs.storing import bleu_variants, coded_findings, system_sets
from radeval_lib.jobs.storing.recording_runs import absent
from radeval_lib.jobs.storing.system_sets import CONSTANT, FILES, METRICS
from radeval_lib.metrics.base import Metric
from radeval_lib.study import recorded_metrics, recordings
from radeval_lib.study.recordings import recorded_behaviour
from radeval_lib.study.runs import Run

NAME = recordings.SYSTEMS
DECIMALS = 5  # of stored scores


def tables(run: Run, root: Path) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the set's table and its parts, scored by ``run``'s metrics and models as they are now."""
    texts = read(root)
    frame = system_sets.table(texts)
    sides = texts["reference"].tolist(), texts["candidate"].tolist()
    for name, side in zip(("reference", "candidate"), sides, strict=True):
        frame[f"{name}_words"] = [len(text.split()) for text in side]
    for name in METRICS:
        frame[name] = metric(run, name).values(*sides).round(DECIMALS)
    parts = {
        "variants": bleu_variants.computed(texts, [*FILES, CONSTANT]),
        "released": system_sets.released(root),
        "codes": coded_findings.agreement(root, 2_000, np.random.default_rng(0)),
    }
    return frame, parts


def read(root: Path) -> pd.DataFrame:
    """Return the texts of the set.

    Raises
    ------
    ParameterError
        Where the data root does not hold it.
    """
    texts = system_sets.outputs(root)
    if texts.empty:
        raise absent(NAME)
    return texts


def metric(run: Run, name: str) -> Metric:
    """Return a metric as it is now, whatever was recorded of it."""
    made = run.metric(name)
    return getattr(made, "_metric", made)


def description(run: Run) -> dict[str, Any]:
    """With what each metric's column is made, without date and commit."""
    made = {name: metric(run, name) for name in METRICS}
    return {
        name: {
            "settings": recorded_metrics.settings_of(metric_now),
            **recorded_behaviour(metric_now),
            "signature": str(metric_now.signature()),
        }
        for name, metric_now in made.items()
    }
