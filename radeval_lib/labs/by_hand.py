"""Functions that students are to write by hand: finds whether they call a package that does the same."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import numpy as np


class BorrowedError(Exception):
    """A function that was to be written by hand calls a package that does the same."""


@contextmanager
def by_hand(packages: Collection[str]) -> Iterator[None]:
    """Raise a BorrowedError at the end of a block if a function of one of these packages ran in it.

    A package may be given down to a module or a function, as ``radeval_lib.labs.tagging.score``. Calls in
    other threads and processes are not seen.
    """
    borrowed: list[str] = []
    within = tuple(f"{name}." for name in packages)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            module, name = frame.f_globals.get("__name__"), frame.f_code.co_qualname
        elif event == "c_call":
            module, name = getattr(called, "__module__", None), getattr(called, "__qualname__", "")
        else:
            return
        if f"{module}.{name}.".startswith(within) and module != __name__:
            borrowed.append(f"{module}.{name}")

    before = sys.getprofile()
    if packages:
        sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
    if borrowed:
        raise BorrowedError(f"it calls {borrowed[0]}: write this one yourself")


def spliced(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return six pairs of a candidate and a reference that no notebook contains. One is of ``texts``, two or
    more of at least six words each; the other begins like it and continues differently."""
    made = []
    for number in range(6):
        first, other = (texts[index].split() for index in rng.choice(len(texts), 2, replace=False))
        start, rest = first[: rng.integers(3, len(first) - 2)], other[rng.integers(len(other) - 3) :]
        pair = " ".join(start + rest), " ".join(first)
        made.append(pair if number % 2 else pair[::-1])
    return made
