"""Readings of a file's text: if a report leaked into it, its words are adjacent in one of them.

In the file itself they need not be: they may fill a column of a table, alternate with labels or be cut by
markup. So each text is read in several ways. A file is one text, or an archive of files; any other kind is
refused.
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

MAX_UNPACKED_BYTES = 1 << 28  # of one member of an archive
_DAMAGED = (zlib.error, OSError, EOFError, RuntimeError, zipfile.BadZipFile, tarfile.TarError)
UNREAD = re.compile(r"(?:^|/)\.doctrees/|(?:^|/)objects\.inv$|\.(?:safetensors|model|pt|sqlite(?:-\w+)?)$")
"""Names of files that no person reads: Sphinx's records, weights and vocabularies, checkpoints and caches."""

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
_KEYS = object()  # stands in for the key of the keys of a JSON value
_PICTURE_KEY = re.compile(_PICTURE_KIND, re.IGNORECASE)  # of a notebook's outputs: "image/png"


def of_file(content: bytes, name: str = "") -> tuple[set[str], str]:
    """Return every reading of a file's bytes, or of an archive's members and their names, none for a file
    that no person reads; and the reason to refuse the file, empty if there is none."""
    if UNREAD.search(name):
        return set(), ""
    # Packed by gzip, zip or tar?
    if not (content.startswith((b"\x1f\x8b", b"PK\3\4")) or content[257:262] == b"ustar"):
        if b"\0" not in content and not content.startswith((b"%PDF-", b"%!PS")):
            with suppress(UnicodeDecodeError):
                return of_text(content.decode("utf-8"))
        return set(), "neither text in UTF-8 nor another kind of file that is searched"
    try:
        members = _members(content)
    except _DAMAGED:
        return set(), "an archive that is damaged or encrypted"
    if any(len(inner) > MAX_UNPACKED_BYTES for _, inner in members):
        return set(), "too much is packed in it to be read"
    readings, refused = set[str](), ""
    for member, inner in members:
        member_readings, reason = of_file(inner, f"{name}/{member}")
        readings |= member_readings | of_text(member)[0]
        refused = refused or reason
    return readings, refused


def _members(content: bytes) -> list[tuple[str, bytes]]:
    """Return the name and the content of each file in an archive."""
    stream = io.BytesIO(content)
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(stream) as archive:
            return [(name, archive.open(name).read(MAX_UNPACKED_BYTES + 1)) for name in archive.namelist()]
    if content.startswith(b"\x1f\x8b"):
        return [("", gzip.open(stream).read(MAX_UNPACKED_BYTES + 1))]
    with tarfile.open(fileobj=stream, mode="r:") as bundle:
        opened = ((member.name, bundle.extractfile(member)) for member in bundle)
        return [(name, inner.read(MAX_UNPACKED_BYTES + 1) if inner else b"") for name, inner in opened]


def of_text(text: str) -> tuple[set[str], str]:
    """Return every reading of a text (as it is, without markup, and by columns), and the reason to refuse it:
    an encoded picture or file, whose words cannot be read. The reason is empty if there is none."""
    plain, strings = unescaped(text), _json_strings(text)
    by_key: dict[object, list[str]] = defaultdict(list)
    for key, string in strings:
        by_key[key].append(string)
    keys = by_key.pop(_KEYS, [])
    if strings:
        every = (string for key, string in strings if key is not _KEYS)
        readings = {plain, " ".join(keys)}
        for inner in (every, *by_key.values()):
            readings.update(_of_marked_up(unescaped(" ".join(inner))))
    else:
        readings = set(_of_marked_up(plain))
    encoded = _DATA_URL.search(plain) or any(map(_PICTURE_KEY.fullmatch, keys))
    reason = "a picture or a file is encoded in it, whose words cannot be read" if encoded else ""
    return readings | set(map(_whole_words, readings)), reason


def unescaped(text: str) -> str:
    r"""Return ``text`` with escapes such as ``&amp;``, ``\u00e9`` and ``\n`` decoded, without terminal
    colours."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1] or "20", 16)), _COLOUR.sub("", text))
    return html.unescape(plain)


def _whole_words(text: str) -> str:
    """Return ``text`` with the pieces of words joined, as the tokenizers of language models mark them."""
    if "▁" in text or "Ġ" in text:
        text = re.sub(" (?![▁Ġ])", "", text)
    return re.sub(" ##|@@ ", "", text)


def _of_marked_up(text: str) -> Iterator[str]:
    """Yield a text as it is, without its markup, and by columns."""
    yield text
    if "<" not in text or ">" not in text:
        yield from _column_texts(text)
        return
    yield _TAG.sub("", text)  # inline markup splits no words,
    yield _TAG.sub(" ", text)  # and block markup does
    yield from _strided([cell for cell in map(str.strip, _TAG.split(text)) if cell])
    yield from _column_texts(_TAG.sub("", _CELL_END.sub("\t", _ROW_END.sub("\n", text))))


def _json_strings(text: str) -> list[tuple[object, str]]:
    """Return the strings in JSON or JSON lines, each with its key or, in rows, its column; keys are listed
    under :data:`_KEYS`. Empty for any other text."""
    if text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return list(_strings(json.loads(text)))
        with suppress(ValueError, RecursionError):
            return list(_strings([json.loads(line) for line in text.splitlines() if line.strip()]))
    return []


def _strings(value: object, key: object = "") -> Iterator[tuple[object, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        yield from ((_KEYS, name) for name in value)
        for name, inner in value.items():
            yield from _strings(inner, name)
    elif isinstance(value, list) and any(isinstance(row, list) for row in value):
        for row in value:
            for column, cell in enumerate(row if isinstance(row, list) else [row]):
                yield from _strings(cell, (key, column))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


def _column_texts(text: str) -> Iterator[str]:
    """Yield readings of a text by columns: of a table (CSV, Markdown, aligned with spaces, or a word and its
    label per line), of the values under each name in ``name: value``, and of words between labels."""
    if 16 * sum(map(text.count, "'\"|/=({[:,")) >= len(text):
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
    """Yield every second, every third, up to every sixth token, from each possible start: one of these
    readings has only the words of ``[('left', 'B'), ('lung', 'I')]``."""
    for period in _PERIODS:
        for start in range(period):
            yield " ".join(tokens[start::period])
