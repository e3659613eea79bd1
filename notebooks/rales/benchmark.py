"""The page on the benchmark: scores with their uncertainty, how sure their order is, and what choosing by the
test set is worth.

``counts`` has one row per encoder, task, regime, draw, case, domain and part, as the jobs leave them. A
resample draws cases with replacement, the same ones for every encoder; what other training records would do
is added (:class:`radeval_lib.stats.resampling.Draws`).

The released code of RaLEs keeps the trial that is best on the test set and reports its score there. Two
numbers show what that does. The *advantage* is how much higher the reported score is than that of the trial
which validation would have chosen. The *optimism* is the part of the reported score that is luck: the score
less what the same choice yields on documents that had no part in it. It is estimated by cross-validation:
each tenth of the test documents is scored with the trial that is best on the other nine tenths. Halves
instead of tenths would measure the luck of a choice on half as many documents, which is larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from notebooks.rales.results import REGIMES
from radeval_lib import plots
from radeval_lib.errors import ResultError
from radeval_lib.jobs.rales.tasks import BenchmarkTask, Column
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import f1
from radeval_lib.stats.resampling import Draws, drawn_rows, draws, ends, estimate, mean_draws

SCORE = "NLU score"
_STATISTICS = ["matched", "predicted", "gold"]


@dataclass(frozen=True)
class PercentScores:
    """Scores in percent: by column, what was drawn of each encoder."""

    encoders: tuple[str, ...]
    drawn: dict[str, list[Draws]]

    @property
    def observed(self) -> pd.DataFrame:
        """The scores themselves, one row per encoder."""
        values = {column: [one.value[0] for one in drawn] for column, drawn in self.drawn.items()}
        return pd.DataFrame(values, index=pd.Index(self.encoders, name="encoder"))

    def intervals(self) -> pd.DataFrame:
        """Return one row per encoder and column: ``encoder``, ``column``, ``value``, ``low``, ``high`` (95
        %)."""
        rows = [
            (encoder, column, own.value[0], *ends(own.total()[:, 0]).clip(0, 100))
            for column, drawn in self.drawn.items()
            for encoder, own in zip(self.encoders, drawn, strict=True)
        ]
        return pd.DataFrame(rows, columns=["encoder", "column", "value", "low", "high"])

    def lead(self, first: str, second: str) -> Estimate:
        """Return how far the NLU score of the first is above that of the second, with a two-sided ``p``."""
        one, other = (self.drawn[SCORE][self.encoders.index(name)] for name in (first, second))
        gap = one - other
        return estimate(float(gap.value[0]), gap.total()[:, 0])

    def ranks(self) -> pd.DataFrame:
        """Return the rank of each encoder's NLU score, 1 for the best, with ``low`` and ``high``, 95 % of
        resampled ranks; equal ones share their mean rank."""
        observed = self.observed[SCORE]
        drawn = pd.DataFrame([own.total()[:, 0] for own in self.drawn[SCORE]], index=observed.index)
        ranked = drawn.rank(ascending=False).to_numpy()
        low, high = np.quantile(ranked, (0.025, 0.975), axis=1, method="nearest")
        columns = {"rank": observed.rank(ascending=False), "low": low, "high": high}
        return pd.DataFrame(columns, index=observed.index)


def scores(
    counts: pd.DataFrame,
    tasks: Sequence[BenchmarkTask],
    *,
    resamples: int,
    rng: Callable[[str], np.random.Generator],
) -> PercentScores:
    """Return scores of one regime by its ``counts``; the NLU score is the mean of all columns of the
    ``tasks`` (RaLEs, Section 4.2.2)."""
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
    return PercentScores(encoders, drawn)


def _tables(counts: pd.DataFrame, column: Column, encoders: Sequence[str]) -> list[FloatArray]:
    """Of each encoder the counts, shape (draws, cases, 3); a :class:`ResultError` where one lacks them, or
    where encoders or draws were tested on other cases."""
    rows = counts[counts["part"] == column.part].sort_values(["draw", "case"])
    if column.domain:
        rows = rows[rows["domain"] == column.domain]
    by_encoder = rows.groupby("encoder")
    if lacking := [encoder for encoder in encoders if encoder not in by_encoder.groups]:
        asked = f"{column.part} of {column.domain}" if column.domain else column.part
        raise ResultError(
            f"{column.name}: no {asked} was tested with {lacking[0]}",
            "rales/fitting",
            "Have more records tested: `test_documents` in the profile, 0 for all.",
        )
    tested = {key: own["case"].tolist() for key, own in rows.groupby(["encoder", "draw"], sort=False)}
    cases = next(iter(tested.values()))
    if other := [key for key, own in tested.items() if own != cases]:
        where = f"{other[0][0]} in draw {other[0][1]}"
        raise ResultError(f"{column.name}: other cases were tested with {where}", "rales/fitting")
    return [
        by_encoder.get_group(encoder)[_STATISTICS].to_numpy(np.float64).reshape(-1, len(cases), 3)
        for encoder in encoders
    ]


def micro_f1(sums: FloatArray) -> FloatArray:
    """Return :func:`~radeval_lib.stats.measures.f1` in percent."""
    return 100 * f1(sums)


GAINS = ["advantage", "optimism"]
_FOLDS = 10


def optimism_by_trials(
    trials: pd.DataFrame, sizes: Sequence[int], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return advantage and optimism with each of so many ``trials``, in points of F1: means over resamples of
    searches, trials and folds, each with ``_low`` and ``_high`` (95 % of resamples). The test documents are
    the same in all of them, so these ends say nothing about what other documents could change.

    Parameters
    ----------
    trials : one row per ``search``, ``trial`` and ``case``: ``matched``, ``predicted`` and ``gold`` on test,
        and ``value``, the trial's measure on validation. Every search has equally many trials, each tested on
        the same cases.
    sizes : numbers of trials, from 1 to those that a search has.
    """
    keys = ["search", "trial", "case"]
    ordered = trials.sort_values(keys)
    searches, most, cases = (ordered[name].nunique() for name in keys)
    table = ordered[["matched", "predicted", "gold"]].to_numpy(np.float64).reshape(searches, most, cases, 3)
    values = ordered["value"].to_numpy(np.float64).reshape(searches, most, cases)[:, :, 0]
    totals = table.sum(axis=2)
    whole = micro_f1(totals)
    folds = min(_FOLDS, cases)
    by_size: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    for drawn in drawn_rows(np.arange(searches), resamples, rng.spawn(1)[0]):
        order = np.stack([rng.permutation(most) for _ in drawn])
        fold = rng.permutation(np.arange(cases) % folds)
        # shape (searches, trials, folds, 3): counts in each fold, and in all others
        inside = np.stack([table[:, :, fold == k].sum(axis=2) for k in range(folds)], axis=2)
        others = micro_f1(totals[:, :, None] - inside)
        for size in sizes:
            rows = [(search, order[place, :size]) for place, search in enumerate(drawn)]
            gains = [whole[s, k].max() - whole[s, k[values[s, k].argmax()]] for s, k in rows]
            luck = [whole[s, k].max() - _unseen(inside[s, k], others[s, k]) for s, k in rows]
            by_size[size].append((float(np.mean(gains)), float(np.mean(luck))))
    result = []
    for size, pairs in by_size.items():
        (low, high), mean = np.quantile(pairs, (0.025, 0.975), axis=0), np.mean(pairs, axis=0)
        result.append((size, *mean, *low, *high))
    ends = [f"{name}_{end}" for end in ("low", "high") for name in GAINS]
    return pd.DataFrame(result, columns=["trials", *GAINS, *ends])


def _unseen(inside: FloatArray, others: FloatArray) -> float:
    """Return F1 of all folds together, each scored with the trial that is best on the others."""
    best = others.argmax(axis=0)
    return float(micro_f1(inside[best, np.arange(len(best))].sum(axis=0)))


def draw_regimes(by_regime: Mapping[str, PercentScores]) -> Figure:
    """Draw the NLU score with its interval, one panel per share of labels and one row per encoder."""
    shares = [name for name in ("hundredth", "tenth", "all") if name in by_regime]
    figure, axes = plots.panels(len(shares), 1, height=1.3, sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], shares, strict=True):
        rows = by_regime[name].intervals()
        plots.intervals(axis, rows[rows["column"] == SCORE].set_index("encoder"))
        axis.set_title(REGIMES[name])
    axes[-1, 0].set_xlabel("NLU score, %")
    return figure
