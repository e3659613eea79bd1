"""Pages as the book shows them: an executed notebook for its readers, and prose with its claims."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import pandas as pd

from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import PAPERS, of_notebook
from radeval_lib.papers.printed_numbers import paper as described
from radeval_lib.pipeline import citing, drawings, launching
from radeval_lib.study.display import ENDS_HERE
from radeval_lib.study.pages import claims_table, not_checked
from radeval_lib.study.results import Result

_CLAIMS = re.compile(r"^<!-- claims: (\w+) -->$", re.MULTILINE)
"""Where a prose page wants the claims of a paper: a comment with the paper's key in the ledger."""

_TOY_SCALE = """```{warning}
**A protocol at toy scale.** In this edition the page shows only that the protocol runs, on generated reports
or with small models of our own. Its numbers say nothing about the paper.
```"""


def for_readers(
    executed: Path,
    card: pd.DataFrame,
    exercises: Mapping[str, str],
    recorded: Sequence[Result],
    *,
    at_toy_scale: bool = False,
) -> str:
    """Return an executed notebook as the book shows it: parameters hidden (its provenance lists them), code
    folded unless it is tagged ``show-input``, its papers below the title, how to cite each result of
    ``recorded`` beside it, exhibits that were not checked at the end; ``at_toy_scale``, under the banner of
    the appendix."""
    notebook = nbformat.read(executed, as_version=4)
    commit = launching.built_from(notebook)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    notebook.cells = notebook.cells[: _length_shown(notebook)]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            _tag(cell)
            _adapt_outputs(cell, recorded)
    if first is not None:
        page = f"{executed.parent.name}/{executed.stem}"
        label = re.match(r"\(([\w-]+)\)=", first.source)
        closing = {
            "exhibits": not_checked(card, page),
            "exercise": exercises.get(label[1], "") if label else "",
            "source": citing.source_line(f"notebooks/{page}.md"),
        }
        notebook.cells += [
            nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items() if text
        ]
        banner = _TOY_SCALE if at_toy_scale else ""
        first.source = _below_title(first.source, banner)
        first.source = _below_title(with_papers(first.source, page), launching.buttons(page, commit))
    return str(nbformat.writes(notebook))


def _length_shown(notebook: nbformat.NotebookNode) -> int:
    """Return how many cells a page shows: up to the one with which ``study.only_with_data`` ends it."""
    for place, cell in enumerate(notebook.cells):
        if any(output.get("metadata", {}).get(ENDS_HERE) for output in cell.get("outputs", [])):
            return place + 1
    return len(notebook.cells)


def _tag(cell: nbformat.NotebookNode) -> None:
    """Hide a cell of parameters, and fold the code of another unless it is tagged ``show-input``."""
    tags = set(cell.metadata.get("tags", []))
    if tags & {"parameters", "injected-parameters"}:
        tags.add("remove-cell")
    elif "show-input" not in tags:
        tags.add("hide-input")
    cell.metadata["tags"] = sorted(tags)


def _adapt_outputs(cell: nbformat.NotebookNode, recorded: Sequence[Result]) -> None:
    """Make the drawings of a cell fit both grounds, and add to its results how to cite them."""
    for output in cell.outputs:
        if drawing := output.get("data", {}).get("image/svg+xml"):
            output["data"]["image/svg+xml"] = drawings.for_pages("".join(drawing))
        if html := output.get("data", {}).get("text/html"):
            output["data"]["text/html"] = citing.with_citation("".join(html), recorded)


def with_papers(source: str, notebook: str) -> str:
    """Return Markdown with the papers whose exhibits the notebook rebuilds named in a line below its
    title."""
    papers = sorted({entry.paper for entry in of_notebook(notebook)}, key=list(PAPERS).index)
    named = " · ".join(f"{{cite}}`{described(paper)['citation']}`" for paper in papers)
    return _below_title(source, f"Paper: {named}" if named else "")


def _below_title(source: str, text: str) -> str:
    """Return Markdown with a paragraph below its first title; as it is where there is nothing to say."""
    if not text:
        return source
    return re.sub(r"(?m)^# .*$", lambda title: f"{title.group()}\n\n{text}", source, count=1)


def with_claims(source: str, card: pd.DataFrame) -> str:
    """Return a prose page with each ``<!-- claims: PAPER -->`` replaced by the table of that paper's claims;
    a NotebookError for no paper of the ledger."""

    def filled(wanted: re.Match[str]) -> str:
        if (key := wanted[1]) not in PAPERS:
            listed = f"Papers: {', '.join(PAPERS)}."
            raise NotebookError(f"a page asks for the claims of no paper {key!r}", remedy=listed)
        return claims_table(card, PAPERS[key], up="../notebooks/")

    return _CLAIMS.sub(filled, source)
