"""RaTEScore (Zhao et al. 2024): entities, their synonyms, their types, and a weighted F1 of the matches."""

from radeval_lib.data.entity_types import TYPES
from radeval_lib.metrics.ratescore.metric import RaTEScore
from radeval_lib.metrics.ratescore.options import PRESETS, Options, options
from radeval_lib.metrics.ratescore.scoring import Direction, Entity, Explanation, Match, Scorer, cosines
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
]
