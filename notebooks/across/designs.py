"""What lead of one metric over another the papers' designs could show, by printed correlations and sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
from scipy.stats import norm

from notebooks.ratescore import RATESCORE
from notebooks.ratescore.correlations import pairs_assumed
from radeval_lib.papers.printed_numbers import printed, wide
from radeval_lib.stats.printed import Kind, correlation_interval, standard_error

POWER, ALPHA = 0.8, 0.05  # of two-sided tests
Correlation = tuple[float, float]  # as printed, and its standard error on Fisher's scale


def design(first: Correlation, second: Correlation, n: int, between: float) -> dict[str, float]:
    """Return what a comparison of two correlations, the higher one first, on ``n`` independent pairs could
    tell, two-sided at 5%, if their errors correlate by ``between``.

    ``power`` is for a true lead as large as the printed one; ``least`` is the smallest lead over ``second``
    that has a power of 80%; ``needed`` are the pairs with which the printed lead has it, infinite for none.

    Raises
    ------
    ValueError
        Unless -1 < second <= first < 1 and -1 <= between < 1.
    """
    (high, high_error), (low, low_error) = first, second
    if not (-1 < low <= high < 1 and -1 <= between < 1):
        raise ValueError(
            f"no design of correlations {high:g} and {low:g} whose errors correlate by {between:g}"
        )
    error = math.sqrt(high_error**2 + low_error**2 - 2 * between * high_error * low_error)
    reach, gap = norm.ppf(1 - ALPHA / 2), math.atanh(high) - math.atanh(low)
    least = (reach + norm.ppf(POWER)) * error
    return {
        "power": float(norm.sf(reach - gap / error) + norm.cdf(-reach - gap / error)),
        "least": math.tanh(math.atanh(low) + least) - low,
        "needed": n * (least / gap) ** 2 if gap > 0 else math.inf,
    }


def printed_designs(between: float) -> pd.DataFrame:
    """Return the leads that RaTEScore and GREEN claim over the strongest of the other metrics in each table:
    ``rival``, ``pairs``, ``lead`` and what :func:`design` returns."""
    sizes = printed("ratescore.table3").query("quantity == 'number'").set_index("part")["value"]
    pairs = pairs_assumed(sizes)
    fives = printed("ratescore.table5").query("measure == 'Pearson'")
    claims: dict[str, tuple[pd.DataFrame, str, Kind]] = {
        "RaTEScore, ReXVal, τ": (printed("ratescore.table4"), "ReXVal", "kendall"),
        "RaTEScore, sentences, Pearson": (printed("ratescore.fig3"), "Sentences", "pearson"),
        "RaTEScore, paragraphs, Pearson": (fives, "Paragraphs", "pearson"),
    }
    rows = {}
    for name, (table, part, kind) in claims.items():
        values, n = table.set_index("metric")["value"], pairs[part]
        errors = {one: standard_error(*correlation_interval(value, n, kind)) for one, value in values.items()}
        rows[name] = _row(values, errors, RATESCORE, [one for one in errors if one != RATESCORE], n, between)
    green = wide(printed("green.table6"), "metric", "statistic")
    ends = green[["ci_low", "ci_high"]]
    errors = {str(one): standard_error(low, high) for one, low, high in ends.itertuples()}
    taus = green["estimate"]
    earlier = list(green.index[: green.index.get_loc("GREEN")])  # the rows above GREEN's
    rows["GREEN, ReXVal, τ"] = _row(taus, errors, "GREEN", earlier, pairs["ReXVal"], between)
    return pd.DataFrame(rows).T


def _row(
    values: pd.Series, errors: Mapping[str, float], first: str, others: Sequence[str], n: int, between: float
) -> dict[str, object]:
    rival = max(others, key=lambda metric: values[metric])
    power = design((values[first], errors[first]), (values[rival], errors[rival]), n, between)
    return {"rival": rival, "pairs": n, "lead": values[first] - values[rival], **power}
