"""Pages that a render lacks: their placeholder, references into them, and contents without those left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import nbformat

from radeval_lib.study.display import ENDS_HERE

OMISSION_KEY = "radeval_lacks"
"""In the metadata of an executed notebook that was omitted from the build: why, in one line."""
_PLACE = re.compile(
    r"^\((?P<target>[\w-]+)\)=$"  # (how-to-cite)=
    r"|^(?:    |:)name: (?P<figure>[\w-]+)$",  # of a figure, in a cell's metadata or as an option
    re.MULTILINE,
)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\{ref\}`(?:(?P<text>[^`<]+?)\s+<(?P<named>[\w-]+)>|(?P<plain>[\w-]+))`")
"""``{ref}`label` `` or ``{ref}`words <label>` ``."""
_LISTED = re.compile(r"^\d+\. \{ref\}`(?P<label>[\w-]+)`\n", re.MULTILINE)  # 2. {ref}`label`
_LIST = re.compile(r"(?:^\d+\. .*\n)+", re.MULTILINE)  # a numbered list, an item a line
_ORPHAN = "---\norphan: true\nnosearch: true\n---\n\n"
"""Front matter of a page outside the table of contents, made for links in tables and not searched."""


def labels(source: str) -> dict[str, str]:
    """Return the labels of a page's source, those of figures included, each with its title: that of the
    heading right below it, else of the page."""
    titles = {}
    for place in _PLACE.finditer(source):
        heading = _HEADING.match(source[place.end() :].lstrip()) or _HEADING.search(source)
        titles[place["target"] or place["figure"]] = heading[1].strip() if heading else ""
    return titles


def cut_labels(source: str, shown: str) -> dict[str, str]:
    """Return the labels of a page's source that are not in the notebook as the book shows it, because the
    page ends before them; each with its title."""
    titles = labels(source)
    for cell in nbformat.reads(shown, as_version=4).cells:
        own = labels(cell.source) if cell.cell_type == "markdown" else {}
        figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        titles = {label: title for label, title in titles.items() if label not in own and label != figure}
    return titles


def references(source: str) -> list[str]:
    """Return the labels to which Markdown refers, each once, in its order."""
    every = (reference["named"] or reference["plain"] for reference in _REFERENCE.finditer(source))
    return list(dict.fromkeys(every))


def unlink_missing(source: str, missing: Mapping[str, str], word: str) -> str:
    """Return Markdown whose references to ``missing`` labels are the text that a reader would have clicked,
    or else the title, followed by ``word`` in parentheses."""

    def replaced(reference: re.Match[str]) -> str:
        label = reference["named"] or reference["plain"]
        if label not in missing:
            return reference.group()
        return f"{reference['text'] or missing[label]} ({word})"

    return _REFERENCE.sub(replaced, source)


def unlink_in_file(
    content: bytes, missing: Mapping[str, str], word: str = "follows", *, notebook: bool
) -> bytes:
    """Return a staged file after :func:`unlink_missing`, applied to a notebook's Markdown and captions."""
    if not notebook:
        return unlink_missing(content.decode(), missing, word).encode()
    page = nbformat.reads(content.decode(), as_version=4)
    changed = False
    for cell in page.cells:  # the file's text has a reference over two lines in two strings
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        holder, key = (cell, "source") if cell.cell_type == "markdown" else (figure, "caption")
        if missing.keys() & references(holder.get(key) or ""):
            holder[key] = unlink_missing(holder[key], missing, word)
            changed = True
    return str(nbformat.writes(page)).encode() if changed else content


def omission_reason(executed: Path) -> str:
    """Return why the book leaves a page out: it was omitted from the build, or ends before its first result;
    empty for any other page."""
    notebook = nbformat.read(executed, as_version=4)
    if reason := notebook.metadata.get(OMISSION_KEY, ""):
        return str(reason)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return str(outputs[0].get("metadata", {}).get(ENDS_HERE, "")) if outputs else ""


def listed_apart(source: str, left_out: Mapping[str, str]) -> str:
    """Return Markdown whose numbered lists of pages lack those left out, by their labels with what a line
    below the list says of them."""

    def parted(pages: re.Match[str]) -> str:
        gone = [item["label"] for item in _LISTED.finditer(pages[0]) if item["label"] in left_out]
        if not gone:
            return pages[0]
        kept = _LISTED.sub(lambda item: "" if item["label"] in gone else item[0], pages[0])
        return f"{kept}\n**Left out.** {' '.join(left_out[label] for label in gone)}\n"

    return _LIST.sub(parted, source)


def contents_without(contents: dict[str, Any], pages: Collection[str]) -> dict[str, Any]:
    """Return a table of contents as its file has it, without these pages, and without parts that held no
    other."""
    kept = dict(contents)
    for key in {"parts", "chapters", "sections", "subtrees", "entries"} & contents.keys():
        entries = [contents_without(item, pages) for item in contents[key] if item.get("file") not in pages]
        kept[key] = [item for item in entries if item.keys() - {"caption"}]
        if not kept[key]:
            del kept[key]
    return kept


def placeholder(source: str, reason: str) -> str:
    """Return the page that takes the place of one that is not made yet (no ``reason``), or was left out for
    one, so that links in tables lead somewhere; the table of contents lacks the latter."""
    heading = _HEADING.search(source)
    title = heading[1] if heading else "A page"
    if reason:
        return f"{_ORPHAN}# {title} (left out)\n\nThis build leaves the page out: {reason}.\n"
    return f"# {title} (follows)\n\nThis page is not made yet. `radbook build` makes the whole book.\n"
