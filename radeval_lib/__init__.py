"""Helper library of a study on judging machine-written radiology text.

The data flow one way: manifests -> data -> models -> metrics -> statistics -> recorded results -> book.
``radeval_lib.study`` is the part that every notebook uses; see CONTRIBUTING.md for the whole picture.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("radeval-lib")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"
