"""Simulated studies in which two metrics follow the ratings equally well, to try tests on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

EQUAL = 0.5
"""Kendall's τ of either metric with the ratings."""
PAIRS = 200
"""Of candidate and reference in a study."""


def equal_metrics(rng: np.random.Generator, between: float, studies: int) -> NDArray[np.float64]:
    """Kendall's τ of two metrics with the same ratings in simulated studies; both are truly :data:`EQUAL`.

    Ratings and scores are normal and the pairs of a study independent. For normal variables Pearson's
    correlation is sin(πτ/2) (Kruskal 1958).

    Parameters
    ----------
    between : Kendall's τ of the two metrics with each other, above 0 and below 1: of two metrics that follow
        the same ratings at 0.5 no other is possible, and NumPy raises a LinAlgError.
    studies : how many.

    Returns
    -------
    array of shape (studies, 2)
    """
    with_ratings, with_each_other = np.sin(np.pi / 2 * np.array([EQUAL, between]))
    correlations = np.full((3, 3), with_ratings)
    correlations[1:, 1:] = with_each_other
    np.fill_diagonal(correlations, 1)
    drawn = rng.multivariate_normal(np.zeros(3), correlations, size=(studies, PAIRS), method="cholesky")
    return np.array([[kendalltau(one[:, 0], one[:, k]).statistic for k in (1, 2)] for one in drawn])
