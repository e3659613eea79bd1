"""Sentences as the released RaTEScore splits a text: by the RuSH rules, at spaCy's tokens.

The released code lets medspaCy mark tokens of spaCy as beginnings of sentences; what lies between two of them
is a sentence. So a boundary that the rules find within a token has no effect.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from radeval_lib.metrics.ratescore import rush

_RUN = re.compile(r"\S+|\s+")  # each word with its signs, each stretch of white space
_OPENING = re.compile(r"""[(\[{<"'`*#$&%+=~,.:;!?/_|«»“”‘’-]""")
_CLOSING = re.compile(r"""(?:[)\]}>"'`*#,:;!?_|«»“”‘’]|(?<=[a-z0-9%)\]"'])\.|(?<=[A-Z][A-Z])\.|'s)$""")
_INNER = re.compile(r"(?<=[a-z])(\.)(?=[A-Z])|(?<=[A-Za-z])([,:<>=/-])(?=[A-Za-z])|(\.{2,}|…)")


def split(text: str, min_characters: int = 3) -> list[str]:
    """Return the sentences, stripped, in order; those of fewer than ``min_characters`` characters are left
    out."""
    if not text or text.isspace():
        return []
    spans = rush.spans(text)
    starts, blank = _tokens(text, spans)
    marks = sorted({0, *_sentence_starts(starts, blank, spans)})
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
    """Return the tokens that begin a sentence: the first of each span and the one behind it; between two
    spans the first white space, or else the first token; behind the last span any white space."""
    marks: set[int] = set()
    count, position, current = len(starts), 0, 0
    while position < count:
        place = starts[position]
        if current < len(spans) - 1 and spans[current][1] <= place < spans[current + 1][0]:
            gap_end = bisect_left(starts, spans[current + 1][0], position)
            marks.add(next((token for token in range(position, gap_end) if blank[token]), position))
            position = gap_end
            continue
        while current < len(spans) and place >= spans[current][1]:
            current += 1
        if current >= len(spans):
            if blank[position]:
                marks.add(position)
        elif spans[current][0] <= place:
            if place == spans[current][0]:
                marks.add(position)
            if position + 1 < count and starts[position + 1] >= spans[current][1]:
                marks.add(position + 1)
        position += 1
    return marks
