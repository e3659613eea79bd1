"""What a classifier of documents does class by class, read fairly where a class has few documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import precision_recall_fscore_support


def by_class(labels: ArrayLike, predicted: ArrayLike, names: Sequence[str]) -> pd.DataFrame:
    """Precision, recall and F1 of each class that has test documents.

    Parameters
    ----------
    labels, predicted : int, shape (n,), places among ``names``.
    names : of the classes.

    Returns
    -------
    DataFrame
        Index ``procedure``, the most frequent first; ``N`` (int), ``precision``, ``recall``, ``F1`` and
        ``recall, shrunken`` (percent; a precision without predictions is 0).
    """
    truth = np.asarray(labels)
    found = precision_recall_fscore_support(
        truth, np.asarray(predicted), labels=range(len(names)), zero_division=0
    )
    table = pd.DataFrame(
        dict(zip(("precision", "recall", "F1", "N"), found, strict=True)),
        index=pd.Index(names, name="procedure"),
    )
    table = table[table["N"] > 0].sort_values("N", ascending=False, kind="stable")
    hits = (table["recall"] * table["N"]).round().to_numpy()
    table["recall, shrunken"] = shrunken(hits, table["N"].to_numpy())
    shares = ["precision", "recall", "F1", "recall, shrunken"]
    return table.assign(**{name: 100 * table[name] for name in shares})[["N", *shares]]


def shrunken(hits: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """Shares drawn towards what all have in common, the more the fewer cases they rest on.

    The shares are taken as drawn from one beta distribution, fitted by maximum likelihood to the counts
    (empirical Bayes; Efron and Morris 1975 for the idea); each is replaced by its posterior mean.

    Parameters
    ----------
    hits, totals : whole numbers, shape (k,); totals above 0.

    Raises
    ------
    ValueError
        Where there are more hits than cases, or no cases.
    """
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    if (n < 1).any() or (k < 0).any() or (k > n).any():
        raise ValueError("hits must lie between 0 and the total, and every total above 0")

    def loss(given: NDArray[np.float64]) -> float:
        mean, strength = expit(given[0]), np.exp(given[1])
        return -float(stats.betabinom.logpmf(k, n, mean * strength, (1 - mean) * strength).sum())

    # Beyond these strengths the prior is one point, or none at all.
    best = minimize(loss, x0=[0.0, 1.0], bounds=[(-5, 5), (-2, 7)], method="L-BFGS-B")
    mean, strength = expit(best.x[0]), np.exp(best.x[1])
    result: NDArray[np.float64] = (k + mean * strength) / (n + strength)
    return result


def confident(predictions: pd.DataFrame, right: bool, number: int = 3) -> pd.DataFrame:
    """The surest predictions that are right, or wrong.

    Parameters
    ----------
    predictions : one row a document, with ``reference``, ``predicted`` and ``P(predicted)``.
    right : which are wanted.
    number : how many at most.
    """
    rows = predictions[(predictions["reference"] == predictions["predicted"]) == right]
    return rows.sort_values("P(predicted)", ascending=False, kind="stable").head(number)
