"""What a card says of agreement with people: RadPref's ratings, and the facts counted in MTS-Dialog."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.data import recorded as recordings
from radeval_lib.errors import listed
from radeval_lib.metric_cards import agreement, pairs
from radeval_lib.metric_cards.subject import Subject
from radeval_lib.metrics.base import MetricError
from radeval_lib.stats.correlations import varies
from radeval_lib.stats.inputs import FloatArray

Half = Literal["all", "development", "report"]
OTHER_RESAMPLES = 1_000
"""Bootstrap resamples of everything in a card but RadPref's part."""
_NAMES = {"radpref": "RadPref", "mts_dialog": "MTS-Dialog"}


class CardSettings(NamedTuple):
    """How a card is made: the part ``settings`` of its JSON.

    Attributes
    ----------
    seed : of resampling and permutation.
    quick : fewer edited reports and resamples, no clusters, and no outputs of real systems.
    half : the cases of RadPref that are used.
    resamples : bootstrap resamples of RadPref's cases.
    """

    seed: int
    quick: bool
    half: Half
    resamples: int


class Part(NamedTuple):
    """A part of a card, None where it cannot be computed; and by name what was not tried in it, with why."""

    content: dict[str, Any] | None
    not_tried: dict[str, str]


def checked_scores(
    known: Mapping[str, FloatArray], recorded: Mapping[str, recordings.Recording]
) -> dict[str, FloatArray]:
    """Given scores of rated sets as float64 arrays of shape (rows of the set,).

    Raises
    ------
    MetricError
        Where a set is not among ``recorded``, has another number of scores than rows, or no finite one.
    """
    held = {}
    for name, given in known.items():
        if name not in recorded:
            raise MetricError(f"no rated set {name!r} is looked at", "known", f"Sets: {listed(recorded)}.")
        values, rows = np.asarray(given, dtype=np.float64), len(recorded[name].table)
        if values.shape != (rows,):
            what = f"scores of shape {values.shape} for {rows} pairs"
            raise MetricError(what, name, "Score each of its pairs once.")
        if not np.isfinite(values).any():
            raise MetricError("no score is a finite number", name, "Leave the set out.")
        held[name] = values
    return held


def rated_scores(
    frame: pd.DataFrame, oriented: FloatArray | None, held: Mapping[str, FloatArray], sign: int
) -> dict[str, FloatArray]:
    """Oriented scores of each rated set that was scored, or whose scores are given.

    Parameters
    ----------
    frame : the pairs of the card.
    oriented : their oriented scores, shape (pairs,); None where none was scored.
    held : by :func:`checked_scores`, as the metric gives them; one that is not finite counts as the worst.
    sign : 1 or -1, by which given scores are oriented.

    Returns
    -------
    dict
        By set, scores of shape (pairs of the set,); sets without scores are left out.
    """
    by_set: dict[str, FloatArray] = {}
    for name in pairs.RATED:
        here = (frame["part"] == name).to_numpy()
        if name in held:
            own = sign * held[name]
            known = np.isfinite(own)
            by_set[name] = np.where(known, own, own[known].min())
        elif here.any() and oriented is not None:
            by_set[name] = oriented[here]
    return by_set


def without_scores(rated: Mapping[str, FloatArray], why: str) -> dict[str, str]:
    """The rated sets that have no scores, as a card names what was not tried, with one reason for all."""
    return {f"agreement with people, {_NAMES[name]}": why for name in pairs.RATED if name not in rated}


def on_rated_sets(
    rated: Mapping[str, FloatArray],
    recorded: Mapping[str, recordings.Recording],
    subject: Subject,
    settings: CardSettings,
) -> Part:
    """The parts ``radpref`` and ``mts_dialog`` of a card, each None without scores or a correlation.

    ``rated``: by :func:`rated_scores`.
    """
    content: dict[str, Any] = dict.fromkeys(pairs.RATED)
    not_tried: dict[str, str] = {}
    for name, measured in (("radpref", on_radpref), ("mts_dialog", on_facts)):
        if name in rated:
            content[name], why = measured(recorded[name], rated[name], subject, settings)
            not_tried |= why
    return Part(content, not_tried)


def on_radpref(
    recording: recordings.Recording, oriented: FloatArray, subject: Subject, settings: CardSettings
) -> Part:
    """The part ``radpref`` of a card: agreement with its ratings, beside the metrics recorded there.

    ``oriented``: the metric's oriented scores, shape (rows of the recording,).
    """
    keep = in_half(recording.table["case"].to_numpy(), settings.half)
    others = {key: scores[keep] for key, scores in agreement.rivals(recording, subject.own).items()}
    table, cases = recording.table[keep], recording.table["case"].to_numpy()[keep]
    if not varies(oriented[keep], cases):
        why = "nearly all candidates have the same score, so no correlation is defined"
        return Part(None, {"agreement with people, RadPref": why})
    agreed = agreement.RadPrefAgreement(
        table,
        {subject.name: oriented[keep], **others},
        subject.name,
        resamples=settings.resamples,
        seed=settings.seed,
        tests=settings.half == "all",
    )
    power, not_tried = agreed.power(), {}
    if not agreed.tested:
        why = f"{power['cases']} cases, fewer than {agreement.LEAST_CASES}, or half of the set"
        not_tried["tests and clusters"] = f"{why}: intervals only"
    elif settings.quick:
        not_tried["clusters"] = "a quick card draws too few resamples for them"
    content = {
        "power": power,
        "null_band": agreed.null_band(),
        "by_grade": agreed.by_grade(),
        "clusters": agreed.clusters() if agreed.tested and not settings.quick else None,
        "by_difference": agreed.by_difference(),
        "choices": agreed.choices(),
        "by_radiologist": agreed.by_rater(),
        "length": agreed.length(),
    }
    return Part(content, not_tried)


def in_half(cases: Sequence[int] | np.ndarray[Any, Any], half: Half) -> np.ndarray[Any, Any]:
    """Which rows are of a half of RadPref: cases of even number are for development."""
    even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(even), "development": even, "report": ~even}[half]


def on_facts(
    recording: recordings.Recording, oriented: FloatArray, subject: Subject, settings: CardSettings
) -> Part:
    """The part ``mts_dialog`` of a card: agreement with counted facts; parameters as of
    :func:`on_radpref`."""
    table = recording.table
    if not varies(oriented, table["case"].to_numpy()):
        why = "nearly all summaries have the same score, so no correlation is defined"
        return Part(None, {"agreement with counted facts, MTS-Dialog": why})
    scores = {subject.name: oriented, **agreement.rivals(recording, subject.own)}
    rates = agreement.facts(table, scores, resamples=OTHER_RESAMPLES, seed=settings.seed)
    return Part({"summaries": len(table), "cases": int(table["case"].nunique()), "rates": rates}, {})


def look(name: str, half: Half, oriented: FloatArray) -> dict[str, Any]:
    """A record that RadPref's grades were looked at: when, for which metric and half, and a digest of the
    scores."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    scores = " ".join(f"{value:.9g}" for value in oriented)
    return {"date": today, "metric": name, "half": half, "scores": checksums.of_text(scores)[:12]}
