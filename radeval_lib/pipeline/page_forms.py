"""Conversion of executed notebooks, labs and prose into the pages that the book shows."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pandas as pd

from radeval_lib.labs import sources
from radeval_lib.papers.exhibits import PAPERS, list_notebook_exhibits, load_paper
from radeval_lib.pipeline import steps
from radeval_lib.pipeline.sphinx_extension import typeset_svg
from radeval_lib.study import citing
from radeval_lib.study.page_runs import ENDS_HERE
from radeval_lib.study.scorecards import claims_table, unchecked_paragraph

# In a prose page, the comment ``<!-- claims: PAPER -->`` is replaced by a table of the paper's claims.
_CLAIMS_MARKER = re.compile(r"^<!-- claims: (\w+) -->$", re.MULTILINE)
_LABEL = re.compile(
    r"^\((?P<target>[\w-]+)\)=$"  # (how-to-cite)=
    r"|^(?:    |:)name: (?P<figure>[\w-]+)$",  # the label of a figure, in a cell's metadata or as an option
    re.MULTILINE,
)
FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
"""Matches a code cell or a directive in Markdown, from ``` to ```."""
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_HEADING_BELOW = re.compile(r"(?:\s|\([\w-]+\)=)*#+ (.*)")  # matches a heading, after any further labels
_SOLUTION = (
    "`make labs` writes the solved lab to `build/labs/solution/{name}.ipynb`, with rubrics for the parts "
    "graded by hand. {{ref}}`For instructors <labs-instructors>`."
)
_TOY_SCALE = """```{warning}
**A protocol at toy scale.** In this edition the page shows only that the protocol runs, on generated reports
or with small models of our own. Its numbers say nothing about the paper.
```"""


def to_page(
    executed: Path,
    card: pd.DataFrame,
    *,
    source: str = "",
    at_toy_scale: bool = False,
) -> str:
    """Return the page of the book made from an executed notebook, as a notebook in JSON.

    The parameters cell is tagged for removal, and other code is folded unless it is tagged ``show-input``.
    The page's papers are cited below the title; at the end are the exhibits that were not checked and a link
    to the source. If the notebook ended early, the headings and labels of the sections that are left out are
    kept, since other pages refer to them.

    Parameters
    ----------
    executed : path of the executed notebook, ``<folder>/<group>/<page>.ipynb``.
    card : the table of exhibits, from :func:`radeval_lib.study.scorecards.scorecard`.
    source : the notebook's source in MyST Markdown; the sections that are left out are taken from it.
    at_toy_scale : whether to add, below the title, the warning that the page only demonstrates a protocol.
    """
    notebook = nbformat.read(executed, as_version=4)
    opening = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    shown_cells = []
    for cell in notebook.cells:
        shown_cells.append(cell)
        if cell.cell_type != "code":
            continue
        tags = set(cell.metadata.get("tags", []))
        if tags & {"parameters", "injected-parameters"}:
            tags.add("remove-cell")
        elif "show-input" not in tags:
            tags.add("hide-input")
        cell.metadata["tags"] = sorted(tags)
        for output in cell.outputs:
            if svg := output.get("data", {}).get("image/svg+xml"):
                output["data"]["image/svg+xml"] = typeset_svg("".join(svg))
        if any(output.get("metadata", {}).get(ENDS_HERE) for output in cell.outputs):
            break  # the other cells need data that are missing in this build
    notebook.cells = shown_cells
    if opening is not None:
        page = f"{executed.parent.name}/{executed.stem}"
        closing = {
            "left-out": _list_omitted_sections(source, notebook),
            "exhibits": unchecked_paragraph(card, page),
            "source": citing.source_line(f"notebooks/{page}.md"),
        }
        notebook.cells += [
            nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items() if text
        ]
        opening.source = add_papers(_insert_below_title(opening.source, _TOY_SCALE * at_toy_scale), page)
    return str(nbformat.writes(notebook))


def add_papers(source: str, notebook: str) -> str:
    """Return Markdown with a line below its title that cites the papers of a notebook's exhibits.

    ``notebook`` is the notebook's name. Without exhibits, ``source`` is returned unchanged.
    """
    papers = sorted({entry.paper for entry in list_notebook_exhibits(notebook)}, key=list(PAPERS).index)
    citations = " · ".join(f"{{cite}}`{load_paper(paper)['citation']}`" for paper in papers)
    return _insert_below_title(source, f"Paper: {citations}" if citations else "")


def _insert_below_title(source: str, text: str) -> str:
    """Return Markdown with ``text`` as a paragraph below its first title.

    If ``text`` is empty, or there is no title, ``source`` is returned unchanged.
    """
    if not text:
        return source
    return re.sub(r"(?m)^# .*$", lambda title: f"{title.group()}\n\n{text}", source, count=1)


def add_claims(source: str, card: pd.DataFrame) -> str:
    """Return a prose page with each ``<!-- claims: PAPER -->`` replaced by a table of this paper's claims.

    ``card`` is the table of exhibits. Raises KeyError for an unknown paper.
    """
    return _CLAIMS_MARKER.sub(lambda match: claims_table(card, PAPERS[match[1]], "../notebooks/"), source)


def find_figure(executed: str, name: str) -> tuple[str, nbformat.NotebookNode] | None:
    """Return a figure of an executed notebook as (SVG, MyST-NB options of its cell); None if there is none.

    ``executed`` is the notebook in JSON, and ``name`` is the figure's label.
    """
    for cell in nbformat.reads(executed, as_version=4).cells:
        options = cell.metadata.get("mystnb", {})
        if options.get("figure", {}).get("name") == name:
            for output in cell.outputs:
                if svg := output.get("data", {}).get("image/svg+xml"):
                    return "".join(svg), options
    return None


def find_labels(source: str) -> dict[str, str]:
    """Return a mapping from each label in a page's source, figures' labels included, to its heading.

    The heading of a label is the one directly below it or, without that, the nearest one above it. Raises
    IndexError if a label has neither.
    """
    prose = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), source)
    headings = [(heading.start(), heading[1].strip()) for heading in _HEADING.finditer(prose)]
    titles = {}
    for label in _LABEL.finditer(source):
        match = _HEADING_BELOW.match(source, label.end())
        titles_above = [title for start, title in headings if start < label.start()]
        titles[label["target"] or label["figure"]] = match[1].strip() if match else titles_above[-1]
    return titles


def _list_omitted_sections(source: str, shown: nbformat.NotebookNode) -> str:
    """Return Markdown with a heading for each section of the source that has a label which ``shown`` lacks.

    Each heading has those labels before it, and ``(left out)`` after it. If ``shown`` has all labels, the
    empty string is returned.
    """
    shown_labels = set[str]()
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            shown_labels |= {label["target"] or label["figure"] for label in _LABEL.finditer(cell.source)}
        shown_labels.add(cell.metadata.get("mystnb", {}).get("figure", {}).get("name", ""))
    by_title: dict[str, str] = {}
    for label, title in find_labels(source).items():
        if label not in shown_labels:
            by_title[title] = by_title.get(title, "") + f"({label})=\n"
    return "\n\n".join(f"{targets}## {title} (left out)" for title, targets in by_title.items())


def find_omission_reason(executed: Path) -> str:
    """Return the reason for which a page is left out of the book; the empty string if it is shown.

    A page is left out if the build could not run it without data, or if it ended before its first result.
    ``executed`` is the path of the executed notebook.
    """
    notebook = nbformat.read(executed, as_version=4)
    if reason := notebook.metadata.get(steps.OMISSION_KEY, ""):
        return str(reason)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return str(outputs[0].get("metadata", {}).get(ENDS_HERE, "")) if outputs else ""


def make_substitute(source: str, reason: str) -> str:
    """Return the Markdown of a short page in place of one that is left out or has not run yet.

    The short page has the title and labels of the full page, so that references to that page work.

    Parameters
    ----------
    source : the source of the page in Markdown.
    reason : why the page is left out; empty if it has not run yet.
    """
    heading = _HEADING.search(source)
    title = heading[1] if heading else "A page"
    targets = "".join(f"({label})=\n" for label in find_labels(source))
    if reason:
        return f"{targets}# {title} (left out)\n\nThis build leaves the page out: {reason}.\n"
    return f"{targets}# {title} (follows)\n\nThis page is not built yet. `radbook build` builds all pages.\n"


def build_labs() -> Iterator[tuple[str, str]]:
    """Yield (path in the staged book, content) of each file of the labs.

    The files are the page of each lab and, if Otter is installed, the student's notebook.
    """
    has_otter = importlib.util.find_spec("otter") is not None
    for lab in sources.list_labs():
        if has_otter:
            with tempfile.TemporaryDirectory() as folder:
                sources.build(lab, Path(folder))
                student = Path(folder) / "student" / f"{lab.name}.ipynb"
                yield f"_extra/labs/{lab.name}.ipynb", student.read_text(encoding="utf-8")
        page = sources.make_page(lab)
        links = [f'<a href="../../labs/{lab.name}.ipynb" download>Download the notebook</a>'] * has_otter
        if repository := citing.repository():  # on Binder, postBuild builds the labs
            url = f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/build/labs/student"
            links.append(f'<a href="{url}/{lab.name}.ipynb">Open in Binder</a>')
        buttons = f'<p class="lab-buttons">{" ".join(links)} <code>make lab N={lab.number}</code></p>'
        page.cells[0].source = _insert_below_title(page.cells[0].source, buttons)
        closing = {
            "solution": _SOLUTION.format(name=lab.name),
            "source": citing.source_line(f"notebooks/labs/{lab.name}.md"),
        }
        page.cells += [nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items()]
        for number, cell in enumerate(page.cells):
            cell["id"] = f"cell-{number:03d}"  # the same at every build
        yield f"notebooks/labs/{lab.name}.ipynb", str(nbformat.writes(page))
