"""Numbers and symbols as pages show them: a minus sign before a negative number, no sign before zero,
intervals held together, and the subscript of Kendall's τ_b.

Sources and results keep the plain characters, which programs read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

TAU = "τ_b"
_MINUS = re.compile(r"(?<![\w.:/−-])-(?=\.?\d)")
_SIGNED_ZERO = re.compile(r"(?<![\w.:/+−-])[-+−](?=0(?:\.0+)?(?![\w]|\.\d))")
_INTERVAL = re.compile(r"(?<=\[)([-+−]?[\d.,]+%?(?:,| to)) (?=[-+−]?[\d.,]+%?\])")
_AS_IS = re.compile(
    r"<(script|style|code|pre|math|textarea|title)\b.*?</\1\s*>|<[^>]*>",
    re.DOTALL,
)
"""What of HTML or SVG is no running text: tags, and elements that hold code or what a program reads."""


def characters(text: str) -> str:
    """Return text with minus signs (U+2212), zeros without a sign, and intervals without a line break."""
    signed = _MINUS.sub("\N{MINUS SIGN}", _SIGNED_ZERO.sub("", text))
    return _INTERVAL.sub("\\1\N{NO-BREAK SPACE}", signed)


def symbols(html: str) -> str:
    """Return HTML with the signs and subscripts of its text set, outside tags and code."""
    return outside_tags(html, lambda text: characters(text).replace(TAU, "τ<sub>b</sub>"))


def outside_tags(source: str, write: Callable[[str], str]) -> str:
    """Return HTML or SVG whose running text is as ``write`` gives it."""
    parts, last = list[str](), 0
    for match in _AS_IS.finditer(source):
        parts += [write(source[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, write(source[last:])])
