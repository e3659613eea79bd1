"""Compare summarization systems on the same reports: their mean scores, their leads, and the share of a lead
that remains on groups of reports outside training.

A table of scores has one row per summary, with columns ``seed``, ``system``, ``train_set``, ``case``,
``group`` and one column per metric, where higher is better.
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
    """Concatenate the tables of scores that jobs stored, without duplicate rows.

    Several jobs store the same rows for systems that are not trained.
    """
    tables = [output.tables["scores"] for output in outputs]
    return pd.concat(tables, ignore_index=True).drop_duplicates(_KEYS)


def _arrange_scores(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Return (the sorted cases, an array of the metric's scores of shape (seeds, cases)).

    ``scores`` has the rows of one system and training set.

    Raises
    ------
    ValueError
        If the score of a case is missing for a seed, or a case occurs twice for a seed.
    """
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if missing := int(table.isna().sum(axis=None)):
        raise ValueError(f"column {metric} lacks {missing} scores; pass scores of all cases for each seed")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def estimate_mean(run: Run, scores: pd.DataFrame, metric: str, name: str = "mean") -> Estimate:
    """Return a system's mean score on a metric, with a 95% confidence interval over cases and seeds.

    The bounds of the interval are clipped to the range from 0 to 1.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    scores : rows of one system and training set. Seeds without any score on the metric are left out.
    metric : the column of scores, from 0 to 1.
    name : the first part of the random stream's name, ``<name> <metric>``.

    Raises
    ------
    ValueError
        If no seed has scores on the metric, or a seed has scores of only some cases.
    """
    has_scores = scores.groupby("seed")[metric].transform("count") > 0
    if not has_scores.any():
        raise ValueError(f"column {metric} of `scores` has no score; pass rows that the metric scored")
    cases, values = _arrange_scores(scores[has_scores], metric)
    (draws,) = resample_models(
        [values[..., None]],
        lambda sums: sums / len(cases),
        resamples=run.profile.resamples,
        rng=run.rng(f"{name} {metric}"),
    )
    return estimate(float(values.mean()), draws.total()[:, 0].clip(0, 1))


def subtract_means(
    run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str, name: str, comparisons: int = 1
) -> Estimate:
    """Return the mean score of ``first`` minus that of ``second`` on the same cases, with its interval.

    The interval is a 95% percentile interval with a Bonferroni correction for the number of comparisons
    (:func:`~radeval_lib.stats.resampling.mean_difference`).

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    first, second : scores of the two systems, each with one training set.
    metric : the column of scores.
    name : the first part of the random stream's name, ``<name> <metric>``.
    comparisons : the number of comparisons whose intervals have a joint coverage of 95%. The number of
        resamples is multiplied by it, so that enough of them fall beyond the bounds.

    Raises
    ------
    ValueError
        If the systems differ in cases, or a score is missing.
    """
    (cases, minuend), (second_cases, subtrahend) = (_arrange_scores(rows, metric) for rows in (first, second))
    if extra := set(cases) ^ set(second_cases):
        raise ValueError(f"{len(extra)} cases have scores of one system only; pass the same cases of both")
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
    """Return a mapping from each other system to the mean score of ``first`` minus that system's.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    rows : a mapping from each system to its table of scores, all on the same cases.
    first : the name of the system that is compared with the others.
    metric : the column of scores.
    others : the names of the other systems; by default, all systems in ``rows`` except ``first``.

    Raises
    ------
    ValueError
        If the systems differ in cases, or a score is missing.
    """
    return {
        name: subtract_means(run, rows[first], rows[name], metric, f"{name} against")
        for name in others or rows
        if name != first
    }


def find_leads(differences: Mapping[str, Estimate]) -> dict[str, Lead]:
    """Return a mapping from each rival to the lead over it, which can be negative or not significant.

    ``differences`` is a mapping that :func:`compare_with_others` returned.
    """
    return {rival: Lead.by_interval(difference) for rival, difference in differences.items()}


def record_sample(
    run: Run, exhibit: OpenExhibit, rows: pd.DataFrame, items: str = "test reports", *, drawn: bool
) -> None:
    """Record in an exhibit how many cases, training runs and resamples a system's scores rest on.

    Parameters
    ----------
    run : the page's run, for the number of resamples.
    exhibit : the exhibit, which must be open.
    rows : the system's scores.
    items : the kind of case, for display.
    drawn : whether each seed draws different training reports.
    """
    cases, seeds = rows["case"].nunique(), rows["seed"].nunique()
    exhibit.sample(
        cases, items, trainings=seeds, draws=seeds if drawn else 0, resamples=run.profile.resamples
    )


@dataclass(frozen=True)
class LeadRetention:
    """A system's lead in mean score on groups of reports in training and on other groups.

    Attributes
    ----------
    seen : the lead on reports from groups in training.
    unseen : the lead on reports from other groups.
    share : ``unseen`` divided by ``seen``; None if the interval of ``seen`` is not above 0.
    """

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def measure_lead_retention(run: Run, first: pd.DataFrame, second: pd.DataFrame, metric: str) -> LeadRetention:
    """Return the lead of ``first`` over ``second`` on groups of reports in training and on other groups.

    All three intervals come from the same resamples, in which both systems have the same cases but separate
    draws of seeds. The share's interval leaves out resamples without a lead on groups in training. They are
    fewer than 3%, since the share is computed only if the interval of that lead is above 0.

    Parameters
    ----------
    run : the page's run, for the number of resamples and the random stream.
    first, second : scores of the two systems, each with a column ``seen`` that says whether the case's group
        was in training.
    metric : the column of scores.

    Raises
    ------
    ValueError
        If the systems differ in cases or in their ``seen``, or a score is missing.
    """
    tables, designs = [], []
    for scores in (first, second):
        cases, values = _arrange_scores(scores, metric)
        _, seen = _arrange_scores(scores.assign(seen=scores["seen"].astype(float)), "seen")
        designs.append((cases, seen[0].tolist()))
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))
    if designs[0] != designs[1]:
        raise ValueError("`first` and `second` differ in cases or in `seen`; pass scores on the same cases")

    def average(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    by_system = resample_models(tables, average, resamples=run.profile.resamples, rng=run.rng("lead left"))
    lead = by_system[0] - by_system[1]
    resampled = lead.total()
    seen_lead, unseen_lead = (estimate(value, resampled[:, i]) for i, value in enumerate(lead.value))
    if seen_lead.low <= 0:
        return LeadRetention(seen_lead, unseen_lead, None)
    with_lead = resampled[resampled[:, 0] > 0]
    share = estimate(unseen_lead.value / seen_lead.value, with_lead[:, 1] / with_lead[:, 0])
    return LeadRetention(seen_lead, unseen_lead, share)


def check_unseen(best: str, retention: LeadRetention) -> Check:
    """Return a check that a system loses most of its lead over Lead-3 on groups outside training.

    The check holds if less than half of the lead remains. It is inconclusive if no lead is established, or if
    the interval of the remaining share contains one half. ``best`` is the name of the system, and
    ``retention`` its lead over Lead-3 (:func:`measure_lead_retention`).
    """
    remaining, is_lost = "no lead to lose is established", None
    if (share := retention.share) is not None:
        remaining, is_lost = f"{share:.0%} is left", below(share.low, share.high, 0.5)
    return check_statement(
        f"lead of {best} over Lead-3 in ROUGE-L, on groups seen in training and on others",
        "most of the benefits of such specialized approaches may not generalize",
        f"{retention.seen:.3f} and {retention.unseen:.3f}: {remaining}",
        is_lost,
        criterion="less than half left",
    )
