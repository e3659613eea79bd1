"""Every reading of a file's text, as shown, copied or decoded; the guard searches each for restricted text.

A report that leaked need not stand in a file word by word: its words may be in a column of a table, alternate
with labels, be cut by markup, or be encoded. So each text that a file holds
(:mod:`radeval_lib.data.leak_streams`) is given in several readings, so that in one of
them the words follow one another.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import unquote

from radeval_lib.data import leak_streams
from radeval_lib.data.leak_streams import Unreadable

_PERIODS = range(2, 7)  # tokens after which a pattern of words and labels repeats
_CHUNK = 240  # tokens, a multiple of every period
_TAG = re.compile(r"<[^<>]*>")
# Escapes of source code and JSON: \n, \xe9, \u00e9, \u{e9}, \U000000e9.
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|[nrtbfv])"
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # of a terminal
# What separates the cells of a row: "a | b", "a;b", or two blanks in a table that is aligned with spaces.
_CELLS = re.compile(r"\s*[|,;\t]\s*|\s{2,}")
# "name: value" or "name = value", a line each.
_PAIR = re.compile(r"^[^\w\n]*(\w+)[^\w\n]*[:=](.+)$", re.MULTILINE)
# A quoted string, or a word between punctuation: what a list of tokens in source code or JSON holds.
_TOKEN = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|([^\s,;:=|/()\[\]{}'\"]+)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_PICTURE_KIND = r"(?:image/(?!svg\+xml)[\w.+-]+|video/[\w.+-]+|application/pdf)"
# A picture, or anything in base64, within a text: "data:image/png;base64,iVBORw0KGgo=".
_DATA_URL = re.compile(
    rf"data:\s*(?:{_PICTURE_KIND}[^,<>\n]{{,99}}|[^,<>\n]{{,99}};\s*base64),\s*[\w+/%=-]{{8,}}", re.IGNORECASE
)
_PICTURE_KEY = re.compile(_PICTURE_KIND, re.IGNORECASE)  # of a notebook's outputs: "image/png"
_BLANKS = dict.fromkeys(map(ord, "ĠĊ▁"), " ")  # of tokenizers
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class _Folding(dict[int, str]):
    """For ``str.translate``: each sign as the plain letters that it is."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", _BLANKS.get(code, chr(code)))
        self[code] = "".join(sign for sign in parts if unicodedata.category(sign) not in ("Mn", "Cf"))
        return self[code]


_FOLDING = _Folding()


def folded(text: str) -> str:
    """Return ``text`` without accents and signs that do not show."""
    return text if text.isascii() else _NOT_ASCII.sub(lambda run: run.group().translate(_FOLDING), text)


def of_file(content: bytes, name: str = "") -> Iterator[str | Unreadable]:
    """Yield every reading of a file's bytes, and why it must be refused, if it must."""
    for text in leak_streams.texts(content, name):
        if isinstance(text, str):
            yield from of_text(text)
        else:
            yield text


def of_text(text: str) -> Iterator[str | Unreadable]:
    """Yield every reading of a text: as it is, decoded, without markup, and by columns."""
    plain = decoded(text)
    yield plain
    if _DATA_URL.search(plain):
        yield Unreadable.ENCODED
    parsed = _json(text)
    if parsed is None:
        yield from _of_marked_up(plain)
        return
    keys, values, every = json_texts(parsed)
    if any(_PICTURE_KEY.fullmatch(key) for key in keys):
        yield Unreadable.PICTURE
    yield " ".join(keys)
    yield decoded(every)
    yield _TAG.sub(" ", decoded(every))
    for inner in values:
        yield from _of_marked_up(decoded(inner))


def _of_marked_up(text: str) -> Iterator[str]:
    """Yield readings of a decoded text with and without its markup: inline and block markup, elements of a
    page, and columns."""
    yield text
    if "<" in text and ">" in text:
        bare = _TAG.sub("", text)
        yield bare  # inline markup splits no words,
        yield _TAG.sub(" ", text)  # and block markup does
        yield from html_texts(text)
        yield from column_texts(bare)
    else:
        yield from column_texts(text)


def decoded(text: str) -> str:
    r"""Return ``text`` without the encodings that stand for single signs: ``&amp;``, ``\u00e9``, ``%20``;
    folded."""
    text = unquote(html.unescape(_ESCAPE.sub(_sign, text)), errors="replace")
    return folded(_COLOUR.sub("", text))


def _sign(escape: re.Match[str]) -> str:
    """Return the character of a match of ``_ESCAPE``; a blank for one without a number, such as ``\\n``."""
    code = int(next(filter(None, escape.groups()), "20"), 16)
    return chr(code) if code < 0x110000 else " "


def _json(text: str) -> object | None:
    """Return the value of a JSON text, or the values of JSON lines as a list; None for another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    with suppress(ValueError, RecursionError):
        parsed: object = json.loads(text)
        return parsed
    rows = []
    for line in text.splitlines():  # JSON lines
        with suppress(ValueError, RecursionError):
            rows.append(json.loads(line))
    return rows or None


def json_texts(value: object) -> tuple[list[str], list[str], str]:
    """Return the texts of a JSON value: its keys; the strings under each key, or in each column of rows,
    joined by a blank; and all strings, joined by a blank."""
    keys: list[str] = []
    under: dict[object, list[str]] = defaultdict(list)
    every: list[str] = []
    waiting: list[tuple[object, object]] = [(value, "")]  # last in, first out: no depth is too deep
    while waiting:
        inner, key = waiting.pop()
        if isinstance(inner, str):
            under[key].append(inner)
            every.append(inner)
        elif isinstance(inner, dict):
            keys += inner
            waiting += [(one, name) for name, one in reversed(inner.items())]
        elif isinstance(inner, list):
            if any(isinstance(one, list) for one in inner):  # rows
                rows = (one if isinstance(one, list) else [one] for one in inner)
                waiting += reversed([(cell, (key, at)) for row in rows for at, cell in enumerate(row)])
            else:
                waiting += [(one, key) for one in reversed(inner)]
    return keys, [" ".join(texts) for texts in under.values()], " ".join(every)


def column_texts(text: str) -> Iterator[str]:
    """Yield readings of a text by columns: of a table (CSV, Markdown, aligned with spaces, or a word with its
    label per line), of the values of each name in ``name: value``, and of words without their labels."""
    yield from _unlabelled(text)
    lines = text.splitlines()
    if len(lines) < 3:
        return
    named: dict[str, list[str]] = defaultdict(list)
    for name, value in _PAIR.findall(text):
        named[name].append(value)
    yield from (" ".join(values) for values in named.values())
    lines = [line.strip().strip("|") for line in lines]
    narrow = [words for line in lines if 0 < len(words := line.split()) <= 4]
    tables = [[_CELLS.split(line.strip()) for line in lines], narrow]
    with suppress(csv.Error):
        tables.append(list(csv.reader(io.StringIO(text))))
    for rows in tables:
        widest = max((len(row) for row in rows), default=0)
        for column in range(min(widest, 30)):
            yield " ".join(row[column] for row in rows if len(row) > column)


def _unlabelled(text: str) -> Iterator[str]:
    """Yield words that alternate with labels, as in ``[('left', 'B'), ('lung', 'I')]`` or ``left/B lung/I``.

    For each period, a position in it is taken to hold labels if few of its tokens are distinct; what remains
    are words.
    """
    if 12 * sum(map(text.count, "'\"|/=({[:,")) < len(text):
        return
    tokens = [one or two or three for one, two, three in _TOKEN.findall(text)]
    kept: dict[tuple[int, int], list[str]] = defaultdict(list)
    for start in range(0, len(tokens), _CHUNK):
        chunk = tokens[start : start + _CHUNK]
        for period in _PERIODS:
            places = [chunk[place::period] for place in range(period)]
            words = [place for place, found in enumerate(places) if len(set(found)) > len(found) / 4]
            if len(words) < period and len(chunk) > 4 * period:
                for place in words:
                    kept[period, place] += places[place]
    yield from (" ".join(words) for words in kept.values())


class _Nodes(HTMLParser):
    """Text nodes in order, each with the kind of its innermost element: tag, class and column."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[tuple[tuple[str, str, int], str]] = []
        self._open: list[tuple[str, str]] = []
        self._column = -1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._column = -1
        elif tag in ("td", "th"):
            self._column += 1
        elif tag == "table":
            self._column = -1
        if tag not in _VOID:
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                break
        if tag == "table":
            self._column = -1

    def handle_data(self, data: str) -> None:
        if data.strip():
            tag, kind = self._open[-1] if self._open else ("", "")
            self.nodes.append(((tag, kind, self._column), data))


def html_texts(text: str) -> Iterator[str]:
    """Yield texts of a page's elements of each kind and column, and all but those that are labels.

    A kind of element whose texts repeat (``ANA``, ``no ABN``, a grade) is taken for labels, which stand
    between the words that they label.
    """
    parser = _Nodes()
    with suppress(AssertionError):  # what HTMLParser cannot read of a broken page
        parser.feed(text)
        parser.close()
    kinds: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for kind, data in parser.nodes:
        kinds[kind].append(data)
    labels = {
        kind
        for kind, texts in kinds.items()
        if len(texts) > 2 and len({re.sub(r"\d+", "", one).strip() for one in texts}) <= len(texts) / 2
    }
    columns: dict[int, list[str]] = defaultdict(list)
    for (_, _, column), data in parser.nodes:
        columns[column].append(data)
    for texts in (*kinds.values(), *columns.values()):
        yield " ".join(texts)
    if labels:
        yield " ".join(data for kind, data in parser.nodes if kind not in labels)
        # Words that an element cuts in two stand without a space.
        yield "".join(data for kind, data in parser.nodes if kind not in labels)
