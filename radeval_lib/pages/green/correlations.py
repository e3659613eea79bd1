"""What follows from the intervals of Ostmeier et al. 2024, Tables 6 and 7: which leads exceed chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from numpy.typing import NDArray
from scipy import stats

from radeval_lib import plots
from radeval_lib.papers.printed_numbers import Printed, by_name, printed, quoted, wide
from radeval_lib.stats import agreement
from radeval_lib.stats import printed as from_print
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import drawn_rows, ends
from radeval_lib.study.checks import Check, check_statement, check_value
from radeval_lib.study.printed_leads import lead_of_intervals as lead_of_intervals
from radeval_lib.study.printed_leads import lead_of_shares
from radeval_lib.study.superiority import LEVEL, Lead, check_no_deficit, check_superiority

FloatArray = NDArray[np.float64]
ENDS = ["estimate", "ci_low", "ci_high"]


class PrintedTaus:
    """Table 6: Kendall's tau of metrics with radiologists' total errors, with 95% intervals.

    ``cells``: as printed; ``values``, by metric, with columns :data:`ENDS`. ``taus``: the printed
    coefficients by metric. ``tests``: every two metrics, their errors taken as independent, ``distinct``
    after Holm's correction.
    """

    def __init__(self) -> None:
        self.cells = printed("green.table6")
        self.values = wide(self.cells, "metric", "statistic")
        self.taus = by_name(self.cells[self.cells["statistic"] == "estimate"], "metric")
        tests = from_print.pairwise_tests(self.values.reset_index(), name="metric")
        self.tests = tests.assign(distinct=tests["p_holm"] < LEVEL)

    def test(self, first: str, second: str) -> pd.Series:
        """The test of two metrics."""
        pair = [first, second]
        return self.tests[self.tests["first"].isin(pair) & self.tests["second"].isin(pair)].iloc[0]

    def p_value(self, first: str, second: str, between: FloatArray) -> FloatArray:
        """p of the difference of two metrics by the correlation of their errors, uncorrected."""
        one, other = self.values.loc[first], self.values.loc[second]
        se, other_se = (from_print.standard_error(row["ci_low"], row["ci_high"]) for row in (one, other))
        gap = math.atanh(one["estimate"]) - math.atanh(other["estimate"])
        return from_print.two_sided_p(gap, se, other_se, between)

    def below(self, name: str) -> list[str]:
        """The metrics that another is distinguishably above."""
        estimate = self.values["estimate"]
        return [
            other
            for other in self.values.index.drop(name)
            if self.test(name, other)["distinct"] and estimate[name] > estimate[other]
        ]

    def lead(self, first: str, second: str) -> Lead:
        """The lead of one metric over another, from the printed intervals."""
        return lead_of_intervals(*(tuple(self.values.loc[name, ENDS]) for name in (first, second)))

    def check_higher(self, name: str, claim: str, first: str, others: Sequence[str]) -> list[Check]:
        """Whether a metric is above others, and its lead more than chance."""
        leads = {other: self.lead(first, other) for other in others}
        return check_superiority(name, claim, self.taus, first=first, others=others, leads=leads)

    def check_reached(self, name: str, first: str, second: str) -> Check:
        """Whether a metric is not below another, and what can be told of a deficit."""
        one, other = self.taus[first], self.taus[second]
        found = f"{one.text} v {other.text}; {self._told(first, second)}"
        claim = "reaches the performance"
        return check_no_deficit(name, claim, found, one.value - other.value, self.lead(first, second))

    def check_indistinguishable(self, first: str, second: str) -> Check:
        """Whether two metrics cannot be told apart, whatever their errors have in common."""
        test = self.test(first, second)
        holds = True if math.isnan(test["needed"]) else False if test["p"] < LEVEL else None
        name = f"GREEN's error count v {second}"
        return check_statement(name, "statistically indistinguishable", self._told(first, second), holds)

    def _told(self, first: str, second: str) -> str:
        test = self.test(first, second)
        need = f"needed correlation {test['needed']:.2f}"
        if math.isnan(test["needed"]):
            need = "no correlation suffices"
        return f"p = {test['p']:.2g} with independent errors, {need}"


def draw_pairs(tests: pd.DataFrame) -> None:
    """Draw every two rows of Table 6: which are distinct, and else the correlation that would be needed."""
    names = list(dict.fromkeys([*tests["first"], *tests["second"]]))
    needed, distinct = (
        tests.pivot(index="second", columns="first", values=value).reindex(index=names, columns=names)
        for value in ("needed", "distinct")
    )
    clear, tested = distinct.eq(True), distinct.notna()
    words = needed.map(lambda value: f"{value:.2f}" if value > 0 else "").where(needed.notna(), "never")
    level = (needed <= 0).astype(float).where(~clear, 2.0).where(tested)
    _, axis = plt.subplots(figsize=(plots.WIDTH, 5.8))
    sns.heatmap(
        level.iloc[1:, :-1],
        cmap=["#EFEFEF", "#A9CDE4", plots.PALETTE[0]],
        vmin=0,
        vmax=2,
        cbar=False,
        annot=words.where(~clear & tested, "").iloc[1:, :-1],
        fmt="",
        annot_kws={"fontsize": 7.5, "color": "black"},
        linewidths=1,
        ax=axis,
    )
    axis.set(xlabel="", ylabel="")
    axis.grid(visible=False)
    axis.tick_params(axis="x", rotation=90)


class PrintedShares:
    """Table 7: how often methods prefer what radiologists prefer, with 95% intervals.

    ``values``, ``shares``: by method, as in :class:`PrintedTaus`. ``limit``: the most cases that there can
    be. ``possible``: the numbers of cases with which all shares are possible, with the ends that each usual
    interval meets; ``cases``, ``method`` and ``ends`` are the best of them. ``right``: of these cases, those
    that each method got right.
    """

    def __init__(self) -> None:
        cells = printed("green.table7")
        self.values = wide(cells, "method", "statistic")
        self.shares = by_name(cells[cells["statistic"] == "estimate"], "method")
        self.limit = int(quoted("green.table7")["pairs"].value)
        half = cells["half_width"].max()
        spans = list(self.values[ENDS].itertuples(index=False, name=None))
        samples = from_print.possible_samples(spans, half, self.limit)
        self.possible = samples[samples["shares"] == len(self.values)]
        best = self.possible.sort_values("ends", ascending=False).iloc[0]
        self.cases, self.method, self.ends = int(best["n"]), str(best["method"]), int(best["ends"])
        self.right = {
            name: from_print.counts_that_print(share, half, self.cases)[0]
            for name, share in self.values["estimate"].items()
        }

    def check_higher(self, name: str, claim: str, first: Sequence[str], others: Sequence[str]) -> list[Check]:
        """Whether methods are above others, and their lead more than chance (McNemar's test)."""
        weakest = min(self.right[one] for one in first)
        leads = {other: lead_of_shares(weakest, self.right[other], self.cases) for other in others}
        return check_superiority(name, claim, self.shares, first=first, others=others, leads=leads)

    def check_reached(self, name: str, first: str, second: str) -> Check:
        """Whether a method is not below another, and what can be told of a deficit."""
        one, other = self.right[first], self.right[second]
        lead = lead_of_shares(one, other, self.cases)
        found = f"{one} v {other} of {self.cases}; {lead.told}"
        return check_no_deficit(name, "reaches the performance", found, one - other, lead)

    def rebuilt(self) -> pd.DataFrame:
        """The table as the cases and the method give it."""
        rows = {
            name: (f"{k} of {self.cases}", k / self.cases, *self._interval(k, self.method))
            for name, k in self.right.items()
        }
        columns = ["right", "accuracy", "95% CI, low", "95% CI, high"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def by_method(self) -> pd.DataFrame:
        """The intervals of the shares by every usual method, beside the printed ones."""
        rows = {
            name: {
                **{
                    kind: ", ".join(f"{end:.3f}" for end in self._interval(k, kind))
                    for kind in from_print.METHODS
                },
                "printed": ", ".join(f"{end:.2f}" for end in self.values.loc[name, ENDS[1:]]),
            }
            for name, k in self.right.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def possible_p(self) -> pd.DataFrame:
        """The smallest and the largest p (exact McNemar test) of every two methods, the better first."""
        order = self.values["estimate"].sort_values(ascending=False).index
        rows = [
            (
                one,
                other,
                f"{self.right[one]} v {self.right[other]}",
                *from_print.mcnemar_range(self.right[one], self.right[other], self.cases),
            )
            for one, other in combinations(order, 2)
        ]
        return pd.DataFrame(rows, columns=["first", "second", "right", "smallest p", "largest p"])

    def _interval(self, k: int, method: str) -> tuple[float, float]:
        return from_print.interval(k, self.cases, method)


def check_interval(
    name: str, estimate: str, told: Mapping[str, Printed], keys: Sequence[str], row: pd.Series, table: str
) -> list[Check]:
    """An estimate and the ends of its interval in the prose against the cells of a table.

    ``name``: what the names of the checks begin with. ``estimate``: what the estimate is called, e.g. ``,
    tau``. ``keys``: of the estimate and the ends in ``told``. ``row``: of the table, with :data:`ENDS`.
    """
    labels = (estimate, ", low end", ", high end")
    return [
        check_value(f"{name}{label}, prose against {table}", told[key], row[column])
        for label, key, column in zip(labels, keys, ENDS, strict=True)
    ]


READINGS = {
    "mean over pairs of radiologists": lambda counts: np.nanmean(
        agreement.upper_triangle(agreement.kendall_matrix(counts))
    ),
    "each with the mean of the other five": lambda counts: agreement.kendall_with(
        counts, agreement.mean_of_others(counts)
    ).mean(),
    "each with the mean of all six": lambda counts: agreement.kendall_with(
        counts, counts.mean(axis=1)
    ).mean(),
}
"""What a correlation between experts can be, of counts of shape (pairs, raters)."""


def inter_expert_taus(
    counts: FloatArray, *, resamples: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Kendall's tau between experts by :data:`READINGS`, from drawing pairs.

    Returns ``tau``, ``low`` and ``high``, one row a reading; the resampled values, one column a reading.
    """
    samples = [counts[rows] for rows in drawn_rows(np.arange(len(counts)), resamples, rng)]
    draws = pd.DataFrame({name: [read(sample) for sample in samples] for name, read in READINGS.items()})
    table = pd.DataFrame({"tau": {name: read(counts) for name, read in READINGS.items()}})
    table[["low", "high"]] = ends(draws).T
    return table, draws


def check_inter_expert(cells: Mapping[str, Printed], table: pd.DataFrame, draws: pd.DataFrame) -> list[Check]:
    """The radiologists' row of Table 6, ``cells``, against the reading that lies nearest to it."""
    target = [cells[key].value for key in ENDS]
    nearest = (table[["tau", "low", "high"]] - target).abs().sum(axis=1).idxmin()
    found = [table.loc[nearest, "tau"], *(quantile(draws[nearest], level) for level in (0.025, 0.975))]
    return [
        check_value(f"Inter-Expert, {key}: {nearest}", cells[key], value)
        for key, value in zip(ENDS, found, strict=True)
    ]


def quantile(values: Sequence[float], level: float) -> Estimate:
    """A quantile of resamples with its 95% Monte Carlo interval."""
    reach = stats.quantile_test(values, q=0.0, p=level).confidence_interval(0.95)
    return Estimate(float(np.quantile(values, level)), float(reach.low), float(reach.high))
