"""What the book shows of labs: the student's version as a page, its notebook, links from pages it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat

from radeval_lib.labs import building, lab_sources
from radeval_lib.pipeline import absent, citing, launching

# The rows of a lab's first table that name pages: | **Read first** | {ref}`label` |
_READ = re.compile(r"^\| \*\*Read (?:first|afterwards)\*\* \|(.*)\|$", re.MULTILINE)
_SOLUTIONS = "Solutions are not on this site: {ref}`an instructor makes them <labs-instructors>`."


def staged() -> Iterator[tuple[str, str]]:
    """Name and content of each file that the labs add to the staged book."""
    for lab in lab_sources.labs():
        student = building.versions(lab)["student"]
        yield f"_extra/labs/{lab.name}.ipynb", building.as_file(student)
        head, _, rest = student.cells[0].source.partition("\n\n")
        student.cells[0].source = f"{head}\n\n{_buttons(lab)}\n\n{rest}"
        student.cells.append(nbformat.v4.new_markdown_cell(_SOLUTIONS, id="solutions"))
        source = citing.source_line(f"notebooks/labs/{lab.name}.md")
        student.cells.append(nbformat.v4.new_markdown_cell(source, id="source"))
        yield f"notebooks/labs/{lab.name}.ipynb", str(nbformat.writes(student))


def _buttons(lab: lab_sources.Lab) -> str:
    """How to get the notebook: by a link, on Binder where the repository is named, or by a command."""
    links = [f'<a href="../../labs/{lab.name}.ipynb" download>Download the notebook</a>']
    if hosted := launching.home():
        places = launching.lab_links(hosted, lab.name)
        links += [f'<a href="{place}">Open in {where}</a>' for where, place in places.items()]
    return f'<p class="lab-buttons">{" ".join(links)} <code>make lab N={lab.number}</code></p>'


def exercises() -> dict[str, str]:
    """For the label of each page that labs rest on, the line that leads there to the labs."""
    by_label: dict[str, list[str]] = {}
    for lab in lab_sources.labs():
        rows = _READ.findall(lab.source.read_text(encoding="utf-8"))
        for label in absent.references(" ".join(rows)):
            by_label.setdefault(label, []).append(f"{{ref}}`Lab {lab.number}: {lab.title} <lab-{lab.name}>`")
    return {label: f"**Exercise.** {', '.join(links)}" for label, links in by_label.items()}
