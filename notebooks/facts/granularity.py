"""Simulated raters who count at different levels of detail.

The claim: raters who cut a text into facts of different sizes disagree on counts and agree on ratios
(Moramarco et al. 2021, Section 6.1). The divide is how far the least agreed ratio lies above the best agreed
count; the claim holds where it is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.data.fact_raters import count_facts, draw_descriptions
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.measures import FactCounts

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

    ``counted``: the raters' counts, one list a rater, in the same order of units, each with a fact in both
    texts.
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
        Index the sets' names; ``mean`` divide and the share of repetitions where it is ``positive``.
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
    """Return alpha of three raters who split facts differently, by how differently, in each repetition.

    Returns ``spread``, ``metric`` (a row of Table 2), ``alpha``, ``kind``.
    """
    rows = []
    for _ in range(repeats):
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        for spread in spreads:
            found = count_alphas(count_facts(rng, texts, three_raters(spread)))
            rows += [(spread, name, alpha, kinds[name]) for name, alpha in found.items()]
    return pd.DataFrame(rows, columns=["spread", "metric", "alpha", "kind"])


@dataclass(frozen=True)
class Departure:
    """One departure from the mechanism: what each of its steps changes in the raters."""

    name: str
    unit: str
    steps: tuple[float, ...]
    raters: Callable[[float], dict[str, float]]


DEPARTURES = (
    Departure(
        "shared passages are cut again in the second text",
        "share of descriptions cut again",
        (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        lambda step: {"alike": 1 - step},
    ),
    Departure(
        "raters misjudge whether a fact is common",
        "share of facts misjudged",
        (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
        lambda step: {"slips": step},
    ),
)


def sweep(rng: np.random.Generator, departure: Departure, spread: float, repeats: int) -> pd.DataFrame:
    """Return agreement in each repetition of each step of raters whose granularities lie ``spread`` apart.

    Returns ``step``, an alpha for each row of :data:`RAW` and :data:`DERIVED`, and ``divide``.
    """
    rows = []
    for step in departure.steps * repeats:
        texts = draw_descriptions(rng, REPORTS, OVERLAPS)
        found = count_alphas(count_facts(rng, texts, three_raters(spread), **departure.raters(step)))
        rows.append({"step": step, **found, "divide": divide(found)})
    return pd.DataFrame(rows)
