"""The same report laid out otherwise, word for word: wrapped, in lines, as a list."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import fill

Layout = Callable[[str], str]
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")  # the blank of "Clear lungs. No effusion"


def sentences(text: str) -> list[str]:
    """The sentences of a report, each with its full stop.

    They are cut at every full stop before white space, "Dr. Smith" too, and not by
    :mod:`radeval_lib.rules.report_text`: layouts test what reads through it.
    """
    return _SENTENCE_END.split(text)


def closed(text: str) -> str:
    """A report whose last sentence has a full stop too."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _lines(text: str, between: str, *, stops: bool = True, before: str = "") -> str:
    """The sentences of a report, with full stops or without."""
    parts = sentences(closed(text))
    return before + between.join(parts if stops else [part.rstrip(".") for part in parts])


def _numbered(text: str, between: str) -> str:
    return between.join(f"{number}. {part}" for number, part in enumerate(sentences(closed(text)), 1))


WRAPPED: dict[str, Layout] = {
    "wrapped at 40 columns": lambda text: fill(text, 40),
    "wrapped at 60 columns": lambda text: fill(text, 60),
    "wrapped at 80 columns": lambda text: fill(text, 80),
    "wrapped, lines end with CRLF": lambda text: fill(text, 60).replace("\n", "\r\n"),
    "wrapped, lines end with blanks": lambda text: fill(text, 60).replace("\n", "  \n") + " ",
    "a sentence a line": lambda text: "\n".join(sentences(text)),
}
"""Layouts that change white space alone."""
MARKED: dict[str, Layout] = {
    "a sentence a line, no full stops": lambda text: _lines(text, "\n", stops=False),
    "line ends of Windows": lambda text: _lines(text, "\r\n", stops=False),
    "line ends typed": lambda text: _lines(text, r"\n"),
    "line ends as tags": lambda text: _lines(text, "<br>"),
    "empty lines": lambda text: _lines(text, "\n\n"),
    "stars in one line": lambda text: _lines(text, " * ", stops=False, before="* "),
    "dashes in one line": lambda text: _lines(text, " - ", stops=False, before="- "),
    "numbered list, a line each": lambda text: _numbered(text, "\n"),
    "numbered list in one line": lambda text: _numbered(text, " "),
}
"""Layouts that change the marks between sentences too."""
