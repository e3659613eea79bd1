"""Splits a text into sentences as the released RaTEScore does: by the RuSH rules, at spaCy's tokens.

In the released code, medspaCy marks tokens of spaCy as beginnings of sentences, and the text between two
marks is a sentence. A boundary that the rules find within a token therefore has no effect. :func:`find_spans`
finds the boundaries that medspaCy's PyRuSH finds, without spaCy and much faster.

The rules are data (``rush_rules.tsv``, medspaCy 1.3.1, file ``resources/en/rush_rules.tsv``, Apache 2.0):
patterns over characters that mark where a sentence begins (``stbegin``) or ends (``stend``), with scores. An
odd score makes a pattern a false clue, which replaces the narrower true clues that it overlaps. The patterns
are compiled to a trie that is matched at each position of the text. PyRuSH needs spaCy below 3.8, which needs
numpy 1, and takes milliseconds per report. This module gives the same results, including PyRuSH's oddities,
and uses a regular expression to skip positions at which no rule can match.

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

#: A character that a plus sign follows in a rule matches once, and as many further times as possible, up to
#: this number.
MAX_REPEAT = 50

#: Text between two sentences becomes a sentence if it has more characters than this; else it is added to the
#: sentence before it, if there is one.
MIN_CHARACTERS = 5

_RULES = Path(__file__).with_name("rush_rules.tsv")

#: A mapping from the letter of each character class to a test of a character, and a regular expression that
#: matches all characters of the class and perhaps more.
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
_REPEATABLE = frozenset("sndCcpauw")
#: The expressions that match more than their class: every character beyond ASCII.
_BEYOND_ASCII = frozenset(_CLASSES[letter][1] for letter in "dCc")


@dataclass(slots=True, eq=False)
class _Node:
    """A node of the trie of rules.

    Attributes
    ----------
    wildcards : (letter, test, next node) of each character class that may follow.
    start : the next node if the rule requires the beginning of the text here.
    literals : a mapping from each character that may follow to the next node; a plus sign or backslash in the
        text also matches that of a rule.
    opening, closing : the next node after the rule's bracket that begins or ends the marked characters.
    plus : the next node after repetitions of the previous character.
    rules : a mapping from kind to whether the rule that ends here is a true clue; None if no rule ends here.
    at_end : a mapping like ``rules``, for rules that match only at the end of the text.
    """

    wildcards: list[tuple[str, Callable[[str], bool], _Node]] = field(default_factory=list)
    start: _Node | None = None
    literals: dict[str, _Node] = field(default_factory=dict)
    opening: _Node | None = None
    closing: _Node | None = None
    plus: _Node | None = None
    rules: dict[str, bool] | None = None
    at_end: dict[str, bool] | None = None


def _build_node(branches: dict[str, dict]) -> _Node:
    """Return the node of the trie for nested dictionaries whose keys are characters of rules."""
    node = _Node()
    for key, value in branches.items():
        if key == "<END>":
            node.rules = dict(value)
        elif key == "(":
            node.opening = _build_node(value)
        elif key == ")":
            node.closing = _build_node(value)
        elif key != "\\":
            node.literals[key] = _build_node(value)
    classes = {letter: _build_node(value) for letter, value in branches.get("\\", {}).items()}
    for letter, child in classes.items():
        if letter == "b":
            node.start = child
        elif letter == "e":
            node.at_end = child.rules
        elif letter in _CLASSES:
            node.wildcards.append((letter, _CLASSES[letter][0], child))
    # As in PyRuSH, a backslash in the text matches a rule's backslash; the class letter then matches itself.
    if classes:
        letters = {letter: child for letter, child in classes.items() if letter not in "()"}
        node.literals["\\"] = _Node(literals=letters, plus=classes.get("+"))
    node.plus = node.literals.get("+")
    return node


@lru_cache(maxsize=1)
def _load_rules() -> tuple[_Node, re.Pattern[str]]:
    """Return the root of the trie of rules, and a lookahead that matches at every position where a rule does,
    and at few others."""
    trie: dict[str, dict] = {}
    for row in csv.reader(_RULES.read_text(encoding="utf-8").splitlines(), delimiter="\t"):
        if len(row) >= 3 and not row[0].startswith(("#", "@")):
            pattern, score, kind = row[0], float(row[1]), row[2].strip()
            node = trie
            for char in pattern:
                node = node.setdefault(char, {})
            node.setdefault("<END>", {})[kind] = score % 2 == 0
    root = _build_node(trie)
    return root, re.compile(f"(?={_build_pattern(root, '')})")


class _Clues:
    """The clues of one kind that were found in a text.

    Attributes
    ----------
    clues : (begin, end, whether the clue is true) of each clue.
    intervals : (begin, end, index into ``clues``) of each clue that was added, for the search for overlaps.
    """

    __slots__ = ("clues", "intervals")

    def __init__(self) -> None:
        """Start without clues."""
        self.clues: list[tuple[int, int, bool]] = []
        self.intervals: list[tuple[int, int, int]] = []

    def add(self, begin: int, end: int, is_true: bool) -> None:
        """Add a clue; if it overlaps an earlier clue, only the wider of the two is kept."""
        overlaps = (
            index
            for start, stop, index in reversed(self.intervals)
            if not (stop <= begin or start >= end) or begin == end == start or start == stop == begin
        )
        if (index := next(overlaps, None)) is None:
            # The interval search of PyRuSH shortens its first interval by one.
            self.intervals.append((begin, end if self.intervals else end - 1, len(self.clues)))
            self.clues.append((begin, end, is_true))
        elif end - begin > self.clues[index][1] - self.clues[index][0]:
            self.clues[index] = (begin, end, is_true)
            self.intervals.append((begin, end, index))


class _Search:
    """A search for the clues in one text: at which characters sentences may begin (``stbegin``) or end
    (``stend``)."""

    def __init__(self, text: str) -> None:
        """Prepare the search in a text."""
        self.text, self.length = text, len(text)
        self.clues: dict[str, _Clues] = {"stbegin": _Clues(), "stend": _Clues()}

    def run(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the positions at which sentences may begin, and (begin, end) of each clue that a sentence
        ends."""
        root, lookahead = _load_rules()
        # Position 0 is always tried, because a rule can require the beginning of the text.
        for position in [0, *(match.start() for match in lookahead.finditer(self.text, 1))]:
            self.descend(root, position, 0, position, False, " ")
        begins = [begin for begin, _, is_true in self.clues["stbegin"].clues if is_true]
        ends = [(begin, end) for begin, end, is_true in self.clues["stend"].clues if is_true]
        return begins, ends

    def add_clues(self, rules: dict[str, bool], begin: int, end: int) -> None:
        """Add a clue for each rule that ends at a node, with the marked characters."""
        for kind, is_true in rules.items():
            self.clues[kind].add(min(begin, end), max(begin, end), is_true)

    def descend(self, node: _Node, begin: int, end: int, position: int, is_class: bool, symbol: str) -> None:
        """Add the clues of all rules below a node that match the text from ``position`` on.

        Parameters
        ----------
        begin, end : the marked characters so far; ``end`` is 0 until the closing bracket.
        is_class : whether ``symbol`` is the letter of a character class.
        symbol : the rule's previous character or, for a character class, the letter of the class.
        """
        if position >= self.length:
            self._match_at_end(node, begin, end, position)
            return
        char = self.text[position]
        if position == 0 and node.start is not None:
            self.descend(node.start, begin, end, position, True, "b")
        for letter, test, child in node.wildcards:
            if test(char):
                self.descend(child, begin, end, position + 1, True, letter)
        if symbol != "\\":
            if node.opening is not None:
                self.descend(node.opening, position, end, position, False, "(")
            if node.closing is not None:
                self.descend(node.closing, begin, position, position, False, ")")
        if node.rules is not None:
            self.add_clues(node.rules, begin, end or position)
        if (next_node := node.literals.get(char)) is not None:
            self.descend(next_node, begin, end, position + 1, False, char)
        if node.plus is not None:
            self.descend(node.plus, begin, end, position, False, "+")
            stop = self._find_run_end(position, is_class, symbol)
            if stop > position:
                self.descend(node.plus, begin, end, stop, False, "+")

    def _find_run_end(self, position: int, is_class: bool, symbol: str) -> int:
        """Return the position after the longest run, from ``position`` on, of the character or class
        ``symbol``, at most :data:`MAX_REPEAT` characters long."""
        if is_class and symbol not in _REPEATABLE:
            return position
        stop, limit = position, min(self.length, position + MAX_REPEAT)
        if is_class:
            test = _CLASSES[symbol][0]
            while stop < limit and test(self.text[stop]):
                stop += 1
        else:
            while stop < limit and self.text[stop] == symbol:
                stop += 1
        return stop

    def _match_at_end(self, node: _Node, begin: int, end: int, position: int) -> None:
        """Add the clues of the rules that end at a node reached at the end of the text."""
        if node.rules is not None:
            self.add_clues(node.rules, begin, end or position)
        elif node.at_end is not None:
            self.add_clues(node.at_end, begin, end or position)
        elif node.closing is not None:
            # PyRuSH ignores a rule's mark for the end of the text if a closing bracket precedes it.
            if node.closing.rules is not None:
                self.add_clues(node.closing.rules, begin, position)
        elif node.plus is not None:
            self.descend(node.plus, begin, end, position, False, symbol="+")


def _build_pattern(node: _Node, symbol: str) -> str:
    """Return a regular expression that matches wherever a rule below a node does, and at few other positions.

    If a rule begins with another rule, only the shorter one is expressed. ``symbol`` is the expression of
    the previous character.
    """
    if node.rules is not None:
        return ""
    parts = [
        (expr := _CLASSES[letter][1]) + _build_pattern(child, expr) for letter, _, child in node.wildcards
    ]
    parts += [
        re.escape(char) + ("" if char == "\\" else _build_pattern(child, re.escape(char)))
        for char, child in node.literals.items()
    ]
    parts += [_build_pattern(child, r"\(") for child in (node.opening, node.closing) if child is not None]
    if node.plus is not None:
        run = f"{symbol}{{0,{MAX_REPEAT}}}"
        parts.append((run if symbol in _BEYOND_ASCII else f"(?:{run}+|)") + _build_pattern(node.plus, r"\+"))
    if node.at_end is not None:
        parts.append(r"\Z")
    return f"(?:{'|'.join(parts)})"


def find_spans(text: str) -> list[tuple[int, int]]:
    """Return (begin, end) of each sentence, in order.

    Text that no clue assigns to a sentence becomes a sentence or part of one; it is left out if
    fewer than two characters remain without the signs at its end, or if it has at most
    :data:`MIN_CHARACTERS` characters and the text has no sentence. This is a port of PyRuSH's
    ``segToSentenceSpans``.
    """
    begins, ends = _Search(text).run()
    output: list[list[int]] = []
    start = stop = next_end = 0
    is_open = False
    for index, begin in enumerate(begins):
        if not is_open:
            start = begin
            if start < stop:
                continue
            is_open = True
        elif begin < stop:
            continue
        _fill_gap(output, text, start)
        next_begin = begins[index + 1] if index < len(begins) - 1 else None
        for end_index in range(next_end, len(ends)):
            is_last = end_index == len(ends) - 1
            if next_begin is not None and not is_last and next_begin < ends[end_index][0] + 1:
                break
            stop, next_end = ends[end_index][0] + 1, end_index
            while stop >= 1 and text[stop - 1].isspace():
                stop -= 1
            if stop < start:
                continue
            if is_open:
                output.append([start, stop])
                is_open = False
                if next_begin is None or (not is_last and next_begin > ends[end_index + 1][1]):
                    continue
                break
            output[-1] = [start, stop]
    if output and (gap := _trim_gap(text, 0, output[0][0])) is not None:
        if ends and output[0][0] > ends[0][0]:
            output.insert(0, gap)
        else:
            output[0][0] = gap[0]
    _fill_gap(output, text, len(text))
    return [(begin, end) for begin, end in output]


def _fill_gap(output: list[list[int]], text: str, end: int) -> None:
    """Add the text between the last sentence of ``output`` and ``end`` to ``output``, in place.

    The text becomes a sentence if it has more than :data:`MIN_CHARACTERS` characters; else it is added to the
    last sentence, if there is one.
    """
    gap = _trim_gap(text, output[-1][1] if output else 0, end)
    if gap is None:
        return
    if gap[1] - gap[0] > MIN_CHARACTERS:
        output.append(gap)
    elif output:
        output[-1][1] = gap[1]


def _trim_gap(text: str, begin: int, end: int) -> list[int] | None:
    """Return [start, end] of the text from ``begin`` to ``end`` without leading and trailing white space and
    without trailing signs other than ``.!?)]"``; None if fewer than two characters are left."""
    first_visible = next((index for index in range(begin, end) if not text[index].isspace()), None)
    if first_visible is None:
        return None
    for index in range(end - 1, first_visible, -1):
        if text[index].isalnum() or text[index] in '.!?)]"':
            return [first_visible, index + 1]
    return None


_RUN = re.compile(r"\S+|\s+")  # a word with its punctuation, or white space
_OPENING = re.compile(r"""[(\[{<"'`*#$&%+=~,.:;!?/_|«»“”‘’-]""")
_CLOSING = re.compile(r"""(?:[)\]}>"'`*#,:;!?_|«»“”‘’]|(?<=[a-z0-9%)\]"'])\.|(?<=[A-Z][A-Z])\.|'s)$""")
_INNER = re.compile(r"(?<=[a-z])(\.)(?=[A-Z])|(?<=[A-Za-z])([,:<>=/-])(?=[A-Za-z])|(\.{2,}|…)")


def split(text: str, min_characters: int = 3) -> list[str]:
    """Return the sentences of a text, in order and without white space around them.

    Sentences of fewer than ``min_characters`` characters are left out. An empty text has no sentence.
    """
    if not text or text.isspace():
        return []
    spans = find_spans(text)
    starts, is_blank = _find_tokens(text, spans)
    first_tokens = sorted({0, *_find_sentence_starts(starts, is_blank, spans)})
    borders = [starts[token] for token in first_tokens[1:]]
    pieces = (
        text[begin:end].strip() for begin, end in zip([0, *borders], [*borders, len(text)], strict=True)
    )
    return [piece for piece in pieces if piece and len(piece) >= min_characters]


def _find_tokens(text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list[bool]]:
    """Return the start of each token, and whether the token is white space.

    One space after a word belongs to the word. A word is split into tokens only if a border of ``spans`` is
    inside it.
    """
    borders = sorted({border for span in spans for border in span})
    starts: list[int] = []
    is_blank: list[bool] = []
    for run in _RUN.finditer(text):
        begin, end = run.span()
        if text[begin].isspace():
            if begin and text[begin] == " ":
                begin += 1
            if begin < end:
                starts.append(begin)
                is_blank.append(True)
            continue
        next_border = bisect_left(borders, begin + 1)
        cuts = [0]
        if next_border < len(borders) and borders[next_border] < end:
            cuts = _find_token_starts(run.group())
        starts.extend(begin + cut for cut in cuts)
        is_blank.extend([False] * len(cuts))
    return starts, is_blank


def _find_token_starts(word: str) -> list[int]:
    """Return the starts of the tokens of a word, relative to the word.

    Each opening and closing punctuation mark is a token, and so is each inner mark at which spaCy splits.
    """
    begin, end, cuts = 0, len(word), {0}
    while begin < end and _OPENING.match(word[begin]):
        begin += 1
        cuts.add(begin)
    while begin < end and (mark := _CLOSING.search(word[:end])) and mark.start() > begin:
        end = mark.start()
        cuts.add(end)
    for mark in _INNER.finditer(word, begin, end):
        cuts |= set(mark.span())
    return sorted(cut for cut in cuts if cut < len(word))


def _find_sentence_starts(starts: list[int], is_blank: list[bool], spans: list[tuple[int, int]]) -> set[int]:
    """Return the indices of the tokens that begin a sentence.

    These are the first token of each span and the token after the span; between two spans, the first white
    space or, if there is none, the first token; and, after the last span, every white-space token.
    """
    first_tokens: set[int] = set()
    count, token, index = len(starts), 0, 0
    while token < count:
        start = starts[token]
        if index < len(spans) - 1 and spans[index][1] <= start < spans[index + 1][0]:
            gap_end = bisect_left(starts, spans[index + 1][0], token)
            first_tokens.add(next((later for later in range(token, gap_end) if is_blank[later]), token))
            token = gap_end
            continue
        while index < len(spans) and start >= spans[index][1]:
            index += 1
        if index >= len(spans):
            if is_blank[token]:
                first_tokens.add(token)
        elif spans[index][0] <= start:
            if start == spans[index][0]:
                first_tokens.add(token)
            if token + 1 < count and starts[token + 1] >= spans[index][1]:
                first_tokens.add(token + 1)
        token += 1
    return first_tokens
