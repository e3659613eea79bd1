"""Errors for users, whose message is one line with the fault, its place and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import ValidationError


def to_line(text: str, longest: int) -> str:
    """Return a string as one printable line of at most ``longest`` characters; ``longest`` must be 9 or more.

    The middle of a longer string is replaced by ``...``. Characters that do not print, such as line breaks,
    control characters and marks of writing direction, are written as escapes.
    """
    if len(text) > longest:
        text = f"{text[: longest // 2]} ... {text[len(text) - (longest - longest // 2 - 5) :]}"
    printable = "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
    return printable if len(printable) <= longest else to_line(printable, longest)


def list_names(names: Iterable[str], longest: int = 120, each: int = 40) -> str:
    """Return names as one string, separated by commas, such as ``a, b and 3 more``; ``none`` without names.

    The first name is always shown, and more are added while the string, without ``and 3 more``, has at most
    ``longest`` characters. Each name is shortened to ``each`` characters (9 or more).
    """
    shortened = [to_line(str(name), each) for name in names]
    shown: list[str] = []
    for name in shortened:
        if shown and len(", ".join([*shown, name])) > longest:
            break
        shown.append(name)
    hidden = len(shortened) - len(shown)
    return ", ".join(shown) + (f" and {hidden} more" if hidden else "") if shortened else "none"


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """Return a question with the choice most similar to ``name``, such as ``Did you mean 'bleu'?``.

    The question ends in a space. If no choice is similar, the empty string is returned.
    """
    similar = get_close_matches(str(name), [str(choice) for choice in choices], n=1)
    return f"Did you mean {similar[0]!r}? " if similar else ""


# The types of pydantic's errors for a key that does not exist.
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def describe(error: ValidationError, choices: Iterable[str] = ()) -> str:
    """Return the first fault that pydantic found, as a string with the path of the key, such as ``a.b``.

    If there is an unknown key, it is chosen instead of the first fault, since it may be a misspelling of a
    missing one. The string then asks for the most similar key, if any: among the missing keys of the same
    mapping and, if the unknown key is at the top level, among ``choices``. No value of the input is quoted,
    except by the messages of this library's own validators.
    """
    problems = error.errors(include_url=False, include_input=False)
    first = next((problem for problem in problems if problem["type"] in _UNKNOWN), problems[0])
    path = ".".join(map(str, first["loc"]))
    if first["type"].startswith("missing"):
        return f"missing key {path!r}"
    if first["type"] in _UNKNOWN:
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
    """Base class of errors that bad input or a missing prerequisite causes.

    The message is one printable line, ``WHERE: WHAT. REMEDY``. Long parts are shortened.

    Parameters
    ----------
    what : what is wrong, with the wrong value.
    where : the file, row, argument or notebook cell; may be empty.
    remedy : what the user can do, as a sentence; may be empty.
    """

    longest: ClassVar[tuple[int, int, int]] = (150, 80, 1500)
    """Maximum numbers of characters of ``what``, ``where`` and ``remedy``."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        parts = zip((what, where, remedy), self.longest, strict=True)
        self.what, self.where, self.remedy = (to_line(part, most) for part, most in parts)
        head = f"{self.where}: {self.what}" if where else self.what
        stop = "" if head.endswith("?") else "."
        super().__init__(f"{head.rstrip('.')}{stop} {self.remedy}" if remedy else head)

    def __reduce__(self) -> tuple[type[RadevalError], tuple[str, str, str]]:
        """Return how to rebuild the error from its parts, for pickle."""
        return type(self), (self.what, self.where, self.remedy)


class FileError(RadevalError):
    """A file or folder that the operating system does not let this process read or write."""


def to_file_error(error: OSError) -> FileError:
    """Return a FileError with the message of an operating-system error and the last part of its path, if any.

    If the error has two paths, as in a renaming, the second one is named.
    """
    name = error.filename2 or error.filename
    what = (error.strerror or str(error) or type(error).__name__).lower()
    remedy = "Give another path, or correct this one's permissions or disk." if name else ""
    return FileError(what, Path(str(name)).name if name else "", remedy)


def check_choice(value: object, choices: Any, where: str, error: type[RadevalError]) -> None:
    """Raise an error if ``value`` is not one of the values that a Literal type lists.

    Parameters
    ----------
    choices : a Literal type, or a union with one; of a union, values of its other types are allowed, too. A
        type without a Literal allows every value.
    where : name of the setting or argument, for the message.
    error : the class of the error to raise.
    """
    kinds = get_args(choices) if get_origin(choices) in (Union, UnionType) else (choices,)
    allowed = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    others = tuple(get_origin(kind) or kind for kind in kinds if get_origin(kind) is not Literal)
    if allowed and value not in allowed and not isinstance(value, others):
        raise error(f"unknown value {value!r}", where, f"Choose one of {', '.join(map(str, allowed))}.")


class RegistryError(RadevalError):
    """A row of the registry that names a missing module or object."""


class LedgerError(RadevalError):
    """An unknown exhibit, or a malformed ``paper.yml``."""


class PrintedError(RadevalError):
    """A missing or malformed transcription of a printed table or quotation."""


class ProfileError(RadevalError):
    """An unknown profile, or one with wrong keys or values."""


class ParameterError(RadevalError):
    """An unknown parameter or option, or one with a wrong value."""


class ResultError(RadevalError):
    """A stored result that is incomplete, out of date or malformed."""


class TaskError(RadevalError):
    """An unknown task, or data on which it cannot be trained or tested."""


class SearchError(RadevalError):
    """A hyperparameter search with damaged files or an empty search space."""


class LexiconError(RadevalError):
    """A malformed file of the lexicon."""


class ModelError(RadevalError):
    """A model that is missing, or of another kind or format than its role needs."""


class NotebookError(RadevalError):
    """A notebook that does not exist, or that failed."""

    longest = (900, 80, 1500)
