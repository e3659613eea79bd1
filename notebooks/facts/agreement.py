"""List the ratings that Tables 1 and 2 allow; simulate raters who count facts of different sizes.

Moramarco et al. (2021, Section 6.1) claim that raters who split a text into facts of different sizes disagree
on counts but agree on ratios. The *divide* is the lowest alpha of a ratio minus the highest alpha of a count;
the claim holds if the divide is positive.
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
Losses = tuple[float, ...]  # the losses of ratings, where a rating is 1 minus its loss
Placement = tuple[Losses, ...]  # for each unit with a loss, the losses of all raters
_HALF_UNIT = 0.005 + 1e-9  # half a unit of an alpha's last printed digit, with a floating-point tolerance


def check_among_pairs(table2: pd.DataFrame) -> list[Check]:
    """Return checks that the alpha of all three raters is between the lowest and the highest of the pairs.

    ``table2`` has the printed cells of Table 2. There is one check per metric, which takes the alphas of the
    pairs within their rounding.
    """
    checks = []
    for metric, rows in table2.groupby("metric", sort=False):
        pairs, all_raters = rows[rows["pair"] != ALL], rows[rows["pair"] == ALL].iloc[0]
        low, high = (pairs["value"] - pairs["half_width"]).min(), (pairs["value"] + pairs["half_width"]).max()
        of_pairs = Estimate(float(pairs["value"].mean()), float(low), float(high))
        key = Key("all three among the pairs", str(metric))
        checks.append(check_value(key, cell_in(all_raters), of_pairs))
    return checks


def list_losses(mean: float, units: int, steps: Sequence[float]) -> list[Losses]:
    """Return all combinations of losses that give ``units`` ratings this exact mean.

    A rating is 1 minus its loss. ``steps`` are the possible losses above 0, in rising order. A combination is
    a sorted tuple of the losses above 0, so it is empty for a mean of 1. The list is empty if no combination
    gives this mean.
    """
    total_loss = round((1 - mean) * units, 6)

    def split_loss(remaining: float, allowed: Sequence[float], ratings: int) -> list[Losses]:
        """Return all ways to divide a loss among at most ``ratings`` ratings with the allowed losses."""
        if abs(remaining) < 1e-6:
            return [()]
        if remaining < 0 or not ratings or not allowed:
            return []
        with_largest = split_loss(remaining - allowed[-1], allowed, ratings - 1)
        without_largest = split_loss(remaining, allowed[:-1], ratings)
        return [(*smaller, allowed[-1]) for smaller in with_largest] + without_largest

    return split_loss(total_loss, tuple(steps), units)


def place_losses(losses: Sequence[Losses], units: int) -> set[Placement]:
    """Return all ways to distribute the raters' losses over ``units`` units, ignoring the order of units.

    ``losses`` has the losses of each rater, at most one per unit. A placement has one entry for each unit
    with a loss: a tuple with the loss of each rater, 0 for raters without a loss.
    """
    n_slots = min(units, sum(map(len, losses)))
    placements = {tuple((0.0,) * len(losses) for _ in range(n_slots))}
    for rater, rater_losses in enumerate(losses):
        extended = set()
        for placement in placements:
            for slots in set(permutations(range(n_slots), len(rater_losses))):
                rows = [list(unit) for unit in placement]
                for slot, loss in zip(slots, rater_losses, strict=True):
                    rows[slot][rater] = loss
                extended.add(tuple(sorted(map(tuple, rows))))
        placements = extended
    return {tuple(unit for unit in placement if any(unit)) for placement in placements}


def list_rating_tables(
    means: Sequence[Sequence[float]], units: int, loss_counts: Mapping[float, int], units_with_loss: int
) -> list[FloatArray]:
    """Return all tables of ratings with these means and losses, where a rating is 1 minus its loss.

    Of tables that differ only in the order of units, only one is returned.

    Parameters
    ----------
    means : the exact mean of the ratings in each group of units (rows) by each rater (columns).
    units : the number of units in each group.
    loss_counts : a mapping from each loss to the number of ratings that have it.
    units_with_loss : the number of units to which at least one rater gives a loss.

    Returns
    -------
    list of ndarray
        One array of shape (raters, groups * units) per table, with units that have a loss first.
    """
    steps = sorted(loss_counts)
    candidates = [[list_losses(mean, units, steps) for mean in row] for row in means]
    distinct: dict[Placement, None] = {}
    for choice in product(*(product(*row) for row in candidates)):
        losses = [loss for group in choice for rater_losses in group for loss in rater_losses]
        if any(losses.count(loss) != count for loss, count in loss_counts.items()):
            continue
        for placements in product(*(sorted(place_losses(group, units)) for group in choice)):
            rows = tuple(sorted(unit for placement in placements for unit in placement))
            if len(rows) == units_with_loss:
                distinct.setdefault(rows)
    raters, total = len(means[0]), len(means) * units
    return [
        np.hstack([1 - np.array(rows).reshape(-1, raters).T, np.ones((raters, total - len(rows)))])
        for rows in distinct
    ]


def list_code_tables(table1: pd.DataFrame, errors: Mapping[str, int], incoherent: int) -> list[FloatArray]:
    """Return all tables of coherence codes (1, 0.5 or 0) that fit the printed means and error counts.

    Parameters
    ----------
    table1 : the printed cells of Table 1, with the mean code of each model and rater.
    errors : the printed numbers of errors: ``minor`` (code 0.5) and ``major`` (code 0).
    incoherent : the number of descriptions in which at least one rater marked an error.

    Returns
    -------
    list of ndarray
        One array of shape (3 raters, descriptions) per table.
    """
    cells = table1[(table1["metric"] == "Coherence") & (table1["evaluator"] != "Avg")]
    means = cells.pivot_table(index="model", columns="evaluator", values="value", sort=False)
    loss_counts = {0.5: errors["minor"], 1.0: errors["major"]}
    return list_rating_tables(means.to_numpy().tolist(), 10, loss_counts, incoherent)


def compute_alphas(possible: Sequence[FloatArray], printed: pd.Series) -> pd.DataFrame:
    """Return Krippendorff's alphas of each possible table of ratings at each level of measurement.

    ``printed`` has the printed alphas of coherence, indexed by the keys of :data:`RATERS`. The result has one
    row per table and level, with columns ``table`` (its number, from 1), ``level``, the alpha of each key of
    :data:`RATERS`, and :data:`FITTING`, the number of alphas in the row that round to the printed ones.
    """
    codes = [0.0, 0.5, 1.0]
    fits = pd.DataFrame(
        {
            "table": number,
            "level": level,
            **{
                name: krippendorff.alpha(table[list(rows)], level_of_measurement=level, value_domain=codes)
                for name, rows in RATERS.items()
            },
        }
        for number, table in enumerate(possible, start=1)
        for level in LEVELS
    )
    fits[FITTING] = ((fits[list(RATERS)] - printed.reindex(RATERS)).abs() <= _HALF_UNIT).sum(axis=1)
    return fits


def find_largest_distances(fits: pd.DataFrame, printed: pd.Series) -> pd.Series:
    """Return, for each row of ``fits``, the largest distance between an alpha and its printed value.

    ``fits`` is the table that :func:`compute_alphas` returned; ``printed`` has the printed alphas, indexed by
    the keys of :data:`RATERS`.
    """
    return (fits[list(RATERS)] - printed.reindex(RATERS)).abs().max(axis=1)


def _compute_alphas_with_one_loss(losses: FloatArray, descriptions: int, level: Level) -> FloatArray:
    """Return Krippendorff's alpha of two raters on accuracy if all descriptions but one have accuracy 1.

    In the array returned, of shape (len(losses), len(losses)), the element [i, j] is the alpha if the first
    rater gives the remaining description 1 - losses[i] and the second gives it 1 - losses[j].
    """

    def compute_distance(first: FloatArray, second: FloatArray | float) -> FloatArray:
        return ((first - second) / (first + second if level == "ratio" else 1)) ** 2

    first, second = 1 - losses[:, None], 1 - losses
    n_ones, n_ratings, distance = 2 * descriptions - 2, 2 * descriptions, compute_distance(first, second)
    by_chance = 2 * (n_ones * (compute_distance(first, 1) + compute_distance(second, 1)) + distance)
    return 1 - distance / descriptions * n_ratings * (n_ratings - 1) / by_chance


def check_one_description(printed: Mapping[str, str], descriptions: int) -> list[Check]:
    """Return checks of whether the printed alphas of accuracy allow wrong facts in only one description.

    For this description, all accuracies from 0.005 to 0.995 in steps of 0.005 are tried for each of the three
    raters. The interval and the ratio level are two readings of one statement.

    Parameters
    ----------
    printed : a mapping from each pair of raters (a key of :data:`RATERS`) to its printed alpha.
    descriptions : the number of descriptions that the raters rated.
    """
    losses = np.arange(1, 200) / 200
    targets = [float(printed[pair]) for pair in RATERS if pair != ALL]
    checks = {}
    for level in ("interval", "ratio"):
        alphas = _compute_alphas_with_one_loss(losses, descriptions, level)
        # For each choice of the three raters' losses, the largest distance from a printed alpha.
        distances = np.maximum(
            np.abs(alphas - targets[0])[:, :, None],
            np.maximum(np.abs(alphas - targets[1])[:, None, :], np.abs(alphas - targets[2])[None]),
        )
        one, two, three = np.unravel_index(distances.argmin(), distances.shape)
        closest = [alphas[one, two], alphas[one, three], alphas[two, three]]
        checks[f"{level} level"] = check_statement(
            "the three agreements on accuracy, if one description alone had wrong facts",
            ", ".join(printed[pair] for pair in RATERS if pair != ALL),
            f"closest {', '.join(f'{alpha:.2f}' for alpha in closest)}, over {descriptions} descriptions",
            bool(distances.min() <= _HALF_UNIT),
        )
    return by_reading(checks)


# The rows of the paper's Table 2, with the attribute of FactCounts for each. Accuracy is left out, because it
# is almost always 1 in simulations.
RAW = {"R facts": "reference", "G facts": "generated", "G&R facts": "common", "G acc facts": "correct"}
DERIVED = {"Precision": "precision", "Recall": "recall", "F-Score": "f_score"}

REPORTS = 10
OVERLAPS = (0.60, 0.60, 0.45, 0.95)  # share of the reference that each simulated system copies
MEAN_GRANULARITY = 0.65  # mean probability that a simulated rater starts a new fact at a boundary


def spread_granularities(spread: float) -> tuple[float, float, float]:
    """Return the granularities of three raters, with the mean :data:`MEAN_GRANULARITY`.

    A rater's granularity is the probability of starting a new fact at a boundary between statements. It is
    ``spread`` above the mean for two raters, and twice ``spread`` below it for the third.
    """
    return MEAN_GRANULARITY + spread, MEAN_GRANULARITY + spread, MEAN_GRANULARITY - 2 * spread


def measure_agreement(counts_by_rater: Sequence[Sequence[FactCounts]]) -> dict[str, float]:
    """Return Krippendorff's alpha (interval level) for each key of :data:`RAW` and :data:`DERIVED`.

    ``counts_by_rater`` has one sequence of counts per rater, with the descriptions in the same order. An
    alpha is NaN if all its values are equal or, for a ratio, if a rater counts no fact in a description or in
    its reference.
    """
    return {
        name: float(
            interval_alpha([[getattr(counts, field) for counts in rater] for rater in counts_by_rater])
        )
        for name, field in (RAW | DERIVED).items()
    }


def compute_divide(alphas: Mapping[str, float]) -> float:
    """Return the lowest alpha of a ratio minus the highest alpha of a count; the claim expects more than 0.

    ``alphas`` maps the keys of :data:`RAW` and :data:`DERIVED` to alphas.
    """
    return min(alphas[name] for name in DERIVED) - max(alphas[name] for name in RAW)


def simulate_systems(
    rng: np.random.Generator, spread: float, repeats: int, overlaps: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """Return simulated divides (:func:`compute_divide`) for sets of systems that copy different shares.

    Parameters
    ----------
    rng : the generator of descriptions and counts.
    spread : the spread of the raters' granularities (:func:`spread_granularities`).
    repeats : the number of repetitions.
    overlaps : a mapping from the name of each set to the share (0 to 1) of the reference that each of its
        systems copies.

    Returns
    -------
    DataFrame
        One row per set, indexed by name. ``mean`` is the mean divide over the repetitions, ``positive`` the
        share of repetitions with a divide above 0.
    """
    rows = {}
    for name, shares in overlaps.items():
        repetitions = [draw_descriptions(rng, REPORTS, shares) for _ in range(repeats)]
        granularities = spread_granularities(spread)
        divides = [
            compute_divide(measure_agreement(count_facts(rng, texts, granularities))) for texts in repetitions
        ]
        rows[name] = {"mean": np.mean(divides), "positive": np.mean(np.array(divides) > 0)}
    return pd.DataFrame.from_dict(rows, orient="index")


def simulate_spreads(
    rng: np.random.Generator, spreads: Sequence[float], repeats: int, kinds: Mapping[str, str]
) -> pd.DataFrame:
    """Return simulated alphas of three raters for each spread of their granularities, in each repetition.

    Parameters
    ----------
    rng : the generator of descriptions and counts.
    spreads : spreads of the raters' granularities (:func:`spread_granularities`).
    repeats : the number of repetitions.
    kinds : a mapping from each metric to its kind, such as ``derived metric``.

    Returns
    -------
    DataFrame
        One row per repetition, spread and metric, with columns ``spread``, ``metric`` (a row of Table 2),
        ``alpha`` and ``kind``.
    """
    rows = []
    for _ in range(repeats):
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        for spread in spreads:
            alphas = measure_agreement(count_facts(rng, texts, spread_granularities(spread)))
            rows += [(spread, name, alpha, kinds[name]) for name, alpha in alphas.items()]
    return pd.DataFrame(rows, columns=["spread", "metric", "alpha", "kind"])


# Departures from the paper's explanation; each has the label of its steps, its kind, and the steps.
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


def simulate_departure(
    rng: np.random.Generator, departure: str, steps: Sequence[float], spread: float, repeats: int
) -> pd.DataFrame:
    """Return simulated divides (:func:`compute_divide`) for each step of a departure.

    Parameters
    ----------
    rng : the generator of descriptions and counts.
    departure : ``recut`` or ``slips``, a kind in :data:`DEPARTURES`.
    steps : shares from 0 to 1.
    spread : the spread of the raters' granularities (:func:`spread_granularities`).
    repeats : the number of repetitions.

    Returns
    -------
    DataFrame
        One row per step and repetition, with columns ``step`` and ``divide``.
    """
    rows = []
    for step in tuple(steps) * repeats:
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        options = {"consistency": 1 - step} if departure == "recut" else {"slips": step}
        counts = count_facts(rng, texts, spread_granularities(spread), **options)
        rows.append({"step": step, "divide": compute_divide(measure_agreement(counts))})
    return pd.DataFrame(rows)
