"""The dependencies of a notebook, and digests that change if one of them does.

A notebook depends on the modules that it imports, directly or indirectly, with the data files next to them,
and on what its front matter declares: the data, models, metrics, manifests and settings that its profile
configures.
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
from radeval_lib.registry import JOB_MODEL
from radeval_lib.study.profiles import Profile, profile
from radeval_lib.study.sources import ALL, Declared, code_of, declared, path_of

PACKAGES = ("radeval_lib", "notebooks")
_ROOTS = {paths.ROOT / name for name in PACKAGES}
_DATA = (".yml", ".json", ".csv", ".tsv", ".txt", ".j2")
_CACHE = paths.BUILD / "cache" / "sources.json"


class Analysis(NamedTuple):
    """The names and the digest of a source file.

    ``names`` are the dotted names that a program imports or uses; empty for a YAML file. ``sha256`` is the
    SHA-256 of the program without comments and docstrings, or of the content of a YAML file.
    """

    names: tuple[str, ...]
    sha256: str


@cache
def _load_analyses() -> dict[str, Analysis]:
    """Return the cached analyses, a mapping from key (:func:`parse`) to analysis.

    Without the cache, parsing would take longer than the 4 s that an idle ``make book`` may take.
    """
    entries = atomic.read_mapping(_CACHE).items()
    return {key: Analysis(tuple(names), sha256) for key, (names, sha256) in entries}


# The digests of the modules that make an analysis, so that a change of one of them empties the cache.
_VERSIONS = [checksums.of_file(Path(file)) for file in (__file__, checksums.__file__, own_yaml.__file__)]
_new_keys: list[str] = []


def parse(content: bytes, suffix: str) -> Analysis:
    """Return the analysis of a program (``suffix`` ``.py``) or YAML file (``.yml``), from the cache if the
    same content was analysed before.

    Raises
    ------
    SyntaxError
        If a program does not parse or has a relative import.
    ValueError, yaml.YAMLError
        If a YAML file is not UTF-8, or :func:`radeval_lib.own_yaml.parse` cannot read it.
    """
    key = hashlib.sha256(f"{_VERSIONS} {sys.version} {suffix} ".encode() + content).hexdigest()
    if key not in _load_analyses():
        names = sorted(set(_find_imported_names(ast.parse(content)))) if suffix == ".py" else []
        _load_analyses()[key] = Analysis(tuple(names), checksums.of_source(content, suffix))
        _new_keys.append(key)
    return _load_analyses()[key]


def _write_cache() -> None:
    """Write all analyses to the cache if there are new ones; if that fails, the next run parses again."""
    if _new_keys:
        with suppress(OSError):
            atomic.write_text(_CACHE, json.dumps(_load_analyses()) + "\n")
        _new_keys.clear()


def _find_imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a program imports and uses, except those only for type checking.

    ``from a import b`` yields ``a.b``, whether ``b`` is a module or not. The use of ``b.c`` yields ``a.b.c``;
    the use of ``b`` without an attribute yields ``a.b.*``. Raises SyntaxError on a relative import.
    """
    guards = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    type_only = [part for node in conditions if ast.unparse(node.test) in guards for part in node.body]
    skipped = {id(part) for node in type_only for part in ast.walk(node)}
    nodes = [node for node in ast.walk(tree) if id(node) not in skipped]
    imported, ids_with_attribute = dict[str, str](), set[int]()
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise SyntaxError(f"relative import in line {node.lineno}; write the module's full name")
            imported |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
            yield from (f"{node.module}.{name.name}" for name in node.names)
    for node in nodes:  # ast.walk yields an attribute before the name in it
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            ids_with_attribute.add(id(node.value))
            yield f"{imported[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in imported and id(node) not in ids_with_attribute:
            yield f"{imported[node.id]}.*"


@cache
def file_of(name: str) -> Path | None:
    """Return the file of a module of the library or of notebooks; None for any other name."""
    base = paths.ROOT.joinpath(*name.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _list_modules(name: str) -> Iterator[str]:
    """Yield the modules of the library or of notebooks that importing a dotted name loads, with the parent
    packages."""
    parts = name.split(".")
    if parts[0] in PACKAGES:
        yield from filter(file_of, (".".join(parts[:depth]) for depth in range(1, len(parts) + 1)))


@cache
def _find_lazy_names(package: str) -> dict[str, str]:
    """Return a mapping from each name that a package imports on first use
    (:func:`radeval_lib.registry.import_on_use`) to its module; empty if there is no such name."""
    path = file_of(package)
    if path is None or path.name != "__init__.py":
        return {}
    homes: dict[str, str] = getattr(registry.module(package), "_HOMES", {})
    return {name: home for home, names in homes.items() for name in names.split()}


def _find_loaded_modules(names: Iterable[str]) -> set[str]:
    """Return the modules that a program loads by importing or using these dotted names
    (:func:`_find_imported_names`)."""
    modules = set[str]()
    for name in names:
        modules.update(_list_modules(name.removesuffix(".*")))
        package, _, attribute = name.rpartition(".")
        for lazy_name, home in _find_lazy_names(package).items():
            if attribute in ("*", lazy_name):
                modules.update(_list_modules(home))
    return modules


@cache
def _find_direct_imports(module: str) -> set[str]:
    """Return the modules that a module imports directly."""
    path = file_of(module)
    assert path is not None, module
    return _find_loaded_modules(parse(path.read_bytes(), ".py").names)


def closure(modules: Iterable[str]) -> set[str]:
    """Return the names of these modules and of every module of the library or of notebooks that they import,
    directly or indirectly."""
    result, queue = set[str](), set(modules)
    while queue:
        result |= queue
        queue = set[str]().union(*map(_find_direct_imports, queue)) - result
    _write_cache()
    return result


def _parse_cells(notebook: str) -> Analysis:
    """Return the analysis of a notebook's code cells; raise NotebookError if they do not parse."""
    path = path_of(notebook)
    try:
        return parse(code_of(path.read_text(encoding="utf-8")).encode(), ".py")
    except SyntaxError as error:
        problem = f"a code cell does not parse: {error.msg}{f' ({error.text.strip()})' if error.text else ''}"
        raise NotebookError(problem, paths.display_path(path), "Correct the syntax.") from None


def modules_of(notebook: str, settings: Profile, inputs: Declared | None = None) -> set[str]:
    """Return the names of all modules that a notebook's numbers can depend on.

    Parameters
    ----------
    notebook : the notebook's path below ``notebooks/`` without the extension.
    settings : the profile, which decides the readers of data and the jobs that make models.
    inputs : the inputs that are read; by default, all that the notebook declares.

    Raises
    ------
    NotebookError
        If the notebook's front matter is not valid, or its code cells do not parse.
    """
    inputs = inputs or declared(notebook)
    names = [registry.METRICS[name] for name in inputs.metrics if name in registry.METRICS]
    roles = [role for role in inputs.data if role in registry.ROLES]
    for role in roles:
        names += [registry.ROLES[role].record, *readers(settings.roles.get(role, ""), role)]
    for name in sorted(set(inputs.data) & set(registry.RECORDINGS) & set(registry.READERS)):
        names += ["radeval_lib.data.recorded", registry.RECORDINGS[name], registry.READERS[name]]
    uses = {"data": roles, "models": inputs.models or inputs.metrics, "metrics": inputs.metrics}
    names += [registry.LOADERS[kind] for kind, names_used in uses.items() if names_used]
    has_frozen = set(inputs.metrics) & set(registry.FROZEN_METRICS) and data_sets_read(inputs, settings)
    if has_frozen or (inputs.metrics and data_sets_read(inputs, settings, recorded=True)):
        names.append(registry.STORED_SCORES)
    job_notebooks = [notebook, *list_job_notebooks(inputs, settings)]
    names += [registry.PLANS[name] for name in job_notebooks if name in registry.PLANS]
    names += _parse_cells(notebook).names
    return closure(_find_loaded_modules(name.partition(":")[0] for name in names))


def readers(source: str, role: str) -> list[str]:
    """Return the names of the functions (``module:name``) and modules that read a role's data from a source.

    If the source is neither the generator nor a stored set and names no data set, the list is empty except
    for the modules that edit reports, which it has for the role ``edited_reports``.
    """
    if source == registry.SYNTHETIC:
        return [registry.ROLES[role].generator]
    if registry.is_recorded(source):
        return ["radeval_lib.data.recorded", registry.RECORDINGS[registry.dataset_of(source)]]
    names = [
        registry.READERS.get(name, registry.OWN_READERS["ratings"])
        for name in registry.datasets_of(source)
        if name in data_sets()
    ]
    edit_modules = ["radeval_lib.data.openi", "radeval_lib.data.report_edits"]
    return [*names, *(edit_modules if role == "edited_reports" else [])]


def list_job_notebooks(inputs: Declared, settings: Profile) -> list[str]:
    """Return the notebooks whose jobs a notebook reads: those that it declares, and those that make its
    models."""
    sources = [settings.models.get(role, "") for role in inputs.models]
    model_jobs = [source.removeprefix(JOB_MODEL) for source in sources if source.startswith(JOB_MODEL)]
    return list(dict.fromkeys([*inputs.jobs, *model_jobs]))


def data_sets_read(inputs: Declared, settings: Profile, *, recorded: bool = False) -> list[str]:
    """Return the sorted names of the data sets that a notebook can read under a profile.

    With ``recorded``, they are the stored sets that are sources of the declared roles, otherwise the data
    sets whose files the notebook can read.
    """
    names = registry.RECORDINGS if recorded else data_sets()
    sources = [settings.roles.get(role, role) for role in inputs.data]
    of_kind = [source for source in sources if registry.is_recorded(source) == recorded]
    return sorted({name for source in of_kind for name in registry.datasets_of(source)} & set(names))


def papers_read(notebook: str, inputs: Declared) -> list[str]:
    """Return the papers whose printed numbers a page can read: those of its exhibits and those that it
    declares. ``released`` stands for numbers from released code."""
    if ALL in inputs.papers:
        return [*PAPERS, RELEASED]
    papers = {entry.paper for entry in ledger().values() if entry.notebook == notebook}
    return sorted({*papers, *inputs.papers})


def files_of(modules: Iterable[str]) -> list[Path]:
    """Return the source files of modules and the data files in their packages, sorted."""
    sources = {path for module in modules if (path := file_of(module)) is not None}
    folders = {path.parent for path in sources} - _ROOTS
    return sorted(sources | {path for folder in folders for path in _list_data_files(folder)})


@cache
def _list_data_files(folder: Path) -> tuple[Path, ...]:
    """Return the data files of a package, including those in its folders that are not packages."""
    files: list[Path] = []
    for path in folder.iterdir():
        if path.suffix in _DATA:
            files.append(path)
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            files += _list_data_files(path)
    return tuple(files)


@lru_cache(maxsize=4096)
def digest_of_file(path: Path, state: tuple[int, ...]) -> str:
    """Return the digest of a file: from :func:`parse` for programs and YAML, otherwise the file's SHA-256.

    The digest is cached for each ``state`` of the file (:func:`radeval_lib.checksums.read_state`).
    """
    is_parsed = path.suffix in (".py", ".yml")
    return parse(path.read_bytes(), path.suffix).sha256 if is_parsed else checksums.of_file(path)


def _digest_of_files(files: Iterable[Path], *values: object) -> str:
    """Return one digest of the paths and contents of files and of any other values."""
    digests = {paths.display_path(path): digest_of_file(path, checksums.read_state(path)) for path in files}
    _write_cache()
    return checksums.of_text(repr([digests, *values]))


def modules_digest(modules: Iterable[str]) -> str:
    """Return the digest of modules and of the data files next to them, without comments and docstrings."""
    return _digest_of_files(files_of(modules))


def source_digest(notebook: str, *, page: bool) -> str:
    """Return the digest of a notebook's code cells or, for a page, of the whole source, because pages show
    prose; raise NotebookError if the code cells of a job's notebook do not parse."""
    text = path_of(notebook).read_text(encoding="utf-8")
    return checksums.of_text(repr(text)) if page else _parse_cells(notebook).sha256


def papers_settings_digest(inputs: Declared) -> str:
    """Return the digest of the papers' own settings, from the profile ``full``, in the sections that a page
    declares and compares with those of its build."""
    sections = profile("full").experiments
    return checksums.of_text(repr({name: sections.get(name) for name in inputs.settings}))


def manifests_digest(notebook: str, settings: Profile, inputs: Declared, *, page: bool) -> str:
    """Return the digest of the manifests that a notebook can read.

    These are the manifests of the notebook's data sets and stored sets and, if it uses models or is a job, of
    models. For a ``page``, they include its papers' files and its entries in ``headlines.yml``, or all
    entries if the page reads the results of all pages.
    """
    stored = data_sets_read(inputs, settings, recorded=True)
    sets = sorted({*data_sets_read(inputs, settings), *stored})
    files = [path for name in sets if (path := paths.DATASETS / f"{name}.yml").is_file()]
    files += [path for name in sets for path in paths.RECORDED.glob(f"{name}[._]*")]
    if inputs.uses_models or not page:
        files += paths.MODELS.glob("*.yml")
    findings: list[object] = []
    if page:
        for paper in papers_read(notebook, inputs):
            folder = paths.MANIFESTS / RELEASED if paper == RELEASED else paths.PAPERS / paper
            files += [path for path in folder.rglob("*") if path.is_file()]
        headlines = own_yaml.read(paths.MANIFESTS / "headlines.yml").values()
        findings += [entry for entry in headlines if entry["notebook"] == notebook or ALL in inputs.results]
    return _digest_of_files(sorted(files), findings)
