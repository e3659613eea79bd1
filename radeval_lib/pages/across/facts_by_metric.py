"""Metrics against facts that people counted: their F1, and the share of invented ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from radeval_lib.data import recorded
from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.pages.across.which_judge import COMPOSITE, drawn, scores
from radeval_lib.placeholders import behind
from radeval_lib.study.runs import Run

SOURCE = "words found in the source"
FOUND = "found_in_source"
"""The recorded column of :func:`found_in_source`."""


def agreement(metrics: Mapping[str, Metric], records: Sequence[FactRating], *, run: Run) -> pd.DataFrame:
    """Agreement (τ_b) of every metric with the F1 of facts that people counted: ``value``, ``low``, ``high``
    by metric."""
    texts = [(reveal(record.reference), reveal(record.candidate)) for record in records]
    frame = scores(metrics, pd.DataFrame(texts, columns=["reference", "candidate"])).drop(columns=COMPOSITE)
    rates, cases = [record.f1 for record in records], [record.case for record in records]
    intervals = drawn(frame, rates, cases, "kendall", run=run, name="facts").intervals()
    return intervals.set_index("metric")[["value", "low", "high"]]


def hallucinations(metrics: Mapping[str, Metric], records: Sequence[FactRating], *, run: Run) -> pd.DataFrame:
    """Correlation of every metric, and of overlap with the source, with the rate of invented facts.

    The overlap is the share of a summary's words, of more than three letters, that occur in the dialogue.

    Returns
    -------
    DataFrame
        One row per measure: ``value`` (Spearman), ``low``, ``high``; below 0 where more of it means fewer
        invented facts.
    """
    texts = [(reveal(one.reference), reveal(one.candidate), reveal(one.source)) for one in records]
    pairs = pd.DataFrame(texts, columns=["reference", "candidate", "source"])
    frame = scores(metrics, pairs).drop(columns=COMPOSITE)
    if behind(texts[0][1]):
        frame[SOURCE] = recorded.column(pairs["candidate"], FOUND)
    else:
        frame[SOURCE] = [found_in_source(source, candidate) for _, candidate, source in texts]
    rates, cases = [one.hallucination for one in records], [one.case for one in records]
    intervals = drawn(frame, rates, cases, "spearman", run=run, name="hallucinations").intervals()
    return intervals.set_index("metric")[["value", "low", "high"]].sort_values("value")


def found_in_source(source: str, summary: str) -> float:
    """The share of a summary's words, of more than three letters, that occur in its source; 1 of none."""
    known = set(re.findall(r"\w+", source.lower()))
    words = [word for word in re.findall(r"\w+", summary.lower()) if len(word) > 3]
    return sum(word in known for word in words) / len(words) if words else 1.0


def reachable(values: Sequence[float]) -> float:
    """The rank correlation with ``values`` of a measure without ties that orders all of them right; with many
    equal values it is well below 1."""
    ranks = pd.Series(values).rank()
    return float(ranks.std() / pd.Series(range(len(ranks))).std())
