"""The pages that can be read while the others are made, as a fresh clone shows them."""

from __future__ import annotations

import shutil
from pathlib import Path

from radeval_lib.paths import BOOK
from radeval_lib.pipeline import book, steps
from radeval_lib.pipeline.staging import list_pages
from workflow.check_site import find_dead_links


def _rendered(output: Path) -> Path:
    """Return folder of the first pages, rendered from those of the whole book; it fails at any warning."""
    first = steps.graph("smoke", no_jobs=True)
    for page in first.pages:
        shutil.copytree(first.output_dir / "results" / page, output / "results" / page)
        executed = output / "executed" / f"{page}.ipynb"
        executed.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(first.output_dir / "executed" / f"{page}.ipynb", executed)
    assert book.render(output) == steps.book_index(output)
    return steps.book_folder(output)


def test_the_first_edition_has_no_warning_and_says_what_follows(
    smoke: Path, first_html: Path | None, tmp_path: Path
) -> None:
    whole, first = steps.graph("smoke"), steps.graph("smoke", no_jobs=True)
    html = first_html or _rendered(tmp_path / "smoke")
    pages = {
        name: (html / f"{name}.html").read_text(encoding="utf-8") for name in list_pages(BOOK / "_toc.yml")
    }
    assert not [name for name, text in pages.items() if "Not here" in text]
    missing = {f"notebooks/{page}" for page in whole.pages} - {f"notebooks/{page}" for page in first.pages}
    assert missing == {name for name, text in pages.items() if "This page is not built yet." in text}
    # What spans the papers was made with all results, and links to places on pages that follow.
    dead = find_dead_links(html, list(pages))
    assert not [link for link in dead if not any(f"/{page}.html#" in link for page in missing)]
