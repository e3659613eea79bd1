"""The errors that users see: one line that says what is wrong, where, and what to do about it."""

from __future__ import annotations


class RadevalError(Exception):
    """Base of every error that bad input or a missing prerequisite causes.

    Parameters
    ----------
    what : what is wrong, naming the offending value.
    where : the file, row, argument or notebook cell; may be empty.
    remedy : what the user can do; may be empty.
    """

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        head = f"{where}: {what}" if where else what
        super().__init__(f"{head.rstrip('.')}. {remedy}" if remedy else head)

    def __reduce__(self) -> tuple[type[RadevalError], tuple[str, str, str]]:
        return type(self), (self.what, self.where, self.remedy)


class LedgerError(RadevalError):
    """An unknown exhibit, or a ledger that is not of its format."""


class PrintedError(RadevalError):
    """A printed table or quotation that is missing or not of its format."""


class ProfileError(RadevalError):
    """An unknown profile, or one whose keys are wrong."""


class ParameterError(RadevalError):
    """A notebook parameter that the notebook does not have, or of the wrong type."""


class ResultError(RadevalError):
    """A recorded result that is cut short, stale or not of its format."""


class NotebookError(RadevalError):
    """A notebook that does not exist, or one of whose cells failed."""
