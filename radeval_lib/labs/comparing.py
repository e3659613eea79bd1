"""How hidden tests compare numbers: with their shape first, so that nothing that is no answer equals one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

_TOGETHER = 0.6
"""Correlation over resamples: of a wrong statistic, such as one of other rows of the same cases, with a right
one it is 0.66 and more, of means and spreads of what was drawn at most 0.6, and of made-up numbers near 0."""
_LOOKED_AT = 300  # resamples


def same_numbers(found: Any, wanted: Any, within: float = 1e-6) -> bool:
    """Whether two answers hold the same numbers, as many in each row, each within so much of the other and a
    hundred thousandth of it. Texts are no numbers, and NaN and infinity equal none.

    NumPy's ``allclose`` stretches the smaller of two arrays, and finds an empty one equal to any.
    """
    given, right = _numbers(found), _numbers(wanted)
    if given is None or right is None or given.shape != right.shape or not np.isfinite([given, right]).all():
        return False
    return bool((np.abs(given - right) <= within + 1e-5 * np.abs(right)).all())


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """An array of numbers or truth values; None for texts, rows of different lengths and anything else."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array.astype(float) if array.dtype.kind in "biuf" else None


def correlation(one: Any, other: Any) -> float:
    """Pearson's correlation of two lists of as many numbers; 0 where it is not defined: of anything else, of
    none, of a constant, and with NaN or infinity."""
    given = _numbers(one), _numbers(other)
    if given[0] is None or given[1] is None or given[0].shape != given[1].shape or given[0].ndim != 1:
        return 0.0
    both = np.array(given)
    if not both.size or not np.isfinite(both).all() or (np.ptp(both, axis=1) == 0).any():
        return 0.0
    return float(np.corrcoef(both)[0, 1])


def goes_with(values: Any, right: Iterable[Any]) -> bool:
    """Whether values go together with one of several right ones over the same resamples, up or down, as those
    of a mistaken statistic do, and numbers do not that were made up to look like them."""
    return any(abs(correlation(values, one)) > _TOGETHER for one in right)


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
