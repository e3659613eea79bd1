"""Splits a report into statements, each with its section and its places in the original.

A statement is a sentence, an item of a list, or a line of a template. Lines of templates, such as
"Pneumothorax - No", "Pneumothorax? No." and "Pneumothorax (-)", are rewritten as "Pneumothorax: No", and a
denied item, such as "(-) effusion", as "no effusion". Every character keeps its place in the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radeval_lib.rules.report_text.layout import (
    FINDINGS,
    LIST,
    Break,
    Heading,
    breaks,
    headings,
    is_signature,
)
from radeval_lib.rules.report_text.words import Span, plain_text

_OF_THIS_STUDY = frozenset([FINDINGS, "recommendation"])
_OF_ANOTHER = frozenset(["history", "comparison", "technique", "exam", "wet read", "addendum"])
# Words that answer a question of a template.
_ANSWERS = (
    r"(?:none|no|not|negative|neg|nil|absent|yes|present|positive|pos|normal|clear|unremarkable|intact|unchanged|"
    r"stable|denied|n|y)"
)
# A name and an answer with a dash or equals sign between them: "Pneumothorax - No", "Effusion = none".
_ANSWERED = re.compile(
    rf"^([A-Za-z][\w /,()]{{1,60}}?)(?:\s+-+\s*|-+\s+|\s*=\s*)(?={_ANSWERS}\b)", re.IGNORECASE
)
# What stands for a colon before an answer: "Pneumothorax? No.", "Pneumothorax ... none", "Effusion ___ yes".
_ASKED = re.compile(
    rf"(?<=[A-Za-z)])(?:\?|[ \t]*\.{{3,}}|[ \t]*_{{3,}}|[ \t]{{3,}})"
    rf"(?=[ \t]*{_ANSWERS}\b[ \t]*(?:[.;,\n]|$))",
    re.IGNORECASE,
)
_ANY_ASKED = re.compile(r"(?<=[A-Za-z)])\?(?=[ \t]+[A-Za-z])")
"""Every question of a text of which one is answered by yes or no."""
# A sign or an answer behind a name: "pneumothorax (-)", "effusion [none]", "edema: +".
_BEHIND = re.compile(
    rf"(?<=[A-Za-z])[ \t]*(?:[(\[](?:(?P<sign>[-+])|(?P<answer>{_ANSWERS}))[)\]]"
    rf"|:[ \t]*(?P<bare>[-+])(?=[ \t]*(?:[,;.]|$)))",
    re.IGNORECASE,
)
# A mark before a statement: "(-) effusion", "[x] edema"; a minus or an empty box denies it.
_SIGN = re.compile(r"^\s*(?:\((-|\+)\)|\[( |x)\])\s?", re.IGNORECASE)
# Words of a statement of its own: where one stands, a list of what is absent has ended.
_SENTENCE = re.compile(
    r":|\b(?:is|are|was|were|there|has|have|no|not|present|seen|absent|without)\b", re.IGNORECASE
)
_PATIENT = re.compile(
    r"(?i)\?|\b(?:year[- ]old|y/?o|yo|(?:evaluate|assess|eval|please|concern|history) (?:for|of|evaluate)"
    r"|rule out|r/o|h/o|presents? with|complain\w*|c/o|fever|cough\w*|dyspnea|pain|sob|weakness"
    r"|shortness of breath)\b"
)
"""What a statement about the patient has, and one about the study has not."""
# An empty line.
_BLANK = re.compile(r"\n[^\S\n]*\n")
_NO = "no "
# A table whose columns are the two sides, and one of its rows.
_NEXT = r"(?:[ ]{2,}(?! )|[ ]?[|\t,:/])[ |\t,:/]*"  # what parts its cells
_SIDES_HEAD = re.compile(
    r"^[ |\t]*(?:\w+[ |\t,:]+)?(?:right|left|r|l)[ |\t,:/]+(?:right|left|r|l)[ |]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SIDES_TABLE = re.compile(
    rf"^(?P<head>[ |]*(?:\w+{_NEXT})?(?P<one>right|left|r|l){_NEXT}(?P<other>right|left|r|l)[ |]*\n)"
    rf"(?:[ |]*[A-Za-z]\w*(?: \w+)*{_NEXT}\w+(?: \w+)*{_NEXT}\w+(?: \w+)*[ |]*(?:\n|$))+",
    re.IGNORECASE | re.MULTILINE,
)
_ROW = re.compile(
    rf"^[ |]*(?P<label>[A-Za-z]\w*(?: \w+)*){_NEXT}(?P<one>\w+(?: \w+)*){_NEXT}(?P<other>\w+(?: \w+)*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a report.

    ``text`` is as the reader sees it, in plain characters; ``places`` is where each of its characters, and
    its end, stands in the original. ``section`` is the kind of section that it came from.
    """

    text: str
    places: Sequence[int]
    section: str = FINDINGS

    @property
    def start(self) -> int:
        """Its first character in the original."""
        return self.places[0]

    @property
    def end(self) -> int:
        """The end of its last character in the original."""
        return self.places[-1]

    def span(self, start: int, end: int) -> Span:
        """Where characters of ``text`` are in the original."""
        return self.places[start], self.places[end]


class Section(NamedTuple):
    """A section of a report: its kind ("findings", "history", ...), and its characters in the text."""

    kind: str
    span: Span


@lru_cache(maxsize=8192)
def statements(text: str) -> tuple[Statement, ...]:
    """Every statement of a report that has a letter or digit, in order.

    Those in a list of what is absent begin with "no ".

    Raises
    ------
    PlaceholderError
        If the text is recorded as numbers alone.
    """
    plain, places = plain_text(text)
    # "Pneumothorax? No." and "Pneumothorax ... none" are templates, as "Pneumothorax: none" is
    asked = _ASKED.sub(lambda mark: ":".ljust(len(mark.group())), plain)
    plain = plain if asked == plain else _ANY_ASKED.sub(":", asked)
    found, plain = _side_columns(plain, places)
    absent = _AbsentList(plain)
    for kind, start, end in _pieces(plain):
        piece = plain[start:end].lstrip()
        start = end - len(piece)
        piece = piece.rstrip()
        if not any(map(str.isalnum, piece)):
            continue
        if heading := LIST.fullmatch(piece):
            absent.head(heading, end)
        else:
            where = places[start : start + len(piece) + 1]
            found.append(_statement(piece, where, kind, absent.holds(piece, start, end)))
    return tuple(found)


def _side_columns(text: str, places: Sequence[int]) -> tuple[list[Statement], str]:
    """Return the statements of tables with a column for each side, and the text with blanks in their place.

    "Right | Left" above "Effusion | none | small" states "right Effusion: none", "left Effusion: small".
    """
    found: list[Statement] = []
    if not _SIDES_HEAD.search(text):
        return found, text
    for table in _SIDES_TABLE.finditer(text):
        sides = [table["one"].lower()[0], table["other"].lower()[0]]
        if sides[0] == sides[1]:
            continue
        for row in _ROW.finditer(text, table.end("head"), table.end()):
            for side, cell in zip(sides, ("one", "other"), strict=True):
                lead = "right " if side == "r" else "left "
                begin, label, answer = row.start("label"), row["label"], row[cell]
                where = [places[begin]] * len(lead) + list(places[begin : begin + len(label)])
                where += [places[begin + len(label)]] * 2 + list(places[row.start(cell) : row.end(cell) + 1])
                found.append(Statement(f"{lead}{label}: {answer}", where))
        text = text[: table.start()] + " " * (table.end() - table.start()) + text[table.end() :]
    return found, text


class _AbsentList:
    """Whether statements are in a list of what is absent: below a heading such as "Absent:", alone in its
    line, until one that is a sentence of its own, or an empty line."""

    def __init__(self, text: str) -> None:
        self._text, self._open = text, False
        self._from = 0  # where an empty line would end the list

    def head(self, heading: re.Match[str], end: int) -> None:
        """Meet the heading of a list, of what is absent or present, which ends there."""
        # "Negative. Mild edema." and "No. 3" deny nothing.
        stopped = self._text[end : end + 1] in (".", "!") and "negatives" not in heading.group().lower()
        self._open = bool(heading["denied"]) and not stopped
        self._from = len(self._text)  # an empty line right below the heading ends nothing

    def holds(self, statement: str, start: int, end: int) -> bool:
        """Whether the next statement, which stands from ``start`` to ``end``, is in such a list."""
        if self._open and (_SENTENCE.search(statement) or _BLANK.search(self._text, self._from, start)):
            self._open = False
        self._from = end
        return self._open


def _statement(piece: str, places: Sequence[int], section: str, absent: bool) -> Statement:
    """A statement as the reader sees it, its templates in words and its blanks single."""
    said = _template(piece)
    if absent:
        said, places = f"{_NO}{said}", [*[places[0]] * len(_NO), *places]
    if "  " in said:
        kept = [at for at, sign in enumerate(said) if sign != " " or said[at - 1 : at] != " "]
        said, places = "".join(said[at] for at in kept), [*(places[at] for at in kept), places[len(said)]]
    return Statement(said, places, section)


def findings(text: str) -> tuple[Statement, ...]:
    """The statements of a report about this study: without history, comparison, technique or signature."""
    return tuple(one for one in statements(text) if one.section in _OF_THIS_STUDY)


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a report, in order; neighbouring sections of the same kind are one."""
    found: list[Section] = []
    for one in statements(text):
        if found and found[-1].kind == one.section:
            found[-1] = Section(one.section, (found[-1].span[0], one.end))
        else:
            found.append(Section(one.section, (one.start, one.end)))
    return tuple(found)


def _template(piece: str) -> str:
    """A statement with the marks of a template as words, in equally many characters: "Pneumothorax - No" is
    "Pneumothorax:  No", "(-) effusion" is "no  effusion"."""
    if match := _SIGN.match(piece):
        denied = match[1] == "-" or match[2] == " "
        piece = ("no " if denied else "").ljust(match.end()) + piece[match.end() :]
    else:
        piece = _BEHIND.sub(_as_answer, piece)
    if match := _ANSWERED.match(piece):
        piece = match[1] + ":".ljust(match.end() - match.end(1)) + piece[match.end() :]
    return piece.replace("\n", " ")


def _as_answer(match: re.Match[str]) -> str:
    """A match of ``_BEHIND`` as a colon and a word, in equally many characters: " (-)" is ":no ". A plus
    becomes a colon alone; what does not fit stays as it was."""
    sign = match["sign"] or match["bare"]
    said = ("no" if sign == "-" else "") if sign else match["answer"]
    return f":{said}".ljust(len(match.group())) if len(said) < len(match.group()) else match.group()


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind of section, start and end of every piece between breaks and headings.

    Where the findings have a heading, a section reaches to the next heading. Where they have none, a history
    reaches to the end of its paragraph, or to the first sentence that is not about the patient.
    """
    heads = headings(text)
    headed = any(head.kind == FINDINGS and not _impression(text, head) for head in heads)
    marks: list[tuple[int, int, Break | Heading | None]] = [(one.start, one.end, one) for one in breaks(text)]
    marks += [(one.start, one.end, one) for one in heads]
    marks.sort(key=lambda one: one[:2])
    kind, start, first = FINDINGS, 0, True
    for begin, end, mark in [*marks, (len(text), len(text), None)]:
        if (piece := text[start:begin].strip()) and start < begin:
            if not first and not headed and kind in _OF_ANOTHER and not _PATIENT.search(piece):
                kind = FINDINGS
            if is_signature(piece):
                kind = "signature"
            yield kind, start, begin
            first = False
        start = max(start, end)
        if isinstance(mark, Heading):
            kind, first = mark.kind, True
        elif mark is not None and not first and _ends(kind, mark, headed):
            kind = FINDINGS


def _ends(kind: str, mark: Break, headed: bool) -> bool:
    """Whether a section without a next heading ends at a break."""
    return (mark.line and kind == "signature") or (mark.paragraph and not headed and kind in _OF_ANOTHER)


def _impression(text: str, head: Heading) -> bool:
    """Whether a heading of findings is that of an impression, above which findings may have no heading."""
    return text[head.start : head.end].lower().startswith(("impression", "conclusion", "opinion"))
