"""Statistical power of the papers' comparisons of metrics, from printed correlations and numbers of pairs."""

from __future__ import annotations

import math

import pandas as pd
from scipy.stats import norm

from notebooks.ratescore import RATESCORE
from notebooks.ratescore.correlations import count_assumed_pairs
from radeval_lib.papers.printed_numbers import printed, wide
from radeval_lib.stats.printed import Kind, correlation_interval, standard_error

POWER, ALPHA = 0.8, 0.05  # The target power and the significance level of two-sided tests.
Correlation = tuple[float, float]  # A printed correlation and its standard error on Fisher's scale.


def compute_power(first: Correlation, second: Correlation, n: int, rho: float) -> dict[str, float]:
    """Compute the statistical power of a two-sided test that compares two correlations.

    The significance level is 5%.

    Parameters
    ----------
    first, second : the higher and the lower correlation, each with its standard error on Fisher's scale.
    n : number of independent pairs on which both were computed.
    rho : correlation between the two sampling errors (-1 to 1).

    Returns
    -------
    dict
        ``power``: the power if the true lead is as large as the printed one. ``least``: the smallest lead
        over ``second`` that is detected with a power of 80%. ``needed``: the number of pairs at which the
        power for the printed lead is 80%; infinite if the lead is 0 or negative.
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
    """Return the power to detect the claimed leads of RaTEScore and GREEN over the strongest other metric.

    For GREEN, only the metrics above it in Table 6 of its paper count; they were published before it.
    ``rho`` is the correlation between the two sampling errors (-1 to 1).

    Returns
    -------
    DataFrame
        One row per comparison: ``rival`` (the strongest other metric), ``pairs`` (number of pairs),
        ``lead`` (the printed lead), and ``power``, ``least`` and ``needed`` as :func:`compute_power` returns
        them.
    """
    sizes = printed("ratescore.table3").query("quantity == 'number'").set_index("part")["value"]
    pairs = count_assumed_pairs(sizes)
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
    rival_taus = green["estimate"].iloc[: green.index.get_loc("GREEN")]
    rows["GREEN, ReXVal, τ"] = (green["estimate"], errors, "GREEN", rival_taus.idxmax(), pairs["ReXVal"])
    return pd.DataFrame(
        {
            name: {"rival": rival, "pairs": n, "lead": values[leader] - values[rival]}
            | compute_power((values[leader], errors[leader]), (values[rival], errors[rival]), n, rho)
            for name, (values, errors, leader, rival, n) in rows.items()
        }
    ).T
