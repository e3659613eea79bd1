"""Metrics against facts that people counted: the share of invented ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.storing.oriented_scores import drawn, scored
from radeval_lib.metrics.base import Metric
from radeval_lib.placeholders import behind
from radeval_lib.stats.printed import Kind
from radeval_lib.study.runs import Run

SOURCE = "words found in the source"
FOUND = "found_in_source"
"""The stored column of :func:`found_in_source`."""


def hallucinations(metrics: Mapping[str, Metric], records: Sequence[FactRating], *, run: Run) -> pd.DataFrame:
    """Return correlation of every metric, and of overlap with the source, with the rate of invented facts.

    The overlap is the share of a summary's words, of more than three letters, that occur in the dialogue.

    Returns
    -------
    DataFrame
        One row per measure, the lowest first: ``value`` (Spearman), ``low``, ``high``; below 0 where more of
        it means fewer invented facts.
    """
    references, candidates, sources = _texts(records)
    frame = scored(metrics, references, candidates)
    if behind(candidates[0]):
        frame[SOURCE] = recorded.column(candidates, FOUND)
    else:
        frame[SOURCE] = list(map(found_in_source, sources, candidates))
    rates = [record.hallucination for record in records]
    return _intervals(frame, records, rates, "spearman", "hallucinations", run).sort_values("value")


def _texts(records: Sequence[FactRating]) -> tuple[list[str], list[str], list[str]]:
    """Return references, candidates and sources."""
    if not records:
        raise DataError("no summary whose facts people counted", "fact ratings")
    sides = ("reference", "candidate", "source")
    references, candidates, sources = ([reveal(getattr(one, side)) for one in records] for side in sides)
    return references, candidates, sources


def _intervals(
    frame: pd.DataFrame,
    records: Sequence[FactRating],
    rates: Sequence[float],
    kind: Kind,
    name: str,
    run: Run,
) -> pd.DataFrame:
    """Return correlations of every column with rates: ``value``, ``low``, ``high``, cases drawn."""
    cases = [record.case for record in records]
    intervals = drawn(frame, rates, cases, kind, run=run, name=name).intervals()
    return intervals.set_index("metric")[["value", "low", "high"]]


def found_in_source(source: str, summary: str) -> float:
    """Return the share of a summary's words, of more than three letters, that occur in its source; 1 of
    none."""
    known = set(re.findall(r"\w+", source.lower()))
    words = [word for word in re.findall(r"\w+", summary.lower()) if len(word) > 3]
    return sum(word in known for word in words) / len(words) if words else 1.0


def reachable(values: Sequence[float]) -> float:
    """Return the rank correlation with ``values`` of a measure without ties that orders all of them right;
    with many equal values it is well below 1."""
    ranks = pd.Series(values).rank()
    return float(ranks.std() / pd.Series(range(len(ranks))).std())
