"""What identifies a model: a checksum of all that decides its output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from radeval_lib import checksums
from radeval_lib.models.catalog import revision_of
from radeval_lib.models.pretrained import ADDRESSES, RADGRAPH, locate
from radeval_lib.registry import RULES

_OF_LOADING = {
    "config.json": {"_name_or_path", "transformers_version"},
    "tokenizer_config.json": {"is_local", "local_files_only", "name_or_path", "tokenizer_file"},
    "tokenizer.json": {"padding", "truncation"},  # as of the last call; each of our calls gives its own
}
"""What libraries write beside a model's settings that decides no output, by file."""


def checksum(name: str | Path) -> str:
    """Return SHA-256 of what decides a model's output: its weights, vocabulary and settings.

    It is over the files of a folder, without what they say of how they were loaded or last called; over a hub
    model's name with the revision at which it is loaded; and over the text of a name that the package
    ``radgraph`` or a server resolves, or that needs no weights. A :class:`ModelError` where there is no model
    of that name.
    """
    if str(name) == RULES or str(name).startswith((RADGRAPH, *ADDRESSES)):
        return checksums.of_text(str(name))
    where = locate(name)
    if not Path(where).is_dir():
        revision = revision_of(where)
        return checksums.of_text(f"{where.partition('@')[0]}@{revision}" if revision else where)
    kinds = (".safetensors", ".json", ".txt", ".model")
    files = sorted(path for path in Path(where).glob("*") if path.suffix in kinds)
    return _digest(tuple((path, checksums.state(path)) for path in files))


@lru_cache(maxsize=64)
def _digest(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> str:
    """Return sha256 over files, each with its state, so that a file that changed is read again."""
    digest = hashlib.sha256()
    for path, _ in files:
        digest.update(path.name.encode())
        for block in _deciding(path):
            digest.update(block)
    return digest.hexdigest()


def _deciding(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes; of settings, without what says nothing about the model (:data:`_OF_LOADING`)."""
    if path.name in _OF_LOADING:
        with suppress(ValueError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(content, dict):
                kept = {key: value for key, value in content.items() if key not in _OF_LOADING[path.name]}
                yield json.dumps(kept, sort_keys=True).encode()
                return
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block
