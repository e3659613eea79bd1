"""Calibration and uncertainty of a probabilistic classifier, their resampling by document, and temperature
scaling.

Every measure takes ``probabilities`` of n samples over k classes (float, shape (n, k), rows that sum to 1)
and, if correctness matters, the true classes ``labels`` (int, shape (n,), 0 to k - 1); it returns a float.
The predicted class has the largest probability (the first of equal ones); this probability is the
confidence. Empty arrays, arrays of another shape, NaN, infinity and labels outside 0 to k - 1 raise
ValueError.

Bins divide [0, 1] into equal parts (low, high], as in the code released with RaLEs
(evaluation/complementary_metrics.py). The bins of the package netcal are [low, high), so the two differ only
for probabilities that equal an edge, such as 0.5; otherwise they agree to 1e-9. An exact 0 belongs to the
first bin; ``zeros="dropped"`` leaves it out of every bin, as the released code does. Logarithms are natural,
and 0 log 0 = 0.

Source: RaLEs (Zambrano Chaves et al. 2023), Appendix D, unless a docstring names another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import entr, log_softmax, rel_entr, softmax

from radeval_lib.stats.base import FloatArray, check_array, number_groups
from radeval_lib.stats.resampling import resample_sums

BINS = 10
"""The number of bins of confidence, as in RaLEs."""


def _check_probabilities(probabilities: ArrayLike) -> FloatArray:
    """Return probabilities as a checked float64 array of shape (n, k), with values above 1 set to 1."""
    # Probabilities from a float32 softmax may exceed 1 by their last digits.
    return check_array("probabilities", probabilities, None, None).clip(max=1.0)


def _check_labels(labels: ArrayLike, array: FloatArray) -> NDArray[np.int64]:
    """Return labels as an array of shape (n,) after checking them against probabilities of shape (n, k).

    Raises ValueError if there are not n labels, or one is not from 0 to k - 1.
    """
    truth, (samples, classes) = np.asarray(labels), array.shape
    is_class = (truth >= 0) & (truth < classes)  # False for NaN
    if truth.shape != (samples,) or not is_class.all():
        problem = f"labels of shape {truth.shape}, of which {(~is_class).sum()} are not class indices"
        raise ValueError(f"{problem}; pass {samples} integers from 0 to {classes - 1}")
    return truth


def bin_of(values: FloatArray, bins: int) -> NDArray[np.int64]:
    """Return the number of the bin (low, high] of each value, 0 to ``bins`` - 1, in the values' shape.

    Bin i is (i / bins, (i + 1) / bins]; a value of exactly 0 is in bin 0. Values are from 0 to 1.
    """
    numbers = np.searchsorted(np.linspace(0, 1, bins + 1), values).astype(np.int64) - 1
    return numbers.clip(0, bins - 1)


def _sum_bins(values: FloatArray, hits: FloatArray, bins: int) -> tuple[FloatArray, ...]:
    """Return three arrays of shape (bins,): for each bin, the number of ``values`` in it, the sum of their
    ``hits`` and the sum of these values.

    ``values`` (0 to 1) and ``hits`` (1 for a hit, else 0) have shape (n,).
    """
    numbers = bin_of(values, bins)
    addends = (np.ones_like(values), hits, values)
    return tuple(np.bincount(numbers, weights=part, minlength=bins).astype(np.float64) for part in addends)


def _confidence_and_hits(probabilities: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two arrays of shape (n,): the confidence of each prediction (0 to 1), and 1 if it is correct,
    otherwise 0."""
    array = _check_probabilities(probabilities)
    return array.max(axis=1), (array.argmax(axis=1) == _check_labels(labels, array)).astype(np.float64)


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> pd.DataFrame:
    """Return the accuracy and mean confidence in each bin of confidence, as in a reliability diagram.

    Returns
    -------
    DataFrame
        One row per bin: its bounds ``low`` and ``high``; ``count``, its number of samples; ``accuracy``;
        ``confidence``, its mean; and ``gap``, the absolute difference between accuracy and mean confidence.
        Accuracy, confidence and gap are from 0 to 1, and NaN in a bin without samples.
    """
    count, hits, total = _sum_bins(*_confidence_and_hits(probabilities, labels), bins)
    with np.errstate(invalid="ignore"):
        hit_rate, mean_confidence = hits / count, total / count
    edges = np.linspace(0, 1, bins + 1)
    frame = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "count": count.astype(np.int64)})
    return frame.assign(accuracy=hit_rate, confidence=mean_confidence, gap=np.abs(hit_rate - mean_confidence))


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> float:
    """Return the ECE: the mean of the bins' gaps (:func:`reliability`), weighted by their shares of samples;
    0 to 1.

    Source: RaLEs, Appendix D, first formula; Guo et al. 2017.
    """
    frame = reliability(probabilities, labels, bins=bins)
    return float((frame["gap"].fillna(0) * frame["count"]).sum() / frame["count"].sum())


def maximum_calibration_error(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the MCE: the largest gap of any bin with samples (:func:`reliability`); 0 to 1.

    Source: Guo et al. 2017.
    """
    return float(reliability(probabilities, labels)["gap"].max())


def largest_weighted_gap(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the largest term of the ECE's sum: a bin's gap times its share of samples; at most the ECE.

    The code released with RaLEs calls this number MCE, but its documentation describes
    :func:`maximum_calibration_error`.
    """
    frame = reliability(probabilities, labels)
    return float((frame["gap"].fillna(0) * frame["count"]).max() / frame["count"].sum())


def static_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, *, zeros: Literal["first bin", "dropped"] = "first bin"
) -> float:
    """Return the SCE: the calibration error of each class's probability, averaged over classes; 0 to 1.

    The error of a class is computed like the ECE, with the probability of this class in place of the
    confidence, and with the samples of this class as the hits. ``zeros`` says what happens to probabilities
    of exactly 0: they belong to the first bin, or to none. In the latter case, a true class with a
    probability of 0 adds nothing to the error. Source: RaLEs, Appendix D, second formula; Nixon et al. 2019.
    """
    array = _check_probabilities(probabilities)
    truth, total = _check_labels(labels, array), 0.0
    for index, column in enumerate(array.T):
        is_binned = column > (0 if zeros == "dropped" else -1)
        _, hits, mass = _sum_bins(column[is_binned], (truth[is_binned] == index).astype(np.float64), BINS)
        # The weighted gap of a bin is count * |hits / count - mass / count|, so its count cancels.
        total += float(np.abs(hits - mass).sum())
    return total / array.size


def weighted_model_confidence(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the WMC: the mean confidence, counted as negative if the prediction is wrong; -1 to 1.

    Source: RaLEs, Appendix D, third formula.
    """
    confidence, correct = _confidence_and_hits(probabilities, labels)
    return float((confidence * (2 * correct - 1)).mean())


def average_predictive_entropy(probabilities: ArrayLike) -> float:
    """Return the aPE: the mean entropy of the predicted distributions, in nats; 0 to log k.

    Source: RaLEs, Appendix D, last formula, with the minus sign that our copy of it lacks.
    """
    return float(entr(_check_probabilities(probabilities)).sum(axis=1).mean())


def average_kl_to_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as the paper defines it: the mean divergence KL(p || U) of the predicted distribution p
    from the uniform distribution U, in nats; 0 to log k.

    It equals log k - aPE. Source: RaLEs, Appendix D, fourth formula.
    """
    array = _check_probabilities(probabilities)
    return float(rel_entr(array, 1 / array.shape[1]).sum(axis=1).mean())


def average_kl_from_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as the code released with RaLEs computes it: the mean divergence KL(U || p) of the uniform
    distribution U from the predicted distribution p, in nats; 0 to infinity.

    Infinite if any probability is 0. A single class with a tiny probability can outweigh all likely classes.
    """
    array = _check_probabilities(probabilities)
    return float(rel_entr(1 / array.shape[1], array).sum(axis=1).mean())


def _log_losses(array: FloatArray, labels: ArrayLike) -> FloatArray:
    """Return -log of the probability of each true class, in nats; shape (n,). Infinite for a probability of
    0."""
    with np.errstate(divide="ignore"):
        return -np.log(array[np.arange(len(array)), _check_labels(labels, array)])


def _squared_distances(array: FloatArray, labels: ArrayLike) -> FloatArray:
    """Return the squared distance of each row from the vector with 1 for the true class and 0 for others;
    shape (n,), 0 to 2."""
    return np.asarray(np.square(array - np.eye(array.shape[1])[_check_labels(labels, array)]).sum(axis=1))


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the NLL: the mean of -log of the true class's probability, in nats; 0 to infinity.

    Infinite if the probability of any sample's true class is 0.
    """
    return float(_log_losses(_check_probabilities(probabilities), labels).mean())


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the Brier score: the squared distance of probabilities from 1 for the true class and 0 for
    others, summed over classes and averaged over samples; 0 to 2.

    For two classes, scikit-learn returns half of it.
    """
    return float(_squared_distances(_check_probabilities(probabilities), labels).mean())


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of samples whose predicted class is the true one; 0 to 1."""
    return float(_confidence_and_hits(probabilities, labels)[1].mean())


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
"""A mapping from the name of each measure in tables to its function of probabilities and labels."""


def compute_measures(probabilities: ArrayLike, labels: ArrayLike) -> pd.Series:
    """Return the values of all :data:`MEASURES` for one classifier, indexed by measure."""
    return pd.Series({name: function(probabilities, labels) for name, function in MEASURES.items()})


RESAMPLED_MEASURES = ("ECE", "NLL", "Brier")
"""The measures that :func:`resample_measures` computes."""


class ResampledMeasures(NamedTuple):
    """One classifier's :data:`RESAMPLED_MEASURES`.

    ``values``: the measures in each resample, one row per resample and one column per measure; ``observed``:
    the measures of all samples, without resampling, indexed by measure.
    """

    values: pd.DataFrame
    observed: pd.Series


def resample_measures(
    outputs: Sequence[ArrayLike],
    labels: ArrayLike,
    documents: Sequence[object],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> list[ResampledMeasures]:
    """Return ECE, NLL and Brier score of each classifier, on all samples and in each resample.

    The list has one item per classifier, in the order of ``outputs``. A resample draws whole documents with
    replacement, the same for all classifiers. The NLL of a resample is infinite if it contains a true class
    with a probability of 0.

    With few samples, an ECE of ten bins is biased upwards, and more so in resamples. The percentile interval
    of an ECE near 0 therefore lies above the true value too often; differences between classifiers on the
    same documents are affected less.

    Parameters
    ----------
    outputs : one array of probabilities per classifier, shape (n, k), for the same n samples.
    labels : the true classes, int, shape (n,), 0 to k - 1.
    documents : the document (or patient) of each sample, shape (n,); its samples are drawn together.
    resamples : the number of resamples.
    rng : the generator that draws the documents.

    Raises
    ------
    ValueError
        If probabilities or labels are refused, as the module docstring says; if a document is missing, or
        there is not one per sample.
    """
    # For each sample: 1, its loss, whether the loss is infinite, its squared distance, its gap in each bin.
    terms = []
    for output in outputs:
        array = _check_probabilities(output)
        (confidence, correct), loss = _confidence_and_hits(array, labels), _log_losses(array, labels)
        # Infinite losses are counted, not summed: only resamples that draw their documents are infinite.
        infinite, ones = np.isinf(loss), np.ones(len(array))
        gaps = np.eye(BINS)[bin_of(confidence, BINS)] * (correct - confidence)[:, None]
        distance = _squared_distances(array, labels)
        terms.append(np.column_stack([ones, np.where(infinite, 0.0, loss), infinite, distance, gaps]))
    codes = number_groups("documents", documents, len(terms[0]))
    table = np.zeros((codes.max() + 1, len(terms), terms[0].shape[1]))
    np.add.at(table, codes, np.stack(terms, axis=1))

    def values(sums: FloatArray) -> FloatArray:
        """Return ECE, NLL and Brier score from sums over samples; shape (resamples, outputs, 3)."""
        parts = sums.reshape(-1, *table.shape[1:])
        size, loss, infinite, distance = np.moveaxis(parts[..., :4], -1, 0)
        ece, nll = np.abs(parts[..., 4:]).sum(axis=-1) / size, np.where(infinite > 0, np.inf, loss) / size
        return np.stack([ece, nll, distance / size], axis=-1)

    resampled = resample_sums(table.reshape(len(table), -1), values, resamples=resamples, rng=rng)
    observed, names = values(table.sum(axis=0))[0], RESAMPLED_MEASURES
    return [
        ResampledMeasures(pd.DataFrame(resampled[:, number], columns=names), pd.Series(row, index=names))
        for number, row in enumerate(observed)
    ]


LOWEST, HIGHEST = 0.02, 50.0
"""Bounds of a fitted temperature, without unit. If every validation sample is classified correctly, a lower
temperature is always likelier, and the fit is the lowest."""


def at_temperature(logits: ArrayLike, temperature: float) -> FloatArray:
    """Return the probabilities softmax(logits / temperature), float64, of the logits' shape (n, k): sharper
    below 1, flatter above (Guo et al. 2017, Section 4.2).

    Log-probabilities may be passed as logits. The predicted class never changes. The temperature is finite
    and above 0.
    """
    return softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1)


def has_finite_truth(logits: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the logit of each row's true class is finite; bool, shape (n,).

    At any temperature, the probability of a true class whose logit is -inf is 0.
    """
    array = np.asarray(logits, dtype=np.float64)
    return np.isfinite(array[np.arange(len(array)), np.asarray(labels)])


def fit_temperature(logits: ArrayLike, labels: ArrayLike) -> float:
    """Return the temperature from :data:`LOWEST` to :data:`HIGHEST` with the smallest negative
    log-likelihood.

    The log-likelihood is concave in 1 / temperature, so it has a single maximum.

    Parameters
    ----------
    logits : the logits of validation samples, shape (n, k). Test samples must not be among them.
    labels : the true classes, int, shape (n,), 0 to k - 1, each with a finite logit.

    Raises
    ------
    ValueError
        If there are no samples, a logit is NaN, or the logit of a true class is infinite
        (:func:`has_finite_truth`).
    """
    array, truth = np.asarray(logits, dtype=np.float64), np.asarray(labels)
    if not array.size or np.isnan(array).any():
        problem = f"logits of shape {array.shape} have {int(np.isnan(array).sum())} NaN values"
        raise ValueError(f"{problem}; pass one or more validation samples without NaN")
    if infinite := int((~has_finite_truth(array, truth)).sum()):
        raise ValueError(f"{infinite} true classes have an infinite logit; leave these samples out")
    true_logits = array[np.arange(len(truth)), truth]
    if (true_logits > np.where(np.eye(array.shape[1], dtype=bool)[truth], -np.inf, array).max(axis=1)).all():
        return LOWEST  # at low temperatures the loss is exactly 0, so a search would stop at any of them

    def loss(log_temperature: float) -> float:
        losses = -log_softmax(array / np.exp(log_temperature), axis=1)
        return float(losses[np.arange(len(truth)), truth].mean())

    bounds = (float(np.log(LOWEST)), float(np.log(HIGHEST)))
    optimum = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(optimum.x))


def known_classifier(
    rng: np.random.Generator, documents: int = 20_000, classes: int = 46
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return logits of a calibrated classifier, shape (documents, classes), and true classes, shape
    (documents,).

    The logits are normal with standard deviation 4; each true class is drawn from the softmax of its logits.
    """
    logits = 4 * rng.standard_normal((documents, classes))
    uniforms = rng.random((documents, 1))
    sampled_classes = (softmax(logits, axis=1).cumsum(axis=1) < uniforms).sum(axis=1)
    return logits, np.minimum(sampled_classes, classes - 1)
