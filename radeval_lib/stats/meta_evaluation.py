"""Meta-evaluation of metrics against people: pairs with ties, permutations within cases, systems.

mt-metrics-eval has the same measures for translation; a test compares with its code's numbers. pingouin has
neither ties as an answer nor permutations within cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.stats.inputs import FloatArray, at_least_one, finite, group_numbers


def pairs_within(cases: Sequence[object]) -> NDArray[np.intp]:
    """Return every two items of one case, as places; shape (pairs, 2)."""
    members: dict[object, list[int]] = {}
    for place, case in enumerate(cases):
        members.setdefault(case, []).append(place)
    found = [pair for places in members.values() for pair in combinations(places, 2)]
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def agrees(gaps: ArrayLike, wanted: ArrayLike, cases: Sequence[object]) -> NDArray[np.bool_]:
    """Return whether a metric says of each pair what people say: first, second, or a tie (acc*_eq); shape
    (pairs,).

    A gap of scores up to a threshold is called a tie (Deutsch et al. 2023, section 5): a gap's size, or 0,
    which agrees most often on all other cases, so that no pair's own rating helps it, and nothing depends on
    how cases are divided; of several that agree as often, the smallest.

    Parameters
    ----------
    gaps : the first item's scores minus the second's.
    wanted : what people say, 1, 0 or -1.
    cases : of each pair; two or more different ones.
    """
    gap = finite("gaps", gaps, None)
    want, place = finite("wanted", wanted, len(gap)), group_numbers("cases", cases, len(gap))
    if not np.isin(want, (-1, 0, 1)).all():
        raise ValueError("wanted holds a value other than 1, 0 and -1")
    if len(set(place)) < 2:
        raise ValueError("one case leaves no other to decide on what counts as a tie")
    sizes, signs = np.abs(gap), np.sign(gap)
    tried = np.unique(np.concatenate([[0.0], sizes]))
    right = np.where(sizes > tried[:, None], signs, 0) == want  # by threshold and pair
    of_case = np.zeros((len(gap), place.max() + 1))
    of_case[np.arange(len(gap)), place] = 1
    elsewhere = right.sum(axis=1, keepdims=True) - right @ of_case  # by threshold and case left out
    return right[elsewhere.argmax(axis=0)[place], np.arange(len(gap))]


def _grades(grades: ArrayLike) -> FloatArray:
    given = finite("grades", grades, None, None)
    if given.shape[1] < 2:
        raise ValueError("grades has one rater; give (items, raters) with at least two raters")
    return given


def _sign(gaps: FloatArray, grades: FloatArray) -> FloatArray:
    """Return the signs of differences; 0 of what rounding alone makes of equal means of decimal grades."""
    return np.where(np.abs(gaps) <= 1e-12 * np.abs(grades).max(initial=0.0), 0.0, np.sign(gaps))


def choices_of_others(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return what the mean of the other raters says of each pair where each rater is left out in turn: 1 the
    first, -1 the second, 0 neither; shape (raters, pairs).

    ``grades`` has shape (items, raters), finite, two raters or more; ``pairs`` is of :func:`pairs_within`.
    """
    given = _grades(grades)
    others = np.stack([np.delete(given, rater, 1).mean(axis=1) for rater in range(given.shape[1])])
    return _sign(others[:, pairs[:, 0]] - others[:, pairs[:, 1]], given)


def choices_of_raters(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return how often one rater says of each pair what the mean of the others says, 0 to 1; shape
    (pairs,)."""
    given = _grades(grades)
    own = _sign(given[pairs[:, 0]] - given[pairs[:, 1]], given).T
    return np.mean(own == choices_of_others(given, pairs), axis=0)


def choices_of_metric(
    scores: ArrayLike, grades: ArrayLike, pairs: NDArray[np.intp], cases: Sequence[object]
) -> FloatArray:
    """Return how often a metric says of each pair what :func:`choices_of_others` says, by :func:`agrees`;
    held against the same as a rater in :func:`choices_of_raters`. ``cases`` are of the pairs; shape
    (pairs,)."""
    score = finite("scores", scores, None)
    gaps = score[pairs[:, 0]] - score[pairs[:, 1]]
    return np.mean([agrees(gaps, wanted, cases) for wanted in choices_of_others(grades, pairs)], axis=0)


def superiority_p(first: ArrayLike, second: ArrayLike, *, resamples: int, rng: np.random.Generator) -> float:
    """Return one-sided p that the mean of one group of items is not above that of another, by permuting
    labels; (b + 1) / (resamples + 1), so never 0."""
    at_least_one("resamples", resamples)
    one, other = finite("first", first, None), finite("second", second, None)
    pooled, n = np.concatenate([one, other]), len(one)
    drawn = rng.permuted(np.tile(pooled, (resamples, 1)), axis=1)
    gaps = drawn[:, :n].mean(axis=1) - drawn[:, n:].mean(axis=1)
    return float((1 + (gaps >= one.mean() - other.mean() - 1e-12).sum()) / (resamples + 1))


def soft_pairwise_accuracy(ours: ArrayLike, theirs: ArrayLike) -> float:
    """Return how alike a metric and people are sure of which of two systems is better (Thompson et al. 2024,
    eq. 2): 1 minus the mean absolute difference of their p values, by :func:`superiority_p`, for pairs of
    systems."""
    mine = finite("ours", ours, None)
    both = np.stack([mine, finite("theirs", theirs, len(mine))])
    if not ((both >= 0) & (both <= 1)).all():
        raise ValueError("a p value lies outside [0, 1]")
    return float(1 - np.abs(both[0] - both[1]).mean())
