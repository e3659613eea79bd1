"""Functions that students are to write by hand: finds whether they call a package that does the same."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import numpy as np

_OURS = (__name__, "radeval_lib.labs.answers", "radeval_lib.labs.figure_data")
"""Run around a student's function and are no part of it."""
_OUT_OF_SIGHT = (
    *("_thread.start_new_thread", "_thread.start_joinable_thread", "_posixsubprocess.fork_exec"),
    *("posix.fork", "posix.forkpty", "posix.posix_spawn", "posix.posix_spawnp", "posix.system"),
)
"""Begin threads and processes, whose calls are not seen; no task needs them."""


class BorrowedError(Exception):
    """A function that was to be written by hand calls a package that does the same."""


@contextmanager
def by_hand(packages: Collection[str]) -> Iterator[None]:
    """Raise a BorrowedError at the end of a block in which a function of one of these packages ran.

    A package may be given down to a module or a function, as ``radeval_lib.labs.tagging.score``. Calls are
    seen only while the block runs: hidden tests give a function arguments that no notebook held, so that it
    gains nothing by results that were prepared, and it must not begin threads or processes. A copy of a
    package's source is not noticed, as no copied text is, nor a thread that waits since before.
    """
    if not packages:
        yield
        return
    borrowed: list[str] = []
    within = tuple(f"{name}." for name in (*packages, *_OUT_OF_SIGHT))

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call" and not borrowed:
            module, name = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call" and not borrowed:
            module, name = getattr(called, "__module__", None), getattr(called, "__qualname__", "")
        else:
            return
        if f"{module}.{name}.".startswith(within) and module not in _OURS:
            borrowed.append(_named(frame, f"{module}.{name}"))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        unwatched = sys.getprofile() is not watch
        sys.setprofile(before)
    if borrowed or unwatched:
        what = borrowed[0] if borrowed else "sys.setprofile"
        raise BorrowedError(f"it calls {what}: write this one yourself")


def _named(frame: FrameType, called: str) -> str:
    """What a call is named by: the line of the student's own function that led to it, if that can be read."""
    above: list[FrameType] = []
    caller: FrameType | None = frame
    while caller is not None and caller.f_globals.get("__name__") not in _OURS:
        above.append(caller)
        caller = caller.f_back
    if above:  # the last is the function that was called
        own = next(each for each in above if each.f_globals is above[-1].f_globals)
        line = linecache.getline(own.f_code.co_filename, own.f_lineno).strip()
        if line and f"{own.f_globals.get('__name__')}.{own.f_code.co_qualname}" != called:
            return f"{called.partition('.')[0]} in `{line}`"
    return called


def spliced(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Six pairs of a candidate and a reference that no notebook held: one is of ``texts``, two or more of six
    words or more each, the other begins like it and goes on like another."""
    made = []
    for number in range(6):
        one, other = (texts[place].split() for place in rng.choice(len(texts), 2, replace=False))
        start, rest = one[: rng.integers(3, len(one) - 2)], other[rng.integers(len(other) - 3) :]
        pair = " ".join(start + rest), " ".join(one)
        made.append(pair if number % 2 else pair[::-1])
    return made
