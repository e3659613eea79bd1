"""The Sphinx extension of the book: sets numbers and symbols (:mod:`radeval_lib.pipeline.typesetting`),
registers the style of the bibliography, and makes pages that the table of contents lacks."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from radeval_lib.pipeline import bibliography
from radeval_lib.pipeline.typesetting import TAU, characters, symbols


def set_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Set the text of a page, but for code, formulas and alternative texts."""
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
    """Let pages stand outside the table of contents: the appendix, and pages left out that tables link."""
    for page in env.all_docs:
        env.metadata[page].setdefault("orphan", True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    bibliography.register()
    app.connect("env-updated", allow_outside_contents)
    app.connect("doctree-resolved", set_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
