"""The checks of a lab's notebook: what a student can run, in whatever file and place the notebook lies.

A check gets answers in the form in which hidden tests get them, see :mod:`radeval_lib.labs.answers`.
"""

from __future__ import annotations

import builtins
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

from radeval_lib import __version__
from radeval_lib.labs import PLACEHOLDER, known_id
from radeval_lib.labs.answers import NO_ANSWER, AnswerError, callable_answer, normal
from radeval_lib.labs.by_hand import BorrowedError

MIME = "application/vnd.radeval.check+json"
"""The kind of output by which `radbook labs check` finds what a check said."""
NOT_OF_THIS_FORM = "An answer does not have the form that the task asks for."
BORROWED = "Write this function yourself: it calls one of a package that does the same."
_BUILT_IN = vars(builtins)


class StudentError(Exception):
    """What a student's own function did in place of giving a result."""


class Checks:
    """The checks of one notebook.

    Parameters
    ----------
    lab, version : which lab the notebook is, and what made it; the grader compares them with its own.
    """

    active = True
    """False where a notebook is graded: its own checks say nothing there."""

    def __init__(self, lab: str, version: str) -> None:
        self.lab, self.version = lab, version
        if (made := version.rpartition("-")[0]) != __version__:
            warnings.warn(
                f"release {made} of radeval-lib made this notebook, and release {__version__} is installed: "
                "ask your instructor which of them is used",
                stacklevel=2,
            )

    def check(self, task: str, without: Collection[str] = ()) -> Callable[[Callable[..., None]], None]:
        """A decorator that runs a check of a task at once, on the notebook's names, and shows the result.

        ``without`` names packages that the task's functions must not call.
        """

        def run(test: Callable[..., None]) -> None:
            if self.active:
                names, what = test.__globals__, test.__name__.removeprefix("test_").replace("_", " ")
                message = outcome(test, lambda name: local(names, name, without), hidden=False)
                _show(f"{task} ({what})", message)

        return run

    def check_id(self, student_id: Any) -> None:
        """Say whether an id can be read, and as what."""
        if not self.active:
            return
        try:
            known = known_id(student_id)
        except ValueError as error:
            _show("student_id", str(error))
        else:
            own = f"put your own id in place of {PLACEHOLDER!r}" if known == PLACEHOLDER else None
            _show("student_id", own, f"your id is {known!r}")


def local(names: Mapping[str, Any], name: str, without: Collection[str]) -> Any:
    """What a test in the student's own process gets for a name: a value in normal form, or a function that
    raises a StudentError for whatever the student's own raises; an AnswerError where it is neither."""
    if name not in names:
        raise AnswerError(f"there is no {name!r}")
    value = names[name]
    if not callable(value):
        try:
            return normal(value)
        except AnswerError as error:
            raise AnswerError(f"{name}: {error}") from None

    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return callable_answer(value, without)(*arguments, **named)
        except Exception as error:
            raise StudentError(f"{type(error).__name__}: {error}"[:300]) from error

    return called


def outcome(test: Callable[..., None], get: Callable[[str], Any], *, hidden: bool) -> str | None:
    """What a test says of an answer; None if it passes.

    Of a hidden test a student sees its own message alone: whatever a student's function raised could carry
    what the test gave it.
    """
    try:
        test(**{name: get(name) for name in inspect.signature(test).parameters})
    except AssertionError as error:
        return _own_message(test) if hidden else str(error) or "This check fails."
    except StudentError as error:
        if str(error) == f"AnswerError: {NO_ANSWER}":
            return NO_ANSWER
        kind = str(error).partition(":")[0]
        if hidden and kind == BorrowedError.__name__:
            return BORROWED
        if hidden and isinstance(_BUILT_IN.get(kind), type):
            return f"Your function raised {kind} where it should give a result."
        return "Your function stopped where it should give a result." if hidden else str(error)
    except AnswerError as error:
        return str(error) if not hidden or str(error).endswith(NO_ANSWER) else NOT_OF_THIS_FORM
    except Exception as error:
        return NOT_OF_THIS_FORM if hidden else f"{NOT_OF_THIS_FORM} ({type(error).__name__}: {error})"
    return None


def _own_message(test: Callable[..., None]) -> str:
    """What a hidden test says to students: its docstring, which gives no answer away."""
    return " ".join((test.__doc__ or "A hidden test fails.").split())


def _show(task: str, message: str | None, passed: str = "this check passes") -> None:
    """Show what a check says: as an output of the notebook, or as a line where there is none."""
    text = f"{task}: {passed if message is None else message}"
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(text)
        return
    if get_ipython() is None:
        print(text)
    else:
        content = {"task": task, "passed": message is None, "message": message or passed}
        display({"text/plain": text, MIME: content}, raw=True)
