"""Measures of calibration in resamples of whole documents, the same ones for every classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from radeval_lib.stats.calibration import BINS, bin_of, checked
from radeval_lib.stats.inputs import FloatArray, group_numbers
from radeval_lib.stats.resampling import sum_draws

DRAWN = ("ECE", "NLL", "Brier")
"""The measures that :func:`resample` has."""


class CalibrationDraws(NamedTuple):
    """The measures :data:`DRAWN` in each resample, a column each, and ``observed`` in the sample as it is."""

    values: pd.DataFrame
    observed: pd.Series


def resample(
    outputs: Sequence[ArrayLike],
    labels: ArrayLike,
    documents: Sequence[object],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> list[CalibrationDraws]:
    """Resample whole documents, the same ones for every classifier.

    The measures are sums over samples, or sums of absolute values of such sums, so a resample needs how often
    each document was drawn and nothing else. ECE (of ten bins) of few samples is biased upwards, and its
    resamples more so: the percentile interval of an ECE near 0 lies above it more often than it should.
    Differences on the same documents suffer less.

    Parameters
    ----------
    outputs : probabilities of each classifier on the same samples, shape (n, k).
    labels : int, shape (n,).
    documents : shape (n,); samples of one document (or patient) are drawn together.
    """
    if not len(outputs):
        raise ValueError("outputs holds no classifier")
    terms = np.stack([_terms(*checked(output, labels)) for output in outputs], axis=1)
    codes = group_numbers("documents", documents, len(terms))
    table = np.zeros((codes.max() + 1, *terms.shape[1:]))
    np.add.at(table, codes, terms)

    def values(sums: FloatArray) -> FloatArray:
        return _measured(sums.reshape(-1, *table.shape[1:]))

    drawn = sum_draws(table.reshape(len(table), -1), values, resamples=resamples, rng=rng)
    observed = values(table.sum(axis=0))[0]
    return [
        CalibrationDraws(pd.DataFrame(drawn[:, number], columns=DRAWN), pd.Series(row, index=DRAWN))
        for number, row in enumerate(observed)
    ]


def _terms(array: FloatArray, labels: NDArray[np.int64]) -> FloatArray:
    """Return what each sample adds: 1, its loss, whether that is infinite, its squared distance, its gap by
    bin."""
    confidence, correct = array.max(axis=1), (array.argmax(axis=1) == labels).astype(np.float64)
    with np.errstate(divide="ignore"):
        loss = -np.log(array[np.arange(len(array)), labels])
    # A document with an infinite term makes only those resamples infinite that it is drawn for.
    infinite = np.isinf(loss)
    distance = np.square(array - np.eye(array.shape[1])[labels]).sum(axis=1)
    gaps = np.eye(BINS)[bin_of(confidence, BINS)] * (correct - confidence)[:, None]
    ones = np.ones(len(array))
    return np.column_stack([ones, np.where(infinite, 0.0, loss), infinite, distance, gaps])


def _measured(sums: FloatArray) -> FloatArray:
    """Return the measures :data:`DRAWN` from sums over samples; shape (..., terms) to (..., measures)."""
    size, loss, infinite, distance = np.moveaxis(sums[..., :4], -1, 0)
    ece, nll = np.abs(sums[..., 4:]).sum(axis=-1) / size, np.where(infinite > 0, np.inf, loss) / size
    return np.stack([ece, nll, distance / size], axis=-1)


def known_classifier(
    rng: np.random.Generator, documents: int = 20_000, classes: int = 46
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return logits, shape (documents, classes), and labels drawn from the very probabilities that they
    give."""
    logits = 4 * rng.standard_normal((documents, classes))
    drawn = rng.random((documents, 1))
    below = (softmax(logits, axis=1).cumsum(axis=1) < drawn).sum(axis=1)
    return logits, np.minimum(below, classes - 1)
