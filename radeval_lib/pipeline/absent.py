"""Pages that a render does not have yet: what takes their place, and the place of references into them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import nbformat

_PLACE = re.compile(r"^\((?P<target>[\w-]+)\)=$|^(?:    |:)name: (?P<figure>[\w-]+)$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\{ref\}`(?:(?P<text>[^`<]+?)\s+<(?P<named>[\w-]+)>|(?P<plain>[\w-]+))`")


def labels(source: str) -> dict[str, str]:
    """The labels of a page's source, those of figures included, each with its title: that of the heading
    right below it, else of the page."""
    found = {}
    for place in _PLACE.finditer(source):
        heading = _HEADING.match(source[place.end() :].lstrip()) or _HEADING.search(source)
        found[place["target"] or place["figure"]] = heading[1].strip() if heading else ""
    return found


def references(source: str) -> set[str]:
    """The labels to which a page's Markdown refers."""
    return {reference["named"] or reference["plain"] for reference in _REFERENCE.finditer(source)}


def without(source: str, missing: Mapping[str, str]) -> str:
    """Markdown whose references to ``missing`` labels are the text that a reader would have clicked, or else
    the title, with the word that it follows."""

    def told(reference: re.Match[str]) -> str:
        label = reference["named"] or reference["plain"]
        if label not in missing:
            return reference.group()
        return f"{reference['text'] or missing[label]} (follows)"

    return _REFERENCE.sub(told, source)


def without_in_file(content: bytes, missing: Mapping[str, str], *, notebook: bool) -> bytes:
    """A staged file as :func:`without` has it; of a notebook, its Markdown cells."""
    if not references(content.decode()) & missing.keys():
        return content
    if not notebook:
        return without(content.decode(), missing).encode()
    page = nbformat.reads(content.decode(), as_version=4)
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = without(cell.source, missing)
    return str(nbformat.writes(page)).encode()


def placeholder(source: str) -> str:
    """The page that takes the place of one that is not made yet, so that links in tables lead somewhere."""
    heading = _HEADING.search(source)
    title = heading[1] if heading else "A page"
    return f"# {title} (follows)\n\nThis page is not made yet. `radbook build` makes the whole book.\n"
