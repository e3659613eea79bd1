"""Records a set of studies with the outputs of systems: see :mod:`radeval_lib.pages.across.system_sets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.metrics.base import Metric
from radeval_lib.pages.across import coded_findings, score_variants, system_sets
from radeval_lib.pages.across.recording_runs import absent
from radeval_lib.pages.across.system_sets import METRICS
from radeval_lib.study import recorded_metrics, recordings
from radeval_lib.study.behaviours import recorded_behaviour
from radeval_lib.study.runs import Run

NAME = recordings.SYSTEMS
DECIMALS = 5  # of recorded scores


def tables(run: Run, root: Path, wordnet: str | None = None) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The set's table and its parts, scored by ``run``'s metrics; ``wordnet``: a folder of WordNet."""
    texts = read(root)
    frame = system_sets.table(texts)
    for side in ("reference", "candidate"):
        frame[f"{side}_words"] = [len(text.split()) for text in texts[side]]
    expected, shuffles = [], []
    for name in METRICS:
        recorded = column(run, name, texts)
        frame[name] = recorded.values
        expected.append(recorded.expected)
        shuffles.append(recorded.shuffles)
    keys = expected[0][["study", "system"]]
    parts = {
        "expected": pd.concat([keys, *(one.drop(columns=["study", "system"]) for one in expected)], axis=1),
        "shuffles": pd.concat(shuffles, ignore_index=True),
        "variants": variants(run, texts, wordnet),
        "released": system_sets.released(root),
        "codes": coded_findings.agreement(root, 2_000, np.random.default_rng(0)),
    }
    return frame, parts


def read(root: Path) -> pd.DataFrame:
    """The texts of the set.

    Raises
    ------
    ParameterError
        Where the data root does not hold it.
    """
    texts = system_sets.outputs(root)
    if texts.empty:
        raise absent(NAME)
    return texts


class Column(NamedTuple):
    """What a metric says of a set: scores of its rows, and both tables of :func:`system_sets.shuffles`."""

    values: NDArray[np.float64]
    expected: pd.DataFrame
    shuffles: pd.DataFrame


def column(run: Run, name: str, texts: pd.DataFrame) -> Column:
    """A metric's column."""
    made = metric(run, name)
    values = made.values(texts["reference"].tolist(), texts["candidate"].tolist())
    rng = np.random.default_rng([0, METRICS.index(name)])
    return Column(values.round(DECIMALS), *system_sets.shuffles(texts, {name: made}, system_sets.FILES, rng))


def variants(run: Run, texts: pd.DataFrame, wordnet: str | None = None) -> pd.DataFrame:
    """Every variant's value of each file and of the constant."""
    systems = [*system_sets.FILES, system_sets.CONSTANT]
    models = {role: run.model(role) for role in ("encoder", "graph_model", "ner_model")}
    return score_variants.computed(score_variants.all_variants(models, wordnet), texts, systems)


def metric(run: Run, name: str) -> Metric:
    """A metric as it is now, whatever was recorded of it."""
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
