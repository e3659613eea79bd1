"""Uncertainty of calibration measures: the bootstrap over documents.

Every measure but MCE is a sum over samples, or a sum of absolute values of such sums, so a resample needs how
often each document was drawn and nothing else; see :class:`Draws`. A binned measure of few samples is biased
upwards, and its resamples more so: the percentile interval of an ECE near 0 lies above it more often than it
should. Differences on the same documents suffer less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, rel_entr

from radeval_lib.stats import calibration
from radeval_lib.stats.resampling import drawn_counts

FloatArray = NDArray[np.float64]
_ENDS = (0.025, 0.975)


@dataclass(frozen=True)
class Draws:
    """Measures in each resample.

    Attributes
    ----------
    values : float64, by measure; each of shape (resamples,).
    observed : the measures of the sample as it is.
    """

    values: dict[str, FloatArray]
    observed: pd.Series

    def intervals(self) -> pd.DataFrame:
        """``value``, ``low``, ``high`` (95 %, percentile) of each measure."""
        rows = {
            name: (self.observed[name], *np.quantile(row, _ENDS, method="inverted_cdf"))
            for name, row in self.values.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])

    def minus(self, other: Draws) -> pd.DataFrame:
        """This one's measures minus those of another on the same resamples, as :meth:`intervals`; NaN where
        both are infinite."""
        with np.errstate(invalid="ignore"):
            gaps = {name: self.values[name] - other.values[name] for name in self.values}
            return Draws(gaps, self.observed - other.observed).intervals()


def draw(
    outputs: Sequence[ArrayLike],
    labels: ArrayLike,
    documents: Sequence[object],
    *,
    resamples: int,
    rng: np.random.Generator,
    bins: int = 10,
) -> list[Draws]:
    """Resample whole documents, the same ones for every classifier.

    Parameters
    ----------
    outputs : probabilities of each classifier on the same samples, shape (n, k).
    labels : int, shape (n,).
    documents : shape (n,); samples of one document (or patient) are drawn together.
    bins : of confidence.

    Raises
    ------
    ValueError
        As the measures of :mod:`radeval_lib.stats.calibration`, and where documents are not as many as
        labels.
    """
    truth = np.asarray(labels)
    if len(documents) != len(truth):
        raise ValueError(f"{len(documents)} documents for {len(truth)} labels")
    if not outputs:
        return []
    codes, names = pd.factorize(pd.Series(list(documents)))
    terms = [
        _terms(np.asarray(output, dtype=np.float64), truth, codes, len(names), bins) for output in outputs
    ]
    width = max(sum(block.shape[1] for block in term.values()) for term in terms) + len(names)
    parts: list[dict[str, list[FloatArray]]] = [{} for _ in terms]
    for counts in drawn_counts(len(names), resamples, rng, width):
        for part, term in zip(parts, terms, strict=True):
            for name, row in _measured({key: counts @ block for key, block in term.items()}).items():
                part.setdefault(name, []).append(row)
    ones = np.ones((1, len(names)))
    return [
        Draws(
            {name: np.concatenate(rows) for name, rows in part.items()},
            pd.Series(
                {
                    name: float(row[0])
                    for name, row in _measured({key: ones @ block for key, block in term.items()}).items()
                }
            ),
        )
        for part, term in zip(parts, terms, strict=True)
    ]


def _terms(
    probabilities: FloatArray, labels: NDArray[np.int64], codes: NDArray[np.int64], documents: int, bins: int
) -> dict[str, FloatArray]:
    """What each document adds: arrays of shape (documents, something)."""
    calibration.accuracy(probabilities, labels)  # raises on what is not a classifier's output
    samples, classes = probabilities.shape
    array = np.minimum(probabilities, 1.0)
    rows = np.arange(samples)
    confidence, correct = array.max(axis=1), (array.argmax(axis=1) == labels).astype(np.float64)
    wanted = np.zeros_like(array)
    wanted[rows, labels] = 1
    with np.errstate(divide="ignore"):
        means = np.column_stack(
            [
                np.ones(samples),
                correct,
                entr(array).sum(axis=1),
                confidence * (2 * correct - 1),
                rel_entr(array, 1 / classes).sum(axis=1),
                rel_entr(1 / classes, array).sum(axis=1),
                -np.log(array[rows, labels]),
                np.square(array - wanted).sum(axis=1),
            ]
        )
    place = calibration.bin_of(confidence, bins)
    gaps, counts = np.zeros((samples, bins)), np.zeros((samples, bins))
    gaps[rows, place], counts[rows, place] = correct - confidence, 1
    by_class = np.zeros((samples, classes, bins))
    columns = np.broadcast_to(np.arange(classes), array.shape)
    by_class[rows[:, None], columns, calibration.bin_of(array, bins)] = wanted - array
    whole = {
        # A document with an infinite term makes only those resamples infinite that it is drawn for.
        "means": np.where(np.isinf(means), 0.0, means),
        "infinite": np.isinf(means).astype(np.float64),
        "gaps": gaps,
        "counts": counts,
        "classes": by_class.reshape(samples, -1),
    }
    summed = {}
    for name, block in whole.items():
        summed[name] = np.zeros((documents, block.shape[1]))
        np.add.at(summed[name], codes, block)
    return summed


def _measured(sums: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The measures of :data:`radeval_lib.stats.calibration.MEASURES` from sums over samples."""
    size = sums["means"][:, 0]
    _, correct, entropy, signed, to_uniform, from_uniform, loss, brier = (
        column / size for column in np.where(sums["infinite"] > 0, np.inf, sums["means"]).T
    )
    gaps, counts = np.abs(sums["gaps"]), sums["counts"]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(counts > 0, gaps / counts, 0.0)
    bins = gaps.shape[1]
    return {
        "accuracy": correct,
        "ECE": gaps.sum(axis=1) / size,
        "MCE": share.max(axis=1),
        "largest weighted gap": gaps.max(axis=1) / size,
        "SCE": np.abs(sums["classes"]).sum(axis=1) / (size * (sums["classes"].shape[1] // bins)),
        "aPE": entropy,
        "WMC": signed,
        "KL(p || U)": to_uniform,
        "KL(U || p)": from_uniform,
        "NLL": loss,
        "Brier": brier,
    }
