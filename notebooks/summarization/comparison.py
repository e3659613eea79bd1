"""Compare summarization systems on the same reports: means, leads, and the share of a lead that remains on
groups of reports that were not in training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import ratio
from radeval_lib.stats.resampling import draws, estimate, mean_difference
from radeval_lib.study.checks import Check, below, check_statement
from radeval_lib.study.jobs import JobOutput
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead

_KEYS = ["seed", "system", "train_set", "case"]


def combine_scores(outputs: Iterable[JobOutput]) -> pd.DataFrame:
    """Return the scores of all jobs in one table.

    Several jobs store the same rows of untrained systems; duplicates are dropped.
    """
    return pd.concat([output.tables["scores"] for output in outputs], ignore_index=True).drop_duplicates(
        _KEYS
    )


def _matrix(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Return the sorted cases, and the values (seeds, cases), of one system and training set."""
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if table.isna().any(axis=None):
        raise ValueError("a seed lacks a case, or a score is missing")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def mean_of(run: Run, scores: pd.DataFrame, metric: str, name: str = "mean") -> Estimate:
    """Return the mean of one system's scores (0 to 1), with a 95% interval over cases and seeds.

    Seeds without this metric are left out. ``name``: of the random stream, before the metric.

    Raises
    ------
    ValueError
        If no seed has the metric, or one lacks the score of a case.
    """
    scored = scores.groupby("seed")[metric].transform("count") > 0
    if not scored.any():
        raise ValueError(f"no score by {metric}")
    cases, values = _matrix(scores[scored], metric)
    (drawn,) = draws(
        [values[..., None]],
        lambda sums: sums / len(cases),
        resamples=run.profile.resamples,
        rng=run.rng(f"{name} {metric}"),
    )
    return estimate(float(values.mean()), drawn.total()[:, 0].clip(0, 1))


def difference(
    run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str, name: str, comparisons: int = 1
) -> Estimate:
    """Return the mean of ``first`` minus that of ``second`` on the same cases, with a 95% percentile interval
    (:func:`~radeval_lib.stats.resampling.mean_difference`).

    ``name``: of the random stream, before the metric. ``comparisons``: number of comparisons for
    simultaneous 95% coverage (Bonferroni); it multiplies the resamples, to keep as many in each tail.
    """
    (cases, ours), (others, theirs) = (_matrix(scores, metric) for scores in (first, second))
    if cases != others:
        raise ValueError("`first` and `second` cover different cases; pass scores of the same cases")
    return mean_difference(
        ours,
        theirs,
        resamples=comparisons * run.profile.resamples,
        rng=run.rng(f"{name} {metric}"),
        level=1 - 0.05 / comparisons,
    )


def compare_with_others(
    run: Run, rows: Mapping[str, pd.DataFrame], first: str, metric: str, others: Sequence[str] = ()
) -> dict[str, Estimate]:
    """Return the mean of ``first`` minus that of each of ``others`` (default: all) on the same tests."""
    return {
        name: difference(run, rows[first], rows[name], metric, f"{name} against")
        for name in others or rows
        if name != first
    }


def leads(differences: Mapping[str, Estimate]) -> dict[str, Lead]:
    """Return whether each difference is an established lead."""
    return {name: Lead.by_interval(difference) for name, difference in differences.items()}


def sample_of(
    run: Run, exhibit: OpenExhibit, rows: pd.DataFrame, items: str = "test reports", *, drawn: bool
) -> None:
    """Record the cases, trainings and resamples of one system's scores as the sample of an exhibit.

    ``items``: a name for the cases. ``drawn``: whether each seed also draws its training reports.
    """
    cases, seeds = rows["case"].nunique(), rows["seed"].nunique()
    exhibit.sample(
        cases, items, trainings=seeds, draws=seeds if drawn else 0, resamples=run.profile.resamples
    )


@dataclass(frozen=True)
class LeadRetention:
    """A lead on groups in training (``seen``), on other groups (``unseen``), and the second as a ``share`` of
    the first, which is None if the first is not established."""

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def lead_left(run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str) -> LeadRetention:
    """Return the lead of ``first`` over ``second`` on groups in training and on others, by the same draws.

    Both systems share the drawn cases but not the drawn seeds. Resamples without a lead on the groups in
    training are left out of the share's interval; if this lead is established, they are fewer than 3%.

    Raises
    ------
    ValueError
        If the two were not tested on the same cases, or a score is missing.
    """
    tables, tested = [], []
    for scores in (first, second):
        cases, values = _matrix(scores, metric)
        _, seen = _matrix(scores.assign(seen=scores["seen"].astype(float)), "seen")
        tested.append((cases, seen[0].tolist()))
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))
    if tested[0] != tested[1]:
        raise ValueError("the two were not tested on the same cases of the same groups")

    def means(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    ours, theirs = draws(tables, means, resamples=run.profile.resamples, rng=run.rng("lead left"))
    lead = ours - theirs
    drawn = lead.total()
    on_seen, on_unseen = (estimate(value, drawn[:, side]) for side, value in enumerate(lead.value))
    if on_seen.low <= 0:
        return LeadRetention(on_seen, on_unseen, None)
    led = drawn[drawn[:, 0] > 0]
    share = estimate(on_unseen.value / on_seen.value, led[:, 1] / led[:, 0])
    return LeadRetention(on_seen, on_unseen, share)


def unseen_check(best: str, left: LeadRetention) -> Check:
    """Check that most of a lead over Lead-3 is lost on groups that were not in training.

    The check is inconclusive without an established lead, or if the interval of the remaining share contains
    one half.
    """
    remaining, lost = "no lead to lose is established", None
    if left.share is not None:
        remaining, lost = f"{left.share:.0%} is left", below(left.share.low, left.share.high, 0.5)
    return check_statement(
        f"lead of {best} over Lead-3 in ROUGE-L, on groups seen in training and on others",
        "most of the benefits of such specialized approaches may not generalize",
        f"{left.seen:.3f} and {left.unseen:.3f}: {remaining}",
        lost,
        asked="less than half left",
    )
