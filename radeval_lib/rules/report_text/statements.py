"""Splits a report into statements, each with its section and its character positions in the original.

A statement is a sentence, a list item, or a line of a template. Template lines, such as "Pneumothorax - No",
"Pneumothorax? No." and "Pneumothorax (-)", are rewritten as "Pneumothorax: No", and a denied item, such as
"(-) effusion", as "no effusion". The position of each character in the original is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from radeval_lib.rules.report_text.words import Span, to_plain_text

#: The kind of a section that states what this study shows, and of text without a heading.
FINDINGS = "findings"
_STUDY_SECTIONS = frozenset([FINDINGS, "recommendation"])
_OTHER_SECTIONS = frozenset(["history", "comparison", "technique", "exam", "wet read", "addendum"])
# Matches an answer in a template.
_ANSWERS = (
    r"(?:none|no|not|negative|neg|nil|absent|yes|present|positive|pos|normal|clear|unremarkable|intact|unchanged|"
    r"stable|denied|n|y)"
)
# Matches a name with a dash or equals sign before an answer: "Pneumothorax - No", "Effusion = none".
_DASHED_ANSWER = re.compile(
    rf"^([A-Za-z][\w /,()]{{1,60}}?)(?:\s+-+\s*|-+\s+|\s*=\s*)(?={_ANSWERS}\b)", re.IGNORECASE
)
# Matches a substitute for the colon before an answer: "Pneumothorax? No.", "Edema ... none", "Edema ___ yes".
_COLON_SUBSTITUTE = re.compile(
    rf"(?<=[A-Za-z)])(?:\?|[ \t]*\.{{3,}}|[ \t]*_{{3,}}|[ \t]{{3,}})"
    rf"(?=[ \t]*{_ANSWERS}\b[ \t]*(?:[.;,\n]|$))",
    re.IGNORECASE,
)
#: Matches the mark of any question; used only if at least one question in the text has an answer.
_QUESTION_MARK = re.compile(r"(?<=[A-Za-z)])\?(?=[ \t]+[A-Za-z])")
# Matches a sign or an answer after a name: "pneumothorax (-)", "effusion [none]", "edema: +".
_TRAILING_ANSWER = re.compile(
    rf"(?<=[A-Za-z])[ \t]*(?:[(\[](?:(?P<sign>[-+])|(?P<answer>{_ANSWERS}))[)\]]"
    rf"|:[ \t]*(?P<bare>[-+])(?=[ \t]*(?:[,;.]|$)))",
    re.IGNORECASE,
)
# Matches a sign or box before a statement: "(-) effusion", "[x] edema"; a minus or an empty box denies it.
_LEADING_SIGN = re.compile(r"^\s*(?:\((-|\+)\)|\[( |x)\])\s?", re.IGNORECASE)
# Matches a colon or a word that only a full sentence has, either of which ends a list of absent findings.
_SENTENCE = re.compile(
    r":|\b(?:is|are|was|were|there|has|have|no|not|present|seen|absent|without)\b", re.IGNORECASE
)
#: Matches words of statements about the patient, not about the study.
_PATIENT = re.compile(
    r"(?i)\?|\b(?:year[- ]old|y/?o|yo|(?:evaluate|assess|eval|please|concern|history) (?:for|of|evaluate)"
    r"|rule out|r/o|h/o|presents? with|complain\w*|c/o|fever|cough\w*|dyspnea|pain|sob|weakness"
    r"|shortness of breath)\b"
)
# Matches an empty line.
_BLANK = re.compile(r"\n[^\S\n]*\n")
_NO = "no "
# Parts of a table that has a column for each side.
_GAP = r"(?:[ ]{2,}(?! )|[ ]?[|\t,:/])[ |\t,:/]*"  # the separator between cells
_CELL = r"\w+(?:(?: |\.(?=\d))\w+)*"
_SIDES_HEAD = re.compile(
    r"^[ |\t]*(?:\w+[ |\t,:/]+)?(?:right|left|r|l)[ |\t,:/]+(?:right|left|r|l)[ |]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SIDES_TABLE = re.compile(
    rf"^(?P<head>[ |]*(?:(?P<of>\w+){_GAP})?(?P<one>right|left|r|l){_GAP}(?P<other>right|left|r|l)[ |]*\n)"
    rf"(?:[ |]*[A-Za-z]\w*(?: \w+)*{_GAP}{_CELL}{_GAP}{_CELL}[ |]*(?:\n|$))+",
    re.IGNORECASE | re.MULTILINE,
)
#: Organs that may head the labels of a table: "Stones" below "Kidneys" are kidney stones.
_ORGANS = frozenset(
    ["kidney", "kidneys", "renal", "lung", "lungs", "pleura", "breast", "breasts", "hip", "hips"]
)
_ROW = re.compile(
    rf"^[ |]*(?P<label>[A-Za-z]\w*(?: \w+)*){_GAP}(?P<one>{_CELL}){_GAP}(?P<other>{_CELL})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a report.

    Attributes
    ----------
    text : the statement in plain characters, with templates rewritten.
    offsets : the offset in the original of each character of ``text``, and of its end.
    section : the kind of its section, such as "findings" or "history".
    """

    text: str
    offsets: Sequence[int]
    section: str = FINDINGS

    @property
    def start(self) -> int:
        """The position of the statement's first character in the original."""
        return self.offsets[0]

    @property
    def end(self) -> int:
        """The position after the statement's last character in the original."""
        return self.offsets[-1]

    def span(self, start: int, end: int) -> Span:
        """Return the (start, end) in the original of ``text[start:end]``."""
        return self.offsets[start], self.offsets[end]


class Section(NamedTuple):
    """A section of a report: its kind, such as "findings" or "history", and its (start, end) in the text."""

    kind: str
    span: Span


@lru_cache(maxsize=8192)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a report that contain a letter or digit: those from tables with a column for
    each side come first, then the others in the report's order.

    Headings of sections and of lists are not statements. Statements in a list of absent findings begin with
    "no ". An empty text has no statements.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    plain_text, offsets = to_plain_text(text)
    # "Pneumothorax? No." and "Pneumothorax ... none" are templates, just as "Pneumothorax: none".
    rewritten = _COLON_SUBSTITUTE.sub(lambda match: ":".ljust(len(match.group())), plain_text)
    plain_text = plain_text if rewritten == plain_text else _QUESTION_MARK.sub(":", rewritten)
    all_statements, plain_text = _read_side_tables(plain_text, offsets)
    absent_list = _AbsentList(plain_text)
    for kind, start, end in _split_pieces(plain_text):
        piece = plain_text[start:end].lstrip()
        start = end - len(piece)
        piece = piece.rstrip()
        if not any(map(str.isalnum, piece)):
            continue
        if list_heading := LIST_HEADING.fullmatch(piece):
            absent_list.read_heading(list_heading, end)
        else:
            piece_offsets = offsets[start : start + len(piece) + 1]
            all_statements.append(
                _build_statement(piece, piece_offsets, kind, absent_list.includes(piece, start, end))
            )
    return tuple(all_statements)


def _read_side_tables(text: str, offsets: Sequence[int]) -> tuple[list[Statement], str]:
    """Return the statements in tables with a column for each side, and the text with each such table replaced
    by spaces.

    "Effusion | none | small" below "Right | Left" gives "right Effusion: none" and "left Effusion: small".
    """
    side_statements: list[Statement] = []
    if not _SIDES_HEAD.search(text):
        return side_statements, text
    for table in _SIDES_TABLE.finditer(text):
        sides = [table["one"].lower()[0], table["other"].lower()[0]]
        if sides[0] == sides[1]:
            continue
        for row in _ROW.finditer(text, table.end("head"), table.end()):
            for side, cell in zip(sides, ("one", "other"), strict=True):
                organ = f"{table['of']} " if table["of"] and table["of"].lower() in _ORGANS else ""
                prefix = f"{'right' if side == 'r' else 'left'} {organ}"
                label_start, label_end = row.span("label")
                # The prefix, which is not in the original, gets the offset of the label.
                text_offsets = [offsets[label_start]] * len(prefix) + list(offsets[label_start:label_end])
                text_offsets += [offsets[label_end]] * 2
                text_offsets += offsets[row.start(cell) : row.end(cell) + 1]
                side_statements.append(Statement(f"{prefix}{row['label']}: {row[cell]}", text_offsets))
        text = text[: table.start()] + " " * (table.end() - table.start()) + text[table.end() :]
    return side_statements, text


class _AbsentList:
    """Tracker of whether a list of absent findings is open, from statement to statement.

    A list begins below a heading such as "Absent:" and ends before a full sentence or at an empty line.
    """

    def __init__(self, text: str) -> None:
        """Begin with no list open; ``text`` is in plain characters."""
        self._text, self._open = text, False
        self._start = 0  # An empty line after this position ends the list.

    def read_heading(self, heading: re.Match[str], end: int) -> None:
        """Open a list of absent findings if a list heading, which ends at ``end``, begins one; else close the
        open list."""
        # "Negative. Mild edema." and "No. 3" deny nothing.
        ends_sentence = self._text[end : end + 1] in (".", "!") and "negatives" not in heading.group().lower()
        self._open = bool(heading["denied"]) and not ends_sentence
        self._start = len(self._text)  # An empty line right below the heading does not end the list.

    def includes(self, statement: str, start: int, end: int) -> bool:
        """Return whether the list of absent findings includes the next statement, at ``start`` to ``end`` of
        the text; close the list if it does not."""
        if self._open and (_SENTENCE.search(statement) or _BLANK.search(self._text, self._start, start)):
            self._open = False
        self._start = end
        return self._open


def _build_statement(piece: str, offsets: Sequence[int], section: str, is_absent: bool) -> Statement:
    """Return the statement in a piece of text, with templates rewritten, repeated spaces collapsed, and "no "
    in front if ``is_absent``."""
    text = _rewrite_template(piece)
    if is_absent:
        text, offsets = f"{_NO}{text}", [*[offsets[0]] * len(_NO), *offsets]
    if "  " in text:
        kept = [i for i, character in enumerate(text) if character != " " or text[i - 1 : i] != " "]
        text, offsets = "".join(text[i] for i in kept), [*(offsets[i] for i in kept), offsets[len(text)]]
    return Statement(text, offsets, section)


def findings(text: str) -> tuple[Statement, ...]:
    """Return the statements about this study: those in findings and recommendations, but not in sections such
    as history, comparison, technique or signature. Raises the errors of :func:`statements`."""
    return tuple(statement for statement in statements(text) if statement.section in _STUDY_SECTIONS)


def sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a report, in the order of their statements (:func:`statements`); neighbouring
    sections of the same kind are merged. Raises the errors of :func:`statements`."""
    runs = [list(run) for _, run in groupby(statements(text), key=lambda statement: statement.section)]
    return tuple(Section(run[0].section, (run[0].start, run[-1].end)) for run in runs)


def _rewrite_template(piece: str) -> str:
    """Return a statement with template markers replaced by a colon, a word or only spaces, padded to the same
    length: "Pneumothorax - No" becomes "Pneumothorax:  No", "(-) effusion" becomes "no  effusion"."""
    if match := _LEADING_SIGN.match(piece):
        denied = match[1] == "-" or match[2] == " "
        piece = ("no " if denied else "").ljust(match.end()) + piece[match.end() :]
    else:
        piece = _TRAILING_ANSWER.sub(_rewrite_answer, piece)
    if match := _DASHED_ANSWER.match(piece):
        piece = match[1] + ":".ljust(match.end() - match.end(1)) + piece[match.end() :]
    return piece.replace("\n", " ")


def _rewrite_answer(match: re.Match[str]) -> str:
    """Return a colon and the answer in place of an answer after a name, padded to the same length: ":no "
    for " (-)".

    ``match`` is a match of ``_TRAILING_ANSWER``. A plus becomes a colon alone. A match without room for the
    colon is returned unchanged.
    """
    sign = match["sign"] or match["bare"]
    answer = ("no" if sign == "-" else "") if sign else match["answer"]
    return f":{answer}".ljust(len(match.group())) if len(answer) < len(match.group()) else match.group()


def _split_pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (kind of section, start, end) of every piece of text between breaks and headings.

    If the findings have a heading, a section extends to the next heading. If they have none, a section that
    is not about this study, such as a history, extends to the end of its paragraph, or to the first later
    sentence that is not about the patient. A signature ends at the end of a line at the latest.
    """
    headings = find_headings(text)
    impressions = ("impression", "conclusion", "opinion")  # Findings above one may lack a heading.
    headed = any(
        heading.kind == FINDINGS and not text[heading.start : heading.end].lower().startswith(impressions)
        for heading in headings
    )
    marks: list[Break | Heading] = sorted([*find_breaks(text), *headings], key=lambda m: (m.start, m.end))
    marks.append(Break(len(text), len(text), False, False))
    kind, start, opens_section = FINDINGS, 0, True
    for mark in marks:
        if piece := text[start : mark.start].strip():
            if not opens_section and not headed and kind in _OTHER_SECTIONS and not _PATIENT.search(piece):
                kind = FINDINGS
            if is_signature(piece):
                kind = "signature"
            yield kind, start, mark.start
            opens_section = False
        start = max(start, mark.end)
        if isinstance(mark, Heading):
            kind, opens_section = mark.kind, True
        elif not opens_section:
            ends_section = mark.paragraph and not headed and kind in _OTHER_SECTIONS
            if ends_section or (mark.line and kind == "signature"):
                kind = FINDINGS


# The ends of statements: full stops, line ends, list markers.
#
# A line break ends a statement unless the line was wrapped there, which is inferred from the lines' width.


# Matches the end of a sentence ("Clear.", "clear.No effusion", "of 3.Normal"), but not the points in "Dr.
# Lee" and "2.5"; a question mark, a semicolon, a bullet.
_STOP = re.compile(
    r"[.!](?<!\bdr\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bapprox\.)(?<!\bmr\.)(?<!\bmrs\.)(?<!\bcf\.)[.!]*"
    r"(?=\s|$|[\"')\]](?:\s|$)|[a-z]{2})|\?(?<=[\w)]\?)\?*(?=\s|$)|\.(?<=\d\.)(?=[a-z])|[;\u2022]",
    re.IGNORECASE,
)
# Matches an empty line, with the white space around it.
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*")
# Matches a list marker at the start of a line: "- ", "* ", "1.", "2)", "(a) ".
_LIST_MARKER = re.compile(
    r"[^\S\n]*(?:[-*>+o]{1,2}(?=[ \t]+\S)|[-*](?=[A-Z])|\(?\d{1,2}[.)](?!\d)|\(?[a-h]\)(?=\s))\s*"
)
# Matches the number of an item within a line: "1. Clear 2. No effusion", "clear.2) no effusion".
_NUMBER = re.compile(
    r"(?:(?<=[\s.,;:!?])|^)\(?(\d{1,2})(?:\)|\.(?=\s|[A-Za-z]))[ \t]*|(?<=[A-Za-z).][A-Za-z).])(\d{1,2})\)"
)
# Match a ticked or empty box, such as "(-)" or "[x]", at the start of a line, and within a line.
_BOX = re.compile(r"\s*(?:\([-+]\)|\[[ xX]\])")
_INLINE_BOX = re.compile(r"(?:^|(?<=[\s.,;]))(?:\([-+]\)|\[[ xX]\])(?=\s?[A-Za-z])")
# Matches a star between items: "Clear * No effusion".
_STAR = re.compile(r"(?:^|(?<=\s))\*+(?=\s)")
# Matches a dash before an item: "- Clear - No effusion". Before a size too, unless another size comes before
# the dash ("3 mm - 5 mm").
_DASH = re.compile(r"(?:^|(?<=\s))-+(?=\s+[A-Z(])|(?<=[a-z)]\s)(?<![cm]m\s)-(?=\s[0-9.]+ [cm]m [a-z])")
#: Matches the heading of a list of absent findings (group ``denied``) or of present findings.
LIST_HEADING = re.compile(
    r"(?:(?P<denied>(?:pertinent |relevant |other )?negatives?(?: findings?| for)?|absent"
    r"|not (?:seen|present|identified)|none of(?: the following)?|no evidence of|denied|no)"
    r"|(?:pertinent |other )?positives?(?: findings?| for)?|present|seen|identified|yes)(?: findings?)?"
    r"[ \t]*:?[ \t]*",
    re.IGNORECASE,
)
_NONFINAL_WORDS = """
a an the of in at on with without and or no to for from by is are was were be been has have than as into over
near along within which that this these not any there may could both but however versus vs dr mr measuring
involving approximately about between overlying represent representing suggest suggesting
"""
#: Words with which no statement ends.
_NONFINAL = frozenset(_NONFINAL_WORDS.split())
#: Abbreviations with a full stop, after which a statement continues.
_ABBREVIATIONS = frozenset(["dr.", "mr.", "mrs.", "vs.", "approx.", "e.g.", "i.e."])
# Matches the end of a sentence within a line: "Clear. No effusion".
_INNER_STOP = re.compile(r"[a-z)][.!?][ \t]+[A-Z0-9]")
#: The least and the greatest width, in characters, of a text whose lines can have been wrapped.
MIN_WIDTH, MAX_WIDTH = 36, 140


class Break(NamedTuple):
    """A boundary between two statements.

    Attributes
    ----------
    start, end : the characters of the boundary, such as a full stop; end exclusive.
    line : whether the boundary is the end of a line.
    paragraph : whether the boundary is an empty line.
    """

    start: int
    end: int
    line: bool
    paragraph: bool


def find_breaks(text: str) -> list[Break]:
    """Return the breaks between the statements of a text in plain characters, in order."""
    breaks = [Break(*match.span(), False, False) for match in _STOP.finditer(text)]
    # A question mark stays with its statement: "pneumonia?" is doubted.
    breaks = [mark._replace(start=mark.end) if text[mark.start] == "?" else mark for mark in breaks]
    breaks += [Break(*span, False, False) for span in _find_item_markers(text)]
    if "\n" in text:
        breaks += [Break(*match.span(), True, True) for match in _PARAGRAPH_BREAK.finditer(text)]
        breaks += _find_line_ends(text)
    return sorted(breaks)


def _find_item_markers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of the numbers, boxes, stars and dashes that begin list items."""
    yield from _find_item_numbers(text)
    box_starts = [match.start() for match in _INLINE_BOX.finditer(text)]
    if len(box_starts) > 1 and not text[: box_starts[0]].rstrip()[-1:].isalnum():
        yield from ((start, start) for start in box_starts if text[:start].strip())
    yield from (match.span() for match in _STAR.finditer(text))
    dashes = list(_DASH.finditer(text))
    if dashes and (not text[: dashes[0].start()].strip() or _dashes_separate_items(text, dashes)):
        yield from (match.span() for match in dashes)


def _find_item_numbers(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the numbers of items, which count up from 1; a single number counts only if
    it begins the text."""
    expected = 1
    spans: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(text):
        number = int(match[1] or match[2])
        # Up to two numbers may be missing: one directly after a digit ("24.73)Opacity") is not matched.
        if expected <= number <= expected + 2 * bool(spans) and not _is_in_brackets(text, match.start()):
            spans.append(match.span())
            expected = number + 1
    return spans if len(spans) > 1 or (spans and not text[: spans[0][0]].strip()) else []


def _dashes_separate_items(text: str, dashes: list[re.Match[str]]) -> bool:
    """Return whether most dashes separate items of a list ("Clear - No effusion"); other dashes separate
    names from answers ("Lungs - Clear. Heart - Normal.")."""
    item_count = answer_count = 0
    for previous_dash, dash in pairwise(dashes):
        text_between = text[previous_dash.end() : dash.start()]
        clauses = re.split(r"[.;](?:\s|$)|\n", text_between)
        if len(clauses) == 1 or not any(map(str.isalpha, clauses[-1])):
            item_count += 1
        else:
            answer_count += 1
    return item_count > answer_count


def _is_in_brackets(text: str, position: int) -> bool:
    """Return whether a round bracket that opens at most 60 characters before ``position`` is still open."""
    text_before = text[max(0, position - 60) : position]
    return text_before.count("(") > text_before.count(")")


class _LineShape(NamedTuple):
    """Properties of the lines of a text, which show whether lines were wrapped.

    Attributes
    ----------
    width : the number of characters in the longest line.
    has_list : whether several lines begin with a list marker.
    has_short_lines : whether a line ends although the first word of the next line would have fitted.
    has_stops : whether a sentence ends within a line.
    has_lowercase : whether the text has lower-case letters.
    is_lower : whether the text has no capital letters.
    """

    width: int
    has_list: bool
    has_short_lines: bool
    has_stops: bool
    has_lowercase: bool
    is_lower: bool


def _find_line_ends(text: str) -> Iterator[Break]:
    """Yield the single line breaks that end a statement, each with any list marker after it."""
    lines = [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
    width = max((len(text[start:end].rstrip()) for start, end in lines), default=0)
    shape = _LineShape(
        width,
        sum(_LIST_MARKER.match(text, start) is not None for start, _ in lines) > 1,
        any(_has_room(text, *pair, width) for pair in pairwise(lines)),
        _INNER_STOP.search(text) is not None,
        any(map(str.islower, text)),
        not any(map(str.isupper, text)),
    )
    for line, next_line in pairwise(lines):
        end, start = line[1], next_line[0]
        if text.count("\n", end, start) > 1:
            continue  # Empty lines match ``_PARAGRAPH_BREAK``.
        marker = _LIST_MARKER.match(text, start)
        if marker is not None and (shape.has_list or text[slice(*next_line)].split()[0][0] in "*>+"):
            yield Break(end, marker.end(), True, False)
        elif _ends_statement(text, line, next_line, shape):
            yield Break(end, start, True, False)


def _ends_statement(text: str, line: Span, next_line: Span, shape: _LineShape) -> bool:
    """Return whether a statement ends where a line ends, so that the line was not wrapped; the next line must
    not begin with a list marker."""
    words, next_word = text[slice(*line)].split(), text[slice(*next_line)].split()[0]
    if _BOX.match(text, next_line[0]) or LIST_HEADING.fullmatch(text, *line):
        return True
    if _is_incomplete(words) or _is_in_brackets(text, line[1]):
        return False
    if words[-1][-1] in ".!?;":
        return True
    if _has_room(text, line, next_line, shape.width) or not MIN_WIDTH <= shape.width <= MAX_WIDTH:
        return next_word[0].isupper() or next_word[0].isdigit() or (shape.is_lower and next_word[0].isalpha())
    is_capital = shape.has_lowercase and next_word[0].isupper()
    return is_capital and (not next_word[1:2].isupper() or (shape.has_short_lines and not shape.has_stops))


def _has_room(text: str, line: Span, next_line: Span, width: int) -> bool:
    """Return whether the first word of the next line would have fitted on the line, so that the line was not
    wrapped at ``width`` characters."""
    next_word = text[slice(*next_line)].split(maxsplit=1)[0]
    return len(text[slice(*line)].rstrip()) + 1 + len(next_word) <= width


def _is_incomplete(words: list[str]) -> bool:
    """Return whether a statement cannot end with the last of ``words``, as with "with" or a comma; it can end
    with the answer in "Effusion: no"."""
    last_word = words[-1].lower()
    if last_word == "no" and len(words) > 1 and words[-2][-1] in ":-=":
        return False
    return last_word.strip(",(") in _NONFINAL or last_word in _ABBREVIATIONS or last_word[-1] in ",(/-&:"


# Headings of sections.


# Matches words that can come before "history", as in "past medical history".
_CLINICAL = (
    r"(?:(?:brief|relevant|pertinent|patient|past|family|social|medical|surgical|clinical"
    r"|oncologic(?:al)?)\s)*"
)
# Matches words for an examination, as in "reason for study".
_STUDY = r"(?:exam(?:ination)?s?|stud(?:y|ies)|procedures?|tests?|visit|scan|imaging|radiographs?|x-?rays?)"
_HEADING_NAMES = {
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
_ANY_NAME = "|".join(f"(?P<{kind.replace(' ', '_')}>{names})" for kind, names in _HEADING_NAMES.items())
# Matches a possible heading: it comes after white space or punctuation and ends with a colon or dash, or it
# is alone on its line in capitals.
_HEADING_PATTERN = re.compile(
    rf"(?:(?<![^\s.;,!?>*•])(?i:{_ANY_NAME})[ \t]*(?::|(?P<dash>[ \t]-+(?=\s))))"
    r"|^[ \t]*(?P<alone>[A-Z][A-Z /&]{3,40})[ \t]*(?=\n|$)",
    re.MULTILINE,
)
# Matches every text with a heading: it has a colon, a line end or a dash after a word, or only capitals.
_MAYBE_HEADING = re.compile(r"[:\n]|[a-zA-Z][ \t]-+\s|^[A-Z /&]{4,}$")
_NAME = re.compile(rf"(?i:{_ANY_NAME})")
# Matches the beginning of a signature without a heading: "Electronically signed by", "I personally reviewed".
_SIGNATURE = re.compile(
    r"(?i)(?:electronically|digitally)\s(?:signed|verified|approved)|(?:signed|dictated|transcribed)"
    r"\s(?:by|on|electronically)\b|i\s(?:have\s)?personally\sreviewed|attending\sradiologist\b"
    r"|this\sreport\swas\s(?:electronically|finali[sz]ed|dictated)"
)
# Matches text before the start of a statement: the beginning of the text, a full stop, a bullet, "1)".
_STATEMENT_START = re.compile(r"(?:^|[.;!?>*•\n]|\d\))\s*$")


class Heading(NamedTuple):
    """A heading: the kind of its section, and its (start, end) in the text, end exclusive."""

    kind: str
    start: int
    end: int


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in plain characters, in order.

    Words within a line count as a heading only if they begin with a capital or begin a statement.
    """
    heading_list: list[Heading] = []
    if not _MAYBE_HEADING.search(text):
        return heading_list
    for match in _HEADING_PATTERN.finditer(text):
        kind = next(name for name, words in match.groupdict().items() if words is not None and name != "dash")
        if match["dash"] and not _is_dashed_heading(kind, text, match):
            continue
        if kind == "alone":
            title_match = _NAME.fullmatch(match["alone"].strip())
            if title_match is None or len(match["alone"].strip()) < 4:
                continue
            kind = title_match.lastgroup or ""
        start = match.end() - len(match.group().lstrip())
        if not text[start].isupper() and not _begins_statement(text, start):
            continue
        heading_list.append(Heading(kind.replace("_", " "), start, match.end()))
    return heading_list


def _begins_statement(text: str, start: int) -> bool:
    """Return whether the four characters before ``start`` show that a statement begins there."""
    return _STATEMENT_START.search(text[max(0, start - 4) : start]) is not None


def _is_dashed_heading(kind: str, text: str, match: re.Match[str]) -> bool:
    """Return whether the text before a dash is a heading: it ends with a capital letter, or it is a
    capitalized history, comparison or findings heading that begins a statement.

    ``match`` is a match of ``_HEADING_PATTERN``, and ``kind`` the kind of its section.
    """
    before_dash = match.group()[: -len(match["dash"])]
    is_common = before_dash[:1].isupper() and kind in ("history", "comparison", FINDINGS)
    return before_dash[-1:].isupper() or (is_common and _begins_statement(text, match.start()))


def is_signature(statement: str) -> bool:
    """Return whether a statement is a signature without a heading."""
    return _SIGNATURE.match(statement) is not None
