"""A cache of model outputs on disk, keyed by the models' checksums and the texts' hashes.

Each text is read by a model only once. The content reveals something of the texts, so a cache of restricted
texts belongs in the data root, beside them.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import FileError

_FILE = "cache.sqlite"
_CHUNK = 500  # keys in one question; SQLite may be built to take no more than 999
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_OF_BYTES = "typeof(key) = 'blob' AND typeof(value) = 'blob'"
"""What is true of every row, save where the file is damaged."""


def text_key(text: str) -> bytes:
    """Hash of a text; the text itself is not kept, because it may be one that must not be passed on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class BlobCache:
    """Named tables of key -> bytes in one SQLite file, which processes may share.

    A :class:`~radeval_lib.errors.FileError` where the file is damaged or locked, an :class:`OSError` where
    the disk is full.
    """

    def __init__(self, folder: str | Path, table: str) -> None:
        self._path = Path(folder) / _FILE
        self._table = "t" + hashlib.sha256(table.encode()).hexdigest()[:32]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _open(self._path) as connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that there are."""
        found: dict[bytes, bytes] = {}
        wanted = list(keys)
        with _open(self._path) as connection:
            for start in range(0, len(wanted), _CHUNK):
                chunk = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                wish = f"SELECT key, value FROM {self._table} WHERE key IN ({marks}) AND {_OF_BYTES}"
                found.update(connection.execute(wish, chunk))
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep these values; all or, if the process dies, none."""
        with _open(self._path) as connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", values.items())


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection, whose changes stay if the block ends without an error; failures are raised as
    ours."""
    try:
        with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
            yield connection
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        remedy = "See whether its disk is full, or another program uses it."
        if code in _DAMAGED:
            remedy = f"Delete {path}, or give another folder; what it holds will be made again."
        raise FileError(f"unusable cache ({error})", path.name, remedy) from error


def to_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a vector, shape (h,), as little-endian float32."""
    return vector.astype("<f4").tobytes()


def from_bytes(value: bytes) -> NDArray[np.float32]:
    """Return the vector, float32, shape (h,), of :func:`to_bytes`."""
    return np.frombuffer(value, dtype="<f4")
