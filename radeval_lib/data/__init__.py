"""Data sets: manifests, getting and checking files, one loader module per set, and the records they yield.

``path = data.find("openi", run.data_root)`` gives a verified file or None; ``openi.load(path)`` its records.
"""

from radeval_lib.data.errors import (
    ChecksumError,
    DataError,
    DataRootError,
    FetchError,
    FormatError,
    ManifestError,
    RestrictedTextError,
)
from radeval_lib.data.manifests import DataFile, Manifest, data_root, find, load_manifest, names
from radeval_lib.data.restricted import RestrictedText, Text, reveal

__all__ = [
    "ChecksumError",
    "DataError",
    "DataFile",
    "DataRootError",
    "FetchError",
    "FormatError",
    "Manifest",
    "ManifestError",
    "RestrictedText",
    "RestrictedTextError",
    "Text",
    "data_root",
    "find",
    "load_manifest",
    "names",
    "reveal",
]
