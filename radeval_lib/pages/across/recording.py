"""Records what metrics say of public test sets, as numbers that stand in the repository.

A set is written whole or not at all: ``<set>.csv`` and ``<set>.yml`` of ``data_manifests/recorded/``, whose
README names the columns. No text, no source id and nothing from which a text could be rebuilt is recorded.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from radeval_lib import atomic, checksums, origin, registry
from radeval_lib.data import radpref, readers
from radeval_lib.data.manifests import find, load_manifest
from radeval_lib.errors import ParameterError
from radeval_lib.metrics.base import Metric
from radeval_lib.models.judges.rules import judge_pair
from radeval_lib.paths import RECORDED
from radeval_lib.study import code, recordings
from radeval_lib.study.beginning import begin_cell
from radeval_lib.study.runs import Run

SCHEMA = 1
_JUDGED = {"rules_significant": True, "rules_insignificant": False}  # errors that the judge by rules names
_OUTPUTS = "build/runs/recording"
NOTEBOOK = "across/which_judge"
"""Whose metrics are recorded."""


def record(name: str, profile: str, data_root: str = "", *, unfreeze: bool = False) -> Path:
    """Score a set with every metric of :data:`NOTEBOOK`, over the models of a profile's build, and write it.

    Parameters
    ----------
    unfreeze : score with metrics that read by rules though they behave otherwise than when the set was
        recorded; without it they keep their columns.

    Raises
    ------
    ParameterError
        Where there is no such set, or no data root that holds it.
    """
    if name not in SETS:
        raise ParameterError(f"no set {name!r} is recorded", "record", f"Sets: {', '.join(SETS)}.")
    run: Run = begin_cell(NOTEBOOK, profile=profile, seed=0, data_root=data_root, output_dir=_OUTPUTS)
    root = run.data_root
    if root is None or not (pairs := recordings.texts(name, root)):
        raise ParameterError(f"no data root holds {name!r}", "record", f"See `radbook data status {name}`.")
    frame, metrics = SETS[name](root), {metric: _unfrozen(run, metric) for metric in run.declared.metrics}
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    frame["reference_words"] = [len(text.split()) for text in references]
    frame["candidate_words"] = [len(text.split()) for text in candidates]
    kept = _kept(name, metrics) if not unfreeze else {}
    for key, metric in metrics.items():
        old = kept.get(key)
        frame[key] = metric.score(references, candidates).values.round(9) if old is None else old
    if kept:
        frame[list(_JUDGED)] = recordings.load(name).table[list(_JUDGED)]
    else:
        judged = [judge_pair(*pair) for pair in pairs]
        for column, significant in _JUDGED.items():
            frame[column] = [sum(error.significant == significant for error in one.errors) for one in judged]
    columns = {
        key: recordings.load(name).about["columns"][key] if key in kept else _column(metric)
        for key, metric in metrics.items()
    }
    about = {**_about(name, root, run), "columns": columns}
    text = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110)
    atomic.write_text(RECORDED / f"{name}.csv", frame.to_csv(index=False))
    atomic.write_text(RECORDED / f"{name}.yml", text)
    return RECORDED / f"{name}.csv"


def _kept(name: str, metrics: dict[str, Metric]) -> dict[str, pd.Series]:
    """The recorded columns of metrics that read by rules, where these behave otherwise now."""
    if name not in recordings.names():
        return {}
    stale = [key for key in registry.FROZEN_METRICS if recordings.is_out_of_date(name, metrics[key])]
    return {key: recordings.load(name).table[key] for key in registry.FROZEN_METRICS} if stale else {}


def _unfrozen(run: Run, name: str) -> Metric:
    """A metric as it is now, whatever was recorded of it."""
    made = run.metric(name)
    return getattr(made, "_metric", made)


def _column(metric: Metric) -> dict[str, Any]:
    """With what a metric's column is made."""
    settings = {key: value for key, value in metric.settings().items() if key not in metric.models()}
    return {
        "settings": {key: str(value) for key, value in settings.items()},
        "behaviour": recordings.behaviour(metric),
        "date": datetime.date.today().isoformat(),
        "commit": code.commit()["commit"],
    }


def _about(name: str, root: Path, run: Run) -> dict[str, Any]:
    manifest = load_manifest(name)
    files = [(file.path, find(name, root, file.path)) for file in manifest.files]
    return {
        "schema": SCHEMA,
        "set": name,
        "title": manifest.title,
        "source": manifest.source,
        "licence": manifest.licence,
        "files": {place: checksums.of_file(path) for place, path in files if path},
        "profile": run.whole_profile.name,
        "device": origin.device(run.whole_profile.device),
        "models": run.reading.used_models(),
        "packages": origin.package_versions(),
    }


def _radpref(root: Path) -> pd.DataFrame:
    """A row per candidate: ``number``, ``case`` (equal references share one), ``set`` (candidates that were
    graded side by side), ``system``, and the grade that each radiologist gave, from 1 to 5."""
    cases = radpref.load_cases(_found("radpref", root, "preference_data.json"))
    rows = [(case, key) for case in cases for key in radpref.CANDIDATES]
    frame = pd.DataFrame(
        {
            "number": range(len(rows)),
            "case": pd.factorize(pd.Series([case.reference for case, _ in rows]))[0],
            "set": [place // len(radpref.CANDIDATES) for place in range(len(rows))],
            "system": pd.factorize(pd.Series([case.sources[key] for case, key in rows]))[0] + 1,
        }
    )
    for number in (1, 2, 3):
        ratings = radpref.load_ratings(_found("radpref", root, f"user_{number}.json"))
        grade = {(one.case, one.candidate): one.rating for one in ratings}
        frame[f"grade_{number}"] = pd.array([grade.get((case.id, key)) for case, key in rows], dtype="Int64")
    return frame


def _mts_dialog(root: Path) -> pd.DataFrame:
    """A row per candidate: ``number``, ``case`` (a dialogue), ``system`` and the experts' rates."""
    records = readers.load("mts_dialog", root)
    return pd.DataFrame(
        {
            "number": range(len(records)),
            "case": pd.factorize(pd.Series([one.case for one in records]))[0],
            "system": [int(one.group.removeprefix("system ")) for one in records],
            **{
                rate: [getattr(one, rate) for one in records]
                for rate in ("precision", "recall", "f1", "hallucination", "omission")
            },
        }
    )


def _found(name: str, root: Path, file: str) -> Path:
    path = find(name, root, file)
    if path is None:
        raise ParameterError(f"the data root has no {file}", name, f"See `radbook data status {name}`.")
    return path


SETS: dict[str, Callable[[Path], pd.DataFrame]] = {"radpref": _radpref, "mts_dialog": _mts_dialog}
"""What is known of each candidate of a set, beside its scores."""
