"""Learning W and p from rated pairs with the tree-structured Parzen estimator (Zhao et al. 2024, Section
2.5).

The entities and cosines of a pair do not depend on W and p, so each pair is prepared once and a trial is a
few array operations over all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from radeval_lib.data.categories import TYPES
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore.metric import Encoder, RaTEScore, Tagger, Vectors
from radeval_lib.metrics.ratescore.scoring import Entity, Options, Scorer, penalty_matrix
from radeval_lib.metrics.ratescore.weights import Weights, type_indices

Objective = Literal["kendall", "pearson"]


@dataclass(frozen=True)
class PreparedPair:
    """A pair's entities and the cosines of their embeddings, shape (reference entities, candidate
    entities)."""

    reference: tuple[Entity, ...]
    candidate: tuple[Entity, ...]
    cosines: NDArray[np.float64]


def prepared(
    tagger: Tagger, encoder: Encoder, references: Sequence[str], candidates: Sequence[str], **settings: Any
) -> list[PreparedPair]:
    """The entities of each pair, and the cosines between them.

    Parameters
    ----------
    settings : of :class:`~radeval_lib.metrics.ratescore.RaTEScore`.
    """
    metric = RaTEScore.with_models(tagger, encoder, **settings)
    ours, theirs = (metric.entities(texts) for texts in (references, candidates))
    return compared(encoder, zip(ours, theirs, strict=True))


def compared(
    encoder: Encoder, pairs: Iterable[tuple[tuple[Entity, ...], tuple[Entity, ...]]]
) -> list[PreparedPair]:
    """Pairs of entities, of the reference and of the candidate, with the cosines between them."""
    read = list(pairs)
    vectors = Vectors(encoder.encode)
    vectors.learn(entity.text for pair in read for side in pair for entity in side)
    return [PreparedPair(ours, theirs, vectors.rows(ours) @ vectors.rows(theirs).T) for ours, theirs in read]


class PairTable:
    """The matches of many pairs as flat arrays: scores of all pairs for any W and p at once.

    Parameters
    ----------
    pairs : prepared pairs.
    options : see :class:`~radeval_lib.metrics.ratescore.scoring.Options`.
    """

    def __init__(self, pairs: Sequence[PreparedPair], options: Options | None = None) -> None:
        self.options = options or Options()
        scorer = Scorer("long", self.options)
        self.size = len(pairs)
        self._empty = np.full(self.size, np.nan)
        columns: list[list[NDArray[Any]]] = [[], [], [], []]
        for index, pair in enumerate(pairs):
            if not pair.reference or not pair.candidate:
                self._empty[index] = scorer.empty_score(len(pair.reference), len(pair.candidate))
                continue
            ours, theirs = ([entity.type for entity in side] for side in (pair.reference, pair.candidate))
            sides = ((0, ours, theirs, pair.cosines), (1, theirs, ours, pair.cosines.T))
            for which, types, others, table in sides:
                found = scorer.direction(types, others, table)
                slot = np.full(len(types), 2 * index + which)
                cells = (slot, type_indices(types), type_indices(others)[found.found], found.cosines)
                for column, cell in zip(columns, cells, strict=True):
                    column.append(cell)
        joined = [np.concatenate(column) if column else np.empty(0) for column in columns]
        self._slot, self._row, self._column = (part.astype(np.intp) for part in joined[:3])
        self._cosine = joined[3]

    def type_counts(self) -> NDArray[np.int64]:
        """How many matches use each cell of W; shape (5, 5), type of the query by type of its match."""
        counts = np.zeros((len(TYPES), len(TYPES)), dtype=np.int64)
        np.add.at(counts, (self._row, self._column), 1)
        return counts

    def scores(self, weights: Weights) -> NDArray[np.float64]:
        """The score of each pair; float64, shape (number of pairs,)."""
        matrix = weights.matrix if self.options.orientation == "query_first" else weights.matrix.T
        penalties = penalty_matrix(weights.penalty, self.options)
        weight = matrix[self._row, self._column]
        term = weight * penalties[self._row, self._column] * self._cosine
        above = np.bincount(self._slot, term, 2 * self.size)
        below = np.bincount(self._slot, weight, 2 * self.size)
        means = np.divide(above, below, out=np.zeros_like(above), where=below != 0).reshape(-1, 2)
        total = means.sum(axis=1)
        product = 2 * means.prod(axis=1)
        values = np.divide(product, total, out=np.zeros_like(product), where=total != 0)
        return np.where(np.isnan(self._empty), values, self._empty)


@dataclass
class Learned:
    """What the search found."""

    weights: Weights
    train: float
    test: float
    history: list[float] = field(default_factory=list)

    @property
    def best(self) -> NDArray[np.float64]:
        return np.maximum.accumulate(np.array(self.history))


def correlation(scores: NDArray[Any], ratings: NDArray[Any], objective: Objective) -> float:
    """Kendall's tau-b or Pearson's r; 0 where either side does not vary."""
    if len(scores) < 2 or np.ptp(scores) == 0 or np.ptp(ratings) == 0:
        return 0.0
    measure = stats.kendalltau if objective == "kendall" else stats.pearsonr
    value = float(measure(scores, ratings)[0])
    return value if np.isfinite(value) else 0.0


def learn(
    pairs: Sequence[PreparedPair],
    ratings: Sequence[float],
    *,
    objective: Objective = "kendall",
    trials: int = 300,
    seed: int = 0,
    test_share: float = 0.2,
    groups: Sequence[object] | None = None,
    unseen: NDArray[np.bool_] | None = None,
    options: Options | None = None,
) -> Learned:
    """Search for the W and p whose scores go best with the ratings of the training part.

    Parameters
    ----------
    pairs : prepared pairs.
    ratings : one a pair; higher is better.
    objective : ``kendall`` or ``pearson``.
    trials : of the estimator; each of the 26 numbers is sought between 0 and 1.
    test_share : share of the groups that is held out (the paper: 0.2).
    groups : pairs of one group (for example of one case) stay on one side; None: each pair is its own.
    unseen : which pairs to hold out, shape (pairs,), in place of a share of the groups.

    Raises
    ------
    MetricError
        If the lengths differ, there are fewer than five groups, or a rating is not finite.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if len(values) != len(pairs):
        raise MetricError(f"{len(pairs)} pairs but {len(values)} ratings", "learn")
    if not np.isfinite(values).all():
        raise MetricError("a rating is not a finite number", "learn")
    if objective not in ("kendall", "pearson"):
        raise MetricError(f"unknown objective {objective!r}", "learn", "Choices: kendall, pearson.")
    held_out = unseen
    if held_out is None:
        held_out = held_out_pairs(groups if groups is not None else range(len(pairs)), test_share, seed)
    parts = [np.flatnonzero(~held_out).tolist(), np.flatnonzero(held_out).tolist()]
    tables = [PairTable([pairs[index] for index in part], options) for part in parts]
    history = _search(tables[0], values[parts[0]], objective, trials, seed)
    best = max(history, key=lambda trial: trial[0])[1]
    found = [
        correlation(table.scores(best), values[part], objective)
        for table, part in zip(tables, parts, strict=True)
    ]
    return Learned(best, found[0], found[1], [value for value, _ in history])


def held_out_pairs(groups: Sequence[object], share: float, seed: int) -> NDArray[np.bool_]:
    """Which pairs a search with this seed does not see: whole groups, drawn at random; shape (pairs,).

    Raises
    ------
    MetricError
        If there are fewer than five groups.
    """
    distinct = list(dict.fromkeys(groups))
    if len(distinct) < 5:
        raise MetricError(f"{len(distinct)} groups of pairs are too few to hold some out", "learn")
    order = np.random.default_rng(seed).permutation(len(distinct))
    chosen = {distinct[index] for index in order[: max(1, round(share * len(distinct)))]}
    return np.array([group in chosen for group in groups])


def folds(groups: Sequence[object], count: int, seed: int) -> NDArray[np.int64]:
    """The fold of each pair, 0 to ``count`` - 1: whole groups, drawn at random, in folds of like size.

    Raises
    ------
    MetricError
        If there are fewer groups than folds, or fewer than two folds.
    """
    distinct = list(dict.fromkeys(groups))
    if not 2 <= count <= len(distinct):
        raise MetricError(f"{len(distinct)} groups of pairs cannot make {count} folds", "learn")
    order = np.random.default_rng(seed).permutation(len(distinct))
    fold = {distinct[index]: place % count for place, index in enumerate(order)}
    return np.array([fold[group] for group in groups])


def _search(
    table: PairTable, ratings: NDArray[Any], objective: Objective, trials: int, seed: int
) -> list[tuple[float, Weights]]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    history: list[tuple[float, Weights]] = []

    def attempt(trial: Any) -> float:
        cells = [trial.suggest_float(f"{a}_{b}".lower(), 0.0, 1.0) for a in TYPES for b in TYPES]
        weights = Weights(
            "learned", np.array(cells).reshape(5, 5), trial.suggest_float("neg_weight", 0.0, 1.0)
        )
        value = correlation(table.scores(weights), ratings, objective)
        history.append((value, weights))
        return value

    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(50, max(10, trials // 5)))
    optuna.create_study(direction="maximize", sampler=sampler).optimize(attempt, n_trials=trials)
    return history
