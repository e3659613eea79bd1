"""What a build of a profile needs, reported before anything runs: data, models and packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec

from radeval_lib import registry
from radeval_lib.data import fetch
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.models import catalog
from radeval_lib.models.pretrained import RADGRAPH
from radeval_lib.pipeline.steps import Graph
from radeval_lib.roles import filling
from radeval_lib.study.sources import declared
from radeval_lib.text_format import in_words, joined

_HUB = re.compile(r'"([\w.-]+/[\w.-]+(?:@[\w.-]+)?)"(?!:)')  # owner/name where a profile gives it as a value


def outlook(graph: Graph) -> list[str]:
    """Return one line each on data and models, on each role whose data are not here, and on a package that is
    missing."""
    return [
        _data_line(graph),
        *_lacking_lines(graph),
        _models_line(hub_models(graph)),
        *_package_lines(graph),
    ]


def missing_files(graph: Graph) -> dict[str, list[fetch.FileStatus]]:
    """Return the data sets that a profile's roles name, each with those of its files that are not in the data
    root as its manifest has them: files that differ, and as few as would make it whole."""
    fillers = [filler for filler in graph.settings.roles.values() if not registry.is_recorded(filler)]
    wanted = {name for filler in fillers for name in registry.datasets_of(filler)}
    return {name: _not_there(fetch.status(graph.data_root, name)) for name in sorted(wanted & set(names()))}


def _not_there(files: list[fetch.FileStatus]) -> list[fetch.FileStatus]:
    there = [file.path for file in files if file.state != "missing"]
    missing = load_manifest(files[0].dataset).missing(there)
    return [file for file in files if file.state == "mismatch" or file.path in missing]


def hub_models(graph: Graph) -> dict[str, bool]:
    """Return the models of a hub that a profile names, with whether the weights that would be loaded are
    here."""
    named = json.dumps([graph.settings.models, graph.settings.experiments], ensure_ascii=False)
    hub_names = sorted(set(_HUB.findall(named)))
    return {name: catalog.in_hub_cache(name) for name in hub_names}


def _data_line(graph: Graph) -> str:
    """Return the line on data sets."""
    sets = missing_files(graph)
    if not sets:
        return "Data: every role is filled by the generator or by stored scores; no data set is needed."
    missing = [f"{name} ({load_manifest(name).access})" for name, wrong in sets.items() if wrong]
    other = [
        f"{file.path}: {file.detail}" for wrong in sets.values() for file in wrong if file.state == "mismatch"
    ]
    if not graph.data_root:
        line = "Data: no data root is named, so no data set that the profile names is here; missing: "
        return f"{line}{', '.join(missing)}."
    line = f"Data: {_counted(len(sets), 'data set', 'the data root as its manifest has it', missing)}."
    return line + (f" Not the files of their manifests: {'; '.join(other)}." if other else "")


def pages_without_data(graph: Graph) -> dict[str, list[str]]:
    """Return the pages that read each role of which the data root holds nothing, themselves or by a cell:
    they end where they need it, or are left out."""
    roles = graph.settings.roles
    absent = [
        role
        for role, filler in roles.items()
        if filler != registry.ABSENT and not filling.present(filler, graph.data_root)
    ]
    readers = {page: _roles_of(graph, page) for page in graph.pages} if absent else {}
    by_role = {role: [page for page, wanted in readers.items() if role in wanted] for role in absent}
    return {role: pages for role, pages in by_role.items() if pages}


def _roles_of(graph: Graph, page: str) -> set[str]:
    """Return the roles of data that a page, the cells that it reads and the cells before these read."""
    roles, notebooks, waiting = set(declared(page).data), {page}, graph.cells_before(page)
    while waiting:
        cell = graph.cells[waiting.pop()]
        roles.update(cell.data or declared(cell.notebook).data)
        if cell.notebook not in notebooks:
            notebooks.add(cell.notebook)
            waiting += graph.cells_before(cell.notebook)
    return roles


def _lacking_lines(graph: Graph) -> Iterator[str]:
    """Yield the lines on roles whose data are not here, or in part."""
    for role, pages in pages_without_data(graph).items():
        named = joined(list(registry.datasets_of(graph.settings.roles[role])))
        yield f"Without {named} ({role}), left out as a whole or from where they need it: {joined(pages)}."
    for role, filler in graph.settings.roles.items():
        here = filling.present(filler, graph.data_root)
        if here and here != filler:
            yield f"In part: {role} is filled by {here} alone, of {filler}."


def _models_line(is_here: dict[str, bool]) -> str:
    """Return the line on models of a hub."""
    if not is_here:
        return "Models: the profile names none of a hub."
    missing = [name for name, here in is_here.items() if not here]
    loose = [name for name in is_here if catalog.revision_of(name) is None]
    text = f"Models: {_counted(len(is_here), 'model', 'the cache of the hub on this machine', missing)}"
    return text + (
        f"; without a revision, so that results say unpinned: {', '.join(loose)}." if loose else "."
    )


def _package_lines(graph: Graph) -> Iterator[str]:
    """Yield what must be installed beside the locked packages, and is not."""
    roles = [role for role, filler in graph.settings.models.items() if filler.startswith(RADGRAPH)]
    if roles and find_spec("radgraph") is None:
        yield f"Packages: radgraph is not installed, which fills {joined(roles)}. Run: pip install radgraph"


def _counted(count: int, noun: str, where: str, missing: list[str]) -> str:
    here = count - len(missing)
    nouns = f"{in_words(count)} {noun}{'' if count == 1 else 's'}"
    line = f"of {nouns} that the profile names, {in_words(here)} {'is' if here == 1 else 'are'} in {where}"
    return line + (f"; missing: {', '.join(missing)}" if missing else "")
