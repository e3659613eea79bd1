"""Where statements end: full stops, line ends, lists.

A line break is the end of a statement unless the line is wrapped there, which the width of the lines shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from radeval_lib.rules.report_text.words import Span

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


# Headings of a report, and which of its sections are about this study.


FINDINGS = "findings"
"""The kind of a section that says what this study shows; so does a text without a heading."""

# What may stand before "history": "past medical history".
_CLINICAL = (
    r"(?:(?:brief|relevant|pertinent|patient|past|family|social|medical|surgical|clinical"
    r"|oncologic(?:al)?)\s)*"
)
# What a report is of: "reason for study".
_STUDY = r"(?:exam(?:ination)?s?|stud(?:y|ies)|procedures?|tests?|visit|scan|imaging|radiographs?|x-?rays?)"
_NAMES = {
    "history": rf"{_CLINICAL}(?:history(?:\sof\spresent\sillness)?|indications?|hx)"
    rf"(?:\s?(?:/|and|&)\s?(?:{_CLINICAL}(?:history|indications?|reason\sfor\s{_STUDY})))?"
    r"|clinical(?:\s(?:information|info|details?|data|statement|background|context|notes?|question|concern"
    r"|presentation|summary|diagnosis|symptoms?|problem))?"
    rf"|(?:{_CLINICAL})?reasons?(?:\sfor\s(?:the\s)?(?:{_STUDY}|referral|consult(?:ation)?|request))?"
    r"|chief\scomplaint|(?:pre-?op(?:erative)?|admitting|ordering|working)\sdiagnos[ie]s|presenting\scomplaint"
    r"|symptoms?|review\sof\ssystems|physical\sexam(?:ination)?|allergies|patient\sinformation",
    "comparison": rf"comparisons?(?:\s{_STUDY})?(?:\sdates?)?|(?:prior|previous)\s{_STUDY}"
    r"|compared\s(?:to|with)",
    "technique": r"(?:exam(?:ination)?\s)?techni(?:que|cal)s?(?:\s(?:factors?|details?|notes?))?|protocol"
    r"|(?:iv\s)?contrast|(?:number\sof\s)?views?|methods?|(?:radiation\s)?dose|medications?",
    "exam": rf"(?:type\sof\s|name\sof\s)?{_STUDY}(?:\s(?:type|date|description|name|performed|title|code))?"
    r"|modality|accession(?:\snumber)?|date(?:\sof\s\w+)?|time|mrn|patient(?:\sname|\sid)?|name|age|sex|dob",
    "wet read": r"wet\s?read(?:ing)?s?|prelim(?:inary)?\s(?:read(?:ing)?|interpretation)|resident\sread",
    "addendum": r"addend(?:um|a)(?:\s(?:\d+|#\d+))?",
    "signature": r"(?:electronically\s)?(?:signed|verified|approved|authenticated|dictated|transcribed"
    r"|reported|reviewed|interpreted|read)(?:\s(?:electronically|by|on|and))+|(?:attending|reading|interpreting|staff)"
    r"?\s?(?:radiologist|physician)|notifications?|cc|critical\sresults?\scommunication",
    "recommendation": r"recommendations?|advice|plan|follow-?\s?up",
    FINDINGS: r"(?:final\s|radiology\s|radiographic\s|imaging\s|chest\s|additional\s|other\s|pertinent\s)*"
    r"(?:findings?|impressions?|report|read|results?)(?:\s?(?:/|and|&)\s?(?:findings?|impressions?"
    r"|conclusions?|recommendations?))?(?:\stext|\sbody)?"
    r"|conclusions?|opinion|interpretation|observations?|assessment|summary|description|narrative|comments?"
    r"|diagnosis|bottom\sline",
}
_ANY = "|".join(f"(?P<{kind.replace(' ', '_')}>{names})" for kind, names in _NAMES.items())
# At the start of a statement with a colon (or a dash); or alone on its line, in capitals.
_HEADING = re.compile(
    rf"(?:(?<![^\s.;,!?>*•])(?i:{_ANY})[ \t]*(?::|(?P<dash>[ \t]-+(?=\s))))"
    r"|^[ \t]*(?P<alone>[A-Z][A-Z /&]{3,40})[ \t]*(?=\n|$)",
    re.MULTILINE,
)
# What every text with a heading has: a colon or line end, a dash behind a word, or nothing but capitals.
_MAY_BE = re.compile(r"[:\n]|[a-zA-Z][ \t]-+\s|^[A-Z /&]{4,}$")
_ALONE = re.compile(rf"(?i:{_ANY})")
# How a signature without a heading begins: "Electronically signed by", "I personally reviewed".
_SIGNED = re.compile(
    r"(?i)(?:electronically|digitally)\s(?:signed|verified|approved)|(?:signed|dictated|transcribed)"
    r"\s(?:by|on|electronically)\b|i\s(?:have\s)?personally\sreviewed|attending\sradiologist\b"
    r"|this\sreport\swas\s(?:electronically|finali[sz]ed|dictated)"
)
# What stands before a heading in lower case: the beginning, a full stop, a bullet, "1)".
_BEFORE_INLINE = re.compile(r"(?:^|[.;!?>*•\n]|\d\))\s*$")


class Heading(NamedTuple):
    """A heading: its kind, its first character, and where its section's text begins."""

    kind: str
    start: int
    end: int


def headings(text: str) -> list[Heading]:
    """The headings of a text, in order.

    One in the middle of a line needs a capital; one in lower case must begin a statement.
    """
    found: list[Heading] = []
    if not _MAY_BE.search(text):
        return found
    for match in _HEADING.finditer(text):
        kind = next(name for name, said in match.groupdict().items() if said is not None and name != "dash")
        if match["dash"] and not _dashed(kind, text, match):
            continue
        if kind == "alone":
            named = _ALONE.fullmatch(match["alone"].strip())
            if named is None or len(match["alone"].strip()) < 4:
                continue
            kind = named.lastgroup or ""
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        if not text[start].isupper() and not _BEFORE_INLINE.search(text[max(0, start - 4) : start]):
            continue
        found.append(Heading(kind.replace("_", " "), start, match.end()))
    return found


def _dashed(kind: str, text: str, match: re.Match[str]) -> bool:
    """Whether what stands before a dash is a heading: in capitals, or where a statement begins."""
    said = match.group()[: -len(match["dash"])]
    begins = _BEFORE_INLINE.search(text[max(0, match.start() - 4) : match.start()]) is not None
    return said[-1:].isupper() or (
        begins and said[:1].isupper() and kind in ("history", "comparison", FINDINGS)
    )


def is_signature(statement: str) -> bool:
    """Whether a statement is a signature without a heading."""
    return _SIGNED.match(statement) is not None
