"""The table of data sets on the page *How to read this book*, from the manifests and the list of exhibits."""

from __future__ import annotations

import re
from html import escape

from IPython.display import HTML

from radeval_lib.data.manifests import Manifest, load_manifest, names
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.study.scorecards import link
from radeval_lib.tables import search_table

# The page's words for the access to a data set, the most open first.
ACCESS_WORDS = {
    "open": "open to anyone",
    "hub": "on a model hub",
    "credentialed": "for credentialed users",
    "built": "built by credentialed users",
}


def _load_manifests() -> list[Manifest]:
    """Return the manifests of all data sets, sorted by access, the most open first, and then by title."""
    order = list(ACCESS_WORDS)
    return sorted(
        map(load_manifest, names()),
        key=lambda manifest: (order.index(manifest.access), manifest.title.lower()),
    )


def show_data_sets() -> HTML:
    """Return a searchable table of the data sets: access to each, what it can show, and how to get it."""
    headers = ["data set", "who may use it", "what it can show, and how to get it"]
    return search_table(headers, [_make_row(manifest) for manifest in _load_manifests()], "open to anyone")


def _make_row(dataset: Manifest) -> list[str]:
    """Return the row of a data set in :func:`show_data_sets`: three cells as HTML."""
    exhibits = [ledger()[exhibit_id] for exhibit_id in sorted(find_dependent_exhibits(dataset))]
    links = "; ".join(
        link(entry.notebook, entry.anchor, f"{PAPERS[entry.paper]}, {entry.heading}") for entry in exhibits
    )
    folded_links = f"<details><summary>{len(exhibits)} exhibits that need it</summary>{links}</details>"
    steps = [re.sub(r"(radbook .*?)(\.?)$", r"<code>\1</code>\2", escape(step)) for step in dataset.steps]
    step_items = "".join(f"<li>{step}</li>" for step in steps)
    name = f"<code>{escape(dataset.name)}</code>"
    return [
        f"<a href='{escape(dataset.source)}'>{escape(dataset.title)}</a> ({name})",
        f"{ACCESS_WORDS[dataset.access]}; {escape(dataset.licence)}. {escape(dataset.redistribution)}",
        f"{escape(dataset.shows)}<details><summary>Steps</summary><ol>{step_items}</ol></details>"
        f"{folded_links if exhibits else ''}",
    ]


def count_data_sets() -> tuple[int, int]:
    """Return the number of data sets, and the number of those that may not be redistributed."""
    return len(names()), sum(not manifest.redistributable for manifest in _load_manifests())


def find_dependent_exhibits(dataset: Manifest) -> set[str]:
    """Return the ids of the exhibits that need a data set, according to ``needs`` in each ``paper.yml``."""
    return {
        exhibit.id
        for exhibit in ledger().values()
        if any(
            name in dataset.needed_as or f"{exhibit.paper}/{name}" in dataset.needed_as
            for name in exhibit.needs
        )
    }
