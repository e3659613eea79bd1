"""RaTEScore where not both of its models are needed: with one alone, or of entities that are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from radeval_lib.metrics.by_name import fitting
from radeval_lib.metrics.ratescore import NamedEntity, RaTEScore, Scorer, Weights
from radeval_lib.metrics.ratescore.metric import Vectors
from radeval_lib.models.encoders import Encoder
from radeval_lib.study.runs import Run

EQUAL_WEIGHTS = Weights("equal weights", np.ones((5, 5)), 1.0)
"""Weights by which all types count alike, without a penalty."""
EntityPair = tuple[Sequence[NamedEntity], Sequence[NamedEntity]]
"""The entities of a reference and of a candidate."""


def with_model(run: Run, role: str) -> RaTEScore:
    """Return RaTEScore as a run has it, with one of its two models, which alone is read: for what needs no
    other.

    ``role``: ``ner_model`` or ``encoder``. Errors are those of :meth:`~radeval_lib.study.runs.Run.model`.
    """
    filled = {role: run.model(role)}
    return RaTEScore(**filled, **fitting("ratescore", filled), device=run.profile.device)


def scored(pairs: Sequence[EntityPair], encoder: Encoder, scorer: Scorer) -> NDArray[np.float64]:
    """Return RaTEScore of pairs whose entities are known; shape (pairs,). Where a side has none, it is what
    ``scorer`` gives such a pair."""
    vectors = Vectors(encoder.encode)
    vectors.learn(entity.text for pair in pairs for side in pair for entity in side)
    return np.array(
        [
            scorer.score(ours, theirs, vectors.rows(ours) @ vectors.rows(theirs).T).score
            if ours and theirs
            else scorer.empty_score(len(ours), len(theirs))
            for ours, theirs in pairs
        ]
    )
