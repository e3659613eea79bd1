"""The power of the papers' comparisons of metrics, from printed correlations and numbers of pairs."""

from __future__ import annotations

import math

import pandas as pd
from scipy.stats import norm

from notebooks.ratescore import RATESCORE
from notebooks.ratescore.correlations import pairs_assumed
from radeval_lib.papers.printed_numbers import printed, wide
from radeval_lib.stats.printed import Kind, correlation_interval, standard_error

POWER, ALPHA = 0.8, 0.05  # The target power and the level of two-sided tests.
Correlation = tuple[float, float]  # A printed correlation and its standard error on Fisher's scale.


def compute_power(first: Correlation, second: Correlation, n: int, rho: float) -> dict[str, float]:
    """Return the power of a two-sided test at the 5% level that compares two correlations.

    Parameters
    ----------
    first, second : the higher and the lower correlation, each with its standard error.
    n : number of independent pairs on which both were computed.
    rho : correlation of the two sampling errors (-1 to 1).

    Returns
    -------
    dict
        ``power``: for a true lead as large as the printed one. ``least``: the smallest lead over ``second``
        that has a power of 80%. ``needed``: the number of pairs with which the printed lead has a power of
        80%; infinite if the lead is 0.
    """
    (high, high_error), (low, low_error) = first, second
    error = math.sqrt(high_error**2 + low_error**2 - 2 * rho * high_error * low_error)
    critical, lead = norm.ppf(1 - ALPHA / 2), math.atanh(high) - math.atanh(low)
    least = (critical + norm.ppf(POWER)) * error
    return {
        "power": float(norm.sf(critical - lead / error) + norm.cdf(-critical - lead / error)),
        "least": math.tanh(math.atanh(low) + least) - low,
        "needed": n * (least / lead) ** 2 if lead > 0 else math.inf,
    }


def compute_power_of_leads(rho: float) -> pd.DataFrame:
    """Return the power to detect the leads that RaTEScore and GREEN claim over the strongest other metric
    in a table.

    For GREEN, only the metrics above it in its Table 6 count, which are earlier than GREEN.
    ``rho``: see :func:`compute_power`.

    Returns
    -------
    DataFrame
        One row per comparison: ``rival`` (the strongest other metric), ``pairs`` (their number), ``lead``
        (printed), and ``power``, ``least`` and ``needed`` as :func:`compute_power` returns them.
    """
    sizes = printed("ratescore.table3").query("quantity == 'number'").set_index("part")["value"]
    pairs = pairs_assumed(sizes)
    table5 = printed("ratescore.table5").query("measure == 'Pearson'")
    claims: dict[str, tuple[pd.DataFrame, str, Kind]] = {
        "RaTEScore, ReXVal, τ": (printed("ratescore.table4"), "ReXVal", "kendall"),
        "RaTEScore, sentences, Pearson": (printed("ratescore.fig3"), "Sentences", "pearson"),
        "RaTEScore, paragraphs, Pearson": (table5, "Paragraphs", "pearson"),
    }
    rows = {}
    for name, (table, part, kind) in claims.items():
        values, n = table.set_index("metric")["value"], pairs[part]
        errors = values.map(
            lambda value, n=n, kind=kind: standard_error(*correlation_interval(value, n, kind))
        )
        rows[name] = (values, errors, RATESCORE, values.drop(RATESCORE).idxmax(), n)
    green = wide(printed("green.table6"), "metric", "statistic")
    errors = green.apply(lambda row: standard_error(row["ci_low"], row["ci_high"]), axis=1)
    earlier = green["estimate"].iloc[: green.index.get_loc("GREEN")]
    rows["GREEN, ReXVal, τ"] = (green["estimate"], errors, "GREEN", earlier.idxmax(), pairs["ReXVal"])
    return pd.DataFrame(
        {
            name: {"rival": rival, "pairs": n, "lead": values[first] - values[rival]}
            | compute_power((values[first], errors[first]), (values[rival], errors[rival]), n, rho)
            for name, (values, errors, first, rival, n) in rows.items()
        }
    ).T
