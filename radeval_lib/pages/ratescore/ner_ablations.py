"""Recognisers compared: those that the paper prints, in a plane, and those that a build trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from radeval_lib import plots
from radeval_lib.pages.ratescore.recognisers import Training
from radeval_lib.stats import resampling
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.cells import CellOutput
from radeval_lib.study.checks import Check
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import Lead, check_superiority
from radeval_lib.wording import with_interval

MEASURES = ["precision", "recall", "F1", "accuracy"]
_SETTINGS = {
    "learning_rate": "learning rate",
    "head_learning_rate": "head learning rate",
    "batch_size": "batch size",
    "epochs": "epochs",
    "patience": "patience",
    "warmup": "share of steps with a rising rate",
    "hidden": "width of the hidden layers",
}

# Where names of close neighbours stand, in points from their mark.
_BESIDE = {
    "SapBERT": (-5, 9, "right"),
    "BlueBERT": (-7, -12, "right"),
    "BioLORD-2023-C": (5, -14, "left"),
    "Medical-NER": (-7, -11, "right"),
    "MIMIC-IV": (-7, -11, "right"),
}


def with_wilson(models: pd.DataFrame, entities: int) -> pd.DataFrame:
    """Recognisers with the distances from their precision and recall to the ends of 95% Wilson intervals.

    Parameters
    ----------
    models : ``precision`` and ``recall``.
    entities : of the test set, which recall counts; the right ones of them decide how many were reported.

    Returns
    -------
    DataFrame
        With ``precision_low``, ``precision_high``, ``recall_low`` and ``recall_high``.
    """
    result = models.copy()
    right = models["recall"] * entities
    trials = {"recall": pd.Series(entities, models.index), "precision": right / models["precision"]}
    for name, of in trials.items():
        ends = [
            stats.binomtest(round(found), round(n)).proportion_ci(method="wilson")
            for found, n in zip(right, of, strict=True)
        ]
        result[f"{name}_low"] = models[name] - [end.low for end in ends]
        result[f"{name}_high"] = [end.high for end in ends] - models[name]
    return result


def by_measure(models: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """For each measure the range of each scheme, the best model, and the rank of the chosen one.

    Parameters
    ----------
    models : ``scheme``, ``model`` and :data:`MEASURES`.
    """
    ends = models.groupby("scheme")[MEASURES].agg(["min", "max"]).stack(level=0, future_stack=True)
    table = pd.concat({scheme: ends.loc[scheme] for scheme in ends.index.levels[0]}, axis=1)
    table.columns = pd.Index([f"{scheme}, {end}" for scheme, end in table.columns])
    by_name = models.set_index("model")[MEASURES]
    ranks = by_name.rank(ascending=False, method="min")
    table["best model"] = [", ".join(ranks.index[ranks[name] == 1]) for name in MEASURES]
    table[f"rank of {chosen}"] = ranks.loc[chosen].map("{:.0f}".format)
    return table.loc[MEASURES].rename_axis(None)


def draw_plane(axes: Axes, models: pd.DataFrame, single: pd.DataFrame) -> None:
    """Precision against recall, with lines of equal F1.

    Parameters
    ----------
    models : ``scheme``, ``model``, ``precision``, ``recall`` and the columns of :func:`with_wilson`.
    single : recognisers trained on one source, by its name: ``precision``, ``recall``.
    """
    recall = np.linspace(0.53, 0.72, 200)
    for level in np.arange(0.52, 0.65, 0.02):
        precision = level * recall / (2 * recall - level)
        axes.plot(recall, precision, "--", color="0.75", linewidth=0.8, zorder=0)
        _name(axes, f"F1 {level:.2f}", recall[-1], precision[-1], (3, 0), color="0.45", va="center")
    for (scheme, group), colour, marker in zip(
        models.groupby("scheme"), plots.PALETTE, plots.MARKERS, strict=False
    ):
        reach = {
            f"{axis}err": group[[f"{name}_low", f"{name}_high"]].T
            for axis, name in (("x", "recall"), ("y", "precision"))
        }
        axes.errorbar(
            group["recall"], group["precision"], **reach, fmt=marker, color=colour, label=str(scheme)
        )
    axes.plot(single["recall"], single["precision"], "x", color="0.3", label="IOB, one source")
    for point in pd.concat([models, single.reset_index(names="model")]).itertuples():
        right, up, side = _BESIDE.get(point.model, (7, 5, "left"))
        _name(axes, point.model, point.recall, point.precision, (right, up), ha=side)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0.53, 0.745), ylim=(0.455, 0.59))
    axes.legend(loc="lower left")


def _name(axes: Axes, text: str, x: float, y: float, away: tuple[int, int], **style: Any) -> None:
    axes.annotate(text, (x, y), away, textcoords="offset points", fontsize=8, annotation_clip=True, **style)


@dataclass(frozen=True)
class Recognisers:
    """The trained recognisers of a build, judged over test reports and seeds.

    Attributes
    ----------
    run : gives resamples and random numbers.
    cells : what each training left.
    """

    run: Run
    cells: Mapping[Training, CellOutput]

    def counts(self, training: Training) -> pd.DataFrame:
        """Counts by seed and test report, see :func:`~radeval_lib.pages.ratescore.recognisers.tally`."""
        return self.cells[training].tables["counts"]

    @cached_property
    def measures(self) -> dict[Training, pd.DataFrame]:
        """Precision, recall, f1 and accuracy of each training on the test part, with intervals."""
        return {
            training: resampling.intervals(
                self.counts(training),
                resampling.TAGGING,
                resamples=self.run.profile.resamples,
                rng=self.run.rng("intervals"),
            )
            for training in self.cells
        }

    def gap(self, first: Training, second: Training) -> pd.DataFrame:
        """Measures of one training minus those of another, on the same test reports."""
        return resampling.paired_difference(
            self.counts(first),
            self.counts(second),
            resampling.TAGGING,
            resamples=self.run.profile.resamples,
            rng=self.run.rng("gaps"),
        )

    def table(self, labels: Mapping[Training, Mapping[str, str]]) -> pd.DataFrame:
        """Some trainings, one a row: what ``labels`` say of each, and its measures."""
        rows = [dict(label) | told(self.measures[training]) for training, label in labels.items()]
        return pd.DataFrame(rows)

    def f1_by_source(self, training: Training) -> pd.Series:
        """F1 on the test reports of each source, mean over seeds."""
        sums = self.counts(training).groupby(["seed", "source"])[["matched", "predicted", "gold"]].sum()
        return precision_recall_f1(sums)["F1"].groupby("source").mean()

    def check_better(self, name: str, claim: str, measure: str, names: Mapping[Training, str]) -> list[Check]:
        """Whether one training is above another: the order, and the lead over reports and seeds.

        Parameters
        ----------
        names : what the checks call the first and the other.
        """
        gap = self.gap(*names).loc[measure]
        found = {
            called: float(self.measures[training].loc[measure, "value"]) for training, called in names.items()
        }
        lead = Lead.by_interval(Estimate(gap["value"], gap["low"], gap["high"]))
        return check_superiority(name, claim, found, first=next(iter(found)), leads=lead)


def precision_recall_f1(sums: pd.DataFrame) -> pd.DataFrame:
    """Precision, recall and F1, row by row, of what was ``matched``, ``predicted`` and ``gold``."""
    return pd.DataFrame(
        {
            "precision": sums["matched"] / sums["predicted"],
            "recall": sums["matched"] / sums["gold"],
            "F1": 2 * sums["matched"] / (sums["predicted"] + sums["gold"]),
        }
    )


def told(rows: pd.DataFrame, form: str = ".3f", ends: str = ".2f") -> dict[str, str]:
    """Each measure with its interval, as text, by the measure's name."""
    return {
        str(name).replace("f1", "F1"): with_interval(row["value"], row["low"], row["high"], form, ends)
        for name, row in rows.iterrows()
    }


def settings_table(
    cells: Mapping[Training, CellOutput], full: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Settings of training of each scheme, in this build and with the profile ``full``, one a row."""
    columns: dict[str, Any] = {}
    for scheme, theirs in full.items():
        ours = next(cell.facts["settings"] for plan, cell in cells.items() if plan.scheme == scheme)
        columns |= {f"{scheme.upper()}, this build": ours, f"{scheme.upper()}, profile full": theirs}
    table = pd.DataFrame(columns, dtype=object).reindex(list(_SETTINGS)).dropna(how="all")
    return table.astype(float).rename(index=_SETTINGS)
