"""Compare summarization systems on the same reports: their means, their leads, and the share of a lead that
remains on groups of reports that were not in training.

Tables of scores have one row per summary, with columns ``seed``, ``system``, ``train_set``, ``case``,
``group`` and one per metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import ratio
from radeval_lib.stats.resampling import estimate, mean_difference, resample_models
from radeval_lib.study.checks import Check, below, check_statement
from radeval_lib.study.jobs import JobOutput
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead

_KEYS = ["seed", "system", "train_set", "case"]


def combine_scores(outputs: Iterable[JobOutput]) -> pd.DataFrame:
    """Return the scores that jobs stored, in one table without duplicates.

    Several jobs store the same rows of systems that are not trained.
    """
    tables = [output.tables["scores"] for output in outputs]
    return pd.concat(tables, ignore_index=True).drop_duplicates(_KEYS)


def _arrange_scores(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Return (the sorted cases, the scores by a metric in an array of shape (seeds, cases)).

    ``scores``: rows of one system and training set.

    Raises
    ------
    ValueError
        If the score of a case is missing for a seed.
    """
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if missing := int(table.isna().sum(axis=None)):
        raise ValueError(f"{missing} scores by {metric} are missing; pass scores of all cases for each seed")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def estimate_mean(run: Run, scores: pd.DataFrame, metric: str, name: str = "mean") -> Estimate:
    """Return the mean of a system's scores by a metric (0 to 1), with a 95% interval over cases and seeds.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    scores : rows of one system and training set. Seeds without any score by the metric are left out.
    metric : the column of scores.
    name : the random stream is named ``<name> <metric>``.

    Raises
    ------
    ValueError
        If no seed has scores by the metric, or a seed has scores of some cases only.
    """
    has_scores = scores.groupby("seed")[metric].transform("count") > 0
    if not has_scores.any():
        raise ValueError(f"the table has no scores by {metric}")
    cases, values = _arrange_scores(scores[has_scores], metric)
    (drawn,) = resample_models(
        [values[..., None]],
        lambda sums: sums / len(cases),
        resamples=run.profile.resamples,
        rng=run.rng(f"{name} {metric}"),
    )
    return estimate(float(values.mean()), drawn.total()[:, 0].clip(0, 1))


def subtract_means(
    run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str, name: str, comparisons: int = 1
) -> Estimate:
    """Return the mean score of one system minus that of another on the same cases, with an interval.

    The interval is a 95% percentile interval, corrected for the number of comparisons (Bonferroni); see
    :func:`~radeval_lib.stats.resampling.mean_difference`.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    first, second : scores of the two systems, each of one training set; the mean of ``second`` is subtracted.
    metric : the column of scores.
    name : the random stream is named ``<name> <metric>``.
    comparisons : number of comparisons whose intervals shall cover simultaneously with 95%. It also
        multiplies the number of resamples, so that the tails of the interval have enough of them.

    Raises
    ------
    ValueError
        If the cases differ, or a score is missing.
    """
    (cases, minuend), (second_cases, subtrahend) = (_arrange_scores(rows, metric) for rows in (first, second))
    if cases != second_cases:
        raise ValueError("`first` and `second` cover different cases; pass scores of the same cases")
    return mean_difference(
        minuend,
        subtrahend,
        resamples=comparisons * run.profile.resamples,
        rng=run.rng(f"{name} {metric}"),
        level=1 - 0.05 / comparisons,
    )


def compare_with_others(
    run: Run, rows: Mapping[str, pd.DataFrame], first: str, metric: str, others: Sequence[str] = ()
) -> dict[str, Estimate]:
    """Return, by name, the mean score of ``first`` minus that of each other system (:func:`subtract_means`).

    Parameters
    ----------
    run : the page's run.
    rows : scores of each system by name, all of the same cases.
    first : name of the system that is compared with the others.
    metric : the column of scores.
    others : names of the other systems; all of ``rows`` if empty.
    """
    return {
        name: subtract_means(run, rows[first], rows[name], metric, f"{name} against")
        for name in others or rows
        if name != first
    }


def find_leads(differences: Mapping[str, Estimate]) -> dict[str, Lead]:
    """Return, by name, whether the interval of a difference establishes a lead, a deficit or neither.

    ``differences``: the results of :func:`compare_with_others`.
    """
    return {name: Lead.by_interval(difference) for name, difference in differences.items()}


def record_sample(
    run: Run, exhibit: OpenExhibit, rows: pd.DataFrame, items: str = "test reports", *, drawn: bool
) -> None:
    """Record in an exhibit the numbers of cases, trainings and resamples on which a system's scores rest.

    Parameters
    ----------
    run : the page's run, for the number of resamples.
    exhibit : the exhibit, while it is open.
    rows : the system's scores.
    items : what the cases are, for display.
    drawn : whether each seed draws other training reports.
    """
    cases, seeds = rows["case"].nunique(), rows["seed"].nunique()
    exhibit.sample(
        cases, items, trainings=seeds, draws=seeds if drawn else 0, resamples=run.profile.resamples
    )


@dataclass(frozen=True)
class LeadRetention:
    """A system's lead (difference of mean scores) on reports of groups that were in training, and on others.

    Attributes
    ----------
    seen : the lead on reports of groups that were in training.
    unseen : the lead on other reports.
    share : ``unseen`` divided by ``seen``; None if the interval of ``seen`` is not above 0.
    """

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def measure_lead_retention(run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str) -> LeadRetention:
    """Return a system's lead over another on reports of groups that were in training and on others.

    All three intervals come from the same resamples, in which both systems have the same cases, but seeds of
    their own. Resamples without a lead on the groups in training are left out of the share's interval; they
    are fewer than 3%, since the share is only computed if the interval of that lead is above 0.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    first, second : scores of the two systems, with a column ``seen``: whether the case's group was in
        training.
    metric : the column of scores.

    Raises
    ------
    ValueError
        If the cases or their ``seen`` differ between the systems, or a score is missing.
    """
    tables, designs = [], []
    for scores in (first, second):
        cases, values = _arrange_scores(scores, metric)
        _, seen = _arrange_scores(scores.assign(seen=scores["seen"].astype(float)), "seen")
        designs.append((cases, seen[0].tolist()))
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))
    if designs[0] != designs[1]:
        raise ValueError("`first` and `second` differ in cases or in `seen`; pass scores of the same tests")

    def means(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    by_system = resample_models(tables, means, resamples=run.profile.resamples, rng=run.rng("lead left"))
    lead = by_system[0] - by_system[1]
    drawn = lead.total()
    on_seen, on_unseen = (estimate(value, drawn[:, side]) for side, value in enumerate(lead.value))
    if on_seen.low <= 0:
        return LeadRetention(on_seen, on_unseen, None)
    with_lead = drawn[drawn[:, 0] > 0]
    share = estimate(on_unseen.value / on_seen.value, with_lead[:, 1] / with_lead[:, 0])
    return LeadRetention(on_seen, on_unseen, share)


def check_unseen(best: str, left: LeadRetention) -> Check:
    """Return a check that a system loses most of its lead over Lead-3 on groups that were not in training.

    The check holds if less than half of the lead remains. It is inconclusive if no lead is established, or if
    the interval of the remaining share contains one half.

    ``best``: the system's name. ``left``: its lead over Lead-3 (:func:`measure_lead_retention`).
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
