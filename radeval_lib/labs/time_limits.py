"""Limits on the time that code of a submission may take."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTimeError(BaseException):
    """What ran too long; not an Exception, which the code that runs may catch."""


@contextmanager
def at_most(seconds: int, in_all: int = 0) -> Iterator[None]:
    """Raise an OutOfTimeError in a block that takes more seconds of processor time, which does not depend on
    what else the machine does, or more seconds ``in_all``, waiting included; 0: however many.

    It is raised again each second, for code that catches everything. Of nested blocks the inner one ends the
    outer one's limit; the main thread alone can have one.
    """
    before = {number: signal.signal(number, _stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    signal.setitimer(signal.ITIMER_REAL, in_all, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(*_: object) -> None:
    raise OutOfTimeError("it took too long")
