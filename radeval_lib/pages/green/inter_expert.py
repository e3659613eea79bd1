"""Six radiologists who counted errors in the same pairs of reports, against each other.

Source: Ostmeier et al. 2024, Tables 1, 5, 10 and 11, and Figure 6. Counts come as ``significant``,
``insignificant`` and ``total``, each of shape (pairs, 6 categories, 6 radiologists).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import NDArray
from scipy import stats

from radeval_lib import plots
from radeval_lib.data.categories import LETTERS
from radeval_lib.data.categories import REXVAL_NAMES as REXVAL_NAMES
from radeval_lib.data.records import ErrorCount
from radeval_lib.data.rexval import RATERS
from radeval_lib.pages.green.judging import KINDS, cases_of
from radeval_lib.papers.printed_numbers import Printed, all_in, by_name, cell, printed, quoted, wide
from radeval_lib.stats import agreement
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.printed_counts import sums_that_print
from radeval_lib.stats.resampling import ends
from radeval_lib.study.checks import Check, Key, check_statement, check_value, under_every
from radeval_lib.study.printed_leads import lead_of_intervals
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import check_superiority

Counts = Mapping[str, FloatArray]
NAMES = [*RATERS, "GREEN"]
OTHERS, ALL_SIX = "each with the mean of the other five", "each with the mean of all six"


def check_counts(records: Sequence[ErrorCount]) -> list[Check]:
    """Pairs and cases of ReXVal's counts against what the paper says.

    Six raters, six categories and two levels of significance are taken for granted where the file is read.
    """
    stated = quoted("green.def_rexval")
    pairs = {(count.study, count.origin) for count in records}
    return [
        check_value("Pairs of reports", stated["pairs"], len(pairs)),
        check_value("Cases", stated["cases"], len({study for study, _ in pairs})),
    ]


def check_cells(cells: pd.DataFrame, n: int) -> list[Check]:
    """Whether the cells of Table 1 can be means of ``n`` whole numbers, and mirror each other."""
    sums = [sums_that_print(row.value, row.half_width, n) for row in cells.itertuples()]
    whole = sum(map(bool, sums))
    matrix = wide(cells, "rater", "other").loc[NAMES, NAMES].to_numpy()
    unequal = int((np.triu(matrix, k=1) != np.triu(matrix.T, k=1)).sum())
    return [
        check_statement(
            "Cells are means of whole numbers",
            f"{n} pairs",
            f"{whole} of {len(cells)} cells are possible with {n} pairs",
            whole == len(cells),
            cells=all_in(cells),
        ),
        check_statement(
            "Cells mirrored at the diagonal",
            "a difference has no direction",
            f"{unequal} of {len(cells) // 2} pairs of cells differ",
            unequal == 0,
            cells=all_in(cells),
        ),
    ]


def _of_means(values: FloatArray, ddof: int) -> float:
    """The standard deviation of the experts' means over the five others, from the 15 pairs."""
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6, k=1)] = values
    return float(agreement.means_of_pairs(matrix + matrix.T).std(ddof=ddof))


SPREADS: dict[str, Callable[[FloatArray], float]] = {
    "15 pairs, n": lambda values: float(values.std()),
    "15 pairs, n\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}1": lambda values: float(values.std(ddof=1)),
    "six expert means, n": lambda values: _of_means(values, ddof=0),
    "six expert means, n\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}1": lambda values: _of_means(values, ddof=1),
}
"""What the standard deviation of Table 1 can be taken of."""


def check_spread(name: str, sd: Printed, spreads: Mapping[str, Estimate]) -> Check:
    """The printed standard deviation against every reading of it: it holds only where all round to it."""
    fits = {reading: check_value(reading, sd, value).holds for reading, value in spreads.items()}
    return check_statement(
        name,
        sd.text,
        "; ".join(f"{value.value:.3f} ({reading})" for reading, value in spreads.items()),
        under_every(fits.values()),
    )


def taus_by_reading(counts: FloatArray) -> dict[str, FloatArray]:
    """What Kendall's tau between experts can be taken over; ``counts`` of shape (items, raters)."""
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


def check_range(readings: pd.DataFrame, low: Printed, high: Printed) -> Check:
    """A printed range against every reading of what was correlated, the nearest of them in words.

    The paper names none, so it holds only under all, and fails where no reading gives both ends.
    """
    away = (readings["low"] - low.value).abs() + (readings["high"] - high.value).abs()
    best = readings.loc[away.idxmin()]
    fits = readings["low"].between(low.low, low.high) & readings["high"].between(high.low, high.high)
    label = f"{best['counts']}, {best['errors']} errors, {best['range over']}"
    return check_statement(
        f"Range {low.text} to {high.text}",
        f"{low.text} to {high.text}",
        f"{fits.sum()} of {len(fits)} readings; nearest {best['low']:.3f} to {best['high']:.3f} ({label})",
        under_every(fits),
    )


def largest_of(table: pd.DataFrame, rater: str, half_steps: pd.DataFrame) -> set[str]:
    """The columns in which a rater has the largest value, for what printed values may stand for: lists such
    as ``(a), (c)``, or ``none``, of which more than one means that rounding decides.

    ``half_steps``: half a unit of the last printed digit, for the rows of ``table`` that are printed.
    """
    lists = set()
    steps = half_steps.reindex_like(table).fillna(0.0) * (1 - 1e-9)  # ends that touch are no tie
    for side in (-1, 0, 1):  # the rater's values at one end of their rounding, the others' at the other
        rest = (table - side * steps).drop(index=rater).max()
        lists.add(", ".join(table.columns[table.loc[rater] + side * steps.loc[rater] > rest]) or "none")
    return lists


def check_largest(by_reading: Mapping[str, set[str]]) -> Check:
    """Whether GREEN deviates most in (c) alone by every reading of the experts' rows; a reading of which
    rounding decides leaves it open. ``by_reading``: what :func:`largest_of` lists, by reading."""
    holds: list[bool | None] = []
    for lists in by_reading.values():
        columns = [set(listed.split(", ")) - {"none"} for listed in lists]
        always, ever = set.intersection(*columns), set.union(*columns)
        possible = always <= {"(c)"} <= ever
        holds.append(None if possible and len(lists) > 1 else possible)
    return check_statement(
        "Categories in which GREEN deviates most of all eight",
        "only has one shaded cell for category C",
        "; ".join(f"{' or '.join(sorted(lists))} against {name}" for name, lists in by_reading.items()),
        under_every(holds),
    )


def by_category(counts: FloatArray) -> dict[str, pd.DataFrame]:
    """Mean absolute difference by category, one row per expert, by what an expert is compared with."""
    ways: dict[str, Callable[[FloatArray], FloatArray]] = {
        "mean of all six": lambda counted: np.abs(counted - counted.mean(axis=1, keepdims=True)).mean(axis=0),
        "mean of the other five": lambda counted: np.abs(counted - agreement.mean_of_others(counted)).mean(
            axis=0
        ),
        "each of the other five": lambda counted: agreement.means_of_pairs(
            agreement.mean_absolute_differences(counted)
        ),
    }
    categories = dict(zip(LETTERS, np.moveaxis(counts, 1, 0), strict=True))
    return {
        name: pd.DataFrame({letter: way(counted) for letter, counted in categories.items()}, RATERS)
        for name, way in ways.items()
    }


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


def wilcoxon_tests(counts: FloatArray) -> pd.DataFrame:
    """pingouin's Wilcoxon signed-rank test of each expert against the mean of all, by the normal
    approximation, which is what 200 pairs with ties allow.

    ``counts``: whole, of shape (pairs, raters). They are multiplied by the number of raters, so that the
    means are whole too and no rounding error decides whether a difference is zero or two are tied.

    Returns
    -------
    DataFrame
        One row per rater: ``rater``; ``difference`` (mean of rater minus mean); ``n`` (pairs that differ);
        ``w`` and two-sided ``p``; ``rbc`` (rank-biserial correlation: share of the rank sum in favour of the
        rater minus that against); ``cles`` (how often a count of the rater exceeds a mean, both of random
        pairs, a tie being half).
    """
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
    cannot tell; of pairs, some are enough, in each kind.

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

    def in_words(what: str, differ: Mapping[str, NDArray[np.bool_]]) -> str:
        counted = [
            f"{differs.sum()} of {differs.size} {what}, {kind} errors" for kind, differs in differ.items()
        ]
        return f"{'; '.join(counted)}, with p < 0.05 after Bonferroni's correction"

    every, some = np.concatenate([*experts.values()]), [bool(differs.any()) for differs in pairs.values()]
    return [
        check_statement(
            "Experts differ from the mean of six", claim, in_words("experts", experts), under_every(every)
        ),
        check_statement("Some pairs of experts differ", claim, in_words("pairs", pairs), under_every(some)),
    ]


def check_wilcoxon(totals: Counts, kind: str, tens: pd.DataFrame) -> list[Check]:
    """The printed W of each expert against the mean of six, each by itself and all of them together.

    The computed range holds the exact W and what 720 orders of adding up the mean give in floating point.
    A program may take others, so that none of these prints the table decides nothing; nor does a printed W
    that lies in the range and is not the exact one.

    ``totals``: counts over all categories, of shape (pairs, raters); ``total`` can be averaged at once, or
    significant and insignificant errors apart. ``tens``: Table 10's W.
    """
    exact = wilcoxon_tests(totals[kind])["w"]
    ways = [exact.to_numpy()[None], agreement.wilcoxon_by_order([totals[kind]])]
    if kind == "total":
        ways.append(agreement.wilcoxon_by_order([totals[part] for part in KINDS]))
    found = np.concatenate(ways)
    ranges = zip(by_name(tens, "rater").items(), exact, found.min(axis=0), found.max(axis=0), strict=True)
    checks = [
        check_statement(
            Key(f"W of {kind} errors against the mean of six", rater),
            printed_w.text,
            f"{w:,.1f} exactly, {least:,.1f} to {most:,.1f} by how the mean is added up",
            bool(printed_w.low <= w <= printed_w.high)
            or (None if least <= printed_w.high and most >= printed_w.low else False),
            cells=[printed_w],
        )
        for (rater, printed_w), w, least, most in ranges
    ]
    most = int((np.abs(found - tens["value"].to_numpy()) < 0.05).sum(axis=1).max())
    name, outcome = f"all W from one order of adding up {kind} errors", f"in any of {len(found)} computations"
    every = most == len(tens) or None
    return [*checks, check_statement(name, f"{len(tens)} printed", f"at most {most} {outcome}", every)]


def largest_p(w: float, fewest: int) -> float:
    """The largest two-sided P of Wilcoxon's W, by the normal approximation, with ``fewest`` differences."""
    centre, spread = fewest * (fewest + 1) / 4, np.sqrt(fewest * (fewest + 1) * (2 * fewest + 1) / 24)
    return float(2 * stats.norm.cdf(-abs(w - centre) / spread)) if w < centre else 1.0


def draw_table1(cells: pd.DataFrame) -> None:
    """Draw the printed cells of Table 1 as a heat map."""
    _, axis = plots.panels(1, 1, 4.4)
    texts = wide(cells, "rater", "other", "printed").loc[NAMES, NAMES].fillna("")
    matrix = wide(cells, "rater", "other").loc[NAMES, NAMES]
    plots.heat_map(axis, matrix, slant=45, annot=texts, fmt="", cmap="Blues", vmin=0, linewidths=1)
    for row, column in np.argwhere(matrix.isna().to_numpy()):
        axis.text(column + 0.5, row + 0.5, "–", ha="center", va="center")
    axis.set(xlabel="", ylabel="")


def draw_matrices(matrices: Mapping[str, pd.DataFrame]) -> None:
    """Draw the lower triangles of symmetric matrices of Kendall's tau side by side, by title."""
    _, axes = plots.panels(1, len(matrices), 3.2, sharey=True)
    for axis, (title, matrix) in zip(axes, matrices.items(), strict=True):
        above = np.triu(np.ones(np.subtract(matrix.shape, 1)), k=1).astype(bool)
        looks = {"vmin": 0.3, "vmax": 0.9, "cmap": "Blues", "fmt": ".2f", "annot_kws": {"fontsize": 10}}
        plots.heat_map(axis, matrix.iloc[1:, :-1], slant=45, mask=above, **looks)
        axis.set_title(title)
