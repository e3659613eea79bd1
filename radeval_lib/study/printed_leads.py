"""Leads that printed numbers alone establish.

Two metrics are tried on the same pairs, so their errors go together, and how strongly is not printed. A lead
is called established only where it is significant at every dependence from none upwards; else the dependence
that it would need is reported.
"""

from __future__ import annotations

import math

from scipy.stats import norm, t

from radeval_lib.stats.printed import (
    Kind,
    correlation_interval,
    mcnemar_range,
    needed_between,
    needed_correlation,
    standard_error,
)
from radeval_lib.study.superiority import LEVEL, Lead
from radeval_lib.wording import p_digits, p_words


def _lead(difference: float, needed: float, between: str) -> Lead:
    if math.isnan(needed):
        return Lead(0, f"however strongly {between} correlate")
    if needed > 0:
        # Two digits, unless they would be those of a perfect correlation.
        return Lead(0, f"unless {between} correlate at {needed:.{2 if needed < 0.995 else 4}f} or more")
    return Lead(int(math.copysign(1, difference)), f"at any correlation of {between} from 0")


def lead_of_correlations(first: float, second: float, n: int, kind: Kind) -> Lead:
    """The lead of one printed correlation over another, from the number of pairs.

    Parameters
    ----------
    first, second : correlations of two metrics with the same ratings.
    n : pairs, taken as independent.

    Notes
    -----
    Pearson's: Williams's test. The others: z-test on Fisher's scale
    (:func:`radeval_lib.stats.printed.correlation_interval`).
    """
    if kind == "pearson":
        return _lead(first - second, needed_between(first, second, n), "the two metrics")
    return lead_of_intervals(
        (first, *correlation_interval(first, n, kind)), (second, *correlation_interval(second, n, kind))
    )


def lead_of_intervals(first: tuple[float, float, float], second: tuple[float, float, float]) -> Lead:
    """The lead of one printed correlation over another, each as (value, low, high) of its 95% interval."""
    gap = math.atanh(first[0]) - math.atanh(second[0])
    errors = [standard_error(low, high) for _, low, high in (first, second)]
    return _lead(gap, needed_correlation(gap, *errors), "their errors")


def lead_of_means(first: tuple[float, float], second: tuple[float, float], n: int) -> Lead:
    """The lead of one printed mean over another on the same ``n`` cases, each as (mean, standard deviation).

    Means are taken as normal, with Student's quantile for n - 1 degrees of freedom.
    """
    wider = float(t.ppf(1 - LEVEL / 2, n - 1) / norm.ppf(1 - LEVEL / 2))
    gap, errors = first[0] - second[0], [wider * sd / math.sqrt(n) for _, sd in (first, second)]
    return _lead(gap, needed_correlation(gap, *errors), "their errors")


def lead_of_shares(first: int, second: int, n: int) -> Lead:
    """The lead of one number of right cases over another on the same ``n`` cases, by McNemar's test."""
    smallest, largest = mcnemar_range(first, second, n)
    sign = (first > second) - (first < second) if largest < LEVEL else 0
    if math.isclose(smallest, largest) or p_words(smallest) == p_words(largest):
        return Lead(sign, f"{p_words(largest)} however the right cases overlap")
    ends = f"{p_digits(smallest, 'under')} to {p_digits(largest)}"
    return Lead(sign, f"p from {ends} by how the right cases overlap")
