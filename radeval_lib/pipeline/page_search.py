"""What the book's search reads of its pages: headings, running text, and the exhibits by paper and number."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence

import nbformat
import pandas as pd

from radeval_lib.study.pages import exhibit_entries

_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_GLUED = re.compile(r"\{glue:text\}`([\w-]+)`")  # {glue:text}`name`
_FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)  # from ``` to ```
# A heading with the first label before it, as ``(how-to-cite)=`` and ``# How to cite``.
_HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?(?:^\([\w-]+\)=\n)*^#{1,6} (.+)$", re.MULTILINE)
# Citations, tags, labels, fences, options, and of roles and emphasis all but the words.
_MARKUP = re.compile(
    r"\{cite[:a-z]*\}`[^`]*`|<[^>]+>|^\([\w-]+\)=$|^(?:```|:::)[^\n]*$|^:[\w-]+:[^\n]*$"
    r"|\{[a-z:]+\}(?=`)| <[\w-]+>(?=`)|[`*#$]",
    re.MULTILINE,
)


def _prose(page: bytes, *, notebook: bool) -> str:
    """Return the Markdown of a staged page, with the texts that its code put into it."""
    if not notebook:
        return _FRONT_MATTER.sub("", page.decode())
    read = nbformat.reads(page.decode(), as_version=4)
    values = {
        output.metadata.scrapbook.name: text
        for cell in read.cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for text in output.data.values()
    }
    source = "\n\n".join(cell.source for cell in read.cells if cell.cell_type == "markdown")
    return _GLUED.sub(lambda used: str(ast.literal_eval(values.get(used[1], "''"))), source)


def searched_text(page: bytes, *, notebook: bool) -> str:
    """Return the running text of a staged page, without markup and with its numbers: what search shows of
    where a word was found."""
    return " ".join(_MARKUP.sub(" ", _prose(page, notebook=notebook)).split())


def headings_of(page: bytes, *, notebook: bool) -> list[tuple[str, str]]:
    """Return the headings of a staged page, its title first, each with the label before it (empty where there
    is none): what search looks at before it looks at texts."""
    headings = _HEADING.findall(_FENCED.sub("", _prose(page, notebook=notebook)))
    return [(" ".join(_MARKUP.sub(" ", words).split()), label) for label, words in headings]


def search_script(pages: Sequence[str], staged: Mapping[str, bytes], card: pd.DataFrame) -> bytes:
    """Return what search looks through, of those pages that are staged, in their order.

    A script, not data: browsers refuse to fetch anything for a page that was opened from a folder.
    """
    names = [(page, name) for page in pages for name in (f"{page}.md", f"{page}.ipynb") if name in staged]
    contents = [(page, staged[name], name.endswith(".ipynb")) for page, name in names]
    searched = {
        "pageTexts": {page: searched_text(content, notebook=is_one) for page, content, is_one in contents},
        "pageHeadings": {page: headings_of(content, notebook=is_one) for page, content, is_one in contents},
        "exhibits": exhibit_entries(card),
    }
    texts = {key: json.dumps(value, ensure_ascii=False, indent=0) for key, value in searched.items()}
    return "".join(f"window.{key} = {text};\n" for key, text in texts.items()).encode()
