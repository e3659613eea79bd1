"""The simple edits that a metric detects, its behaviour, and its scores of committed outputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.data.report_edits import HARMFUL, HARMLESS, LAYOUTS, STEPS
from radeval_lib.metric_cards.pairs import CONSTANT, FILES
from radeval_lib.metric_cards.scores import Scored
from radeval_lib.stats.base import FloatArray, group_numbers
from radeval_lib.stats.resampling import estimate, mean_of_sums, share_interval, sum_draws, sum_estimates

KINDS = {
    "changes the report": tuple(HARMFUL),
    "changes nothing it says": tuple(HARMLESS),
    "changes its layout": tuple(LAYOUTS),
    "sentences of another report": tuple(map(str, STEPS)),
}
RESAMPLES = 1_000
"""Of everything in a card but RadPref's part."""
_SAME = 1e-9  # scores nearer than this are equal


def costs(frame: pd.DataFrame, values: FloatArray, *, seed: int) -> dict[str, Any]:
    """Return the losses from edits as shares of the loss from an unrelated report on the same texts.

    Parameters
    ----------
    frame : the pairs of a card.
    values : oriented scores of them, none missing.

    Returns
    -------
    dict
        ``unrelated``: what an unrelated report costs, in the metric's unit, with its interval; ``edits``: for
        each edit ``kind``, ``edit``, ``n`` (reports), ``changed`` (share of them whose score moves), and
        ``value``, ``low``, ``high``, which are None if an unrelated report costs these reports nothing in
        some resample.
    """
    part = frame[frame["part"] == "edits"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    loss = -wide.sub(wide["same"], axis=0)
    of_reports = np.column_stack([loss["another report"], np.ones(len(loss))])
    rng = np.random.default_rng([seed, 0])
    (unrelated,) = sum_estimates(of_reports, mean_of_sums, resamples=RESAMPLES, rng=rng)
    rows: list[dict[str, Any]] = []
    for kind, edits in KINDS.items():
        for edit in filter(loss.columns.__contains__, edits):
            sums = loss[[edit, "another report"]].dropna().to_numpy(np.float64)
            changed = float((np.abs(sums[:, 0]) > _SAME).mean())
            row: dict[str, Any] = {"kind": kind, "edit": edit, "n": len(sums), "changed": changed}
            rng = np.random.default_rng([seed, *edit.encode()])
            drawn = sum_draws(sums, lambda totals: totals, resamples=RESAMPLES, rng=rng)
            row |= dict.fromkeys(("value", "low", "high"))
            if (drawn[:, 1] > 0).all():  # else a share of what an unrelated report costs has no meaning
                cost = estimate(sums[:, 0].mean() / sums[:, 1].mean(), drawn[:, 0] / drawn[:, 1])
                row |= {"value": cost.value, "low": cost.low, "high": cost.high}
            rows.append(row)
    overall = {"value": unrelated.value, "low": unrelated.low, "high": unrelated.high, "n": len(loss)}
    return {"unrelated": overall, "edits": rows}


def behaviour(
    frame: pd.DataFrame, scored: Scored, value_range: tuple[float, float] | None, higher_is_better: bool
) -> dict[str, Any]:
    """Return how a metric behaves on the pairs of a card: failures, range, direction, ties, empty texts, and
    whether scores repeat, also for a pair alone.

    ``value_range`` is the metric's own, as declared; None if none is.
    """
    values, finite = scored.values, np.isfinite(scored.values)
    part, kinds = frame["part"].to_numpy(), frame["kind"].to_numpy()
    scores = values[finite & (part != "again")]
    outside = None
    if value_range is not None:
        low, high = value_range
        outside = int(((scores < low - _SAME) | (scores > high + _SAME)).sum())
    sign = 1 if higher_is_better else -1
    edits = pd.Series(sign * values, [frame["row"], frame["kind"]])[part == "edits"].unstack()
    both = edits[["same", "another report"]].dropna()
    empty = {str(kinds[at]): float(values[at]) for at in np.flatnonzero(part == "empty")}
    return {
        "pairs": len(frame),
        "failures": dict(Counter(str(part[at]) for at in scored.reasons)),
        "seconds_per_pair": scored.seconds,
        "range_seen": [float(scores.min()), float(scores.max())],
        "outside_range": outside,
        "identical_above_unrelated": float((both["same"] > both["another report"]).mean()),
        "identical_below_unrelated": float((both["same"] < both["another report"]).mean()),
        "distinct_scores": len(np.unique(scores)),
        "commonest_share": float(np.unique(scores, return_counts=True)[1].max() / len(scores)),
        "empty": empty,
        "again": _again(frame, values, values[part == "again"]),
        "alone": None if scored.alone is None else _again(frame, values, scored.alone),
    }


def _again(frame: pd.DataFrame, values: FloatArray, repeated: FloatArray) -> dict[str, Any]:
    """Return how many pairs' second score differs from the first, and by how much at most."""
    first = values[frame.loc[frame["part"] == "again", "row"].to_numpy(np.intp)]
    failed = np.isfinite(first) != np.isfinite(repeated)
    gaps = np.abs(first - repeated)[np.isfinite(first) & np.isfinite(repeated)]
    differ = int((gaps > _SAME).sum() + failed.sum())
    return {"pairs": len(first), "differ": differ, "most": float(gaps.max(initial=0.0))}


def on_systems(frame: pd.DataFrame, values: FloatArray, *, sign: int, seed: int) -> dict[str, Any]:
    """Return the mean score of every file of committed outputs, and the loss when its outputs are exchanged
    between studies.

    Parameters
    ----------
    frame, values : the pairs of a card and their oriented scores, none missing; ``sign`` turns them back.

    Returns
    -------
    dict
        ``studies``; ``files``: for each its ``texts`` (different ones), its ``mean`` in the metric's unit and
        ``lost_if_shuffled`` (higher is better), each with an interval from drawing different references.
    """
    part = frame[frame["part"] == "systems"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    references = part[part["kind"] == FILES[0]].set_index("row")["reference"]
    groups = group_numbers("references", references.loc[wide.index], len(wide)).tolist()

    def mean(column: pd.Series) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        ends = share_interval(column.to_numpy(), groups, resamples=RESAMPLES, rng=rng)
        return dict(zip(("value", "low", "high"), ends, strict=True))

    files = []
    for name in filter(wide.columns.__contains__, (*FILES, CONSTANT)):
        texts, dealt = part.loc[part["kind"] == name, "candidate"].nunique(), f"{name}, shuffled"
        lost = mean(wide[name] - wide[dealt]) if dealt in wide else None
        files.append(
            {"file": name, "texts": texts, "mean": mean(sign * wide[name]), "lost_if_shuffled": lost}
        )
    return {"studies": len(wide), "files": files}
