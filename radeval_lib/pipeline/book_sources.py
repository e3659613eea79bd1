"""The files of the book that no notebook makes, as one digest."""

from __future__ import annotations

from radeval_lib import checksums, paths


def prose_digest() -> str:
    """Names prose pages, labs, settings and styles, by their content."""
    prose = [paths.REFERENCES, *(path for path in paths.BOOK.rglob("*") if path.is_file())]
    files = sorted([paths.ROOT / "_config.yml", *prose, *paths.LABS.glob("*.md")])
    return checksums.of_text(
        "\n".join(f"{paths.display_path(one)} {checksums.of_file(one)}" for one in files)
    )
