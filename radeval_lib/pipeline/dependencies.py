"""What a step depends on: the modules that its notebook imports, through however many others, and their
data."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from radeval_lib import checksums, metrics, paths
from radeval_lib.errors import NotebookError
from radeval_lib.pipeline.imports import code_of, imports_of
from radeval_lib.study import cells
from radeval_lib.study.declarations import declared

PACKAGE = "radeval_lib"
_SOURCES = paths.ROOT / PACKAGE
_DATA = (".yml", ".json", ".csv", ".tsv", ".txt")


@cache
def _file(name: str) -> Path | None:
    """The file of a module of the library, or None where the name is of no module."""
    base = paths.ROOT.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _modules(names: Iterable[str]) -> Iterator[str]:
    """Modules of the library that are loaded when these names are imported, packages above them included."""
    for name in names:
        parts = name.split(".")
        if parts[0] == PACKAGE:
            yield from (
                ".".join(parts[:depth])
                for depth in range(1, len(parts) + 1)
                if _file(".".join(parts[:depth]))
            )


@lru_cache(maxsize=1024)
def _direct(module: str) -> frozenset[str]:
    path = _file(module)
    assert path is not None, module
    return frozenset(_modules(imports_of(ast.parse(path.read_text(encoding="utf-8"))))) - {module}


@cache
def _homes(package: str) -> dict[str, str]:
    """Where a package looks names up when they are first used (its ``_HOMES``): the module of each."""
    if (path := _file(package)) is None or path.name != "__init__.py":
        return {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            homes: dict[str, str] = ast.literal_eval(node.value)
            return {name: home for home, names in homes.items() for name in names.split()}
    return {}


def _looked_up(name: str) -> set[str]:
    """Modules that are loaded later, for what is imported: a name of a package, or a package whole."""
    package, _, last = name.rpartition(".")
    wanted = _homes(package).get(last)
    return {wanted} if wanted else set(_homes(name).values())


def closure(modules: Iterable[str]) -> set[str]:
    """These modules and every one that they import, however indirectly."""
    found, waiting = set[str](), list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _direct(module) - found
    return found


def modules_of(notebook: str) -> set[str]:
    """Every module of the library that a notebook's numbers can depend on.

    What it names by declaration counts as imported: metrics, and the plans of the cells that it reads.
    """
    path = paths.NOTEBOOKS / f"{notebook}.md"
    try:
        names = set(imports_of(ast.parse(code_of(path.read_text(encoding="utf-8")))))
    except SyntaxError as error:
        raise NotebookError(f"its code does not parse: {error.msg}", paths.display_path(path)) from None
    roots = set(_modules(names))
    wanted = declared(notebook)
    roots |= {metrics.get(name).__module__ for name in wanted.metrics}
    if wanted.cells or wanted.models:
        roots |= set(cells.plans())
    roots.update(*(_modules(_looked_up(name)) for name in names))
    return closure(roots)


def files_of(modules: Iterable[str]) -> list[Path]:
    """The sources of modules, and the data files that stand with them."""
    sources = {path for module in modules if (path := _file(module)) is not None}
    folders = {path.parent for path in sources} - {_SOURCES}
    data = {path for folder in folders for path in _beside(folder)}
    return sorted(sources | data)


@cache
def _beside(folder: Path) -> tuple[Path, ...]:
    """Data files of a package, and of folders in it that are no packages."""
    found: list[Path] = []
    for path in folder.iterdir():
        if path.suffix in _DATA:
            found.append(path)
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            found += _beside(path)
    return tuple(found)


def digest(paths: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files of the repository."""
    summed = hashlib.sha256()
    for path in sorted(paths):
        facts = path.stat()
        summed.update(_named_sum(path, (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)))
    return summed.hexdigest()


@lru_cache(maxsize=4096)
def _named_sum(path: Path, _facts: tuple[int, int, int]) -> bytes:
    return f"{paths.display_path(path)} {checksums.of_file(path)}\n".encode()


def code_digest(notebook: str) -> str:
    """Names the code that a notebook's numbers depend on: its own, and that of the library.

    Files are told by their content, never by their times: an edit may carry an old one, as `cp -p` leaves it.
    """
    return digest([paths.NOTEBOOKS / f"{notebook}.md", *files_of(modules_of(notebook))])


def prose_digest() -> str:
    """Names the files of the book that no notebook makes: prose pages, labs, settings, styles."""
    prose = [paths.REFERENCES, *(path for path in paths.BOOK.rglob("*") if path.is_file())]
    return digest([paths.ROOT / "_config.yml", *prose, *paths.LABS.glob("*.md")])


@cache
def manifests_digest(*, page: bool) -> str:
    """Names the manifests that a cell can read, those of data and models, or a page, those of papers too."""
    folders = [paths.DATASETS, paths.MANIFESTS / "models"]
    if page:
        folders += [paths.PAPERS, paths.MANIFESTS / "released"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return digest(files + ([paths.LEDGER] if page else []))


def data_digest(data_root: Path | None) -> str:
    """Names the files of a data root by their places, sizes and times, those of the last change of a file's
    state included, which no copying sets back; empty where there is none."""
    if data_root is None:
        return ""
    summed = hashlib.sha256()
    for path in sorted(path for path in data_root.rglob("*") if path.is_file()):
        facts = path.stat()
        place = path.relative_to(data_root).as_posix()
        fingerprint = f"{place} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}\n"
        summed.update(fingerprint.encode("utf-8", "surrogateescape"))
    return summed.hexdigest()
