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
    """An unknown role, one that the profile does not configure, or a source that does not fit or is
    missing."""


class AbsentDataError(RoleError):
    """A role with data missing from the data root; a page that asks for it is left out of the book."""


class StatementError(DataError):
    """A malformed statement, or none that allows text of a data set to be sent to a server."""


class RestrictedTextError(DataError, TypeError):
    """Text from data that may not be redistributed was about to be shown or exported.

    Also a ``TypeError``, the error by which JSON writers refuse what they may not write.
    """
