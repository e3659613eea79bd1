"""Sentences as the released RaTEScore splits a text: by the RuSH rules, at spaCy's tokens.

The released code lets medspaCy mark tokens of spaCy as beginnings of sentences; the text between two of them
is a sentence. So a boundary that the rules find within a token has no effect. :func:`spans` finds boundaries
as medspaCy's PyRuSH does, without spaCy and much faster.

The rules are data (``rush_rules.tsv``, medspaCy 1.3.1, file ``resources/en/rush_rules.tsv``, Apache 2.0):
patterns over characters that mark where a sentence begins (``stbegin``) or ends (``stend``), with scores;
an odd score makes a pattern a false clue that wins over the true clues it overlaps if it is wider. They
live in a trie that is tried at each position of the text. PyRuSH needs spaCy below 3.8, which needs numpy
1, and takes milliseconds per report; this module keeps its rules' meaning, oddities included, and skips
positions where no rule can match, by one regular expression.

Sources: PyRuSH 1.0.13 (``RuSH.segToSentenceSpans``), PyFastNER 1.0.10 (``FastCNER``), quicksectx 0.4.1.
"""

from __future__ import annotations

import csv
import re
import string
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

MAX_REPEAT = 50
"""A character with a plus sign matches once, or as often as it can up to this many further times."""

MIN_CHARACTERS = 5
"""A stretch between two sentences becomes one itself only if it is longer than this; else it joins the one
before."""

_RULES = Path(__file__).with_name("rush_rules.tsv")

_CLASSES: dict[str, tuple[Callable[[str], bool], str]] = {
    "s": (lambda char: char in (" ", "\t", "\xa0"), "[ \t\xa0]"),
    "n": (lambda char: char in ("\n", "\r"), "[\n\r]"),
    "d": (str.isdigit, r"[^\x00-/:-~]"),
    "C": (str.isupper, r"[^\x00-@\[-~]"),
    "c": (str.islower, r"[^\x00-`{-~]"),
    "p": (lambda char: char in string.punctuation, r"[!-/:-@\[-`{-~]"),
    "a": (lambda char: not char.isspace(), r"\S"),
    "u": (lambda char: char > "~" and char != "\xa0", r"[^\x00-~\xa0]"),
    "w": (lambda char: char > "~" or char.isspace(), r"[^!-~\x00-\x08\x0e-\x1b]"),
    "(": (lambda char: char == "(", r"\("),
    ")": (lambda char: char == ")", r"\)"),
    "\\": (lambda char: char == "\\", r"\\"),
}
"""By letter, which characters are of a class, and an expression that has at least these."""
_REPEATABLE = frozenset("sndCcpauw")
_TOO_MUCH = frozenset(_CLASSES[letter][1] for letter in "dCc")
"""The expressions that have more: beyond ASCII, any character is a digit and a letter to them."""


@dataclass(slots=True, eq=False)
class _Node:
    """A node of the trie.

    Attributes
    ----------
    wildcards : by class letter, the test of a character and the node after one of the class.
    start : the node after the mark of the text's begin.
    literals : the node after a character; a plus or a backslash of the text may stand for the rule's own.
    opening, closing : the nodes after the brackets of the marked stretch.
    plus : the node after repetitions of the character before.
    rules, at_end : by kind, whether the rule that ends here, or here at the text's end, is a true clue.
    """

    wildcards: list[tuple[str, Callable[[str], bool], _Node]] = field(default_factory=list)
    start: _Node | None = None
    literals: dict[str, _Node] = field(default_factory=dict)
    opening: _Node | None = None
    closing: _Node | None = None
    plus: _Node | None = None
    rules: dict[str, bool] | None = None
    at_end: dict[str, bool] | None = None


def _node(raw: dict[str, dict]) -> _Node:
    node = _Node()
    for key, value in raw.items():
        if key == "<END>":
            node.rules = dict(value)
        elif key == "(":
            node.opening = _node(value)
        elif key == ")":
            node.closing = _node(value)
        elif key != "\\":
            node.literals[key] = _node(value)
    classes = {letter: _node(value) for letter, value in raw.get("\\", {}).items()}
    for letter, child in classes.items():
        if letter == "b":
            node.start = child
        elif letter == "e":
            node.at_end = child.rules
        elif letter in _CLASSES:
            node.wildcards.append((letter, _CLASSES[letter][0], child))
    if classes:  # a backslash of the text stands for the rule's own, and the class letter then for itself
        itself = {letter: child for letter, child in classes.items() if letter not in "()"}
        node.literals["\\"] = _Node(literals=itself, plus=classes.get("+"))
    node.plus = node.literals.get("+")
    return node


@lru_cache(maxsize=1)
def _rules() -> tuple[_Node, re.Pattern[str]]:
    """Return the rules as a trie, and a lookahead that matches wherever some rule does, and at few other
    positions."""
    trie: dict[str, dict] = {}
    for row in csv.reader(_RULES.read_text(encoding="utf-8").splitlines(), delimiter="\t"):
        if len(row) >= 3 and not row[0].startswith(("#", "@")):
            pattern, score, kind = row[0], float(row[1]), row[2].strip()
            node = trie
            for char in pattern:
                node = node.setdefault(char, {})
            node.setdefault("<END>", {})[kind] = score % 2 == 0
    root = _node(trie)
    return root, re.compile(f"(?={_expression(root, '')})")


class _Clues:
    """The clues of one kind; a wider clue replaces a clue that it overlaps."""

    __slots__ = ("clues", "intervals")

    def __init__(self) -> None:
        self.clues: list[tuple[int, int, bool]] = []
        self.intervals: list[tuple[int, int, int]] = []

    def add(self, begin: int, end: int, true_clue: bool) -> None:
        overlapped = (
            number
            for start, stop, number in reversed(self.intervals)
            if not (stop <= begin or start >= end) or begin == end == start or start == stop == begin
        )
        if (number := next(overlapped, None)) is None:
            # The reference's interval search shortens the very first interval by one.
            self.intervals.append((begin, end if self.intervals else end - 1, len(self.clues)))
            self.clues.append((begin, end, true_clue))
        elif end - begin > self.clues[number][1] - self.clues[number][0]:
            self.clues[number] = (begin, end, true_clue)
            self.intervals.append((begin, end, number))


class _Search:
    """The search for one text's clues, by kind."""

    def __init__(self, text: str) -> None:
        self.text, self.length = text, len(text)
        self.clues: dict[str, _Clues] = {"stbegin": _Clues(), "stend": _Clues()}

    def run(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return where sentences may begin, and where clues of an end begin and end."""
        root, possible = _rules()
        # Position 0 is always tried, because only there a rule can ask for the text's begin.
        for position in [0, *(match.start() for match in possible.finditer(self.text, 1))]:
            self.descend(root, position, 0, position, False, " ")
        begins = [begin for begin, _, true_clue in self.clues["stbegin"].clues if true_clue]
        ends = [(begin, end) for begin, end, true_clue in self.clues["stend"].clues if true_clue]
        return begins, ends

    def emit(self, rules: dict[str, bool], begin: int, end: int) -> None:
        for kind, true_clue in rules.items():
            self.clues[kind].add(min(begin, end), max(begin, end), true_clue)

    def descend(self, node: _Node, begin: int, end: int, position: int, wildcard: bool, before: str) -> None:
        if position >= self.length:
            self._at_end(node, begin, end, position)
            return
        char = self.text[position]
        if position == 0 and node.start is not None:
            self.descend(node.start, begin, end, position, True, "b")
        for letter, test, child in node.wildcards:
            if test(char):
                self.descend(child, begin, end, position + 1, True, letter)
        if before != "\\":
            if node.opening is not None:
                self.descend(node.opening, position, end, position, False, "(")
            if node.closing is not None:
                self.descend(node.closing, begin, position, position, False, ")")
        if node.rules is not None:
            self.emit(node.rules, begin, end or position)
        if (child_of := node.literals.get(char)) is not None:
            self.descend(child_of, begin, end, position + 1, False, char)
        if node.plus is not None:
            self.descend(node.plus, begin, end, position, False, "+")
            stop = self._run(position, wildcard, before)
            if stop > position:
                self.descend(node.plus, begin, end, stop, False, "+")

    def _run(self, position: int, wildcard: bool, before: str) -> int:
        """Return where the run of the repeated character ends."""
        if wildcard and before not in _REPEATABLE:
            return position
        stop, limit = position, min(self.length, position + MAX_REPEAT)
        if wildcard:
            test = _CLASSES[before][0]
            while stop < limit and test(self.text[stop]):
                stop += 1
        else:
            while stop < limit and self.text[stop] == before:
                stop += 1
        return stop

    def _at_end(self, node: _Node, begin: int, end: int, position: int) -> None:
        if node.rules is not None:
            self.emit(node.rules, begin, end or position)
        elif node.at_end is not None:
            self.emit(node.at_end, begin, end or position)
        elif node.closing is not None:
            # The reference gives up on a text's end that a closing bracket comes before.
            if node.closing.rules is not None:
                self.emit(node.closing.rules, begin, position)
        elif node.plus is not None:
            self.descend(node.plus, begin, end, position, False, before="+")


def _expression(node: _Node, before: str) -> str:
    """Return an expression for the rules below a node, each up to where the first of them ends.

    ``before`` is the expression of the character before.
    """
    if node.rules is not None:
        return ""
    ways = [
        _CLASSES[letter][1] + _expression(child, _CLASSES[letter][1]) for letter, _, child in node.wildcards
    ]
    ways += [
        re.escape(char) + ("" if char == "\\" else _expression(child, re.escape(char)))
        for char, child in node.literals.items()
    ]
    ways += [_expression(child, r"\(") for child in (node.opening, node.closing) if child is not None]
    if node.plus is not None:
        run = f"{before}{{0,{MAX_REPEAT}}}"
        ways.append((run if before in _TOO_MUCH else f"(?:{run}+|)") + _expression(node.plus, r"\+"))
    if node.at_end is not None:
        ways.append(r"\Z")
    return f"(?:{'|'.join(ways)})"


def spans(text: str) -> list[tuple[int, int]]:
    """Return the beginning and end of each sentence; a port of PyRuSH's ``segToSentenceSpans``, including its
    filling of gaps."""
    begins, ends = _Search(text).run()
    output: list[list[int]] = []
    start = stop = used = 0
    started = False
    for index, begin in enumerate(begins):
        if not started:
            start = begin
            if start < stop:
                continue
            started = True
        elif begin < stop:
            continue
        _fill(output, text, start)
        following = begins[index + 1] if index < len(begins) - 1 else None
        for k in range(used, len(ends)):
            last = k == len(ends) - 1
            if following is not None and not last and following < ends[k][0] + 1:
                break
            stop, used = ends[k][0] + 1, k
            while stop >= 1 and text[stop - 1].isspace():
                stop -= 1
            if stop < start:
                continue
            if started:
                output.append([start, stop])
                started = False
                if following is None or (not last and following > ends[k + 1][1]):
                    continue
                break
            output[-1] = [start, stop]
    if output and (gap := _trimmed(text, 0, output[0][0])) is not None:
        if ends and output[0][0] > ends[0][0]:
            output.insert(0, gap)
        else:
            output[0][0] = gap[0]
    _fill(output, text, len(text))
    return [(begin, end) for begin, end in output]


def _fill(output: list[list[int]], text: str, end: int) -> None:
    """Add the text between the last sentence and ``end``."""
    gap = _trimmed(text, output[-1][1] if output else 0, end)
    if gap is None:
        return
    if gap[1] - gap[0] > MIN_CHARACTERS:
        output.append(gap)
    elif output:
        output[-1][1] = gap[1]


def _trimmed(text: str, begin: int, end: int) -> list[int] | None:
    """Return the stretch from its first visible character to its last letter, digit or closing sign, at least
    two long."""
    first = next((at for at in range(begin, end) if not text[at].isspace()), None)
    if first is None:
        return None
    for at in range(end - 1, first, -1):
        if text[at].isalnum() or text[at] in '.!?)]"':
            return [first, at + 1]
    return None


_RUN = re.compile(r"\S+|\s+")  # each word with its signs, each stretch of white space
_OPENING = re.compile(r"""[(\[{<"'`*#$&%+=~,.:;!?/_|«»“”‘’-]""")
_CLOSING = re.compile(r"""(?:[)\]}>"'`*#,:;!?_|«»“”‘’]|(?<=[a-z0-9%)\]"'])\.|(?<=[A-Z][A-Z])\.|'s)$""")
_INNER = re.compile(r"(?<=[a-z])(\.)(?=[A-Z])|(?<=[A-Za-z])([,:<>=/-])(?=[A-Za-z])|(\.{2,}|…)")


def split(text: str, min_characters: int = 3) -> list[str]:
    """Return the stripped sentences in order, without those shorter than ``min_characters`` characters."""
    if not text or text.isspace():
        return []
    boundaries = spans(text)
    starts, blank = _tokens(text, boundaries)
    marks = sorted({0, *_sentence_starts(starts, blank, boundaries)})
    borders = [starts[mark] for mark in marks[1:]]
    pieces = (
        text[begin:end].strip() for begin, end in zip([0, *borders], [*borders, len(text)], strict=True)
    )
    return [piece for piece in pieces if piece and len(piece) >= min_characters]


def _tokens(text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list[bool]]:
    """Return where each token starts, and whether it is white space. One space after a word belongs to the
    word."""
    borders = sorted({border for span in spans for border in span})
    starts: list[int] = []
    blank: list[bool] = []
    for run in _RUN.finditer(text):
        begin, end = run.span()
        if text[begin].isspace():
            if begin and text[begin] == " ":
                begin += 1
            if begin < end:
                starts.append(begin)
                blank.append(True)
            continue
        inside = bisect_left(borders, begin + 1)
        cuts = [0]
        if inside < len(borders) and borders[inside] < end:
            cuts = _pieces(run.group())
        starts.extend(begin + cut for cut in cuts)
        blank.extend([False] * len(cuts))
    return starts, blank


def _pieces(word: str) -> list[int]:
    """Return where the tokens of a word start: opening signs and closing signs one by one, then borders
    inside."""
    begin, end, cuts = 0, len(word), {0}
    while begin < end and _OPENING.match(word[begin]):
        begin += 1
        cuts.add(begin)
    while begin < end and (sign := _CLOSING.search(word[:end])) and sign.start() > begin:
        end = sign.start()
        cuts.add(end)
    for sign in _INNER.finditer(word, begin, end):
        cuts |= set(sign.span())
    return sorted(cut for cut in cuts if cut < len(word))


def _sentence_starts(starts: list[int], blank: list[bool], spans: list[tuple[int, int]]) -> set[int]:
    """Return the tokens that begin a sentence.

    They are the first token of each span and the token after it; between two spans the first white space or,
    without any, the first token; after the last span all white space.
    """
    marks: set[int] = set()
    count, position, current = len(starts), 0, 0
    while position < count:
        start = starts[position]
        if current < len(spans) - 1 and spans[current][1] <= start < spans[current + 1][0]:
            gap_end = bisect_left(starts, spans[current + 1][0], position)
            marks.add(next((token for token in range(position, gap_end) if blank[token]), position))
            position = gap_end
            continue
        while current < len(spans) and start >= spans[current][1]:
            current += 1
        if current >= len(spans):
            if blank[position]:
                marks.add(position)
        elif spans[current][0] <= start:
            if start == spans[current][0]:
                marks.add(position)
            if position + 1 < count and starts[position + 1] >= spans[current][1]:
                marks.add(position + 1)
        position += 1
    return marks
