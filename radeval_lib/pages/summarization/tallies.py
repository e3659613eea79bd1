"""From scores of single summaries to means and differences with intervals, and what is left of a lead on
groups of reports that were not in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import Draws, FloatArray, draws, ratio
from radeval_lib.study.checks import Check, above, check_statement


def _matrix(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Cases, sorted, and values of shape (seeds, cases)."""
    if scores.empty:
        raise ValueError("no summary to average over")
    if scores.duplicated(["seed", "case"]).any():
        raise ValueError("a seed has a case twice; choose one system and training set first")
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if table.isna().any(axis=None):
        raise ValueError("a seed lacks a case, or a score is missing")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def mean_of(scores: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator) -> Estimate:
    """Mean of a metric from 0 to 1 over cases and seeds, with a 95 % interval that allows for both.

    ``scores``: rows of one system and training set: ``seed``, ``case`` and the metric; each seed has each
    case.
    """
    _, values = _matrix(scores, metric)
    drawn = _draws([values], resamples, rng)[0].total()[:, 0]
    return _estimate(float(values.mean()), drawn.clip(0, 1))


def paired_difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    metric: str,
    *,
    resamples: int,
    rng: np.random.Generator,
    of: int = 1,
) -> Estimate:
    """Mean of ``first`` minus mean of ``second`` on the same cases, with a 95 % percentile interval.

    Cases are drawn together for both, seeds for each apart. ``of``: how many comparisons the 95 % are to hold
    for together (Bonferroni). The resamples are as many times more, so that as many lie beyond an end.
    """
    (cases, ours), (others, theirs) = (_matrix(one, metric) for one in (first, second))
    if cases != others:
        raise ValueError("the two were not tested on the same cases")
    mine, other = _draws([ours, theirs], of * resamples, rng)
    return _estimate(float(ours.mean() - theirs.mean()), (mine - other).total()[:, 0], of)


def _estimate(value: float, drawn: FloatArray, of: int = 1) -> Estimate:
    low, high = np.quantile(drawn, (0.025 / of, 1 - 0.025 / of))
    return Estimate(value, float(low), float(high))


def _draws(tables: Sequence[FloatArray], resamples: int, rng: np.random.Generator) -> list[Draws]:
    """Of each table of shape (seeds, cases) the mean in each resample; cases are drawn for all at once."""
    cases = tables[0].shape[1]
    return draws(
        [table[..., None] for table in tables], lambda sums: sums / cases, resamples=resamples, rng=rng
    )


@dataclass(frozen=True)
class LeadRetention:
    """A lead on groups that were in training, and what is left of it on others."""

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def lead_left(
    first: pd.DataFrame, second: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator
) -> LeadRetention:
    """The lead of ``first`` over ``second`` on groups ``seen`` in training and on others, by the same
    resamples.

    Cases are drawn together for both, seeds for each apart. Resamples without a lead on the groups seen have
    no share and are left out of its interval; where that lead is established they are fewer than 3 %.
    """
    tables = []
    for one in (first, second):
        _, values = _matrix(one, metric)
        _, seen = _matrix(one.assign(seen=one["seen"].astype(float)), "seen")
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))

    def means(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    ours, theirs = draws(tables, means, resamples=resamples, rng=rng)
    lead = ours - theirs
    gaps = lead.total()
    known, new = (_estimate(float(lead.value[side]), gaps[:, side]) for side in (0, 1))
    if known.low <= 0:
        return LeadRetention(known, new, None)
    led = gaps[gaps[:, 0] > 0]
    return LeadRetention(known, new, _estimate(new.value / known.value, led[:, 1] / led[:, 0]))


def unseen_check(best: str, left: LeadRetention) -> Check:
    """Whether most of a lead over Lead-3 is lost on groups that were not in training; it cannot be told where
    there is no established lead, or where the interval of what is left holds one half."""
    told, lost = "no lead to lose is established", None
    if left.share is not None:
        told, lost = f"{left.share:.0%} is left", above(-left.share.high, -left.share.low, -0.5)
    return check_statement(
        f"lead of {best} over Lead-3 in ROUGE-L, on groups seen in training and on others",
        "most of the benefits may not generalize",
        f"{left.seen:.3f} and {left.unseen:.3f}: {told}",
        lost,
    )
