"""Whether the fact counters agree: what Table 2 gives away of the ratings, and raters who are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import krippendorff
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from numpy.typing import NDArray

from radeval_lib import plots
from radeval_lib.pages.facts.rater_agreement import (
    OVERLAPS,
    Scenario,
    count_alphas,
    three_raters,
)
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.papers.printed_numbers import quotations as quotations
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.printed import tables_with
from radeval_lib.study.checks import Check, check_statement, check_value
from radeval_lib.synthetic.fact_raters import Description, count_facts, draw_descriptions

FloatArray = NDArray[np.float64]

ALL = "E1-E2-E3"
RATERS = {ALL: (0, 1, 2), "E1-E2": (0, 1), "E1-E3": (0, 2), "E2-E3": (1, 2)}
LEVELS: tuple[Literal["nominal", "ordinal", "interval", "ratio"], ...] = (
    "nominal", "ordinal", "interval", "ratio"
)  # fmt: skip
FITTING = "cells that round to the print"
_HALF = 0.005 + 1e-9  # half a unit of the last printed digit of an alpha
_MOST_FACTS = 12  # of a description, where losses of two descriptions are searched


def simulated_agreement(
    rng: np.random.Generator, spreads: Sequence[float], repeats: int, kinds: Mapping[str, str]
) -> pd.DataFrame:
    """Alpha of three raters who split facts differently, by how differently, in each repetition.

    Returns ``spread``, ``metric`` (a row of Table 2), ``alpha``, ``kind``.
    """
    rows = []
    for _ in range(repeats):
        texts = draw_descriptions(rng, 10, OVERLAPS)
        for spread in spreads:
            found = count_alphas(count_facts(rng, texts, three_raters(spread)))
            rows += [{"spread": spread, "metric": name, "alpha": alpha} for name, alpha in found.items()]
    frame = pd.DataFrame(rows)
    return frame.assign(kind=frame["metric"].map(kinds))


def scenarios() -> list[Scenario]:
    """Four ways in which real counting departs from the mechanism that the paper names."""

    def usual(rng: np.random.Generator, step: float) -> list[Description]:
        return draw_descriptions(rng, 10, OVERLAPS)

    return [
        Scenario(
            "shared passages are cut anew in the second text",
            "share of descriptions cut anew",
            (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
            usual,
            alike=lambda step: 1 - step,
        ),
        Scenario(
            "raters misjudge whether a fact is common",
            "share of facts misjudged",
            (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
            usual,
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


def among_pairs(table2: pd.DataFrame) -> list[Check]:
    """Whether the alpha of all three raters lies among those of the pairs, for each row of Table 2."""
    checks = []
    for metric, rows in table2.groupby("metric", sort=False):
        pairs, whole = rows[rows["pair"] != ALL], rows[rows["pair"] == ALL].iloc[0]
        low, high = (pairs["value"] - pairs["half_width"]).min(), (pairs["value"] + pairs["half_width"]).max()
        among = Estimate(float(pairs["value"].mean()), float(low), float(high))
        checks.append(check_value(f"{metric}: all three among the pairs", whole["printed"], among))
    return checks


def share_checks(said: Mapping[str, Printed], number: Mapping[str, int], agreed: int) -> list[Check]:
    """Whether printed shares are whole numbers of ratings, and add up.

    ``said``: the printed shares: of each class, and ``all_three_coherent``. ``number``: ratings of each
    class. Three ratings make a description. ``agreed``: descriptions that all three raters called coherent.
    """
    ratings = 3 * round(agreed * 100 / said["all_three_coherent"].value)
    total = sum(number.values())
    return [
        *(check_value(f"share, {name}", said[name], 100 * n / ratings) for name, n in number.items()),
        check_value("share, all three coherent", said["all_three_coherent"], 300 * agreed / ratings),
        check_statement(
            "the classes make up all ratings",
            f"{ratings} ratings",
            f"{' + '.join(map(str, number.values()))} = {total}",
            total == ratings,
        ),
    ]


def possible_ratings(table1: pd.DataFrame, number: Mapping[str, int], touched: int) -> list[FloatArray]:
    """Every table of coherence codes, shape (3 raters, descriptions), with Table 1's means and these numbers
    of minor and major errors on ``touched`` descriptions."""
    single = table1[(table1["metric"] == "Coherence") & (table1["evaluator"] != "Avg")]
    means = single.pivot_table(index="model", columns="evaluator", values="value", sort=False)
    losses = {0.5: number["minor"], 1.0: number["major"]}
    return tables_with(means.to_numpy().tolist(), 10, losses, touched)


def alpha_fits(possible: Sequence[FloatArray], printed: pd.Series) -> pd.DataFrame:
    """Alpha of each possible table of ratings at each level of measurement, beside the printed ones.

    ``printed``: the printed alphas of coherence, by the raters that :data:`RATERS` names. Returns ``table``
    (from 1), ``level``, an alpha for each of :data:`RATERS`, and :data:`FITTING`.
    """
    codes = [0.0, 0.5, 1.0]
    fits = pd.DataFrame(
        {
            "table": place,
            "level": level,
            **{
                name: krippendorff.alpha(table[list(who)], level_of_measurement=level, value_domain=codes)
                for name, who in RATERS.items()
            },
        }
        for place, table in enumerate(possible, start=1)
        for level in LEVELS
    )
    fits[FITTING] = ((fits[list(RATERS)] - printed.reindex(RATERS)).abs() <= _HALF).sum(axis=1)
    return fits


def points_lost(table1: pd.DataFrame) -> dict[str, FloatArray]:
    """Accuracy that each rater took from Pegasus-CNN's ten descriptions in all: least, as printed, most."""
    cells = table1[(table1["model"] == "Pegasus-CNN") & (table1["metric"] == "Accuracy")].set_index(
        "evaluator"
    )
    rounding = np.array([-1.0, 0.0, 1.0])
    return {
        f"E{n}": 10 * (1 - cells.loc[f"Eval {n}", "value"] + cells.loc[f"Eval {n}", "half_width"] * rounding)
        for n in (1, 2, 3)
    }


def _accuracies(lost: FloatArray, descriptions: int) -> FloatArray:
    """Accuracies of descriptions of which the first lose these points, shape (..., raters, descriptions)."""
    whole = np.ones((*lost.shape[:-1], descriptions - lost.shape[-1]))
    return np.concatenate([1 - lost, whole], axis=-1)


def one_description(
    lost: Mapping[str, FloatArray], printed: Mapping[str, str], descriptions: int
) -> list[Check]:
    """Whether the printed agreement on accuracy is possible where one description alone has wrong facts."""
    checks = []
    for pair in ("E1-E2", "E1-E3", "E2-E3"):
        left, right = (np.linspace(lost[name][0], lost[name][2], 101) for name in pair.split("-"))
        both = np.stack(np.broadcast_arrays(left[:, None], right[None, :]), axis=-1)[..., None]
        grid = interval_alpha(_accuracies(both, descriptions))
        allowed = Estimate(float(grid.max()), float(grid.min()), float(grid.max()))
        name = f"Accuracy, {pair}, if one description alone had wrong facts"
        checks.append(check_value(name, printed[pair], allowed))
    return checks


def two_descriptions(
    lost: Mapping[str, FloatArray], printed: Mapping[str, str], descriptions: int
) -> tuple[int, int]:
    """Losses on two descriptions that keep the three means of Table 1: how many combinations there are, and
    how many of them give the three printed agreements of pairs."""
    shares = {wrong / facts for facts in range(1, _MOST_FACTS + 1) for wrong in range(facts)}
    steps = np.unique(sorted(shares))
    every = np.array([(a, b) for a in steps for b in steps])
    kept = {
        name: every[(every.sum(axis=1) >= low - 1e-9) & (every.sum(axis=1) <= high + 1e-9)]
        for name, (low, _, high) in lost.items()
    }

    def fits(first: str, second: str) -> NDArray[np.bool_]:
        both = np.stack(np.broadcast_arrays(kept[first][:, None], kept[second]), axis=-2)
        found = interval_alpha(_accuracies(both, descriptions))
        return np.asarray(np.abs(found - float(printed[f"{first}-{second}"])) <= _HALF)

    triples = fits("E1", "E2")[:, :, None] & fits("E1", "E3")[:, None, :] & fits("E2", "E3")[None, :, :]
    return triples.size, int(triples.sum())


def coverage(listed: Mapping[str, Sequence[str]], sentence: Sequence[str]) -> pd.DataFrame:
    """What each rater's facts cover of the words of a sentence: ``facts``, ``words covered``, ``words a
    fact``."""
    frame = pd.DataFrame(
        {
            "facts": {who: len(facts) for who, facts in listed.items()},
            "words covered": {
                who: sum(word in " ".join(facts).split() for word in sentence)
                for who, facts in listed.items()
            },
        }
    )
    return frame.assign(**{"words a fact": frame["words covered"] / frame["facts"]})


def draw_table2(table2: pd.DataFrame) -> Figure:
    """Printed alphas, one row a metric: filled markers for all three raters, open ones for pairs."""
    figure, axes = plt.subplots(figsize=(plots.WIDTH, 3.6))
    for number, (pair, rows) in enumerate(table2.groupby("pair", sort=False)):
        colour = plots.PALETTE[-1 if pair == ALL else number]
        face, size = (colour, 8) if pair == ALL else ("white", 6)
        marker = plots.MARKERS[number]
        axes.plot(rows["value"], rows["metric"], marker, color=colour, mfc=face, ms=size, label=pair)
    axes.invert_yaxis()
    whole = table2[table2["pair"] == ALL]
    axes.axhline((whole["kind"] == "raw count").sum() - 0.5, color="0.7", lw=0.8)
    axes.set(xlim=(-0.03, 1.03), xlabel="Krippendorff's alpha")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_recovered(ratings: FloatArray) -> Figure:
    """The coherence codes of the descriptions on which some rater took points off."""
    touched = ratings[:, ratings.min(axis=0) < 1]
    names = np.vectorize({1.0: "coherent", 0.5: "minor", 0.0: "major"}.get)(touched)
    figure, axes = plt.subplots(figsize=(plots.WIDTH, 1.9))
    sns.heatmap(
        touched,
        annot=names,
        fmt="",
        cmap=sns.light_palette(plots.PALETTE[1], reverse=True, as_cmap=True),
        vmin=0,
        vmax=1,
        cbar=False,
        linewidths=1,
        annot_kws={"size": 9, "color": "black"},
        yticklabels=["E1", "E2", "E3"],
        ax=axes,
    )
    axes.set(xticks=[], xlabel=f"{touched.shape[1]} of {ratings.shape[1]} descriptions")
    return figure


def draw_simulated(simulated: pd.DataFrame) -> Figure:
    """Alpha against the spread of granularity, from :func:`simulated_agreement`."""
    figure, axes = plt.subplots(figsize=(plots.WIDTH, 4.0))
    sns.lineplot(
        simulated,
        x="spread",
        y="alpha",
        hue="metric",
        style="kind",
        markers=True,
        errorbar=("pi", 95),
        err_kws={"alpha": 0.08},
        palette=list(plots.PALETTE),
        ax=axes,
    )
    axes.axhline(0, color="0.6", lw=0.8)
    axes.set(xlabel="Spread s of the raters' granularity", ylabel="Krippendorff's alpha (synthetic)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_departures(tried: Sequence[Scenario], departures: Sequence[pd.DataFrame]) -> Figure:
    """The divide along the steps of each departure, one panel a departure."""
    figure, grid = plots.panels(2, 2, 2.6)
    for axes, scenario, frame in zip(grid.flat, tried, departures, strict=True):
        sns.lineplot(
            frame, x="step", y="divide", errorbar=("pi", 95), marker="o", color=plots.PALETTE[0], ax=axes
        )
        axes.axhline(0, color=plots.PALETTE[1], lw=1)
        axes.set(xlabel=scenario.unit, ylabel="divide", title=scenario.name)
        axes.title.set_fontsize("small")
        if scenario.steps[0] > scenario.steps[-1]:
            axes.invert_xaxis()
    return figure
