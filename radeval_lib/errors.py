"""Errors for users, whose message is one line with the fault, its place and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import ValidationError


def to_line(text: str, max_length: int) -> str:
    """Return a string as one printable line of at most ``max_length`` characters (9 or more).

    The middle of a longer string is replaced by ``...``. Characters that do not print, such as line breaks,
    control characters and bidirectional marks, are escaped.
    """
    if len(text) > max_length:
        text = f"{text[: max_length // 2]} ... {text[len(text) - (max_length - max_length // 2 - 5) :]}"
    printable = "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
    return printable if len(printable) <= max_length else to_line(printable, max_length)


def list_names(names: Iterable[str], max_length: int = 120, max_each: int = 40) -> str:
    """Return names as one string, separated by commas, such as ``a, b and 3 more``; ``none`` if empty.

    The first name is always shown, and others are added while the string, without ``and 3 more``, has at most
    ``max_length`` characters. Each name is shortened to ``max_each`` characters (9 or more).
    """
    short_names = [to_line(str(name), max_each) for name in names]
    listed: list[str] = []
    for name in short_names:
        if listed and len(", ".join([*listed, name])) > max_length:
            break
        listed.append(name)
    n_hidden = len(short_names) - len(listed)
    return ", ".join(listed) + (f" and {n_hidden} more" if n_hidden else "") if short_names else "none"


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """Return a question with the choice most similar to ``name``, such as ``Did you mean 'bleu'?``.

    The question ends in a space. If no choice is similar, the empty string is returned.
    """
    matches = get_close_matches(str(name), [str(choice) for choice in choices], n=1)
    return f"Did you mean {matches[0]!r}? " if matches else ""


# Pydantic's error types for an unknown key.
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")


def describe(error: ValidationError, choices: Iterable[str] = ()) -> str:
    """Return the first fault that pydantic found, as a string with the path of the key, such as ``a.b``.

    An unknown key takes precedence, since it may be a misspelling of a missing one. The string then suggests
    the most similar key, if any, among the missing keys of the same mapping and, for a key at the top level,
    ``choices``. Only the messages of this library's own validators quote values of the input.
    """
    problems = error.errors(include_url=False, include_input=False)
    first = next((problem for problem in problems if problem["type"] in _UNKNOWN_KEY), problems[0])
    path = ".".join(map(str, first["loc"]))
    if first["type"].startswith("missing"):
        return f"missing key {path!r}"
    if first["type"] in _UNKNOWN_KEY:
        *parents, key = first["loc"]
        missing = [
            problem["loc"][-1]
            for problem in problems
            if problem["type"].startswith("missing") and list(problem["loc"][:-1]) == parents
        ]
        question = did_you_mean(key, [*missing, *(() if parents else choices)])
        return f"unknown key {path!r}{question and f'. {question.rstrip()}'}"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{path} {message[0].lower()}{message[1:]}".lstrip()  # the path is empty for the input as a whole


class RadevalError(Exception):
    """Base class of errors caused by bad input or a missing prerequisite.

    The message is one printable line, ``WHERE: WHAT. REMEDY``. Long parts are shortened.

    Parameters
    ----------
    what : the fault, with the offending value.
    where : the file, row, argument or notebook cell; may be empty.
    remedy : what the user can do, as an imperative sentence; may be empty.
    """

    longest: ClassVar[tuple[int, int, int]] = (150, 80, 1500)
    """Maximum lengths of ``what``, ``where`` and ``remedy``, in characters."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        parts = zip((what, where, remedy), self.longest, strict=True)
        self.what, self.where, self.remedy = (to_line(part, limit) for part, limit in parts)
        head = f"{self.where}: {self.what}" if where else self.what
        stop = "" if head.endswith("?") else "."
        super().__init__(f"{head.rstrip('.')}{stop} {self.remedy}" if remedy else head)

    def __reduce__(self) -> tuple[type[RadevalError], tuple[str, str, str]]:
        """Return the class and arguments from which pickle rebuilds the error."""
        return type(self), (self.what, self.where, self.remedy)


class FileError(RadevalError):
    """A file or folder that the operating system does not let this process read or write."""


def to_file_error(error: OSError) -> FileError:
    """Return a FileError with the message of an operating-system error and the name of the file, if known.

    If the error has two paths, as from a rename, the second one is used.
    """
    name = error.filename2 or error.filename
    what = (error.strerror or str(error) or type(error).__name__).lower()
    remedy = "Use another path, or correct the permissions or the disk." if name else ""
    return FileError(what, Path(str(name)).name if name else "", remedy)


def check_choice(value: object, choices: Any, where: str, error: type[RadevalError]) -> None:
    """Raise an error if ``value`` is not one of the values that a Literal type lists.

    Parameters
    ----------
    choices : a Literal type, or a union that contains one; values of the union's other types are also
        allowed. A type without a Literal allows every value.
    where : the name of the setting or argument, for the message.
    error : the class of the error to raise.
    """
    parts = get_args(choices) if get_origin(choices) in (Union, UnionType) else (choices,)
    literals = [choice for part in parts if get_origin(part) is Literal for choice in get_args(part)]
    other_types = tuple(get_origin(part) or part for part in parts if get_origin(part) is not Literal)
    if literals and value not in literals and not isinstance(value, other_types):
        raise error(f"unknown value {value!r}", where, f"Choose one of {', '.join(map(str, literals))}.")


class RegistryError(RadevalError):
    """A data set for which the registry names no reader."""


class LedgerError(RadevalError):
    """An unknown paper or exhibit, or a malformed ``paper.yml``."""


class PrintedError(RadevalError):
    """A missing or malformed transcription of printed or released numbers or texts, or a selection of cells
    that does not fit a printed table."""


class ProfileError(RadevalError):
    """An unknown profile, or one with wrong keys or values."""


class ParameterError(RadevalError):
    """A parameter or option that is unknown, missing or wrong, or that does not fit the profile or its
    build."""


class ResultError(RadevalError):
    """A result that cannot be recorded, or a stored one that is missing, incomplete, changed or malformed."""


class TaskError(RadevalError):
    """An unknown task, or data on which it cannot be trained or tested."""


class SearchError(RadevalError):
    """A hyperparameter search with damaged files or an empty search space."""


class LexiconError(RadevalError):
    """A malformed file of the lexicon."""


class ModelError(RadevalError):
    """A missing or damaged model, one that does not fit its role, or a wrong setting, device or input of a
    model."""


class NotebookError(RadevalError):
    """A notebook that is missing or malformed, asks for an input that it may not read, fails, or cannot be
    graded."""

    longest = (900, 80, 1500)
