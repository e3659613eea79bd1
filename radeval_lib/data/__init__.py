"""Data sets: their manifests and files, a loader module for each set, and the records that loaders return.

``path = data.find("openi", run.data_root)`` returns the path of a verified file, or None if it is
absent; ``openi.load(path)`` returns its records.
"""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.data.errors": "FetchError RestrictedTextError",
    "radeval_lib.data.manifests": "data_root find load_manifest names",
    "radeval_lib.data.records": "reveal_tokens",
    "radeval_lib.data.restricted": "RestrictedText reveal",
}
__getattr__ = import_on_use(__name__, _HOMES)
