"""Pages as the book shows them: an executed notebook for its readers, drawings for light and dark ground, and
prose with its claims."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
from matplotlib.colors import to_hex, to_rgb
from seaborn.utils import relative_luminance

from radeval_lib.errors import NotebookError
from radeval_lib.papers.exhibits import PAPERS, of_notebook
from radeval_lib.papers.printed_numbers import paper as described
from radeval_lib.pipeline import citing, launching, typesetting
from radeval_lib.pipeline.glossary import Linker
from radeval_lib.study.display import ENDS_HERE
from radeval_lib.study.pages import claims_table, not_rebuilt
from radeval_lib.study.results import Result

_PAINT = re.compile(r"(fill|stroke): #([0-9a-f]{6})\b")
_OPACITY = re.compile(r"\b((?:fill-|stroke-)?opacity): (0\.\d+)")  # fill-opacity: 0.5
_CELLS = re.compile(r'<g id="QuadMesh_\d+">.*?</g>', re.DOTALL)  # a heat map's cells
_WHOLE = (("^=", "", ";"), ("*=", "; ", ";"), ("$=", "; ", ""))  # a declaration in a style, and its ends
_DARK_GROUND = "121212"  # the page of sphinx-book-theme
_LEAST_CONTRAST = 6  # of a colour with it: Okabe and Ito's blue has 3.6

_CLAIMS = re.compile(r"^<!-- claims: (\w+) -->$", re.MULTILINE)
"""Where a prose page wants the claims of a paper: a comment with the paper's key in the ledger."""


def for_readers(
    executed: Path,
    card: pd.DataFrame,
    exercises: Mapping[str, str],
    recorded: Sequence[Result],
) -> str:
    """An executed notebook as the book shows it: parameters hidden (its provenance lists them), code folded
    unless it is tagged ``show-input``, its papers below the title, how to cite each result of ``recorded``
    beside it, exhibits that were not rebuilt at the end, words of the glossary linked."""
    notebook = nbformat.read(executed, as_version=4)
    commit = launching.built_from(notebook)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    notebook.cells = notebook.cells[: _length_shown(notebook)]
    glossary = Linker()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = glossary.linked(cell.source)
        elif cell.cell_type == "code":
            _tag(cell)
            _adapt_outputs(cell, recorded)
    if first is not None:
        page = f"{executed.parent.name}/{executed.stem}"
        label = re.match(r"\(([\w-]+)\)=", first.source)
        closing = {
            "exhibits": not_rebuilt(card, page),
            "exercise": exercises.get(label[1], "") if label else "",
            "source": citing.source_line(f"notebooks/{page}.md"),
        }
        notebook.cells += [
            nbformat.v4.new_markdown_cell(text, id=key) for key, text in closing.items() if text
        ]
        first.source = _below_title(with_papers(first.source, page), launching.buttons(page, commit))
    return str(nbformat.writes(notebook))


def _length_shown(notebook: nbformat.NotebookNode) -> int:
    """How many cells a page shows: up to the one with which ``study.only_with_data`` ends it."""
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
            output["data"]["image/svg+xml"] = for_both_grounds(typesetting.drawing("".join(drawing)))
        if html := output.get("data", {}).get("text/html"):
            output["data"]["text/html"] = citing.with_citation("".join(html), recorded)


def for_both_grounds(svg: str) -> str:
    """An SVG drawing that also suits a dark page, where greys turn round, colours that would sink into it get
    lighter, what is half transparent shows more, and cells of heat maps run from dark to light.

    A picture in a page asks for the colour scheme of its place there (CSS Color Adjustment 1, section 2.2),
    so that one file serves both.
    """
    rules = []
    in_cells = "".join(_CELLS.findall(svg))
    cells = {colour for paint, colour in _PAINT.findall(in_cells) if paint == "fill"}
    for paint, colour in sorted(set(_PAINT.findall(svg))):
        if (dark := _on_dark(colour)) != colour:
            rules.append(f'[style*="{paint}: #{colour}"]{{{paint}:#{dark}!important}}')
        if (paint, colour) == ("fill", "ffffff"):  # white text stands on what gets lighter
            rules.append('text[style*="fill: #ffffff"]{fill:#000!important}')
    for name, share in sorted(set(_OPACITY.findall(svg))):
        chosen = ",".join(f'[style{at}"{before}{name}: {share}{after}"]' for at, before, after in _WHOLE)
        rules.append(f"{chosen}{{{name}:{float(share) ** 0.5:.2f}!important}}")
    for colour in sorted(cells):
        rules.append(f'[id^=QuadMesh] [style*="fill: #{colour}"]{{fill:#{_turned(colour)}!important}}')
    if cells:
        rules.append('text:not([style*="fill:"]){fill:#fff}')
    if not rules:
        return svg
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda head: head.group() + style, svg, count=1)


def _on_dark(colour: str) -> str:
    """A colour on the dark ground: a grey turned round, another mixed with white until it contrasts."""
    if colour == "ffffff":
        return _DARK_GROUND
    if colour[:2] == colour[2:4] == colour[4:]:
        return f"{round(0xF0 - int(colour[:2], 16) * (0xF0 - 0x18) / 255):02x}" * 3
    shares = np.array(to_rgb(f"#{colour}"))
    mixed = (shares + white * (1 - shares) for white in np.arange(0, 1, 0.05))
    enough = _LEAST_CONTRAST * (relative_luminance(f"#{_DARK_GROUND}") + 0.05) - 0.05
    red, green, blue = next(lighter for lighter in mixed if relative_luminance(lighter) >= enough)
    return to_hex((red, green, blue))[1:]


def _turned(colour: str) -> str:
    """A cell's colour with the contrast to black that it had to white, so that black and white writing on it
    change places."""
    wanted = 1.05 * 0.05 / (relative_luminance(f"#{colour}") + 0.05) - 0.05
    hue, _, saturation = colorsys.rgb_to_hls(*to_rgb(f"#{colour}"))
    levels = (colorsys.hls_to_rgb(hue, level, saturation) for level in np.linspace(0, 1, 256))
    light = (np.clip(shares, 0, 1) for shares in levels)  # shares just below 0 by Python 3.11.2
    red, green, blue = min(light, key=lambda shares: abs(relative_luminance(shares) - wanted))
    return to_hex((red, green, blue))[1:]


def with_papers(source: str, notebook: str) -> str:
    """Markdown with the papers whose exhibits the notebook rebuilds named in a line below its title."""
    papers = sorted({entry.paper for entry in of_notebook(notebook)}, key=list(PAPERS).index)
    named = " · ".join(f"{{cite}}`{described(paper)['citation']}`" for paper in papers)
    return _below_title(source, f"Paper: {named}" if named else "")


def _below_title(source: str, text: str) -> str:
    """Markdown with a paragraph below its first title; as it is where there is nothing to say."""
    if not text:
        return source
    return re.sub(r"(?m)^# .*$", lambda title: f"{title.group()}\n\n{text}", source, count=1)


def with_claims(source: str, card: pd.DataFrame) -> str:
    """A prose page with each ``<!-- claims: PAPER -->`` replaced by the table of that paper's claims."""

    def filled(wanted: re.Match[str]) -> str:
        if (key := wanted[1]) not in PAPERS:
            listed = f"Papers: {', '.join(PAPERS)}."
            raise NotebookError(f"a page asks for the claims of no paper {key!r}", remedy=listed)
        return claims_table(card, PAPERS[key], up="../notebooks/")

    return _CLAIMS.sub(filled, source)
