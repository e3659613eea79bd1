"""Radiologists' counts of errors by Wilcoxon's signed-rank test (Ostmeier et al. 2024, Tables 10 and 11)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import NDArray
from scipy import stats

from notebooks.green.radiologists import KINDS, Counts
from radeval_lib.data.rexval import RATERS
from radeval_lib.papers.printed_numbers import by_name
from radeval_lib.stats import agreement
from radeval_lib.stats.inputs import FloatArray, finite
from radeval_lib.study.checks import Check, Key, by_reading, check_statement


def wilcoxon_tests(counts: FloatArray) -> pd.DataFrame:
    """pingouin's Wilcoxon signed-rank test of each expert against the mean of all, by the normal
    approximation, which is what 200 pairs with ties allow.

    ``counts``: whole, of shape (pairs, raters), at most six raters; anything else is a ValueError. They are
    multiplied by the number of raters, so that the means are whole too and no rounding error decides whether
    a difference is zero or two are tied.

    Returns
    -------
    DataFrame
        One row per rater: ``rater``; ``difference`` (mean of rater minus mean); ``n`` (pairs that differ);
        ``w`` and two-sided ``p``; ``rbc`` (rank-biserial correlation: share of the rank sum in favour of the
        rater minus that against); ``cles`` (how often a count of the rater exceeds a mean, both of random
        pairs, a tie being half). ``p`` and ``rbc`` are NaN of a rater who never differs from the mean.
    """
    counts = finite("counts", counts, None, None)
    if counts.shape[1] > len(RATERS) or (counts % 1 != 0).any():
        raise ValueError(f"counts must be whole, of at most {len(RATERS)} raters")
    whole, total = counts * counts.shape[1], counts.sum(axis=1)
    tests = [pg.wilcoxon(rater, total, method="approx", correction=False).iloc[0] for rater in whole.T]
    statistics = np.array([test[["W_val", "p_val", "RBC", "CLES"]].tolist() for test in tests])
    gaps = whole - total[:, None]
    moved = {"difference": gaps.mean(axis=0) / len(tests), "n": np.count_nonzero(gaps, axis=0)}
    table = pd.DataFrame({"rater": RATERS[: len(tests)]} | moved)
    return table.join(pd.DataFrame(statistics, columns=["w", "p", "rbc", "cles"]))


def check_experts_differ(totals: Counts) -> list[Check]:
    """Whether Wilcoxon's test distinguishes experts from the mean of six, and some from each other.

    The paper says that the experts differ, neither whether every one does nor in which errors. So the first
    check holds where every expert differs in each kind of error, fails where none does in any, and else
    is inconclusive; of pairs, some are enough, in each kind.

    ``totals``: counts over all categories, of shape (pairs, raters), by kind of error.
    """
    claim = "the experts themselves already significantly differ"
    experts, pairs = dict[str, NDArray[np.bool_]](), dict[str, NDArray[np.bool_]]()
    for kind, counts in totals.items():
        ps = [
            pg.wilcoxon(x, y, method="approx", correction=False)["p_val"].item()
            for x, y in combinations(counts.T, 2)
        ]
        experts[kind] = pg.multicomp(wilcoxon_tests(counts)["p"], method="bonf")[0]
        pairs[kind] = pg.multicomp(ps, method="bonf")[0]

    corrected = "with p < 0.05 after Bonferroni's correction"
    return [
        check
        for kind in totals
        for check in by_reading(
            {
                f"every expert from the mean of six, {kind} errors": check_statement(
                    "experts differ",
                    claim,
                    f"{experts[kind].sum()} of {experts[kind].size} experts {corrected}",
                    bool(experts[kind].all()),
                ),
                f"some pairs, {kind} errors": check_statement(
                    "experts differ",
                    claim,
                    f"{pairs[kind].sum()} of {pairs[kind].size} pairs {corrected}",
                    bool(pairs[kind].any()),
                ),
            }
        )
    ]


def check_wilcoxon(totals: Counts, kind: str, tens: pd.DataFrame) -> list[Check]:
    """The printed W of each expert against the mean of six: the exact one, and those that 720 orders of
    adding up the mean give in floating point.

    ``totals``: counts over all categories, of shape (pairs, raters); ``total`` can be averaged at once, or
    significant and insignificant errors apart. ``tens``: Table 10's W.
    """
    exact = wilcoxon_tests(totals[kind])["w"]
    ways = [agreement.wilcoxon_by_order([totals[kind]])]
    if kind == "total":
        ways.append(agreement.wilcoxon_by_order([totals[part] for part in KINDS]))
    in_floats = np.concatenate(ways)
    checks = list[Check]()
    for (rater, cell), w, found in zip(by_name(tens, "rater").items(), exact, in_floats.T, strict=True):
        values = {"exact": np.array([w]), "in floating point": np.unique(np.round(found, 6))}
        checks += by_reading(
            {
                reading: check_statement(
                    Key(f"W of {kind} errors against the mean of six", rater),
                    cell.text,
                    ", ".join(f"{value:,.1f}" for value in possible),
                    bool(((possible >= cell.low) & (possible <= cell.high)).any()),
                    cells=[cell],
                )
                for reading, possible in values.items()
            }
        )
    return checks


def largest_p(w: float, fewest: int) -> float:
    """The largest two-sided P of Wilcoxon's W, by the normal approximation, with ``fewest`` differences or
    more. A W below 0 or not legible, or no difference, is a ValueError."""
    if not (w >= 0 and fewest > 0):
        raise ValueError(f"no P follows from W = {w} and {fewest} differences")
    centre, spread = fewest * (fewest + 1) / 4, np.sqrt(fewest * (fewest + 1) * (2 * fewest + 1) / 24)
    return float(2 * stats.norm.cdf(-abs(w - centre) / spread)) if w < centre else 1.0
