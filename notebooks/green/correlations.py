"""What follows from the intervals of Ostmeier et al. 2024, Tables 6 and 7: which leads exceed chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pingouin as pg
from matplotlib.axes import Axes
from scipy import stats

from radeval_lib import plots
from radeval_lib.papers.printed_numbers import Printed, by_name, printed, quoted, wide
from radeval_lib.stats import printed as from_print
from radeval_lib.stats import printed_counts
from radeval_lib.study.checks import Check, Key, check_statement, check_value
from radeval_lib.study.printed_leads import lead_of_intervals, lead_of_shares, needs_of_intervals
from radeval_lib.study.superiority import LEVEL, Lead, check_no_deficit, check_superiority
from radeval_lib.tables import p_value, table_html
from radeval_lib.text_format import p_digits, p_words

ENDS = ["estimate", "ci_low", "ci_high"]
COUNTS = ("Error count GREEN", "Error count G-Rad (GPT-4)", "Error count GPT-4")
SCORES = ("GREEN", "GREEN GPT-4")
EXPERTS = "Inter-Expert"


class PrintedTaus:
    """Table 6: Kendall's tau of metrics with radiologists' total errors, with 95% intervals.

    ``cells``: as printed; ``values``, by metric, with columns :data:`ENDS`. ``taus``: the printed
    coefficients by metric. ``tests``: every two metrics, their errors taken as independent, with all that the
    rounding of print allows. ``earlier``: the scores that are not GREEN's.
    """

    def __init__(self) -> None:
        self.cells = printed("green.table6")
        self.values = wide(self.cells, "metric", "statistic")
        self.pairs = int(quoted("green.def_rexval")["pairs"].value)
        self.taus = by_name(self.cells[self.cells["statistic"] == "estimate"], "metric")
        self.half = float(self.cells["half_width"].max())
        frame = self.values.reset_index()
        self.tests = from_print.pairwise_tests(frame, name="metric", half_width=self.half)
        self.earlier = self.values.index.drop([*SCORES, *COUNTS, EXPERTS]).tolist()

    def _require(self, *names: str) -> None:
        """Refuse, as a ValueError, metrics that the table does not have."""
        if unknown := [name for name in names if name not in self.taus]:
            raise ValueError(f"no metric {unknown[0]!r} in Table 6; it has {', '.join(self.taus)}")

    def test(self, first: str, second: str) -> pd.Series:
        """The test of two metrics of the table; any other name, or the same twice, is a ValueError."""
        self._require(first, second)
        if first == second:
            raise ValueError(f"{first!r} cannot be tested against itself")
        pair = [first, second]
        return self.tests[self.tests["first"].isin(pair) & self.tests["second"].isin(pair)].iloc[0]

    def ends(self, name: str) -> list[Printed]:
        """A metric's estimate and the ends of its interval, as printed; errors as of :meth:`test`."""
        self._require(name)
        row = by_name(self.cells[self.cells["metric"] == name], "statistic")
        return [row[key] for key in ENDS]

    def rivals(self) -> pd.DataFrame:
        """GREEN's score against each earlier score: p with independent errors, corrected for these
        comparisons, from ``p_least`` to ``p_most`` by the rounding; and from which correlation of errors on
        the lead alone is significant, from ``least`` to ``most``, 1 where none is enough."""
        tests = pd.DataFrame({name: self.test("GREEN", name) for name in self.earlier}).T
        holm = {
            f"p_{side}": pg.multicomp(tests[side].astype(float), method="holm")[1]
            for side in ("least", "most")
        }
        needs = {
            name: [1.0 if math.isnan(need) or gap <= 0 else need for gap, need in found]
            for name in self.earlier
            for found in [needs_of_intervals(self.ends("GREEN"), self.ends(name))]
        }
        rows = {name: {"least": min(found), "most": max(found)} for name, found in needs.items()}
        return pd.DataFrame.from_dict(rows, orient="index").assign(**holm)

    def by_correlation(self) -> dict[str, str]:
        """A table of GREEN's leads over the earlier scores, for each of several correlations of errors."""
        taus, tables = self.values["estimate"], {}
        ours, *others = (self.values.loc[name, ENDS].tolist() for name in ("GREEN", *self.earlier))
        for between in np.arange(10) / 10:
            ps = [from_print.p_of_intervals(ours, theirs, self.half, between)[1:] for theirs in others]
            least, most = (pg.multicomp(side, method="holm")[1] for side in zip(*ps, strict=True))
            frame = (taus["GREEN"] - taus[self.earlier]).map("{:+.2f}".format).to_frame("lead")
            frame["p (Holm), by the rounding"] = [
                " to ".join(dict.fromkeys(map(p_value, both))) for both in zip(least, most, strict=True)
            ]
            frame["more than chance"] = np.where(
                most < LEVEL, "yes", np.where(least < LEVEL, "inconclusive", "no")
            )
            tables[f"{between:.1f}"] = table_html(
                frame.rename_axis(None), "GREEN's score over earlier scores, by Table 6"
            )
        return tables

    def draw(self, axis: Axes) -> None:
        """The table as a forest plot, by kind of row, with the interval of GREEN's score as a band."""
        kinds = {"earlier score": self.earlier, "GREEN score": SCORES, "error count": COUNTS}
        axis.axvspan(*self.values.loc["GREEN", ENDS[1:]], color=plots.PALETTE[1], alpha=0.12, linewidth=0)
        shown = self.values[ENDS].set_axis(["value", "low", "high"], axis=1)
        for number, (kind, names) in enumerate((kinds | {"radiologists": [EXPERTS]}).items()):
            rows = shown.loc[list(names)]
            plots.series(axis, rows, shown.index.get_indexer(rows.index), number, kind)
        plots.lines(axis, list(shown.index))
        axis.set_xlabel("Kendall's tau with radiologists' errors")

    def lead(self, first: str, second: str) -> Lead:
        """The lead of one metric over another, from the printed intervals."""
        return lead_of_intervals(self.ends(first), self.ends(second))

    def check_higher(
        self, name: Key | str, claim: str, first: str | Sequence[str], others: Sequence[str]
    ) -> list[Check]:
        """Whether metrics are above others, and the lead of the lowest of them more than chance."""
        ahead = [first] if isinstance(first, str) else list(first)
        lowest = min(ahead, key=lambda metric: self.taus[metric].value)
        leads = {other: self.lead(lowest, other) for other in others}
        return check_superiority(name, claim, self.taus, first=ahead, others=others, leads=leads)

    def check_reached(self, name: Key | str, first: str, second: str) -> Check:
        """Whether a metric is not below another, and what can be said of a deficit."""
        tau, other_tau = self.taus[first], self.taus[second]
        found = f"{tau.text} v {other_tau.text}; {self._tested(first, second)}"
        claim = "reaches the performance"
        return check_no_deficit(name, claim, found, tau.value - other_tau.value, self.lead(first, second))

    def check_indistinguishable(self, first: str, second: str) -> Check:
        """Whether two metrics cannot be distinguished: no, if they differ even with independent errors."""
        # Equal as printed may still hide a difference.
        holds = False if self.test(first, second)["most"] < LEVEL else None
        name = Key("GREEN's error count against", second)
        return check_statement(name, "statistically indistinguishable", self._tested(first, second), holds)

    def _tested(self, first: str, second: str) -> str:
        test, lead = self.test(first, second), self.lead(first, second)
        p = _p_range(test["least"], test["most"])
        significant = "significant" if lead.sign else "not significant"
        return f"p {p} with independent errors, by the rounding; {significant} {lead.wording}"


def _p_range(least: float, most: float) -> str:
    """``= 0.03`` or ``from 0.03 to 0.08``."""
    if p_digits(least) == p_digits(most):
        return p_words(most).removeprefix("p ")
    return f"from {p_digits(least, 'under')} to {p_digits(most)}"


class PrintedShares:
    """Table 7: how often methods prefer what radiologists prefer, with 95% intervals.

    ``values``, ``shares``: by method, as in :class:`PrintedTaus`. ``limit``: the most cases that there can
    be. ``possible``: the numbers of cases with which all shares are possible, with the ends that each usual
    interval meets; ``cases``, ``method`` and ``ends`` are the best of them. ``right``: of these cases, those
    that each method got right. If no number of cases gives all shares, that is a ValueError.
    """

    def __init__(self) -> None:
        cells = printed("green.table7")
        self.values = wide(cells, "method", "statistic")
        self.shares = by_name(cells[cells["statistic"] == "estimate"], "method")
        self.limit = int(quoted("green.guide_preference")["pairs"].value)
        half = cells["half_width"].max()
        spans = list(self.values[ENDS].itertuples(index=False, name=None))
        samples = printed_counts.possible_samples(spans, half, self.limit)
        self.possible = samples[samples["shares"] == len(self.values)]
        if self.possible.empty:
            raise ValueError(f"no number of cases up to {self.limit} gives all shares of Table 7")
        best = self.possible.sort_values("ends", ascending=False).iloc[0]
        self.cases, self.method, self.ends = int(best["n"]), str(best["method"]), int(best["ends"])
        self.right = {
            name: printed_counts.counts_that_print(share, half, self.cases)[0]
            for name, share in self.values["estimate"].items()
        }

    def check_higher(
        self, name: Key | str, claim: str, first: Sequence[str], others: Sequence[str]
    ) -> list[Check]:
        """Whether methods are above others, and their lead more than chance (McNemar's test)."""
        weakest = min(self.right[method] for method in first)
        leads = {other: lead_of_shares(weakest, self.right[other], self.cases) for other in others}
        return check_superiority(name, claim, self.shares, first=first, others=others, leads=leads)

    def check_reached(self, name: Key | str, first: str, second: str) -> Check:
        """Whether a method is not below another, and what can be said of a deficit."""
        right, other_right = self.right[first], self.right[second]
        lead = lead_of_shares(right, other_right, self.cases)
        found = f"{right} v {other_right} of {self.cases}; {lead.wording}"
        return check_no_deficit(name, "reaches the performance", found, right - other_right, lead)

    def rebuilt(self) -> pd.DataFrame:
        """The table as printed, beside what the cases and the method give, and p against a coin."""
        rows = {}
        for name, k in self.right.items():
            low, high = printed_counts.interval(k, self.cases, self.method)
            share, *reach = (f"{value:.2f}" for value in self.values.loc[name, ENDS])
            rows[name] = {
                "printed": f"{share} ({reach[0]} to {reach[1]})",
                f"of {self.cases}": k,
                "rebuilt": f"{k / self.cases:.3f} ({low:.3f} to {high:.3f})",
                "p v one half": p_value(stats.binomtest(k, self.cases).pvalue),
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    def possible_p(self) -> pd.DataFrame:
        """The smallest and the largest p (exact McNemar test) of every two methods, the better first."""
        order = self.values["estimate"].sort_values(ascending=False).index
        rows = [
            (
                f"{one} v {other}",
                f"{self.right[one]} v {self.right[other]}",
                *printed_counts.mcnemar_range(self.right[one], self.right[other], self.cases),
            )
            for one, other in combinations(order, 2)
        ]
        return pd.DataFrame(rows, columns=["methods", "right", "smallest", "largest"])


def without_sign(number: Printed) -> Printed:
    """A printed number read without its sign, which stays among what is shown as printed."""
    return replace(number, value=abs(number.value))


def check_interval(
    name: str, estimate: str, stated: Mapping[str, Printed], keys: Sequence[str], row: pd.Series, table: str
) -> list[Check]:
    """An estimate and the ends of its interval in the prose against the cells of a table.

    ``name``: of what is estimated. ``estimate``: what the estimate is called, e.g. ``tau``. ``keys``: of
    the estimate and the ends in ``stated``. ``row``: of the table, with :data:`ENDS`.
    """
    labels = (estimate, "low end", "high end")
    return [
        check_value(Key(f"{name}, prose against {table}", label), stated[key], row[column])
        for label, key, column in zip(labels, keys, ENDS, strict=True)
    ]
