"""Metrics: one module each behind one small protocol; ``create(name, **settings)`` makes one by name."""

from radeval_lib.metrics.base import (
    Metric,
    MetricError,
    Scores,
    create,
    get,
    names,
    register,
    settings_of,
    typed,
)
from radeval_lib.metrics.files import score_file

__all__ = [
    "Metric",
    "MetricError",
    "Scores",
    "create",
    "get",
    "names",
    "register",
    "score_file",
    "settings_of",
    "typed",
]
