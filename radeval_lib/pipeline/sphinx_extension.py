"""The book's Sphinx extension, which typesets numbers and symbols and allows pages outside the table of
contents.

On pages, negative numbers get a minus sign, zeros no sign, intervals stay on one line, and Kendall's τ_b gets
a subscript. Sources and results keep the plain characters for programs.
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
# Matches the parts of HTML or SVG that are not running text: tags, and elements with code or values.
_AS_IS = re.compile(r"<(script|style|code|pre|math|textarea|title)\b.*?</\1\s*>|<[^>]*>", re.DOTALL)
# A subscript in SVG; the text after it is raised back to the line.
_LOWERED = r'τ<tspan font-size="75%" dy="0.24em">b</tspan><tspan dy="-0.18em">\1</tspan>'


def typeset_characters(text: str) -> str:
    """Return text with minus signs (U+2212), zeros without a sign, and intervals without line breaks."""
    signed = _MINUS.sub("\N{MINUS SIGN}", _SIGNED_ZERO.sub("", text))
    return _INTERVAL.sub("\\1\N{NO-BREAK SPACE}", signed)


def typeset_html(html: str) -> str:
    """Return HTML with numbers, intervals and τ_b typeset, except in tags and code."""
    return _apply_outside_tags(html, lambda text: typeset_characters(text).replace(TAU, "τ<sub>b</sub>"))


def typeset_svg(svg: str) -> str:
    """Return an SVG drawing with numbers, intervals and τ_b typeset in its texts."""
    return _apply_outside_tags(svg, lambda text: re.sub(rf"{TAU}([^<]*)", _LOWERED, typeset_characters(text)))


def _apply_outside_tags(source: str, convert: Callable[[str], str]) -> str:
    """Return HTML or SVG with ``convert`` applied to each part of its running text."""
    parts, last = list[str](), 0
    for match in _AS_IS.finditer(source):
        parts += [convert(source[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, convert(source[last:])])


def typeset_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Typeset the texts of a page, in place, except code, formulas and alternative texts."""
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", ""):
            raw[:] = [nodes.Text(typeset_html(raw.astext()))]
    for text in list(doctree.findall(nodes.Text)):
        if _is_code(text):
            continue
        # In a citation, BibTeX abbreviates further authors as "others".
        is_citation = isinstance(text.parent, nodes.reference)
        content = text.replace(" and others", " et al.") if is_citation else text.astext()
        *before_taus, last = typeset_characters(content).split(TAU)
        typeset: list[nodes.Node] = []
        for part in before_taus:
            typeset += [nodes.Text(f"{part}τ"), nodes.subscript("", "b")]
        text.parent.replace(text, [*typeset, nodes.Text(last)])


def _is_code(node: nodes.Node | None) -> bool:
    """Return whether a node is part of code, a formula or raw HTML, which are not typeset."""
    kinds = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)
    return node is not None and (isinstance(node, kinds) or _is_code(node.parent))


def allow_outside_contents(app: Sphinx, env: BuildEnvironment) -> None:
    """Mark every page so that Sphinx does not warn if it is outside the table of contents."""
    for page in env.all_docs:
        env.metadata[page].setdefault("orphan", True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions of this extension to events of Sphinx; return that parallel builds are safe."""
    app.connect("env-updated", allow_outside_contents)
    app.connect("doctree-resolved", typeset_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
