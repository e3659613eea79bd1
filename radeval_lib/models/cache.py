"""A cache of model outputs on disk, keyed by the models' checksums and the texts' hashes.

Each text is read by a model only once. The content reveals something of the texts, so a cache of restricted
texts belongs in the data root, beside them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from radeval_lib.errors import FileError

_FILE = "cache.sqlite"
_CHUNK = 500  # keys in one question; SQLite may be built to take no more than 999


def text_key(text: str) -> bytes:
    """Return the hash of a text; the text itself is not kept, because it may not be passed on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class BlobCache:
    """Named tables of key -> bytes in one SQLite file, which processes may share.

    A :class:`~radeval_lib.errors.FileError` if the file is damaged or locked, or the disk is full.
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
        values: dict[bytes, bytes] = {}
        wanted = list(keys)
        with _open(self._path) as connection:
            for start in range(0, len(wanted), _CHUNK):
                chunk = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, value FROM {self._table} WHERE key IN ({marks})"
                values.update(connection.execute(query, chunk))
        return values

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep these values; all or, if the process dies, none."""
        with _open(self._path) as connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", values.items())


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection, whose changes stay if the block ends without an error."""
    try:
        with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
            yield connection
    except sqlite3.DatabaseError as error:
        remedy = "See whether its disk is full or another program uses it; else delete it, to be made again."
        raise FileError(f"unusable cache ({error})", path.name, remedy) from error
