"""Where a rendered book is, and what it is rendered from beside executed notebooks."""

from __future__ import annotations

from pathlib import Path

from radeval_lib import checksums, paths
from radeval_lib.study import dependencies


def folder(output_dir: Path) -> Path:
    """Return the rendered book of a profile's outputs."""
    return output_dir / "_build" / "html"


def index(output_dir: Path) -> Path:
    """Return the rendered book's first page."""
    return folder(output_dir) / "index.html"


def prose_digest(*, judge: bool) -> str:
    """Return a digest of prose pages, labs, settings and styles by their content, and of whether the book has
    the judge for browsers."""
    prose = [paths.REFERENCES, *(path for path in paths.BOOK.rglob("*") if path.is_file())]
    files = sorted([paths.ROOT / "_config.yml", *prose, *paths.LABS.glob("*.md")])
    lines = [f"{paths.display_path(file)} {checksums.of_file(file)}" for file in files]
    return checksums.of_text("\n".join([*lines, f"judge {judge}"]))


def renderer_digest() -> str:
    """Return a digest of the code that turns executed notebooks into the book; Sphinx finds its extension by
    name."""
    entries = ["radeval_lib.pipeline.book", "radeval_lib.pipeline.sphinx_extension"]
    return dependencies.modules_digest(dependencies.closure(entries))


def release_report(output_dir: Path) -> Path:
    """Return the default path of the report on the book of a profile's outputs."""
    return output_dir.with_name(f"release-{output_dir.name}.md")
