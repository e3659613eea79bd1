"""Metrics for machine-written radiology reports, and the library behind a study of these metrics.

``from radeval_lib import score, explain, compare, metric_card``: score reports, explain a score, compare
systems, and test a metric. ``METRICS`` lists the metrics by name. The command ``radbook`` does the same.

The notebooks of the study use :mod:`radeval_lib.study`. CONTRIBUTING.md describes the architecture.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from radeval_lib import registry

if TYPE_CHECKING:
    from radeval_lib.metric_cards.card import metric_card
    from radeval_lib.metrics.compare import compare
    from radeval_lib.metrics.scoring import explain, score
    from radeval_lib.rules.lexicon.significance import Context

_HOMES = {
    "radeval_lib.metric_cards.card": "metric_card",
    "radeval_lib.metrics.compare": "compare",
    "radeval_lib.metrics.scoring": "explain score",
    "radeval_lib.rules.lexicon.significance": "Context",
}
METRICS = tuple(registry.METRICS)
__all__ = ["METRICS", "Context", "compare", "explain", "metric_card", "score"]
__getattr__ = registry.import_on_use(__name__, _HOMES)

try:
    __version__ = version("radeval-lib")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"


def __dir__() -> list[str]:
    """Return the public names, including those that are not imported yet."""
    return [*__all__, "__version__"]
