"""The operations that the networks of metrics need, counted as they score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext

import pandas as pd

from radeval_lib.data.errors import DataError
from radeval_lib.jobs.storing.oriented_scores import COMPOSITE, PARTS
from radeval_lib.metrics.base import Metric

COUNTED = 20
"""Pairs on which operations are counted."""


class _OfNoModule(nullcontext[None]):
    """In place of what follows operations by module: all are of one."""

    parents = frozenset(["Global"])


def per_pair(metrics: Mapping[str, Metric], pairs: pd.DataFrame) -> pd.Series:
    """Billions of operations that the networks of each metric need for a pair; none for words and rules.

    Counted, not timed, so that every machine finds the same.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def packed(inputs: list[int], weight: list[int], *_: object, **__: object) -> int:
        return 2 * math.prod(inputs) * weight[0]

    if pairs.empty:
        raise DataError("no pair to count operations on", "text pairs")
    few = pairs.iloc[:COUNTED]
    found = {}
    # Layers that were packed for a CPU are an operation of their own, which torch does not count.
    own = {torch.ops.mkldnn._linear_pointwise: packed}
    for title, metric in metrics.items():
        counter = FlopCounterMode(display=False, custom_mapping=own)
        # By module nothing is asked; one that hands a parameter on, as DeBERTa does, cannot be followed.
        counter.mod_tracker = _OfNoModule()  # type: ignore[assignment]
        with counter:
            metric.score(few["reference"].tolist(), few["candidate"].tolist())
        found[title] = counter.get_total_flops() / len(few) / 1e9
    found[COMPOSITE] = sum(found[title] for title, metric in metrics.items() if metric.name in PARTS)
    return pd.Series(found)
