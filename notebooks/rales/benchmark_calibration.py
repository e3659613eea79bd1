"""The page on calibration of the fitted classifiers, before and after temperature scaling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pingouin as pg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from notebooks.rales.results import REGIMES, logits_of, table_of_cells
from radeval_lib import plots
from radeval_lib.jobs.rales import plan
from radeval_lib.stats import calibration, temperature
from radeval_lib.stats.calibration_draws import DRAWN, resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import estimate
from radeval_lib.study.runs import Run

_DRAW = re.compile(r", draw \d+$")  # stanza, draw 2
REFITS = 100
"""Resamples of the validation documents, in each of which a temperature is fitted."""


@dataclass(frozen=True)
class Scaled:
    """A classifier on the test part, before and after temperature scaling.

    ``changes`` are by the measures of :func:`~radeval_lib.stats.calibration_draws.resample`, after less
    before, with intervals that allow for other test documents and for the temperature that other validation
    documents would give.
    """

    temperature: float
    logits: NDArray[np.float64]
    labels: NDArray[np.int64]
    before: pd.Series
    after: pd.Series
    changes: dict[str, Estimate]
    left_out: int
    validation: int

    @property
    def infinite(self) -> bool:
        """Whether a test document's true class has the probability zero, at any temperature."""
        return not temperature.explained(self.logits, self.labels).all()

    @property
    def constant(self) -> bool:
        """Whether it names one class for every document, so that it has learned nothing to be sure of."""
        return len(np.unique(self.logits.argmax(axis=1))) == 1

    def probabilities(self, after: bool) -> NDArray[np.float64]:
        """Of the test documents, before or after scaling; shape (documents, classes)."""
        return temperature.scale(self.logits, self.temperature if after else 1.0)


def classifiers(run: Run) -> dict[str, Scaled]:
    """Every classifier that the benchmark fitted with all labels or with the encoder frozen, scaled; named by
    encoder, regime and, if there are several, draw of records."""
    outputs = table_of_cells(run.cells("rales/fitting"), "outputs", plan.settings(run.profile))
    chosen, resamples = outputs.query("regime in ['all', 'probe']"), min(run.profile.resamples, 500)
    by_name = {}
    for (encoder, regime), rows in chosen.groupby(["encoder", "regime"], sort=False):
        several = rows["draw"].nunique() > 1
        for draw, own in rows.groupby("draw"):
            name = f"{encoder}, {REGIMES[regime]}" + f", draw {draw + 1}" * several
            # The same test documents in each resample of each classifier.
            documents, refits = run.rng("documents"), run.rng(name)
            by_name[name] = scaled(own, resamples=resamples, documents=documents, refits=refits)
    return by_name


def scaled(
    outputs: pd.DataFrame, *, resamples: int, documents: np.random.Generator, refits: np.random.Generator
) -> Scaled:
    """Fit a temperature on the validation documents of a classifier's outputs, and measure what it changes on
    its test documents; ``documents`` and ``refits`` draw other test documents, and other temperatures."""
    logits, labels, _ = logits_of(outputs[outputs["split"] == "dev"])
    seen = temperature.explained(logits, labels)
    kept, truth = logits[seen], labels[seen]
    fitted = temperature.fit(kept, truth)
    others = [
        temperature.fit(kept[rows], truth[rows])
        for rows in refits.integers(len(kept), size=(REFITS, len(kept)))
    ]
    logits, labels, cases = logits_of(outputs[outputs["split"] == "test"])
    both = [temperature.scale(logits, value) for value in (1.0, fitted)]
    before, after = resample(both, labels, cases, resamples=resamples, rng=documents)
    elsewhere = pd.DataFrame(
        [calibration.measures(temperature.scale(logits, value), labels) for value in others]
    )
    picked = refits.integers(REFITS, size=resamples)
    change_of = {}
    with np.errstate(invalid="ignore"):
        for name in DRAWN:
            moved = (elsewhere[name] - after.observed[name]).to_numpy()[picked]
            drawn = after.values[name] - before.values[name] + moved
            change = after.observed[name] - before.observed[name]
            defined = np.isfinite(drawn).all()
            change_of[name] = estimate(change, drawn) if defined else Estimate(np.nan, np.nan, np.nan)
    left_out = int((~seen).sum())
    return Scaled(fitted, logits, labels, before.observed, after.observed, change_of, left_out, len(seen))


def changes(by_name: Mapping[str, Scaled]) -> pd.DataFrame:
    """What scaling changes, by ``classifier`` and ``measure``: ``temperature``, ``before``, ``after``, and
    ``low`` and ``high``, the 95 % interval of the change."""
    rows = [
        (name, measure, fit.temperature, fit.before[measure], fit.after[measure], change.low, change.high)
        for name, fit in by_name.items()
        for measure, change in fit.changes.items()
    ]
    keys, columns = ["classifier", "measure"], ["temperature", "before", "after", "low", "high"]
    return pd.DataFrame(rows, columns=[*keys, *columns]).set_index(keys)


def by_effect(by_name: Mapping[str, Scaled]) -> dict[str, list[str]]:
    """Classifiers by what scaling does to their ECE, with Holm's correction over them: it ``lowers`` or
    ``raises`` it, or that is ``open``, as where the change has no p; those that are ``constant`` are
    distinguished."""
    lists: dict[str, list[str]] = {word: [] for word in ("lowers", "raises", "open", "constant")}
    lists["constant"] = [name for name, fit in by_name.items() if fit.constant]
    learned = {name: fit.changes["ECE"] for name, fit in by_name.items() if not fit.constant}
    if not learned:
        return lists
    ps = [1.0 if change.p is None else change.p for change in learned.values()]
    for (name, change), p in zip(learned.items(), pg.multicomp(ps, method="holm")[1], strict=True):
        lists["open" if p >= 0.05 else "lowers" if change.value < 0 else "raises"].append(name)
    return lists


def whole_fits(names: Sequence[str], every: Iterable[str]) -> list[str]:
    """Names of classifiers, the draws of records as one where all several of them are there."""
    fits: dict[str, list[str]] = {}
    for name in every:
        fits.setdefault(_DRAW.sub("", name), []).append(name)
    named = []
    for fit, draws in fits.items():
        there = [name for name in draws if name in names]
        named += [f"{fit}, every draw"] if len(there) == len(draws) > 1 else there
    return named


def unlearned_words(by_name: Mapping[str, Scaled]) -> str:
    """What classes without a document in training do to these classifiers; empty where they do nothing."""
    infinite = "; ".join(name for name, fit in by_name.items() if fit.infinite)
    left_out = "; ".join(
        f"{name} ({fit.left_out} of {fit.validation})" for name, fit in by_name.items() if fit.left_out
    )
    sentences = []
    if infinite:
        sentences.append(
            f"A test document of such a class makes the NLL infinite (∞) at any temperature: {infinite}."
        )
    if left_out:
        sentences.append(
            f"Validation documents of such classes were left out when the temperature was fitted: {left_out}."
        )
    first = "A class of which training had no document gets the probability zero."
    return " ".join([first, *sentences]) if sentences else ""


def most_changed(fits: Mapping[str, Scaled]) -> str:
    """The classifier whose ECE scaling moves most, of those that learned something."""
    return max(fits, key=lambda name: (not fits[name].constant, abs(fits[name].changes["ECE"].value)))


def by_temperature(fit: Scaled) -> tuple[dict[str, str], str]:
    """A reliability diagram as HTML for each of several temperatures, and the fitted one, which is among
    them."""
    diagrams = {}
    for value in np.union1d(np.geomspace(0.25, 4, 17), fit.temperature):
        probabilities = temperature.scale(fit.logits, float(value))
        measured = calibration.measures(probabilities, fit.labels)
        caption = f"<p>ECE {measured['ECE']:.3f}, Brier score {measured['Brier']:.3f}</p>"
        diagrams[f"{value:.3f}"] = caption + _svg(_filled_bins(probabilities, fit.labels))
    return diagrams, f"{fit.temperature:.3f}"


def _svg(bins: pd.DataFrame) -> str:
    """Accuracy by confidence in the page's own colours, each dot as large as its share of documents."""
    shares = bins["count"] / bins["count"].sum()
    dots = "".join(
        f'<circle cx="{100 * row.confidence:.1f}" cy="{100 - 100 * row.accuracy:.1f}" '
        f'r="{1.5 + 6 * share**0.5:.1f}" fill="{plots.PALETTE[0]}"/>'
        for row, share in zip(bins.itertuples(), shares, strict=True)
    )
    label = "; ".join(f"confidence {r.confidence:.2f}, accuracy {r.accuracy:.2f}" for r in bins.itertuples())
    return (
        f'<svg viewBox="-12 -6 124 124" role="img" aria-label="{label}">'
        '<g fill="none" stroke="currentColor" stroke-width="0.6"><rect width="100" height="100"/>'
        '<path d="M0 100L100 0" stroke-dasharray="2 2"/></g>'
        f'{dots}<g fill="currentColor" font-size="6"><text x="0" y="108">0</text>'
        '<text x="50" y="112" text-anchor="middle">confidence</text><text x="97" y="108">1</text>'
        '<text x="-3" y="50" text-anchor="middle" transform="rotate(-90 -3 50)">accuracy</text></g></svg>'
    )


def _filled_bins(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> pd.DataFrame:
    bins = calibration.reliability(probabilities, labels)
    return bins[bins["count"] > 0]


def draw_changes(by_name: Mapping[str, Scaled]) -> Figure:
    """What scaling adds to the ECE of each classifier that learned something, with its 95% interval."""
    changed = {name: fit.changes["ECE"] for name, fit in by_name.items() if not fit.constant}
    rows = pd.DataFrame({n: (c.value, c.low, c.high) for n, c in changed.items()}, ["value", "low", "high"]).T
    figure, axes = plots.panels(1, 1, height=0.32 * len(rows) + 0.9)
    plots.intervals(axes, rows)
    axes.axvline(0, color="0.4", linewidth=1)
    axes.set_xlabel("change in ECE by temperature scaling", loc="right")  # wider than the axes
    return figure
