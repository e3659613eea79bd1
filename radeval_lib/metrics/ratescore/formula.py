"""RaTEScore's formula (Zhao et al. 2024, Section 2.4): entities of two texts matched, weighted by their types
and averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import TYPES
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore.settings import NEGATED, POSITIVE, Options, Weights, load, type_indices
from radeval_lib.stats.base import f1


class NamedEntity(NamedTuple):
    """A named entity: its text and its type, one of the five."""

    text: str
    type: str


class Match(NamedTuple):
    """One term of a direction's sum: positions in its two entity lists, the cosine of their embeddings, W for
    their types, and p where the types mismatch, else 1."""

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
    """One of the two weighted means: of each query entity the position of its match, and their cosine, weight
    and penalty, shape (query entities,).

    ``value`` is the sum of the terms over the sum of the weights; 0 if these sum to 0.
    """

    positions: NDArray[np.int64]
    cosines: NDArray[np.float64]
    weights: NDArray[np.float64]
    penalties: NDArray[np.float64]
    value: float

    @property
    def matches(self) -> tuple[Match, ...]:
        """The terms, one per query entity, in order."""
        columns = (self.positions, self.cosines, self.weights, self.penalties)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Match(query, *row) for query, row in enumerate(rows))

    @property
    def numerator(self) -> float:
        """The sum of the terms."""
        return float((self.cosines * self.weights * self.penalties).sum())

    @property
    def denominator(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class Explanation:
    """Everything from which a pair's score can be redone by hand: the entities found; the candidate's looked
    up among the reference's (precision) and the other way round (recall), None if a side has no entity; their
    harmonic mean, or the value for a side without entities; and what a reader should know."""

    reference: tuple[NamedEntity, ...]
    candidate: tuple[NamedEntity, ...]
    precision: Direction | None
    recall: Direction | None
    score: float
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per term of the two sums, for a table."""
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
    """Return cosine of every pair of rows, shapes (n, d) and (m, d) to (n, m); with a vector of zeros it is
    0."""
    return unit(queries) @ unit(others).T


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1; float64, the same shape. Norms below 1e-12 count as 1e-12, as torch
    has it."""
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def penalty_matrix(p: float, options: Options) -> NDArray[np.float64]:
    """Return the factor for each (query type, match type): p where the rule punishes the mismatch, else 1;
    shape (5, 5)."""

    def punished(a: str, b: str) -> bool:
        crossed = (a in POSITIVE and b in NEGATED) or (a in NEGATED and b in POSITIVE)
        return crossed or (options.penalty == "any_mismatch" and a != b)

    return np.array([[p if punished(a, b) else 1.0 for b in TYPES] for a in TYPES])


class Scorer:
    """Scores pairs of entity lists with one set of weights (``long``, ``short``, a file) and options."""

    def __init__(self, weights: str | Weights = "long", options: Options | None = None) -> None:
        self.weights = load(weights)
        self.options = options or Options()
        matrix = self.weights.matrix
        self._matrix = matrix if self.options.orientation == "query_first" else matrix.T
        self._penalties = penalty_matrix(self.weights.penalty, self.options)

    def empty_score(self, reference: int, candidate: int) -> float:
        """Return the score where a side has no entity, from the number of entities of each side."""
        if self.options.empty == "half":
            return 0.5
        return float(self.options.empty == "one_if_both_empty" and reference == candidate == 0)

    def direction(
        self, types: Sequence[str], other_types: Sequence[str], similarity: NDArray[Any]
    ) -> Direction:
        """Return one weighted mean; ``similarity`` has a row per query entity and a column per entity of the
        other side.

        Of several equally similar entities the first is taken.
        """
        best = similarity.argmax(axis=1)
        rows, columns = type_indices(types), type_indices(other_types)[best]
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
        embeddings : vectors of the reference's and of the candidate's entities, one row each. Where a side
            has no entity, neither is needed.
        notes : carried into the explanation.

        Raises
        ------
        MetricError
            If a type is none of the five, or cosines are missing, given twice, of another shape or not
            finite.
        """
        ours, theirs = (tuple(NamedEntity(*pair) for pair in side) for side in (reference, candidate))
        if not ours or not theirs:
            type_indices([entity.type for entity in (*ours, *theirs)])  # refuses an unknown type
            value = self.empty_score(len(ours), len(theirs))
            absent = [name for name, side in (("reference", ours), ("candidate", theirs)) if not side]
            note = f"no entity in the {' and the '.join(absent)}"
            return Explanation(ours, theirs, None, None, value, (*notes, note))
        if similarity is None and embeddings is None:
            raise MetricError("neither cosines nor vectors are given", "ratescore", "Give one of them.")
        table = np.asarray(similarity if embeddings is None else cosines(*embeddings), dtype=np.float64)
        if table.shape != (len(ours), len(theirs)):
            problem = f"cosines of shape {table.shape} for {len(ours)} and {len(theirs)} entities"
            raise MetricError(problem, "ratescore")
        if not np.isfinite(table).all():
            raise MetricError("a cosine is not a finite number", "ratescore", "Check the encoder's vectors.")
        rows, columns = ([entity.type for entity in side] for side in (ours, theirs))
        precision = self.direction(columns, rows, table.T)
        recall = self.direction(rows, columns, table)
        return Explanation(ours, theirs, precision, recall, f1(precision.value, recall.value), tuple(notes))
