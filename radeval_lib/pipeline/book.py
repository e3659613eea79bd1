"""Rendering of the book with Jupyter Book, and the search of the rendered book for restricted text."""

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
_GENERATED = 20_000  # reports; enough for almost all phrases of the generator


class BookError(RadevalError):
    """A failure or warning of Jupyter Book."""

    longest = (2000, 80, 300)


def render(output_dir: Path, data_root: Path | None = None, *, judge: bool | None = None) -> Path:
    """Render the book of a build, search it for restricted text, and return the path of its first page.

    Parameters
    ----------
    output_dir : folder of the build, ``build/<profile>``.
    data_root : folder of data files, whose restricted texts are searched for; None for no search.
    judge : whether to include the page on which readers run the rule-based judge in their browser. None: if
        its package (:func:`browser_judge.package`) exists.

    Raises
    ------
    BookError
        If Jupyter Book fails or prints a warning; its output is in ``book.log``.
    LeakError
        If restricted text is found, see :func:`radeval_lib.data.guard.refuse`.
    """
    judge = browser_judge.is_available() if judge is None else judge
    rendered, unfinished = output_dir / "_build", output_dir / "book.unfinished"
    if unfinished.exists():
        # The last run was killed or stopped at a warning. An incremental run would take its pages as complete
        # and would not repeat its warnings, so everything is rendered anew.
        atomic.discard(rendered)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    for suffix in (".md", ".sha256"):  # the release report is about the former book
        steps.release_report(output_dir).with_suffix(suffix).unlink(missing_ok=True)
    if stage(output_dir / "executed", output_dir / "book", judge=judge):
        atomic.discard(rendered)  # Sphinx would keep removed pages, and old titles in links
    log = output_dir / "book.log"
    if not run_jupyter_book(output_dir, log):
        lines = steps.without_colours(log.read_text(encoding="utf-8")).splitlines()
        warnings = [line for line in lines if "WARNING" in line or "ERROR" in line]
        remedy = "Correct the page named here. If a package is broken, remove .venv and run `make book`."
        problems = " | ".join((warnings or steps.last_words(lines))[:5])
        problems = problems.replace(str(output_dir.resolve()), display_path(output_dir))
        raise BookError(f"Jupyter Book stopped: {problems}", display_path(log), remedy)
    search(output_dir, data_root)
    unfinished.unlink()
    return steps.book_index(output_dir)


def search(output_dir: Path, data_root: Path | None) -> None:
    """Search a build for restricted texts of the data root; raises LeakError if it has any."""
    if data_root and (corpora := guard.restricted_texts(data_root)):
        # A restricted text may also be an example on the page on users' own data.
        examples = [page.read_text(encoding="utf-8") for page in BOOK.glob("own.md")]
        public = chain(guard.public_texts(data_root), examples)
        guard.refuse(
            output_dir, guard.scan(output_dir, corpora, public, trusted_files(), own_texts(output_dir))
        )


def trusted_files() -> set[str]:
    """Return the SHA-256 of files that the search skips, since they cannot contain text of the build.

    These are the book's own pictures, the Python for browsers, and the files of Sphinx, its themes and
    extensions.
    """
    site = Path(sphinx.__file__).parents[1]
    of_sphinx = [path for package in site.glob("*sphinx*") for path in package.rglob("*.*")]
    pictures = [path for path in BOOK.rglob("*.*") if path.suffix in _PICTURES]
    sums = {checksums.of_file(path) for path in [*of_sphinx, *pictures] if path.is_file()}
    return sums | browser_judge.runtime_checksums()


def own_texts(output_dir: Path) -> Iterator[str]:
    """Yield texts that may be in the book although a restricted data set may contain them, too.

    These are the sources of pages and code, the tables of jobs on generated or open data, and generated
    reports.
    """
    folders = (BOOK, NOTEBOOKS, MANIFESTS, Path(__file__).parents[1])
    for path in sorted(path for folder in folders for path in folder.rglob("*.*")):
        if path.suffix in (".md", ".yml", ".csv", ".bib", ".py", ".js", ".css"):
            yield path.read_text(encoding="utf-8", errors="replace")
    for facts in sorted((output_dir / "cells").rglob(jobs.FACTS)):
        if json.loads(facts.read_text(encoding="utf-8")).get("evidence") in ("synthetic", "open"):
            for table in sorted(facts.parent.glob("*.csv")):
                yield table.read_text(encoding="utf-8")
    for report in generate(_GENERATED, seed=0):  # last, because it takes longest
        yield report.findings.text
        yield report.impression.text


def run_jupyter_book(output_dir: Path, log: Path) -> bool:
    """Render the staged book, with output to the file ``log``; return whether it succeeded without a
    warning."""
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
