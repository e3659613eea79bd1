"""How RaTEScore is computed: where the released code and the paper differ, and where the paper is silent.

Sources: Zhao et al. 2024, Section 2.4 and Appendix A.1; package RaTEScore 0.6.0, repository at a970406.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_type_hints

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
            what = f"min_characters must be a whole number from 1, not {self.min_characters}"
            raise MetricError(what, "ratescore")


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
    known = [entry.name for entry in fields(Options)]
    if unknown := sorted(set(changes) - set(known)):
        raise MetricError(f"unknown option {unknown[0]!r}", "ratescore", f"Options: {', '.join(known)}.")
    return replace(PRESETS[preset], **{key: value for key, value in changes.items() if value is not None})
