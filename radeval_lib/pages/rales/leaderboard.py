"""Scores of the benchmark with their uncertainty, and how sure the order of the models is.

``counts`` has one row an encoder, task, regime, draw, case, domain and part, as the cells leave them. A
resample draws cases with replacement, the same ones for every encoder; what other training records would do
is added (:class:`radeval_lib.stats.resampling.Draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.pages.rales.tasks import BenchmarkTask, Column
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import Draws, draws, ends, estimate, mean_draws

FloatArray = NDArray[np.float64]
SCORE = "NLU score"
_ENDS = (0.025, 0.975)
_STATISTICS = ["matched", "predicted", "gold"]


@dataclass(frozen=True)
class PercentScores:
    """Scores in percent."""

    encoders: tuple[str, ...]
    observed: pd.DataFrame
    drawn: dict[str, list[Draws]]

    def intervals(self) -> pd.DataFrame:
        """One row an encoder and column: ``encoder``, ``column``, ``value``, ``low``, ``high`` (95 %)."""
        rows = [
            (encoder, column, own.value[0], *ends(own.total()[:, 0]).clip(0, 100))
            for column, drawn in self.drawn.items()
            for encoder, own in zip(self.encoders, drawn, strict=True)
        ]
        return pd.DataFrame(rows, columns=["encoder", "column", "value", "low", "high"])

    def lead(self, first: str, second: str, column: str = SCORE) -> Estimate:
        """How far the first is above the second, with a two-sided ``p``."""
        one, other = (self.drawn[column][self.encoders.index(name)] for name in (first, second))
        gap = one - other
        return estimate(float(gap.value[0]), gap.total()[:, 0])

    def leads(self, first: str, columns: Sequence[str]) -> pd.DataFrame:
        """How far one encoder is above each other one: ``value``, ``low``, ``high`` and ``p``, by ``other
        encoder`` and ``column``."""
        rows = {
            (other, column): vars(self.lead(first, other, column))
            for other in self.encoders
            if other != first
            for column in columns
        }
        frame = pd.DataFrame.from_dict(rows, orient="index")[["value", "low", "high", "p"]]
        return frame.rename_axis(["other encoder", "column"])

    def ranks(self, column: str = SCORE) -> pd.DataFrame:
        """One row an encoder: ``score``, ``rank`` (1 is best), ``low``, ``high`` (95 % of resampled ranks),
        and ``first``, the share of resamples in which it is best; equal ones share their mean rank."""
        drawn = pd.DataFrame([own.total()[:, 0] for own in self.drawn[column]], index=list(self.encoders))
        ranked = drawn.rank(ascending=False).to_numpy()
        low, high = np.quantile(ranked, _ENDS, axis=1, method="nearest")
        return pd.DataFrame(
            {
                "score": self.observed[column],
                "rank": self.observed[column].rank(ascending=False),
                "low": low,
                "high": high,
                "first": (ranked == 1).mean(axis=1),
            },
            index=pd.Index(self.encoders, name="encoder"),
        )


def scores(
    counts: pd.DataFrame,
    tasks: Sequence[BenchmarkTask],
    *,
    resamples: int,
    rng: Callable[[str], np.random.Generator],
) -> PercentScores:
    """Scores of one regime.

    Parameters
    ----------
    counts : of the regime.
    tasks : whose columns are scored; the NLU score is the mean of all of them (RaLEs, Section 4.2.2).
    rng : gives a generator for a name.

    Raises
    ------
    ValueError
        Where an encoder lacks counts of a column, or has other cases than the others.
    """
    encoders = tuple(dict.fromkeys(counts["encoder"]))
    drawn: dict[str, list[Draws]] = {}
    for task in tasks:
        for column in task.columns:
            tables = _tables(counts[counts["task"] == task.name], column, encoders)
            # A stream by domain: entities and relations of the same documents are drawn together.
            drawn[column.name] = draws(
                tables,
                lambda sums: micro_f1(sums)[..., None],
                resamples=resamples,
                rng=rng(f"{task.name} {column.domain}"),
            )
    drawn[SCORE] = [mean_draws(own) for own in zip(*drawn.values(), strict=True)]
    observed = {name: [own.value[0] for own in of] for name, of in drawn.items()}
    return PercentScores(encoders, pd.DataFrame(observed, index=pd.Index(encoders, name="encoder")), drawn)


def _tables(counts: pd.DataFrame, column: Column, encoders: Sequence[str]) -> list[FloatArray]:
    """Of each encoder the counts, shape (draws, cases, 3)."""
    rows = counts[(counts["part"] == column.part)]
    if column.domain:
        rows = rows[rows["domain"] == column.domain]
    found, cases = [], None
    for encoder in encoders:
        own = rows[rows["encoder"] == encoder].sort_values(["draw", "case"])
        draws, names = own["draw"].nunique(), own["case"].drop_duplicates().sort_values().tolist()
        if not draws or len(own) != draws * len(names):
            raise ValueError(f"{encoder} has {len(own)} counts of {column.name} for {len(names)} cases")
        if cases not in (None, names):
            raise ValueError(f"{encoder} was tested on other cases of {column.name} than the others")
        cases = names
        found.append(own[_STATISTICS].to_numpy(np.float64).reshape(draws, len(names), 3))
    return found


def micro_f1(sums: FloatArray) -> FloatArray:
    """Micro F1 in percent of (matched, predicted, gold) on the last axis; 0 where there is nothing."""
    total = sums[..., 1] + sums[..., 2]
    result: FloatArray = 200 * np.divide(sums[..., 0], total, out=np.zeros_like(total), where=total > 0)
    return result
