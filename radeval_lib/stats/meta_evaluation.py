"""Meta-evaluation of metrics against people: pairs with ties, permutations within cases, systems.

mt-metrics-eval has the same measures for translation; a test compares with its code's numbers. pingouin has
neither ties as an answer nor permutations within cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from radeval_lib.stats.correlations import coefficient
from radeval_lib.stats.inputs import finite, places
from radeval_lib.stats.printed import Kind

_FOLDS = 5


def pairs_within(cases: Sequence[object]) -> NDArray[np.intp]:
    """Every two items of one case, as places; shape (pairs, 2)."""
    members: dict[object, list[int]] = {}
    for place, case in enumerate(cases):
        members.setdefault(case, []).append(place)
    found = [pair for places in members.values() for pair in combinations(places, 2)]
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def tie_threshold(gaps: ArrayLike, wanted: ArrayLike) -> float:
    """The threshold up to which a gap of two scores is best called a tie (Deutsch et al. 2023, section 5): a
    gap's size, or 0; of several that agree as often, the smallest.

    ``gaps`` are the first item's scores minus the second's, ``wanted`` is 1, 0 or -1, as people put it.
    """
    gap = finite("gaps", gaps, None)
    sizes, signs, want = np.abs(gap), np.sign(gap), finite("wanted", wanted, len(gap))
    tried = np.unique(np.concatenate([[0.0], sizes]))
    agree = [(np.where(sizes > threshold, signs, 0) == want).mean() for threshold in tried]
    return float(tried[int(np.argmax(agree))])


def agrees(
    gaps: ArrayLike, wanted: ArrayLike, cases: Sequence[object], *, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether a metric says of each pair what people say: first, second, or a tie (acc*_eq); shape (pairs,).

    What counts as a tie is decided on the other four fifths of the cases, so that no pair's own rating helps
    it.

    Parameters
    ----------
    gaps, wanted : see :func:`tie_threshold`.
    cases : of each pair; a case is in one fifth.
    rng : assigns cases to fifths.
    """
    names = list(dict.fromkeys(cases))
    if len(names) < _FOLDS:
        raise ValueError(f"{len(names)} cases do not fill {_FOLDS} folds")
    fold_of = dict(zip(names, rng.permutation(np.arange(len(names)) % _FOLDS), strict=True))
    fold = np.array([fold_of[case] for case in cases])
    gap, want = finite("gaps", gaps, len(fold)), finite("wanted", wanted, len(fold))
    found = np.zeros(len(gap), dtype=bool)
    for number in range(_FOLDS):
        mine = fold == number
        threshold = tie_threshold(gap[~mine], want[~mine])
        found[mine] = np.where(np.abs(gap[mine]) > threshold, np.sign(gap[mine]), 0) == want[mine]
    return found


def permutation_p(
    first: ArrayLike,
    second: ArrayLike,
    ratings: ArrayLike,
    cases: Sequence[object],
    kind: Kind,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> float:
    """Two-sided p that two metrics correlate alike with ratings: their scores change places, case by case.

    Scores are replaced by their ranks, since those of two metrics have no common unit. As PERM-BOTH of
    Deutsch et al. (2021), with cases for rows; (b + 1) / (n + 1), so never 0.
    """
    rated = finite("ratings", ratings, None)
    mine, theirs = (
        rankdata(finite("first", first, len(rated))),
        rankdata(finite("second", second, len(rated))),
    )
    place = places("cases", cases, len(rated), sort=True)

    def gap(swapped: NDArray[np.bool_]) -> float:
        one, other = np.where(swapped, theirs, mine), np.where(swapped, mine, theirs)
        return coefficient(one, rated, kind) - coefficient(other, rated, kind)

    seen = abs(gap(np.zeros(len(mine), dtype=bool)))
    drawn = (rng.random((resamples, place.max() + 1)) < 0.5)[:, place]
    as_large = sum(abs(gap(swapped)) >= seen - 1e-12 for swapped in drawn)
    return (as_large + 1) / (resamples + 1)


def superiority_p(first: ArrayLike, second: ArrayLike, *, resamples: int, rng: np.random.Generator) -> float:
    """One-sided p that the mean of one group of items is not above that of another, by permuting labels."""
    one, other = finite("first", first, None), finite("second", second, None)
    pooled, n = np.concatenate([one, other]), len(one)
    drawn = rng.permuted(np.tile(pooled, (resamples, 1)), axis=1)
    gaps = drawn[:, :n].mean(axis=1) - drawn[:, n:].mean(axis=1)
    return float((1 + (gaps >= one.mean() - other.mean() - 1e-12).sum()) / (resamples + 1))


def soft_pairwise_accuracy(ours: ArrayLike, theirs: ArrayLike) -> float:
    """How alike a metric and people are sure of which of two systems is better (Thompson et al. 2024, eq. 2):
    1 minus the mean absolute difference of their p values, by :func:`superiority_p`, for pairs of systems."""
    mine = finite("ours", ours, None)
    return float(1 - np.abs(mine - finite("theirs", theirs, len(mine))).mean())
