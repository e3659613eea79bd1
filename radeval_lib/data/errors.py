"""Errors of the data layer; each names the fault, the file and row, and the remedy."""

from __future__ import annotations

from radeval_lib.errors import RadevalError


class DataError(RadevalError):
    """Base of every error about data sets."""


class DataRootError(DataError):
    """A data root that does not exist or is not a folder."""


class ManifestError(DataError):
    """An unknown data set, or a manifest that is not of its format."""


class ChecksumError(DataError):
    """A file with another size or SHA-256 than its manifest states."""


class FormatError(DataError):
    """A data file that is not of the format that its loader reads; it names the file and the row."""


class FetchError(DataError):
    """A file that could not be fetched, unpacked or registered."""


class RoleError(DataError):
    """An unknown role, a role without a source in the profile, or a source that does not fit."""


class AbsentDataError(RoleError):
    """A role whose data are missing from the data root; the book leaves out pages that ask for it."""


class StatementError(DataError):
    """A statement on sending text to a server that is malformed or missing."""


class RestrictedTextError(DataError, TypeError):
    """An attempt to show or export text that may not be redistributed.

    It is also a ``TypeError``, which writers of JSON raise for values that they cannot write.
    """
