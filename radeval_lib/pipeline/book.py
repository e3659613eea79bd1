"""Render the staged book with Jupyter Book, warnings as errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import sphinx

from radeval_lib import atomic, checksums
from radeval_lib.data import guard
from radeval_lib.errors import RadevalError
from radeval_lib.paths import BOOK, MANIFESTS, NOTEBOOKS, display_path
from radeval_lib.pipeline import browser_judge, forkserver, steps
from radeval_lib.pipeline.staging import stage
from radeval_lib.rules.generator.generator import generate
from radeval_lib.study import jobs

_PICTURES = (".png", ".jpg", ".ico")
_GENERATED = 20_000  # reports, for the phrases that the generator makes


class BookError(RadevalError):
    """A warning or failure of Jupyter Book."""

    longest = (2000, 80, 300)


def render(output_dir: Path, data_root: Path | None = None, *, judge: bool | None = None) -> Path:
    """Stage and render one profile's book, search it for restricted text, and return its first page.
    ``judge`` adds the judge for browsers (None: if its package is available).

    Raises
    ------
    BookError
        If Jupyter Book fails or warns of anything; ``book.log`` has all of it.
    LeakError
        If restricted text is in the book, see :func:`guard.refuse`.
    """
    judge = browser_judge.in_reach() if judge is None else judge
    made, unfinished = output_dir / "_build", output_dir / "book.unfinished"
    if unfinished.exists():
        # A render that was killed, or stopped at a warning, leaves pages that look done and warnings that an
        # incremental run would not repeat: start over.
        atomic.discard(made)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    for suffix in (".md", ".sha256"):  # what they say does not hold of another book
        steps.release_report(output_dir).with_suffix(suffix).unlink(missing_ok=True)
    if stage(output_dir / "executed", output_dir / "book", judge=judge):
        atomic.discard(made)  # else Sphinx would leave the page of a source that is gone, and old titles
    log = output_dir / "book.log"
    if not run_jupyter_book(output_dir, log):
        lines = steps.without_colours(log.read_text(encoding="utf-8")).splitlines()
        warnings = [line for line in lines if "WARNING" in line or "ERROR" in line]
        remedy = "Correct the page that it names. If a package is broken, remove .venv and run `make`."
        problems = " | ".join((warnings or steps.last_words(lines))[:5])
        problems = problems.replace(str(output_dir.resolve()), display_path(output_dir))
        raise BookError(f"Jupyter Book stopped: {problems}", display_path(log), remedy)
    search(output_dir, data_root)
    unfinished.unlink()
    return steps.book_index(output_dir)


def search(output_dir: Path, data_root: Path | None) -> None:
    """Search a build for restricted text from ``data_root``, see :func:`guard.refuse`."""
    if data_root and (corpora := guard.restricted_texts(data_root)):
        # A corpus may repeat the examples of the page on users' own data.
        examples = [page.read_text(encoding="utf-8") for page in BOOK.glob("own.md")]
        public = chain(guard.public_texts(data_root), examples)
        guard.refuse(
            output_dir, guard.scan(output_dir, corpora, public, trusted_files(), own_texts(output_dir))
        )


def trusted_files() -> set[str]:
    """Return the SHA-256 of a book's files that come from elsewhere and hold no page: its own pictures, the
    Python of the browser judge, and files of Sphinx, its themes and extensions."""
    site = Path(sphinx.__file__).parents[1]
    brought = [path for package in site.glob("*sphinx*") for path in package.rglob("*.*")]
    pictures = [path for path in BOOK.rglob("*.*") if path.suffix in _PICTURES]
    sums = {checksums.of_file(path) for path in [*brought, *pictures] if path.is_file()}
    return sums | browser_judge.sums()


def own_texts(output_dir: Path) -> Iterator[str]:
    """Yield the study's own texts: sources of pages, generated reports, and the tables of jobs based on these
    or on open data."""
    folders = (BOOK, NOTEBOOKS, MANIFESTS, Path(__file__).parents[1])
    for path in sorted(path for folder in folders for path in folder.rglob("*.*")):
        if path.suffix in (".md", ".yml", ".csv", ".bib", ".py", ".js", ".css"):
            yield path.read_text(encoding="utf-8", errors="replace")
    for facts in sorted((output_dir / "cells").rglob(jobs.FACTS)):
        if json.loads(facts.read_text(encoding="utf-8")).get("evidence") in ("synthetic", "open"):
            for table in sorted(facts.parent.glob("*.csv")):
                yield table.read_text(encoding="utf-8")
    for report in generate(_GENERATED, seed=0):  # last, for it takes longest
        yield report.findings.text
        yield report.impression.text


def run_jupyter_book(output_dir: Path, log: Path) -> bool:
    """Render the staged book and return whether there was no warning; output goes to ``log``."""
    command = [
        sys.executable, "-c", "from jupyter_book.cli.main import main; main()",
        "build", str(output_dir / "book"), "--path-output", str(output_dir),
        "--warningiserror", "--nitpick", "--keep-going", "--quiet",
    ]  # fmt: skip
    with log.open("w", encoding="utf-8") as stream:
        status = subprocess.call(
            command, stdout=stream, stderr=subprocess.STDOUT, preexec_fn=forkserver.kill_on_parent_exit
        )
    return status == 0 and steps.book_index(output_dir).is_file()
