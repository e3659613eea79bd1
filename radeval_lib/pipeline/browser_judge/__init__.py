"""The files of the page on which readers run the rule-based judge in their browser.

Pyodide (Python for the browser) comes from an npm package; ``pyodide.yml`` pins its version and checksum.
``workflow/fetch_pyodide`` downloads it for ``make book`` and ``make open``; this module does not. The judge
itself is a zip archive of the modules that :mod:`radeval_lib.metrics.by_rules` imports, of PyYAML, and of
their YAML files, converted by :func:`radeval_lib.own_yaml.compile_to_json`. The page has the checksum of the
archive, and browsers refuse any other file.
"""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import RadevalError
from radeval_lib.paths import BUILD, ROOT, display_path
from radeval_lib.rules.generator import error_pairs
from radeval_lib.study import dependencies
from radeval_lib.text_format import environment

ENTRY = "radeval_lib.metrics.by_rules"
BOOK_FOLDER = "judge"
"""Folder of these files in the rendered book."""
MARKER = "<!-- the judge in the browser -->"
"""Comment in a prose page that is replaced by the judge."""
MAX_CHARACTERS = 20_000
"""Maximum number of characters of a text that the page accepts."""

_FOLDER = Path(__file__).parent
_SCRIPTS = ("page.js", "worker.js")
# The date of every file in the archive, so that the same files give the same bytes.
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
EXAMPLES: dict[str, tuple[int, list[tuple[str, bool]]]] = {
    "A made-up finding": (3, [("a", True)]),
    "A missing finding": (3, [("b", True)]),
    "Another side": (11, [("c", True)]),
    "Another degree": (0, [("d", True)]),
    "A change left out": (4, [("f", True)]),
    "Several errors": (7, [("a", False), ("b", True), ("c", True), ("d", True)]),
    "An error that the judge misses": (10, [("d", True)]),
}
"""A mapping from the title of each generated example pair to its seed and its candidate's errors: for each,
the letter of its category and whether it is significant."""


class BrowserJudgeError(RadevalError):
    """Raised if the Pyodide package is missing, or differs from the pinned one."""


@lru_cache(maxsize=1)
def read_pin() -> dict[str, Any]:
    """Return the pin of the npm package of Pyodide, the content of ``pyodide.yml``.

    Keys are ``package`` (its name), ``version``, ``sha512`` (of the archive, in base64) and ``files`` (the
    names of the files that the page loads).
    """
    return own_yaml.read(_FOLDER / "pyodide.yml")


def package_path() -> Path:
    """Return the path in the build folder to which ``npm pack`` downloads the package."""
    return BUILD / f"{read_pin()['package']}-{read_pin()['version']}.tgz"


def is_downloaded() -> bool:
    """Return whether the pinned Pyodide package is in the build folder; its checksum is not checked.

    If it is there, the book includes the judge by default.
    """
    return package_path().is_file()


def npm_name() -> str:
    """Return name and version of the package in npm's notation, ``name@version``."""
    return f"{read_pin()['package']}@{read_pin()['version']}"


def download_command() -> str:
    """Return the command that downloads the package, in backticks for a message."""
    return f"`npm pack {npm_name()} --pack-destination {display_path(package_path().parent)}`"


def read_runtime() -> dict[str, bytes]:
    """Return a mapping from the name of each file of the package that the page loads to its content.

    Raises
    ------
    BrowserJudgeError
        If the package is missing, or its checksum differs from the pinned one.
    """
    pin, path = read_pin(), package_path()
    if not path.is_file():
        raise BrowserJudgeError("no such file", display_path(path), f"Run {download_command()}.")
    content = path.read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != pin["sha512"]:
        remedy = f"Remove it and run {download_command()}."
        raise BrowserJudgeError("its SHA-512 differs from the pinned one", display_path(path), remedy)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as packed:
        for name in pin["files"]:
            member = packed.extractfile(f"package/{name}")
            assert member is not None, name  # certain, since the checksum is right
            files[name] = member.read()
    return files


def hash_runtime() -> set[str]:
    """Return the SHA-256 of each file of :func:`read_runtime`; an empty set if the package is missing.

    The search for restricted text skips these files. Raises BrowserJudgeError if the package's checksum
    differs from the pinned one.
    """
    return {checksums.of_bytes(content) for content in read_runtime().values()} if is_downloaded() else set()


def make_archive() -> bytes:
    """Return a zip archive of PyYAML and of the judge's modules and data.

    The same files give the same bytes.
    """
    pyyaml = [(f"yaml/{path.name}", path) for path in Path(yaml.__file__).parent.glob("*.py")]
    judge = dependencies.files_of(dependencies.closure([ENTRY]))
    paths = dict([(path.relative_to(ROOT).as_posix(), path) for path in judge] + pyyaml)
    archive_bytes = io.BytesIO()
    with zipfile.ZipFile(archive_bytes, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in sorted(paths.items()):
            if path.suffix in (".py", ".yml"):
                is_yaml = path.suffix == ".yml"
                content = own_yaml.compile_to_json(path) if is_yaml else path.read_text(encoding="utf-8")
                packed.writestr(zipfile.ZipInfo(name, _FIRST_DAY), content, zipfile.ZIP_DEFLATED)
    return archive_bytes.getvalue()


def make_page_files() -> tuple[dict[str, bytes], str]:
    """Return a mapping from path in the rendered book to content of the judge's files, and a form in HTML.

    Readers enter two reports in the form. Raises BrowserJudgeError if the package of Pyodide is missing
    or has a wrong checksum.
    """
    files = {f"pyodide-{read_pin()['version']}/{name}": content for name, content in read_runtime().items()}
    files |= {name: (_FOLDER / name).read_bytes() for name in _SCRIPTS}
    content = make_archive()
    digest = hashlib.sha256(content).digest()
    name = f"judge-{digest.hex()[:16]}.zip"  # a new name, since browsers cache files by name
    files[name] = content
    template = environment(_FOLDER).get_template("page.html.j2")
    form = template.render(
        place=BOOK_FOLDER,
        archive=name,
        integrity=f"sha256-{base64.b64encode(digest).decode()}",
        runtime=f"pyodide-{read_pin()['version']}",
        entry=ENTRY,
        megabytes=round(sum(map(len, files.values())) / 1e6),
        longest=MAX_CHARACTERS,
        examples=make_examples(),
    )
    # In Markdown, a blank line would end the HTML.
    text = "\n".join(line for line in form.splitlines() if line.strip())
    return {f"{BOOK_FOLDER}/{name}": content for name, content in files.items()}, text


def make_examples() -> list[tuple[str, str, str]]:
    """Return (title, reference, candidate) for each of :data:`EXAMPLES`, a generated pair of chest
    reports."""
    cases = []
    for title, (seed, kinds) in EXAMPLES.items():
        (pair,) = error_pairs(1, seed=seed, errors=kinds, modality_anatomy=("X-Ray", "CHEST"))
        cases.append((title, pair.reference.findings.text, pair.candidate.findings.text))
    return cases
