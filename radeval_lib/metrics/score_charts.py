"""Drawings of scores: quantiles of a file's scores on their scale, beside those of pairs of known quality."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from radeval_lib.metrics.base import Metric

REFERENCE_SCORES = Path(__file__).with_name("reference_scores.json")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEFT, _WIDTH, _ROW = 150, 194, 22  # of a drawing: where its scale begins, how wide it is, and a row's height


class Row(NamedTuple):
    """A line of a drawing: quantiles of scores, as numbers and as places on the scale."""

    label: str
    pairs: int
    own: bool
    values: list[str]
    places: list[float]
    y: int


class Chart(NamedTuple):
    """How a metric's scores lie, and those of pairs of known quality where they are known."""

    name: str
    title: str
    better: str
    rows: list[Row]
    ticks: list[tuple[str, float]]
    height: int
    compared: bool


def chart(name: str, metric: Metric, scores: Mapping[str, array[float]]) -> Chart:
    """The drawing of one metric; ``scores`` by column of every metric."""
    own = {
        f"yours, {column.removeprefix(name + ':')}" if column != name else "yours": values
        for column, values in scores.items()
        if column == name or column.startswith(f"{name}:")
    }
    held = reference_scores()
    known = held["scores by signature"].get(metric.signature().comparable(), {})
    rows = [(label, len(of), True, np.quantile(of, QUANTILES).tolist()) for label, of in own.items() if of]
    rows += [(label, held["sets"][label], False, values) for label, values in known.items()]
    drawn = chain.from_iterable(values for *_, values in rows)
    ends = [0.0, *filter(math.isfinite, metric.range[1:]), *drawn]
    low, high = min(ends), max(ends)
    high = high if high > low else 1.0
    return Chart(
        name,
        metric.title or name,
        "higher is better" if metric.higher_is_better else "lower is better",
        [
            Row(label, pairs, is_own, [f"{value:.3g}" for value in values],
                [round(_LEFT + _WIDTH * (value - low) / (high - low), 1) for value in values],
                _ROW * place + _ROW // 2)
            for place, (label, pairs, is_own, values) in enumerate(rows)
        ],
        [(f"{low + share * (high - low):.3g}", _LEFT + share * _WIDTH) for share in (0.0, 0.5, 1.0)],
        _ROW * len(rows),
        bool(known),
    )  # fmt: skip


@lru_cache(maxsize=1)
def reference_scores() -> dict[str, Any]:
    """What ``workflow/reference_scores.py`` wrote."""
    return dict(json.loads(REFERENCE_SCORES.read_text(encoding="utf-8")))
