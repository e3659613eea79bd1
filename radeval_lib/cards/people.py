"""What a card says of agreement with people: RadPref's ratings, and the facts counted in MTS-Dialog."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.cards import agreement, pairs
from radeval_lib.cards.subject import Subject
from radeval_lib.data import recorded as recordings
from radeval_lib.metrics.base import MetricError
from radeval_lib.stats.correlations import varies
from radeval_lib.stats.inputs import FloatArray

Half = Literal["all", "development", "report"]
_NAMES = {"radpref": "RadPref", "mts_dialog": "MTS-Dialog"}


def rated_scores(
    frame: pd.DataFrame, oriented: FloatArray | None, held: Mapping[str, FloatArray], sign: int
) -> dict[str, FloatArray]:
    """Oriented scores of each rated set that was scored or is known (``held``), shape (pairs of the set,)."""
    found: dict[str, FloatArray] = {}
    for name in pairs.RATED:
        here = (frame["part"] == name).to_numpy()
        if name in held:
            own = sign * np.asarray(held[name], dtype=np.float64)
            found[name] = np.where(np.isfinite(own), own, np.nanmin(own))
        elif here.any() and oriented is not None:
            found[name] = oriented[here]
    return found


def check_lengths(met: Mapping[str, FloatArray], recorded: Mapping[str, recordings.Recording]) -> None:
    """Raise MetricError where a rated set has another number of scores than of pairs."""
    for name, values in met.items():
        if len(values) != len(recorded[name].table):
            raise MetricError(f"{len(values)} scores for {len(recorded[name].table)} pairs", name)


def not_met(met: Mapping[str, FloatArray], why: str) -> dict[str, str]:
    """The rated sets that were not met, as a card names what was not tried."""
    return {f"agreement with people, {_NAMES[one]}": why for one in pairs.RATED if one not in met}


def on_radpref(
    recording: recordings.Recording,
    mine: FloatArray,
    subject: Subject,
    half: Half,
    resamples: int,
    seed: int,
    quick: bool,
    not_tried: dict[str, str],
) -> dict[str, Any] | None:
    """The part ``radpref`` of a card: agreement with its ratings beside metrics that are known there; None,
    and in ``not_tried`` why, where no correlation is defined."""
    keep = in_half(recording.table["case"].to_numpy(), half)
    others = {key: of[keep] for key, of in agreement.rivals(recording, subject.own).items()}
    table, cases = recording.table[keep], recording.table["case"].to_numpy()[keep]
    if not varies(mine[keep], cases):
        why = "nearly all candidates have the same score, so no correlation is defined"
        not_tried["agreement with people, RadPref"] = why
        return None
    of = agreement.RadPref(
        table,
        {subject.name: mine[keep], **others},
        subject.name,
        resamples=resamples,
        seed=seed,
        tests=half == "all",
    )
    if not of.tested:
        why = f"{of.power()['cases']} cases, fewer than {agreement.LEAST_CASES}, or half of the set"
        not_tried["tests and clusters"] = f"{why}: intervals only"
    elif quick:
        not_tried["clusters"] = "a quick card draws too few resamples for them"
    return {
        "power": of.power(),
        "null_band": of.null_band(),
        "by_grade": of.by_grade(),
        "clusters": of.clusters() if of.tested and not quick else None,
        "by_difference": of.by_difference(),
        "choices": of.choices(),
        "by_radiologist": of.by_rater(),
        "length": of.length(),
    }


def in_half(cases: Sequence[int] | np.ndarray[Any, Any], half: Half) -> np.ndarray[Any, Any]:
    """Which rows are of a half of RadPref: cases of even number are for development."""
    even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(even), "development": even, "report": ~even}[half]


def on_facts(
    recording: recordings.Recording,
    mine: FloatArray,
    subject: Subject,
    resamples: int,
    seed: int,
    not_tried: dict[str, str],
) -> dict[str, Any] | None:
    """The part ``mts_dialog`` of a card: agreement with counted facts; None, and in ``not_tried`` why, where
    no correlation is defined."""
    if not varies(mine, recording.table["case"].to_numpy()):
        why = "nearly all summaries have the same score, so no correlation is defined"
        not_tried["agreement with counted facts, MTS-Dialog"] = why
        return None
    scores = {subject.name: mine, **agreement.rivals(recording, subject.own)}
    table = recording.table
    rates = agreement.facts(table, scores, resamples=resamples, seed=seed)
    return {"summaries": len(table), "cases": int(table["case"].nunique()), "rates": rates}


def look(name: str, half: Half, mine: FloatArray) -> dict[str, Any]:
    """That RadPref's grades were looked at, and by which scores."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    scores = " ".join(f"{value:.9g}" for value in mine)
    return {"date": today, "metric": name, "half": half, "scores": checksums.of_text(scores)[:12]}
