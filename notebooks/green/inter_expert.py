"""Six radiologists who counted errors in the same pairs of reports: how far their counts are apart.

Source: Ostmeier et al. 2024, Tables 1 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from radeval_lib import plots
from radeval_lib.categories import LETTERS
from radeval_lib.data.records import ErrorCount
from radeval_lib.data.rexval import RATERS
from radeval_lib.papers.printed_numbers import Printed, all_in, quoted, wide
from radeval_lib.stats import agreement
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.printed_counts import sums_that_print
from radeval_lib.study.checks import Check, by_reading, check_statement, check_value

NAMES = [*RATERS, "GREEN"]


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


def check_spread(name: str, sd: Printed, spreads: Mapping[str, Estimate]) -> list[Check]:
    """The printed standard deviation against every reading of it, a row each."""
    return by_reading({reading: check_value(name, sd, value) for reading, value in spreads.items()})


def largest_of(table: pd.DataFrame, rater: str, half_steps: pd.DataFrame) -> set[tuple[str, ...]]:
    """The columns in which a rater has the largest value, for what printed values may stand for; more than
    one such list means that rounding decides.

    ``table``: one row per rater. ``half_steps``: half a unit of the last printed digit, for the rows of
    ``table`` that are printed.
    """
    lists = set()
    steps = half_steps.reindex_like(table).fillna(0.0) * (1 - 1e-9)  # ends that touch are no tie
    for side in (-1, 0, 1):  # the rater's values at one end of their rounding, the others' at the other
        rest = (table - side * steps).drop(index=rater).max()
        lists.add(tuple(table.columns[table.loc[rater] + side * steps.loc[rater] > rest]))
    return lists


def check_largest(found: Mapping[str, set[tuple[str, ...]]]) -> list[Check]:
    """Whether GREEN deviates most in (c) alone by every reading of the experts' rows.

    ``found``: what :func:`largest_of` lists, by reading. Where rounding decides, (c) alone is possible
    if (c) is in one of the lists and no other column in all of them; that leaves the reading open.
    """
    checks = {}
    for reading, lists in found.items():
        always, ever = set.intersection(*map(set, lists)), set.union(*map(set, lists))
        possible = always <= {"(c)"} <= ever
        checks[f"against {reading}"] = check_statement(
            "Categories in which GREEN deviates most of all eight",
            "only has one shaded cell for category C",
            " or ".join(sorted(", ".join(columns) or "none" for columns in lists)),
            None if possible and len(lists) > 1 else possible,
        )
    return by_reading(checks)


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


def draw_table1(cells: pd.DataFrame) -> None:
    """Draw the printed cells of Table 1 as a heat map."""
    _, axis = plots.panels(1, 1, 4.4)
    texts = wide(cells, "rater", "other", "printed").loc[NAMES, NAMES].fillna("")
    matrix = wide(cells, "rater", "other").loc[NAMES, NAMES]
    plots.heat_map(axis, matrix, slant=45, annot=texts, fmt="", cmap="Blues", vmin=0, linewidths=1)
    for row, column in np.argwhere(matrix.isna().to_numpy()):
        axis.text(column + 0.5, row + 0.5, "–", ha="center", va="center")
    axis.set(xlabel="", ylabel="")
