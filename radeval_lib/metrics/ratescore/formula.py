"""RaTEScore's formula (Zhao et al. 2024, Section 2.4): entities of two texts matched, weighted by their types
and averaged; with its options, its type weights W (5 x 5) and its mismatch penalty p.

The options cover each point on which the released code and the paper differ or the paper is silent. Sources:
Zhao et al. 2024, Section 2.4 and Appendix A.1; package RaTEScore 0.6.0, repository at a970406.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from radeval_lib import checksums
from radeval_lib.categories import TYPES
from radeval_lib.errors import complaint
from radeval_lib.metrics.base import MetricError
from radeval_lib.models.entities import Decoding
from radeval_lib.stats.base import f1

Preset = Literal["released", "paper"]
PenaltyRule = Literal["cross_polarity", "any_mismatch"]
Orientation = Literal["query_first", "match_first"]
Empty = Literal["half", "zero", "one_if_both_empty"]
Pooling = Literal["cls", "mean"]
Cosine = Literal["keep", "clip_at_zero"]


@checked_dataclass(frozen=True)
class Options:
    """How RaTEScore is computed; a value that is not listed here raises pydantic's ``ValidationError``.

    Attributes
    ----------
    penalty : which cosines are multiplied by p. ``cross_polarity``: a disease or abnormality against a
        non-disease or non-abnormality (the code). ``any_mismatch``: any two different types (Section 2.4).
    orientation : index of W. ``query_first``: W[type of the query entity, type of its match] (the code).
        ``match_first``: the other way round, as Section 2.4 and the worked example of A.1 print it.
    empty : value if a side has no entity. ``half``: 0.5, whatever the other side has (the code). ``zero``:
        0. ``one_if_both_empty``: 1 if neither side has any, else 0. The paper does not define it.
    min_characters : shorter sentences are dropped before the entities are looked for (the code: 3; the paper
        states no filter).
    pooling : vector of an entity. ``cls``: last hidden state of the first token (the code). ``mean``: mean
        over the tokens, as the encoder's own card has it. The paper does not say.
    cosine : treatment of a negative cosine. ``keep`` (the code and the formula as printed) lets a score leave
        [0, 1]; ``clip_at_zero`` does not.
    decoding : how entities are read off the NER model's labels, see
        :data:`~radeval_lib.models.entities.Decoding`; ``released`` (the code) or ``standard``.
    """

    penalty: PenaltyRule = "cross_polarity"
    orientation: Orientation = "query_first"
    empty: Empty = "half"
    min_characters: int = 3
    pooling: Pooling = "cls"
    cosine: Cosine = "keep"
    decoding: Decoding = "released"


PRESETS: dict[Preset, Options] = {
    "released": Options(),
    "paper": Options(
        penalty="any_mismatch",
        orientation="match_first",
        empty="one_if_both_empty",
        min_characters=1,
        pooling="mean",
        decoding="standard",
    ),
}


def options(preset: Preset = "released", **changes: Any) -> Options:
    """Return the options of a preset with changes; a change of None is ignored.

    ``released`` are those of the package, ``paper`` those of Section 2.4 as printed. On points where the
    paper is silent, two texts without findings agree, no sentence is dropped, and the encoder is used as its
    card says.
    """
    return replace(PRESETS[preset], **{key: value for key, value in changes.items() if value is not None})


_INDEX = {name: index for index, name in enumerate(TYPES)}

POSITIVE = frozenset({"ABNORMALITY", "DISEASE"})
NEGATED = frozenset({"NON-ABNORMALITY", "NON-DISEASE"})

_RELEASED = Path(__file__).with_name("weights.yml")


@dataclass(frozen=True, eq=False)
class Weights:
    """W and p of Section 2.4.

    Attributes
    ----------
    name : ``long``, ``short``, or the user's file name, ``@`` and the first digits of its SHA-256.
    matrix : W, float64 of shape (5, 5), in the order of ``TYPES``: a row for the type of the query entity, a
        column for that of its match.
    penalty : p, the factor by which a mismatch of types changes the cosine.
    """

    name: str
    matrix: NDArray[np.float64]
    penalty: float

    def weight(self, query: str, match: str) -> float:
        """Return w[query type, match type]."""
        row, column = type_indices([query, match])
        return float(self.matrix[row, column])


def type_indices(types: Sequence[str]) -> NDArray[np.intp]:
    """Return the indices of entity types in W."""
    return np.array([_INDEX[name] for name in types], dtype=np.intp)


_Type = Annotated[str, AfterValidator(str.upper)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    penalty: FiniteFloat
    weights: dict[_Type, dict[_Type, Annotated[FiniteFloat, Field(ge=0)]]]


def weights_from_mapping(content: Any, name: str) -> Weights:
    """Return weights from ``{penalty: p, weights: {query: {match: value}}}``; case of types does not matter.

    Raises
    ------
    MetricError
        If it has another form, a pair of types is missing or unknown, p is not finite, or a weight is not
        finite or below 0.
    """
    try:
        entry = _File.model_validate(content)
    except ValidationError as error:
        raise MetricError(complaint(error), name, "Give a penalty and 25 weights.") from None
    rows = entry.weights
    if set(rows) != set(TYPES) or any(set(row) != set(TYPES) for row in rows.values()):
        remedy = f"Give a weight for all 25 pairs of {', '.join(TYPES)}."
        raise MetricError("a pair of types is missing or unknown", name, remedy)
    matrix = np.array([[rows[query][match] for match in TYPES] for query in TYPES])
    return Weights(name, matrix, entry.penalty)


@lru_cache(maxsize=1)
def _released() -> dict[str, Weights]:
    content = yaml.safe_load(_RELEASED.read_text(encoding="utf-8"))
    return {name: weights_from_mapping(entry, name) for name, entry in content.items()}


def load(name_or_path: str | Path | Weights = "long") -> Weights:
    """Return the weights ``long`` (the package's default for any text), ``short``, or those of a YAML or JSON
    file.

    Raises
    ------
    MetricError
        If there is no such set or file, or the file does not hold weights.
    """
    if isinstance(name_or_path, Weights):
        return name_or_path
    if str(name_or_path).lower() in _released():
        return _released()[str(name_or_path).lower()]
    path = Path(name_or_path)
    if not path.is_file():
        problem = f"no weights called {str(name_or_path)!r} and no such file"
        remedy = f"Name {', '.join(_released())}, or a YAML or JSON file of 25 weights and a penalty."
        raise MetricError(problem, "ratescore.weights", remedy)
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)  # JSON is YAML
    except (yaml.YAMLError, ValueError) as error:
        problem = f"neither YAML nor JSON ({str(error).splitlines()[0]})"
        raise MetricError(problem, path.name, "Write it like `long` in weights.yml.") from None
    weights = weights_from_mapping(content, path.name)
    return replace(weights, name=f"{path.name}@{checksums.of_text(text)[:12]}")


class NamedEntity(NamedTuple):
    """A named entity: its text and its type, one of the five."""

    text: str
    type: str


class Match(NamedTuple):
    """One term of a direction's sum: the positions of two entities, the cosine of their embeddings, W for
    their types, and p if the types mismatch, else 1."""

    query: int
    match: int
    cosine: float
    weight: float
    penalty: float

    @property
    def term(self) -> float:
        """The term's contribution to the numerator."""
        return self.weight * self.penalty * self.cosine


@dataclass(frozen=True, eq=False)
class Direction:
    """One of the two weighted means.

    Attributes
    ----------
    positions, cosines, weights, penalties : for each query entity, the position of its match and their
        cosine, W and penalty; shape (query entities,).
    value : the sum of the terms over the sum of the weights; 0 if these sum to 0.
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
    """All that is needed to recompute a pair's score by hand.

    Attributes
    ----------
    reference, candidate : the entities of each text.
    precision, recall : the candidate's entities looked up in the reference's, and the reverse; None if a side
        has no entity.
    score : the harmonic mean of both, or the value for a side without entities.
    notes : cautions about reading the texts.
    """

    reference: tuple[NamedEntity, ...]
    candidate: tuple[NamedEntity, ...]
    precision: Direction | None
    recall: Direction | None
    score: float
    notes: tuple[str, ...] = ()


def cosines(queries: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine of every pair of rows: shapes (n, d) and (m, d) give (n, m). The cosine with a zero
    vector is 0."""
    return unit(queries) @ unit(others).T


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1, float64 of the same shape. Norms below 1e-12 count as 1e-12, as in
    torch."""
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def penalty_matrix(p: float, options: Options) -> NDArray[np.float64]:
    """Return the factor for each (query type, match type), shape (5, 5): p if the rule punishes the mismatch,
    else 1."""

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
        """Return the score if a side has no entity, from each side's number of entities."""
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
        embeddings : vectors of the reference's and of the candidate's entities, one row each. If a side
            has no entity, neither is needed.
        notes : carried into the explanation.

        Raises
        ------
        MetricError
            If the similarity has another shape.
        """
        ours, theirs = (tuple(NamedEntity(*pair) for pair in side) for side in (reference, candidate))
        if not ours or not theirs:
            value = self.empty_score(len(ours), len(theirs))
            absent = [name for name, side in (("reference", ours), ("candidate", theirs)) if not side]
            note = f"no entity in the {' and the '.join(absent)}"
            return Explanation(ours, theirs, None, None, value, (*notes, note))
        table = np.asarray(similarity if embeddings is None else cosines(*embeddings), dtype=np.float64)
        if table.shape != (len(ours), len(theirs)):
            problem = f"its shape is {table.shape}, not {(len(ours), len(theirs))}"
            remedy = "Give a row for each entity of the reference and a column for each of the candidate."
            raise MetricError(problem, "similarity", remedy)
        rows, columns = ([entity.type for entity in side] for side in (ours, theirs))
        precision = self.direction(columns, rows, table.T)
        recall = self.direction(rows, columns, table)
        return Explanation(ours, theirs, precision, recall, f1(precision.value, recall.value), tuple(notes))
