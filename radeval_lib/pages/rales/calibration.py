"""The page on calibration: a classifier of known calibration, and what Table 7's ranks allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import e, log

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import rankdata

from radeval_lib import plots, study
from radeval_lib.pages.rales.printed_scores import GENERAL, models
from radeval_lib.pages.rales.rank_tests import mann_whitney
from radeval_lib.papers.printed_numbers import Printed, wide
from radeval_lib.stats import calibration
from radeval_lib.stats.printed import rank_range
from radeval_lib.study.checks import Check
from radeval_lib.study.printed_leads import lead_of_shares

ARROWS = {"ECE": "lower", "SCE": "lower", "aPE": "lower", "WMC": "higher", "aKLU": "higher"}
"""Which way is better, by the arrows in the head of Table 7."""


def known_classifier(
    rng: np.random.Generator, documents: int = 20_000, classes: int = 46
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Logits, shape (documents, classes), and labels drawn from the very probabilities that they give."""
    logits = 4 * rng.standard_normal((documents, classes))
    drawn = rng.random((documents, 1))
    below = (softmax(logits, axis=1).cumsum(axis=1) < drawn).sum(axis=1)
    return logits, np.minimum(below, classes - 1)


def at_three_temperatures(rng: np.random.Generator) -> pd.DataFrame:
    """Measures of :func:`known_classifier` as it is, sharpened and flattened."""
    logits, labels = known_classifier(rng)
    temperatures = {"calibrated": 1.0, "too sure": 0.5, "not sure enough": 2.0}
    made_up = {name: softmax(logits / temperature, axis=1) for name, temperature in temperatures.items()}
    shown = {"accuracy": "accuracy", "ECE": "ECE", "SCE": "SCE", "WMC": "WMC", "aPE": "aPE"}
    shown |= {"KL(p || U)": "aKLU, KL(p || U)", "KL(U || p)": "aKLU, KL(U || p)"}
    measured = pd.DataFrame({name: calibration.measures(p, labels) for name, p in made_up.items()}).T
    return measured[list(shown)].rename(columns=shown)


def _two_domains(ranks: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of biomedical models, and those of general ones."""
    domain = models().set_index("model")["domain"].reindex(ranks.index)
    return [ranks[domain == wanted] for wanted in ("Biomedical", GENERAL)]


def compared_models(ranks: pd.DataFrame) -> int:
    """How many models :func:`domains_compared` tests; rows that are the same in :func:`alike` count twice."""
    return sum(map(len, _two_domains(ranks)))


def domains_compared(name: str, ranks: pd.DataFrame) -> list[Check]:
    """Whether biomedical models have a better average rank than general ones, by a test over models.

    ``ranks`` has ``low``, ``middle`` and ``high`` of each model; p is that of the ends that speak least for a
    difference.
    """
    biomedical, general = _two_domains(ranks)
    ends = (("low", "high"), ("high", "low"))
    p = max(mann_whitney(biomedical[end], general[other])["p"] for end, other in ends)
    means = {"biomedical": biomedical["middle"].mean(), "general": general["middle"].mean()}
    lead = study.Lead.by_p(means["general"] - means["biomedical"], p, "Mann-Whitney over models")
    settings = {"first": "biomedical", "leads": lead, "lower_is_better": True, "decimals": 2}
    claim = "general domain models have inferior performance"
    return study.check_superiority(
        study.Key("biomedical over general models", name), claim, means, **settings
    )


def ranks_above(model: pd.Series, rival: pd.Series) -> bool | None:
    """Whether a model's average rank is better than a rival's, each between ``low`` and ``high``: False where
    no ranks of these intervals put it above, be it that they can be shared at best."""
    room = rival["high"] - model["low"]
    return study.above(rival["low"] - model["high"], room) if room > 1e-9 else False


def alike(values: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs of rows that are the same in every column."""
    return [(a, b) for a, b in combinations(values.index, 2) if (values.loc[a] == values.loc[b]).all()]


def average_ranks(table7: pd.DataFrame, better: Mapping[str, str]) -> pd.DataFrame:
    """The interval of each model's average rank that the rounding of the metrics leaves: ``low``, ``high``,
    ``middle``, the ``printed`` average, and whether it ``fits`` between.

    ``better`` is ``lower`` or ``higher`` for each metric. A ValueError where it is neither, or a metric has
    not one value for each model with a printed average.
    """
    printed = table7[table7["metric"] == "average rank"].set_index("model")["value"]
    ranks = []
    for metric, way in better.items():
        if way not in ("lower", "higher"):
            raise ValueError(f"{metric}: better must be lower or higher, not {way!r}")
        cells = table7[table7["metric"] == metric].set_index("model")
        if sorted(cells.index) != sorted(printed.index):
            raise ValueError(f"{metric} has not one value for each model with an average rank")
        cells = cells.loc[printed.index]
        centre = cells["value"].to_numpy() * (1 if way == "lower" else -1)
        half = cells["half_width"].to_numpy()
        ranks.append((*rank_range(centre - half, centre + half), rankdata(centre)))
    frame = pd.DataFrame(np.mean(ranks, axis=0).T, index=printed.index, columns=["low", "high", "middle"])
    fits = printed.between(frame["low"] - 1e-9, frame["high"] + 1e-9)
    return frame.assign(printed=printed, fits=fits)


def directions(table7: pd.DataFrame) -> pd.DataFrame:
    """All 32 choices of which way is better on the metrics, those first that fit most printed averages."""
    tried = [
        dict(zip(ARROWS, ways, strict=True)) for ways in product(("lower", "higher"), repeat=len(ARROWS))
    ]
    rows = [{**way, "averages that fit": int(average_ranks(table7, way)["fits"].sum())} for way in tried]
    return pd.DataFrame(rows).sort_values("averages that fit", ascending=False, kind="stable")


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


def draw_ranks(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Printed average ranks and their intervals, one panel per frame of :func:`average_ranks`."""
    fig, axes = plots.panels(1, len(panels), 5.4, sharey=True)
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        bars = {"color": plots.PALETTE[6], "alpha": 0.2, "height": 0.7, "linewidth": 0}
        ax.barh(frame.index, frame["high"] - frame["low"], left=frame["low"], **bars)
        for fits, label, marker in ((True, "inside the interval", "o"), (False, "outside", "X")):
            dots = frame.loc[frame["fits"] == fits, "printed"]
            colour = plots.PALETTE[0 if fits else 1]
            ax.scatter(dots, dots.index, color=colour, marker=marker, s=40, label=label, zorder=3)
        ax.set_title(title, fontsize=11)
        ax.set(xlabel="average rank", xlim=(4, 14))
    axes[0].invert_yaxis()
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower center", ncols=2, title="printed average rank")
    return fig
