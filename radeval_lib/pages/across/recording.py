"""Records what metrics say of public test sets, as numbers that stand in the repository.

A set is written whole or not at all: ``<set>.csv`` and ``<set>.yml`` of ``data_manifests/recorded/``, whose
README names the columns. No text, no source id and nothing from which a text could be rebuilt is recorded.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pandas as pd
import yaml

from radeval_lib import atomic, checksums, origin, registry
from radeval_lib.data import mts_dialog, radpref, readers, recorded
from radeval_lib.data.manifests import find, load_manifest
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.models.judges.rules import judge_pair
from radeval_lib.pages.across import score_variants, systems_recording
from radeval_lib.pages.across.which_judge import FOUND, found_in_source
from radeval_lib.pages.rales import datasets
from radeval_lib.pages.ratescore import learned_weights
from radeval_lib.study import code, recordings
from radeval_lib.study.beginning import begin_cell
from radeval_lib.study.runs import Run

SCHEMA = 2
_JUDGED = {"rules_significant": True, "rules_insignificant": False}  # errors that the judge by rules names
_MATCHED = "rules_matched"
_OUTPUTS = "build/runs/recording"
NOTEBOOKS = {"fingerprints": "across/fingerprints", "mediqa2021": "rales/datasets", "openi": "rales/datasets"}
"""The page of a set, whose metrics are recorded, where it is not :data:`NOTEBOOK`."""
NOTEBOOK = "across/which_judge"
SOURCES = {"fingerprints": "openi"}
"""The data set of a recorded set that is part of one."""
_FROZEN = ("radpref", "mts_dialog")
"""Sets that metrics by rules met frozen."""

LENGTHS: dict[str, tuple[str, ...]] = {
    "mediqa2021": (),
    "openi": ("pneumothorax", "cardiomegaly", "radiodensity"),
}
"""Sets of which lengths are recorded, and words that a report has or not: those that RaLEs calls frequent."""
Parts = dict[str, pd.DataFrame]


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
        Where there is no such set, or no data root that holds it, or there are no scores to keep.
    """
    if name not in names():
        raise ParameterError(f"no set {name!r} is recorded", "record", f"Sets: {', '.join(names())}.")
    run: Run = begin_cell(
        NOTEBOOKS.get(name, NOTEBOOK), profile=profile, seed=0, data_root=data_root, output_dir=_OUTPUTS
    )
    root = run.data_root
    if name in LENGTHS:
        return _record_lengths(name, run)
    if name == systems_recording.NAME and root is not None:
        return _record_systems(run, root)
    if root is None or not (pairs := recordings.texts(name, root)):
        raise ParameterError(f"no data root holds {name!r}", "record", f"See `radbook data status {name}`.")
    if keep_scores and name not in recorded.names():
        raise ParameterError(f"no scores of {name!r} are recorded", "record", "Leave out --keep-scores.")
    frame, parts = SETS[name](root)
    for side, texts in zip(("reference", "candidate"), zip(*pairs, strict=True), strict=True):
        frame[f"{side}_words"] = [len(text.split()) for text in texts]
    if keep_scores:
        old = recorded.load(name)
        scored = (*old.about["columns"], *old.about.get("variants", {}), *_JUDGED, _MATCHED)
        known = [key for key in scored if key in old.table]
        frame[known] = old.table[known]
        about = {key: value for key, value in old.about.items() if key not in ("schema", "tables")}
        _write(name, frame, parts, {"schema": SCHEMA, **about})
    else:
        columns = _score(name, frame, pairs, run, unfreeze)
        variants = _ratescores(frame, pairs, profile, data_root) if name == "radpref" else {}
        about = {**_about(name, root, run), "columns": columns, "variants": variants}
        _write(name, frame, parts, about)
    recorded.load.cache_clear()
    return recorded.RECORDED / f"{name}.csv"


def _record_lengths(name: str, run: Run) -> Path:
    """Write the words of each report's sections, and whether it has a word that a paper asks for."""
    root = run.data_root
    if root is None or not (records := readers.load(name, root)):
        raise ParameterError(f"no data root holds {name!r}", "record", f"See `radbook data status {name}`.")
    frame = pd.DataFrame(
        {
            "number": range(len(records)),
            "findings_words": [len(reveal(one.findings).split()) for one in records],
            "impression_words": [len(reveal(one.impression).split()) for one in records],
        }
    )
    for word in LENGTHS[name]:
        texts = [f"{reveal(one.findings)} {reveal(one.impression)}".lower() for one in records]
        frame[datasets.WORD.format(word)] = [int(word in text) for text in texts]
    about = {**_about(name, root, run), "date": datetime.date.today().isoformat(), "columns": {}}
    _write(name, frame, {}, about)
    recorded.load.cache_clear()
    return recorded.RECORDED / f"{name}.csv"


def _record_systems(run: Run, root: Path) -> Path:
    """Record committed outputs of systems, by the metrics as they are now."""
    name, known = systems_recording.NAME, systems_recording.description(run)
    table, parts = systems_recording.tables(run, root, score_variants.wordnet_folder())
    made = {"date": datetime.date.today().isoformat(), "commit": code.commit()["commit"]}
    old = recorded.load(name).about["columns"] if name in recorded.names() else {}
    columns = {
        key: old[key] if old.get(key, {}).get("behaviour") == one["behaviour"] else {**one, **made}
        for key, one in known.items()
    }
    _write(name, table, parts, {**_about(name, root, run), "columns": columns})
    recorded.load.cache_clear()
    return recorded.RECORDED / f"{name}.csv"


def _score(
    name: str, frame: pd.DataFrame, pairs: list[tuple[str, str]], run: Run, unfreeze: bool
) -> dict[str, Any]:
    """Add every metric's column to ``frame``, and what is known of each."""
    metrics = {metric: systems_recording.metric(run, metric) for metric in run.declared.metrics}
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    kept = _kept(name, metrics) if not unfreeze else {}
    for key, metric in metrics.items():
        old = kept.get(key)
        frame[key] = metric.score(references, candidates).values.round(9) if old is None else old
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


def _ratescores(
    frame: pd.DataFrame, pairs: list[tuple[str, str]], profile: str, data_root: str
) -> dict[str, Any]:
    """Add RaTEScore's scores by other weights and encoders to ``frame``, and what is known of each."""
    run: Run = begin_cell(
        "ratescore/learned_weights", profile=profile, seed=0, data_root=data_root, output_dir=_OUTPUTS
    )
    references, candidates = zip(*pairs, strict=True)
    metric = cast(RaTEScore, run.metric("ratescore"))
    found = learned_weights.settings(run, learned_weights.entities(metric, references, candidates))
    for column, values in zip(learned_weights.RECORDED, found.values(), strict=True):
        frame[column] = values.round(9)
    made = {**_column(metric), "models": run.reading.used_models()}
    return {
        column: {**made, "settings": {"differs": title}}
        for column, title in zip(learned_weights.RECORDED, found, strict=True)
    }


def _write(name: str, table: pd.DataFrame, parts: Parts, about: dict[str, Any]) -> None:
    """Write a set whole or not at all: its description names the SHA-256 of every table."""
    tables = {f"{name}.csv": table} | {f"{name}_{part}.csv": frame for part, frame in parts.items()}
    content = {file: frame.to_csv(index=False) for file, frame in tables.items()}
    about = {**about, "tables": {file: checksums.of_text(text) for file, text in content.items()}}
    content[f"{name}.yml"] = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110)
    with atomic.new_files(*(recorded.RECORDED / file for file in content)) as new:
        for path, text in zip(new, content.values(), strict=True):
            path.write_text(text, encoding="utf-8")


def _kept(name: str, metrics: dict[str, Metric]) -> dict[str, pd.Series]:
    """The recorded columns of metrics that read by rules, where these behave otherwise now."""
    if name not in recorded.names() or name not in _FROZEN:
        return {}
    stale = [key for key in registry.FROZEN_METRICS if recordings.is_out_of_date(name, metrics[key])]
    return {key: recorded.load(name).table[key] for key in registry.FROZEN_METRICS} if stale else {}


def _column(metric: Metric) -> dict[str, Any]:
    """With what a metric's column is made."""
    return {
        "settings": recordings.settings_of(metric),
        "behaviour": recordings.behaviour(metric),
        "date": datetime.date.today().isoformat(),
        "commit": code.commit()["commit"],
    }


def _about(name: str, root: Path, run: Run) -> dict[str, Any]:
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
        "device": origin.device(run.whole_profile.device),
        "models": run.reading.used_models(),
        "packages": origin.package_versions(),
    }


def _radpref(root: Path) -> tuple[pd.DataFrame, Parts]:
    """RadPref's candidates (:func:`radpref.candidates`) with the grade that each radiologist gave, from 1 to
    5, and what each marked (:func:`radpref.marks`) as ``ratings``."""
    cases = radpref.load_cases(_found("radpref", root, "preference_data.json"))
    users = (_found("radpref", root, f"user_{number}.json") for number in (1, 2, 3))
    marks = radpref.marks(cases, [rating for user in users for rating in radpref.load_ratings(user)])
    frame = radpref.candidates(cases).drop(columns=["reference", "text"])
    grades = marks.pivot(index="number", columns="rater", values="grade")
    for rater in grades:
        frame[f"grade_{rater}"] = frame["number"].map(grades[rater])
    return frame, {"ratings": marks}


def _mts_dialog(root: Path) -> tuple[pd.DataFrame, Parts]:
    """A row per candidate: ``number``, ``case`` (a dialogue), ``system``, the experts' rates, the words of
    the dialogue, and the share of the candidate's words that it holds."""
    records = readers.load("mts_dialog", root)
    rates = pd.read_csv(_found("mts_dialog", root, mts_dialog.SCORES))
    frame = pd.DataFrame(
        {
            "number": range(len(records)),
            "case": pd.factorize(pd.Series([one.case for one in records]))[0],
            "system": [int(one.group.removeprefix("system ")) for one in records],
            **{
                rate: [getattr(one, rate) for one in records]
                for rate in ("precision", "recall", "f1", "hallucination", "omission")
            },
            "edit_distance": rates["Edit Distance (Correction)"].to_numpy(),
            "source_words": [len(one.source.split()) for one in records],
            FOUND: [round(found_in_source(one.source, one.candidate), 9) for one in records],
        }
    )
    return frame, {}


def _fingerprints(root: Path) -> tuple[pd.DataFrame, Parts]:
    """A row per edit of a report: ``number``, ``case`` (the report) and ``edit``."""
    pairs = recordings.edited_reports(root)
    return pd.DataFrame(
        {
            "number": range(len(pairs)),
            "case": [int(one.case) for one in pairs],
            "edit": [one.group for one in pairs],
        }
    ), {}


def _found(name: str, root: Path, file: str) -> Path:
    path = find(name, root, file)
    if path is None:
        raise ParameterError(f"the data root has no {file}", name, f"See `radbook data status {name}`.")
    return path


SETS: dict[str, Callable[[Path], tuple[pd.DataFrame, Parts]]] = {
    "radpref": _radpref,
    "mts_dialog": _mts_dialog,
    "fingerprints": _fingerprints,
}
"""What is known of each candidate of a set beside its scores, and further tables by name."""


def names() -> list[str]:
    """Every set that can be recorded."""
    return [*SETS, *LENGTHS, systems_recording.NAME]
