"""Records what metrics say of public test sets, as numbers that stand in the repository.

A set is written whole or not at all: ``<set>.csv`` and ``<set>.yml`` of ``data_manifests/recorded/``, whose
README names the columns. No text, no source id and nothing from which a text could be rebuilt is recorded.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pandas as pd
import yaml

from radeval_lib import atomic, checksums, provenance, registry
from radeval_lib.data import readers, recorded
from radeval_lib.data.manifests import find, load_manifest
from radeval_lib.errors import ParameterError
from radeval_lib.jobs.green import freeze
from radeval_lib.jobs.ratescore import learned_weights
from radeval_lib.jobs.storing import systems_recording
from radeval_lib.jobs.storing.recorded_sets import DECIMALS, SCORING, SETS, TABLES, Parts, names
from radeval_lib.jobs.storing.recording_runs import absent, begin, require_known, require_texts, run_of
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.rules.judge import judge_pair
from radeval_lib.study import recorded_metrics, recordings
from radeval_lib.study.recordings import recorded_behaviour
from radeval_lib.study.runs import Run

SCHEMA = 2
_JUDGED = {"rules_significant": True, "rules_insignificant": False}  # errors that the judge by rules names
_MATCHED = "rules_matched"
_COUNTED = "radpref"
"""The set on which each use of the judge by rules is counted."""
SOURCES = {"fingerprints": "openi"}
"""The data set of a stored set that is part of one."""


class _Content(NamedTuple):
    """What is written of a set: its table, further ones by name, and what is known of them."""

    table: pd.DataFrame
    parts: Parts
    about: dict[str, Any]


def record(
    name: str, profile: str, data_root: str = "", *, unfreeze: bool = False, keep_scores: bool = False
) -> Path:
    """Score a set with every metric of its notebook, over the models of a profile's build, and write it.

    Parameters
    ----------
    unfreeze : score with metrics that read by rules though they behave otherwise than when the set was
        recorded; without it they keep their columns.
    keep_scores : score nothing; write ratings, counts and lengths beside the scores that are recorded.

    Raises
    ------
    ParameterError
        Where there is no such set, or no data root that holds it, or there are no scores to keep: those of
        :data:`recorded_sets.SETS` can be kept.
    """
    require_known(name, names())
    if keep_scores and name not in SETS:
        raise ParameterError(f"scores of {name!r} cannot be kept", "record", f"Sets: {', '.join(SETS)}.")
    run, root = begin(name, profile, data_root)
    if name in TABLES:
        return _write(name, _of_tables(name, run, root))
    if name == recordings.SYSTEMS:
        return _write(name, _of_systems(run, root))
    if not (pairs := recordings.texts(name, root)):
        raise absent(name)
    if keep_scores and name not in recorded.names():
        raise ParameterError(f"no scores of {name!r} are recorded", "record", "Leave out --keep-scores.")
    counted = unfreeze and name == _COUNTED
    if counted:
        freeze.require_frozen()
    frame, parts = SETS[name](root)
    for side, texts in zip(("reference", "candidate"), zip(*pairs, strict=True), strict=True):
        frame[f"{side}_words"] = [len(text.split()) for text in texts]
    if keep_scores:
        return _write(name, _Content(frame, parts, _keep_scores(name, frame)))
    columns = _score(name, frame, pairs, run, unfreeze)
    variants = {}
    if name == _COUNTED:
        variants = _score_variants(frame, pairs, run_of("ratescore/rated_pairs", profile, data_root))
    about = {**_about(name, root, run), "columns": columns, "variants": variants}
    path = _write(name, _Content(frame, parts, about))
    if counted:
        freeze.count_use()
    return path


def _of_tables(name: str, run: Run, root: Path) -> _Content:
    """Return a set that has no candidates with one score each: lengths, words, parts with scores of their
    own."""
    if not readers.load(name, root):
        raise absent(name)
    metrics = {key: systems_recording.metric(run, key) for key in SCORING[name]}
    frame, parts = TABLES[name](run, root, metrics)
    require_texts(name, run)
    columns = {key: _column(metric) for key, metric in metrics.items()}
    about = {**_about(name, root, run), "date": datetime.date.today().isoformat(), "columns": columns}
    return _Content(frame, parts, about)


def _of_systems(run: Run, root: Path) -> _Content:
    """Return the committed outputs of systems, by the metrics as they are now."""
    name, known = recordings.SYSTEMS, systems_recording.description(run)
    table, parts = systems_recording.tables(run, root)
    old = recorded.load(name).about["columns"] if name in recorded.names() else {}
    columns = {
        key: old[key] if old.get(key, {}).get("behaviour") == one["behaviour"] else {**one, **_made()}
        for key, one in known.items()
    }
    return _Content(table, parts, {**_about(name, root, run), "columns": columns})


def _keep_scores(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Copy the stored scores of a set into ``frame``; what is known of them."""
    old = recorded.load(name)
    scored = (*old.about["columns"], *old.about.get("variants", {}), *_JUDGED, _MATCHED)
    known = [key for key in scored if key in old.table]
    frame[known] = old.table[known]
    about = {key: value for key, value in old.about.items() if key not in ("schema", "tables")}
    return {"schema": SCHEMA, **about}


def _score(
    name: str, frame: pd.DataFrame, pairs: list[tuple[str, str]], run: Run, unfreeze: bool
) -> dict[str, Any]:
    """Add every metric's column to ``frame``, and what is known of each."""
    metrics = {metric: systems_recording.metric(run, metric) for metric in run.declared.metrics}
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    kept = _kept(name, metrics) if not unfreeze else {}
    for key, metric in metrics.items():
        old = kept.get(key)
        frame[key] = metric.score(references, candidates).values.round(DECIMALS) if old is None else old
    if kept:
        table = recorded.load(name).table
        judged_columns = [key for key in (*_JUDGED, _MATCHED) if key in table]
        frame[judged_columns] = table[judged_columns]
    else:
        judged = [judge_pair(*pair) for pair in pairs]
        for column, significant in _JUDGED.items():
            frame[column] = [sum(error.significant == significant for error in one.errors) for one in judged]
        frame[_MATCHED] = [one.matched_findings for one in judged]
    return {
        key: recorded.load(name).about["columns"][key] if key in kept else _column(metric)
        for key, metric in metrics.items()
    }


def _score_variants(frame: pd.DataFrame, pairs: list[tuple[str, str]], run: Run) -> dict[str, Any]:
    """Add RaTEScore's scores by other weights and encoders to ``frame``, and what is known of each."""
    references, candidates = zip(*pairs, strict=True)
    metric = cast(RaTEScore, run.metric("ratescore"))
    by_setting = learned_weights.scores_by_setting(
        run, learned_weights.entities(metric, references, candidates)
    )
    for column, values in zip(learned_weights.RECORDED, by_setting.values(), strict=True):
        frame[column] = values.round(DECIMALS)
    made = {**_column(metric), "models": dict(sorted(run.reading.models.items()))}
    return {
        column: {**made, "settings": {"differs": title}}
        for column, title in zip(learned_weights.RECORDED, by_setting, strict=True)
    }


def _write(name: str, written: _Content) -> Path:
    """Write a set whole or not at all: its description names the SHA-256 of every table."""
    tables = {f"{name}.csv": written.table} | {
        f"{name}_{part}.csv": frame for part, frame in written.parts.items()
    }
    content = {file: frame.to_csv(index=False) for file, frame in tables.items()}
    about = {**written.about, "tables": {file: checksums.of_text(text) for file, text in content.items()}}
    content[f"{name}.yml"] = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110)
    with atomic.new_files(*(recorded.RECORDED / file for file in content)) as new:
        for path, text in zip(new, content.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    recorded.load.cache_clear()
    return recorded.RECORDED / f"{name}.csv"


def _kept(name: str, metrics: Mapping[str, Metric]) -> dict[str, pd.Series]:
    """Return the stored columns of metrics that read by rules, where these behave otherwise now."""
    if name not in recorded.names() or name not in recordings.FROZEN_SETS:
        return {}
    stale = [key for key in registry.FROZEN_METRICS if recordings.is_out_of_date(name, metrics[key])]
    return {key: recorded.load(name).table[key] for key in registry.FROZEN_METRICS} if stale else {}


def _column(metric: Metric) -> dict[str, Any]:
    """With what a metric's column is made."""
    return {"settings": recorded_metrics.settings_of(metric), **recorded_behaviour(metric), **_made()}


def _made() -> dict[str, str]:
    """When and by which version of the code a column is made."""
    return {"date": datetime.date.today().isoformat(), "commit": provenance.commit()["commit"]}


def _about(name: str, root: Path, run: Run) -> dict[str, Any]:
    """Return what a set is, and with which files, models and packages it is recorded."""
    source = SOURCES.get(name, name)
    manifest = load_manifest(source)
    files = [(file.path, find(source, root, file.path)) for file in manifest.files]
    return {
        "schema": SCHEMA,
        "set": name,
        "title": manifest.title,
        "source": manifest.source,
        "licence": manifest.licence,
        "files": {place: checksums.of_file(path) for place, path in files if path},
        "profile": run.whole_profile.name,
        "device": provenance.device(run.whole_profile.device),
        "models": dict(sorted(run.reading.models.items())),
        "packages": provenance.package_versions(),
    }
