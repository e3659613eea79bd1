"""Kendall's tau between six radiologists who counted errors, by every reading that the paper leaves open.

Source: Ostmeier et al. 2024, Section 4.1, Table 6 and Figure 6.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from notebooks.green.radiologists import KINDS, Counts, cases_of
from radeval_lib import plots
from radeval_lib.papers.printed_numbers import Printed, cell, printed
from radeval_lib.stats import agreement
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray, finite
from radeval_lib.stats.resampling import drawn_rows, ends
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value
from radeval_lib.study.printed_leads import lead_of_intervals
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import check_superiority

ENDS, EXPERTS = ["estimate", "ci_low", "ci_high"], "Inter-Expert"
OTHERS, ALL_SIX = "each with the mean of the other five", "each with the mean of all six"


def taus_by_reading(counts: FloatArray) -> dict[str, FloatArray]:
    """What Kendall's tau between experts can be taken over; ``counts`` of shape (items, raters). NaN where a
    rater's counts are all alike."""
    tau = agreement.kendall_matrix(counts)
    return {
        "pairs of experts": agreement.upper_triangle(tau),
        "expert means": agreement.means_of_pairs(tau),
        OTHERS: agreement.kendall_with(counts, agreement.mean_of_others(counts)),
        ALL_SIX: agreement.kendall_with(counts, counts.mean(axis=1)),
    }


def kendall_readings(counts: Counts) -> pd.DataFrame:
    """Kendall's tau between experts by what it can be taken of and over.

    Returns ``counts``, ``errors``, ``range over``, ``low``, ``mean`` and ``high``.
    """
    levels = {
        (level, kind): rows
        for kind, array in counts.items()
        for level, rows in (("pair totals", array.sum(axis=1)), ("by category", array.reshape(-1, 6)))
    }
    both = np.concatenate([counts[kind].reshape(-1, 6) for kind in KINDS])
    levels["by category and significance", "significant and insignificant"] = both
    rows = [
        (*level, over, values.min(), values.mean(), values.max())
        for level, array in levels.items()
        for over, values in taus_by_reading(array).items()
    ]
    return pd.DataFrame(rows, columns=["counts", "errors", "range over", "low", "mean", "high"])


def check_range(readings: pd.DataFrame, low: Printed, high: Printed) -> list[Check]:
    """A printed range against every reading of what was correlated, a row each.

    A reading whose tau is NaN is a ValueError.
    """
    if readings[["low", "high"]].isna().any(axis=None):
        raise ValueError("a reading has no tau, so that no range can be checked against it")
    checks = {}
    for _, row in readings.iterrows():
        fits = low.low <= row["low"] <= low.high and high.low <= row["high"] <= high.high
        checks[f"{row['counts']}, {row['errors']} errors, {row['range over']}"] = check_statement(
            f"Range {low.text} to {high.text}",
            f"{low.text} to {high.text}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            bool(fits),
        )
    return by_reading(checks)


def check_upper_bound(tau: Estimate) -> list[Check]:
    """Whether experts agree better with the mean of all six, by ``tau``, than GREEN's error count does.

    No such check of mean differences: without GREEN's own, none could be decided.
    """
    row = printed("green.table6").query("metric == 'Error count GREEN'")
    model, low, high = (cell(row, statistic=name) for name in ("estimate", "ci_low", "ci_high"))
    by_tau: dict[str, Printed | float] = {"experts": tau.value, "GREEN": model}
    lead = lead_of_intervals((tau.value, tau.low, tau.high), (model, low, high))
    name = "Tau of all errors: experts with the mean of all six above GREEN's error count"
    return check_superiority(name, "upper bound", by_tau, first="experts", leads=lead)


def mean_tau(counts: FloatArray, references: FloatArray, run: Run) -> Estimate:
    """Kendall's tau of experts with their references, averaged over experts; its interval draws cases.

    ``counts``: shape (pairs, raters), four pairs per case; ``references``: likewise, or (pairs, 1) for all.
    """
    cases, n = cases_of(counts), run.profile.resamples
    by_expert = [
        resample({"": counted}, reference, groups=cases, kind="kendall", resamples=n, rng=run.rng("taus"))
        for counted, reference in zip(counts.T, np.broadcast_to(references, counts.shape).T, strict=True)
    ]
    value = float(agreement.kendall_with(counts, references).mean())
    return Estimate(value, *ends(np.mean([resampled.draws[0] for resampled in by_expert], axis=0)))


def draw_matrices(matrices: Mapping[str, pd.DataFrame]) -> None:
    """Draw the lower triangles of symmetric matrices of Kendall's tau side by side, by title."""
    _, axes = plots.panels(1, len(matrices), 3.2, sharey=True)
    for axis, (title, matrix) in zip(axes, matrices.items(), strict=True):
        above = np.triu(np.ones(np.subtract(matrix.shape, 1)), k=1).astype(bool)
        looks = {"vmin": 0.3, "vmax": 0.9, "cmap": "Blues", "fmt": ".2f", "annot_kws": {"fontsize": 10}}
        plots.heat_map(axis, matrix.iloc[1:, :-1], slant=45, mask=above, **looks)
        axis.set_title(title)


def inter_expert_taus(counts: FloatArray, run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Kendall's tau between experts by what it can be taken over, from drawing pairs.

    ``counts``: shape (pairs, raters). Returns ``tau``, ``low`` and ``high``, one row per reading; the
    resampled values, one column per reading.
    """
    names = {"pairs of experts": "mean over pairs of radiologists", OTHERS: OTHERS, ALL_SIX: ALL_SIX}

    def read(sample: FloatArray) -> dict[str, float]:
        taus = taus_by_reading(sample)
        return {name: float(taus[reading].mean()) for reading, name in names.items()}

    drawn = drawn_rows(np.arange(len(counts)), run.profile.resamples // 2, run.rng("inter-expert"))
    draws = pd.DataFrame([read(counts[rows]) for rows in drawn])
    table = pd.Series(read(counts)).to_frame("tau")
    table[["low", "high"]] = ends(draws).T
    return table, draws


def check_inter_expert(cells: Mapping[str, Printed], table: pd.DataFrame, draws: pd.DataFrame) -> list[Check]:
    """The radiologists' row of Table 6, ``cells``, against every reading of it.

    The paper names none, so a cell has a row for each.
    """
    found = {
        reading: [row["tau"], *(quantile(draws[reading], level) for level in (0.025, 0.975))]
        for reading, row in table.iterrows()
    }
    checks = list[Check]()
    for key, values in zip(ENDS, zip(*found.values(), strict=True), strict=True):
        name = Key("radiologists' own row", EXPERTS, key)
        of_readings = zip(found, values, strict=True)
        checks += by_reading(
            {reading: check_value(name, cells[key], value) for reading, value in of_readings}
        )
    return checks


def quantile(values: ArrayLike, level: float) -> Estimate:
    """A quantile of resampled taus with its 95% Monte Carlo interval; an end that so few resamples leave open
    is that of the scale, -1 or 1. No value, or one that is NaN, is a ValueError."""
    values = finite("values", values, None)
    reach = stats.quantile_test(values, q=0.0, p=level).confidence_interval(0.95)
    low, high = (end if np.isnan(bound) else bound for bound, end in ((reach.low, -1), (reach.high, 1)))
    return Estimate(float(np.quantile(values, level)), float(low), float(high))
