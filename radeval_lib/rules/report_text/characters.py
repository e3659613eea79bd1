"""A text in plain characters, each with its place in the original.

Line ends of every system, typed ones ("\n") and tags become line feeds; dashes, quotes and blanks become
those of ASCII; letters lose their accents, whether composed or not; marks of de-identification become
"XXXX". A decimal comma, raised point or what looks like one becomes a point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

from radeval_lib.placeholders import refuse

Span = tuple[int, int]
"""The place of a first character, and one past that of the last."""

_LINE_FEEDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BULLETS = "\u2022\u00b7\u25cf\u25aa\u25e6\u2023\u2043\u25a0\uf0b7"
_PLAIN = {
    **dict.fromkeys(_LINE_FEEDS, "\n"),
    **dict.fromkeys(_DASHES[1:], "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    **dict.fromkeys(_BULLETS, "\u2022"),
    "\u00d7": "x",
    "\t": " ",
}
_ENTITIES = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "#39": "'", "#160": " "}
# Line ends, also typed ones ("\n") and tags ("<br>"); tags of letters ("<b>"); tabs; marks of
# de-identification ("[**Name**]", "[DATE 1]", "[redacted]"); entities ("&lt;"); what is not ASCII.
_SPECIAL = re.compile(
    r"(?P<feed>\r\n|(?:\\r)?\\n|\\r(?![a-z])|[\r\v\f\x1c-\x1e]"
    r"|(?i:</?(?:br|p|div|li|ul|ol|tr|td|table|h[1-6])\b[^<>\n]{0,80}>))"
    r"|(?P<nothing>(?i:</?(?:b|i|u|em|strong|span|font)\b[^<>\n]{0,80}>))"
    r"|(?P<blank>\\t|\t)"
    r"|(?P<mask>\[\*\*[^\]\n]{0,80}\*\*\]|\[(?:[A-Z][A-Z _-]{2,30}\d*)\]|<(?:[A-Z][A-Z _-]{2,30}\d*)>"
    r"|(?i:\[(?:redacted|removed|deidentified|de-identified)\]))"
    r"|&(?P<entity>nbsp|amp|lt|gt|quot|#39|#160);"
    r"|(?P<odd>[^\x00-\x7f])"
)
# What a text needs to have for any of these to be in it.
_NEEDS = re.compile(r"[^\x00-\x7f]|[\r\v\f\t\x1c-\x1e\\<\[&]")
# "2,5 cm", "2'5 cm", "2·5 cm".
_DECIMAL_COMMA = re.compile(r"(?<=\d)[,'\u2022](?=\d{1,2}\s?(?:[cm]m|x|centi|milli))", re.IGNORECASE)


class PlainText(NamedTuple):
    """A text in plain characters; ``places`` has the place of each in the original, and of its end."""

    text: str
    places: Sequence[int]


@lru_cache(maxsize=4096)
def _plain_character(sign: str) -> str:
    if sign in _PLAIN:
        return _PLAIN[sign]
    kind = category(sign)
    if kind in ("Mn", "Cf"):
        return ""
    if kind == "Zs":
        return " "
    return "".join(one for one in normalize("NFKD", sign) if category(one) != "Mn") or sign


def plain_text(text: str) -> PlainText:
    """The text in plain characters."""
    places: Sequence[int] = range(len(text) + 1)
    if _NEEDS.search(text):
        refuse([text], "the reader of reports")
        text, places = _replaced(text)
    if _DECIMAL_COMMA.search(text):
        text = _DECIMAL_COMMA.sub(".", text)
    return PlainText(text, places)


def _replaced(text: str) -> tuple[str, list[int]]:
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in _SPECIAL.finditer(text):
        start = match.start()
        parts.append(text[end:start])
        places += range(end, start)
        new = _replacement(match)
        parts.append(new)
        places += [start] * len(new)
        end = match.end()
    parts.append(text[end:])
    places += range(end, len(text) + 1)
    return "".join(parts), places


def _replacement(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "odd":
        return _plain_character(match.group())
    if kind == "entity":
        return _ENTITIES[match.group(kind)]
    return {"feed": "\n", "nothing": "", "blank": " ", "mask": "XXXX"}[kind or ""]
