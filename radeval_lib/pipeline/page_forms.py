"""Pages as the book shows them: executed notebooks, labs, prose with its claims, and the substitute for a
missing page."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pandas as pd

from radeval_lib.labs import sources
from radeval_lib.papers.exhibits import PAPERS, description, of_notebook
from radeval_lib.pipeline import steps
from radeval_lib.pipeline.sphinx_extension import drawing_symbols
from radeval_lib.study import citing
from radeval_lib.study.page_runs import ENDS_HERE
from radeval_lib.study.scorecards import claims_table, not_checked

# A prose page asks for the claims of a paper by a comment with the paper's key in the ledger.
_CLAIMS = re.compile(r"^<!-- claims: (\w+) -->$", re.MULTILINE)
_LABEL = re.compile(
    r"^\((?P<target>[\w-]+)\)=$"  # (how-to-cite)=
    r"|^(?:    |:)name: (?P<figure>[\w-]+)$",  # of a figure, in a cell's metadata or as an option
    re.MULTILINE,
)
FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
"""A cell of code or a directive, from ``` to ```."""
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_BELOW = re.compile(r"(?:\s|\([\w-]+\)=)*#+ (.*)")  # a heading, perhaps behind further labels
_SOLUTION = (
    "`make labs` writes the solved lab to `build/labs/solution/{name}.ipynb`, with rubrics of what is "
    "marked by hand. {{ref}}`For instructors <labs-instructors>`."
)
_TOY_SCALE = """```{warning}
**A protocol at toy scale.** In this edition the page shows only that the protocol runs, on generated reports
or with small models of our own. Its numbers say nothing about the paper.
```"""


def for_readers(
    executed: Path,
    card: pd.DataFrame,
    *,
    source: str = "",
    at_toy_scale: bool = False,
) -> str:
    """Return an executed notebook in the book's form, as JSON.

    Parameters are hidden (its provenance lists them) and code is folded unless it is tagged ``show-input``.
    Its papers are named below the title, and exhibits that were not checked are at the end. Labels of
    ``source`` behind a page's early end are kept there, for other pages refer to them. ``at_toy_scale`` gives
    it the banner of the appendix.
    """
    notebook = nbformat.read(executed, as_version=4)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    shown = []
    for cell in notebook.cells:
        shown.append(cell)
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
                output["data"]["image/svg+xml"] = drawing_symbols("".join(svg))
        if any(output.get("metadata", {}).get(ENDS_HERE) for output in cell.outputs):
            break  # the rest needs data that this build lacks
    notebook.cells = shown
    if first is not None:
        page = f"{executed.parent.name}/{executed.stem}"
        closing = {
            "left-out": _sections_left_out(source, notebook),
            "exhibits": not_checked(card, page),
            "source": citing.source_line(f"notebooks/{page}.md"),
        }
        notebook.cells += [
            nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items() if text
        ]
        first.source = with_papers(_below_title(first.source, _TOY_SCALE * at_toy_scale), page)
    return str(nbformat.writes(notebook))


def with_papers(source: str, notebook: str) -> str:
    """Return Markdown with a line below its title that names the papers of the notebook's exhibits."""
    papers = sorted({entry.paper for entry in of_notebook(notebook)}, key=list(PAPERS).index)
    named = " · ".join(f"{{cite}}`{description(paper)['citation']}`" for paper in papers)
    return _below_title(source, f"Paper: {named}" if named else "")


def _below_title(source: str, text: str) -> str:
    """Return Markdown with a paragraph below its first title; as it is if there is nothing to say."""
    if not text:
        return source
    return re.sub(r"(?m)^# .*$", lambda title: f"{title.group()}\n\n{text}", source, count=1)


def with_claims(source: str, card: pd.DataFrame) -> str:
    """Return a prose page with each ``<!-- claims: PAPER -->`` replaced by a table of that paper's claims."""
    return _CLAIMS.sub(lambda wanted: claims_table(card, PAPERS[wanted[1]], up="../notebooks/"), source)


def drawing(executed: str, name: str) -> tuple[str, nbformat.NotebookNode] | None:
    """Return a figure of an executed notebook (JSON): its SVG, and the options of its cell. None if the
    notebook has no such figure."""
    for cell in nbformat.reads(executed, as_version=4).cells:
        options = cell.metadata.get("mystnb", {})
        if options.get("figure", {}).get("name") == name:
            for output in cell.outputs:
                if svg := output.get("data", {}).get("image/svg+xml"):
                    return "".join(svg), options
    return None


def labels(source: str) -> dict[str, str]:
    """Return the labels of a page's source, including figures, each with the heading just below it or else
    above it."""
    prose = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), source)
    headings = [(heading.start(), heading[1].strip()) for heading in _HEADING.finditer(prose)]
    titles = {}
    for label in _LABEL.finditer(source):
        below = _BELOW.match(source, label.end())
        above = [title for start, title in headings if start < label.start()]
        titles[label["target"] or label["figure"]] = below[1].strip() if below else above[-1]
    return titles


def _sections_left_out(source: str, shown: nbformat.NotebookNode) -> str:
    """Return a heading for each section of a page's source that the page ends before, with its labels."""
    there = set[str]()
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            there |= {label["target"] or label["figure"] for label in _LABEL.finditer(cell.source)}
        there.add(cell.metadata.get("mystnb", {}).get("figure", {}).get("name", ""))
    by_title: dict[str, str] = {}
    for label, title in labels(source).items():
        if label not in there:
            by_title[title] = by_title.get(title, "") + f"({label})=\n"
    return "\n\n".join(f"{targets}## {title} (left out)" for title, targets in by_title.items())


def omission_reason(executed: Path) -> str:
    """Return why the book leaves a page out: the build omitted it, or it ends before its first result. Empty
    for any other page."""
    notebook = nbformat.read(executed, as_version=4)
    if reason := notebook.metadata.get(steps.OMISSION_KEY, ""):
        return str(reason)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return str(outputs[0].get("metadata", {}).get(ENDS_HERE, "")) if outputs else ""


def placeholder(source: str, reason: str) -> str:
    """Return the substitute for a page that is not made yet, or that was left out for a ``reason``. It has
    the page's labels, so that references lead to it."""
    heading = _HEADING.search(source)
    title = heading[1] if heading else "A page"
    targets = "".join(f"({label})=\n" for label in labels(source))
    if reason:
        return f"{targets}# {title} (left out)\n\nThis build leaves the page out: {reason}.\n"
    return (
        f"{targets}# {title} (follows)\n\nThis page is not made yet. `radbook build` makes the whole book.\n"
    )


def labs() -> Iterator[tuple[str, str]]:
    """Yield the name and content of each file that the labs add to the staged book: each lab as a page, and
    its notebook if Otter is installed."""
    has_otter = importlib.util.find_spec("otter") is not None
    for lab in sources.labs():
        if has_otter:
            with tempfile.TemporaryDirectory() as folder:
                sources.build(lab, Path(folder))
                student = Path(folder) / "student" / f"{lab.name}.ipynb"
                yield f"_extra/labs/{lab.name}.ipynb", student.read_text(encoding="utf-8")
        page = sources.page(lab)
        links = [f'<a href="../../labs/{lab.name}.ipynb" download>Download the notebook</a>'] * has_otter
        if repository := citing.repository():  # where postBuild has made the labs
            address = f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/build/labs/student"
            links.append(f'<a href="{address}/{lab.name}.ipynb">Open in Binder</a>')
        buttons = f'<p class="lab-buttons">{" ".join(links)} <code>make lab N={lab.number}</code></p>'
        page.cells[0].source = _below_title(page.cells[0].source, buttons)
        closing = {
            "solution": _SOLUTION.format(name=lab.name),
            "source": citing.source_line(f"notebooks/labs/{lab.name}.md"),
        }
        page.cells += [nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items()]
        for number, cell in enumerate(page.cells):
            cell["id"] = f"cell-{number:03d}"  # the same at every build
        yield f"notebooks/labs/{lab.name}.ipynb", str(nbformat.writes(page))
