"""Leads that printed numbers alone establish.

Two metrics are tried on the same pairs, so their errors go together, and how strongly is not printed. A lead
is called established only where it is significant at every dependence from none upwards; else the dependence
that it would need is reported. A printed number stands for all that rounds to it, so a lead is established
only if it is for all of these; numbers that are not :class:`Printed` are exact. One that is not legible, or
that cannot be, is a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product

from scipy.stats import norm, t

from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats.printed import (
    Kind,
    corners,
    correlation_interval,
    mcnemar_range,
    needed_between,
    needed_correlation,
    standard_error,
)
from radeval_lib.study.superiority import LEVEL, Lead
from radeval_lib.text_format import p_digits, p_words

Number = Printed | float
_EDGE = 1e-9  # of binary floating point: ends of rounding that touch are equal


def _rounded(numbers: Sequence[Number]) -> list[list[float]]:
    """Return the numbers, and all combinations of the ends of what rounds to them; a ValueError where one is
    NaN."""
    exact = [number if isinstance(number, Printed) else Printed("", number, 0.0) for number in numbers]
    if any(math.isnan(number.value) for number in exact):
        raise ValueError("a number that is not printed or not legible leads nothing")
    return corners([number.value for number in exact], [number.half_width for number in exact]).tolist()


def _lead(needs_of_gaps: Iterable[tuple[float, float]], between: str) -> Lead:
    """Return the lead from a difference and the correlation that it needs: as printed, then as rounding
    allows.

    ``between``: whose correlation that is, in words.
    """
    (gap, at_print), *rounded = (
        (0.0, math.nan) if abs(gap) < _EDGE else (gap, need) for gap, need in needs_of_gaps
    )
    ahead = (gap > 0) - (gap < 0)
    # A difference that rounding turns round establishes nothing in the direction of the printed one.
    needs = [at_print] + [need if ahead * other_gap > 0 else math.nan for other_gap, need in rounded]
    known = [need for need in needs if not math.isnan(need)]
    if not ahead:  # equal as printed: the lead that rounding hides may be either's
        known = [need for other_gap, need in rounded if other_gap and not math.isnan(need)]
    if not known:
        return Lead(0, f"however strongly {between} correlate")
    if len(known) == len(needs) and max(known) <= 0:
        return Lead(ahead, f"at any correlation of {between} from 0")
    low, high = (_digits(max(need, 0.0)) for need in (min(known), max(known)))
    if len(known) < len(needs) or not ahead:
        return Lead(0, f"unless, by the rounding, {between} correlate at {low} or more")
    if low == high:
        return Lead(0, f"unless {between} correlate at {low} or more")
    return Lead(0, f"unless {between} correlate at {low} to {high} or more, by the rounding")


def _digits(needed: float) -> str:
    """Return two digits, unless they would be those of a perfect correlation."""
    return f"{needed:.{2 if needed < 0.995 else 4}f}"


def lead_of_correlations(first: Number, second: Number, n: int, kind: Kind) -> Lead:
    """Return the lead of one printed correlation over another, from the number of pairs.

    Parameters
    ----------
    first, second : correlations of two metrics with the same ratings.
    n : pairs, taken as independent.

    Notes
    -----
    Pearson's: Williams's test. The others: z-test on Fisher's scale
    (:func:`radeval_lib.stats.printed.correlation_interval`).
    """
    pairs = _rounded([first, second])
    if kind == "pearson":
        needs = [(ours - theirs, needed_between(ours, theirs, n)) for ours, theirs in pairs]
        return _lead(needs, "the two metrics")

    def with_interval(value: float) -> tuple[float, float, float]:
        return value, *correlation_interval(value, n, kind)

    return _lead(
        (_needed(with_interval(ours), with_interval(theirs)) for ours, theirs in pairs), "their errors"
    )


def _needed(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    gap = math.atanh(first[0]) - math.atanh(second[0])
    return gap, needed_correlation(gap, *(standard_error(low, high) for _, low, high in (first, second)))


def needs_of_intervals(first: Sequence[Number], second: Sequence[Number]) -> list[tuple[float, float]]:
    """Return the difference of two printed correlations on Fisher's scale, each as (value, low, high) of its
    95% interval, and the correlation of errors that makes it significant: as printed, then as rounding
    allows."""
    return [_needed(row[:3], row[3:]) for row in _rounded([*first, *second])]


def lead_of_intervals(first: Sequence[Number], second: Sequence[Number]) -> Lead:
    """Return the lead of one printed correlation over another, each as (value, low, high) of its 95%
    interval."""
    return _lead(needs_of_intervals(first, second), "their errors")


def lead_of_means(first: Sequence[Number], second: Sequence[Number], n: int, lower: bool = False) -> Lead:
    """Return the lead of one printed mean over another on the same ``n`` cases, each as (mean, standard
    deviation).

    Means are taken as normal, with Student's quantile for n - 1 degrees of freedom. ``lower``: whether the
    lower mean leads.
    """
    wider = float(t.ppf(1 - LEVEL / 2, n - 1) / norm.ppf(1 - LEVEL / 2)) / math.sqrt(n)
    needs = []
    for mean, sd, other_mean, other_sd in _rounded([*first, *second]):
        gap = other_mean - mean if lower else mean - other_mean
        needs.append((gap, needed_correlation(gap, wider * sd, wider * other_sd)))
    return _lead(needs, "their errors")


def lead_of_shares(first: int | Sequence[int], second: int | Sequence[int], n: int) -> Lead:
    """Return the lead of one number of right cases over another on the same ``n`` cases, by McNemar's test;
    of several numbers that each may be, whichever they are."""
    ours, theirs = ([right] if isinstance(right, int) else right for right in (first, second))
    possible = list(product(ours, theirs))
    ranges = [mcnemar_range(right, other_right, n) for right, other_right in possible]
    smallest, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    signs = {(right > other_right) - (right < other_right) for right, other_right in possible}
    sign = signs.pop() if largest < LEVEL and len(signs) == 1 else 0
    if math.isclose(smallest, largest) or p_words(smallest) == p_words(largest):
        return Lead(sign, f"{p_words(largest)} however the right cases overlap")
    ends = f"{p_digits(smallest, 'under')} to {p_digits(largest)}"
    return Lead(sign, f"p from {ends} by how the right cases overlap")
