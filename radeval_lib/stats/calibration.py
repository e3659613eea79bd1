"""Calibration and uncertainty of a probabilistic classifier.

Every function takes ``probabilities`` of shape (n, k), float, rows that sum to 1, and, where correctness
matters, ``labels`` of shape (n,), int, 0 to k - 1, and raises a ValueError for anything else; it returns a
float. The predicted class is that of the
largest probability (the first of equal ones), its probability the confidence.

Bins divide [0, 1] into equal parts (lo, hi], as the code that was released with RaLEs has them
(evaluation/complementary_metrics.py); netcal's are [lo, hi), and this module equals it to 1e-9 but for
probabilities that are an edge to the last digit, such as 0.5. An exact 0 belongs to the first bin;
``zeros="dropped"`` leaves it out of every bin, as the released code does. Logarithms are natural, and
0 log 0 = 0.

Source: RaLEs (Zambrano Chaves et al. 2023), Appendix D, unless a docstring names another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, rel_entr

from radeval_lib.stats.inputs import FloatArray, classes_of

BINS = 10
"""Of confidence, as RaLEs has them."""

_SUM_TOLERANCE = 1e-4  # rows of float32 softmax output with thousands of classes miss 1 by less


def _distributions(probabilities: ArrayLike) -> FloatArray:
    array = np.asarray(probabilities, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"probabilities has shape {array.shape}; give a non-empty (samples, classes)")
    if not ((array >= 0) & (array <= 1 + _SUM_TOLERANCE)).all():
        raise ValueError("probabilities holds a value outside [0, 1]; apply softmax to logits first")
    off = np.abs(array.sum(axis=1) - 1)
    if (off > _SUM_TOLERANCE).any():
        raise ValueError(f"row {off.argmax()} of probabilities does not sum to 1; every row must")
    return array.clip(max=1.0)


def checked(probabilities: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return probabilities and labels as arrays; a ValueError where they are not what this module takes."""
    array = _distributions(probabilities)
    return array, classes_of(labels, *array.shape)


def bin_of(values: FloatArray, bins: int) -> NDArray[np.int64]:
    """Index of the bin (lo, hi] that holds each value, an exact 0 in the first; the values' shape."""
    if bins < 1:
        raise ValueError(f"bins is {bins}; at least one bin is needed")
    place = np.searchsorted(np.linspace(0, 1, bins + 1), values).astype(np.int64) - 1
    return place.clip(0, bins - 1)


def _binned_sums(values: FloatArray, hits: FloatArray, bins: int) -> tuple[FloatArray, ...]:
    """Per bin: how many values, sum of hits, sum of values."""
    place = bin_of(values, bins)
    summed = (np.ones_like(values), hits, values)
    return tuple(np.bincount(place, weights=part, minlength=bins).astype(np.float64) for part in summed)


def _confidence(probabilities: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return confidence and correctness (1 or 0) of each prediction."""
    array, truth = checked(probabilities, labels)
    return array.max(axis=1), (array.argmax(axis=1) == truth).astype(np.float64)


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> pd.DataFrame:
    """Return accuracy and mean confidence by bin of confidence: what a reliability diagram shows.

    Returns
    -------
    DataFrame
        One row per bin: ``low``, ``high`` (its ends), ``count``, ``accuracy``, ``confidence``, ``gap`` (the
        absolute difference of the two); the last three are NaN in an empty bin.
    """
    count, right, total = _binned_sums(*_confidence(probabilities, labels), bins)
    with np.errstate(invalid="ignore"):
        accurate, confident = right / count, total / count
    edges = np.linspace(0, 1, bins + 1)
    frame = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "count": count.astype(np.int64)})
    return frame.assign(accuracy=accurate, confidence=confident, gap=np.abs(accurate - confident))


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> float:
    """Return ECE: calibration gap averaged over bins of confidence, each weighted by its share of samples; 0
    to 1.

    Source: RaLEs, Appendix D, first formula; Guo et al. 2017.
    """
    frame = reliability(probabilities, labels, bins=bins)
    return float((frame["gap"].fillna(0) * frame["count"]).sum() / frame["count"].sum())


def maximum_calibration_error(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return MCE: the largest calibration gap of any bin that is not empty; 0 to 1. Source: Guo et al.
    2017."""
    return float(reliability(probabilities, labels)["gap"].max())


def largest_weighted_gap(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the largest term of ECE's sum: a gap times its bin's share of samples; 0 to ECE.

    The code released with RaLEs calls this MCE; :func:`maximum_calibration_error` is what its documentation
    describes.
    """
    frame = reliability(probabilities, labels)
    return float((frame["gap"].fillna(0) * frame["count"]).max() / frame["count"].sum())


def static_calibration_error(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    bins: int = BINS,
    zeros: Literal["first bin", "dropped"] = "first bin",
) -> float:
    """Return SCE: the calibration gap of every class's probability, averaged over classes; 0 to 1.

    ``zeros`` says where probabilities of exactly 0 go; ``"dropped"`` ignores true classes to which the model
    gave 0. Source: RaLEs, Appendix D, second formula; Nixon et al. 2019.
    """
    if zeros not in ("first bin", "dropped"):
        raise ValueError(f"zeros must be 'first bin' or 'dropped', not {zeros!r}")
    array, truth = checked(probabilities, labels)
    total = 0.0
    for index, column in enumerate(array.T):
        kept = column > (0 if zeros == "dropped" else -1)
        _, hits, mass = _binned_sums(column[kept], (truth[kept] == index).astype(np.float64), bins)
        # n_bk |acc - conf| = |hits - mass|: the bin's count cancels.
        total += float(np.abs(hits - mass).sum())
    return total / array.size


def weighted_model_confidence(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return WMC: mean confidence, counted positive where the prediction is right and negative where wrong;
    -1 to 1.

    Source: RaLEs, Appendix D, third formula.
    """
    confidence, correct = _confidence(probabilities, labels)
    return float((confidence * (2 * correct - 1)).mean())


def average_predictive_entropy(probabilities: ArrayLike) -> float:
    """Return aPE: mean entropy of the predicted distribution in nats; 0 to log k.

    Source: RaLEs, Appendix D, last formula, with the minus sign that our copy of it lacks.
    """
    return float(entr(_distributions(probabilities)).sum(axis=1).mean())


def average_kl_to_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as the paper defines it: mean KL(p || U) in nats; 0 to log k, and equal to log k - aPE.

    Source: RaLEs, Appendix D, fourth formula.
    """
    array = _distributions(probabilities)
    return float(rel_entr(array, 1 / array.shape[1]).sum(axis=1).mean())


def average_kl_from_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as the code released with RaLEs computes it: mean KL(U || p) in nats; 0 to infinity.

    Infinite as soon as one probability is 0. It grows where a model gives *any* class a tiny probability, so
    one very small class weighs more than all that the model says about likely ones.
    """
    array = _distributions(probabilities)
    return float(rel_entr(1 / array.shape[1], array).sum(axis=1).mean())


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return NLL: mean of -log of the probability given to the true class, in nats; infinite where that is
    0."""
    array, truth = checked(probabilities, labels)
    with np.errstate(divide="ignore"):
        return float(-np.log(array[np.arange(len(truth)), truth]).mean())


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return Brier score: squared distance of the probabilities from the truth's 0s and 1s, summed over
    classes and averaged over samples; 0 to 2. scikit-learn's is half of it where there are two classes."""
    array, truth = checked(probabilities, labels)
    return float(np.square(array - np.eye(array.shape[1])[truth]).sum(axis=1).mean())


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return share of samples whose predicted class is the true one."""
    return float(_confidence(probabilities, labels)[1].mean())


MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "accuracy": accuracy,
    "ECE": expected_calibration_error,
    "MCE": maximum_calibration_error,
    "largest weighted gap": largest_weighted_gap,
    "SCE": static_calibration_error,
    "aPE": lambda p, _: average_predictive_entropy(p),
    "WMC": weighted_model_confidence,
    "KL(p || U)": lambda p, _: average_kl_to_uniform(p),
    "KL(U || p)": lambda p, _: average_kl_from_uniform(p),
    "NLL": negative_log_likelihood,
    "Brier": brier_score,
}
"""Every measure by its name on a page: a function of probabilities and labels."""


def measures(probabilities: ArrayLike, labels: ArrayLike) -> pd.Series:
    """Return all of :data:`MEASURES`, by name."""
    return pd.Series({name: function(probabilities, labels) for name, function in MEASURES.items()})
