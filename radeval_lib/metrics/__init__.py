"""Metrics: one module each behind one small protocol; ``create(name, **settings)`` makes one by name."""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.metrics.base": "Metric MetricError Scores register",
    "radeval_lib.metrics.by_name": "create get names settings_of",
    "radeval_lib.metrics.file_scoring": "score_file",
}
__getattr__ = import_on_use(__name__, _HOMES)
