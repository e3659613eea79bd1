"""The error profile of a system, by the rule-based judge: errors by kind, and urgent findings found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.rules.judge import JudgedError, Judgement
from radeval_lib.rules.judge.alignment import align, by_side
from radeval_lib.rules.judge.items import said
from radeval_lib.rules.lexicon.significance import Context, significance
from radeval_lib.rules.reader.vocabulary import vocabulary
from radeval_lib.stats.base import FloatArray
from radeval_lib.stats.inference import wilson
from radeval_lib.stats.resampling import ends, sum_draws, widened

KINDS = (
    "missed finding",
    "made-up finding",
    "device",
    "side",
    "place",
    "degree",
    "size",
    "change",
    "certainty",
)
"""Of a device, an error of any kind; ``place`` is one that is not a side; ``certainty``, which no category of
GREEN's names, is that one text doubts what the other states."""
FOUND = "urgent findings found"
_MISSING = "b"
_OF_CATEGORY = {"a": "made-up finding", _MISSING: "missed finding", "e": "change", "f": "change"}


def error_counts(
    reference: str, candidate: str, judgement: Judgement, context: Context | None = None
) -> tuple[int, ...]:
    """Return a pair's errors of each of :data:`KINDS`, then the reference's urgent findings: those found in
    the candidate, and all."""
    ours, theirs = said(reference), said(candidate)
    ours, theirs = by_side(ours, theirs), by_side(theirs, ours)
    kinds = [kind_of(error) for error in judgement.errors]
    doubts = sum(link.reference.uncertain != link.candidate.uncertain for link in align(ours, theirs))
    urgent = sum(_is_urgent({item.observation, *item.means}, context) for item in ours.stated)
    missed = 0
    for error in judgement.errors:
        if error.category == _MISSING:
            read_as = (item.means for item in ours.stated if (item.start, item.end) == error.reference_span)
            missed += _is_urgent({error.observation}.union(*read_as), context)
    counts = [kinds.count(kind) for kind in KINDS[:-1]]
    return (*counts, doubts, max(0, urgent - missed), urgent)


def kind_of(error: JudgedError) -> str:
    """Return the kind of an error that the rule-based judge names."""
    if error.observation in vocabulary().devices:
        return "device"
    if error.category == "c":
        return "side" if error.rule.startswith("another side") else "place"
    if error.category == "d":
        return "size" if " mm " in f"{error.says} " else "degree"
    return _OF_CATEGORY[error.category]


def _is_urgent(observations: set[str], context: Context | None) -> bool:
    return any(significance(observation, context).name == "urgent" for observation in observations)


def profile(tables: Mapping[str, FloatArray], *, resamples: int, seed: int) -> pd.DataFrame:
    """Return errors per 100 pairs by kind and the share of urgent findings that were found, with intervals.

    Parameters
    ----------
    tables : by system the sums over each case of what :func:`error_counts` gives for its pairs, and of their
        number; shape (cases, statistics), two cases or more.
    resamples, seed : of the bootstrap over cases.

    Returns
    -------
    DataFrame
        ``system``, ``kind`` (:data:`KINDS`, then :data:`FOUND`), ``count``, ``value``, ``low`` and ``high``
        (95 %, percentile; of what did not occur up to 3 per number of cases; Wilson's if the share is 0 or
        1). The share is NaN if no reference states anything urgent.
    """
    rows = []
    for system, table in tables.items():
        total, cases = table.sum(axis=0), len(table)
        drawn = sum_draws(table, _rates, resamples=resamples, rng=np.random.default_rng(seed))
        for at, (kind, value) in enumerate(zip((*KINDS, FOUND), _rates(total), strict=True)):
            low, high = ends(drawn[:, at], widened(cases)) if np.isfinite(value) else (np.nan, np.nan)
            if kind != FOUND and not total[at]:
                high = 100 * 3 / cases  # the rule of three; a pair may have several errors of a kind
            if kind == FOUND and value in (0.0, 1.0):
                low, high = wilson(int(total[at]), int(total[at + 1]))
            rows.append((system, kind, int(total[at]), float(value), float(low), float(high)))
    return pd.DataFrame(rows, columns=["system", "kind", "count", "value", "low", "high"])


def _rates(sums: FloatArray) -> FloatArray:
    """Return errors per 100 pairs, and the share of urgent findings found; shape (..., statistics) to (...,
    kinds)."""
    urgent, pairs = sums[..., -2:-1], sums[..., -1:]
    share = np.divide(sums[..., -3:-2], urgent, where=urgent > 0, out=np.full_like(urgent, np.nan))
    return np.concatenate([100 * sums[..., :-3] / pairs, share], axis=-1)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return the profile as texts, a row for each kind and a column for each system."""

    def cell(row: pd.Series) -> str:
        if not np.isfinite(row["value"]):
            return "–"
        value, low, high = (
            f"{row[name]:.0%}" if row["kind"] == FOUND else f"{row[name]:.1f}"
            for name in ("value", "low", "high")
        )
        return f"{value} [{low}, {high}]"

    wide = table.assign(text=table.apply(cell, axis=1)).pivot(index="kind", columns="system", values="text")
    return wide.reindex(index=[*KINDS, FOUND], columns=list(dict.fromkeys(table["system"])))
