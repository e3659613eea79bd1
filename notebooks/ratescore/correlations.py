"""Compare printed coefficients of metrics tested on the same pairs, and error counts with length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, cast

import numpy as np
import pandas as pd
import pingouin as pg

from notebooks.ratescore import RATESCORE
from radeval_lib.data.radpref import MARKS, SYSTEMS
from radeval_lib.papers.printed_numbers import Printed, cells_by, quoted
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.correlations import LEAST_GROUPS
from radeval_lib.stats.inference import wilson
from radeval_lib.stats.printed import (
    Kind,
    corners,
    correlation_interval,
    counts_that_print,
    mcnemar_range,
    needed_between,
)
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import Check, Key, above
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead, check_superiority, lead_of_correlations, lead_of_counts
from radeval_lib.text_format import out_of

FORMS = {"mean errors": ".2f", "no error": ".0%"}
GROUPS = ["short", "between", "long"]
"""Groups of reports by length, after the paper's Appendix A.7."""


def pairs_assumed(sizes: pd.Series) -> dict[str, int]:
    """Return the number of pairs behind each coefficient: all of ReXVal and of the rewrites, else a fifth.

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
    """Return Table 5's rows by measure: the correlations on paragraphs, and the accuracy on rewrites."""
    return {
        "Rewrites, accuracy" if measure == "accuracy" else f"Paragraphs, {measure}": rows
        for measure, rows in table5.groupby("measure", sort=False)
    }


@dataclass(frozen=True)
class PrintedAgreement:
    """Printed coefficients of metrics on several benchmarks.

    Attributes
    ----------
    printed : ``column`` (benchmark and measure, as ``Paragraphs, Kendall``), ``metric`` and a printed cell,
        which must be legible. The measures are Pearson, Kendall, Spearman and accuracy.
    pairs : pairs assumed for each benchmark.
    """

    printed: pd.DataFrame
    pairs: Mapping[str, int]

    @classmethod
    def of(cls, columns: Mapping[str, pd.DataFrame], pairs: Mapping[str, int]) -> PrintedAgreement:
        """Return the agreement that printed tables show; ``columns``: tables by the name of their column."""
        printed = pd.concat(columns, names=["column"]).reset_index("column").reset_index(drop=True)
        return cls(printed[["column", "metric", "printed", "value", "half_width"]], pairs)

    def with_intervals(self) -> pd.DataFrame:
        """Return the cells with 95% intervals ``low`` to ``high``: Wilson's for shares, else Fisher's z."""
        ends = []
        for row in self.printed.itertuples():
            n, kind = self._taken(row.column)
            if kind == "accuracy":
                ends.append(wilson(round(row.value * n), n))
            elif kind == "pearson":
                ends.append(pg.compute_esci(row.value, n, eftype="pearson", decimals=6))
            else:  # pingouin would use Pearson's standard error
                ends.append(correlation_interval(row.value, n, kind))
        low, high = zip(*ends, strict=True)
        return self.printed.assign(low=low, high=high)

    def _taken(self, column: str) -> tuple[int, Kind | Literal["accuracy"]]:
        """Return the number of pairs behind a column, and its measure."""
        part, _, measure = column.partition(", ")
        return self.pairs[part], cast('Kind | Literal["accuracy"]', measure.lower())

    def _cells(self, column: str) -> dict[str, Printed]:
        """Return the cells of one benchmark and measure by metric."""
        return cells_by(self.printed[self.printed["column"] == column], "metric")

    def _right(self, column: str, metric: str) -> list[int]:
        """Return the possible numbers of pairs that a metric is right about."""
        return right_of(self._cells(column)[metric], self._taken(column)[0])

    def _lead(self, column: str, first: str, second: str) -> Lead:
        """Return the lead of one metric over another in a column, as far as the printed numbers decide it."""
        n, kind = self._taken(column)
        if kind == "accuracy":
            return lead_of_counts(self._right(column, first), self._right(column, second), n)
        cells = self._cells(column)
        return lead_of_correlations(cells[first], cells[second], n, kind)

    def check_above(
        self,
        name: Key | str,
        claim: str,
        column: str,
        higher: Sequence[str] = (RATESCORE,),
        lower: Sequence[str] | None = None,
    ) -> list[Check]:
        """Return checks that every metric in ``higher`` exceeds every metric in ``lower`` in a column, with
        an established lead.

        ``lower``: by default, all other metrics of the column.
        """
        cells = self._cells(column)
        rivals = list(lower) if lower is not None else [metric for metric in cells if metric not in higher]
        weakest = min(higher, key=lambda metric: cells[metric].value)
        leads = {rival: self._lead(column, weakest, rival) for rival in rivals}
        return check_superiority(name, claim, cells, first=higher, others=rivals, leads=leads)

    def established_leads(self, column: str) -> str:
        """Return the number of rivals over which RaTEScore's lead is established, as ``six of seven``."""
        rivals = [metric for metric in self._cells(column) if metric != RATESCORE]
        return out_of(sum(self._lead(column, RATESCORE, rival).sign == 1 for rival in rivals), len(rivals))

    def margin(self, column: str, rival: str) -> tuple[list[int], float]:
        """Return the possible leads of RaTEScore over a rival in cases, and their smallest McNemar p."""
        n, _ = self._taken(column)
        either = list(product(self._right(column, RATESCORE), self._right(column, rival)))
        margins = sorted({ours - theirs for ours, theirs in either})
        return margins, min(mcnemar_range(ours, theirs, n)[0] for ours, theirs in either)

    def needed_correlation(self, column: str, rival: str, n: int) -> float:
        """Return the least correlation with a rival that makes RaTEScore's lead significant at ``n`` pairs,
        for all numbers that round to the printed ones; NaN if no correlation does."""
        ours, theirs = (self._cells(column)[metric] for metric in (RATESCORE, rival))
        pairs = corners([ours.value, theirs.value], [ours.half_width, theirs.half_width])
        edges = [needed_between(first, second, n) if first > second else np.nan for first, second in pairs]
        return float(np.max(edges))


def not_among(metrics: Sequence[str], compared: pd.DataFrame) -> list[str]:
    """Return the named metrics without a row in a printed table; a row may have a longer name, as ``ROUGE-L``
    for ``ROUGE``."""
    return [name for name in metrics if not compared["metric"].str.startswith(name).any()]


def right_of(share: Printed, n: int) -> list[int]:
    """Return the numbers out of ``n`` cases that round to a printed share; if none does, the two nearest."""
    near = share.value * n
    return counts_that_print(share.value, share.half_width, n) or [math.floor(near), math.ceil(near)]


def radpref_errors(run: Run) -> pd.DataFrame:
    """Return RadPref's stored candidates with their errors.

    ``system``, ``case``, ``words`` and ``reference_findings`` (listed) of the reference, mean ``errors``,
    ``possible`` errors (findings listed in either text) and the ``share`` of these (NaN if there are none).
    """
    stored = run.recording("radpref")
    table, marks = stored.table.set_index("number"), stored.parts["ratings"].groupby("number").mean()
    errors = marks[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = table["reference_findings"] + table["candidate_findings"]
    columns = table[["case", "reference_findings"]].assign(
        system=table["system"].map("system {}".format).map(SYSTEMS), words=table["reference_words"]
    )
    return columns.assign(errors=errors, possible=possible, share=errors / possible.replace(0, np.nan))


def by_length_group(run: Run, counted: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Return errors of short, medium and long reports, grouped by the words of either text.

    ``words`` (``reference`` or ``candidate``), ``group``, ``pairs``, ``cases``; ``mean errors`` and ``no
    error`` (a mean below one half) as an Estimate, whose ends are NaN if the cases are too few.
    """
    rows = []
    for side, group in product(("reference", "candidate"), GROUPS):
        chosen = counted[length_group(counted[f"{side}_words"], rule) == group]
        cases, estimates = chosen["case"].nunique(), []
        for name, values in (("errors", chosen["errors"]), ("none", chosen["errors"] < 0.5)):
            if cases < LEAST_GROUPS:
                estimates.append(Estimate(values.mean(), np.nan, np.nan))
                continue
            size, rng = run.profile.resamples, run.rng(f"{name} {side} {group}")
            share = share_interval(values, chosen["case"].tolist(), resamples=size, rng=rng)
            estimates.append(Estimate(*share))
        rows.append((side, group, len(chosen), cases, *estimates))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def length_group(lengths: pd.Series, rule: Mapping[str, Printed]) -> pd.Series:
    """Return the group of each length, according to Appendix A.7: ``short``, ``between`` or ``long``."""
    edges = [0, rule["short_words"].value, rule["long_words"].value + 1, np.inf]
    return pd.cut(lengths, edges, right=False, labels=GROUPS)


def check_groups(claim: OpenExhibit, groups: pd.DataFrame, rule: Mapping[str, Printed]) -> None:
    """Check the rule on short and on long reports; with too few cases, the check is inconclusive."""
    few_words = "length less than 10 words commonly has zero errors"
    many_words = "longer than 25 words had an average error count greater than 3"
    rules = {
        "short": (few_words, "no error", 0.5, ".0%"),
        "long": (many_words, "mean errors", rule["long_errors"].value, ".2f"),
    }
    for _, row in groups[groups["group"].isin(rules)].iterrows():
        quote, column, edge, form = rules[row["group"]]
        name, estimate = Key(f"{row['group']} reports, by the", row["words"]), row[column]
        if row["cases"] < LEAST_GROUPS:
            few = f"fewer than {LEAST_GROUPS} cases" if row["cases"] else "no such report"
            claim.states(name, quote, few, None)
        else:
            finding = f"{column}: {estimate:{form}}, {row['pairs']} pairs"
            claim.states(name, quote, finding, above(estimate.low, estimate.high, edge))
