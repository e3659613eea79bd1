"""Errors about data sets and data files; each message states the fault, its place and the remedy."""

from __future__ import annotations

from radeval_lib.errors import RadevalError


class DataError(RadevalError):
    """Base class of all errors about data sets."""


class DataRootError(DataError):
    """A data root that does not exist or is not a folder."""


class ManifestError(DataError):
    """An unknown data set or file, or a manifest with an unknown, missing or malformed key."""


class ChecksumError(DataError):
    """A file whose size or SHA-256 differs from that in its manifest."""


class FormatError(DataError):
    """A data file that its loader cannot read; the error names the file, and the row or column if known."""


class FetchError(DataError):
    """A data file that cannot be downloaded, or a data root without any file to verify."""


class RoleError(DataError):
    """An unknown role, or a role whose source is unknown, is declared absent or has no fitting records."""


class AbsentDataError(RoleError):
    """A role whose data files are missing from the data root.

    A build leaves out every page, or the rest of every page, that asks for such a role.
    """


class StatementError(DataError):
    """A missing or malformed statement that allows sending restricted text to a model server."""


class RestrictedTextError(DataError, TypeError):
    """An attempt to show or export text that may not be redistributed.

    It is also a ``TypeError``, the error that JSON encoders raise for values that they cannot encode.
    """
