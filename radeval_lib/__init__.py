"""Helper library of a study on judging machine-written radiology text.

``from radeval_lib import score, explain, compare, metric_card`` scores your own reports, compares systems and
tests a metric; ``METRICS`` names the metrics. The command is ``radbook``.
The data flow one way: manifests -> data -> models -> metrics -> statistics -> recorded results -> book.
``radeval_lib.study`` is the part that every notebook uses; see CONTRIBUTING.md for the whole picture.
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
__getattr__ = registry.names_of(__name__, _HOMES)

try:
    __version__ = version("radeval-lib")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
