"""RaTEScore (Zhao et al. 2024): entities, their synonyms, their types, and a weighted F1 of the matches."""

from radeval_lib.data.categories import TYPES
from radeval_lib.metrics.ratescore.metric import RaTEScore
from radeval_lib.metrics.ratescore.scoring import (
    PRESETS,
    Direction,
    Entity,
    Explanation,
    Match,
    Options,
    Scorer,
    cosines,
    options,
    split,
)
from radeval_lib.metrics.ratescore.weights import Weights, load

__all__ = [
    "PRESETS",
    "TYPES",
    "Direction",
    "Entity",
    "Explanation",
    "Match",
    "Options",
    "RaTEScore",
    "Scorer",
    "Weights",
    "cosines",
    "load",
    "options",
    "split",
]
