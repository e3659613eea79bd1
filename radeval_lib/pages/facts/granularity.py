"""Counts against ratios made of them: agreement of simulated raters who count at different levels of detail.

The claim: raters who cut a text into facts of different sizes disagree on counts and agree on ratios
(Moramarco et al. 2021, Section 6.1). The divide is how far the least agreed ratio lies above the best agreed
count; the claim holds where it is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.fact_counts import FactCounts
from radeval_lib.synthetic.fact_raters import Description, count_facts, draw_descriptions

RAW = {"R facts": "reference", "G facts": "generated", "G&R facts": "common", "G acc facts": "correct"}
DERIVED = {"Precision": "precision", "Recall": "recall", "F-Score": "f_score"}
FIELDS = {**RAW, **DERIVED}
"""Rows of the paper's Table 2 and the counts behind them; accuracy, almost always 1, is left out."""

OVERLAPS = (0.60, 0.60, 0.45, 0.95)  # share of the reference that each simulated model copies
MIDDLE = 0.65  # granularity about which raters spread


def three_raters(spread: float) -> tuple[float, float, float]:
    """Granularities of three raters, two finer and one coarser, that lie ``spread`` apart."""
    return MIDDLE + spread, MIDDLE + spread, MIDDLE - 2 * spread


def alphas(counted: Sequence[Sequence[FactCounts]]) -> dict[str, float]:
    """Krippendorff's alpha of each row of :data:`FIELDS` over raters; units where a rater has no value are
    left out.

    Parameters
    ----------
    counted : the raters' counts, one list a rater, in the same order of units.
    """
    found = {}
    for name, field in FIELDS.items():
        table = np.array(
            [[getattr(counts, field) for counts in rater] for rater in counted], dtype=np.float64
        )
        table = table[:, np.isfinite(table).all(axis=0)]
        found[name] = float(interval_alpha(table)) if table.shape[1] else float("nan")
    return found


def ratio_count_gap(agreement: Mapping[str, float]) -> float:
    """Lowest alpha of a ratio minus highest alpha of a count; positive where the claim holds."""
    return min(agreement[name] for name in DERIVED) - max(agreement[name] for name in RAW)


@dataclass(frozen=True)
class Scenario:
    """One departure from the mechanism, in steps."""

    name: str
    unit: str
    steps: tuple[float, ...]
    texts: Callable[[np.random.Generator, float], list[Description]]
    alike: Callable[[float], float] = lambda step: 1.0
    slips: Callable[[float], float] = lambda step: 0.0


def _usual(rng: np.random.Generator, step: float) -> list[Description]:
    return draw_descriptions(rng, 10, OVERLAPS)


def scenarios() -> list[Scenario]:
    """Four ways in which real counting departs from the mechanism that the paper names."""
    return [
        Scenario(
            "shared passages are cut anew in the second text",
            "share of descriptions cut anew",
            (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
            _usual,
            alike=lambda step: 1 - step,
        ),
        Scenario(
            "raters misjudge whether a fact is common",
            "share of facts misjudged",
            (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
            _usual,
            slips=lambda step: step,
        ),
        Scenario(
            "texts are shorter",
            "statements in the longest reference",
            (9, 7, 5, 4, 3, 2),
            lambda rng, step: draw_descriptions(
                rng, 10, OVERLAPS, lengths=(max(1, int(step) // 3), int(step)), own=(0, max(1, int(step) - 2))
            ),
        ),
        Scenario(
            "all models are equally good",
            "models alike: 0 as in the paper, 1 all alike",
            (0.0, 0.25, 0.5, 0.75, 1.0),
            lambda rng, step: draw_descriptions(
                rng,
                10,
                [overlap + step * (0.95 - overlap) for overlap in OVERLAPS],
                own=(0, max(1, round(7 * (1 - step)))),
            ),
        ),
    ]


def sweep(
    rng: np.random.Generator, scenario: Scenario, spread: float, repeats: int, slips: float = 0.0
) -> pd.DataFrame:
    """Agreement in each repetition of each step.

    Parameters
    ----------
    spread : how far the raters' granularities lie apart.
    slips : of every step, beside the scenario's own.

    Returns
    -------
    DataFrame
        ``scenario``, ``step``, ``repeat``, an alpha for each row of :data:`FIELDS`, and ``divide``.
    """
    return pd.DataFrame(_sweep(rng, scenario, spread, repeats, slips))


def _sweep(
    rng: np.random.Generator, scenario: Scenario, spread: float, repeats: int, slips: float
) -> Iterator[dict[str, object]]:
    for repeat in range(repeats):
        for step in scenario.steps:
            texts = scenario.texts(rng, step)
            counted = count_facts(
                rng,
                texts,
                three_raters(spread),
                alike=scenario.alike(step),
                slips=max(slips, scenario.slips(step)),
            )
            found = alphas(counted)
            yield {
                "scenario": scenario.name,
                "step": step,
                "repeat": repeat,
                **found,
                "divide": ratio_count_gap(found),
            }


def holds_until(frame: pd.DataFrame) -> float | None:
    """The last step, in the order of the frame, up to which the mean divide is positive; None where it is
    not positive even at the first."""
    mean = frame.groupby("step", sort=False)["divide"].mean()
    last = None
    for step, value in mean.items():
        if not value > 0:
            break
        last = float(step)
    return last


def where_it_stops(frame: pd.DataFrame, unit: str) -> str:
    """One sentence on how far the claim holds along the steps of one scenario."""
    steps = list(frame["step"].drop_duplicates())
    last = holds_until(frame)
    if last is None:
        return f"The claim does not hold even at {steps[0]:g} ({unit})."
    if last == steps[-1]:
        return f"The claim holds at every step, up to {last:g} ({unit})."
    return f"The claim holds up to {last:g} and fails at {steps[steps.index(last) + 1]:g} ({unit})."


def limits(tried: Sequence[Scenario], departures: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """How far the mean divide stays positive along each departure.

    Returns
    -------
    DataFrame
        ``departure``, ``counted in``, ``holds up to``, ``fails at``; missing where it never holds, or never
        fails.
    """
    rows = []
    for scenario, frame in zip(tried, departures, strict=True):
        steps, last = list(frame["step"].drop_duplicates()), holds_until(frame)
        after = 0 if last is None else steps.index(last) + 1
        fails = steps[after] if after < len(steps) else None
        rows.append((scenario.name, scenario.unit, last, fails))
    return pd.DataFrame(rows, columns=["departure", "counted in", "holds up to", "fails at"])
