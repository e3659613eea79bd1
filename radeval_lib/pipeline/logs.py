"""What another program, or its log, says of its failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # a change of colour in a terminal
_RAISED = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt): \S")  # builtins.KeyError: 'name'


def without_colours(text: str) -> str:
    """Return a text for a terminal without its changes of colour."""
    return _COLOUR.sub("", text)


def exceptions(lines: Iterable[str]) -> list[str]:
    """Return the lines of a log that name an exception, the cause first."""
    return [line.strip() for line in lines if _RAISED.match(line.strip())]


def last_words(lines: Sequence[str]) -> list[str]:
    """Return the :func:`exceptions` of a log; without any its last line with text."""
    printed = [line.strip() for line in lines if line.strip()]
    return exceptions(printed) or printed[-1:] or ["it printed nothing"]
