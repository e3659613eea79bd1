"""The streams of bytes in a file, and why a file is refused; used by the guard.

A file is its own stream, or an archive of others. What no person reads, and a build leaves nonetheless, is
searched for the text that stands plain in it; every other kind of file that is not text is refused.
"""

from __future__ import annotations

import bz2
import enum
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

MOST = 1 << 28  # bytes that are unpacked of one file
DEEPEST = 3  # archives within archives
_DAMAGED = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError, NotImplementedError,
            LookupError, zipfile.BadZipFile, tarfile.TarError)  # fmt: skip
_COMPRESSED: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_TAR = slice(257, 262)
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
# Sphinx's own records, weights and vocabularies of models, checkpoints and caches.
_OWN = re.compile(r"(?:^|/)\.doctrees/|(?:^|/)objects\.inv$|\.(?:safetensors|model|pt|sqlite(?:-\w+)?)$")
_BLOCK = 64  # bytes of a file that is not text that hold some or not
_LETTERED = 0.35  # share of letters in text among other bytes; among random bytes it is a fifth
_CONTROLS = bytes(byte if byte >= 32 or byte in b"\t\n\r" else 32 for byte in range(256))


class Unreadable(enum.Enum):
    """Why a file is refused without a text of it being known."""

    PICTURE = "a picture, whose words cannot be read"
    ENCODED = "a file is encoded in it, whose words cannot be read"
    PACKED = "too much is packed in it to be read"
    DAMAGED = "an archive that is damaged or encrypted"
    OTHER = "neither text in UTF-8 nor another kind of file that is searched"


class _RefusedError(Exception):
    """Part of a file for which all of it is refused; its argument is :class:`Unreadable`."""


@dataclass
class _Budget:
    """The bytes that may still be unpacked of a file."""

    left: int

    def read(self, stream: IO[bytes]) -> bytes:
        content = stream.read(self.left + 1)
        self.left -= len(content)
        if self.left < 0:
            raise _RefusedError(Unreadable.PACKED)
        return content


def texts(content: bytes, name: str = "") -> Iterator[str | Unreadable]:
    """Yield the texts of a file's streams and the names of its members; at its end why it is refused, if it
    is."""
    try:
        for inner, stream in _streams(content, name, _Budget(MOST), 0):
            yield _text(stream, inner)
    except _RefusedError as refused:
        yield refused.args[0]


def _streams(content: bytes, name: str, budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    """Yield a stream that is not an archive with its name, or those of an archive's members and of their
    names."""
    members: list[tuple[str, bytes]] = []
    opener = next((opener for mark, opener in _COMPRESSED.items() if content.startswith(mark)), None)
    try:
        if opener:
            members = [("", budget.read(opener(io.BytesIO(content))))]
        elif content.startswith(b"PK\3\4"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [(one, budget.read(archive.open(one))) for one in archive.namelist()]
        elif content[_TAR] == b"ustar":
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as bundle:
                opened = ((one.name, bundle.extractfile(one)) for one in bundle)
                members = [(one, budget.read(stream) if stream else b"") for one, stream in opened]
        else:
            yield name, content
            return
    except _DAMAGED:
        raise _RefusedError(Unreadable.DAMAGED) from None
    if depth == DEEPEST:
        raise _RefusedError(Unreadable.PACKED)
    yield "", "\n".join(one for one, _ in members).encode("utf-8", "replace")
    for one, inner in members:
        yield from _streams(inner, f"{name}/{one}" if one else name, budget, depth + 1)


def _text(content: bytes, name: str) -> str:
    if _PICTURE.match(content, 0, 1200):
        raise _RefusedError(Unreadable.PICTURE)
    if _OWN.search(name):
        return _lettered(content).translate(_CONTROLS).decode("utf-8", "replace")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise _RefusedError(Unreadable.OTHER) from None
    if "\0" in text:
        raise _RefusedError(Unreadable.OTHER)
    return text


def _lettered(content: bytes) -> bytes:
    """Return the blocks of bytes that hold more letters than chance would have it, and those beside them."""
    signs = np.frombuffer(content.ljust(-(-len(content) // _BLOCK) * _BLOCK, b"\0"), np.uint8)
    blocks = signs.reshape(-1, _BLOCK)
    letters = ((blocks | 32) - ord("a") < 26).sum(axis=1)
    rich = (letters > 0) & (letters >= _LETTERED * (blocks != 0).sum(axis=1))
    rich[1:] |= rich[:-1].copy()
    rich[:-1] |= rich[1:].copy()
    return blocks[rich].tobytes()
