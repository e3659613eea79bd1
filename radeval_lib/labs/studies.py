"""Simulated studies in which two metrics follow the ratings equally well, to try tests on; and whether values
are of resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from radeval_lib.labs.comparing import goes_with

EQUAL = 0.5
"""Kendall's τ of either metric with the ratings."""
PAIRS = 200
"""Of candidate and reference in a study."""
_LOOKED_AT = 300  # resamples


def equal_metrics(rng: np.random.Generator, between: float, studies: int) -> NDArray[np.float64]:
    """Kendall's τ of two metrics with the same ratings in simulated studies; both are truly :data:`EQUAL`.

    Ratings and scores are normal and the pairs of a study independent. For normal variables Pearson's
    correlation is sin(πτ/2) (Kruskal 1958).

    Parameters
    ----------
    between : Kendall's τ of the two metrics with each other.

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


def of_resamples(
    values: Sequence[float],
    scores: Mapping[str, NDArray[np.float64]],
    quality: NDArray[np.float64],
    cases: NDArray[np.int64],
    pairs: NDArray[np.int64],
) -> bool:
    """Whether values are computed on the resamples that were drawn, by whatever statistic: they go together
    with Kendall's τ of ROUGE-L or METEOR, or with its lead, on the rows by case, by pair, or by case as if
    they were pairs. Some of the resamples show that."""
    if np.shape(values) != np.shape(cases)[:1]:
        return False
    members = np.arange(len(quality)).reshape(np.shape(cases)[1], -1)
    for drawn in (
        [members[row].ravel() for row in cases[:_LOOKED_AT]],
        pairs[:_LOOKED_AT],
        cases[:_LOOKED_AT],
    ):
        one, other = (
            np.array([kendalltau(scores[name][rows], quality[rows]).statistic for rows in drawn])
            for name in ("rouge_l", "meteor")
        )
        if goes_with(values[:_LOOKED_AT], [one, other, one - other]):
            return True
    return False
