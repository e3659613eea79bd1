"""Whether the fact counters agree: the ratings that Tables 1 and 2 allow; and simulated raters who count at
different levels of detail.

The claim: raters who cut a text into facts of different sizes disagree on counts and agree on ratios
(Moramarco et al. 2021, Section 6.1). The divide is how far the least agreed ratio lies above the best agreed
count; the claim holds if it is positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import Literal, get_args

import krippendorff
import numpy as np
import pandas as pd

from radeval_lib.data.fact_raters import count_facts, draw_descriptions
from radeval_lib.papers.printed_numbers import cell_in
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import FactCounts
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value

ALL = "E1-E2-E3"
RATERS = {ALL: (0, 1, 2), "E1-E2": (0, 1), "E1-E3": (0, 2), "E2-E3": (1, 2)}
Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
FITTING = "alphas that round to the printed ones"
Losses = tuple[float, ...]
"""Points lost on one unit, one per rater."""
Placement = tuple[Losses, ...]
"""The units of a group on which some rater takes points off."""
_HALF = 0.005 + 1e-9  # half a unit of the last printed digit of an alpha


def among_pairs(table2: pd.DataFrame) -> list[Check]:
    """Return whether the alpha of all three raters lies among those of the pairs, for each row of Table 2;
    the pairs are taken as printed, so the cell of all three is the one that is compared."""
    checks = []
    for metric, rows in table2.groupby("metric", sort=False):
        pairs, whole = rows[rows["pair"] != ALL], rows[rows["pair"] == ALL].iloc[0]
        low, high = (pairs["value"] - pairs["half_width"]).min(), (pairs["value"] + pairs["half_width"]).max()
        among = Estimate(float(pairs["value"].mean()), float(low), float(high))
        key = Key("all three among the pairs", str(metric))
        checks.append(check_value(key, cell_in(whole), among))
    return checks


def losses_of(mean: float, units: int, steps: Sequence[float]) -> list[Losses]:
    """Return the sets of lost points, sorted, that leave ``units`` ratings of at most 1 with this exact mean;
    empty if there are none. ``steps`` are the losses possible for a rating, positive and in rising order."""
    goal = round((1 - mean) * units, 6)

    def fill(rest: float, allowed: Sequence[float], room: int) -> list[Losses]:
        if abs(rest) < 1e-6:
            return [()]
        if rest < 0 or not room or not allowed:
            return []
        with_largest = fill(rest - allowed[-1], allowed, room - 1)
        return [(*tail, allowed[-1]) for tail in with_largest] + fill(rest, allowed[:-1], room)

    return fill(goal, tuple(steps), units)


def placements(losses: Sequence[Losses], units: int) -> set[Placement]:
    """Return all assignments of each rater's losses to ``units`` units, ignoring the order of units."""
    slots = min(units, sum(map(len, losses)))
    placed = {tuple((0.0,) * len(losses) for _ in range(slots))}
    for rater, lost in enumerate(losses):
        with_rater = set()
        for units_so_far in placed:
            for chosen in set(permutations(range(slots), len(lost))):
                rows = [list(unit) for unit in units_so_far]
                for slot, loss in zip(chosen, lost, strict=True):
                    rows[slot][rater] = loss
                with_rater.add(tuple(sorted(map(tuple, rows))))
        placed = with_rater
    return {tuple(unit for unit in placement if any(unit)) for placement in placed}


def tables_with(
    means: Sequence[Sequence[float]], units: int, shares: Mapping[float, int], touched: int
) -> list[FloatArray]:
    """Return every table of ratings (1 minus a loss) with the given means (groups x raters, exact), number of
    each loss, and units on which a rater takes points off. Shape (raters, groups x units); orders of units
    are not distinguished."""
    steps = sorted(shares)
    choices = [[losses_of(mean, units, steps) for mean in row] for row in means]
    seen: dict[Placement, None] = {}
    for picked in product(*(product(*row) for row in choices)):
        every = [loss for group in picked for lost in group for loss in lost]
        if any(every.count(loss) != number for loss, number in shares.items()):
            continue
        for parts in product(*(sorted(placements(group, units)) for group in picked)):
            rows = tuple(sorted(unit for part in parts for unit in part))
            if len(rows) == touched:
                seen.setdefault(rows)
    raters, total = len(means[0]), len(means) * units
    return [
        np.hstack([1 - np.array(rows).reshape(-1, raters).T, np.ones((raters, total - len(rows)))])
        for rows in seen
    ]


def possible_ratings(table1: pd.DataFrame, number: Mapping[str, int], touched: int) -> list[FloatArray]:
    """Return every table of coherence codes, shape (3 raters, descriptions), with Table 1's means and these
    numbers of minor and major errors on ``touched`` descriptions."""
    single = table1[(table1["metric"] == "Coherence") & (table1["evaluator"] != "Avg")]
    means = single.pivot_table(index="model", columns="evaluator", values="value", sort=False)
    losses = {0.5: number["minor"], 1.0: number["major"]}
    return tables_with(means.to_numpy().tolist(), 10, losses, touched)


def alpha_fits(possible: Sequence[FloatArray], printed: pd.Series) -> pd.DataFrame:
    """Return alpha of each possible table of ratings at each level of measurement, beside the printed ones.

    ``printed``: the printed alphas of coherence, by the raters that :data:`RATERS` names, all of them.
    Returns ``table`` (from 1), ``level``, an alpha for each of :data:`RATERS`, and :data:`FITTING`.
    """
    codes = [0.0, 0.5, 1.0]
    fits = pd.DataFrame(
        {
            "table": number,
            "level": level,
            **{
                name: krippendorff.alpha(table[list(who)], level_of_measurement=level, value_domain=codes)
                for name, who in RATERS.items()
            },
        }
        for number, table in enumerate(possible, start=1)
        for level in LEVELS
    )
    fits[FITTING] = ((fits[list(RATERS)] - printed.reindex(RATERS)).abs() <= _HALF).sum(axis=1)
    return fits


def farthest_off(fits: pd.DataFrame, printed: pd.Series) -> pd.Series:
    """Of each row of :func:`alpha_fits`, how far the alpha that misses its printed one most is off."""
    return (fits[list(RATERS)] - printed.reindex(RATERS)).abs().max(axis=1)


def _alphas_of_one(losses: FloatArray, descriptions: int, level: Level) -> FloatArray:
    """Return alpha of two raters on accuracy where one description alone lost some of it: for each pair of
    losses, one per rater. All other accuracies are 1."""

    def apart(first: FloatArray, second: FloatArray | float) -> FloatArray:
        return ((first - second) / (first + second if level == "ratio" else 1)) ** 2

    first, second = 1 - losses[:, None], 1 - losses
    rest, values = 2 * descriptions - 2, 2 * descriptions
    chance = 2 * (rest * (apart(first, 1) + apart(second, 1)) + apart(first, second))
    return 1 - apart(first, second) / descriptions * values * (values - 1) / chance


def one_description(printed: Mapping[str, str], descriptions: int) -> list[Check]:
    """Return whether the three printed agreements on accuracy are possible where one description alone has
    wrong facts, whatever accuracy each rater gave it, at the interval or the ratio level."""
    losses = np.arange(1, 200) / 200
    wanted = [float(printed[pair]) for pair in RATERS if pair != ALL]
    checks = {}
    for level in ("interval", "ratio"):
        alphas = _alphas_of_one(losses, descriptions, level)
        missed = np.maximum(
            np.abs(alphas - wanted[0])[:, :, None],
            np.maximum(np.abs(alphas - wanted[1])[:, None, :], np.abs(alphas - wanted[2])[None]),
        )
        first, two, three = np.unravel_index(missed.argmin(), missed.shape)
        closest = [alphas[first, two], alphas[first, three], alphas[two, three]]
        checks[f"{level} level"] = check_statement(
            "the three agreements on accuracy, if one description alone had wrong facts",
            ", ".join(printed[pair] for pair in RATERS if pair != ALL),
            f"closest {', '.join(f'{alpha:.2f}' for alpha in closest)}, over {descriptions} descriptions",
            bool(missed.min() <= _HALF),
        )
    return by_reading(checks)


RAW = {"R facts": "reference", "G facts": "generated", "G&R facts": "common", "G acc facts": "correct"}
DERIVED = {"Precision": "precision", "Recall": "recall", "F-Score": "f_score"}
"""Rows of the paper's Table 2 and the counts behind them; accuracy, almost always 1, is left out."""

REPORTS = 10
OVERLAPS = (0.60, 0.60, 0.45, 0.95)  # share of the reference that each simulated model copies
MIDDLE = 0.65  # granularity about which raters spread


def three_raters(spread: float) -> tuple[float, float, float]:
    """Return granularities of three raters, two finer and one coarser, that lie ``spread`` apart."""
    return MIDDLE + spread, MIDDLE + spread, MIDDLE - 2 * spread


def count_alphas(counted: Sequence[Sequence[FactCounts]]) -> dict[str, float]:
    """Return Krippendorff's alpha of each row of :data:`RAW` and :data:`DERIVED` over raters.

    ``counted``: one sequence of counts per rater, with the units in the same order; in every unit the two
    texts share at least one fact. Alpha is NaN if all ratings of a row are equal.
    """
    return {
        name: float(interval_alpha([[getattr(counts, field) for counts in rater] for rater in counted]))
        for name, field in (RAW | DERIVED).items()
    }


def divide(agreement: Mapping[str, float]) -> float:
    """Return lowest alpha of a ratio minus highest alpha of a count; positive where the claim holds."""
    return min(agreement[name] for name in DERIVED) - max(agreement[name] for name in RAW)


def like_systems(
    rng: np.random.Generator, spread: float, repeats: int, overlaps: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """Return the divide in each repetition for sets of systems, by the shares that these copy.

    Returns
    -------
    DataFrame
        Index the sets' names; ``mean`` divide and the share of repetitions if it is ``positive``.
    """
    rows = {}
    for name, shares in overlaps.items():
        texts = [draw_descriptions(rng, REPORTS, shares) for _ in range(repeats)]
        divides = [divide(count_alphas(count_facts(rng, drawn, three_raters(spread)))) for drawn in texts]
        rows[name] = {"mean": np.mean(divides), "positive": np.mean(np.array(divides) > 0)}
    return pd.DataFrame.from_dict(rows, orient="index")


def simulated_agreement(
    rng: np.random.Generator, spreads: Sequence[float], repeats: int, kinds: Mapping[str, str]
) -> pd.DataFrame:
    """Return alpha of three raters, in each repetition, for each difference in how finely they split facts.

    Returns ``spread``, ``metric`` (a row of Table 2), ``alpha``, ``kind``.
    """
    rows = []
    for _ in range(repeats):
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        for spread in spreads:
            alphas = count_alphas(count_facts(rng, texts, three_raters(spread)))
            rows += [(spread, name, alpha, kinds[name]) for name, alpha in alphas.items()]
    return pd.DataFrame(rows, columns=["spread", "metric", "alpha", "kind"])


DEPARTURES = {
    "shared passages are cut again in the second text": (
        "share of descriptions cut again",
        "recut",
        (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    ),
    "raters misjudge whether a fact is common": (
        "share of facts misjudged",
        "slips",
        (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
    ),
}
"""Departures from the mechanism: the unit of their steps, what changes in the raters, and the steps."""


def sweep(
    rng: np.random.Generator, departure: str, steps: Sequence[float], spread: float, repeats: int
) -> pd.DataFrame:
    """Return the ``divide`` in each repetition of each ``step`` of a departure, by raters whose granularities
    lie ``spread`` apart."""
    rows = []
    for step in tuple(steps) * repeats:
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        changed = {"alike": 1 - step} if departure == "recut" else {"slips": step}
        counted = count_facts(rng, texts, three_raters(spread), **changed)
        rows.append({"step": step, "divide": divide(count_alphas(counted))})
    return pd.DataFrame(rows)
