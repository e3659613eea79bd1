"""The dependencies of a notebook: modules of the library, data files next to them, manifests, settings.

A notebook depends on what it imports, however indirectly, and on what its front matter declares, as the
resolved profile configures it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from radeval_lib import atomic, checksums, own_yaml, paths, registry
from radeval_lib.data.manifests import names as data_sets
from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.provenance import RELEASED
from radeval_lib.registry import CELL_MODEL
from radeval_lib.study.profiles import Profile, profile
from radeval_lib.study.sources import ALL, Declared, code_of, declared, path_of

PACKAGES = ("radeval_lib", "notebooks")
_ROOTS = {paths.ROOT / name for name in PACKAGES}
_DATA = (".yml", ".json", ".csv", ".tsv", ".txt", ".j2")
_CACHE = paths.BUILD / "cache" / "sources.json"


class Parsed(NamedTuple):
    """The dotted names that a program imports or uses, and the SHA-256 of its behaviour; of a YAML file, of
    its content."""

    names: tuple[str, ...]
    sha256: str


@cache
def _parsed() -> dict[str, Parsed]:
    """Return the earlier analyses of sources, by the SHA-256 of their content and of this code: parsing the
    library takes longer than an idle build may (``make book``, 4 s)."""
    entries = atomic.read_mapping(_CACHE).items()
    return {key: Parsed(tuple(names), sha256) for key, (names, sha256) in entries}


_PARSERS = [checksums.of_file(Path(file)) for file in (__file__, checksums.__file__, own_yaml.__file__)]
_unwritten: list[str] = []


def parse(content: bytes, ending: str) -> Parsed:
    """Return the imports and content of a program or YAML file, told apart by ``ending``
    (:func:`checksums.of_source`, with its errors). Raises SyntaxError for a relative import, too."""
    key = hashlib.sha256(f"{_PARSERS} {sys.version} {ending} ".encode() + content).hexdigest()
    if key not in _parsed():
        names = sorted(set(_imported_names(ast.parse(content)))) if ending == ".py" else []
        _parsed()[key] = Parsed(tuple(names), checksums.of_source(content, ending))
        _unwritten.append(key)
    return _parsed()[key]


def _write_cache() -> None:
    """Write earlier and new analyses to the cache; if it cannot be written, sources are parsed again."""
    if _unwritten:
        with suppress(OSError):
            atomic.write_text(_CACHE, json.dumps(_parsed()) + "\n")
        _unwritten.clear()


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield what a program may import, modules and names in them alike, and ``package.name`` if it uses a
    name of an imported package, ``package.*`` if it uses the package object itself."""
    checking = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    type_only = [part for node in conditions if ast.unparse(node.test) in checking for part in node.body]
    unloaded = {id(part) for node in type_only for part in ast.walk(node)}
    nodes = [node for node in ast.walk(tree) if id(node) not in unloaded]
    imported, used = dict[str, str](), set[int]()
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise SyntaxError("a relative import; write the module's full name")
            imported |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
            yield from (f"{node.module}.{name.name}" for name in node.names)
    for node in nodes:  # an attribute comes before the name in it
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            used.add(id(node.value))
            yield f"{imported[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in imported and id(node) not in used:
            yield f"{imported[node.id]}.*"


@cache
def file_of(name: str) -> Path | None:
    """Return the file of a module of the library or of notebooks; None for any other name."""
    base = paths.ROOT.joinpath(*name.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _modules(name: str) -> Iterator[str]:
    """Yield the modules of the library that importing a name loads, packages above it included."""
    parts = name.split(".")
    if parts[0] in PACKAGES:
        yield from filter(file_of, (".".join(parts[:depth]) for depth in range(1, len(parts) + 1)))


@cache
def _lazy_names(package: str) -> dict[str, str]:
    """Return the module of each name that a package looks up on first use (:mod:`radeval_lib.lazy`)."""
    path = file_of(package)
    if path is None or path.name != "__init__.py":
        return {}
    homes: dict[str, str] = getattr(registry.module(package), "_HOMES", {})
    return {name: home for home, listed in homes.items() for name in listed.split()}


def _reached(names: Iterable[str]) -> set[str]:
    """Return modules that are loaded for names that a program imports or uses."""
    reached = set[str]()
    for name in names:
        reached.update(_modules(name.removesuffix(".*")))
        package, _, used = name.rpartition(".")
        for lazy, home in _lazy_names(package).items():
            if used in ("*", lazy):
                reached.update(_modules(home))
    return reached


@cache
def _direct(module: str) -> set[str]:
    path = file_of(module)
    assert path is not None, module
    return _reached(parse(path.read_bytes(), ".py").names)


def closure(modules: Iterable[str]) -> set[str]:
    """Return these modules and every module that they import, directly or indirectly."""
    reached, waiting = set[str](), set(modules)
    while waiting:
        reached |= waiting
        waiting = set[str]().union(*map(_direct, waiting)) - reached
    _write_cache()
    return reached


def _code(notebook: str) -> Parsed:
    path = path_of(notebook)
    try:
        return parse(code_of(path.read_text(encoding="utf-8")).encode(), ".py")
    except SyntaxError as error:
        problem = f"its code does not parse: {error.msg}"
        raise NotebookError(problem, paths.display_path(path), "Correct its code cells.") from None


def modules_of(notebook: str, settings: Profile, wanted: Declared | None = None) -> set[str]:
    """Return every module of the library that a notebook's numbers can depend on under a profile.

    Parameters
    ----------
    wanted : what it reads, if that is less than its notebook declares.
    """
    wanted = wanted or declared(notebook)
    names = [registry.METRICS[name] for name in wanted.metrics if name in registry.METRICS]
    roles = [role for role in wanted.data if role in registry.ROLES]
    for role in roles:
        names += [registry.ROLES[role].record, *readers(settings.roles.get(role, ""), role)]
    for name in sorted(set(wanted.data) & set(registry.RECORDINGS) & set(registry.READERS)):
        names += ["radeval_lib.data.recorded", registry.RECORDINGS[name], registry.READERS[name]]
    uses = {"data": roles, "models": wanted.models or wanted.metrics, "metrics": wanted.metrics}
    names += [registry.FILLING[kind] for kind, used in uses.items() if used]
    frozen = set(wanted.metrics) & set(registry.FROZEN_METRICS) and data_sets_read(wanted, settings)
    if frozen or (wanted.metrics and data_sets_read(wanted, settings, recorded=True)):
        names.append(registry.RECORDED)
    planned = [notebook, *cells_read(wanted, settings)]
    names += [registry.PLANS[name] for name in planned if name in registry.PLANS]
    return closure(_reached([*_code(notebook).names, *(name.partition(":")[0] for name in names)]))


def readers(source: str, role: str) -> list[str]:
    """Return the readers of a role's source, as ``module:name``."""
    if source == registry.SYNTHETIC:
        return [registry.ROLES[role].generator]
    if registry.is_recorded(source):
        return ["radeval_lib.data.recorded", registry.RECORDINGS[registry.dataset_of(source)]]
    names = [
        registry.READERS.get(name, registry.OWN_READERS["ratings"])
        for name in registry.datasets_of(source)
        if name in data_sets()
    ]
    edits = ["radeval_lib.data.openi", "radeval_lib.data.report_edits"]
    return [*names, *(edits if role == "edited_reports" else [])]


def cells_read(wanted: Declared, settings: Profile) -> list[str]:
    """Return the notebooks with jobs, or a job's model, that a notebook reads."""
    sources = [settings.models.get(role, "") for role in wanted.models]
    made = [source.removeprefix(CELL_MODEL) for source in sources if source.startswith(CELL_MODEL)]
    return list(dict.fromkeys([*wanted.cells, *made]))


def data_sets_read(wanted: Declared, settings: Profile, *, recorded: bool = False) -> list[str]:
    """Return the data sets that a notebook can read under a profile: their files, or their stored scores."""
    names = registry.RECORDINGS if recorded else data_sets()
    sources = [settings.roles.get(role, role) for role in wanted.data]
    of_kind = [source for source in sources if registry.is_recorded(source) == recorded]
    return sorted({name for source in of_kind for name in registry.datasets_of(source)} & set(names))


def papers_read(notebook: str, wanted: Declared) -> list[str]:
    """Return the papers with printed numbers that a page can read: those of its exhibits, and those that it
    declares."""
    if ALL in wanted.papers:
        return [*PAPERS, RELEASED]
    papers = {entry.paper for entry in ledger().values() if entry.notebook == notebook}
    return sorted({*papers, *wanted.papers})


def files_of(modules: Iterable[str]) -> list[Path]:
    """Return the sources of modules and the data files next to them."""
    sources = {path for module in modules if (path := file_of(module)) is not None}
    folders = {path.parent for path in sources} - _ROOTS
    return sorted(sources | {path for folder in folders for path in _beside(folder)})


@cache
def _beside(folder: Path) -> tuple[Path, ...]:
    """Return data files of a package, and of folders in it that are not packages."""
    files: list[Path] = []
    for path in folder.iterdir():
        if path.suffix in _DATA:
            files.append(path)
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            files += _beside(path)
    return tuple(files)


@lru_cache(maxsize=4096)
def digest_of_file(path: Path, state: tuple[int, ...]) -> str:
    """Return the digest of a file: by :func:`parse` for programs and YAML, otherwise SHA-256. It is cached
    for this ``state`` of the file (:func:`radeval_lib.checksums.state`)."""
    is_parsed = path.suffix in (".py", ".yml")
    return parse(path.read_bytes(), path.suffix).sha256 if is_parsed else checksums.of_file(path)


def _digest_of_files(files: Iterable[Path], *others: object) -> str:
    digests = {paths.display_path(path): digest_of_file(path, checksums.state(path)) for path in files}
    _write_cache()
    return checksums.of_text(repr([digests, *others]))


def modules_digest(modules: Iterable[str]) -> str:
    """Return the digest of modules' behaviour and of the data next to them. Comments, docstrings and times of
    change do not count."""
    return _digest_of_files(files_of(modules))


def source_digest(notebook: str, *, page: bool) -> str:
    """Return the digest of a notebook: of its code alone, or for a page, which shows its prose, of the whole
    source."""
    text = path_of(notebook).read_text(encoding="utf-8")
    return checksums.of_text(repr(text)) if page else _code(notebook).sha256


def papers_settings_digest(wanted: Declared) -> str:
    """Return the digest of the papers' own settings (profile ``full``) in the sections that a page declares.
    Pages compare these settings with those of their build."""
    sections = profile("full").experiments
    return checksums.of_text(repr({name: sections.get(name) for name in wanted.settings}))


def manifests_digest(notebook: str, settings: Profile, wanted: Declared, *, page: bool) -> str:
    """Return the digest of the manifests that a notebook can read: its data sets', those of models if it uses
    any, and for a page those of its papers."""
    stored = data_sets_read(wanted, settings, recorded=True)
    sets = sorted({*data_sets_read(wanted, settings), *stored})
    files = [path for name in sets if (path := paths.DATASETS / f"{name}.yml").is_file()]
    files += [path for name in sets for path in paths.RECORDED.glob(f"{name}[._]*")]
    if wanted.uses_models or not page:
        files += paths.MODELS.glob("*.yml")
    findings: list[object] = []
    if page:
        for paper in papers_read(notebook, wanted):
            folder = paths.MANIFESTS / RELEASED if paper == RELEASED else paths.PAPERS / paper
            files += [path for path in folder.rglob("*") if path.is_file()]
        headlines = own_yaml.read(paths.MANIFESTS / "headlines.yml").values()
        findings += [entry for entry in headlines if entry["notebook"] == notebook or ALL in wanted.results]
    return _digest_of_files(sorted(files), findings)
