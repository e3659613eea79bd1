"""What a build of a profile lacks, reported before anything runs: data and models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from radeval_lib import registry
from radeval_lib.data.roles import present
from radeval_lib.models import catalog
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study.sources import declared
from radeval_lib.text_format import joined

_HUB = re.compile(r'"([\w.-]+/[\w.-]+(?:@[\w.-]+)?)"(?!:)')  # owner/name if a profile gives it as a value


def outlook(graph: Graph) -> list[str]:
    """Return lines on roles whose data are not here, and one on models of a hub."""
    missing = [name for name, here in hub_models(graph).items() if not here]
    models = f"Models that are not in the hub's cache here: {joined(missing)}." if missing else ""
    return [*_lacking_lines(graph), *filter(None, [models])]


def hub_models(graph: Graph) -> dict[str, bool]:
    """Return the models of a hub that a profile names, with whether the weights that would be loaded are
    here."""
    written = json.dumps([graph.settings.models, graph.settings.experiments], ensure_ascii=False)
    return {name: catalog.in_hub_cache(name) for name in sorted(set(_HUB.findall(written)))}


def pages_without_data(graph: Graph) -> dict[str, list[str]]:
    """Return, for each role without data in the data root, the pages that read it themselves or through a
    job. They end where they need it, or are left out."""
    absent = [
        role
        for role, source in graph.settings.roles.items()
        if source != registry.ABSENT and not present(source, graph.data_root)
    ]
    readers = {page: _roles_of(graph, page) for page in graph.pages} if absent else {}
    by_role = {role: [page for page, wanted in readers.items() if role in wanted] for role in absent}
    return {role: pages for role, pages in by_role.items() if pages}


def _roles_of(graph: Graph, page: str) -> set[str]:
    """Return the roles of data that a page, the jobs that it reads and the jobs before these read."""
    roles, notebooks, waiting = set(declared(page).data), {page}, graph.cells_before(page)
    while waiting:
        job = graph.cells[waiting.pop()]
        roles.update(job.data or declared(job.notebook).data)
        if job.notebook not in notebooks:
            notebooks.add(job.notebook)
            waiting += graph.cells_before(job.notebook)
    return roles


def _lacking_lines(graph: Graph) -> Iterator[str]:
    """Yield the lines on roles whose data are not here, or in part."""
    for role, pages in pages_without_data(graph).items():
        named = joined(list(registry.datasets_of(graph.settings.roles[role])))
        yield f"Without {named} ({role}), left out as a whole or from where they need it: {joined(pages)}."
    for role, source in graph.settings.roles.items():
        here = present(source, graph.data_root)
        if here and here != source:
            yield f"In part: {role} is configured by {here} alone, of {source}."
