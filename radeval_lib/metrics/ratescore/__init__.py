"""RaTEScore (Zhao et al. 2024): entities, their synonyms, their types, and a weighted F1 of the matches."""

from radeval_lib.categories import TYPES
from radeval_lib.metrics.ratescore.formula import (
    Direction,
    Explanation,
    Match,
    NamedEntity,
    Scorer,
    cosines,
)
from radeval_lib.metrics.ratescore.metric import RaTEScore
from radeval_lib.metrics.ratescore.options import PRESETS, Options, Weights, load, options
from radeval_lib.metrics.ratescore.sentences import split

__all__ = [
    "PRESETS",
    "TYPES",
    "Direction",
    "Explanation",
    "Match",
    "NamedEntity",
    "Options",
    "RaTEScore",
    "Scorer",
    "Weights",
    "cosines",
    "load",
    "options",
    "split",
]
