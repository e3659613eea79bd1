"""Where statements end: full stops, line ends, lists.

A line break is the end of a statement unless the line is wrapped there, which the width of the lines shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from radeval_lib.rules.report_text.characters import Span

# The end of a sentence ("Clear.", "clear.No effusion", "of 3.Normal"), which none is in "Dr. Lee" or "2.5"; a
# question mark, a semicolon, a bullet.
_STOP = re.compile(
    r"[.!](?<!\bdr\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bapprox\.)(?<!\bmr\.)(?<!\bmrs\.)(?<!\bcf\.)[.!]*"
    r"(?=\s|$|[\"')\]](?:\s|$)|[a-z]{2})|\?(?<=[\w)]\?)\?*(?=\s|$)|\.(?<=\d\.)(?=[a-z])|[;\u2022]",
    re.IGNORECASE,
)
# An empty line, with the blanks about it.
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
# What begins an item of a list, at the start of a line: "- ", "* ", "1.", "2)", "(a) ".
_MARK = re.compile(
    r"[^\S\n]*(?:[-*>+o]{1,2}(?=[ \t]+\S)|[-*](?=[A-Z])|\(?\d{1,2}[.)](?!\d)|\(?[a-h]\)(?=\s))\s*"
)
# The number of an item within a line: "1. Clear 2. No effusion", "clear.2) no effusion".
_NUMBER = re.compile(
    r"(?:(?<=[\s.,;:!?])|^)\(?(\d{1,2})(?:\)|\.(?=\s|[A-Za-z]))[ \t]*|(?<=[A-Za-z).][A-Za-z).])(\d{1,2})\)"
)
# A box that is ticked or not, at the start of a line: "(-)", "[x]"; and within one.
_BOX = re.compile(r"\s*(?:\([-+]\)|\[[ xX]\])")
_BOXED = re.compile(r"(?:^|(?<=[\s.,;]))(?:\([-+]\)|\[[ xX]\])(?=\s?[A-Za-z])")
# A star between items: "Clear * No effusion".
_STAR = re.compile(r"(?:^|(?<=\s))\*+(?=\s)")
# A dash before an item: "- Clear - No effusion". Before a size too, where no other size stands before it
# ("3 mm - 5 mm").
_DASH = re.compile(r"(?:^|(?<=\s))-+(?=\s+[A-Z(])|(?<=[a-z)]\s)(?<![cm]m\s)-(?=\s[0-9.]+ [cm]m [a-z])")
LIST = re.compile(
    r"(?:(?P<denied>(?:pertinent |relevant |other )?negatives?(?: findings?| for)?|absent"
    r"|not (?:seen|present|identified)|none of(?: the following)?|no evidence of|denied|no)"
    r"|(?:pertinent |other )?positives?(?: findings?| for)?|present|seen|identified|yes)(?: findings?)?"
    r"[ \t]*:?[ \t]*",
    re.IGNORECASE,
)
"""The heading of a list of what is absent (``denied``) or present."""
_OPEN_WORDS = """
a an the of in at on with without and or no to for from by is are was were be been has have than as into over
near along within which that this these not any there may could both but however versus vs dr mr measuring
involving approximately about between overlying represent representing suggest suggesting
"""
_OPEN = frozenset(_OPEN_WORDS.split())
"""Words that no statement ends with."""
_SHORTENED = frozenset(["dr.", "mr.", "mrs.", "vs.", "approx.", "e.g.", "i.e."])
"""Words with a full stop of their own, after which a line goes on."""
# A sentence that ends within its line: "Clear. No effusion".
_SENTENCES = re.compile(r"[a-z)][.!?][ \t]+[A-Z0-9]")
NARROWEST, WIDEST = 36, 140
"""Between these widths lines are wrapped, in characters."""


class Break(NamedTuple):
    """Characters at which a text is cut; ``line``: at the end of a line, ``paragraph``: at an empty line."""

    start: int
    end: int
    line: bool
    paragraph: bool


def breaks(text: str) -> list[Break]:
    """Where a text in plain characters is cut into statements, in order."""
    found = [Break(*match.span(), False, False) for match in _STOP.finditer(text)]
    # What asks remains: "pneumonia?" is doubted.
    found = [one._replace(start=one.end) if text[one.start] == "?" else one for one in found]
    found += [Break(*span, False, False) for span in _listed(text)]
    if "\n" in text:
        found += [Break(*match.span(), True, True) for match in _BLANK_LINE.finditer(text)]
        found += _line_ends(text)
    return sorted(found)


def _listed(text: str) -> Iterator[tuple[int, int]]:
    """The marks of lists within and at the beginning of lines."""
    yield from _numbers(text)
    boxes = [match.start() for match in _BOXED.finditer(text)]
    if len(boxes) > 1 and not text[: boxes[0]].rstrip()[-1:].isalnum():
        yield from ((start, start) for start in boxes if text[:start].strip())
    yield from (match.span() for match in _STAR.finditer(text))
    dashes = list(_DASH.finditer(text))
    if dashes and (not text[: dashes[0].start()].strip() or _part_items(text, dashes)):
        yield from (match.span() for match in dashes)


def _numbers(text: str) -> list[tuple[int, int]]:
    """The numbers of items, which count up from 1; a single one must begin the text."""
    expected = 1
    kept: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(text):
        number = int(match[1] or match[2])
        # A number that follows a digit is overlooked ("ratio of 24.73)Opacity"): the next one counts.
        if expected <= number <= expected + 2 * bool(kept) and not _in_brackets(text, match.start()):
            kept.append(match.span())
            expected = number + 1
    return kept if len(kept) > 1 or (kept and not text[: kept[0][0]].strip()) else []


def _part_items(text: str, dashes: list[re.Match[str]]) -> bool:
    """Whether dashes part items of a list, and not names from answers ("Lungs - Clear. Heart - Normal.")."""
    items = answers = 0
    for before, dash in pairwise(dashes):
        between = text[before.end() : dash.start()]
        said = re.split(r"[.;](?:\s|$)|\n", between)
        if len(said) == 1 or not any(map(str.isalpha, said[-1])):
            items += 1
        else:
            answers += 1
    return items > answers


def _in_brackets(text: str, at: int) -> bool:
    before = text[max(0, at - 60) : at]
    return before.count("(") > before.count(")")


class _Shape(NamedTuple):
    """What the lines of a text have in common: the longest one's ``width`` in characters; whether several
    begin as items (``listed``), one ends before a word that would have fitted (``roomy``), a sentence ends
    within its line (``sentences``), there are small letters (``mixed``), or no capitals (``lower``)."""

    width: int
    listed: bool
    roomy: bool
    sentences: bool
    mixed: bool
    lower: bool


def _shape(text: str, lines: list[Span]) -> _Shape:
    width = max((len(text[start:end].rstrip()) for start, end in lines), default=0)
    return _Shape(
        width,
        sum(_MARK.match(text, start) is not None for start, _ in lines) > 1,
        any(_has_room(text, *pair, width) for pair in pairwise(lines)),
        _SENTENCES.search(text) is not None,
        any(map(str.islower, text)),
        not any(map(str.isupper, text)),
    )


def _line_ends(text: str) -> Iterator[Break]:
    """The single line breaks that end a statement, with the mark of an item that follows."""
    lines = [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
    shape = _shape(text, lines)
    for line, following in pairwise(lines):
        end, start = line[1], following[0]
        if text.count("\n", end, start) > 1:
            continue  # an empty line
        mark = _MARK.match(text, start)
        if mark is not None and (shape.listed or text[slice(*following)].split()[0][0] in "*>+"):
            yield Break(end, mark.end(), True, False)
        elif _ends_statement(text, line, following, shape):
            yield Break(end, start, True, False)


def _ends_statement(text: str, line: Span, following: Span, shape: _Shape) -> bool:
    """Whether a line that no item follows ends its statement, and is not wrapped there."""
    words, first = text[slice(*line)].split(), text[slice(*following)].split()[0]
    if _BOX.match(text, following[0]) or LIST.fullmatch(text, *line):
        return True
    if _goes_on(words) or _in_brackets(text, line[1]):
        return False
    if words[-1][-1] in ".!?;":
        return True
    if _has_room(text, line, following, shape.width) or not NARROWEST <= shape.width <= WIDEST:
        return first[0].isupper() or first[0].isdigit() or (shape.lower and first[0].isalpha())
    capital = shape.mixed and first[0].isupper()
    return capital and (not first[1:2].isupper() or (shape.roomy and not shape.sentences))


def _has_room(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether the first word of the next line would have fitted: then the line is not wrapped there."""
    word = text[slice(*following)].split(maxsplit=1)[0]
    return len(text[slice(*line)].rstrip()) + 1 + len(word) <= width


def _goes_on(line: list[str]) -> bool:
    """Whether the last word of a line asks for another ("with", but not the answer of "Effusion: no")."""
    last = line[-1].lower()
    if last == "no" and len(line) > 1 and line[-2][-1] in ":-=":
        return False
    return last.strip(",(") in _OPEN or last in _SHORTENED or last[-1] in ",(/-&:"
