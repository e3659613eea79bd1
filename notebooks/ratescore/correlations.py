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
from radeval_lib.stats.correlations import MIN_GROUPS
from radeval_lib.stats.inference import wilson_interval
from radeval_lib.stats.printed import (
    Kind,
    correlation_interval,
    counts_that_print,
    mcnemar_range,
    needed_rho,
    rounding_corners,
)
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import Check, Key, above
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead, check_superiority, lead_of_correlations, lead_of_counts
from radeval_lib.text_format import out_of

FORMS = {"mean errors": ".2f", "no error": ".0%"}  # Number formats for the columns of estimates.
GROUPS = ["short", "between", "long"]  # Groups of texts by length, as in Appendix A.7.


def count_assumed_pairs(sizes: pd.Series) -> dict[str, int]:
    """Return a mapping from each benchmark to the number of pairs assumed for its coefficients.

    The numbers cover all pairs of ReXVal and all rewrites, but only the test split, a fifth, of the sentences
    and paragraphs. ``sizes`` has the numbers of pairs in Table 3, indexed by part of the data.
    """
    split = quoted("ratescore.def_split")
    held_out = split["test_parts"].value / (split["test_parts"].value + split["train_parts"].value)
    return {
        "ReXVal": int(sizes["whole"]),
        "Sentences": round(held_out * sizes["sentence level"]),
        "Paragraphs": round(held_out * sizes["paragraph level"]),
        "Rewrites": int(sizes["simulated reports"]),
    }


def split_by_measure(table5: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a mapping from benchmark and measure to rows of Table 5.

    The keys are three correlations on paragraphs, such as ``Paragraphs, Kendall``, and the accuracy on
    rewrites.
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
    pairs : a mapping from each benchmark to the number of pairs assumed for it.
    """

    printed: pd.DataFrame
    pairs: Mapping[str, int]

    @classmethod
    def combine(cls, columns: Mapping[str, pd.DataFrame], pairs: Mapping[str, int]) -> PrintedAgreement:
        """Combine the agreement printed in several tables.

        ``columns`` is a mapping from the value of ``column`` to a table; ``pairs`` is stored unchanged.
        """
        printed = pd.concat(columns, names=["column"]).reset_index("column").reset_index(drop=True)
        return cls(printed[["column", "metric", "printed", "value", "half_width"]], pairs)

    def add_intervals(self) -> pd.DataFrame:
        """Return ``printed`` with the bounds of 95% intervals in the columns ``low`` and ``high``.

        Accuracies have Wilson intervals, and correlations have intervals from Fisher's z. The pairs are
        treated as independent.
        """
        bounds = []
        for row in self.printed.itertuples():
            n, kind = self._find_n_and_kind(row.column)
            if kind == "accuracy":
                bounds.append(wilson_interval(round(row.value * n), n))
            elif kind == "pearson":
                bounds.append(pg.compute_esci(row.value, n, eftype="pearson", decimals=6))
            else:  # For Kendall and Spearman, pingouin would use Pearson's standard error.
                bounds.append(correlation_interval(row.value, n, kind))
        low, high = zip(*bounds, strict=True)
        return self.printed.assign(low=low, high=high)

    def _find_n_and_kind(self, column: str) -> tuple[int, Kind | Literal["accuracy"]]:
        """Return the number of pairs assumed for a column, and its measure in lower case."""
        part, _, measure = column.partition(", ")
        return self.pairs[part], cast('Kind | Literal["accuracy"]', measure.lower())

    def _index_cells(self, column: str) -> dict[str, Printed]:
        """Return a mapping from each metric to its printed cell in a column."""
        return index_cells(self.printed[self.printed["column"] == column], "metric")

    def _list_possible_counts(self, column: str, metric: str) -> list[int]:
        """Return the possible numbers of pairs that a metric judges correctly, given its printed accuracy."""
        return list_possible_counts(self._index_cells(column)[metric], self._find_n_and_kind(column)[0])

    def _find_lead(self, column: str, first: str, second: str) -> Lead:
        """Return the lead of one metric over another in a column, as far as the printed numbers decide it."""
        n, kind = self._find_n_and_kind(column)
        if kind == "accuracy":
            counts, rival_counts = (self._list_possible_counts(column, name) for name in (first, second))
            return lead_of_counts(counts, rival_counts, n)
        cells = self._index_cells(column)
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

        The checks cover the order, and whether the lead exceeds chance
        (:func:`~radeval_lib.study.superiority.check_superiority`). ``name`` is the name of the checks, and
        ``claim`` the paper's sentence. By default, ``lower`` has all other metrics of the column.
        """
        cells = self._index_cells(column)
        rivals = list(lower) if lower is not None else [metric for metric in cells if metric not in higher]
        weakest = min(higher, key=lambda metric: cells[metric].value)
        leads = {rival: self._find_lead(column, weakest, rival) for rival in rivals}
        return check_superiority(name, claim, cells, first=higher, others=rivals, leads=leads)

    def count_established_leads(self, column: str) -> str:
        """Return, in words such as ``six of seven``, over how many rivals RaTEScore's lead is established."""
        rivals = [metric for metric in self._index_cells(column) if metric != RATESCORE]
        leads = [self._find_lead(column, RATESCORE, rival) for rival in rivals]
        return out_of(sum(lead.sign == 1 for lead in leads), len(leads))

    def list_possible_margins(self, column: str, rival: str) -> tuple[list[int], float]:
        """Return all possible leads of RaTEScore over a rival, and the smallest p-value of McNemar's test.

        The leads are numbers of pairs in ascending order. Several are possible because accuracies are
        rounded. ``column`` must have accuracies.
        """
        n, _ = self._find_n_and_kind(column)
        counts = list(product(*(self._list_possible_counts(column, name) for name in (RATESCORE, rival))))
        margins = sorted({count - rival_count for count, rival_count in counts})
        return margins, min(mcnemar_range(count, rival_count, n)[0] for count, rival_count in counts)

    def find_needed_correlation(self, column: str, rival: str, n: int) -> float:
        """Return the smallest correlation (-1 to 1) with a rival that makes RaTEScore's lead significant.

        On ``n`` pairs, the correlation suffices for all coefficients that round to the printed ones. NaN is
        returned if no correlation suffices.
        """
        cell, rival_cell = (self._index_cells(column)[metric] for metric in (RATESCORE, rival))
        pairs = rounding_corners([cell.value, rival_cell.value], [cell.half_width, rival_cell.half_width])
        needed = [needed_rho(first, second, n) if first > second else np.nan for first, second in pairs]
        return float(np.max(needed))


def list_absent_metrics(metrics: Sequence[str], table: pd.DataFrame) -> list[str]:
    """Return those of ``metrics`` that no row of a printed table has in its column ``metric``.

    A metric also has a row if the row's name only begins with its name, as ``ROUGE-L`` does with ``ROUGE``.
    """
    return [name for name in metrics if not table["metric"].str.startswith(name).any()]


def list_possible_counts(share: Printed, n: int) -> list[int]:
    """Return the counts out of ``n`` that round to a printed share, in ascending order; if none does, the two
    counts next to ``n`` times the share."""
    expected = share.value * n
    return counts_that_print(share.value, share.half_width, n) or [math.floor(expected), math.ceil(expected)]


def tabulate_radpref_errors(run: Run) -> pd.DataFrame:
    """Return the errors marked in RadPref's stored candidates, one row per candidate.

    Columns are ``case``, ``system``, ``words`` and ``reference_findings`` (numbers of words and of listed
    findings in the reference), ``errors`` (number of errors, mean over radiologists), ``possible``
    (number of findings listed in either text) and ``share`` (``errors`` / ``possible``; NaN if no finding is
    listed).
    """
    radpref = run.recording("radpref")
    table, mean_marks = radpref.table.set_index("number"), radpref.parts["ratings"].groupby("number").mean()
    errors = mean_marks[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = table["reference_findings"] + table["candidate_findings"]
    candidates = table[["case", "reference_findings"]].assign(
        system=table["system"].map("system {}".format).map(SYSTEMS), words=table["reference_words"]
    )
    return candidates.assign(errors=errors, possible=possible, share=errors / possible.replace(0, np.nan))


def summarize_length_groups(run: Run, table: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Return the errors in short, medium and long texts, by the length of reference and of candidate.

    Columns are ``words`` (``reference`` or ``candidate``), ``group`` (one of :data:`GROUPS`), the numbers of
    ``pairs`` and ``cases``, and two Estimates: ``mean errors``, and ``no error``, the share of pairs with a
    mean below one half. Their bounds are NaN if there are too few cases.

    ``table`` has one row per pair, with ``case``, ``errors``, ``reference_words`` and ``candidate_words``.
    ``rule`` is a mapping from name to number in the paper's rule.
    """
    rows = []
    for side, group in product(("reference", "candidate"), GROUPS):
        pairs = table[assign_length_groups(table[f"{side}_words"], rule) == group]
        cases, estimates = pairs["case"].nunique(), []
        for name, values in (("errors", pairs["errors"]), ("none", pairs["errors"] < 0.5)):
            if cases < MIN_GROUPS:
                estimates.append(Estimate(values.mean(), np.nan, np.nan))
                continue
            resamples, rng = run.profile.resamples, run.rng(f"{name} {side} {group}")
            interval = share_interval(values, pairs["case"].tolist(), resamples=resamples, rng=rng)
            estimates.append(Estimate(*interval))
        rows.append((side, group, len(pairs), cases, *estimates))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def assign_length_groups(lengths: pd.Series, rule: Mapping[str, Printed]) -> pd.Series:
    """Return the group of each length in words, one of :data:`GROUPS`, by the rule of Appendix A.7."""
    edges = [0, rule["short_words"].value, rule["long_words"].value + 1, np.inf]
    return pd.cut(lengths, edges, right=False, labels=GROUPS)


def check_length_rule(claim: OpenExhibit, groups: pd.DataFrame, rule: Mapping[str, Printed]) -> None:
    """Add to an exhibit the checks of the paper's rule on short and on long texts.

    ``groups`` is the table of :func:`summarize_length_groups`. With too few cases, a check is inconclusive.
    """
    few_words = "length less than 10 words commonly has zero errors"
    many_words = "longer than 25 words had an average error count greater than 3"
    rules = {
        "short": (few_words, "no error", 0.5, ".0%"),
        "long": (many_words, "mean errors", rule["long_errors"].value, ".2f"),
    }
    for _, row in groups[groups["group"].isin(rules)].iterrows():
        quote, column, threshold, form = rules[row["group"]]
        name, estimate = Key(f"{row['group']} reports, by the", row["words"]), row[column]
        if row["cases"] < MIN_GROUPS:
            shortage = f"fewer than {MIN_GROUPS} cases" if row["cases"] else "no such report"
            claim.states(name, quote, shortage, None)
        else:
            outcome = f"{column}: {estimate:{form}}, {row['pairs']} pairs"
            claim.states(name, quote, outcome, above(estimate.low, estimate.high, threshold))
