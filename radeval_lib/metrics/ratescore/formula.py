"""RaTEScore's options, its splitting of texts into sentences, and its scoring of entities."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.categories import TYPES
from radeval_lib.errors import check_choice
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore import rush
from radeval_lib.metrics.ratescore.weights import NEGATED, POSITIVE, Weights, load, type_indices
from radeval_lib.models.ner.entities import Decoding
from radeval_lib.stats.f_scores import f1

Preset = Literal["released", "paper"]
PenaltyRule = Literal["cross_polarity", "any_mismatch"]
Orientation = Literal["query_first", "match_first"]
Empty = Literal["half", "zero", "one_if_both_empty"]
Pooling = Literal["cls", "mean"]
Cosine = Literal["keep", "clip_at_zero"]


@dataclass(frozen=True)
class Options:
    """How RaTEScore is computed.

    Attributes
    ----------
    penalty : which type mismatches are multiplied by p. ``cross_polarity``: a disease or abnormality
        against a non-disease or non-abnormality (the code). ``any_mismatch``: any two different types
        (Section 2.4).
    orientation : index of W. ``query_first``: W[type of the query entity, type of its match] (the code).
        ``match_first``: the other way round, as Section 2.4 and the worked example of A.1 print it.
    empty : value where a side has no entity. ``half``: 0.5, whatever the other side has (the code).
        ``zero``: 0. ``one_if_both_empty``: 1 where neither side has any, else 0. The paper does not define
        it.
    min_characters : shorter sentences are dropped before the entities are looked for (the code: 3; the paper
        states no filter).
    pooling : vector of an entity. ``cls``: last hidden state of the first token (the code). ``mean``: mean
        over the tokens, as the encoder's own card has it. The paper does not say.
    cosine : what becomes of a negative cosine. ``keep`` (the code and the formula as printed) lets a score
        leave [0, 1]; ``clip_at_zero`` does not.
    """

    penalty: PenaltyRule = "cross_polarity"
    orientation: Orientation = "query_first"
    empty: Empty = "half"
    min_characters: int = 3
    pooling: Pooling = "cls"
    cosine: Cosine = "keep"
    decoding: Decoding = "released"

    def __post_init__(self) -> None:
        for key, hint in get_type_hints(Options).items():
            check_choice(getattr(self, key), hint, f"ratescore.{key}", MetricError)
        if self.min_characters < 1:
            raise MetricError(f"min_characters must be 1 or more, not {self.min_characters}", "ratescore")


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
    """The options of a preset, with changes; a change that is None changes nothing.

    ``released`` is what the package does. ``paper`` is Section 2.4 as printed; where the paper is silent it
    takes the natural reading (two texts without findings agree; no sentence is dropped; the encoder as its
    card uses it).
    """
    check_choice(preset, Preset, "ratescore.preset", MetricError)
    known = [entry.name for entry in fields(Options)]
    if unknown := sorted(set(changes) - set(known)):
        raise MetricError(f"unknown option {unknown[0]!r}", "ratescore", f"Options: {', '.join(known)}.")
    return replace(PRESETS[preset], **{key: value for key, value in changes.items() if value is not None})


_RUN = re.compile(r"\S+|\s+")  # each word with its signs, each stretch of white space
_OPENING = re.compile(r"""[(\[{<"'`*#$&%+=~,.:;!?/_|«»“”‘’-]""")
_CLOSING = re.compile(r"""(?:[)\]}>"'`*#,:;!?_|«»“”‘’]|(?<=[a-z0-9%)\]"'])\.|(?<=[A-Z][A-Z])\.|'s)$""")
_INNER = re.compile(r"(?<=[a-z])(\.)(?=[A-Z])|(?<=[A-Za-z])([,:<>=/-])(?=[A-Za-z])|(\.{2,}|…)")


def split(text: str, min_characters: int = 3) -> list[str]:
    """The sentences, stripped, in order; those of fewer than ``min_characters`` characters are left out."""
    if not text or text.isspace():
        return []
    spans = rush.spans(text)
    starts, blank = _tokens(text, spans)
    marks = sorted({0, *_sentence_starts(starts, blank, spans)})
    borders = [starts[mark] for mark in marks[1:]]
    pieces = (
        text[begin:end].strip() for begin, end in zip([0, *borders], [*borders, len(text)], strict=True)
    )
    return [piece for piece in pieces if piece and len(piece) >= min_characters]


def _tokens(text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list[bool]]:
    """Where each token starts, and whether it is white space. One space after a word belongs to the word."""
    borders = sorted({border for span in spans for border in span})
    starts: list[int] = []
    blank: list[bool] = []
    for run in _RUN.finditer(text):
        begin, end = run.span()
        if text[begin].isspace():
            if begin and text[begin] == " ":
                begin += 1
            if begin < end:
                starts.append(begin)
                blank.append(True)
            continue
        inside = bisect_left(borders, begin + 1)
        cuts = [0]
        if inside < len(borders) and borders[inside] < end:
            cuts = _pieces(run.group())
        starts.extend(begin + cut for cut in cuts)
        blank.extend([False] * len(cuts))
    return starts, blank


def _pieces(word: str) -> list[int]:
    """Where the tokens of a word start: opening signs and closing signs one by one, then borders inside."""
    begin, end, cuts = 0, len(word), {0}
    while begin < end and _OPENING.match(word[begin]):
        begin += 1
        cuts.add(begin)
    while begin < end and (sign := _CLOSING.search(word[:end])) and sign.start() > begin:
        end = sign.start()
        cuts.add(end)
    for sign in _INNER.finditer(word, begin, end):
        cuts |= set(sign.span())
    return sorted(cut for cut in cuts if cut < len(word))


def _sentence_starts(starts: list[int], blank: list[bool], spans: list[tuple[int, int]]) -> set[int]:
    marks: set[int] = set()
    count, position, current = len(starts), 0, 0
    while position < count:
        place = starts[position]
        if current < len(spans) - 1 and spans[current][1] <= place < spans[current + 1][0]:
            gap_end = bisect_left(starts, spans[current + 1][0], position)
            marks.add(next((token for token in range(position, gap_end) if blank[token]), position))
            position = gap_end
            continue
        while current < len(spans) and place >= spans[current][1]:
            current += 1
        if current >= len(spans):
            if blank[position]:
                marks.add(position)
        elif spans[current][0] <= place:
            if place == spans[current][0]:
                marks.add(position)
            if position + 1 < count and starts[position + 1] >= spans[current][1]:
                marks.add(position + 1)
        position += 1
    return marks


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

    ``value`` is the sum of the terms over the sum of the weights; 0 where these sum to 0.
    """

    found: NDArray[np.int64]
    cosines: NDArray[np.float64]
    weights: NDArray[np.float64]
    penalties: NDArray[np.float64]
    value: float

    @property
    def matches(self) -> tuple[Match, ...]:
        """The terms, one per query entity, in order."""
        columns = (self.found, self.cosines, self.weights, self.penalties)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Match(query, *row) for query, row in enumerate(rows))

    @property
    def numerator(self) -> float:
        return float((self.cosines * self.weights * self.penalties).sum())

    @property
    def denominator(self) -> float:
        return float(self.weights.sum())


@dataclass(frozen=True)
class Explanation:
    """Everything from which a pair's score can be redone by hand: the entities found; the candidate's
    looked up among the reference's (precision) and the other way round (recall), None where a side has no
    entity; their harmonic mean, or the value for a side without entities; and what a reader should
    know."""

    reference: tuple[NamedEntity, ...]
    candidate: tuple[NamedEntity, ...]
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
    """Cosine of every pair of rows, shapes (n, d) and (m, d) to (n, m); with a vector of zeros it is 0."""
    return unit(queries) @ unit(others).T


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The rows scaled to length 1; float64, the same shape. Norms below 1e-12 count as 1e-12, as torch has
    it."""
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def penalty_matrix(p: float, options: Options) -> NDArray[np.float64]:
    """The factor for each (query type, match type): p where the rule punishes the mismatch, else 1; shape
    (5, 5)."""

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
        embeddings : vectors of the reference's and of the candidate's entities, one row each.
        notes : carried into the explanation.
        """
        ours, theirs = (tuple(NamedEntity(*pair) for pair in side) for side in (reference, candidate))
        if not ours or not theirs:
            value = self.empty_score(len(ours), len(theirs))
            absent = [name for name, side in (("reference", ours), ("candidate", theirs)) if not side]
            note = f"no entity in the {' and the '.join(absent)}"
            return Explanation(ours, theirs, None, None, value, (*notes, note))
        table = np.asarray(similarity if embeddings is None else cosines(*embeddings), dtype=np.float64)
        if table.shape != (len(ours), len(theirs)):
            what = f"cosines of shape {table.shape} for {len(ours)} and {len(theirs)} entities"
            raise MetricError(what, "ratescore")
        if not np.isfinite(table).all():
            raise MetricError("a cosine is not a finite number", "ratescore", "Check the encoder's vectors.")
        rows, columns = ([entity.type for entity in side] for side in (ours, theirs))
        precision = self.direction(columns, rows, table.T)
        recall = self.direction(rows, columns, table)
        return Explanation(ours, theirs, precision, recall, f1(precision.value, recall.value), tuple(notes))
