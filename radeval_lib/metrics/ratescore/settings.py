"""RaTEScore's options, its type weights W (5 x 5) and its mismatch penalty p.

The options cover every point at which the released code and the paper differ or the paper is silent. Sources:
Zhao et al. 2024, Section 2.4 and Appendix A.1; package RaTEScore 0.6.0, repository at a970406.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

import numpy as np
import yaml
from numpy.typing import NDArray

from radeval_lib import checksums
from radeval_lib.categories import TYPES
from radeval_lib.errors import check_choice
from radeval_lib.metrics.base import MetricError
from radeval_lib.models.ner.entities import Decoding

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
    penalty : which cosines are multiplied by p. ``cross_polarity``: a disease or abnormality against a
        non-disease or non-abnormality (the code). ``any_mismatch``: any two different types (Section 2.4).
    orientation : index of W. ``query_first``: W[type of the query entity, type of its match] (the code).
        ``match_first``: the other way round, as Section 2.4 and the worked example of A.1 print it.
    empty : value where a side has no entity. ``half``: 0.5, whatever the other side has (the code). ``zero``:
        0. ``one_if_both_empty``: 1 if neither side has any, else 0. The paper does not define it.
    min_characters : shorter sentences are dropped before the entities are looked for (the code: 3; the paper
        states no filter).
    pooling : vector of an entity. ``cls``: last hidden state of the first token (the code). ``mean``: mean
        over the tokens, as the encoder's own card has it. The paper does not say.
    cosine : treatment of a negative cosine. ``keep`` (the code and the formula as printed) lets a score leave
        [0, 1]; ``clip_at_zero`` does not.
    decoding : how entities are read off the NER model's labels, see
        :data:`~radeval_lib.models.ner.entities.Decoding`; ``released`` (the code) or ``standard``.

    Raises
    ------
    MetricError
        If a value is none of its choices, or ``min_characters`` is no whole number from 1.
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
        if not isinstance(self.min_characters, int) or self.min_characters < 1:
            problem = f"min_characters must be a whole number of at least 1, not {self.min_characters}"
            raise MetricError(problem, "ratescore")


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
    """Return the options of a preset, with changes; a change that is None changes nothing.

    ``released`` is what the package does. ``paper`` is Section 2.4 as printed; where the paper is silent it
    takes the natural reading (two texts without findings agree; no sentence is dropped; the encoder as its
    card uses it).

    Raises
    ------
    MetricError
        If the preset or an option is unknown, or as of :class:`Options`.
    """
    check_choice(preset, Preset, "ratescore.preset", MetricError)
    names = [entry.name for entry in fields(Options)]
    if unknown := sorted(set(changes) - set(names)):
        raise MetricError(f"unknown option {unknown[0]!r}", "ratescore", f"Options: {', '.join(names)}.")
    return replace(PRESETS[preset], **{key: value for key, value in changes.items() if value is not None})


_INDEX = {name: index for index, name in enumerate(TYPES)}

POSITIVE = frozenset({"ABNORMALITY", "DISEASE"})
NEGATED = frozenset({"NON-ABNORMALITY", "NON-DISEASE"})

_RELEASED = Path(__file__).with_name("weights.yml")


@dataclass(frozen=True, eq=False)
class Weights:
    """W and p of Section 2.4; the name is ``long``, ``short``, or what the reader's file is called, ``@``
    and the first digits of its SHA-256.

    ``matrix`` is float64, shape (5, 5), in the order of ``TYPES``: a row for the type of the query entity, a
    column for that of its match. ``penalty`` is the factor that a mismatch of types puts on the cosine.
    """

    name: str
    matrix: NDArray[np.float64]
    penalty: float

    def __post_init__(self) -> None:
        if self.matrix.shape != (5, 5):
            raise MetricError(f"W has shape {self.matrix.shape}, not (5, 5)", self.name)
        if not np.isfinite(self.matrix).all() or (self.matrix < 0).any():
            raise MetricError("every weight must be a finite number of 0 or more", self.name)
        if not math.isfinite(self.penalty):
            raise MetricError(f"the penalty is {self.penalty}, not a finite number", self.name)

    def weight(self, query: str, match: str) -> float:
        """Return w[query type, match type]."""
        row, column = type_indices([query, match])
        return float(self.matrix[row, column])


def type_indices(types: Sequence[str]) -> NDArray[np.intp]:
    """Return the indices of entity types in W."""
    try:
        return np.array([_INDEX[name] for name in types], dtype=np.intp)
    except KeyError as error:
        raise MetricError(f"unknown entity type {error}", remedy=f"Types: {', '.join(TYPES)}.") from None


def from_mapping(content: Any, name: str) -> Weights:
    """Return weights from ``{penalty:, weights: {query: {match: value}}}`` or from the package's flat form,
    ``{query_match: value, neg_weight: penalty}``; types in upper or lower case.

    Raises
    ------
    MetricError
        If the mapping has neither form, or a value is missing, unknown or invalid for :class:`Weights`.
    """
    wanted = [f"{query}_{match}".lower() for query in TYPES for match in TYPES] + ["neg_weight"]
    try:
        if "weights" in content:
            rows = {**content["weights"]}
            flat = {f"{query}_{match}": value for query, row in rows.items() for match, value in row.items()}
            flat |= {
                "neg_weight" if key == "penalty" else key: content[key] for key in {*content} - {"weights"}
            }
        else:
            flat = dict(content)
        numbers = {str(key).lower(): float(value) for key, value in flat.items()}
    except (AttributeError, TypeError, ValueError) as error:
        problem = f"not a mapping of type pairs to numbers ({type(error).__name__})"
        raise MetricError(problem, name, "Give 25 weights and a penalty.") from None
    if numbers.keys() != set(wanted):
        key = min(numbers.keys() ^ set(wanted))
        problem = f"{'unknown pair of types' if key in numbers else 'no value for'} {key!r}"
        raise MetricError(problem, name, f"W needs all 25 pairs of {', '.join(TYPES)}, and a penalty.")
    values = [numbers[key] for key in wanted]
    return Weights(name, np.array(values[:-1]).reshape(5, 5), values[-1])


@lru_cache(maxsize=1)
def _released() -> dict[str, Weights]:
    content = yaml.safe_load(_RELEASED.read_text(encoding="utf-8"))
    return {name: from_mapping(entry, name) for name, entry in content.items()}


def load(name_or_path: str | Path | Weights = "long") -> Weights:
    """Return ``long`` (the package's default, whatever the texts' length), ``short``, or a YAML or JSON file.

    Raises
    ------
    MetricError
        If there is no such set or file, or as of :func:`from_mapping`.
    """
    if isinstance(name_or_path, Weights):
        return name_or_path
    if str(name_or_path).lower() in _released():
        return _released()[str(name_or_path).lower()]
    path = Path(name_or_path)
    if not path.is_file():
        raise MetricError(
            f"no weights called {str(name_or_path)!r} and no such file",
            "ratescore.weights",
            f"Use {', '.join(_released())}, or a YAML or JSON file of 25 weights and a penalty.",
        )
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)  # JSON is YAML
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MetricError(f"neither YAML nor JSON ({str(error).splitlines()[0]})", path.name) from None
    weights = from_mapping(content, path.name)
    return replace(weights, name=f"{path.name}@{checksums.of_text(text)[:12]}")
