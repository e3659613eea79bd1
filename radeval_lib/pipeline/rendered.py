"""Whether a rendered book is unchanged: a checksum of every file, kept beside it."""

from __future__ import annotations

import json
from pathlib import Path

from radeval_lib import atomic, checksums

_SUMS = "rendered.json"
_RENDERED = "rendered_from.json"


def folder(output_dir: Path) -> Path:
    """Return the rendered book of a profile's outputs."""
    return output_dir / "_build" / "html"


def index(output_dir: Path) -> Path:
    """Return the rendered book's first page."""
    return folder(output_dir) / "index.html"


def release_report(output_dir: Path) -> Path:
    """Return where the report on the book of a profile's outputs is written unless another place is named."""
    return output_dir.with_name(f"release-{output_dir.name}.md")


def sums_of(report: Path) -> Path:
    """Return the checksums of the book's files that stand beside a report on it."""
    return report.with_suffix(".sha256")


def discard_report(report: Path) -> None:
    """Remove a report with its checksums: what it says does not hold of another book."""
    for path in (report, sums_of(report)):
        path.unlink(missing_ok=True)


def note(output_dir: Path) -> None:
    """Remember the checksum of every file of the book that was just rendered."""
    for name, sums in ((_SUMS, checksums.of_folder(folder(output_dir))), (_RENDERED, _executed(output_dir))):
        atomic.write_text(output_dir / name, json.dumps(sums, indent=0, sort_keys=True) + "\n")


def _executed(output_dir: Path) -> dict[str, str]:
    """Return SHA-256 of every executed notebook, but for those that failed."""
    executed = checksums.of_folder(output_dir / "executed")
    return {name: sha256 for name, sha256 in executed.items() if not name.endswith(".failed.ipynb")}


def is_behind(output_dir: Path) -> bool:
    """Return whether executed notebooks are not those from which the book was rendered."""
    return atomic.read_mapping(output_dir / _RENDERED) != _executed(output_dir)


def changed(output_dir: Path, *, but_index: bool = False) -> list[str]:
    """Return files of the rendered book that changed, are missing, or do not belong to it; empty if it is
    whole.

    A book whose checksums are missing or damaged counts as changed.
    """
    if not (noted := atomic.read_mapping(output_dir / _SUMS)):
        return [_SUMS]
    sums = checksums.of_folder(folder(output_dir))
    names = (noted.keys() | sums.keys()) - ({index(output_dir).name} if but_index else set())
    return sorted(name for name in names if noted.get(name) != sums.get(name))
