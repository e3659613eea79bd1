"""The Sphinx extension of the book: sets numbers and symbols, and allows pages outside its table of contents.

Pages get a minus sign before a negative number, no sign before zero, intervals that stay on one line, and the
subscript of Kendall's τ_b. Sources and results keep the plain characters, which programs read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

TAU = "τ_b"
_MINUS = re.compile(r"(?<![\w.:/−-])-(?=\.?\d)")
_SIGNED_ZERO = re.compile(r"(?<![\w.:/+−-])[-+−](?=0(?:\.0+)?(?![\w]|\.\d))")
_INTERVAL = re.compile(r"(?<=\[)([-+−]?[\d.,]+%?(?:,| to)) (?=[-+−]?[\d.,]+%?\])")
# The parts of HTML or SVG that are no running text: tags, and elements with code or values for programs.
_AS_IS = re.compile(r"<(script|style|code|pre|math|textarea|title)\b.*?</\1\s*>|<[^>]*>", re.DOTALL)
# A subscript in SVG; the text after it is raised to the line.
_LOWERED = r'τ<tspan font-size="75%" dy="0.24em">b</tspan><tspan dy="-0.18em">\1</tspan>'


def characters(text: str) -> str:
    """Return text with minus signs (U+2212), zeros without a sign, and intervals that do not break."""
    signed = _MINUS.sub("\N{MINUS SIGN}", _SIGNED_ZERO.sub("", text))
    return _INTERVAL.sub("\\1\N{NO-BREAK SPACE}", signed)


def symbols(html: str) -> str:
    """Return HTML with signs and subscripts typeset in its text, outside tags and code."""
    return _outside_tags(html, lambda text: characters(text).replace(TAU, "τ<sub>b</sub>"))


def drawing_symbols(svg: str) -> str:
    """Return an SVG drawing with signs and subscripts typeset in its text."""
    return _outside_tags(svg, lambda text: re.sub(rf"{TAU}([^<]*)", _LOWERED, characters(text)))


def _outside_tags(source: str, write: Callable[[str], str]) -> str:
    """Return HTML or SVG whose running text is as ``write`` gives it."""
    parts, last = list[str](), 0
    for match in _AS_IS.finditer(source):
        parts += [write(source[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, write(source[last:])])


def set_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Typeset the text of a page, except code, formulas and alternative texts."""
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", ""):
            raw[:] = [nodes.Text(symbols(raw.astext()))]
    for text in list(doctree.findall(nodes.Text)):
        if _is_code(text):
            continue
        # A citation names two authors, of whom BibTeX may call the second "others".
        cited = isinstance(text.parent, nodes.reference)
        whole = text.replace(" and others", " et al.") if cited else text.astext()
        *before, last = characters(whole).split(TAU)
        written: list[nodes.Node] = []
        for part in before:
            written += [nodes.Text(f"{part}τ"), nodes.subscript("", "b")]
        text.parent.replace(text, [*written, nodes.Text(last)])


def _is_code(node: nodes.Node | None) -> bool:
    """Return whether a node is in what stays as it is written: code, formulas, and HTML."""
    kinds = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)
    return node is not None and (isinstance(node, kinds) or _is_code(node.parent))


def allow_outside_contents(app: Sphinx, env: BuildEnvironment) -> None:
    """Allow the appendix's pages outside the table of contents."""
    for page in env.all_docs:
        env.metadata[page].setdefault("orphan", True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("env-updated", allow_outside_contents)
    app.connect("doctree-resolved", set_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
