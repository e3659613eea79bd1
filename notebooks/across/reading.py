"""The table of data sets on the page about reading the book, from the manifests and the ledger."""

from __future__ import annotations

import re
from html import escape

from IPython.display import HTML

from radeval_lib.data.manifests import Manifest, load_manifest, names
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.study.scorecards import link
from radeval_lib.tables import search_table

ACCESS_WORDS = {
    "open": "open to anyone",
    "hub": "on a model hub",
    "credentialed": "for credentialed users",
    "built": "built by credentialed users",
}


def _manifests() -> list[Manifest]:
    """Return all manifests, the most open ones first."""
    order = list(ACCESS_WORDS)
    return sorted(
        map(load_manifest, names()),
        key=lambda manifest: (order.index(manifest.access), manifest.title.lower()),
    )


def catalogue() -> HTML:
    """Return every data set, to search: who may have it, what it can show, and how to get it."""
    heads = ["data set", "who may have it", "what it can show, and how to get it"]
    return search_table(heads, [_row(manifest) for manifest in _manifests()], "open to anyone")


def _row(dataset: Manifest) -> list[str]:
    """Return a data set's row of the table to search, as HTML."""
    needed = [ledger()[exhibit_id] for exhibit_id in sorted(exhibits_that_need(dataset))]
    links = "; ".join(
        link(entry.notebook, entry.anchor, f"{PAPERS[entry.paper]}, {entry.heading}") for entry in needed
    )
    opened = f"<details><summary>{len(needed)} exhibits that need it</summary>{links}</details>"
    steps = [re.sub(r"(radbook .*?)(\.?)$", r"<code>\1</code>\2", escape(step)) for step in dataset.steps]
    listed = "".join(f"<li>{step}</li>" for step in steps)
    name = f"<code>{escape(dataset.name)}</code>"
    return [
        f"<a href='{escape(dataset.source)}'>{escape(dataset.title)}</a> ({name})",
        f"{ACCESS_WORDS[dataset.access]}; {escape(dataset.licence)}. {escape(dataset.redistribution)}",
        f"{escape(dataset.shows)}<details><summary>Steps</summary><ol>{listed}</ol></details>"
        f"{opened if needed else ''}",
    ]


def withheld() -> tuple[int, int]:
    """Return how many data sets there are, and of how many the book may show no text."""
    return len(names()), sum(not manifest.redistributable for manifest in _manifests())


def exhibits_that_need(dataset: Manifest) -> set[str]:
    """Return ids of the exhibits that need a data set, by the ledger."""
    return {
        exhibit.id
        for exhibit in ledger().values()
        if any(
            name in dataset.needed_as or f"{exhibit.paper}/{name}" in dataset.needed_as
            for name in exhibit.needs
        )
    }
