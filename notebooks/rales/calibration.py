"""The page on calibration: measures of a classifier of known calibration, and the values of Table 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import e, log

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from scipy.special import softmax

from radeval_lib import plots, study
from radeval_lib.papers.printed_numbers import Printed, wide
from radeval_lib.stats import calibration
from radeval_lib.stats.calibration_draws import known_classifier
from radeval_lib.study.checks import Check
from radeval_lib.study.printed_leads import lead_of_shares


def at_three_temperatures(rng: np.random.Generator) -> pd.DataFrame:
    """Measures of :func:`known_classifier` as it is, sharpened and flattened."""
    logits, labels = known_classifier(rng)
    temperatures = {"calibrated": 1.0, "too sure": 0.5, "not sure enough": 2.0}
    made_up = {name: softmax(logits / temperature, axis=1) for name, temperature in temperatures.items()}
    shown = {"accuracy": "accuracy", "ECE": "ECE", "SCE": "SCE", "WMC": "WMC", "aPE": "aPE"}
    shown |= {"KL(p || U)": "aKLU, KL(p || U)", "KL(U || p)": "aKLU, KL(U || p)"}
    measured = pd.DataFrame({name: calibration.measures(p, labels) for name, p in made_up.items()}).T
    return measured[list(shown)].rename(columns=shown)


def alike(values: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs of rows that are the same in every column."""
    return [(a, b) for a, b in combinations(values.index, 2) if (values.loc[a] == values.loc[b]).all()]


def off_by_every_logarithm(values: pd.DataFrame, classes: float) -> pd.Series:
    """Which models' ``aKLU`` is not log K - ``aPE``, by more than the rounding of both (three decimals),
    whether logarithms are natural or to base 2."""
    sums = values["aKLU"] + values["aPE"]
    off = [(sums - log(classes, base)).abs() > 0.001 for base in (e, 2)]
    return off[0] & off[1]


_BIG, _SMALL = "GatorTron", "ELECTRA_small"
_PLACES = [
    ("accuracy", _BIG, "highest", "highest accuracy"),
    ("ECE", _SMALL, "lowest", "best calibration"),
    ("SCE", _SMALL, "lowest", "best calibration"),
    ("aPE", _SMALL, "lowest", "best uncertainty (lowest)"),
    ("aKLU", _SMALL, "highest", "best discriminative score (highest)"),
    ("accuracy", _SMALL, "lowest", "lowest accuracy"),
    ("WMC", _BIG, "highest", "best WMC"),
    ("WMC", _SMALL, "lowest", "worst WMC"),
]  # as the paper lists them


def places(cells: Mapping[str, Mapping[str, Printed]], documents: int) -> list[Check]:
    """Whether the models that the paper names have the lowest and highest values, by metric and model; of the
    accuracy, a share of ``documents``, also whether the lead is more than chance."""
    checks = []
    for metric, model, place, claim in _PLACES:
        by_model, leads, lowest = cells[metric], None, place == "lowest"
        if metric == "accuracy":
            right = {name: round(cell.value / 100 * documents) for name, cell in by_model.items()}
            own = right.pop(model)
            leads = {
                name: lead_of_shares(*((other, own) if lowest else (own, other)), documents)
                for name, other in right.items()
            }
        settings = {"first": model, "leads": leads, "lower_is_better": lowest}
        checks += study.check_superiority(
            study.Key(f"{place} of all models", model, metric), claim, by_model, **settings
        )
    return checks


def draw_aklu(table7: pd.DataFrame, most: float, labelled: Sequence[str]) -> Axes:
    """Printed aKLU against printed aPE, with the line of KL(p || U) and its maximum ``most``."""
    values = wide(table7, "model", "metric")
    _, ax = plots.panels(1, 1, 4.2)
    sns.scatterplot(values, x="aPE", y="aKLU", s=50, ax=ax)
    ends = np.array([0.95, 1.35])
    ax.plot(ends, most - ends, color=plots.PALETTE[1], label="log 46 − aPE")
    ax.axhline(most, color="#4D4D4D", linestyle="--", linewidth=1, label="log 46, the maximum of KL(p || U)")
    for model in labelled:
        place = values.loc[model, ["aPE", "aKLU"]]
        plots.label_point(ax, str(model), tuple(place), (8, 4))
    ax.set(xlabel="aPE, as printed", ylabel="aKLU, as printed", xlim=(0.95, 1.35))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1))
    return ax
