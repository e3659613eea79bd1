"""What metrics say of RadPref's candidates: scored now, or as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from notebooks.green.radiologists import RADPREF
from radeval_lib.placeholders import behind
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.study import recorded_metrics, recordings
from radeval_lib.study.runs import Run


def oriented(run: Run, key: str, references: Sequence[str], candidates: Sequence[str]) -> FloatArray:
    """Scores of a metric, turned so that higher is better."""
    metric = run.metric(key)
    return metric.sign() * metric.score(references, candidates).values


def recorded_columns(run: Run, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame | None:
    """The stored columns of some of RadPref's pairs (reference, candidate; one at least), in their order,
    where their texts are placeholders, or if the judge by rules, which was frozen for them, reads otherwise
    now; None where it is to judge them itself."""
    if not behind(pairs[0][1]):
        moved = run.data_root is not None and recordings.is_out_of_date(
            RADPREF, run.metric("green_rules_errors")
        )
        if not moved:
            return None
    return recorded_metrics.columns(RADPREF, run.data_root, pairs)
