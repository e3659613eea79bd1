"""Data sets: manifests, getting and checking files, one loader module per set, and the records they yield.

``path = data.find("openi", run.data_root)`` gives a verified file or None; ``openi.load(path)`` its records.
"""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.data.errors": "FetchError RestrictedTextError",
    "radeval_lib.data.manifests": "data_root find load_manifest names",
    "radeval_lib.data.records": "plain_words",
    "radeval_lib.data.restricted": "RestrictedText reveal",
}
__getattr__ = import_on_use(__name__, _HOMES)
