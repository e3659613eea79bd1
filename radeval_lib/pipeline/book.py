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

_PICTURE_ENDINGS = (".png", ".jpg", ".ico")
_GENERATED_REPORTS = 20_000  # enough to contain almost all phrases of the generator


class BookError(RadevalError):
    """Raised if Jupyter Book fails or prints a warning."""

    longest = (2000, 80, 300)


def render(output_dir: Path, data_root: Path | None = None, *, judge: bool | None = None) -> Path:
    """Render the book of a build, search it for restricted text, and return the path of its first page.

    If restricted text is found, the book is removed.

    Parameters
    ----------
    output_dir : folder of the build, ``build/<profile>``.
    data_root : folder of data files. The book is searched for the texts of its restricted data sets; if None,
        it is not searched.
    judge : whether to include the page on which readers run the rule-based judge in their browser. By
        default, the page is included if its package has been downloaded
        (:func:`browser_judge.is_downloaded`).

    Raises
    ------
    BookError
        If Jupyter Book fails or prints a warning. Its output is kept in ``book.log`` in ``output_dir``.
    BrowserJudgeError
        If the judge's package has a wrong checksum, or is missing although the judge is to be included.
    NotebookError
        If the table of contents names a page that does not exist.
    ResultError
        If a stored result is incomplete, has changed or is from another version.
    LeakError
        If restricted text, or a file that cannot be searched, is found.
    DataError
        If a table of stored scores, or a file of a restricted data set, is missing, has changed or cannot be
        read.
    """
    judge = browser_judge.is_downloaded() if judge is None else judge
    rendered, unfinished = output_dir / "_build", output_dir / "book.unfinished"
    if unfinished.exists():
        # The last run was killed or stopped at a warning. An incremental run would treat its pages as
        # complete and would not repeat its warnings, so every page is rendered.
        atomic.discard(rendered)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    for suffix in (".md", ".sha256"):  # the release report describes the previous book
        steps.report_path(output_dir).with_suffix(suffix).unlink(missing_ok=True)
    if stage(output_dir / "executed", output_dir / "book", judge=judge):
        atomic.discard(rendered)  # Sphinx would keep removed pages, and old titles in links
    log = output_dir / "book.log"
    if not run_jupyter_book(output_dir, log):
        lines = steps.remove_colours(log.read_text(encoding="utf-8")).splitlines()
        warnings = [line for line in lines if "WARNING" in line or "ERROR" in line]
        remedy = "Correct the page named here. If a package is broken, remove .venv and run `make book`."
        problems = " | ".join((warnings or steps.find_failure(lines))[:5])
        problems = problems.replace(str(output_dir.resolve()), display_path(output_dir))
        raise BookError(f"Jupyter Book stopped: {problems}", display_path(log), remedy)
    search(output_dir, data_root)
    unfinished.unlink()
    return steps.book_index(output_dir)


def search(output_dir: Path, data_root: Path | None) -> None:
    """Search a build for the restricted texts of a data root; remove the files that contain any and the book.

    Nothing is searched if ``data_root`` is None or has no restricted data set.

    Raises
    ------
    LeakError
        If restricted text, or a file that cannot be searched, is found.
    DataError
        If a file of a restricted data set has changed or cannot be read.
    BrowserJudgeError
        If the judge's package has a wrong checksum.
    """
    if data_root and (corpora := guard.list_restricted_texts(data_root)):
        # A restricted text may also be an example on the page about users' own data.
        examples = [page.read_text(encoding="utf-8") for page in BOOK.glob("own.md")]
        public = chain(guard.read_public_texts(data_root), examples)
        allowed = yield_allowed_texts(output_dir)
        guard.remove_leaks(output_dir, guard.scan(output_dir, corpora, public, hash_trusted_files(), allowed))


def hash_trusted_files() -> set[str]:
    """Return the SHA-256 of every file that the search skips because it cannot contain text of the build.

    These files are the pictures in ``book/``, the files of Pyodide (Python for browsers), and the files of
    Sphinx, its themes and its extensions. Raises BrowserJudgeError if Pyodide's package has a wrong checksum.
    """
    site = Path(sphinx.__file__).parents[1]
    sphinx_files = [path for package in site.glob("*sphinx*") for path in package.rglob("*.*")]
    pictures = [path for path in BOOK.rglob("*.*") if path.suffix in _PICTURE_ENDINGS]
    sums = {checksums.of_file(path) for path in [*sphinx_files, *pictures] if path.is_file()}
    return sums | browser_judge.hash_runtime()


def yield_allowed_texts(output_dir: Path) -> Iterator[str]:
    """Yield each text that may be in the book even if a restricted data set also contains it.

    These texts are the sources of pages, manifests and code, the tables of jobs on generated or open data,
    and the sections of 20,000 generated reports.
    """
    folders = (BOOK, NOTEBOOKS, MANIFESTS, Path(__file__).parents[1])
    for path in sorted(path for folder in folders for path in folder.rglob("*.*")):
        if path.suffix in (".md", ".yml", ".csv", ".bib", ".py", ".js", ".css"):
            yield path.read_text(encoding="utf-8", errors="replace")
    for facts in sorted((output_dir / "jobs").rglob(jobs.FACTS)):
        if json.loads(facts.read_text(encoding="utf-8")).get("evidence") in ("synthetic", "open"):
            for table in sorted(facts.parent.glob("*.csv")):
                yield table.read_text(encoding="utf-8")
    for report in generate(_GENERATED_REPORTS, seed=0):  # last, because it takes longest
        yield report.findings.text
        yield report.impression.text


def run_jupyter_book(output_dir: Path, log: Path) -> bool:
    """Render the staged book, and return whether Jupyter Book finished without an error or warning.

    Its output is written to the file ``log``.
    """
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
