"""Compare printed coefficients of metrics tested on the same pairs; relate error counts to text length."""

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
from radeval_lib.papers.printed_numbers import Printed, index_cells, quoted
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.correlations import LEAST_GROUPS
from radeval_lib.stats.inference import wilson_interval
from radeval_lib.stats.printed import (
    Kind,
    correlation_interval,
    counts_that_print,
    mcnemar_range,
    needed_between,
    rounding_corners,
)
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import Check, Key, above
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead, check_superiority, lead_of_correlations, lead_of_counts
from radeval_lib.text_format import out_of

FORMS = {"mean errors": ".2f", "no error": ".0%"}
GROUPS = ["short", "between", "long"]  # groups of texts by length, after the paper's Appendix A.7


def pairs_assumed(sizes: pd.Series) -> dict[str, int]:
    """Return the number of pairs on which each benchmark's coefficients are assumed to rest.

    These are all pairs of ReXVal and all rewrites, but of sentences and paragraphs only the test split, a
    fifth. ``sizes`` has the numbers of pairs by part of the data, as Table 3 prints them.
    """
    share = quoted("ratescore.def_split")
    held_out = share["test_parts"].value / (share["test_parts"].value + share["train_parts"].value)
    return {
        "ReXVal": int(sizes["whole"]),
        "Sentences": round(held_out * sizes["sentence level"]),
        "Paragraphs": round(held_out * sizes["paragraph level"]),
        "Rewrites": int(sizes["simulated reports"]),
    }


def split_by_measure(table5: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return Table 5's rows for each measure: three correlations on paragraphs, the accuracy on rewrites.

    Keys are a benchmark and a measure, such as ``Paragraphs, Kendall``.
    """
    return {
        "Rewrites, accuracy" if measure == "accuracy" else f"Paragraphs, {measure}": rows
        for measure, rows in table5.groupby("measure", sort=False)
    }


@dataclass(frozen=True)
class PrintedAgreement:
    """Printed coefficients of metrics on several benchmarks.

    Attributes
    ----------
    printed : one row per coefficient: ``column`` (benchmark and measure, such as ``Paragraphs, Kendall``),
        ``metric``, ``printed``, ``value`` and ``half_width``. All must be legible. The measures are Pearson,
        Kendall, Spearman and accuracy.
    pairs : number of pairs assumed for each benchmark.
    """

    printed: pd.DataFrame
    pairs: Mapping[str, int]

    @classmethod
    def of(cls, columns: Mapping[str, pd.DataFrame], pairs: Mapping[str, int]) -> PrintedAgreement:
        """Return the agreement printed in several tables, given by the name of their ``column``."""
        printed = pd.concat(columns, names=["column"]).reset_index("column").reset_index(drop=True)
        return cls(printed[["column", "metric", "printed", "value", "half_width"]], pairs)

    def with_intervals(self) -> pd.DataFrame:
        """Return ``printed`` with 95% intervals in the columns ``low`` and ``high``.

        Intervals are Wilson's for accuracies, else from Fisher's z. The pairs are treated as independent.
        """
        ends = []
        for row in self.printed.itertuples():
            n, kind = self._pairs_and_measure(row.column)
            if kind == "accuracy":
                ends.append(wilson_interval(round(row.value * n), n))
            elif kind == "pearson":
                ends.append(pg.compute_esci(row.value, n, eftype="pearson", decimals=6))
            else:  # For Kendall and Spearman, pingouin would use Pearson's standard error.
                ends.append(correlation_interval(row.value, n, kind))
        low, high = zip(*ends, strict=True)
        return self.printed.assign(low=low, high=high)

    def _pairs_and_measure(self, column: str) -> tuple[int, Kind | Literal["accuracy"]]:
        """Return the number of pairs assumed for a column, and its measure in lower case."""
        part, _, measure = column.partition(", ")
        return self.pairs[part], cast('Kind | Literal["accuracy"]', measure.lower())

    def _cells(self, column: str) -> dict[str, Printed]:
        """Return the printed cells of a column by metric."""
        return index_cells(self.printed[self.printed["column"] == column], "metric")

    def _possible_counts(self, column: str, metric: str) -> list[int]:
        """Return the possible numbers of pairs that a metric is right about, given its printed accuracy."""
        return possible_counts(self._cells(column)[metric], self._pairs_and_measure(column)[0])

    def _lead(self, column: str, first: str, second: str) -> Lead:
        """Return the lead of one metric over another in a column, as far as the printed numbers decide it."""
        n, kind = self._pairs_and_measure(column)
        if kind == "accuracy":
            ours, theirs = (self._possible_counts(column, metric) for metric in (first, second))
            return lead_of_counts(ours, theirs, n)
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
        """Return the checks of a claim that all metrics in ``higher`` exceed all metrics in ``lower``.

        The checks are of the order and of the lead, which holds only if it is more than chance
        (:func:`~radeval_lib.study.superiority.check_superiority`). ``name`` is the checks' name, ``claim``
        the paper's sentence; ``lower`` is by default all other metrics of the column.
        """
        cells = self._cells(column)
        rivals = list(lower) if lower is not None else [metric for metric in cells if metric not in higher]
        weakest = min(higher, key=lambda metric: cells[metric].value)
        leads = {rival: self._lead(column, weakest, rival) for rival in rivals}
        return check_superiority(name, claim, cells, first=higher, others=rivals, leads=leads)

    def established_leads(self, column: str) -> str:
        """Return, in words such as ``six of seven``, over how many rivals RaTEScore's lead is established."""
        rivals = [metric for metric in self._cells(column) if metric != RATESCORE]
        return out_of(sum(self._lead(column, RATESCORE, rival).sign == 1 for rival in rivals), len(rivals))

    def possible_margins(self, column: str, rival: str) -> tuple[list[int], float]:
        """Return all possible leads of RaTEScore over a rival, as numbers of pairs in rising order, and the
        smallest possible p of McNemar's test.

        ``column`` must have accuracies. Several leads are possible because accuracies are rounded.
        """
        n, _ = self._pairs_and_measure(column)
        possible = list(product(*(self._possible_counts(column, name) for name in (RATESCORE, rival))))
        margins = sorted({ours - theirs for ours, theirs in possible})
        return margins, min(mcnemar_range(ours, theirs, n)[0] for ours, theirs in possible)

    def needed_correlation(self, column: str, rival: str, n: int) -> float:
        """Return the smallest correlation of RaTEScore with a rival at which its lead is significant.

        It is computed for ``n`` pairs, and suffices for all coefficients that round to the printed ones. NaN
        if no correlation suffices.
        """
        ours, theirs = (self._cells(column)[metric] for metric in (RATESCORE, rival))
        pairs = rounding_corners([ours.value, theirs.value], [ours.half_width, theirs.half_width])
        needed = [needed_between(first, second, n) if first > second else np.nan for first, second in pairs]
        return float(np.max(needed))


def absent_metrics(metrics: Sequence[str], table: pd.DataFrame) -> list[str]:
    """Return those of ``metrics`` that no row of a printed table has in its column ``metric``.

    A row counts if its metric's name begins with the name, as ``ROUGE-L`` does with ``ROUGE``.
    """
    return [name for name in metrics if not table["metric"].str.startswith(name).any()]


def possible_counts(share: Printed, n: int) -> list[int]:
    """Return the counts out of ``n`` that round to a printed share, in rising order; if none does, the two
    counts next to ``n`` times the share."""
    exact = share.value * n
    return counts_that_print(share.value, share.half_width, n) or [math.floor(exact), math.ceil(exact)]


def radpref_errors(run: Run) -> pd.DataFrame:
    """Return RadPref's stored candidates with their marked errors, one row each.

    Columns are ``case``, ``system``, ``words`` and ``reference_findings`` (numbers of words and of listed
    findings in the reference), ``errors`` (mean number over radiologists), ``possible`` (number of findings
    listed in either text) and ``share`` (``errors`` / ``possible``; NaN if no finding is listed).
    """
    stored = run.recording("radpref")
    table, mean_marks = stored.table.set_index("number"), stored.parts["ratings"].groupby("number").mean()
    errors = mean_marks[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = table["reference_findings"] + table["candidate_findings"]
    columns = table[["case", "reference_findings"]].assign(
        system=table["system"].map("system {}".format).map(SYSTEMS), words=table["reference_words"]
    )
    return columns.assign(errors=errors, possible=possible, share=errors / possible.replace(0, np.nan))


def summarize_length_groups(run: Run, counted: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Return the errors of short, medium and long texts, by the length of reference and of candidate.

    Columns are ``words`` (``reference`` or ``candidate``), ``group`` (of :data:`GROUPS`), the numbers of
    ``pairs`` and ``cases``, and two Estimates: ``mean errors``, and ``no error``, the share of pairs with a
    mean below one half. Their ends are NaN if there are too few cases.

    ``counted`` has ``case``, ``errors``, ``reference_words`` and ``candidate_words``; ``rule`` has the
    numbers of the paper's rule.
    """
    rows = []
    for side, group in product(("reference", "candidate"), GROUPS):
        pairs = counted[assign_length_groups(counted[f"{side}_words"], rule) == group]
        cases, estimates = pairs["case"].nunique(), []
        for name, values in (("errors", pairs["errors"]), ("none", pairs["errors"] < 0.5)):
            if cases < LEAST_GROUPS:
                estimates.append(Estimate(values.mean(), np.nan, np.nan))
                continue
            size, rng = run.profile.resamples, run.rng(f"{name} {side} {group}")
            interval = share_interval(values, pairs["case"].tolist(), resamples=size, rng=rng)
            estimates.append(Estimate(*interval))
        rows.append((side, group, len(pairs), cases, *estimates))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def assign_length_groups(lengths: pd.Series, rule: Mapping[str, Printed]) -> pd.Series:
    """Return the group of each length in words by the rule of Appendix A.7, one of :data:`GROUPS`."""
    edges = [0, rule["short_words"].value, rule["long_words"].value + 1, np.inf]
    return pd.cut(lengths, edges, right=False, labels=GROUPS)


def check_length_rule(claim: OpenExhibit, groups: pd.DataFrame, rule: Mapping[str, Printed]) -> None:
    """Add checks of the paper's rule on short and on long texts to an exhibit.

    ``groups`` is the table of :func:`summarize_length_groups`. With too few cases, a check is inconclusive.
    """
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
