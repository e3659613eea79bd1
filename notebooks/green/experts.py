"""Compare six radiologists' error counts for the same report pairs, in every reading of GREEN's paper.

Source: Ostmeier et al. 2024, Section 4.1, Tables 1, 5, 6, 10 and Figure 6. Counts have shape (pairs, raters)
or (pairs, categories, raters); the four pairs of a case follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike
from scipy import stats

from radeval_lib.categories import LETTERS
from radeval_lib.data import rexval
from radeval_lib.data.records import ErrorCount
from radeval_lib.data.rexval import RATERS
from radeval_lib.papers.printed_numbers import Printed, index_cells
from radeval_lib.stats import agreement
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.resampling import draw_rows, percentile_ends
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value
from radeval_lib.study.runs import Run

Counts = Mapping[str, FloatArray]
"""A mapping from kind of error (``significant``, ``insignificant`` or ``total``) to counts of errors."""
KINDS: tuple[rexval.Kind, ...] = ("significant", "insignificant")
# Statistics in Table 6, and its row for the radiologists themselves.
STATISTICS, INTER_EXPERT = ["estimate", "ci_low", "ci_high"], "Inter-Expert"
FIVE, ALL_SIX = "each with the mean of the other five", "each with the mean of all six"
"""Readings of the correlation between radiologists: what each radiologist's counts are correlated with."""


def stack_counts(records: Sequence[ErrorCount]) -> dict[str, FloatArray]:
    """Return a mapping from ``significant``, ``insignificant`` and ``total`` to ReXVal's error counts.

    Each array has shape (pairs, 6 categories, raters).

    Raises
    ------
    FormatError
        If the count of some pair, category and rater is missing.
    """
    kinds: tuple[rexval.Kind, ...] = (*KINDS, "total")
    return {kind: rexval.make_counts_array(records, kind) for kind in kinds}


def number_cases(counts: FloatArray) -> list[int]:
    """Return the case number of each ReXVal pair, from 0: 0, 0, 0, 0, 1, and so on.

    ``counts`` is an array whose first axis is the pairs; the four pairs of a case must follow one another.
    """
    return [pair // 4 for pair in range(len(counts))]


def average_over_others(matrix: FloatArray) -> FloatArray:
    """Return each rater's mean of a measure over the other raters; shape (raters,).

    ``matrix`` has the measure for each pair of raters. It is symmetric, and its diagonal is ignored.
    """
    return matrix.mean(axis=1, where=~np.eye(len(matrix), dtype=bool))


def _compute_sd(values: FloatArray, ddof: int) -> float:
    """Return the standard deviation of the six experts' means over the other five experts.

    ``values`` has the values of the 15 pairs of experts, in the order of the upper triangle of a matrix, row
    by row. ``ddof`` is 0 to divide by n, 1 to divide by n - 1.
    """
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6, k=1)] = values
    return float(average_over_others(matrix + matrix.T).std(ddof=ddof))


SPREADS: dict[str, Callable[[FloatArray], float]] = {
    "15 pairs, n": lambda values: float(values.std()),
    "15 pairs, n\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}1": lambda values: float(values.std(ddof=1)),
    "six expert means, n": lambda values: _compute_sd(values, ddof=0),
    "six expert means, n\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}1": lambda values: _compute_sd(values, ddof=1),
}
"""A mapping from each reading of the standard deviation in the prose on Table 1 to a function of the values
of the 15 pairs."""


def compute_taus(counts: FloatArray) -> dict[str, FloatArray]:
    """Return a mapping from each reading of the correlation between experts to values of Kendall's tau.

    ``counts`` has shape (pairs, 6). The array for ``pairs of experts`` has 15 values, one per pair; the other
    arrays have six values, one per expert. A value is NaN if it depends on an expert whose counts are all
    equal.
    """
    tau = agreement.kendall_matrix(counts)
    return {
        "pairs of experts": agreement.upper_triangle(tau),
        "expert means": average_over_others(tau),
        FIVE: agreement.kendall_with_reference(counts, agreement.mean_of_others(counts)),
        ALL_SIX: agreement.kendall_with_reference(counts, counts.mean(axis=1)),
    }


def tabulate_tau_ranges(counts: Counts) -> pd.DataFrame:
    """Return the range of Kendall's tau between experts, in every reading of the counts and the correlation.

    The returned table has one row per reading, with columns ``counts`` (what is counted), ``errors`` (their
    kind), ``range over`` (the reading of :func:`compute_taus`), and ``low``, ``mean`` and ``high`` (the
    lowest, mean and highest tau).
    """
    levels = {
        (level, kind): rows
        for kind, array in counts.items()
        for level, rows in (("pair totals", array.sum(axis=1)), ("by category", array.reshape(-1, 6)))
    }
    both_kinds = np.concatenate([counts[kind].reshape(-1, 6) for kind in KINDS])
    levels["by category and significance", "significant and insignificant"] = both_kinds
    rows = [
        (*level, reading, values.min(), values.mean(), values.max())
        for level, array in levels.items()
        for reading, values in compute_taus(array).items()
    ]
    return pd.DataFrame(rows, columns=["counts", "errors", "range over", "low", "mean", "high"])


def check_range(readings: pd.DataFrame, low: Printed, high: Printed) -> list[Check]:
    """Return checks of a printed range of tau against the readings of :func:`tabulate_tau_ranges`.

    A reading agrees if its lowest and its highest tau round to the printed ``low`` and ``high``.
    """
    checks = {}
    for row in readings.to_dict("records"):
        fits = low.low <= row["low"] <= low.high and high.low <= row["high"] <= high.high
        name, computed = f"Range {low.text} to {high.text}", f"{row['low']:.3f} to {row['high']:.3f}"
        check = check_statement(name, f"{low.text} to {high.text}", computed, bool(fits))
        checks[f"{row['counts']}, {row['errors']} errors, {row['range over']}"] = check
    return by_reading(checks)


def average_tau(counts: FloatArray, references: FloatArray, run: Run) -> Estimate:
    """Return the mean over experts of Kendall's tau between an expert's counts and a reference.

    The 95% interval comes from a bootstrap over cases.

    Parameters
    ----------
    counts : the experts' counts, shape (pairs, experts).
    references : a reference for each expert, shape (pairs, experts), or one for all, shape (pairs, 1).
    run : the page's run, for the number of resamples and the random stream.
    """
    cases, n = number_cases(counts), run.profile.resamples
    by_expert = [
        resample({"": column}, reference, groups=cases, kind="kendall", resamples=n, rng=run.rng("taus"))
        for column, reference in zip(counts.T, np.broadcast_to(references, counts.shape).T, strict=True)
    ]
    value = float(agreement.kendall_with_reference(counts, references).mean())
    return Estimate(value, *percentile_ends(np.mean([resampled.draws[0] for resampled in by_expert], axis=0)))


def estimate_taus(counts: FloatArray, run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the mean of Kendall's tau between experts in three readings, and its bootstrap over pairs.

    ``counts`` has shape (pairs, 6).

    Returns
    -------
    table : one row per reading, with columns ``tau``, ``low`` and ``high`` (bounds of the 95% interval).
    draws : one row per resample and one column per reading, with the mean tau in the resample. There are half
        as many resamples as the profile sets.
    """
    names = {"pairs of experts": "mean over pairs of radiologists", FIVE: FIVE, ALL_SIX: ALL_SIX}

    def compute_means(sample: FloatArray) -> dict[str, float]:
        taus = compute_taus(sample)
        return {name: float(taus[reading].mean()) for reading, name in names.items()}

    row_sets = draw_rows(np.arange(len(counts)), run.profile.resamples // 2, run.rng("inter-expert"))
    draws = pd.DataFrame([compute_means(counts[rows]) for rows in row_sets])
    table = pd.Series(compute_means(counts)).to_frame("tau")
    table[["low", "high"]] = percentile_ends(draws).T
    return table, draws


def check_inter_expert(cells: Mapping[str, Printed], table: pd.DataFrame, draws: pd.DataFrame) -> list[Check]:
    """Return checks of the radiologists' row of Table 6 against every reading of :func:`estimate_taus`.

    ``cells`` is a mapping from each name in :data:`STATISTICS` to its cell in the row. ``table`` and
    ``draws`` are the results of ``estimate_taus``.
    """
    computed = {
        reading: [row["tau"], *(estimate_quantile(draws[reading], level) for level in (0.025, 0.975))]
        for reading, row in table.iterrows()
    }
    checks = list[Check]()
    for key, values in zip(STATISTICS, zip(*computed.values(), strict=True), strict=True):
        name = Key("radiologists' own row", INTER_EXPERT, key)
        value_pairs = zip(computed, values, strict=True)
        reading_checks = {reading: check_value(name, cells[key], value) for reading, value in value_pairs}
        checks += by_reading(reading_checks)
    return checks


def estimate_quantile(values: ArrayLike, level: float) -> Estimate:
    """Return the quantile ``level`` (0 to 1) of resampled taus, with its 95% Monte Carlo interval.

    A bound for which there are too few resamples is replaced by the lowest or the highest possible tau, -1 or
    1.
    """
    interval = stats.quantile_test(values, q=0.0, p=level).confidence_interval(0.95)
    low, high = (end if np.isnan(x) else x for x, end in ((interval.low, -1), (interval.high, 1)))
    return Estimate(float(np.quantile(np.asarray(values), level)), float(low), float(high))


def compare_by_category(counts: FloatArray) -> dict[str, pd.DataFrame]:
    """Return each expert's mean absolute difference from other experts, for each way of comparing them.

    ``counts``, of errors, has shape (pairs, 6 categories, 6 experts). The result is a mapping from the way of
    comparing to a table with one row per expert and one column per category, ``(a)`` to ``(f)``.
    """
    comparisons: dict[str, Callable[[FloatArray], FloatArray]] = {
        "mean of all six": lambda part: np.abs(part - part.mean(axis=1, keepdims=True)).mean(axis=0),
        "mean of the other five": lambda part: np.abs(part - agreement.mean_of_others(part)).mean(axis=0),
        "each of the other five": lambda part: average_over_others(agreement.mean_absolute_differences(part)),
    }
    parts = dict(zip(LETTERS, np.moveaxis(counts, 1, 0), strict=True))
    return {
        name: pd.DataFrame({f"({letter})": compare(part) for letter, part in parts.items()}, RATERS)
        for name, compare in comparisons.items()
    }


def find_largest(table: pd.DataFrame, rater: str, half_widths: pd.DataFrame) -> set[tuple[str, ...]]:
    """Return the combinations of columns in which a rater may have had the largest value before rounding.

    Parameters
    ----------
    table : one row per rater, one column per category.
    rater : name of the rater's row.
    half_widths : half a unit of the last printed digit of each value, for the rows whose values are printed;
        other rows are exact.

    Returns
    -------
    set of tuple
        The columns in which the rater's value is the largest, in three cases: the rater's exact values are as
        low as rounding allows and the others' as high; all are as printed; or the reverse of the first case.
        If the set has more than one tuple, the unknown digits decide.
    """
    column_sets = set()
    margins = half_widths.reindex_like(table).fillna(0.0) * (1 - 1e-9)  # Touching ranges are not ties.
    for sign in (-1, 0, 1):
        is_largest = (table - sign * margins).drop(index=rater).max() < (table + sign * margins).loc[rater]
        column_sets.add(tuple(table.columns[is_largest]))
    return column_sets


def check_largest(largest: Mapping[str, set[tuple[str, ...]]]) -> list[Check]:
    """Return checks that GREEN deviates most of all raters in category (c) and in no other.

    ``largest`` is a mapping from each reading of the experts' rows to the result of :func:`find_largest`. If
    the result is one tuple of columns, the check holds if the tuple is (c) alone, and fails otherwise. If
    there are several tuples, the check is inconclusive if (c) is in at least one and no other column is in
    all; otherwise, it fails.
    """
    checks = {}
    for reading, column_sets in largest.items():
        in_all, in_any = set.intersection(*map(set, column_sets)), set.union(*map(set, column_sets))
        is_possible = in_all <= {"(c)"} <= in_any
        checks[f"against {reading}"] = check_statement(
            "Categories in which GREEN deviates most of all eight",
            "only has one shaded cell for category C",
            " or ".join(sorted(", ".join(columns) or "none" for columns in column_sets)),
            None if is_possible and len(column_sets) > 1 else is_possible,
        )
    return by_reading(checks)


def run_wilcoxon_tests(counts: FloatArray) -> pd.DataFrame:
    """Return Wilcoxon's signed-rank test of each expert's counts against the mean of all experts.

    ``counts`` has shape (pairs, experts). The returned table has one row per expert, with columns ``w``,
    ``p`` (two-sided) and ``difference`` (the expert's mean minus the mean of all). The test uses the normal
    approximation, because of ties. Counts are multiplied by the number of experts, so that all values are
    integers and rounding errors affect neither zeros nor ties.
    """
    multiples, sums = counts * counts.shape[1], counts.sum(axis=1)
    tests = [pg.wilcoxon(row, sums, method="approx", correction=False).iloc[0] for row in multiples.T]
    values = [test[["W_val", "p_val"]].tolist() for test in tests]
    table = pd.DataFrame(values, RATERS[: len(tests)], ["w", "p"])
    return table.assign(difference=(counts - counts.mean(axis=1, keepdims=True)).mean(axis=0))


def check_experts_differ(totals: Counts) -> list[Check]:
    """Return checks that the experts' counts differ significantly, by Wilcoxon's test.

    The paper does not say which experts differ, or in which errors. So there are two readings for each kind
    of error: every expert differs from the mean of six, or at least one pair of experts differs. ``totals``
    is a mapping from the kind of error to counts over all categories, shape (pairs, experts).
    """
    claim = "the experts themselves already significantly differ"
    criterion, checks = "with p < 0.05 after Bonferroni's correction", list[Check]()
    for kind, counts in totals.items():
        p_values = [
            pg.wilcoxon(x, y, method="approx", correction=False)["p_val"].item()
            for x, y in combinations(counts.T, 2)
        ]
        experts_differ = pg.multicomp(run_wilcoxon_tests(counts)["p"], method="bonf")[0]
        pairs_differ = pg.multicomp(p_values, method="bonf")[0]
        outcome = f"{experts_differ.sum()} of {experts_differ.size} experts {criterion}"
        every_check = check_statement("experts differ", claim, outcome, bool(experts_differ.all()))
        outcome = f"{pairs_differ.sum()} of {pairs_differ.size} pairs {criterion}"
        some_check = check_statement("experts differ", claim, outcome, bool(pairs_differ.any()))
        readings = {f"every expert from the mean of six, {kind} errors": every_check}
        checks += by_reading(readings | {f"some pairs, {kind} errors": some_check})
    return checks


def check_wilcoxon(totals: Counts, kind: str, cells: pd.DataFrame) -> list[Check]:
    """Return checks of the printed W of each expert's test against the mean of six.

    One reading is the exact W. The other is any W that floating-point arithmetic gives in one of the 720
    orders in which six counts can be added to compute their mean.

    Parameters
    ----------
    totals : a mapping from kind of error to counts over all categories, shape (pairs, experts).
    kind : the kind of error to check. Means of ``total`` may be computed directly, or as the sum of the means
        of significant and insignificant errors.
    cells : the cells of Table 10 with the printed W.
    """
    orders = [agreement.wilcoxon_by_order([totals[kind]])]
    if kind == "total":
        orders.append(agreement.wilcoxon_by_order([totals[part] for part in KINDS]))
    exact, float_ws, checks = run_wilcoxon_tests(totals[kind])["w"], np.concatenate(orders), list[Check]()
    for (rater, cell), w, floats in zip(index_cells(cells, "rater").items(), exact, float_ws.T, strict=True):
        name, reading_checks = Key(f"W of {kind} errors against the mean of six", rater), {}
        readings: dict[str, list[float]] = {"exact": [w]}
        readings["in floating point"] = np.unique(np.round(floats, 6)).tolist()
        for reading, values in readings.items():
            fits = any(cell.low <= value <= cell.high for value in values)
            listed_values = ", ".join(f"{value:,.1f}" for value in values)
            reading_checks[reading] = check_statement(name, cell.text, listed_values, fits, cells=[cell])
        checks += by_reading(reading_checks)
    return checks
