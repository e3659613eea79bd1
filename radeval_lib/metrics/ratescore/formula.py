"""RaTEScore's formula, which matches the entities of two texts, weights each match by the types of both
entities, and averages.

The module has the formula's options, its type weights W (5 x 5) and its mismatch penalty p. There is an
option for each point on which the released code and the paper differ, or the paper is silent. Sources: Zhao
et al. 2024, Section 2.4 and Appendix A.1; package RaTEScore 0.6.0, repository at a970406.
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
from radeval_lib.errors import describe
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
    """The choices on which RaTEScore depends. Any other value raises pydantic's ``ValidationError``.

    Attributes
    ----------
    penalty : ``cross_polarity`` multiplies by p the cosine of a disease or abnormality with a non-disease or
        non-abnormality (released code); ``any_mismatch``, that of any two different types (Section 2.4).
    orientation : ``query_first`` takes the weight W[type of the query entity, type of its match] (released
        code); ``match_first`` exchanges the two, as in Section 2.4 and the worked example of Appendix A.1.
    empty : the score if a text has no entities, which the paper does not define: ``half`` is 0.5 (released
        code), ``zero`` is 0, and ``one_if_both_empty`` is 1 if neither text has an entity, else 0.
    min_characters : sentences with fewer characters are dropped before entities are extracted (released code:
        3; the paper mentions no such filter).
    pooling : the vector of an entity, which the paper does not define: ``cls`` takes the last hidden state of
        the first token (released code), and ``mean`` the mean over the tokens, as the encoder's model card
        recommends.
    cosine : ``keep`` keeps negative cosines (released code and printed formula), so that a score can be
        outside [0, 1]. ``clip_at_zero`` replaces them by 0.
    decoding : how the labels of the NER model become entities, ``released`` (released code) or ``standard``;
        see :data:`~radeval_lib.models.entities.Decoding`.
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
    """Return a preset's options with ``changes``; None keeps the preset's value.

    The preset ``released`` has the options of the package, ``paper`` those of Section 2.4 as printed. Where
    the paper is silent, ``paper`` gives 1 to two texts without entities, drops no sentence, and pools as the
    encoder's model card recommends.

    Raises
    ------
    KeyError, TypeError, ValidationError
        If the preset, the name of an option, or an option's value, respectively, is unknown.
    """
    return replace(PRESETS[preset], **{key: value for key, value in changes.items() if value is not None})


_INDEX_OF = {name: index for index, name in enumerate(TYPES)}

#: Entity types that state a finding, and those that deny one or state normality.
POSITIVE = frozenset({"ABNORMALITY", "DISEASE"})
NEGATED = frozenset({"NON-ABNORMALITY", "NON-DISEASE"})

_RELEASED_FILE = Path(__file__).with_name("weights.yml")


@dataclass(frozen=True, eq=False)
class Weights:
    """The type weights W and the mismatch penalty p of Section 2.4.

    Attributes
    ----------
    name : ``long``, ``short``, or the name of the user's file with ``@`` and the first 12 digits of its
        SHA-256.
    matrix : W, float64 of shape (5, 5), at least 0, with a row for each type of the query entity and a column
        for each type of its match, in the order of ``TYPES``.
    penalty : p, by which the cosine of two entities is multiplied if their types mismatch.
    """

    name: str
    matrix: NDArray[np.float64]
    penalty: float

    def weight(self, query: str, match: str) -> float:
        """Return the weight for the types, such as "DISEASE", of a query entity and its match; raise KeyError
        for an unknown type."""
        return float(self.matrix[tuple(find_type_indices([query, match]))])


def find_type_indices(types: Sequence[str]) -> NDArray[np.intp]:
    """Return the index, from 0 to 4, of each entity type in the rows and columns of W, shape (len(types),).

    Raises
    ------
    KeyError
        If a type is unknown.
    """
    return np.array([_INDEX_OF[name] for name in types], dtype=np.intp)


_Type = Annotated[str, AfterValidator(str.upper)]


class _WeightsFile(BaseModel):
    """The content of a file of weights: p, and W as {query type: {match type: weight}}."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    penalty: FiniteFloat
    weights: dict[_Type, dict[_Type, Annotated[FiniteFloat, Field(ge=0)]]]


def parse_weights(content: Any, name: str) -> Weights:
    """Return the weights in a mapping ``{penalty: p, weights: {query type: {match type: weight}}}``, in which
    types may be in upper or lower case.

    Raises
    ------
    MetricError
        If the mapping has another form, a pair of types is missing or unknown, p is not finite, or a weight
        is negative or not finite. The error names the file ``name``.
    """
    try:
        weights_file = _WeightsFile.model_validate(content)
    except ValidationError as error:
        raise MetricError(describe(error), name, "Provide a number `penalty` and 25 `weights`.") from None
    rows = weights_file.weights
    if set(rows) != set(TYPES) or any(set(row) != set(TYPES) for row in rows.values()):
        remedy = f"Provide a weight for each of the 25 pairs of {', '.join(TYPES)}."
        raise MetricError("a pair of types is missing or unknown", name, remedy)
    matrix = np.array([[rows[query][match] for match in TYPES] for query in TYPES])
    return Weights(name, matrix, weights_file.penalty)


@lru_cache(maxsize=1)
def _load_released() -> dict[str, Weights]:
    """Return a mapping from ``long`` and ``short`` to the released package's sets of weights."""
    content = yaml.safe_load(_RELEASED_FILE.read_text(encoding="utf-8"))
    return {name: parse_weights(entry, name) for name, entry in content.items()}


def load(name_or_path: str | Path | Weights = "long") -> Weights:
    """Return the weights called ``long`` (the package's default) or ``short``, or the weights in a YAML or
    JSON file. :class:`Weights` are returned unchanged.

    Raises
    ------
    MetricError
        If there is no such set or file, or the file does not have the form that :func:`parse_weights` needs.
    """
    if isinstance(name_or_path, Weights):
        return name_or_path
    if str(name_or_path).lower() in _load_released():
        return _load_released()[str(name_or_path).lower()]
    path = Path(name_or_path)
    if not path.is_file():
        problem = f"no weights called {str(name_or_path)!r} and no such file"
        remedy = f"Name {', '.join(_load_released())}, or a YAML or JSON file of 25 weights and a penalty."
        raise MetricError(problem, "ratescore.weights", remedy)
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)  # JSON is YAML
    except (yaml.YAMLError, ValueError) as error:
        problem = f"not YAML or JSON in UTF-8 ({str(error).splitlines()[0]})"
        raise MetricError(problem, path.name, "Write YAML in UTF-8, as in ratescore/weights.yml.") from None
    return replace(parse_weights(content, path.name), name=f"{path.name}@{checksums.of_text(text)[:12]}")


class NamedEntity(NamedTuple):
    """A named entity: its text and its type, one of ``TYPES``."""

    text: str
    type: str


class Match(NamedTuple):
    """One term of the weighted sum: the position of the query entity and of its match, the cosine of their
    vectors, the weight for their types, and the penalty, p if the types mismatch and else 1."""

    query: int
    match: int
    cosine: float
    weight: float
    penalty: float

    @property
    def term(self) -> float:
        """The product of weight, penalty and cosine."""
        return self.weight * self.penalty * self.cosine


@dataclass(frozen=True, eq=False)
class Direction:
    """The weighted mean of the cosines of one text's entities (the queries) with their matches in the other
    text: precision or recall.

    Attributes
    ----------
    positions, cosines, weights, penalties : for each query entity, the position of its match, and the cosine,
        weight and penalty of the two; each of shape (n,) for n query entities.
    value : the sum of the terms divided by the sum of the weights; 0 if the weights sum to 0.
    """

    positions: NDArray[np.int64]
    cosines: NDArray[np.float64]
    weights: NDArray[np.float64]
    penalties: NDArray[np.float64]
    value: float

    @property
    def matches(self) -> tuple[Match, ...]:
        """The terms of the sum, one per query entity, in the order of the entities."""
        columns = (self.positions, self.cosines, self.weights, self.penalties)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Match(query, *row) for query, row in enumerate(rows))

    @property
    def numerator(self) -> float:
        """The sum of weight times penalty times cosine over the query entities."""
        return float((self.cosines * self.weights * self.penalties).sum())

    @property
    def denominator(self) -> float:
        """The sum of the weights over the query entities."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class Explanation:
    """Everything from which the score of a pair can be recomputed by hand.

    Attributes
    ----------
    reference, candidate : the entities of each text, in the order of the text.
    precision : the mean over the candidate's entities, each matched to an entity of the reference; None if a
        text has no entities.
    recall : the mean over the reference's entities, each matched to an entity of the candidate; None if a
        text has no entities.
    score : the harmonic mean of precision and recall; if a text has no entities, the value that the option
        ``empty`` sets.
    notes : cautions about the texts.
    """

    reference: tuple[NamedEntity, ...]
    candidate: tuple[NamedEntity, ...]
    precision: Direction | None
    recall: Direction | None
    score: float
    notes: tuple[str, ...] = ()


def cosines(queries: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine similarity of each row of ``queries`` to each row of ``others``; 0 for a zero vector.

    For arrays of shape (n, d) and (m, d), the result is float64 of shape (n, m).
    """
    return normalize_rows(queries) @ normalize_rows(others).T


def normalize_rows(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the vectors scaled to length 1 along the last axis, float64 of the same shape.

    Norms below 1e-12 count as 1e-12, as in torch.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def build_penalty_matrix(p: float, options: Options) -> NDArray[np.float64]:
    """Return the penalty for each (query type, match type), float64 of shape (5, 5): p if the types
    mismatch under the option ``penalty``, else 1."""

    def is_mismatch(a: str, b: str) -> bool:
        opposite = (a in POSITIVE and b in NEGATED) or (a in NEGATED and b in POSITIVE)
        return opposite or (options.penalty == "any_mismatch" and a != b)

    return np.array([[p if is_mismatch(a, b) else 1.0 for b in TYPES] for a in TYPES])


class Scorer:
    """A scorer that computes RaTEScore from the entities of two texts, with one set of weights and options.

    Parameters
    ----------
    weights : the weights, or a name or file for :func:`load`.
    options : by default, the released package's options.
    """

    def __init__(self, weights: str | Weights = "long", options: Options | None = None) -> None:
        """Load the weights, and compute the penalty for each pair of types; raises the errors of
        :func:`load`."""
        self.weights = load(weights)
        self.options = options or Options()
        matrix = self.weights.matrix
        self._matrix = matrix if self.options.orientation == "query_first" else matrix.T
        self._penalties = build_penalty_matrix(self.weights.penalty, self.options)

    def empty_score(self, reference: int, candidate: int) -> float:
        """Return the score, 0, 0.5 or 1, that the option ``empty`` gives to a pair in which at least one text
        has no entity.

        Parameters
        ----------
        reference, candidate : the number of entities in each text.
        """
        if self.options.empty == "half":
            return 0.5
        return float(self.options.empty == "one_if_both_empty" and reference == candidate == 0)

    def match(self, types: Sequence[str], other_types: Sequence[str], similarity: NDArray[Any]) -> Direction:
        """Match each entity of one text to the most similar entity of the other text, the first in a tie, and
        return the matches and their weighted mean.

        Parameters
        ----------
        types, other_types : the types of the query entities and of the other text's entities.
        similarity : cosines, shape (len(types), len(other_types)).

        Raises
        ------
        KeyError
            If a type is unknown.
        """
        positions = similarity.argmax(axis=1)
        rows, columns = find_type_indices(types), find_type_indices(other_types)[positions]
        best_cosines = similarity[np.arange(len(positions)), positions]
        if self.options.cosine == "clip_at_zero":
            best_cosines = np.maximum(best_cosines, 0.0)
        weights, penalties = self._matrix[rows, columns], self._penalties[rows, columns]
        total_weight = float(weights.sum())
        value = float((best_cosines * weights * penalties).sum()) / total_weight if total_weight else 0.0
        return Direction(positions, best_cosines, weights, penalties, value)

    def score(
        self,
        reference: Sequence[tuple[str, str]],
        candidate: Sequence[tuple[str, str]],
        similarity: NDArray[Any] | None = None,
        *,
        embeddings: tuple[NDArray[Any], NDArray[Any]] | None = None,
        notes: Sequence[str] = (),
    ) -> Explanation:
        """Return the score of a candidate against a reference, with everything from which it is computed.

        Parameters
        ----------
        reference, candidate : (text, type) of each entity, in the order of the text; a repeated entity counts
            each time.
        similarity : cosines, shape (len(reference), len(candidate)); not needed with ``embeddings``, or if a
            text has no entities.
        embeddings : in place of ``similarity``, the vectors of the entities of the reference and of the
            candidate, each of shape (entities, dimension).
        notes : cautions about the texts, for the explanation.

        Raises
        ------
        MetricError
            If both texts have entities, but neither ``similarity`` nor ``embeddings`` is given, the cosines
            have another shape, or there is not one vector per entity.
        KeyError
            If an entity has an unknown type.
        """
        reference_entities = tuple(NamedEntity(*pair) for pair in reference)
        candidate_entities = tuple(NamedEntity(*pair) for pair in candidate)
        counts = {"reference": len(reference_entities), "candidate": len(candidate_entities)}
        if not all(counts.values()):
            value = self.empty_score(**counts)
            note = f"no entity in the {' and the '.join(side for side, count in counts.items() if not count)}"
            return Explanation(reference_entities, candidate_entities, None, None, value, (*notes, note))
        if embeddings is not None:
            for (side, count), vectors in zip(counts.items(), embeddings, strict=True):
                if len(vectors) != count:
                    problem = f"{len(vectors)} vectors for the {side}'s {count} entities"
                    raise MetricError(problem, "embeddings", "Pass one vector per entity.")
            similarity = cosines(*embeddings)
        if similarity is None:
            raise MetricError("neither is given", "similarity or embeddings", "Pass one of them.")
        cosine_table = np.asarray(similarity, dtype=np.float64)
        if cosine_table.shape != (expected := tuple(counts.values())):
            problem = f"its shape is {cosine_table.shape}, expected {expected}"
            remedy = "Pass a row for each entity of the reference and a column for each of the candidate."
            raise MetricError(problem, "similarity", remedy)
        reference_types = [entity.type for entity in reference_entities]
        candidate_types = [entity.type for entity in candidate_entities]
        precision = self.match(candidate_types, reference_types, cosine_table.T)
        recall = self.match(reference_types, candidate_types, cosine_table)
        value = f1(precision.value, recall.value)
        return Explanation(reference_entities, candidate_entities, precision, recall, value, tuple(notes))
