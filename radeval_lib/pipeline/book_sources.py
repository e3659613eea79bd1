"""The files of the book that no notebook makes, as one digest."""

from __future__ import annotations

from radeval_lib import checksums, paths
from radeval_lib.pipeline import browser_judge


def prose_digest() -> str:
    """Names prose pages, labs, settings and styles, by their content, and whether one gets its judge."""
    prose = [paths.REFERENCES, *(path for path in paths.BOOK.rglob("*") if path.is_file())]
    files = sorted([paths.ROOT / "_config.yml", *prose, *paths.LABS.glob("*.md")])
    named = [f"{paths.display_path(file)} {checksums.of_file(file)}" for file in files]
    return checksums.of_text("\n".join([*named, f"judge {browser_judge.in_reach()}"]))
