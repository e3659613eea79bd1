"""Which simple edits a metric detects, and its behaviour: range, direction, ties, empty texts, repetition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.data.report_edits import HARMFUL, HARMLESS, LAYOUTS, STEPS
from radeval_lib.metric_cards.scoring import Scored
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.resampling import estimate, mean_of_sums, sum_draws, sum_estimates

KINDS = {
    "changes the report": tuple(HARMFUL),
    "changes nothing it says": tuple(HARMLESS),
    "changes its layout": tuple(LAYOUTS),
    "sentences of another report": tuple(map(str, STEPS)),
}
_SAME = 1e-9  # scores nearer than this are equal


def costs(frame: pd.DataFrame, values: FloatArray, *, resamples: int, seed: int) -> dict[str, Any]:
    """What edits cost, as shares of what an unrelated report costs on the same texts.

    Parameters
    ----------
    frame : the pairs of a card.
    values : oriented scores of them, none missing.

    Returns
    -------
    dict
        ``unrelated``: what an unrelated report costs, in the metric's unit, with its interval; ``edits``: for
        each edit ``kind``, ``edit``, ``n`` (reports), ``changed`` (share of them whose score moves), and
        ``value``, ``low``, ``high``, which are None where an unrelated report costs these
        reports nothing in some resample.
    """
    part = frame[frame["part"] == "edits"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    loss = -wide.sub(wide["same"], axis=0)
    of_reports = np.column_stack([loss["another report"], np.ones(len(loss))])
    rng = np.random.default_rng([seed, 0])
    (unrelated,) = sum_estimates(of_reports, mean_of_sums, resamples=resamples, rng=rng)
    rows: list[dict[str, Any]] = []
    for kind, edits in KINDS.items():
        for edit in edits:
            if edit not in loss:
                continue
            sums = loss[[edit, "another report"]].dropna().to_numpy(np.float64)
            row: dict[str, Any] = {
                "kind": kind,
                "edit": edit,
                "n": len(sums),
                "changed": float((np.abs(sums[:, 0]) > _SAME).mean()),
                "value": None,
                "low": None,
                "high": None,
            }
            rng = np.random.default_rng([seed, *edit.encode()])
            drawn = sum_draws(sums, lambda totals: totals, resamples=resamples, rng=rng)
            if (drawn[:, 1] > 0).all():  # else a share of what an unrelated report costs has no meaning
                cost = estimate(sums[:, 0].mean() / sums[:, 1].mean(), drawn[:, 0] / drawn[:, 1])
                row |= {"value": cost.value, "low": cost.low, "high": cost.high}
            rows.append(row)
    own = {"value": unrelated.value, "low": unrelated.low, "high": unrelated.high, "n": len(loss)}
    return {"unrelated": own, "edits": rows}


def behaviour(
    frame: pd.DataFrame, scored: Scored, declared: tuple[float, float] | None, higher_is_better: bool
) -> dict[str, Any]:
    """How a metric behaves on the pairs of a card: failures, range, direction, ties, empty texts, and whether
    pairs score alike again and alone; keys as the card's schema describes them.

    ``declared`` is the metric's range, None where none is declared.
    """
    values, known = scored.values, np.isfinite(scored.values)
    part, sign = frame["part"].to_numpy(), 1 if higher_is_better else -1
    failures = [
        {"part": str(name), "reason": why, "pairs": int(count)}
        for (name, why), count in Counter((part[place], why) for place, why in scored.reasons.items()).items()
    ]
    outside = None
    if declared is not None:
        low, high = declared
        outside = int(((values[known] < low - _SAME) | (values[known] > high + _SAME)).sum())
    kinds = frame["kind"].to_numpy()
    edits = pd.Series(sign * values, [frame["row"], frame["kind"]])[part == "edits"].unstack()
    both = edits[["same", "another report"]].dropna()
    scores = values[known & (part != "again")]
    commonest = np.unique(scores, return_counts=True)[1].max() / len(scores)
    return {
        "pairs": len(frame),
        "failures": failures,
        "seconds_per_pair": scored.seconds,
        "range_declared": list(declared) if declared is not None else None,
        "range_seen": [float(scores.min()), float(scores.max())],
        "outside_range": outside,
        "higher_is_better": higher_is_better,
        "identical_above_unrelated": float((both["same"] > both["another report"]).mean()),
        "identical_distinct_scores": len(np.unique(edits["same"].dropna().round(9))),
        "distinct_scores": len(np.unique(scores)),
        "commonest_share": float(commonest),
        "empty": {
            str(kinds[place]): float(values[place]) if known[place] else None
            for place in np.flatnonzero(part == "empty")
        },
        "again": _again(frame, values, values[part == "again"]),
        "alone": None if scored.alone is None else _again(frame, values, scored.alone),
    }


def _again(frame: pd.DataFrame, values: FloatArray, repeated: FloatArray) -> dict[str, Any]:
    """Pairs whose second score differs from the first, and by how much at most."""
    first = values[frame.loc[frame["part"] == "again", "row"].to_numpy(np.intp)]
    failed = np.isfinite(first) != np.isfinite(repeated)
    gaps = np.abs(first - repeated)[np.isfinite(first) & np.isfinite(repeated)]
    return {
        "pairs": len(first),
        "differ": int((gaps > _SAME).sum() + failed.sum()),
        "most": float(gaps.max()) if len(gaps) else 0.0,
    }


def filled(frame: pd.DataFrame, oriented: FloatArray) -> FloatArray:
    """Oriented scores with each failure at the worst score of its part, or of all where a part has none."""
    result = oriented.copy()
    worst = float(np.nanmin(oriented))
    for name in frame["part"].unique():
        here = (frame["part"] == name).to_numpy()
        known = oriented[here & np.isfinite(oriented)]
        result[here & ~np.isfinite(oriented)] = known.min() if len(known) else worst
    return result
