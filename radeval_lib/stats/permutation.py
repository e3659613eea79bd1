"""What a mean score loses if the candidates are given to other cases: the exact permutation distribution.

With ``s[i, j]`` the score of candidate j against reference i, the mean over cases under a random permutation
of the candidates has the mean of all ``s`` as its expectation, and the sum of squares of the doubly centred
matrix over ``n**2 (n - 1)`` as its variance (Hoeffding 1951, Theorem 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from radeval_lib.stats.inputs import FloatArray, at_least_one, finite


@dataclass(frozen=True)
class Shuffled:
    """A mean score beside what permutations of the candidates would give.

    Attributes
    ----------
    observed : mean of the diagonal.
    mean, sd : exact, over all permutations.
    p : share of random permutations whose mean is at least ``observed``, the data counted as one more.
    expected : what each case adds to ``mean``, shape (n,): the mean of its row plus that of its column, less
        ``mean``. The diagonal of the scores minus this has ``observed - mean`` as its mean, so that
        resampling its values over cases gives that difference an interval.
    """

    observed: float
    mean: float
    sd: float
    p: float
    expected: FloatArray


def shuffled(scores: ArrayLike, *, permutations: int, rng: np.random.Generator) -> Shuffled:
    """The distribution for ``scores`` of shape (n, n), references by candidates; n at least 2.

    Raises
    ------
    ValueError
        Where the matrix is not square, smaller or not finite, or ``permutations`` is below 1.
    """
    table = finite("scores", scores, None, None)
    if table.shape[0] != table.shape[1] or len(table) < 2:
        raise ValueError(f"scores must have shape (n, n) with n of 2 or more, not {table.shape}")
    at_least_one("permutations", permutations)
    size = len(table)
    rows, columns, whole = table.mean(axis=1), table.mean(axis=0), float(table.mean())
    centred = table - rows[:, None] - columns[None, :] + whole
    observed = float(np.diagonal(table).mean())
    places, reached = np.arange(size), 0
    for _ in range(permutations):
        # Equal sums in another order differ in last digits.
        reached += table[places, rng.permutation(size)].mean() >= observed - 1e-12
    return Shuffled(
        observed,
        whole,
        float(np.sqrt((centred**2).sum() / (size - 1)) / size),
        (1 + reached) / (1 + permutations),
        rows + columns - whole,
    )
