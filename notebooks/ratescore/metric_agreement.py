"""Metrics over rated pairs: their scores, and how they agree with the ratings of a role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from radeval_lib.data.errors import DataError
from radeval_lib.data.ratings import rating_table
from radeval_lib.metrics.base import Metric
from radeval_lib.stats.correlations import resample, varies
from radeval_lib.stats.printed import Kind
from radeval_lib.study.runs import Run


def scores(metrics: dict[str, Metric], pairs: pd.DataFrame) -> pd.DataFrame:
    """Return scores of every pair (rows with ``reference`` and ``candidate``), one column per metric."""
    references, candidates = pairs["reference"].tolist(), pairs["candidate"].tolist()
    return pd.DataFrame(
        {name: metric.score(references, candidates).values for name, metric in metrics.items()},
        index=pairs.index,
    )


@dataclass(frozen=True)
class Agreement:
    """How metrics agree with the ratings of a role.

    Attributes
    ----------
    pairs : a row per rated pair, as :func:`radeval_lib.data.ratings.rating_table` has it.
    scores : with the same index, float64, a column per metric.
    correlations : a row per metric and kind: ``metric``, ``value``, ``low``, ``high``, ``kind``.
    contrasts : the first metric less each ``rival``, a row per rival and kind.
    """

    pairs: pd.DataFrame
    scores: pd.DataFrame
    correlations: pd.DataFrame
    contrasts: pd.DataFrame

    def ranked(self, kind: Kind) -> pd.DataFrame:
        """Return the correlations of one kind, highest first; a KeyError where it was not asked for."""
        rows = self.correlations.set_index("kind", drop=False).loc[[kind]]
        return rows.sort_values("value", ascending=False, ignore_index=True)

    def against(self, kind: Kind) -> pd.DataFrame:
        """Return the contrasts of one kind, by rival; none where there is no rival."""
        return self.contrasts[self.contrasts["kind"] == kind].set_index("rival").drop(columns="kind")

    @property
    def left_out(self) -> list[str]:
        """The metrics without a correlation, because they give nearly all pairs the same score."""
        correlated = set(self.correlations["metric"])
        return [str(name) for name in self.scores if name not in correlated]


def agreement(
    run: Run, role: str, metrics: dict[str, Metric], kinds: Sequence[Kind], *, first: str
) -> Agreement:
    """Score the rated pairs of a role and correlate; intervals and tests draw whole cases.

    Pairs with the same reference share a case. Ratings are high for good candidates, so a metric of which
    lower is better is correlated with its sign turned. A metric that gives nearly all pairs the same score is
    left out of the correlations: in a resample it might not vary at all.

    Parameters
    ----------
    metrics : by the name that tables give them.
    kinds : of correlation, at least one.
    first : the metric that every other is compared with.

    Raises
    ------
    ValueError
        ``first`` is not among the metrics, or no kind is given.
    DataError
        ``first`` itself gives nearly all pairs the same score.
    """
    if first not in metrics or not kinds:
        raise ValueError(f"{first!r} is none of {', '.join(metrics)}" if kinds else "no kind of correlation")
    pairs = rating_table(run.load(role))
    table = scores(metrics, pairs)
    columns = {
        name: metric.sign() * table[name].to_numpy()
        for name, metric in metrics.items()
        if varies(table[name].to_numpy(), pairs["case"].to_numpy())
    }
    if first not in columns:
        raise DataError(
            f"{first} gives nearly all of the {len(pairs)} pairs the same score",
            f"role {role}",
            "Nothing can be compared with it: use more pairs (`sizes` of the profile) or another model.",
        )
    correlations, contrasts = [], []
    for kind in kinds:
        drawn = resample(
            columns,
            pairs["rating"].to_numpy(),
            groups=pairs["case"].to_numpy(),
            kind=kind,
            resamples=run.profile.resamples,
            rng=run.rng(f"{role} {kind}"),
        )
        correlations.append(drawn.intervals().assign(kind=kind))
        contrasts.append(drawn.compare(first).assign(kind=kind))
    return Agreement(pairs, table, pd.concat(correlations), pd.concat(contrasts))
