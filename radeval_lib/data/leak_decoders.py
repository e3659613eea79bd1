"""The texts of a file as one who opens it, copies from it or decodes it may read them; used by the guard.

A text can stand in a file with its words under one another in a table, between labels, in markup, or encoded
for a script, an address or a data URI. Each function gives one more way to read on.
"""

from __future__ import annotations

import base64
import binascii
import csv
import gzip
import html
import io
import json
import re
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import unquote

_DEEPEST = 3  # encodings within encodings
_MOST_UNPACKED = 1 << 28  # bytes of a compressed file that are read
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_TAG = re.compile(r"<[^>]*>")
_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|[nrtbfv])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:\s{1,2}[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2}){20,}")
_PRINTABLE_RUN = re.compile(rb"[\t\n\r\x20-\x7e]{16,}")
_CELLS = re.compile(r"\s*[|,;\t]\s*|\s{2,}")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"BM", b"II*\x00", b"MM\x00*")
_PICTURE_IN_PAGE = re.compile(
    r"<(?:img|object|embed|iframe)\b[^>]*?data:(?:image/(?!svg)|application/pdf)"
    r'|"(?:image/(?:png|jpeg|gif|webp)|application/pdf)"\s*:',
    re.IGNORECASE,
)
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def is_picture(content: bytes) -> bool:
    """Whether a file is a picture or document whose words cannot be read here: PNG, JPEG, GIF, TIFF, PDF."""
    return content.startswith(_PICTURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def has_picture(content: bytes) -> bool:
    """Whether a page or notebook carries such a picture within; pixels inside a drawing (SVG) are none."""
    return _PICTURE_IN_PAGE.search(content.decode("utf-8", "replace")) is not None


def of_file(content: bytes, depth: int = 0) -> Iterator[str]:
    """Every reading of a file's bytes, whatever its name; of archives, of what is in them."""
    if depth > _DEEPEST:
        return
    if content.startswith(b"\x1f\x8b"):
        with suppress(OSError, EOFError, zlib.error), gzip.open(io.BytesIO(content)) as stream:
            yield from of_file(stream.read(_MOST_UNPACKED), depth + 1)
    elif content.startswith(b"PK\x03\x04"):
        damaged = (zipfile.BadZipFile, RuntimeError, OSError, ValueError, zlib.error)
        with suppress(*damaged), zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                if member.file_size <= _MOST_UNPACKED:
                    yield from of_file(archive.read(member), depth + 1)
    elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield from of_text(content.decode("utf-16", "replace"))
    elif b"\x00" in content:
        if content.count(b"\x00") > len(content) / 3:  # UTF-16 without a mark has one in every second byte
            content = content.replace(b"\x00", b"")
        yield from of_text("\n".join(run.decode("ascii") for run in _PRINTABLE_RUN.findall(content)))
    else:
        yield from of_text(content.decode("utf-8", "replace"))


def of_text(text: str, depth: int = 0) -> Iterator[str]:
    """Every reading of a text: as it is, decoded, without markup, by columns, and what is encoded in it."""
    plain = decoded(text)
    yield plain
    parsed = _json(text)
    if parsed is not None:
        for inner in json_texts(parsed):
            yield from _of_marked_up(decoded(inner), depth)
    else:
        yield from _of_marked_up(plain, depth)


def _of_marked_up(text: str, depth: int) -> Iterator[str]:
    yield text
    if "<" in text and ">" in text:
        yield _TAG.sub("", text)  # inline markup splits no words,
        yield _TAG.sub(" ", text)  # and block markup does
        yield from html_texts(text)
    else:
        yield from column_texts(text)
    if depth < _DEEPEST:
        for inner in encoded_texts(text):
            yield from of_text(inner, depth + 1)


def decoded(text: str) -> str:
    r"""``text`` without the encodings that stand for single signs: ``&amp;``, ``é``, ``%20``, and signs
    that do not show (soft hyphens, joiners) or are written in another width."""
    for _ in range(_DEEPEST):
        before = text
        text = unquote(html.unescape(_ESCAPE.sub(_sign, text)), errors="replace")
        if text == before:
            break
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")


def _sign(escape: re.Match[str]) -> str:
    digits = escape.group(1) or escape.group(2)
    if digits is None:
        return " "
    return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else " "


def encoded_texts(text: str) -> Iterator[str]:
    """What stands in ``text`` as base64 or hexadecimal, compressed or not, and is text."""
    for found in _BASE64.finditer(text):
        packed = re.sub(r"\s", "", found.group()).rstrip("=").replace("-", "+").replace("_", "/")
        with suppress(binascii.Error, ValueError):
            yield from _if_text(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    for found in _HEXADECIMAL.finditer(text):
        yield from _if_text(bytes.fromhex(found.group()))


def _if_text(content: bytes) -> Iterator[str]:
    with suppress(zlib.error):
        content = zlib.decompressobj(_ZLIB_OR_GZIP).decompress(content, _MOST_UNPACKED)
    for coding in ("utf-8", "utf-16"):
        with suppress(UnicodeDecodeError):
            text = content.decode(coding)
            if sum(sign.isprintable() or sign.isspace() for sign in text[:400]) >= 0.9 * len(text[:400]):
                yield text
                return


def _json(text: str) -> object | None:
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


def json_texts(value: object) -> Iterator[str]:
    """Texts of a JSON value: each, those of a list or an object behind one another, and those of a column of
    objects or lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield " ".join(map(str, value))
        yield " ".join(inner for inner in value.values() if isinstance(inner, str))
        for inner in value.values():
            yield from json_texts(inner)
    elif isinstance(value, list):
        yield " ".join(inner for inner in value if isinstance(inner, str))
        columns: dict[object, list[str]] = defaultdict(list)
        for row in value:
            cells = row.items() if isinstance(row, dict) else enumerate(row if isinstance(row, list) else ())
            for name, cell in cells:
                if isinstance(cell, str):
                    columns[name].append(cell)
        yield from (" ".join(cells) for cells in columns.values())
        for inner in value:
            yield from json_texts(inner)


def column_texts(text: str) -> Iterator[str]:
    """Columns of a text table: CSV, Markdown, aligned with spaces, or a word and its label a line."""
    lines = [line.strip().strip("|") for line in text.splitlines()]
    if len(lines) < 3:
        return
    narrow = [words for line in lines if 0 < len(words := line.split()) <= 4]
    tables = [[_CELLS.split(line.strip()) for line in lines], narrow]
    with suppress(csv.Error):
        tables.append(list(csv.reader(io.StringIO(text))))
    for rows in tables:
        widest = max((len(row) for row in rows), default=0)
        for column in range(min(widest, 30)):
            yield " ".join(row[column] for row in rows if len(row) > column)


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
    """Texts of a page's elements of each kind and column, and all but those that are labels.

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
    for texts in kinds.values():
        yield " ".join(texts)
    if labels:
        yield " ".join(data for kind, data in parser.nodes if kind not in labels)
        # Words that an element cuts in two stand without a space.
        yield "".join(data for kind, data in parser.nodes if kind not in labels)
