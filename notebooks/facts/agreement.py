"""Recover the ratings that Tables 1 and 2 allow; simulate raters who count facts of different sizes.

The claim (Moramarco et al. 2021, Section 6.1): raters who split a text into facts of different sizes disagree
on counts but agree on ratios. The *divide* is the lowest alpha of a ratio minus the highest alpha of a count;
the claim holds if it is positive.
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
Losses = tuple[float, ...]  # points that ratings lose, each rating being 1 minus its loss
Placement = tuple[Losses, ...]  # for each unit with a loss, the losses of all raters
_HALF_UNIT = 0.005 + 1e-9  # half a unit of the last printed digit of an alpha, with room for rounding errors


def check_among_pairs(table2: pd.DataFrame) -> list[Check]:
    """Return a check for each row of Table 2: the alpha of all three raters lies among those of the pairs.

    The compared number is the alpha of all three; the pairs' alphas are taken as printed.
    """
    checks = []
    for metric, rows in table2.groupby("metric", sort=False):
        pairs, whole = rows[rows["pair"] != ALL], rows[rows["pair"] == ALL].iloc[0]
        low, high = (pairs["value"] - pairs["half_width"]).min(), (pairs["value"] + pairs["half_width"]).max()
        among = Estimate(float(pairs["value"].mean()), float(low), float(high))
        key = Key("all three among the pairs", str(metric))
        checks.append(check_value(key, cell_in(whole), among))
    return checks


def list_losses(mean: float, units: int, steps: Sequence[float]) -> list[Losses]:
    """Return all combinations of losses with which ``units`` ratings have this exact mean.

    A rating is 1, or 1 minus its loss. A combination is a sorted tuple with one loss for each rating that has
    one; it is empty for a mean of 1. ``steps`` are the possible losses, positive and in rising order. The
    list is empty if no combination has this mean.
    """
    total_loss = round((1 - mean) * units, 6)

    def complete(loss_left: float, allowed: Sequence[float], ratings_left: int) -> list[Losses]:
        if abs(loss_left) < 1e-6:
            return [()]
        if loss_left < 0 or not ratings_left or not allowed:
            return []
        with_largest = complete(loss_left - allowed[-1], allowed, ratings_left - 1)
        without_largest = complete(loss_left, allowed[:-1], ratings_left)
        return [(*smaller, allowed[-1]) for smaller in with_largest] + without_largest

    return complete(total_loss, tuple(steps), units)


def place_losses(losses: Sequence[Losses], units: int) -> set[Placement]:
    """Return all ways to distribute each rater's losses over ``units`` units, ignoring the order of units.

    A way is a tuple with one entry for each unit that has a loss: the losses of all raters there, 0 for a
    rater without one. ``losses`` has the losses of each rater, who has at most one per unit.
    """
    slots = min(units, sum(map(len, losses)))
    placed = {tuple((0.0,) * len(losses) for _ in range(slots))}
    for rater, rater_losses in enumerate(losses):
        with_rater = set()
        for placement in placed:
            for chosen_slots in set(permutations(range(slots), len(rater_losses))):
                rows = [list(unit) for unit in placement]
                for slot, loss in zip(chosen_slots, rater_losses, strict=True):
                    rows[slot][rater] = loss
                with_rater.add(tuple(sorted(map(tuple, rows))))
        placed = with_rater
    return {tuple(unit for unit in placement if any(unit)) for placement in placed}


def list_rating_tables(
    means: Sequence[Sequence[float]], units: int, loss_counts: Mapping[float, int], units_with_loss: int
) -> list[FloatArray]:
    """Return all tables of ratings with these means and losses; a rating is 1 minus its loss.

    Tables that differ only in the order of units count once.

    Parameters
    ----------
    means : the exact mean of each group of units (rows) and rater (columns).
    units : number of units in each group.
    loss_counts : the number of times that each loss occurs in the table.
    units_with_loss : number of units on which some rater has a loss.

    Returns
    -------
    list of ndarray
        float64 of shape (raters, groups x units), first the units with a loss.
    """
    steps = sorted(loss_counts)
    choices = [[list_losses(mean, units, steps) for mean in row] for row in means]
    distinct: dict[Placement, None] = {}
    for choice in product(*(product(*row) for row in choices)):
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


def list_coherence_tables(table1: pd.DataFrame, number: Mapping[str, int], not_coherent: int) -> list[FloatArray]:
    """Return all tables of coherence codes (1, 0.5 or 0) that fit the printed means and shares.

    The shape of each is (3 raters, descriptions). ``table1`` has the printed means; ``number`` has the
    printed numbers of errors under ``minor`` (code 0.5) and ``major`` (code 0); ``not_coherent`` is the
    number of descriptions in which some rater marked an error.
    """
    single = table1[(table1["metric"] == "Coherence") & (table1["evaluator"] != "Avg")]
    means = single.pivot_table(index="model", columns="evaluator", values="value", sort=False)
    loss_counts = {0.5: number["minor"], 1.0: number["major"]}
    return list_rating_tables(means.to_numpy().tolist(), 10, loss_counts, not_coherent)


def compute_alphas(possible: Sequence[FloatArray], printed: pd.Series) -> pd.DataFrame:
    """Return Krippendorff's alphas of each possible table of ratings at each level of measurement.

    ``printed`` has the printed alphas of coherence by the names in :data:`RATERS`. The columns are ``table``
    (a number from 1), ``level``, one alpha for each of :data:`RATERS`, and :data:`FITTING`, the number of
    these that round to the printed ones.
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
    fits[FITTING] = ((fits[list(RATERS)] - printed.reindex(RATERS)).abs() <= _HALF_UNIT).sum(axis=1)
    return fits


def find_largest_distances(fits: pd.DataFrame, printed: pd.Series) -> pd.Series:
    """Return, for each row of :func:`compute_alphas`, the largest distance of its alphas from the printed
    ones.

    ``printed`` is as in :func:`compute_alphas`.
    """
    return (fits[list(RATERS)] - printed.reindex(RATERS)).abs().max(axis=1)


def _compute_alphas_with_one_loss(losses: FloatArray, descriptions: int, level: Level) -> FloatArray:
    """Return Krippendorff's alpha of two raters on accuracy if all descriptions but one have accuracy 1.

    The element [i, j] is alpha if the first rater gives that description 1 - losses[i], the second
    1 - losses[j].
    """

    def distance(first: FloatArray, second: FloatArray | float) -> FloatArray:
        return ((first - second) / (first + second if level == "ratio" else 1)) ** 2

    first, second = 1 - losses[:, None], 1 - losses
    ones, values = 2 * descriptions - 2, 2 * descriptions
    by_chance = 2 * (ones * (distance(first, 1) + distance(second, 1)) + distance(first, second))
    return 1 - distance(first, second) / descriptions * values * (values - 1) / by_chance


def check_one_description(printed: Mapping[str, str], descriptions: int) -> list[Check]:
    """Return a check of whether the printed alphas of accuracy allow wrong facts in only one description.

    For this description, all accuracies below 1 in steps of 0.005 are tried for each of the three raters, at
    the interval and at the ratio level; the two levels are readings of one statement. ``printed`` has the
    alphas by the pairs in :data:`RATERS`.
    """
    losses = np.arange(1, 200) / 200
    targets = [float(printed[pair]) for pair in RATERS if pair != ALL]
    checks = {}
    for level in ("interval", "ratio"):
        alphas = _compute_alphas_with_one_loss(losses, descriptions, level)
        # The largest distance from a printed alpha, for each choice of the three raters' losses.
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


# Rows of the paper's Table 2, with the attribute of FactCounts for each. Accuracy is left out, because it is
# almost always 1 here.
RAW = {"R facts": "reference", "G facts": "generated", "G&R facts": "common", "G acc facts": "correct"}
DERIVED = {"Precision": "precision", "Recall": "recall", "F-Score": "f_score"}

REPORTS = 10
OVERLAPS = (0.60, 0.60, 0.45, 0.95)  # share of the reference that each simulated model copies
MEAN_GRANULARITY = 0.65  # of the three simulated raters


def spread_granularities(spread: float) -> tuple[float, float, float]:
    """Return the granularities of three raters: 0.65 + ``spread`` for two, 0.65 - 2 ``spread`` for the third.

    Their mean is :data:`MEAN_GRANULARITY`.
    """
    return MEAN_GRANULARITY + spread, MEAN_GRANULARITY + spread, MEAN_GRANULARITY - 2 * spread


def measure_agreement(counts_by_rater: Sequence[Sequence[FactCounts]]) -> dict[str, float]:
    """Return Krippendorff's alpha (interval level) for each row of :data:`RAW` and :data:`DERIVED`.

    ``counts_by_rater`` has one sequence of counts per rater, with the descriptions in the same order. In each
    description, the two texts must share at least one fact. Alpha is NaN if all values of a row are equal.
    """
    return {
        name: float(
            interval_alpha([[getattr(counts, field) for counts in rater] for rater in counts_by_rater])
        )
        for name, field in (RAW | DERIVED).items()
    }


def compute_divide(alphas: Mapping[str, float]) -> float:
    """Return the lowest alpha of a ratio minus the highest alpha of a count; the claim expects more than 0.

    ``alphas`` has the rows of :data:`RAW` and :data:`DERIVED`, as from :func:`measure_agreement`.
    """
    return min(alphas[name] for name in DERIVED) - max(alphas[name] for name in RAW)


def simulate_systems(
    rng: np.random.Generator, spread: float, repeats: int, overlaps: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """Return the simulated divide for sets of systems that copy different shares of the reference.

    Parameters
    ----------
    spread : of the raters' granularities (:func:`spread_granularities`).
    repeats : the number of repetitions.
    overlaps : by name of the set, the share of the reference that each of its systems copies, 0 to 1.

    Returns
    -------
    DataFrame
        Index: the names of the sets. ``mean`` is the mean divide over the repetitions, ``positive`` the share
        of repetitions with a divide above 0.
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

    Columns are ``spread``, ``metric`` (a row of Table 2), ``alpha``, and ``kind``. ``kinds`` has the kind of
    each metric by its name.
    """
    rows = []
    for _ in range(repeats):
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        for spread in spreads:
            alphas = measure_agreement(count_facts(rng, texts, spread_granularities(spread)))
            rows += [(spread, name, alpha, kinds[name]) for name, alpha in alphas.items()]
    return pd.DataFrame(rows, columns=["spread", "metric", "alpha", "kind"])


# Departures from the paper's explanation: the label of their steps, the kind of departure, and the steps.
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
    """Return the simulated divide for each step of a departure, one row per step and repetition.

    Columns are ``step`` and ``divide``. ``departure`` is ``recut`` or ``slips``, as in :data:`DEPARTURES`;
    ``steps`` are from 0 to 1; ``spread`` is as in :func:`spread_granularities`.
    """
    rows = []
    for step in tuple(steps) * repeats:
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        changed = {"consistency": 1 - step} if departure == "recut" else {"slips": step}
        counted = count_facts(rng, texts, spread_granularities(spread), **changed)
        rows.append({"step": step, "divide": compute_divide(measure_agreement(counted))})
    return pd.DataFrame(rows)
