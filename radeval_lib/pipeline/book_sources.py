"""What the book is rendered by and of, executed notebooks apart, as digests."""

from __future__ import annotations

from radeval_lib import checksums, paths
from radeval_lib.pipeline import browser_judge
from radeval_lib.study import dependencies


def prose_digest() -> str:
    """Return names prose pages, labs, settings and styles, by their content, and whether one gets its
    judge."""
    prose = [paths.REFERENCES, *(path for path in paths.BOOK.rglob("*") if path.is_file())]
    files = sorted([paths.ROOT / "_config.yml", *prose, *paths.LABS.glob("*.md")])
    named = [f"{paths.display_path(file)} {checksums.of_file(file)}" for file in files]
    return checksums.of_text("\n".join([*named, f"judge {browser_judge.in_reach()}"]))


def renderer_digest() -> str:
    """Return names the code that turns executed notebooks into the book; Sphinx finds its extension by
    name."""
    entries = ["radeval_lib.pipeline.book", "radeval_lib.pipeline.sphinx_extension"]
    return dependencies.modules_digest(dependencies.closure(entries))
