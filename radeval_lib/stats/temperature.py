"""Temperature scaling: one number, fitted on validation, that sharpens or flattens probabilities.

Source: Guo et al. 2017, Section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

LOWEST, HIGHEST = 0.02, 50.0
"""Bounds of a temperature, without dimension. The lowest is the answer if every validation sample is
right, so that ever sharper probabilities are ever likelier."""


def scale(logits: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """Return the probabilities softmax(logits / temperature), float64, of the logits' shape (n, k).

    Log-probabilities may be passed as logits. The predicted class never changes. The temperature is finite
    and above 0.
    """
    return softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1)


def has_finite_truth(logits: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each row's true class has a finite logit, so that some temperature gives it a
    probability above 0."""
    array = np.asarray(logits, dtype=np.float64)
    return np.isfinite(array[np.arange(len(array)), np.asarray(labels)])


def fit(logits: ArrayLike, labels: ArrayLike) -> float:
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
        For a true class whose logit is -inf.
    """
    array, truth = np.asarray(logits, dtype=np.float64), np.asarray(labels)
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
