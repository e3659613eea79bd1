"""Splits a report into statements, each with its section and its character positions in the original.

A statement is a sentence, an item of a list, or a line of a template. Lines of templates, such as
"Pneumothorax - No", "Pneumothorax? No." and "Pneumothorax (-)", are rewritten as "Pneumothorax: No", and a
denied item, such as "(-) effusion", as "no effusion". The position of each character in the original is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from radeval_lib.rules.report_text.words import Span, to_plain_text

#: The kind of the section that states what this study shows, and of a text without a heading.
FINDINGS = "findings"
_OF_THIS_STUDY = frozenset([FINDINGS, "recommendation"])
_OF_ANOTHER = frozenset(["history", "comparison", "technique", "exam", "wet read", "addendum"])
# The answers that templates can have.
_ANSWERS = (
    r"(?:none|no|not|negative|neg|nil|absent|yes|present|positive|pos|normal|clear|unremarkable|intact|unchanged|"
    r"stable|denied|n|y)"
)
# A name and an answer with a dash or equals sign between them: "Pneumothorax - No", "Effusion = none".
_ANSWERED = re.compile(
    rf"^([A-Za-z][\w /,()]{{1,60}}?)(?:\s+-+\s*|-+\s+|\s*=\s*)(?={_ANSWERS}\b)", re.IGNORECASE
)
# Substitutes for a colon before an answer: "Pneumothorax? No.", "Pneumothorax ... none", "Effusion ___ yes".
_ASKED = re.compile(
    rf"(?<=[A-Za-z)])(?:\?|[ \t]*\.{{3,}}|[ \t]*_{{3,}}|[ \t]{{3,}})"
    rf"(?=[ \t]*{_ANSWERS}\b[ \t]*(?:[.;,\n]|$))",
    re.IGNORECASE,
)
#: Any question, in a text in which at least one question has an answer.
_ANY_ASKED = re.compile(r"(?<=[A-Za-z)])\?(?=[ \t]+[A-Za-z])")
# A sign or an answer behind a name: "pneumothorax (-)", "effusion [none]", "edema: +".
_BEHIND = re.compile(
    rf"(?<=[A-Za-z])[ \t]*(?:[(\[](?:(?P<sign>[-+])|(?P<answer>{_ANSWERS}))[)\]]"
    rf"|:[ \t]*(?P<bare>[-+])(?=[ \t]*(?:[,;.]|$)))",
    re.IGNORECASE,
)
# A mark before a statement: "(-) effusion", "[x] edema"; a minus or an empty box denies it.
_SIGN = re.compile(r"^\s*(?:\((-|\+)\)|\[( |x)\])\s?", re.IGNORECASE)
# Words that only a full statement has; one of them ends a list of absent findings.
_SENTENCE = re.compile(
    r":|\b(?:is|are|was|were|there|has|have|no|not|present|seen|absent|without)\b", re.IGNORECASE
)
#: Words in statements about the patient, not about the study.
_PATIENT = re.compile(
    r"(?i)\?|\b(?:year[- ]old|y/?o|yo|(?:evaluate|assess|eval|please|concern|history) (?:for|of|evaluate)"
    r"|rule out|r/o|h/o|presents? with|complain\w*|c/o|fever|cough\w*|dyspnea|pain|sob|weakness"
    r"|shortness of breath)\b"
)
# Matches an empty line.
_BLANK = re.compile(r"\n[^\S\n]*\n")
_NO = "no "
# Parts of a table that has a column for each side.
_NEXT = r"(?:[ ]{2,}(?! )|[ ]?[|\t,:/])[ |\t,:/]*"  # the separator of cells
_CELL = r"\w+(?:(?: |\.(?=\d))\w+)*"
_SIDES_HEAD = re.compile(
    r"^[ |\t]*(?:\w+[ |\t,:/]+)?(?:right|left|r|l)[ |\t,:/]+(?:right|left|r|l)[ |]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SIDES_TABLE = re.compile(
    rf"^(?P<head>[ |]*(?:(?P<of>\w+){_NEXT})?(?P<one>right|left|r|l){_NEXT}(?P<other>right|left|r|l)[ |]*\n)"
    rf"(?:[ |]*[A-Za-z]\w*(?: \w+)*{_NEXT}{_CELL}{_NEXT}{_CELL}[ |]*(?:\n|$))+",
    re.IGNORECASE | re.MULTILINE,
)
#: Organs that may head a table's labels: "Stones" below "Kidneys" are those of a kidney.
_ORGANS = frozenset(
    ["kidney", "kidneys", "renal", "lung", "lungs", "pleura", "breast", "breasts", "hip", "hips"]
)
_ROW = re.compile(
    rf"^[ |]*(?P<label>[A-Za-z]\w*(?: \w+)*){_NEXT}(?P<one>{_CELL}){_NEXT}(?P<other>{_CELL})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a report.

    Attributes
    ----------
    text : its text in plain characters, with templates rewritten.
    places : the position in the original of each character of ``text``, and of its end.
    section : the kind of section that it is from, "findings" or a key of ``_NAMES``.
    """

    text: str
    places: Sequence[int]
    section: str = FINDINGS

    @property
    def start(self) -> int:
        """The position of its first character in the original."""
        return self.places[0]

    @property
    def end(self) -> int:
        """The position after its last character in the original."""
        return self.places[-1]

    def span(self, start: int, end: int) -> Span:
        """Return the characters of the original for characters of ``text``, both as (start, end)."""
        return self.places[start], self.places[end]


class Section(NamedTuple):
    """A section of a report: its kind ("findings", "history", ...), and its (start, end) in the text."""

    kind: str
    span: Span


@lru_cache(maxsize=8192)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a report that contain a letter or digit: those of tables with a column for
    each side, then the others in the report's order.

    Statements in a list of absent findings begin with "no ". An empty text has no statements.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    plain, places = to_plain_text(text)
    # "Pneumothorax? No." and "Pneumothorax ... none" are templates, just as "Pneumothorax: none".
    rewritten = _ASKED.sub(lambda mark: ":".ljust(len(mark.group())), plain)
    plain = plain if rewritten == plain else _ANY_ASKED.sub(":", rewritten)
    all_statements, plain = _read_side_tables(plain, places)
    absent = _AbsentList(plain)
    for kind, start, end in _split_pieces(plain):
        piece = plain[start:end].lstrip()
        start = end - len(piece)
        piece = piece.rstrip()
        if not any(map(str.isalnum, piece)):
            continue
        if heading := LIST.fullmatch(piece):
            absent.head(heading, end)
        else:
            piece_places = places[start : start + len(piece) + 1]
            all_statements.append(
                _build_statement(piece, piece_places, kind, absent.holds(piece, start, end))
            )
    return tuple(all_statements)


def _read_side_tables(text: str, places: Sequence[int]) -> tuple[list[Statement], str]:
    """Return the statements in tables with a column for each side, and the text with each such table replaced
    by blanks.

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
                # The prefix, which is not in the original, gets the position of the label.
                text_places = [places[label_start]] * len(prefix) + list(places[label_start:label_end])
                text_places += [places[label_end]] * 2
                text_places += places[row.start(cell) : row.end(cell) + 1]
                side_statements.append(Statement(f"{prefix}{row['label']}: {row[cell]}", text_places))
        text = text[: table.start()] + " " * (table.end() - table.start()) + text[table.end() :]
    return side_statements, text


class _AbsentList:
    """Tracks, statement by statement, whether a list of absent findings is open.

    The list begins below a heading such as "Absent:" and ends before a full sentence or at an empty line.
    """

    def __init__(self, text: str) -> None:
        """Begin outside any list in a text of plain characters."""
        self._text, self._open = text, False
        self._from = 0  # An empty line behind this position ends the list.

    def head(self, heading: re.Match[str], end: int) -> None:
        """Open a list of absent findings if a heading, which ends at ``end``, begins one; else close it."""
        # "Negative. Mild edema." and "No. 3" deny nothing.
        stopped = self._text[end : end + 1] in (".", "!") and "negatives" not in heading.group().lower()
        self._open = bool(heading["denied"]) and not stopped
        self._from = len(self._text)  # An empty line right below the heading does not end the list.

    def holds(self, statement: str, start: int, end: int) -> bool:
        """Return whether the next statement, from ``start`` to ``end`` of the text, is in a list of absent
        findings; close the list if it is not."""
        if self._open and (_SENTENCE.search(statement) or _BLANK.search(self._text, self._from, start)):
            self._open = False
        self._from = end
        return self._open


def _build_statement(piece: str, places: Sequence[int], section: str, absent: bool) -> Statement:
    """Return the statement in a piece of text, with templates rewritten, "no " before it if it is ``absent``,
    and single blanks."""
    text = _rewrite_template(piece)
    if absent:
        text, places = f"{_NO}{text}", [*[places[0]] * len(_NO), *places]
    if "  " in text:
        kept = [at for at, sign in enumerate(text) if sign != " " or text[at - 1 : at] != " "]
        text, places = "".join(text[at] for at in kept), [*(places[at] for at in kept), places[len(text)]]
    return Statement(text, places, section)


def findings(text: str) -> tuple[Statement, ...]:
    """Return the statements about this study: those of findings and recommendations, but not of history,
    comparison, technique or signature."""
    return tuple(statement for statement in statements(text) if statement.section in _OF_THIS_STUDY)


def sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a report in order; neighbouring sections of the same kind are joined."""
    runs = [list(run) for _, run in groupby(statements(text), key=lambda statement: statement.section)]
    return tuple(Section(run[0].section, (run[0].start, run[-1].end)) for run in runs)


def _rewrite_template(piece: str) -> str:
    """Return a statement with the marks of templates replaced by words, at the same length: "Pneumothorax
    - No" becomes "Pneumothorax:  No", "(-) effusion" becomes "no  effusion"."""
    if match := _SIGN.match(piece):
        denied = match[1] == "-" or match[2] == " "
        piece = ("no " if denied else "").ljust(match.end()) + piece[match.end() :]
    else:
        piece = _BEHIND.sub(_rewrite_answer, piece)
    if match := _ANSWERED.match(piece):
        piece = match[1] + ":".ljust(match.end() - match.end(1)) + piece[match.end() :]
    return piece.replace("\n", " ")


def _rewrite_answer(match: re.Match[str]) -> str:
    """Return a colon and a word in place of a match of ``_BEHIND``, at the same length: ":no " for " (-)".

    A plus becomes a colon alone. An answer that does not fit is returned unchanged.
    """
    sign = match["sign"] or match["bare"]
    answer = ("no" if sign == "-" else "") if sign else match["answer"]
    return f":{answer}".ljust(len(match.group())) if len(answer) < len(match.group()) else match.group()


def _split_pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (kind of section, start, end) of every piece of text between breaks and headings.

    If the findings have a heading, a section extends to the next heading. If they have none, a history
    extends to the end of its paragraph, or to the first sentence that is not about the patient.
    """
    titles = find_headings(text)
    impressions = ("impression", "conclusion", "opinion")  # Findings above one may lack a heading.
    headed = any(
        head.kind == FINDINGS and not text[head.start : head.end].lower().startswith(impressions)
        for head in titles
    )
    marks: list[Break | Heading] = sorted([*find_breaks(text), *titles], key=lambda m: (m.start, m.end))
    marks.append(Break(len(text), len(text), False, False))
    kind, start, opens_section = FINDINGS, 0, True
    for mark in marks:
        if piece := text[start : mark.start].strip():
            if not opens_section and not headed and kind in _OF_ANOTHER and not _PATIENT.search(piece):
                kind = FINDINGS
            if is_signature(piece):
                kind = "signature"
            yield kind, start, mark.start
            opens_section = False
        start = max(start, mark.end)
        if isinstance(mark, Heading):
            kind, opens_section = mark.kind, True
        elif not opens_section:
            ends_section = mark.paragraph and not headed and kind in _OF_ANOTHER
            if ends_section or (mark.line and kind == "signature"):
                kind = FINDINGS


# Where statements end: full stops, line ends, lists.
#
# A line break ends a statement unless the line was wrapped there, which is inferred from the lines' width.


# The end of a sentence ("Clear.", "clear.No effusion", "of 3.Normal"), but not the points of "Dr. Lee" and
# "2.5"; a question mark, a semicolon, a bullet.
_STOP = re.compile(
    r"[.!](?<!\bdr\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bapprox\.)(?<!\bmr\.)(?<!\bmrs\.)(?<!\bcf\.)[.!]*"
    r"(?=\s|$|[\"')\]](?:\s|$)|[a-z]{2})|\?(?<=[\w)]\?)\?*(?=\s|$)|\.(?<=\d\.)(?=[a-z])|[;\u2022]",
    re.IGNORECASE,
)
# An empty line, with the white space around it.
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
# A dash before an item: "- Clear - No effusion". Before a size too, if no other size comes before it ("3 mm -
# 5 mm").
_DASH = re.compile(r"(?:^|(?<=\s))-+(?=\s+[A-Z(])|(?<=[a-z)]\s)(?<![cm]m\s)-(?=\s[0-9.]+ [cm]m [a-z])")
#: The heading of a list of what is absent (``denied``) or present.
LIST = re.compile(
    r"(?:(?P<denied>(?:pertinent |relevant |other )?negatives?(?: findings?| for)?|absent"
    r"|not (?:seen|present|identified)|none of(?: the following)?|no evidence of|denied|no)"
    r"|(?:pertinent |other )?positives?(?: findings?| for)?|present|seen|identified|yes)(?: findings?)?"
    r"[ \t]*:?[ \t]*",
    re.IGNORECASE,
)
_NEVER_LAST_WORDS = """
a an the of in at on with without and or no to for from by is are was were be been has have than as into over
near along within which that this these not any there may could both but however versus vs dr mr measuring
involving approximately about between overlying represent representing suggest suggesting
"""
#: Words with which no statement ends.
_NEVER_LAST = frozenset(_NEVER_LAST_WORDS.split())
#: Words with a full stop of their own, after which a line continues.
_ABBREVIATIONS = frozenset(["dr.", "mr.", "mrs.", "vs.", "approx.", "e.g.", "i.e."])
# A sentence that ends within its line: "Clear. No effusion".
_SENTENCES = re.compile(r"[a-z)][.!?][ \t]+[A-Z0-9]")
#: The narrowest and the widest text, in characters, whose lines can have been wrapped.
NARROWEST, WIDEST = 36, 140


class Break(NamedTuple):
    """The (start, end) of characters between two statements; ``line`` and ``paragraph`` say whether these
    are the end of a line, or an empty line."""

    start: int
    end: int
    line: bool
    paragraph: bool


def find_breaks(text: str) -> list[Break]:
    """Return the breaks between the statements of a text in plain characters, in order."""
    marks = [Break(*match.span(), False, False) for match in _STOP.finditer(text)]
    # A question mark stays with its statement: "pneumonia?" is doubted.
    marks = [mark._replace(start=mark.end) if text[mark.start] == "?" else mark for mark in marks]
    marks += [Break(*span, False, False) for span in _find_item_marks(text)]
    if "\n" in text:
        marks += [Break(*match.span(), True, True) for match in _BLANK_LINE.finditer(text)]
        marks += _find_line_ends(text)
    return sorted(marks)


def _find_item_marks(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the numbers, boxes, stars and dashes that begin items of lists."""
    yield from _find_item_numbers(text)
    box_starts = [match.start() for match in _BOXED.finditer(text)]
    if len(box_starts) > 1 and not text[: box_starts[0]].rstrip()[-1:].isalnum():
        yield from ((start, start) for start in box_starts if text[:start].strip())
    yield from (match.span() for match in _STAR.finditer(text))
    dashes = list(_DASH.finditer(text))
    if dashes and (not text[: dashes[0].start()].strip() or _dashes_separate_items(text, dashes)):
        yield from (match.span() for match in dashes)


def _find_item_numbers(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the numbers of items, which count up from 1; none if there is only one and
    it does not begin the text."""
    expected = 1
    spans: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(text):
        number = int(match[1] or match[2])
        # One number may be missing, because a number right behind a digit ("24.73)Opacity") is not matched.
        if expected <= number <= expected + 2 * bool(spans) and not _is_in_brackets(text, match.start()):
            spans.append(match.span())
            expected = number + 1
    return spans if len(spans) > 1 or (spans and not text[: spans[0][0]].strip()) else []


def _dashes_separate_items(text: str, dashes: list[re.Match[str]]) -> bool:
    """Return whether most dashes separate items of a list ("Clear - No effusion"); other dashes separate
    names from answers ("Lungs - Clear. Heart - Normal.")."""
    item_count = answer_count = 0
    for earlier, dash in pairwise(dashes):
        between = text[earlier.end() : dash.start()]
        clauses = re.split(r"[.;](?:\s|$)|\n", between)
        if len(clauses) == 1 or not any(map(str.isalpha, clauses[-1])):
            item_count += 1
        else:
            answer_count += 1
    return item_count > answer_count


def _is_in_brackets(text: str, at: int) -> bool:
    """Return whether a bracket is open before ``at``, within 60 characters."""
    before = text[max(0, at - 60) : at]
    return before.count("(") > before.count(")")


class _LineShape(NamedTuple):
    """Properties of the lines of a text, from which it follows whether they were wrapped.

    Attributes
    ----------
    width : number of characters of the longest line.
    listed : whether several lines begin as items of a list.
    roomy : whether a line ends although the next word would have fitted.
    sentences : whether a sentence ends within a line.
    mixed : whether the text has small letters.
    lower : whether the text has no capitals.
    """

    width: int
    listed: bool
    roomy: bool
    sentences: bool
    mixed: bool
    lower: bool


def _find_line_ends(text: str) -> Iterator[Break]:
    """Yield the single line breaks that end a statement, each with the mark of the list item after it."""
    lines = [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
    width = max((len(text[start:end].rstrip()) for start, end in lines), default=0)
    shape = _LineShape(
        width,
        sum(_MARK.match(text, start) is not None for start, _ in lines) > 1,
        any(_has_room(text, *pair, width) for pair in pairwise(lines)),
        _SENTENCES.search(text) is not None,
        any(map(str.islower, text)),
        not any(map(str.isupper, text)),
    )
    for line, following in pairwise(lines):
        end, start = line[1], following[0]
        if text.count("\n", end, start) > 1:
            continue  # An empty line is a break of its own.
        mark = _MARK.match(text, start)
        if mark is not None and (shape.listed or text[slice(*following)].split()[0][0] in "*>+"):
            yield Break(end, mark.end(), True, False)
        elif _ends_statement(text, line, following, shape):
            yield Break(end, start, True, False)


def _ends_statement(text: str, line: Span, following: Span, shape: _LineShape) -> bool:
    """Return whether a statement ends with a line, so that the line was not wrapped; the next line must not
    begin with the mark of a list item."""
    words, next_word = text[slice(*line)].split(), text[slice(*following)].split()[0]
    if _BOX.match(text, following[0]) or LIST.fullmatch(text, *line):
        return True
    if _is_unfinished(words) or _is_in_brackets(text, line[1]):
        return False
    if words[-1][-1] in ".!?;":
        return True
    if _has_room(text, line, following, shape.width) or not NARROWEST <= shape.width <= WIDEST:
        return next_word[0].isupper() or next_word[0].isdigit() or (shape.lower and next_word[0].isalpha())
    starts_with_capital = shape.mixed and next_word[0].isupper()
    return starts_with_capital and (not next_word[1:2].isupper() or (shape.roomy and not shape.sentences))


def _has_room(text: str, line: Span, following: Span, width: int) -> bool:
    """Return whether the first word of the next line would have fitted on the line, so that the line was not
    wrapped at ``width`` characters."""
    word = text[slice(*following)].split(maxsplit=1)[0]
    return len(text[slice(*line)].rstrip()) + 1 + len(word) <= width


def _is_unfinished(words: list[str]) -> bool:
    """Return whether a statement cannot end with the last word of a line, such as "with", but not the answer
    in "Effusion: no"."""
    last_word = words[-1].lower()
    if last_word == "no" and len(words) > 1 and words[-2][-1] in ":-=":
        return False
    return last_word.strip(",(") in _NEVER_LAST or last_word in _ABBREVIATIONS or last_word[-1] in ",(/-&:"


# Headings of sections.


# Words that can come before "history", as in "past medical history".
_CLINICAL = (
    r"(?:(?:brief|relevant|pertinent|patient|past|family|social|medical|surgical|clinical"
    r"|oncologic(?:al)?)\s)*"
)
# Words for an examination, as in "reason for study".
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
# A heading begins a statement and ends with a colon or dash, or is alone on its line in capitals.
_HEADING = re.compile(
    rf"(?:(?<![^\s.;,!?>*•])(?i:{_ANY})[ \t]*(?::|(?P<dash>[ \t]-+(?=\s))))"
    r"|^[ \t]*(?P<alone>[A-Z][A-Z /&]{3,40})[ \t]*(?=\n|$)",
    re.MULTILINE,
)
# Every text with a heading matches: it has a colon, a line end or a dash behind a word, or only capitals.
_MAY_BE = re.compile(r"[:\n]|[a-zA-Z][ \t]-+\s|^[A-Z /&]{4,}$")
_ALONE = re.compile(rf"(?i:{_ANY})")
# How a signature without a heading begins: "Electronically signed by", "I personally reviewed".
_SIGNED = re.compile(
    r"(?i)(?:electronically|digitally)\s(?:signed|verified|approved)|(?:signed|dictated|transcribed)"
    r"\s(?:by|on|electronically)\b|i\s(?:have\s)?personally\sreviewed|attending\sradiologist\b"
    r"|this\sreport\swas\s(?:electronically|finali[sz]ed|dictated)"
)
# Text that can come before a heading in lower case: the beginning, a full stop, a bullet, "1)".
_BEFORE_INLINE = re.compile(r"(?:^|[.;!?>*•\n]|\d\))\s*$")


class Heading(NamedTuple):
    """A heading: the kind of its section, and the positions of its first character and of the section's
    text."""

    kind: str
    start: int
    end: int


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in plain characters, in order.

    Words within a line count as a heading only if they begin with a capital or begin a statement.
    """
    heading_list: list[Heading] = []
    if not _MAY_BE.search(text):
        return heading_list
    for match in _HEADING.finditer(text):
        kind = next(name for name, title in match.groupdict().items() if title is not None and name != "dash")
        if match["dash"] and not _is_dashed_heading(kind, text, match):
            continue
        if kind == "alone":
            title_match = _ALONE.fullmatch(match["alone"].strip())
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
    return _BEFORE_INLINE.search(text[max(0, start - 4) : start]) is not None


def _is_dashed_heading(kind: str, text: str, match: re.Match[str]) -> bool:
    """Return whether the text before a dash is a heading: it ends in a capital, or it is a capitalized
    history, comparison or findings heading that begins a statement."""
    before_dash = match.group()[: -len(match["dash"])]
    is_common = before_dash[:1].isupper() and kind in ("history", "comparison", FINDINGS)
    return before_dash[-1:].isupper() or (is_common and _begins_statement(text, match.start()))


def is_signature(statement: str) -> bool:
    """Return whether a statement is a signature without a heading."""
    return _SIGNED.match(statement) is not None
