"""Read a file's text in several ways, so that the words of a leaked report are adjacent in one of them.

In the file itself, the words need not be adjacent: they may fill a column of a table, alternate with labels
or be split by markup. Each way of reading gives one text, called a reading. A file must be a text file, or an
archive of text files; the guard refuses every other kind.
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
# Errors of damaged or encrypted archives; a tar archive with a link to a missing member raises a KeyError.
_BAD_ARCHIVE = (zlib.error, OSError, EOFError, RuntimeError, zipfile.BadZipFile, tarfile.TarError, KeyError)
# Names of files that no person reads: Sphinx's records, weights and vocabularies, checkpoints and caches.
UNREAD = re.compile(r"(?:^|/)\.doctrees/|(?:^|/)objects\.inv$|\.(?:safetensors|model|pt|sqlite(?:-\w+)?)$")

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")  # in source code and JSON
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # terminal colours
_TAG = re.compile(r"<[^<>]*>")
_CELL_END, _ROW_END = re.compile(r"</t[dh]>"), re.compile(r"</(?:tr|p|div|li)>")
# The separator of the cells in a row: "a | b", "a;b", or two blanks in a table that is aligned with spaces.
_CELL_SEPARATOR = re.compile(r"\s*[|,;\t]\s*|\s{2,}")
_NAME_AND_VALUE = re.compile(
    r"^[^\w\n]*(\w+)[^\w\n]*[:=](.+)$", re.MULTILINE
)  # "name: value" or "name = value"
# A quoted string, or a word between punctuation: an item in a list of tokens in source code or JSON.
_TOKEN = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|([^\s,;:=|/()\[\]{}'\"]+)")
_PERIODS = range(2, 7)  # tokens after which a pattern of words and labels repeats
_MAX_COLUMNS = 30  # of a table; further columns are not read separately
_PICTURE_KIND = r"(?:image/(?!svg\+xml)[\w.+-]+|video/[\w.+-]+|application/pdf)"
# A picture, or anything in base64, within a text: "data:image/png;base64,iVBORw0KGgo=".
_DATA_URL = re.compile(
    rf"data:\s*(?:{_PICTURE_KIND}[^,<>\n]{{,99}}|[^,<>\n]{{,99}};\s*base64),\s*[\w+/%=-]{{8,}}", re.IGNORECASE
)
_KEYS = object()  # the key under which the keys of a JSON value are listed
_PICTURE_KEY = re.compile(_PICTURE_KIND, re.IGNORECASE)  # in a notebook's outputs: "image/png"


def read_file(content: bytes, name: str = "") -> tuple[set[str], str]:
    """Return (readings, reason): the readings of a file, and why it is refused.

    Parameters
    ----------
    content : the bytes of the file. The members of an archive and their names are read.
    name : path of the file. A path that matches :data:`UNREAD` gives no readings and no reason.

    Returns
    -------
    readings : the text of the file, read in several ways.
    reason : why the file, or a member of the archive, cannot be searched; empty if all of it can.
    """
    if UNREAD.search(name):
        return set(), ""
    # The signatures of gzip and zip are the first bytes; that of tar is at byte 257.
    if not (content.startswith((b"\x1f\x8b", b"PK\3\4")) or content[257:262] == b"ustar"):
        if b"\0" not in content and not content.startswith((b"%PDF-", b"%!PS")):
            with suppress(UnicodeDecodeError):
                return read_text(content.decode("utf-8"))
        return set(), "neither UTF-8 text nor a gzip, zip or tar archive"
    try:
        members = _read_members(content)
    except _BAD_ARCHIVE:
        return set(), "an archive that is damaged or encrypted"
    if any(len(data) > MAX_UNPACKED_BYTES for _, data in members):
        return set(), f"an archive with a member of more than {MAX_UNPACKED_BYTES >> 20} MiB"
    readings, first_reason = set[str](), ""
    for member, data in members:
        member_readings, reason = read_file(data, f"{name}/{member}")
        readings |= member_readings | read_text(member)[0]
        first_reason = first_reason or reason
    return readings, first_reason


def _read_members(content: bytes) -> list[tuple[str, bytes]]:
    """Return the name and the content of each file in an archive; a link has its target's content."""
    stream = io.BytesIO(content)
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(stream) as archive:
            return [(name, archive.open(name).read(MAX_UNPACKED_BYTES + 1)) for name in archive.namelist()]
    if content.startswith(b"\x1f\x8b"):
        return [("", gzip.open(stream).read(MAX_UNPACKED_BYTES + 1))]
    with tarfile.open(fileobj=stream, mode="r:") as bundle:
        files = ((member.name, bundle.extractfile(member)) for member in bundle)
        return [(name, file.read(MAX_UNPACKED_BYTES + 1) if file else b"") for name, file in files]


def read_text(text: str) -> tuple[set[str], str]:
    """Return (readings, reason): a text read in several ways, and why it is refused.

    The text is read unchanged, without markup, and by columns. It is refused if a picture or a file is
    encoded in it; otherwise, the reason is empty.
    """
    plain_text, strings = unescape(text), _find_json_strings(text)
    strings_by_key: dict[object, list[str]] = defaultdict(list)
    for key, string in strings:
        strings_by_key[key].append(string)
    keys = strings_by_key.pop(_KEYS, [])
    if strings:
        values = (string for key, string in strings if key is not _KEYS)
        readings = {plain_text, " ".join(keys)}
        for group in (values, *strings_by_key.values()):
            readings.update(_read_with_markup(unescape(" ".join(group))))
    else:
        readings = set(_read_with_markup(plain_text))
    has_file = _DATA_URL.search(plain_text) or any(map(_PICTURE_KEY.fullmatch, keys))
    reason = "it contains an encoded picture or file, whose words cannot be read" if has_file else ""
    return readings | set(map(_join_word_pieces, readings)), reason


def unescape(text: str) -> str:
    r"""Return ``text`` without terminal colours and with escapes decoded, such as ``&amp;`` or ``\u00e9``.

    Escaped line breaks and tabs (``\n``, ``\r``, ``\t``) become blanks.
    """
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1] or "20", 16)), _COLOUR.sub("", text))
    return html.unescape(plain)


def _join_word_pieces(text: str) -> str:
    """Return ``text`` with word pieces joined; tokenizers mark them with ``##``, ``@@``, ``▁`` or ``Ġ``."""
    if "▁" in text or "Ġ" in text:
        text = re.sub(" (?![▁Ġ])", "", text)
    return re.sub(" ##|@@ ", "", text)


def _read_with_markup(text: str) -> Iterator[str]:
    """Yield the readings of a text: unchanged, without HTML markup, and by columns."""
    yield text
    if "<" not in text or ">" not in text:
        yield from _read_columns(text)
        return
    yield _TAG.sub("", text)  # Inline markup does not separate words;
    yield _TAG.sub(" ", text)  # block markup does.
    yield from _skip_tokens([cell for cell in map(str.strip, _TAG.split(text)) if cell])
    yield from _read_columns(_TAG.sub("", _CELL_END.sub("\t", _ROW_END.sub("\n", text))))


def _find_json_strings(text: str) -> list[tuple[object, str]]:
    """Return (key, string) for each string in JSON or JSON lines; an empty list for any other text.

    For a list of rows, ``key`` is the tuple (key, column index). Each key is also returned as a string, under
    :data:`_KEYS`.
    """
    if text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return list(_walk_json(json.loads(text)))
        with suppress(ValueError, RecursionError):
            return list(_walk_json([json.loads(line) for line in text.splitlines() if line.strip()]))
    return []


def _walk_json(value: object, key: object = "") -> Iterator[tuple[object, str]]:
    """Yield (key, string) for each string in the JSON value under ``key``; see :func:`_find_json_strings`."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        yield from ((_KEYS, name) for name in value)
        for name, child in value.items():
            yield from _walk_json(child, name)
    elif isinstance(value, list) and any(isinstance(row, list) for row in value):
        for row in value:
            for column, cell in enumerate(row if isinstance(row, list) else [row]):
                yield from _walk_json(cell, (key, column))
    elif isinstance(value, list):
        for child in value:
            yield from _walk_json(child, key)


def _read_columns(text: str) -> Iterator[str]:
    """Yield the columns of a text, each joined into one string.

    Columns are those of a table (CSV, Markdown, aligned with spaces, or up to four words per line), the
    values of each name in ``name: value``, and words that alternate with labels.
    """
    if 16 * sum(map(text.count, "'\"|/=({[:,")) >= len(text):
        yield from _skip_tokens([single or double or word for single, double, word in _TOKEN.findall(text)])
    lines = [line.strip().strip("|") for line in text.splitlines()]
    if len(lines) < 3:
        return
    values_by_name: dict[str, list[str]] = defaultdict(list)
    for name, value in _NAME_AND_VALUE.findall(text):
        values_by_name[name].append(value)
    yield from map(" ".join, values_by_name.values())
    short_rows = [words for line in lines if 0 < len(words := line.split()) <= 4]
    tables = [[_CELL_SEPARATOR.split(line.strip()) for line in lines], short_rows]
    with suppress(csv.Error):
        tables.append(list(csv.reader(io.StringIO(text))))
    for rows in tables:
        for column in range(min(max(map(len, rows), default=0), _MAX_COLUMNS)):
            yield " ".join(row[column] for row in rows if len(row) > column)


def _skip_tokens(tokens: list[str]) -> Iterator[str]:
    """Yield the texts of every second, every third, up to every sixth token, from each possible start.

    One reading of ``[('left', 'B'), ('lung', 'I')]`` has only its words.
    """
    for period in _PERIODS:
        for start in range(period):
            yield " ".join(tokens[start::period])
