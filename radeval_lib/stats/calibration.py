"""Calibration and uncertainty of a probabilistic classifier.

Every function takes ``probabilities`` of shape (n, k), float, rows that sum to 1, and, where correctness
matters, ``labels`` of shape (n,), int, 0 to k - 1; it returns a float. The predicted class is that of the
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

Zeros = Literal["first bin", "dropped"]

# Rows of float32 softmax output with thousands of classes miss 1 by less than this.
_SUM_TOLERANCE = 1e-4


def _checked_probabilities(probabilities: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(probabilities, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"probabilities has shape {array.shape}; give a non-empty array of (samples, classes)"
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and (array <= 1 + _SUM_TOLERANCE).all()):
        raise ValueError("probabilities holds a value outside [0, 1]; apply softmax to logits first")
    off = np.abs(array.sum(axis=1) - 1)
    if (off > _SUM_TOLERANCE).any():
        row = int(off.argmax())
        raise ValueError(
            f"row {row} of probabilities sums to {array[row].sum():.6g}; every row must sum to 1"
        )
    return array.clip(max=1.0)


def _checked_labels(labels: ArrayLike, samples: int, classes: int) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (samples,):
        raise ValueError(f"labels has shape {array.shape}; give one label for each of the {samples} samples")
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"labels has type {array.dtype}; give whole numbers from 0 to {classes - 1}")
    if array.min() < 0 or array.max() >= classes:
        raise ValueError(
            f"labels runs from {array.min()} to {array.max()}; classes run from 0 to {classes - 1}"
        )
    return array.astype(np.int64)


def bin_of(values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """Index of the bin (lo, hi] that holds each value, an exact 0 in the first; the values' shape."""
    if bins < 1:
        raise ValueError(f"bins is {bins}; at least one bin is needed")
    place = np.searchsorted(np.linspace(0, 1, bins + 1), values).astype(np.int64) - 1
    return place.clip(0, bins - 1)


def _binned_sums(
    values: NDArray[np.float64], hits: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Per bin: how many values, sum of hits, sum of values."""
    place = bin_of(values, bins)
    counts, hit_sums, value_sums = (
        np.bincount(place, weights=one, minlength=bins).astype(np.float64)
        for one in (np.ones_like(values), hits, values)
    )
    return counts, hit_sums, value_sums


def _confidence(
    probabilities: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Confidence and correctness (1 or 0) of each prediction."""
    array = _checked_probabilities(probabilities)
    truth = _checked_labels(labels, *array.shape)
    return array.max(axis=1), (array.argmax(axis=1) == truth).astype(np.float64)


def _reliability(values: NDArray[np.float64], hits: NDArray[np.float64], bins: int) -> pd.DataFrame:
    count, right, total = _binned_sums(values, hits, bins)
    with np.errstate(invalid="ignore"):
        accuracy, mean = right / count, total / count
    edges = np.linspace(0, 1, bins + 1)
    return pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "count": count.astype(np.int64),
            "accuracy": accuracy,
            "confidence": mean,
            "gap": np.abs(accuracy - mean),
        }
    )


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> pd.DataFrame:
    """Accuracy and mean confidence by bin of confidence: what a reliability diagram shows.

    Returns
    -------
    DataFrame
        One row a bin: ``low``, ``high`` (its ends), ``count``, ``accuracy``, ``confidence``, ``gap`` (the
        absolute difference of the two); the last three are NaN in an empty bin.
    """
    return _reliability(*_confidence(probabilities, labels), bins)


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """ECE: calibration gap averaged over bins of confidence, each weighted by its share of samples; 0 to 1.

    Source: RaLEs, Appendix D, first formula; Guo et al. 2017.
    """
    frame = reliability(probabilities, labels, bins=bins)
    return float((frame["gap"].fillna(0) * frame["count"]).sum() / frame["count"].sum())


def maximum_calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """MCE: the largest calibration gap of any bin that is not empty; 0 to 1.

    torchmetrics gives a confidence of exactly 1 a bin of its own, which can change the maximum.

    Source: Guo et al. 2017, Section 3.
    """
    return float(reliability(probabilities, labels, bins=bins)["gap"].max())


def largest_weighted_gap(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """The largest term of ECE's sum: a gap times its bin's share of samples; 0 to ECE.

    The code released with RaLEs calls this MCE; :func:`maximum_calibration_error` is what its documentation
    describes.
    """
    frame = reliability(probabilities, labels, bins=bins)
    return float((frame["gap"].fillna(0) * frame["count"]).max() / frame["count"].sum())


def static_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10, zeros: Zeros = "first bin"
) -> float:
    """SCE: the calibration gap of every class's probability, averaged over classes; 0 to 1.

    Parameters
    ----------
    zeros : where probabilities of exactly 0 go; ``"dropped"`` ignores true classes to which the model gave 0.

    Source: RaLEs, Appendix D, second formula; Nixon et al. 2019.
    """
    array = _checked_probabilities(probabilities)
    samples, classes = array.shape
    truth = _checked_labels(labels, samples, classes)
    total = 0.0
    for index in range(classes):
        kept = array[:, index] > (0 if zeros == "dropped" else -1)
        column, right = array[kept, index], (truth[kept] == index).astype(np.float64)
        _, hits, mass = _binned_sums(column, right, bins)
        # n_bk |acc - conf| = |hits - mass|: the bin's count cancels.
        total += float(np.abs(hits - mass).sum())
    return total / (samples * classes)


def weighted_model_confidence(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """WMC: mean confidence, counted positive where the prediction is right and negative where wrong; -1 to 1.

    Source: RaLEs, Appendix D, third formula.
    """
    confidence, correct = _confidence(probabilities, labels)
    return float((confidence * (2 * correct - 1)).mean())


def average_predictive_entropy(probabilities: ArrayLike) -> float:
    """aPE: mean entropy of the predicted distribution in nats; 0 to log k.

    Source: RaLEs, Appendix D, last formula, with the minus sign that the paper leaves out.
    """
    return float(entr(_checked_probabilities(probabilities)).sum(axis=1).mean())


def average_kl_to_uniform(probabilities: ArrayLike) -> float:
    """aKLU as the paper defines it: mean KL(p || U) in nats; 0 to log k, and equal to log k - aPE.

    Source: RaLEs, Appendix D, fourth formula.
    """
    array = _checked_probabilities(probabilities)
    return float(rel_entr(array, 1 / array.shape[1]).sum(axis=1).mean())


def average_kl_from_uniform(probabilities: ArrayLike) -> float:
    """aKLU as the released code computes it: mean KL(U || p) in nats; 0 to infinity.

    Infinite as soon as one probability is 0. It grows where a model gives *any* class a tiny probability, so
    one very small class weighs more than all that the model says about likely ones.

    Source: evaluation/complementary_metrics.py of the RaLEs repository.
    """
    array = _checked_probabilities(probabilities)
    return float(rel_entr(1 / array.shape[1], array).sum(axis=1).mean())


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """NLL: mean of -log of the probability given to the true class, in nats; 0 to infinity.

    Infinite as soon as a true class was given 0.

    Source: RaLEs repository, evaluation/complementary_metrics.py (there on logits).
    """
    array = _checked_probabilities(probabilities)
    truth = _checked_labels(labels, *array.shape)
    with np.errstate(divide="ignore"):
        return float(-np.log(array[np.arange(len(truth)), truth]).mean())


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Brier score: squared distance of the probabilities from the truth's 0s and 1s, summed over classes and
    averaged over samples; 0 to 2.

    Source: Brier 1950. scikit-learn's is half of it where there are two classes.
    """
    array = _checked_probabilities(probabilities)
    truth = _checked_labels(labels, *array.shape)
    wanted = np.zeros_like(array)
    wanted[np.arange(len(truth)), truth] = 1
    return float(np.square(array - wanted).sum(axis=1).mean())


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Share of samples whose predicted class is the true one."""
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
HIGHER_IS_BETTER = frozenset(["accuracy", "WMC", "KL(p || U)", "KL(U || p)"])
"""Measures of which more is better, as the arrows of RaLEs' Table 7 have it; of the others less is."""


def measures(probabilities: ArrayLike, labels: ArrayLike) -> pd.Series:
    """All of :data:`MEASURES`, by name."""
    return pd.Series({name: function(probabilities, labels) for name, function in MEASURES.items()})
