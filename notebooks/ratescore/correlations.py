"""What printed coefficients allow to say of metrics that were tried on the same pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, cast, get_args

import numpy as np
import pandas as pd
import pingouin as pg

from notebooks.ratescore import RATESCORE
from radeval_lib.papers.printed_numbers import Printed, by_name, quoted
from radeval_lib.stats.inference import wilson
from radeval_lib.stats.printed import (
    Kind,
    corners,
    correlation_interval,
    counts_that_print,
    mcnemar_range,
    needed_between,
)
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.superiority import Lead, check_superiority, lead_of_correlations, lead_of_shares
from radeval_lib.text_format import out_of


def pairs_assumed(sizes: pd.Series) -> dict[str, int]:
    """Return pairs behind the coefficients: all of ReXVal and of the rewrites, the test fifth of the rest.

    ``sizes``: pairs by part, as Table 3 prints them.
    """
    share = quoted("ratescore.def_split")
    held_out = share["test_parts"].value / (share["test_parts"].value + share["train_parts"].value)
    return {
        "ReXVal": int(sizes["whole"]),
        "Sentences": round(held_out * sizes["sentence level"]),
        "Paragraphs": round(held_out * sizes["paragraph level"]),
        "Rewrites": int(sizes["simulated reports"]),
    }


def by_measure(table5: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return table 5 by its measures: the correlations on paragraphs, and the accuracy on rewrites."""
    return {
        "Rewrites, accuracy" if measure == "accuracy" else f"Paragraphs, {measure}": rows
        for measure, rows in table5.groupby("measure", sort=False)
    }


@dataclass(frozen=True)
class PrintedAgreement:
    """Printed coefficients of metrics on several benchmarks.

    What is asked of a column, a metric or a benchmark that it does not have is a ValueError.

    Attributes
    ----------
    printed : ``column`` (benchmark and measure, as ``Paragraphs, Kendall``), ``metric`` and a printed cell,
        which must be legible. The measures are Pearson, Kendall, Spearman and accuracy.
    pairs : pairs assumed for each benchmark.
    """

    printed: pd.DataFrame
    pairs: Mapping[str, int]

    def __post_init__(self) -> None:
        for column in self.printed["column"].unique():
            if column.partition(", ")[2].lower() not in (*get_args(Kind), "accuracy"):
                raise ValueError(f"{column!r} does not name a benchmark and a measure, as 'ReXVal, Kendall'")
        if self.printed["value"].isna().any():
            raise ValueError("a coefficient is not legible; leave its row out")

    @classmethod
    def of(cls, columns: Mapping[str, pd.DataFrame], pairs: Mapping[str, int]) -> PrintedAgreement:
        """Return that of printed tables by what they are a ``column`` of."""
        printed = pd.concat(columns, names=["column"]).reset_index("column").reset_index(drop=True)
        return cls(printed[["column", "metric", "printed", "value", "half_width"]], pairs)

    def with_intervals(self) -> pd.DataFrame:
        """Return the cells with 95% intervals ``low`` and ``high``: Wilson's for shares, Fisher's z for the
        rest."""
        ends = []
        for row in self.printed.itertuples():
            n, kind = self._taken(row.column)
            if kind == "accuracy":
                ends.append(wilson(round(row.value * n), n))
            elif kind == "pearson":
                ends.append(pg.compute_esci(row.value, n, eftype="pearson", decimals=6))
            else:  # for which pingouin would take Pearson's standard error
                ends.append(correlation_interval(row.value, n, kind))
        low, high = zip(*ends, strict=True)
        return self.printed.assign(low=low, high=high)

    def _taken(self, column: str) -> tuple[int, Kind | Literal["accuracy"]]:
        """On how many pairs a column was taken, and its measure."""
        part, _, measure = column.partition(", ")
        if part not in self.pairs:
            raise ValueError(f"no number of pairs is given for {part!r}, only for {', '.join(self.pairs)}")
        return self.pairs[part], cast('Kind | Literal["accuracy"]', measure.lower())

    def _cells(self, column: str) -> dict[str, Printed]:
        """Return the cells of one benchmark and measure by metric."""
        if column not in (known := list(self.printed["column"].unique())):
            raise ValueError(f"no column {column!r} among {'; '.join(known)}")
        return by_name(self.printed[self.printed["column"] == column], "metric")

    def _cell(self, column: str, metric: str) -> Printed:
        """Return the cell of one metric in a column."""
        cells = self._cells(column)
        if metric not in cells:
            raise ValueError(f"no metric {metric!r} in {column!r}; it has {', '.join(cells)}")
        return cells[metric]

    def _right(self, column: str, metric: str) -> list[int]:
        """Return the numbers of pairs that a metric may be right about."""
        return right_of(self._cell(column, metric), self._taken(column)[0])

    def _lead(self, column: str, first: str, second: str) -> Lead:
        """Return the lead of one metric over another in a column, as far as the print decides it."""
        n, kind = self._taken(column)
        if kind == "accuracy":
            ours, theirs = (self._right(column, metric) for metric in (first, second))
            return lead_of_shares(ours, theirs, n)
        return lead_of_correlations(self._cell(column, first), self._cell(column, second), n, kind)

    def check_above(
        self,
        name: Key | str,
        claim: str,
        column: str,
        higher: Sequence[str] = (RATESCORE,),
        lower: Sequence[str] | None = None,
    ) -> list[Check]:
        """Return whether each of some metrics is above each of others in a column, and its lead established.

        ``lower``: the others; default: all other metrics of the column.
        """
        cells = self._cells(column)
        rivals = list(lower) if lower is not None else [metric for metric in cells if metric not in higher]
        weakest = min(higher, key=lambda metric: self._cell(column, metric).value)
        leads = {rival: self._lead(column, weakest, rival) for rival in rivals}
        return check_superiority(name, claim, cells, first=higher, others=rivals, leads=leads)

    def established(self, column: str) -> str:
        """Over how many rivals RaTEScore's lead in a column is established, as ``six of seven``."""
        rivals = [metric for metric in self._cells(column) if metric != RATESCORE]
        sure = sum(self._lead(column, RATESCORE, rival).sign == 1 for rival in rivals)
        return out_of(sure, len(rivals))

    def margin(self, column: str, rival: str) -> tuple[list[int], float]:
        """By how many cases RaTEScore may lead a rival in an accuracy, and the smallest McNemar p of that."""
        n, _ = self._taken(column)
        either = list(product(self._right(column, RATESCORE), self._right(column, rival)))
        margins = sorted({ours - theirs for ours, theirs in either})
        return margins, min(mcnemar_range(ours, theirs, n)[0] for ours, theirs in either)

    def needed(self, column: str, rival: str, n: int) -> float:
        """Return the correlation between RaTEScore and a rival from which on RaTEScore's lead is significant
        at ``n`` pairs, at all numbers that round to what is printed; NaN where no correlation would do."""
        ours, theirs = (self._cell(column, metric) for metric in (RATESCORE, rival))
        pairs = corners([ours.value, theirs.value], [ours.half_width, theirs.half_width])
        return float(
            np.max([needed_between(one, other, n) if one > other else np.nan for one, other in pairs])
        )


def not_among(metrics: Sequence[str], compared: pd.DataFrame) -> list[str]:
    """Return those of named metrics that a printed table does not compare, where a row may say more:
    ``ROUGE-L`` of ``ROUGE``."""
    return [name for name in metrics if not compared["metric"].str.startswith(name).any()]


def right_of(share: Printed, n: int) -> list[int]:
    """Return the numbers of ``n`` cases that print a share; where none does, the two nearest to it."""
    near = share.value * n
    return counts_that_print(share.value, share.half_width, n) or [math.floor(near), math.ceil(near)]


def needed_in_words(needed: float) -> str:
    """Return what :meth:`PrintedAgreement.needed` gives, as ``0.50 or more``, ``none``, or ``any`` where the
    lead is significant even if the metrics do not correlate."""
    if np.isnan(needed):
        return "none"
    return "any" if needed < 0 else f"{needed:.2f} or more"
