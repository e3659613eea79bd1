"""Helper library of a study on judging machine-written radiology text.

``from radeval_lib import score, explain, compare`` scores your own reports and compares systems.
The data flow one way: manifests -> data -> models -> metrics -> statistics -> recorded results -> book.
``radeval_lib.study`` is the part that every notebook uses; see CONTRIBUTING.md for the whole picture.
"""

from importlib.metadata import PackageNotFoundError, version

from radeval_lib.lazy import names_of

_HOMES = {
    "radeval_lib.metric_cards.card": "metric_card",
    "radeval_lib.metrics.compare": "compare",
    "radeval_lib.metrics.api": "explain score",
    "radeval_lib.rules.lexicon.significance": "Context",
}
__getattr__ = names_of(__name__, _HOMES)

try:
    __version__ = version("radeval-lib")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"
