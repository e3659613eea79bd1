"""The page on calibration of the fitted classifiers, before and after temperature scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from radeval_lib import plots
from radeval_lib.pages.rales.results import logits_of
from radeval_lib.stats import calibration, temperature
from radeval_lib.stats.calibration_intervals import Draws, draw


@dataclass(frozen=True)
class Scaled:
    """A classifier on the test part, before and after temperature scaling."""

    temperature: float
    logits: NDArray[np.float64]
    labels: NDArray[np.int64]
    before: Draws
    after: Draws
    left_out: int
    validation: int

    @property
    def infinite(self) -> bool:
        """Whether a test document's true class has the probability zero, at any temperature."""
        return not temperature.explained(self.logits, self.labels).all()

    def probabilities(self, after: bool) -> NDArray[np.float64]:
        """Of the test documents, before or after scaling; shape (documents, classes)."""
        return temperature.scale(self.logits, self.temperature if after else 1.0)


def scaled(outputs: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> Scaled:
    """Fit a temperature on validation, and measure on the test part what it changes.

    Parameters
    ----------
    outputs : of one classifier and draw, as the cells leave them, with ``split``.
    """
    logits, labels, _ = logits_of(outputs[outputs["split"] == "dev"])
    seen = temperature.explained(logits, labels)
    fitted = temperature.fit(logits[seen], labels[seen])
    left_out, validation = int((~seen).sum()), len(seen)
    logits, labels, cases = logits_of(outputs[outputs["split"] == "test"])
    both = [temperature.scale(logits, value) for value in (1.0, fitted)]
    before, after = draw(both, labels, cases, resamples=resamples, rng=rng)
    return Scaled(fitted, logits, labels, before, after, left_out, validation)


def changes(found: Mapping[str, Scaled], measures: Sequence[str] = ("ECE", "NLL", "Brier")) -> pd.DataFrame:
    """What scaling changes, by ``classifier`` and ``measure``.

    Returns
    -------
    DataFrame
        ``temperature``, ``before``, ``after``, and ``low`` and ``high``, the 95 % interval of the change.
    """
    rows = {}
    for name, one in found.items():
        change = one.after.minus(one.before)
        for measure in measures:
            rows[name, measure] = {
                "temperature": one.temperature,
                "before": one.before.observed[measure],
                "after": one.after.observed[measure],
                **change.loc[measure, ["low", "high"]],
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["classifier", "measure"])


def class_gaps(one: Scaled, places: Sequence[int], classes: Sequence[str]) -> pd.DataFrame:
    """Mean gap between the probability of a class and its share in ten bins, ``before`` and ``after``."""
    found = {}
    for name, after in (("before", False), ("after", True)):
        bins = calibration.class_reliability(one.probabilities(after), one.labels)
        gaps = (bins["gap"] * bins["count"]).groupby(bins["class"]).sum() / len(one.labels)
        found[name] = {classes[place]: gaps[place] for place in places}
    return pd.DataFrame(found).rename_axis("class").sort_index()


def _draw_bins(axes: Axes, bins: pd.DataFrame, label: str) -> None:
    shown = bins[bins["count"] > 0]
    axes.plot(shown["confidence"], shown["accuracy"], marker="o", label=label)


def draw_diagrams(found: Mapping[str, Scaled]) -> Figure:
    """Reliability diagrams before and after scaling, one row a regime and one line a classifier."""
    regimes = list(dict.fromkeys(name.rpartition(", ")[2] for name in found))
    figure, grid = plots.panels(len(regimes), 2, height=3.0, sharex=True, sharey=True, squeeze=False)
    for row, regime in zip(grid, regimes, strict=True):
        for axis, (word, after) in zip(row, (("before", False), ("after", True)), strict=True):
            for name, one in found.items():
                if name.endswith(regime):
                    bins = calibration.reliability(one.probabilities(after), one.labels)
                    _draw_bins(axis, bins, name.removesuffix(f", {regime}"))
            axis.plot([0, 1], [0, 1], color="grey", linestyle=":")
            axis.set(title=f"{regime}, {word}", xlim=(0, 1), ylim=(0, 1))
        row[0].set_ylabel("accuracy")
    for axis in grid[-1]:
        axis.set_xlabel("confidence")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_classes(title: str, one: Scaled, places: Sequence[int], classes: Sequence[str]) -> Figure:
    """Share of a class against its probability in five bins, one panel a class."""
    figure, axes = plots.panels(1, len(places), height=3.0, sharey=True, squeeze=False)
    for axis, place in zip(axes[0], places, strict=True):
        for word, after in (("before", False), ("after", True)):
            bins = calibration.class_reliability(one.probabilities(after), one.labels, bins=5)
            _draw_bins(axis, bins[bins["class"] == place], word)
        axis.plot([0, 1], [0, 1], color="grey", linestyle=":")
        axis.set(title=classes[place], xlabel="probability of the class", xlim=(0, 1), ylim=(0, 1))
    axes[0, 0].set_ylabel("share of the class")
    axes[0, 0].legend(fontsize="small")
    figure.suptitle(title)
    return figure
