"""The byte streams in a file, packed in it however deep, and whether one is a picture; used by the guard.

Nothing that a file holds is run: of a pickle the texts are read from its opcodes. What comes out of one file
is bounded, and who packs more gets the file refused.
"""

from __future__ import annotations

import bz2
import io
import lzma
import pickletools
import re
import struct
import zipfile
import zlib
from bisect import bisect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from radeval_lib.data import leak_tensors

MOST = 1 << 28  # bytes that are unpacked of one file
DEEPEST = 3  # packings within packings
_STEP = 64  # packed bytes at once: what a damaged stream gave before its fault is kept
_SHORT = 64  # bytes of a pickled value that may be a word
# Bytes that are read of a pickle among weights, where the mark of one stands by chance every 16 KiB and may
# seem to hold all that follows.
_AMONG_WEIGHTS = 1 << 12
_DAMAGED = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError, NotImplementedError,
            LookupError, struct.error, zipfile.BadZipFile)  # fmt: skip
_PACKED = re.compile(  # by its first byte, which is many times faster to search for than by alternatives
    rb"[\x1fxB\xfdP\x80](?:(?<=\x1f)\x8b\x08|(?<=x)[\x01\x5e\x9c\xda]|(?<=B)Zh[1-9]1AY&SY|(?<=\xfd)7zXZ\0"
    rb"|(?<=P)K\x03\x04|(?<=\x80)[\x02-\x05])"
)
_ENGINES: dict[bytes, Callable[[], Any]] = {
    b"\x1f": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    b"x": zlib.decompressobj,
    b"B": bz2.BZ2Decompressor,
    b"\xfd": lzma.LZMADecompressor,
}
_PICTURE = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8|8BPS|qoif|DDS |P[1-7]\s+\d+\s+\d+\s|%!PS"  # the last is PostScript
    rb"|II[*+]\0|MM\0[*+]"  # TIFF
    rb"|RIFF.{4}WEBP|\0\0\0\x0c(?:jP  |JXL )|\xff\x4f\xff\x51"  # WebP, JPEG 2000, JPEG XL
    rb"|.{4}ftyp|\x1aE\xdf\xa3"  # AVIF, HEIC and films
    rb"|\0\0[\x01\x02]\0[\x01-\x20]\0..[\0-\xff]\0[\0-\x02]\0"  # ICO and CUR
    rb"|BM.{4}(?:.{4}).{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0"  # BMP
    rb"|.{128}DICM|.{0,1000}%PDF-\d",
    re.DOTALL,
)


class TooMuchError(Exception):
    """A file in which more is packed than is read."""


@dataclass
class Budget:
    """The bytes that may still be unpacked of a file."""

    left: int = MOST

    def spend(self, content: bytes) -> bytes:
        self.left -= len(content)
        if self.left < 0:
            raise TooMuchError
        return content


def is_picture(content: bytes) -> bool:
    """Whether ``content`` is a picture, a film or a document whose words cannot be read here, by how it
    begins."""
    return _PICTURE.match(content, 0, 1200) is not None


def unpacked(content: bytes, budget: Budget) -> Iterator[bytes]:
    """What is packed in ``content``, wherever it begins.

    That is compressed streams, members of zip archives with their names, and the texts and bytes of pickles.
    """
    place, zipped = 0, False
    _, weights = leak_tensors.layout(content)
    while found := _PACKED.search(content, place):
        place, kind = found.end(), found.group()[:1]
        if kind == b"P":
            if not zipped:  # the archive's list is at its end, wherever it begins
                yield from _members(content, budget)
            zipped = True
        elif kind == b"\x80":
            start = found.start()
            if bisect(weights, start) % 2:
                pickled = _pickled(content[start : start + _AMONG_WEIGHTS], 0)
            else:
                pickled = _pickled(content, start)
            yield from map(budget.spend, pickled)
        else:
            engine = _ENGINES[kind]()
            inner, end = _decompressed(engine, content, found.start(), budget)
            if inner:
                yield inner
            if engine.eof:
                place = end
    if content[:3] == b"]\0\0":  # LZMA as it was before xz
        yield _decompressed(lzma.LZMADecompressor(), content, 0, budget)[0]
    deflated = zlib.decompressobj(-zlib.MAX_WBITS)  # nothing marks it, so only a whole stream counts
    inner, end = _decompressed(deflated, content, 0, budget)
    if deflated.eof and end == len(content):
        yield inner
    if content[:1] != b"\x80":  # pickles of the first protocols have no mark
        yield from map(budget.spend, _pickled(content, 0))


def _decompressed(engine: Any, content: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    """What ``engine`` makes of ``content`` from ``start`` on, and where its stream ends."""
    pieces, place = [], start
    with suppress(*_DAMAGED):
        while place < len(content) and not engine.eof:
            step = content[place : place + _STEP]
            place += len(step)
            pieces.append(budget.spend(engine.decompress(step)))
    return b"".join(pieces), place - len(engine.unused_data)


def _members(content: bytes, budget: Budget) -> Iterator[bytes]:
    with suppress(*_DAMAGED), zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield "\n".join(archive.namelist()).encode("utf-8", "replace")
        for member in archive.infolist():
            pieces = []
            with suppress(*_DAMAGED), archive.open(member) as stream:
                while piece := stream.read(1 << 16):
                    pieces.append(budget.spend(piece))
            yield b"".join(pieces)


def _pickled(content: bytes, start: int) -> Iterator[bytes]:
    """Texts of the pickle that begins at ``start``, behind one another, and what it holds as bytes."""
    stream = io.BytesIO(content)
    stream.seek(start)
    memo: dict[int, str | bytes | None] = {}
    texts: list[str] = []
    value: str | bytes | None = None
    with suppress(*_DAMAGED):  # what is no pickle, or is cut
        for opcode, argument, place in pickletools.genops(stream):
            if opcode.name == "PROTO" and place != start:  # the next pickle
                break
            if opcode.name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
                memo[len(memo) if argument is None else argument] = value
                continue
            if opcode.name in ("GET", "BINGET", "LONG_BINGET"):
                argument = memo.get(argument or 0)
            value = bytes(argument) if isinstance(argument, bytearray) else argument
            if isinstance(value, bytes) and len(value) > _SHORT:
                yield value
            elif isinstance(value, bytes):
                texts.append(value.decode("utf-8", "replace"))
            elif isinstance(value, str):
                texts.append(value)
            else:
                value = None
    if texts:
        yield " ".join(texts).encode("utf-8", "replace")
