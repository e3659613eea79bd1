"""Calibration and uncertainty of a probabilistic classifier, resamples of whole documents, and temperatures.

Every measure takes ``probabilities`` of shape (n, k), float, rows that sum to 1, and, if correctness
matters, ``labels`` of shape (n,), int, 0 to k - 1; it returns a float. The predicted class is that of the
largest probability (the first of equal ones), its probability the confidence. Empty arrays, another
shape, NaN and other labels raise ValueError.

Bins divide [0, 1] into equal parts (lo, hi], as the code that was released with RaLEs has them
(evaluation/complementary_metrics.py); netcal's are [lo, hi), and this module equals it to 1e-9 but for
probabilities that are an edge to the last digit, such as 0.5. An exact 0 belongs to the first bin;
``zeros="dropped"`` leaves it out of every bin, as the released code does. Logarithms are natural, and
0 log 0 = 0.

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

from radeval_lib.stats.base import FloatArray, finite, group_numbers
from radeval_lib.stats.resampling import sum_draws

BINS = 10
"""Of confidence, as RaLEs has them."""


def _array(probabilities: ArrayLike) -> FloatArray:
    # Rows of float32 softmax output may exceed 1 by their last digits.
    return finite("probabilities", probabilities, None, None).clip(max=1.0)


def _truth(labels: ArrayLike, array: FloatArray) -> NDArray[np.int64]:
    truth, (samples, classes) = np.asarray(labels), array.shape
    if truth.shape != (samples,) or not ((truth >= 0) & (truth < classes)).all():
        problem = f"labels have another shape than ({samples},) or a value outside 0 to {classes - 1}"
        raise ValueError(f"{problem}; give one label for each row of probabilities")
    return truth


def bin_of(values: FloatArray, bins: int) -> NDArray[np.int64]:
    """Return the index of the bin (lo, hi] of each value, in the values' shape; an exact 0 is in the first
    bin."""
    numbers = np.searchsorted(np.linspace(0, 1, bins + 1), values).astype(np.int64) - 1
    return numbers.clip(0, bins - 1)


def _binned_sums(values: FloatArray, hits: FloatArray, bins: int) -> tuple[FloatArray, ...]:
    """Return, by bin, how many values there are, the sum of hits and the sum of values."""
    numbers = bin_of(values, bins)
    summed = (np.ones_like(values), hits, values)
    return tuple(np.bincount(numbers, weights=part, minlength=bins).astype(np.float64) for part in summed)


def _confidence(probabilities: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the confidence and the correctness (1 or 0) of each prediction."""
    array = _array(probabilities)
    return array.max(axis=1), (array.argmax(axis=1) == _truth(labels, array)).astype(np.float64)


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> pd.DataFrame:
    """Return the accuracy and mean confidence in each bin of confidence, as in a reliability diagram.

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
    """Return ECE: the mean calibration gap of the bins of confidence, weighted by their share of samples; 0
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
    zeros: Literal["first bin", "dropped"] = "first bin",
) -> float:
    """Return SCE: the calibration gap of every class's probability, averaged over classes; 0 to 1.

    ``zeros`` says where probabilities of exactly 0 go; ``"dropped"`` ignores true classes to which the model
    gave 0. Source: RaLEs, Appendix D, second formula; Nixon et al. 2019.
    """
    array = _array(probabilities)
    truth, total = _truth(labels, array), 0.0
    for index, column in enumerate(array.T):
        kept = column > (0 if zeros == "dropped" else -1)
        _, hits, mass = _binned_sums(column[kept], (truth[kept] == index).astype(np.float64), BINS)
        # n_bk |acc - conf| = |hits - mass|: the bin's count cancels.
        total += float(np.abs(hits - mass).sum())
    return total / array.size


def weighted_model_confidence(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return WMC: mean confidence, positive if the prediction is right and negative if it is wrong; -1 to 1.

    Source: RaLEs, Appendix D, third formula.
    """
    confidence, correct = _confidence(probabilities, labels)
    return float((confidence * (2 * correct - 1)).mean())


def average_predictive_entropy(probabilities: ArrayLike) -> float:
    """Return aPE: mean entropy of the predicted distribution in nats; 0 to log k.

    Source: RaLEs, Appendix D, last formula, with the minus sign that our copy of it lacks.
    """
    return float(entr(_array(probabilities)).sum(axis=1).mean())


def average_kl_to_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as the paper defines it: mean KL(p || U) in nats; 0 to log k, and equal to log k - aPE.

    Source: RaLEs, Appendix D, fourth formula.
    """
    array = _array(probabilities)
    return float(rel_entr(array, 1 / array.shape[1]).sum(axis=1).mean())


def average_kl_from_uniform(probabilities: ArrayLike) -> float:
    """Return aKLU as computed by the code released with RaLEs: mean KL(U || p) in nats; 0 to infinity.

    Infinite as soon as one probability is 0. It grows if a model gives *any* class a tiny probability, so one
    very small class weighs more than all that the model says about likely ones.
    """
    array = _array(probabilities)
    return float(rel_entr(1 / array.shape[1], array).sum(axis=1).mean())


def _losses(array: FloatArray, labels: ArrayLike) -> FloatArray:
    with np.errstate(divide="ignore"):
        return -np.log(array[np.arange(len(array)), _truth(labels, array)])


def _distances(array: FloatArray, labels: ArrayLike) -> FloatArray:
    return np.asarray(np.square(array - np.eye(array.shape[1])[_truth(labels, array)]).sum(axis=1))


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return NLL: mean of -log of the probability given to the true class, in nats; infinite if that is 0."""
    return float(_losses(_array(probabilities), labels).mean())


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the Brier score: squared distance of the probabilities from the truth's 0s and 1s, summed over
    classes and averaged over samples; 0 to 2. scikit-learn's is half of it if there are two classes."""
    return float(_distances(_array(probabilities), labels).mean())


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of samples with the true class predicted."""
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
    resamples more so: the percentile interval of an ECE near 0 is above it more often than it should.
    Differences on the same documents suffer less.

    Parameters
    ----------
    outputs : probabilities of each classifier on the same samples, shape (n, k).
    labels : int, shape (n,).
    documents : shape (n,); samples of one document (or patient) are drawn together.
    """
    terms = []  # of each sample: 1, its loss, whether that is infinite, its squared distance, its gap by bin
    for output in outputs:
        array = _array(output)
        (confidence, correct), loss = _confidence(array, labels), _losses(array, labels)
        # A document with an infinite term makes only those resamples infinite that it is drawn for.
        infinite, ones = np.isinf(loss), np.ones(len(array))
        gaps = np.eye(BINS)[bin_of(confidence, BINS)] * (correct - confidence)[:, None]
        distance = _distances(array, labels)
        terms.append(np.column_stack([ones, np.where(infinite, 0.0, loss), infinite, distance, gaps]))
    codes = group_numbers("documents", documents, len(terms[0]))
    table = np.zeros((codes.max() + 1, len(terms), terms[0].shape[1]))
    np.add.at(table, codes, np.stack(terms, axis=1))

    def values(sums: FloatArray) -> FloatArray:
        """Return the measures :data:`DRAWN` from sums over samples, shape (..., outputs, measures)."""
        parts = sums.reshape(-1, *table.shape[1:])
        size, loss, infinite, distance = np.moveaxis(parts[..., :4], -1, 0)
        ece, nll = np.abs(parts[..., 4:]).sum(axis=-1) / size, np.where(infinite > 0, np.inf, loss) / size
        return np.stack([ece, nll, distance / size], axis=-1)

    drawn = sum_draws(table.reshape(len(table), -1), values, resamples=resamples, rng=rng)
    observed = values(table.sum(axis=0))[0]
    return [
        CalibrationDraws(pd.DataFrame(drawn[:, number], columns=DRAWN), pd.Series(row, index=DRAWN))
        for number, row in enumerate(observed)
    ]


LOWEST, HIGHEST = 0.02, 50.0
"""Bounds of a fitted temperature, without dimension. The lowest is the answer if every validation sample is
right, so that ever sharper probabilities are ever likelier."""


def at_temperature(logits: ArrayLike, temperature: float) -> FloatArray:
    """Return the probabilities softmax(logits / temperature), float64, of the logits' shape (n, k): sharper
    below 1, flatter above (Guo et al. 2017, Section 4.2).

    Log-probabilities may be passed as logits. The predicted class never changes. The temperature is finite
    and above 0.
    """
    return softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1)


def has_finite_truth(logits: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each row's true class has a finite logit, so that some temperature gives it a
    probability above 0."""
    array = np.asarray(logits, dtype=np.float64)
    return np.isfinite(array[np.arange(len(array)), np.asarray(labels)])


def fit_temperature(logits: ArrayLike, labels: ArrayLike) -> float:
    """Return the temperature from :data:`LOWEST` to :data:`HIGHEST` with the smallest negative
    log-likelihood.

    The likelihood is concave in 1 / temperature, so the best one is the only one.

    Parameters
    ----------
    logits : shape (n, k), of validation samples; never of those that the result is judged on.
    labels : int, shape (n,), 0 to k - 1; of classes with a finite logit (:func:`has_finite_truth`).

    Raises
    ------
    ValueError
        For no samples, a logit that is NaN, or a true class whose logit is -inf.
    """
    array, truth = np.asarray(logits, dtype=np.float64), np.asarray(labels)
    if not array.size or np.isnan(array).any():
        raise ValueError("logits are empty or hold NaN; give validation samples without NaN")
    if not has_finite_truth(array, truth).all():
        raise ValueError("a true class has probability 0, which no temperature changes")
    of_truth = array[np.arange(len(truth)), truth]
    if (of_truth > np.where(np.eye(array.shape[1], dtype=bool)[truth], -np.inf, array).max(axis=1)).all():
        return LOWEST  # the loss falls to 0 to the last digit, so a search would stop anywhere

    def loss(log_temperature: float) -> float:
        losses = -log_softmax(array / np.exp(log_temperature), axis=1)
        return float(losses[np.arange(len(truth)), truth].mean())

    ends = (float(np.log(LOWEST)), float(np.log(HIGHEST)))
    best = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(best.x))


def known_classifier(
    rng: np.random.Generator, documents: int = 20_000, classes: int = 46
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return logits, shape (documents, classes), and labels drawn from exactly their probabilities."""
    logits = 4 * rng.standard_normal((documents, classes))
    drawn = rng.random((documents, 1))
    below = (softmax(logits, axis=1).cumsum(axis=1) < drawn).sum(axis=1)
    return logits, np.minimum(below, classes - 1)
