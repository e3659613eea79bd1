"""What models said of texts, kept on disk under the models' checksums and the texts' hashes.

A text is read once ever. What is kept tells of the texts: a cache of restricted ones belongs where they are,
in the data root.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.loading import ModelError

_CHUNK = 500


def text_key(text: str) -> bytes:
    """Hash of a text; the text itself is not kept, because it may be one that must not be passed on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class BlobCache:
    """Named tables of key -> bytes in one SQLite file, which processes may share.

    Parameters
    ----------
    folder : where the file ``cache.sqlite`` lies; made if need be.
    table : what the values depend on beside the text: the kind, the model's checksum, the settings.

    Raises
    ------
    ModelError
        If the folder cannot be written, or the file is not such a cache.
    """

    def __init__(self, folder: str | Path, table: str) -> None:
        self._path = Path(folder) / "cache.sqlite"
        self._table = "t" + hashlib.sha256(table.encode()).hexdigest()[:32]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection, connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {self._table} "
                    "(key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
                )
        except (OSError, sqlite3.DatabaseError) as error:
            remedy = "Delete the file, or give another folder."
            raise ModelError(f"unusable cache ({error})", self._path.name, remedy) from error

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=60)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that there are."""
        found: dict[bytes, bytes] = {}
        wanted = list(keys)
        with closing(self._connect()) as connection:
            for start in range(0, len(wanted), _CHUNK):
                chunk = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                found.update(
                    connection.execute(f"SELECT key, value FROM {self._table} WHERE key IN ({marks})", chunk)
                )
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep these values; all or, if the process dies, none."""
        with closing(self._connect()) as connection, connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", values.items())


def to_bytes(vector: NDArray[np.float32]) -> bytes:
    """A vector as little-endian float32."""
    return vector.astype("<f4").tobytes()


def from_bytes(value: bytes) -> NDArray[np.float32]:
    """The vector again."""
    return np.frombuffer(value, dtype="<f4")
