"""Uncertainty of calibration measures: the bootstrap over documents.

Every measure but MCE is a sum over samples, or a sum of absolute values of such sums, so a resample needs how
often each document was drawn and nothing else; see :class:`CalibrationDraws`. A binned measure of few samples
is biased upwards, and its resamples more so: the percentile interval of an ECE near 0 lies above it more
often than it should. Differences on the same documents suffer less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, rel_entr

from radeval_lib.stats import calibration
from radeval_lib.stats.resampling import FloatArray, sum_draws

_ENDS = (0.025, 0.975)
NAMES = list(calibration.MEASURES)


@dataclass(frozen=True)
class CalibrationDraws:
    """Measures in each resample, by name, and those ``observed`` in the sample as it is."""

    values: dict[str, FloatArray]
    observed: pd.Series

    def intervals(self) -> pd.DataFrame:
        """``value``, ``low``, ``high`` (95 %, percentile) of each measure."""
        rows = {
            name: (self.observed[name], *np.quantile(row, _ENDS, method="inverted_cdf"))
            for name, row in self.values.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])


def draw(
    outputs: Sequence[ArrayLike],
    labels: ArrayLike,
    documents: Sequence[object],
    *,
    resamples: int,
    rng: np.random.Generator,
    bins: int = 10,
) -> list[CalibrationDraws]:
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
    classes = np.shape(outputs[0])[1]
    terms = [_terms(np.asarray(output, dtype=np.float64), truth, bins) for output in outputs]
    table = np.zeros((len(names), len(outputs), terms[0].shape[1]))
    np.add.at(table, codes, np.stack(terms, axis=1))

    def values(sums: FloatArray) -> FloatArray:
        return _measured(sums.reshape(-1, *table.shape[1:]), classes, bins)

    drawn = sum_draws(table.reshape(len(names), -1), values, resamples=resamples, rng=rng)
    observed = values(table.sum(axis=0))[0]
    return [
        CalibrationDraws(dict(zip(NAMES, drawn[:, place].T, strict=True)), pd.Series(row, index=NAMES))
        for place, row in enumerate(observed)
    ]


def _terms(probabilities: FloatArray, labels: NDArray[np.int64], bins: int) -> FloatArray:
    """What each sample adds: 8 means, which of them are infinite, gaps and counts by bin, gaps by class and
    bin."""
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
    # A document with an infinite term makes only those resamples infinite that it is drawn for.
    finite = np.where(np.isinf(means), 0.0, means)
    return np.hstack([finite, np.isinf(means), gaps, counts, by_class.reshape(samples, -1)])


def _measured(sums: FloatArray, classes: int, bins: int) -> FloatArray:
    """The measures :data:`NAMES` from sums over samples; shape (..., terms) to (..., measures)."""
    means, infinite, gaps, counts, by_class = np.split(sums, np.cumsum([8, 8, bins, bins]), axis=-1)
    size, gaps = means[..., 0], np.abs(gaps)
    _, correct, entropy, signed, to_uniform, from_uniform, loss, brier = np.moveaxis(
        np.where(infinite > 0, np.inf, means) / size[..., None], -1, 0
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(counts > 0, gaps / counts, 0.0)
    return np.stack(
        [
            correct,
            gaps.sum(axis=-1) / size,
            share.max(axis=-1),
            gaps.max(axis=-1) / size,
            np.abs(by_class).sum(axis=-1) / (size * classes),
            entropy,
            signed,
            to_uniform,
            from_uniform,
            loss,
            brier,
        ],
        axis=-1,
    )
