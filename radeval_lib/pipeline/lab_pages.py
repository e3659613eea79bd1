"""What the book shows of labs: each as a page, its notebook where Otter is installed, links from pages."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from radeval_lib.labs import building, sources
from radeval_lib.pipeline import absent, citing, launching

# The rows of a lab's first table that name pages: | **Read first** | {ref}`label` |
_READ = re.compile(r"^\| \*\*Read (?:first|afterwards)\*\* \|(.*)\|$", re.MULTILINE)
_SOLUTION = (
    "`make labs` writes the solved lab to `build/labs/solution/{name}.ipynb`, with rubrics of what is "
    "marked by hand. {{ref}}`For instructors <labs-instructors>`."
)


def staged() -> Iterator[tuple[str, str]]:
    """Yield name and content of each file that the labs add to the staged book."""
    has_otter = importlib.util.find_spec("otter") is not None
    for lab in sources.labs():
        if has_otter:
            yield f"_extra/labs/{lab.name}.ipynb", _student(lab)
        page = sources.page(lab)
        head, _, rest = page.cells[0].source.partition("\n\n")
        page.cells[0].source = f"{head}\n\n{_buttons(lab, has_otter)}\n\n{rest}"
        solution = _SOLUTION.format(name=lab.name)
        page.cells.append(nbformat.v4.new_markdown_cell(solution, id="solution"))
        source = citing.source_line(f"notebooks/labs/{lab.name}.md")
        page.cells.append(nbformat.v4.new_markdown_cell(source, id="source"))
        for number, cell in enumerate(page.cells):
            cell["id"] = f"cell-{number:03d}"  # the same at every build
        yield f"notebooks/labs/{lab.name}.ipynb", str(nbformat.writes(page))


def _student(lab: sources.Lab) -> str:
    with tempfile.TemporaryDirectory() as folder:
        building.build(lab, Path(folder))
        return (Path(folder) / "student" / f"{lab.name}.ipynb").read_text(encoding="utf-8")


def _buttons(lab: sources.Lab, has_otter: bool) -> str:
    """Return how to get the notebook: by a link, on Binder where the repository is named, or by a command."""
    links = [f'<a href="../../labs/{lab.name}.ipynb" download>Download the notebook</a>'] * has_otter
    if hosted := launching.home():
        places = launching.lab_links(hosted, lab.name)
        links += [f'<a href="{place}">Open in {where}</a>' for where, place in places.items()]
    return f'<p class="lab-buttons">{" ".join(links)} <code>make lab N={lab.number}</code></p>'


def exercises() -> dict[str, str]:
    """Return, for the label of each page that labs rest on, the line that leads there to the labs."""
    by_label: dict[str, list[str]] = {}
    for lab in sources.labs():
        rows = _READ.findall(lab.source.read_text(encoding="utf-8"))
        for label in absent.references(" ".join(rows)):
            by_label.setdefault(label, []).append(f"{{ref}}`Lab {lab.number}: {lab.title} <lab-{lab.name}>`")
    return {label: f"**Exercise.** {', '.join(links)}" for label, links in by_label.items()}
