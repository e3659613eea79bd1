"""Six radiologists who counted errors in the same pairs of reports, against each other.

Source: Ostmeier et al. 2024, Tables 1, 5, 10 and 11, and Figure 6. Counts come as ``significant``,
``insignificant`` and ``total``, each of shape (pairs, 6 categories, 6 radiologists).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from numpy.typing import NDArray
from scipy import stats

from radeval_lib import plots
from radeval_lib.data.categories import LETTERS
from radeval_lib.data.categories import REXVAL_NAMES as REXVAL_NAMES
from radeval_lib.data.rexval import RATERS
from radeval_lib.pages.green.judging import KINDS
from radeval_lib.papers.printed_numbers import Printed, cell, printed, quoted, wide
from radeval_lib.stats import agreement
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.printed import sums_that_print
from radeval_lib.stats.resampling import ends, share_interval
from radeval_lib.study.checks import Check, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.wording import with_interval

FloatArray = NDArray[np.float64]
Counts = Mapping[str, FloatArray]
NAMES = [*RATERS, "GREEN"]


def check_counts(run: Run) -> tuple[list[Check], Check]:
    """What ReXVal's file holds against what the paper says: of pairs and raters, and of kinds of errors."""
    path = run.find("rexval_counts")
    assert path is not None
    # As the file stands: the loader would refuse any other number of pairs, raters or categories.
    stated, frame = quoted("green.def_rexval"), pd.read_csv(path)
    counts = frame.filter(regex=r"^\d")
    raters = counts.columns.str.partition(".").get_level_values(0).nunique()
    levels = len(counts.columns) // raters
    pairs = frame.groupby(["study_number", "origin"]).ngroups
    cases, kinds = frame[["study_number", "error_category"]].nunique()
    whole = len(frame) == pairs * kinds and bool(counts.notna().all(axis=None))
    every = "each" if whole else "not each"
    found = f"{kinds} categories, {levels} levels of significance, {every} counted by every rater"
    return [
        check_value("Pairs of reports", stated["pairs"], pairs),
        check_value("Cases", stated["cases"], cases),
        check_statement(
            "Radiologists", "six board-certified radiologists", f"{raters} raters", bool(raters == 6)
        ),
        check_statement("Error types", "six specific error types", f"{kinds} categories", bool(kinds == 6)),
    ], check_statement(
        "Categories and significance",
        "six distinct error types for each clinically significant and insignificant errors",
        found,
        bool(kinds == 6 and levels == 2 and whole),
    )


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
        ),
        check_statement(
            "Cells mirrored at the diagonal",
            "a difference has no direction",
            f"{unequal} of {len(cells) // 2} pairs of cells differ",
            unequal == 0,
        ),
    ]


def expert_means(values: FloatArray) -> FloatArray:
    """Each expert's mean over the five others, from the 15 pairs above the diagonal."""
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6, k=1)] = values
    return agreement.means_of_pairs(matrix + matrix.T)


SPREADS: dict[str, Callable[[FloatArray], float]] = {
    "15 pairs, n": lambda values: float(values.std()),
    "15 pairs, n - 1": lambda values: float(values.std(ddof=1)),
    "six expert means, n": lambda values: float(expert_means(values).std()),
    "six expert means, n - 1": lambda values: float(expert_means(values).std(ddof=1)),
}
"""What the standard deviation of Table 1 can be taken of."""


def orders_that_print(matrix: FloatArray, target: FloatArray) -> list[tuple[int, ...]]:
    """The orders of the raters in which their differences round to the printed ones, row by row."""
    return [
        order
        for order in permutations(range(len(matrix)))
        if np.abs(agreement.upper_triangle(matrix[np.ix_(order, order)]) - target).max() < 6e-4
    ]


def mean_difference_intervals(
    counts: FloatArray, candidates: int, *, resamples: int, rng: np.random.Generator
) -> dict[str, str]:
    """95% intervals of the mean difference of two raters, from drawing pairs of reports, and whole cases.

    ``counts``: shape (pairs, raters), sorted by case. ``candidates``: how many pairs a case has.
    """
    apart = np.abs(counts[:, :, None] - counts[:, None, :])[:, *np.triu_indices(counts.shape[1], k=1)]
    by_pair, rows = apart.mean(axis=1), np.arange(len(apart))
    found = {}
    for unit, groups in (("pairs", rows), ("cases", rows // candidates)):
        _, low, high = share_interval(by_pair, groups.tolist(), resamples=resamples, rng=rng)
        found[f"95% interval of the mean, drawing {unit}"] = f"{low:.2f} to {high:.2f}"
    return found


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
    rows = []
    for (level, kind), array in levels.items():
        tau = agreement.kendall_matrix(array)
        for over, values in {
            "pairs of experts": agreement.upper_triangle(tau),
            "expert means": agreement.means_of_pairs(tau),
            "each with the mean of the other five": agreement.kendall_with(
                array, agreement.mean_of_others(array)
            ),
            "each with the mean of all six": agreement.kendall_with(array, array.mean(axis=1)),
        }.items():
            rows.append((level, kind, over, values.min(), values.mean(), values.max()))
    return pd.DataFrame(rows, columns=["counts", "errors", "range over", "low", "mean", "high"])


def check_nearest(readings: pd.DataFrame, low: Printed, high: Printed) -> list[Check]:
    """Both ends of a printed range against the reading whose range lies nearest to it."""
    best = readings.loc[
        ((readings["low"] - low.value).abs() + (readings["high"] - high.value).abs()).idxmin()
    ]
    label = f"{best['counts']}, {best['errors']} errors, {best['range over']}"
    return [
        check_value(f"Range {low.text} to {high.text}, {name} end: {label}", end, best[name])
        for name, end in (("low", low), ("high", high))
    ]


def by_category(counts: FloatArray) -> dict[str, pd.DataFrame]:
    """Mean absolute difference by category, one row an expert, by what an expert is compared with."""
    columns = [counts[:, place] for place in range(len(LETTERS))]
    found = {
        "mean of all six": [np.abs(one - one.mean(axis=1, keepdims=True)).mean(axis=0) for one in columns],
        "mean of the other five": [
            np.abs(one - agreement.mean_of_others(one)).mean(axis=0) for one in columns
        ],
        "each of the other five": [
            agreement.means_of_pairs(agreement.mean_absolute_differences(one)) for one in columns
        ],
    }
    return {name: pd.DataFrame(rows, list(LETTERS), RATERS).T for name, rows in found.items()}


def check_upper_bound(totals: Counts, ones: pd.DataFrame, tau: Estimate) -> list[Check]:
    """Whether experts agree better with each other than GREEN with them.

    ``totals``: see :func:`check_wilcoxon`. ``ones``: Table 1. ``tau``: of experts with the mean of all six.
    """
    experts = agreement.upper_triangle(agreement.mean_absolute_differences(totals["significant"])).mean()
    green = ones.loc[ones["rater"] == "GREEN", "value"].mean()
    checks = [
        check_statement(
            "Mean difference: experts closer to each other than GREEN to them",
            "upper bound",
            f"experts {experts:.2f}, GREEN {green:.2f}",
            bool(experts <= green),
        )
    ]
    six = printed("green.table6")
    model, low, high = (
        cell(six, metric="Error count GREEN", statistic=name) for name in ("estimate", "ci_low", "ci_high")
    )
    overlap = tau.low <= high.value and low.value <= tau.high
    checks.append(
        check_statement(
            "Tau: experts with the mean of all six v GREEN's error count",
            "upper bound",
            f"experts {with_interval(tau.value, tau.low, tau.high)}, "
            f"GREEN {model.text} [{low.text}, {high.text}]",
            None if overlap else tau.value > model.value,
        )
    )
    return checks


def with_mean(both: FloatArray, run: Run, *, others: bool) -> Estimate:
    """Kendall's tau of experts with the mean of all six or, with ``others``, of the other five, averaged over
    experts; its interval draws cases, which are four pairs each. ``both``: shape (pairs, raters)."""
    mean = (
        agreement.mean_of_others(both) if others else np.broadcast_to(both.mean(axis=1)[:, None], both.shape)
    )
    cases = np.repeat(np.arange(len(both) // 4), 4)
    found = [
        resample(
            {"": own},
            reference,
            groups=cases,
            kind="kendall",
            resamples=run.profile.resamples,
            rng=run.rng("taus"),
        )
        for own, reference in zip(both.T, mean.T, strict=True)
    ]
    value = float(np.mean([one.intervals()["value"].iloc[0] for one in found]))
    return Estimate(value, *ends(np.mean([one.draws[0] for one in found], axis=0)))


def check_shading(largest: pd.DataFrame) -> Check:
    """Whether GREEN deviates most in category (c) alone.

    ``largest``: who deviates most, a row each way of comparing experts, a column each category.
    """
    green = {name: ", ".join(row.index[row == "GREEN"]) or "none" for name, row in largest.iterrows()}
    fits = [found == "(c)" for found in green.values()]
    return check_statement(
        "Categories in which GREEN deviates most of all eight",
        "only has one shaded cell for category C",
        "; ".join(f"{found} against {name}" for name, found in green.items()),
        None if any(fits) and not all(fits) else all(fits),
    )


def check_experts_differ(counts: FloatArray, tests: pd.DataFrame, kind: str) -> list[Check]:
    """Whether Wilcoxon's test tells experts from the mean of six, and from each other.

    ``counts``: shape (pairs, raters). ``tests``: of :func:`~radeval_lib.stats.agreement.wilcoxon_with_mean`.
    ``kind``: which errors these are.
    """
    claim, worst = "the experts themselves already significantly differ", tests.loc[tests["p"].idxmax()]
    apart = pairwise_p(counts) * 15 < 0.05
    largest = f"largest P {worst['p']:.1g} ({worst['rater']}), {kind} errors"
    among = f"{apart.sum()} of 15 pairs with P < 0.05 after Bonferroni's correction"
    return [
        check_statement("Every expert differs from the mean of six", claim, largest, bool(worst["p"] < 0.05)),
        check_statement("Experts differ from each other, pair by pair", claim, among, bool(apart.any())),
    ]


def check_wilcoxon(totals: Counts, kind: str, tens: pd.DataFrame) -> list[Check]:
    """The printed W of each expert against the mean of six, each by itself and all of them together.

    The computed range holds the exact W and what 720 orders of adding up the mean give in floating point.
    A program may take others, so that none of these prints the table decides nothing.

    ``totals``: counts over all categories, of shape (pairs, raters); ``total`` can be averaged at once, or
    significant and insignificant errors apart. ``tens``: Table 10's W.
    """
    exact = agreement.wilcoxon_with_mean(totals[kind], RATERS)["w"]
    ways = [exact.to_numpy()[None], agreement.wilcoxon_by_order([totals[kind]])]
    if kind == "total":
        ways.append(agreement.wilcoxon_by_order([totals[part] for part in KINDS]))
    found = np.concatenate(ways)
    checks = [
        check_value(
            f"{rater}, W: {kind} errors against the mean of six",
            cell(tens, rater=rater),
            Estimate(float(w), float(least), float(most)),
        )
        for rater, w, least, most in zip(
            tens["rater"], exact, found.min(axis=0), found.max(axis=0), strict=True
        )
    ]
    most = int((np.abs(found - tens["value"].to_numpy()) < 0.05).sum(axis=1).max())
    together = check_statement(
        f"all W from one order of adding up {kind} errors",
        f"{len(tens)} printed",
        f"at most {most} in any of {len(found)} computations",
        most == len(tens) or None,
    )
    return [*checks, together]


def largest_p(w: float, fewest: int) -> float:
    """The largest two-sided P of Wilcoxon's W, by the normal approximation, with ``fewest`` differences."""
    centre, spread = fewest * (fewest + 1) / 4, np.sqrt(fewest * (fewest + 1) * (2 * fewest + 1) / 24)
    return float(2 * stats.norm.cdf(-abs(w - centre) / spread)) if w < centre else 1.0


def pairwise_p(counts: FloatArray) -> FloatArray:
    """Wilcoxon's P of every two raters; ``counts`` of shape (pairs, raters)."""
    first, second = np.triu_indices(counts.shape[1], k=1)
    return np.array(
        [
            stats.wilcoxon(counts[:, a], counts[:, b], method="approx").pvalue
            for a, b in zip(first, second, strict=True)
        ]
    )


def draw_table1(cells: pd.DataFrame) -> None:
    """Draw the printed cells of Table 1 as a heat map."""
    _, axis = plt.subplots(figsize=(5.6, 4.2))
    sns.heatmap(
        wide(cells, "rater", "other").loc[NAMES, NAMES],
        annot=wide(cells, "rater", "other", "printed").loc[NAMES, NAMES].fillna(""),
        fmt="",
        cmap="Blues",
        vmin=0,
        ax=axis,
        cbar=False,
        linewidths=1,
    )
    axis.set(xlabel="", ylabel="")
    axis.tick_params(axis="x", rotation=45)
    axis.grid(visible=False)


def draw_matrices(matrices: Mapping[str, pd.DataFrame]) -> None:
    """Draw the lower triangles of symmetric matrices of Kendall's tau side by side, by title."""
    _, axes = plots.panels(1, len(matrices), height=3.4)
    for axis, (title, matrix) in zip(axes, matrices.items(), strict=True):
        sns.heatmap(
            matrix.iloc[1:, :-1],
            mask=np.triu(np.ones(np.subtract(matrix.shape, 1)), k=1).astype(bool),
            annot=True,
            fmt=".2f",
            cmap="Blues",
            vmin=0.3,
            vmax=0.9,
            cbar=False,
            ax=axis,
            annot_kws={"fontsize": 8},
        )
        axis.set_title(title)
        axis.tick_params(axis="y", rotation=0)
        axis.tick_params(axis="x", rotation=45)
        axis.grid(visible=False)
