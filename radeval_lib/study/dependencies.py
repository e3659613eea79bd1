"""What a notebook depends on: modules of the library, data files beside them, manifests, settings.

A notebook depends on what it imports, however indirectly, and on what its front matter declares, as the
resolved profile fills it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from radeval_lib import checksums, own_yaml, paths, registry
from radeval_lib.data.manifests import names as data_sets
from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.registry import CELL_MODEL
from radeval_lib.study import parsed
from radeval_lib.study.declarations import ALL, Declared, declared
from radeval_lib.study.parsed import code_of
from radeval_lib.study.profiles import Profile, profile

PACKAGES = ("radeval_lib", "notebooks")
_ROOTS = {paths.ROOT / name for name in PACKAGES}
_DATA = (".yml", ".json", ".csv", ".tsv", ".txt")


@cache
def _file(name: str) -> Path | None:
    """Return the file of a module of the library, or None where the name is of no module."""
    base = paths.ROOT.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _modules(name: str) -> Iterator[str]:
    """Yield modules of the library that are loaded when a name is imported, packages above it included."""
    parts = name.split(".")
    if parts[0] in PACKAGES:
        for depth in range(1, len(parts) + 1):
            if _file(".".join(parts[:depth])):
                yield ".".join(parts[:depth])


@cache
def _parsed(module: str) -> parsed.Parsed:
    path = _file(module)
    assert path is not None, module
    return parsed.program(path.read_text(encoding="utf-8"))


@cache
def _homes(package: str) -> dict[str, str]:
    """Return where a package looks names up when they are first used (its ``_HOMES``): the module of each."""
    path = _file(package)
    if path is None or path.name != "__init__.py":
        return {}
    homes: dict[str, str] = getattr(registry.module(package), "_HOMES", {})
    return {name: home for home, listed in homes.items() for name in listed.split()}


def _reached(names: Iterable[str]) -> set[str]:
    """Return modules that are loaded for names that a program imports or uses."""
    found = set[str]()
    for name in names:
        found.update(_modules(name.removesuffix(".*")))
        package, _, last = name.rpartition(".")
        homes = _homes(package)
        wanted = homes.values() if last == "*" else [homes[last]] if last in homes else []
        for home in wanted:
            found.update(_modules(home))
    return found


@cache
def _direct(module: str) -> frozenset[str]:
    return frozenset(_reached(_parsed(module).names)) - {module}


def closure(modules: Iterable[str]) -> set[str]:
    """Return these modules and every one that they import, however indirectly."""
    found, waiting = set[str](), list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _direct(module) - found
    return found


def _code(notebook: str) -> parsed.Parsed:
    path = paths.NOTEBOOKS / f"{notebook}.md"
    try:
        return parsed.program(code_of(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise NotebookError(f"its code does not parse: {error.msg}", paths.display_path(path)) from None


def modules_of(notebook: str, settings: Profile, wanted: Declared | None = None) -> set[str]:
    """Return every module of the library that a notebook's numbers can depend on under a profile.

    Parameters
    ----------
    wanted : what it reads, where that is less than its notebook declares.
    """
    wanted = wanted or declared(notebook)
    places = [registry.METRICS[name] for name in wanted.metrics if name in registry.METRICS]
    roles = [role for role in wanted.data if role in registry.ROLES]
    for role in roles:
        places += [registry.ROLES[role].record, *_readers(settings.roles.get(role, ""), role)]
    for name in sorted(set(wanted.data) & set(registry.RECORDINGS) & set(registry.READERS)):
        places += ["radeval_lib.data.recorded", registry.RECORDINGS[name], registry.READERS[name]]
    uses = {"data": roles, "models": wanted.models or wanted.metrics, "metrics": wanted.metrics}
    places += [registry.FILLING[kind] for kind, used in uses.items() if used]
    if (roles or wanted.models) and notebook not in registry.PLANS:  # cells record no words about their data
        places.append(registry.FILLING["stand_ins"])
    frozen = set(wanted.metrics) & set(registry.FROZEN_METRICS) and data_sets_read(wanted, settings)
    if frozen or (wanted.metrics and _sets(wanted, settings, recorded=True)):
        places.append(registry.RECORDED)
    planned = [notebook, *cells_read(wanted, settings)]
    places += [registry.PLANS[name] for name in planned if name in registry.PLANS]
    roots = _reached([*_code(notebook).names, *(place.partition(":")[0] for place in places)])
    found = closure(roots)
    parsed.keep()
    return found


def _readers(filler: str, role: str) -> list[str]:
    """Return what reads a role's filler, by its place in the library."""
    if filler == registry.SYNTHETIC:
        return [registry.ROLES[role].generator]
    if registry.is_recorded(filler):
        return ["radeval_lib.data.recorded", registry.RECORDINGS[registry.dataset_of(filler)]]
    found = [
        registry.READERS.get(name, registry.OWN_READERS["ratings"])
        for name in registry.datasets_of(filler)
        if name in data_sets()
    ]
    edits = ["radeval_lib.data.openi", "radeval_lib.data.report_edits"]
    return [*found, *(edits if role == "edited_reports" else [])]


def cells_read(wanted: Declared, settings: Profile) -> list[str]:
    """Return the notebooks whose cells, or whose model, a notebook reads."""
    fillers = [settings.models.get(role, "") for role in wanted.models]
    made = [filler.removeprefix(CELL_MODEL) for filler in fillers if filler.startswith(CELL_MODEL)]
    return list(dict.fromkeys([*wanted.cells, *made]))


def data_sets_read(wanted: Declared, settings: Profile) -> list[str]:
    """Return the data sets whose files a notebook can read under a profile."""
    return sorted(_sets(wanted, settings, recorded=False))


def _sets(wanted: Declared, settings: Profile, *, recorded: bool) -> set[str]:
    """Return the data sets that fill what is declared, by their files, or as they are recorded."""
    known = list(registry.RECORDINGS) if recorded else data_sets()
    fillers = [settings.roles.get(role, role) for role in wanted.data]
    return {
        name
        for filler in fillers
        if registry.is_recorded(filler) == recorded
        for name in registry.datasets_of(filler)
        if name in known
    }


def papers_read(notebook: str, wanted: Declared) -> list[str]:
    """Return the papers whose printed numbers a page can read: those of its exhibits, and those that it
    declares."""
    if ALL in wanted.papers:
        return [*PAPERS, "released"]
    own = {entry.paper for entry in ledger().values() if entry.notebook == notebook}
    return sorted({*own, *wanted.papers})


def files_of(modules: Iterable[str]) -> list[Path]:
    """Return the sources of modules, and the data files that stand with them."""
    sources = {path for module in modules if (path := _file(module)) is not None}
    folders = {path.parent for path in sources} - _ROOTS
    return sorted(sources | {path for folder in folders for path in _beside(folder)})


@cache
def _beside(folder: Path) -> tuple[Path, ...]:
    """Return data files of a package, and of folders in it that are not packages."""
    found: list[Path] = []
    for path in folder.iterdir():
        if path.suffix in _DATA:
            found.append(path)
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            found += _beside(path)
    return tuple(found)


@lru_cache(maxsize=4096)
def _digest(path: Path, _state: tuple[int, ...]) -> str:
    """Return the digest of a file, computed again only if its state changed."""
    if path.suffix == ".py":
        return parsed.program(path.read_text(encoding="utf-8")).sha256
    return parsed.data_digest(path)


def modules_digest(modules: Iterable[str]) -> str:
    """Return names what modules do, and the data beside them: no comment, docstring or time of change
    counts."""
    found = {paths.display_path(path): _digest(path, checksums.state(path)) for path in files_of(modules)}
    parsed.keep()
    return parsed.digest_of(found)


def source_digest(notebook: str, *, page: bool) -> str:
    """Return names a notebook: its code alone, or of a page, which shows its prose, the whole source."""
    path = paths.NOTEBOOKS / f"{notebook}.md"
    return parsed.digest_of(path.read_text(encoding="utf-8")) if page else _code(notebook).sha256


def papers_settings_digest(wanted: Declared) -> str:
    """Return names the papers' own settings (profile ``full``) in the sections that a page declares, since
    pages compare them with those of their build."""
    sections = profile("full").experiments
    return parsed.digest_of({name: sections.get(name) for name in wanted.settings})


def manifests_digest(notebook: str, settings: Profile, wanted: Declared, *, page: bool) -> str:
    """Return names the manifests that a notebook can read: of its data sets, of models where it uses any, and
    of a page those of its papers."""
    sets = sorted({*data_sets_read(wanted, settings), *_sets(wanted, settings, recorded=True)})
    files = [path for name in sets if (path := paths.DATASETS / f"{name}.yml").is_file()]
    files += [path for name in sets for path in paths.RECORDED.glob(f"{name}[._]*")]
    if wanted.uses_models or not page:
        files += sorted(paths.MODELS.glob("*.yml"))
    content: list[object] = []
    if page:
        for paper in papers_read(notebook, wanted):
            folder = paths.MANIFESTS / "released" if paper == "released" else paths.PAPERS / paper
            files += [path for path in folder.rglob("*") if path.is_file()]
        own = own_yaml.read(paths.MANIFESTS / "headlines.yml")
        content += [one for one in own.values() if one["notebook"] == notebook or ALL in wanted.results]
    summed = {paths.display_path(path): _digest(path, checksums.state(path)) for path in sorted(files)}
    parsed.keep()
    return parsed.digest_of([summed, content])
