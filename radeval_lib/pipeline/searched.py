"""Which restricted files were searched for when a book was rendered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from radeval_lib import atomic, checksums
from radeval_lib.data.manifests import find, load_manifest, restricted_in
from radeval_lib.study.profiles import profile

_NOTE = "searched.json"


class Searched(NamedTuple):
    """A file of a restricted data set with its checksum."""

    corpus: str
    file: str
    sha256: str


def files(data_root: Path | None) -> list[Searched]:
    """Return every file of a restricted data set under a data root."""
    return [
        Searched(name, file.path, checksums.of_file(path))
        for name in restricted_in(data_root)
        for file in load_manifest(name).files
        if (path := find(name, data_root, file.path)) is not None
    ]


def note(output_dir: Path, data_root: Path | None) -> None:
    """Remember what the book of a profile was searched for, and how small a count its tables show."""
    content = {"smallest_count": profile(output_dir.name).smallest_count, "files": files(data_root)}
    atomic.write_text(output_dir / _NOTE, json.dumps(content, indent=0) + "\n")


def noted(output_dir: Path) -> tuple[int, list[Searched]]:
    """Return the smallest count and the files of :func:`note`; of a book without a note none."""
    try:
        content = json.loads((output_dir / _NOTE).read_text(encoding="utf-8"))
        return content["smallest_count"], [Searched(*fields) for fields in content["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, []
