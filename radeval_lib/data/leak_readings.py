"""Every reading of a file's text, in one of which the words of a report follow one another.

A report that leaked need not be in a file word by word: its words may be in a column of a table, alternate
with labels or be cut by markup. So each text that a file holds is given in several readings. A file is one
text, or an archive of others; whatever else it is, it is refused.
"""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import re
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

MOST = 1 << 28  # bytes that are unpacked of one member of an archive
_DAMAGED = (zlib.error, OSError, EOFError, RuntimeError, zipfile.BadZipFile, tarfile.TarError)
# What no person reads: Sphinx's own records, weights and vocabularies of models, checkpoints and caches.
_BINARY = re.compile(r"(?:^|/)\.doctrees/|(?:^|/)objects\.inv$|\.(?:safetensors|model|pt|sqlite(?:-\w+)?)$")

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")  # of source code and JSON
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # of a terminal
_TAG = re.compile(r"<[^<>]*>")
_CELL_END, _ROW_END = re.compile(r"</t[dh]>"), re.compile(r"</(?:tr|p|div|li)>")
# What separates the cells of a row: "a | b", "a;b", or two blanks in a table that is aligned with spaces.
_CELLS = re.compile(r"\s*[|,;\t]\s*|\s{2,}")
_PAIR = re.compile(r"^[^\w\n]*(\w+)[^\w\n]*[:=](.+)$", re.MULTILINE)  # "name: value" or "name = value"
# A quoted string, or a word between punctuation: what a list of tokens in source code or JSON holds.
_TOKEN = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|([^\s,;:=|/()\[\]{}'\"]+)")
_PERIODS = range(2, 7)  # tokens after which a pattern of words and labels repeats
_WIDEST = 30  # columns
_PICTURE_KIND = r"(?:image/(?!svg\+xml)[\w.+-]+|video/[\w.+-]+|application/pdf)"
# A picture, or anything in base64, within a text: "data:image/png;base64,iVBORw0KGgo=".
_DATA_URL = re.compile(
    rf"data:\s*(?:{_PICTURE_KIND}[^,<>\n]{{,99}}|[^,<>\n]{{,99}};\s*base64),\s*[\w+/%=-]{{8,}}", re.IGNORECASE
)
_PICTURE_KEY = re.compile(_PICTURE_KIND, re.IGNORECASE)  # of a notebook's outputs: "image/png"


class RefusedError(Exception):
    """A file that may show a text in a way that is not read; its message says how."""


def of_file(content: bytes, name: str = "") -> Iterator[str]:
    """Yield every reading of a file's bytes, or of an archive's members and their names.

    Raises
    ------
    RefusedError
        At the end, if the file or a member is of a kind that is not read.
    """
    if _BINARY.search(name):
        return
    if not content.startswith((b"\x1f\x8b", b"PK\3\4")) and content[257:262] != b"ustar":
        yield from of_text(_text(content))
        return
    try:
        members = _members(content)
    except _DAMAGED:
        raise RefusedError("an archive that is damaged or encrypted") from None
    for member, inner in members:
        if len(inner) > MOST:
            raise RefusedError("too much is packed in it to be read")
        yield from of_text(member)
        yield from of_file(inner, f"{name}/{member}")


def _members(content: bytes) -> list[tuple[str, bytes]]:
    """Return the name and the content of each file in an archive."""
    stream = io.BytesIO(content)
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(stream) as archive:
            return [(name, archive.open(name).read(MOST + 1)) for name in archive.namelist()]
    if content.startswith(b"\x1f\x8b"):
        return [("", gzip.open(stream).read(MOST + 1))]
    with tarfile.open(fileobj=stream, mode="r:") as bundle:
        opened = ((member.name, bundle.extractfile(member)) for member in bundle)
        return [(name, inner.read(MOST + 1) if inner else b"") for name, inner in opened]


def _text(content: bytes) -> str:
    with suppress(UnicodeDecodeError):
        text = content.decode("utf-8")
        if "\0" not in text and not text.startswith(("%PDF-", "%!PS")):
            return text
    raise RefusedError("neither text in UTF-8 nor another kind of file that is searched")


def of_text(text: str) -> Iterator[str]:
    """Yield every reading of a text: as it is, without markup, and by columns.

    Raises
    ------
    RefusedError
        At the end, if a picture or another file is encoded in the text.
    """
    plain = unescaped(text)
    parsed = _json(text)
    keys: list[str] = []
    if parsed is None:
        yield from _of_marked_up(plain)
    else:
        keys, by_key, every = json_texts(parsed)
        yield plain
        yield " ".join(keys)
        for inner in (every, *by_key):
            yield from _of_marked_up(unescaped(inner))
    if _DATA_URL.search(plain) or any(map(_PICTURE_KEY.fullmatch, keys)):
        raise RefusedError("a picture or a file is encoded in it, whose words cannot be read")


def unescaped(text: str) -> str:
    r"""Return ``text`` with escapes such as ``&amp;``, ``\u00e9`` and ``\n`` decoded, without terminal
    colours."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1] or "20", 16)), _COLOUR.sub("", text))
    return html.unescape(plain)


def _of_marked_up(text: str) -> Iterator[str]:
    """Yield a text as it is, without its markup, and by columns."""
    yield text
    if "<" not in text or ">" not in text:
        yield from column_texts(text)
        return
    yield _TAG.sub("", text)  # inline markup splits no words,
    yield _TAG.sub(" ", text)  # and block markup does
    yield from _strided([cell for cell in map(str.strip, _TAG.split(text)) if cell])
    yield from column_texts(_TAG.sub("", _CELL_END.sub("\t", _ROW_END.sub("\n", text))))


def _json(text: str) -> object | None:
    """Return the value of a JSON text, or the values of JSON lines as a list; None for another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    rows = []
    for part in (text, *text.splitlines()):
        with suppress(ValueError, RecursionError):
            rows.append(json.loads(part))
            if part is text:
                break
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
            waiting += [(entry, name) for name, entry in reversed(inner.items())]
        elif isinstance(inner, list) and any(isinstance(entry, list) for entry in inner):  # rows
            rows = (entry if isinstance(entry, list) else [entry] for entry in inner)
            waiting += reversed([(cell, (key, column)) for row in rows for column, cell in enumerate(row)])
        elif isinstance(inner, list):
            waiting += [(entry, key) for entry in reversed(inner)]
    return keys, [" ".join(texts) for texts in under.values()], " ".join(every)


def column_texts(text: str) -> Iterator[str]:
    """Yield readings of a text by columns: of a table (CSV, Markdown, aligned with spaces, or a word with its
    label per line), of the values of each name in ``name: value``, and of words between labels."""
    if 12 * sum(map(text.count, "'\"|/=({[:,")) >= len(text):
        yield from _strided([quoted or double or word for quoted, double, word in _TOKEN.findall(text)])
    lines = [line.strip().strip("|") for line in text.splitlines()]
    if len(lines) < 3:
        return
    named: dict[str, list[str]] = defaultdict(list)
    for name, value in _PAIR.findall(text):
        named[name].append(value)
    yield from map(" ".join, named.values())
    narrow = [words for line in lines if 0 < len(words := line.split()) <= 4]
    tables = [[_CELLS.split(line.strip()) for line in lines], narrow]
    with suppress(csv.Error):
        tables.append(list(csv.reader(io.StringIO(text))))
    for rows in tables:
        for column in range(min(max(map(len, rows), default=0), _WIDEST)):
            yield " ".join(row[column] for row in rows if len(row) > column)


def _strided(tokens: list[str]) -> Iterator[str]:
    """Yield every second, third ... of some tokens, from each of the first: in one of these readings are the
    words alone of ``[('left', 'B'), ('lung', 'I')]``."""
    for period in _PERIODS:
        for start in range(period):
            yield " ".join(tokens[start::period])
