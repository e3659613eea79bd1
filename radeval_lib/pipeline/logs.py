"""What the log of another program says of its failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_RAISED = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt): \S")  # builtins.KeyError: 'name'


def exceptions(lines: Iterable[str]) -> list[str]:
    """The lines of a log that name an exception, the cause first."""
    return [line.strip() for line in lines if _RAISED.match(line.strip())]


def last_words(lines: Sequence[str]) -> list[str]:
    """The :func:`exceptions` of a log; without any its last line with text."""
    printed = [line.strip() for line in lines if line.strip()]
    return exceptions(printed) or printed[-1:] or ["it printed nothing"]
