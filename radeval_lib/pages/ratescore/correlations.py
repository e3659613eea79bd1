"""What printed coefficients allow to say of metrics that were tried on the same pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.pages.ratescore.released_models import RATESCORE
from radeval_lib.papers.printed_numbers import by_name, parse, quoted
from radeval_lib.stats.printed import Kind, correlation_interval, mcnemar_range, needed_between
from radeval_lib.study.checks import Check
from radeval_lib.study.printed_leads import lead_of_correlations, lead_of_shares
from radeval_lib.study.superiority import Lead, check_superiority
from radeval_lib.wording import in_words

LEADS = {"ReXVal": "ReXVal, Kendall", "Sentences": "Sentences, Pearson", "Paragraphs": "Paragraphs, Pearson"}
"""The columns whose leads the page tells first."""


def pairs_assumed(sizes: pd.Series) -> dict[str, int]:
    """Pairs behind the coefficients: all of ReXVal and of the rewrites, the test fifth of the rest.

    Parameters
    ----------
    sizes : pairs by part, as Table 3 prints them.
    """
    share = quoted("ratescore.def_split")
    held_out = share["test_parts"].value / (share["test_parts"].value + share["train_parts"].value)
    return {
        "ReXVal": int(sizes["whole"]),
        "Sentences": round(held_out * sizes["sentence level"]),
        "Paragraphs": round(held_out * sizes["paragraph level"]),
        "Rewrites": int(sizes["simulated reports"]),
    }


def some_share_prints(cell: str, total: int) -> bool:
    """Whether some whole number over ``total`` rounds to ``cell``."""
    number = parse(cell)
    shares = np.arange(total + 1) / total
    return bool((np.abs(shares - number.value) <= number.half_width + 1e-9).any())


@dataclass(frozen=True)
class PrintedAgreement:
    """Printed coefficients of metrics on several benchmarks.

    Attributes
    ----------
    printed : ``column`` (benchmark and measure, as ``Paragraphs, Kendall``), ``metric`` and a printed cell.
    pairs : pairs assumed for each benchmark.
    """

    printed: pd.DataFrame
    pairs: Mapping[str, int]

    def column(self, name: str) -> pd.DataFrame:
        """The cells of one benchmark and measure."""
        return self.printed[self.printed["column"] == name]

    def with_intervals(self) -> pd.DataFrame:
        """The cells with 95% intervals ``low`` and ``high``: Wilson's for shares, Fisher's z for the rest."""
        ends = []
        for row in self.printed.itertuples():
            part, kind = row.column.split(", ")
            n = self.pairs[part]
            if kind == "accuracy":
                found = stats.binomtest(round(row.value * n), n).proportion_ci(method="wilson")
                ends.append((found.low, found.high))
            else:
                ends.append(correlation_interval(row.value, n, cast(Kind, kind.lower())))
        low, high = zip(*ends, strict=True)
        return self.printed.assign(low=low, high=high)

    def _lead(self, column: str, first: str, second: str) -> Lead:
        part, kind = column.split(", ")
        values = self.column(column).set_index("metric")["value"]
        if kind == "accuracy":
            right = [round(values[metric] * self.pairs[part]) for metric in (first, second)]
            return lead_of_shares(right[0], right[1], self.pairs[part])
        return lead_of_correlations(values[first], values[second], self.pairs[part], cast(Kind, kind.lower()))

    def check_above(
        self,
        name: str,
        claim: str,
        column: str,
        higher: Sequence[str] = (RATESCORE,),
        lower: Sequence[str] | None = None,
    ) -> list[Check]:
        """Whether each of some metrics is above each of others in a column, and its lead established.

        Parameters
        ----------
        lower : the others; default: all other metrics of the column.
        """
        cells = by_name(self.column(column), "metric")
        rivals = list(lower) if lower is not None else [metric for metric in cells if metric not in higher]
        weakest = min(higher, key=lambda metric: cells[metric].value)
        leads = {rival: self._lead(column, weakest, rival) for rival in rivals}
        return check_superiority(name, claim, cells, first=higher, others=rivals, leads=leads)

    def established(self, column: str) -> str:
        """Over how many rivals RaTEScore's lead in a column is established, as ``6 of 7``."""
        metrics = [metric for metric in self.column(column)["metric"] if metric != RATESCORE]
        sure = sum(self._lead(column, RATESCORE, rival).sign == 1 for rival in metrics)
        return f"{in_words(sure)} of {in_words(len(metrics))}"

    def margin(self, column: str, rival: str) -> tuple[int, float]:
        """By how many cases RaTEScore leads a rival in an accuracy, and the smallest McNemar p of that."""
        n = self.pairs[column.split(", ")[0]]
        values = self.column(column).set_index("metric")["value"]
        right = [round(values[metric] * n) for metric in (RATESCORE, rival)]
        return right[0] - right[1], mcnemar_range(right[0], right[1], n)[0]

    def needed(self, column: str, rival: str, n: int) -> float:
        """The correlation between RaTEScore and a rival from which on RaTEScore's lead is significant.

        Parameters
        ----------
        n : pairs. NaN where no correlation would do.
        """
        values = self.column(column).set_index("metric")["value"]
        return float(needed_between(values[RATESCORE], values[rival], n))


def told_edge(edge: float) -> str:
    """What :meth:`PrintedAgreement.needed` gives, as ``0.50 or more``, ``any`` or ``none``."""
    if np.isnan(edge):
        return "none"
    return "any" if edge < 0 else f"{edge:.2f} or more"
