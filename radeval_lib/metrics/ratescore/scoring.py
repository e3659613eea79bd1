"""From entities and cosines to the score: greedy matching, type weights, mismatch penalty, F1.

For a query entity q of one side, m(q) is the entity of the other side with the highest cosine. A
direction's value is

    sum_q W[t(q), t(m(q))] pen(q) cos(q, m(q))  /  sum_q W[t(q), t(m(q))]

and the score is the harmonic mean of the two directions. Source: Zhao et al. 2024, Section 2.4, equation 3;
where the paper and the released code part, :class:`~radeval_lib.metrics.ratescore.options.Options` says
which is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.entity_types import TYPES
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore.options import Options
from radeval_lib.metrics.ratescore.weights import NEGATED, POSITIVE, Weights, load, type_indices


class Entity(NamedTuple):
    """A named entity: its text and its type, one of the five."""

    text: str
    type: str


def entities_of(pairs: Sequence[tuple[str, str]]) -> tuple[Entity, ...]:
    """(text, type) pairs as entities."""
    if isinstance(pairs, tuple) and all(type(pair) is Entity for pair in pairs):
        return pairs
    return tuple(Entity(text, kind) for text, kind in pairs)


class Match(NamedTuple):
    """One term of a direction's sum.

    Attributes
    ----------
    query, match : positions in the two entity lists of the direction.
    cosine : of their embeddings.
    weight : W for their types.
    penalty : p where the types mismatch, else 1.
    """

    query: int
    match: int
    cosine: float
    weight: float
    penalty: float

    @property
    def term(self) -> float:
        """What it adds to the numerator."""
        return self.weight * self.penalty * self.cosine


@dataclass(frozen=True, eq=False)
class Direction:
    """One of the two weighted means.

    Attributes
    ----------
    found : position of each query entity's match; int64, shape (number of query entities,).
    cosines, weights, penalties : of each query entity and its match; float64, the same shape.
    value : sum of the terms over sum of the weights; 0 where the weights sum to 0.
    """

    found: NDArray[np.int64]
    cosines: NDArray[np.float64]
    weights: NDArray[np.float64]
    penalties: NDArray[np.float64]
    value: float

    @property
    def matches(self) -> tuple[Match, ...]:
        """The terms, one per query entity, in order."""
        columns = (range(len(self.found)), self.found, self.cosines, self.weights, self.penalties)
        listed = [column if isinstance(column, range) else column.tolist() for column in columns]
        return tuple(Match(*row) for row in zip(*listed, strict=True))

    @property
    def numerator(self) -> float:
        return float((self.cosines * self.weights * self.penalties).sum())

    @property
    def denominator(self) -> float:
        return float(self.weights.sum())


@dataclass(frozen=True)
class Explanation:
    """Everything from which a pair's score can be redone by hand.

    Attributes
    ----------
    reference, candidate : the entities found.
    precision : the candidate's entities looked up among the reference's; None where a side has no entity.
    recall : the reference's entities looked up among the candidate's; None likewise.
    score : their harmonic mean, or the value for a side without entities.
    notes : what a reader should know: no sentence, no entity, a sentence cut, characters replaced.
    """

    reference: tuple[Entity, ...]
    candidate: tuple[Entity, ...]
    precision: Direction | None
    recall: Direction | None
    score: float
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row per term of the two sums, for a table."""
        sides = [("precision", self.precision, self.candidate, self.reference)]
        sides.append(("recall", self.recall, self.reference, self.candidate))
        return [
            {
                "direction": name,
                "entity": queries[match.query].text,
                "type": queries[match.query].type,
                "matched entity": others[match.match].text,
                "matched type": others[match.match].type,
                "cosine": match.cosine,
                "weight": match.weight,
                "penalty": match.penalty,
                "term": match.term,
            }
            for name, direction, queries, others in sides
            if direction is not None
            for match in direction.matches
        ]


def cosines(queries: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Cosine of every pair of rows.

    Parameters
    ----------
    queries, others : shapes (n, d) and (m, d). A vector of zeros has cosine 0 with everything.

    Returns
    -------
    float64, shape (n, m).
    """
    return unit(queries) @ unit(others).T


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The rows scaled to length 1; float64, the same shape. Norms below 1e-12 count as 1e-12, as torch has
    it."""
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def penalty_matrix(p: float, options: Options) -> NDArray[np.float64]:
    """The factor for each (query type, match type): p where the rule punishes the mismatch, else 1; shape
    (5, 5)."""
    factors = np.ones((5, 5))
    for row, a in enumerate(TYPES):
        for column, b in enumerate(TYPES):
            crossed = (a in POSITIVE and b in NEGATED) or (a in NEGATED and b in POSITIVE)
            if crossed or (options.penalty == "any_mismatch" and a != b):
                factors[row, column] = p
    return factors


class Scorer:
    """Scores pairs of entity lists with one set of weights and options.

    Parameters
    ----------
    weights : ``long``, ``short``, a file, or :class:`Weights`.
    options : see :class:`Options`.
    """

    def __init__(self, weights: str | Weights = "long", options: Options | None = None) -> None:
        self.weights = load(weights)
        self.options = options or Options()
        matrix = self.weights.matrix
        self._matrix = matrix if self.options.orientation == "query_first" else matrix.T
        self._penalties = penalty_matrix(self.weights.penalty, self.options)

    def empty_score(self, reference: int, candidate: int) -> float:
        """The score where a side has no entity, from the number of entities of each side."""
        if self.options.empty == "half":
            return 0.5
        return float(self.options.empty == "one_if_both_empty" and reference == candidate == 0)

    def direction(
        self, types: Sequence[str], other_types: Sequence[str], similarity: NDArray[Any]
    ) -> Direction:
        """One weighted mean; ``similarity`` has a row per query entity and a column per entity of the other
        side.

        Of several equally similar entities the first is taken.
        """
        return self._direction(type_indices(types), type_indices(other_types), similarity)

    def _direction(self, rows: NDArray[Any], others: NDArray[Any], similarity: NDArray[Any]) -> Direction:
        best = similarity.argmax(axis=1)
        columns = others[best]
        values = similarity[np.arange(len(best)), best]
        if self.options.cosine == "clip_at_zero":
            values = np.maximum(values, 0.0)
        weights, penalties = self._matrix[rows, columns], self._penalties[rows, columns]
        total = float(weights.sum())
        value = float((values * weights * penalties).sum()) / total if total else 0.0
        return Direction(best, values, weights, penalties, value)

    def score(
        self,
        reference: Sequence[tuple[str, str]],
        candidate: Sequence[tuple[str, str]],
        similarity: NDArray[Any] | None = None,
        *,
        embeddings: tuple[NDArray[Any], NDArray[Any]] | None = None,
        notes: Sequence[str] = (),
    ) -> Explanation:
        """Score one candidate against one reference.

        Parameters
        ----------
        reference, candidate : (text, type) of each entity, in the order of the text; repeated entities count.
        similarity : cosines, shape (len(reference), len(candidate)); or
        embeddings : vectors of the reference's and of the candidate's entities, one row each.
        notes : carried into the explanation.

        Raises
        ------
        MetricError
            If a type is none of the five, neither or both of similarity and embeddings are given, a shape
            does not fit the lists, or a cosine is not finite.
        """
        ours, theirs = entities_of(reference), entities_of(candidate)
        if not ours or not theirs:
            value = self.empty_score(len(ours), len(theirs))
            return Explanation(ours, theirs, None, None, value, (*notes, _absent(ours, theirs)))
        table = _similarity(similarity, embeddings, (len(ours), len(theirs)))
        rows, columns = (type_indices([entity.type for entity in side]) for side in (ours, theirs))
        precision = self._direction(columns, rows, table.T)
        recall = self._direction(rows, columns, table)
        return Explanation(ours, theirs, precision, recall, f1(precision.value, recall.value), tuple(notes))


def f1(precision: float, recall: float) -> float:
    """Harmonic mean; 0 where the two sum to 0. Directions of opposite sign can put it outside [-1, 1]."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _absent(reference: Sequence[Entity], candidate: Sequence[Entity]) -> str:
    sides = [name for name, side in (("reference", reference), ("candidate", candidate)) if not side]
    return f"no entity in the {' and the '.join(sides)}"


def _similarity(
    similarity: NDArray[Any] | None,
    embeddings: tuple[NDArray[Any], NDArray[Any]] | None,
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    if (similarity is None) == (embeddings is None):
        raise MetricError("give either the cosines or the embeddings", "ratescore")
    table = cosines(*embeddings) if embeddings is not None else np.asarray(similarity, dtype=np.float64)
    if table.shape != shape:
        raise MetricError(
            f"cosines of shape {table.shape} for {shape[0]} and {shape[1]} entities", "ratescore"
        )
    if not np.isfinite(table).all():
        raise MetricError("a cosine is not a finite number", "ratescore", "Check the encoder's vectors.")
    return table
