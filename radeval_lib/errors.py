"""The errors that users see: one line with the fault, its place and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import ValidationError


def plain(text: str, longest: int) -> str:
    """Return ``text`` on one line of at most ``longest`` (9 or more) characters; a longer text loses its
    middle.

    Control characters and what else does not print (line breaks, escape sequences of terminals, signs that
    turn the direction of writing) are written as escapes.
    """
    if len(text) > longest:
        text = f"{text[: longest // 2]} ... {text[len(text) - (longest - longest // 2 - 5) :]}"
    shown = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape", "surrogatepass").decode()
        for sign in text
    )
    return shown if len(shown) <= longest else plain(shown, longest)


def listed(names: Iterable[str], longest: int = 120, each: int = 40) -> str:
    """Return names joined by commas: as many as fit into ``longest`` characters, then how many more there
    are. Each name is cut at ``each`` characters."""
    every = [plain(str(name), each) for name in names]
    shown: list[str] = []
    for name in every:
        if shown and len(", ".join([*shown, name])) > longest:
            break
        shown.append(name)
    rest = len(every) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "") if every else "none"


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """Return a question that suggests the nearest choice, followed by a space; empty if none is near."""
    near = get_close_matches(str(name), [str(choice) for choice in choices], n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def complaint(error: ValidationError, choices: Iterable[str] = ()) -> str:
    """Return pydantic's first complaint with its location. It repeats nothing of the input but names of keys.

    An unknown key comes before a missing one, which it may be, misspelt; it is named with the nearest of the
    ``choices``, and of those that are missing beside it.
    """
    every = error.errors(include_url=False, include_input=False)
    first = next((problem for problem in every if problem["type"] in _UNKNOWN), every[0])
    path = ".".join(map(str, first["loc"]))
    if first["type"].startswith("missing"):
        return f"missing key {path!r}"
    if first["type"] in _UNKNOWN:
        *above, key = first["loc"]
        lacking = [
            problem["loc"][-1]
            for problem in every
            if problem["type"].startswith("missing") and list(problem["loc"][:-1]) == above
        ]
        near = did_you_mean(key, [*lacking, *(() if above else choices)])
        return f"unknown key {path!r}{near and f'. {near.rstrip()}'}"
    problem = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{path} {problem[0].lower()}{problem[1:]}".lstrip()  # no place: all of the input


class RadevalError(Exception):
    """Base of every error that bad input or a missing prerequisite causes.

    Whatever the parts hold, the message is one line that prints, and what it echoes of the input is cut.

    Parameters
    ----------
    what : what is wrong, naming the offending value.
    where : the file, row, argument or notebook cell; may be empty.
    remedy : what the user can do; may be empty.
    """

    longest: ClassVar[tuple[int, int, int]] = (150, 80, 1500)
    """Most characters of what, where and remedy; a remedy may have to list steps."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        parts = zip((what, where, remedy), self.longest, strict=True)
        self.what, self.where, self.remedy = (plain(part, most) for part, most in parts)
        head = f"{self.where}: {self.what}" if where else self.what
        super().__init__(f"{head.rstrip('.')}. {self.remedy}" if remedy else head)

    def __reduce__(self) -> tuple[type[RadevalError], tuple[str, str, str]]:
        return type(self), (self.what, self.where, self.remedy)


class FileError(RadevalError):
    """A file or folder that the system does not let us read or write."""


def of_system(error: OSError) -> FileError:
    """Return an operating-system error as a RadevalError that names only the last part of a path."""
    name = error.filename2 or error.filename
    what = (error.strerror or str(error) or type(error).__name__).lower()
    remedy = "Give another path, or make this one usable." if name else ""
    return FileError(what, Path(str(name)).name if name else "", remedy)


def check_choice(value: object, choices: Any, where: str, error: type[RadevalError]) -> None:
    """Raise ``error`` for a value that a Literal type does not list. In a union, a value of another member
    type is accepted.

    ``where`` names the setting. A type without a Literal refuses nothing.
    """
    kinds = get_args(choices) if get_origin(choices) in (Union, UnionType) else (choices,)
    allowed = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    others = tuple(get_origin(kind) or kind for kind in kinds if get_origin(kind) is not Literal)
    if allowed and value not in allowed and not isinstance(value, others):
        raise error(f"unknown value {value!r}", where, f"Choose one of {', '.join(map(str, allowed))}.")


class RegistryError(RadevalError):
    """A row of the registry with the name of something missing."""


class LedgerError(RadevalError):
    """An unknown exhibit, or a ledger that is not of its format."""


class PrintedError(RadevalError):
    """A printed table or quotation that is missing or not of its format."""


class ProfileError(RadevalError):
    """An unknown profile, or one with wrong keys."""


class ParameterError(RadevalError):
    """An unknown parameter of a notebook, or one of the wrong type."""


class ResultError(RadevalError):
    """A stored result that is cut short, stale or malformed."""


class TaskError(RadevalError):
    """An unknown task, or data that it cannot be fitted to or measured on."""


class SearchError(RadevalError):
    """A search with damaged files, or a space with nothing to search."""


class LexiconError(RadevalError):
    """A file of the lexicon that is not of its format."""


class ModelError(RadevalError):
    """A model that cannot be found, or is not of the kind or format that the role needs."""


class NotebookError(RadevalError):
    """A notebook that does not exist, or with a cell that failed."""

    longest = (300, 80, 1500)
