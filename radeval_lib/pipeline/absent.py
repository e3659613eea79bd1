"""Pages that a render does not have yet: their placeholder, and references into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat

OMISSION_KEY = "radeval_lacks"
"""In the metadata of an executed notebook that was omitted from the build: why, in one line."""
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


def cut_labels(source: str, shown: str) -> dict[str, str]:
    """The labels of a page's source that are not in the notebook as the book shows it, because the page ends
    before them; each with its title."""
    found = labels(source)
    for cell in nbformat.reads(shown, as_version=4).cells:
        own = labels(cell.source) if cell.cell_type == "markdown" else {}
        figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        found = {label: title for label, title in found.items() if label not in own and label != figure}
    return found


def references(source: str) -> set[str]:
    """The labels to which a page's Markdown refers."""
    return {reference["named"] or reference["plain"] for reference in _REFERENCE.finditer(source)}


def unlink_missing(source: str, missing: Mapping[str, str], word: str = "follows") -> str:
    """Markdown whose references to ``missing`` labels are the text that a reader would have clicked, or else
    the title, followed by ``word`` in parentheses."""

    def replaced(reference: re.Match[str]) -> str:
        label = reference["named"] or reference["plain"]
        if label not in missing:
            return reference.group()
        return f"{reference['text'] or missing[label]} ({word})"

    return _REFERENCE.sub(replaced, source)


def unlink_in_file(
    content: bytes, missing: Mapping[str, str], word: str = "follows", *, notebook: bool
) -> bytes:
    """A staged file after :func:`unlink_missing`, applied to a notebook's Markdown and captions."""
    if not references(content.decode()) & missing.keys():
        return content
    if not notebook:
        return unlink_missing(content.decode(), missing, word).encode()
    page = nbformat.reads(content.decode(), as_version=4)
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = unlink_missing(cell.source, missing, word)
        elif caption := (figure := cell.metadata.get("mystnb", {}).get("figure", {})).get("caption"):
            figure["caption"] = unlink_missing(caption, missing, word)
    return str(nbformat.writes(page)).encode()


def omission_reason(executed: Path) -> str:
    """Why a page was omitted from the build; empty for one that was made."""
    return nbformat.read(executed, as_version=4).metadata.get(OMISSION_KEY, "")


def placeholder(source: str, reason: str = "") -> str:
    """The page that takes the place of one that is not made yet, or was left out for a ``reason``, so that
    links in tables lead somewhere."""
    heading = _HEADING.search(source)
    title = heading[1] if heading else "A page"
    if reason:
        return f"# {title} (left out)\n\nThis build leaves the page out: {reason}.\n"
    return f"# {title} (follows)\n\nThis page is not made yet. `radbook build` makes the whole book.\n"
