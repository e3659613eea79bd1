"""The Sphinx extension of the book: sets the text of pages as :mod:`radeval_lib.pipeline.typesetting` says,
registers the style of the bibliography, and makes pages that the table of contents lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from radeval_lib.pipeline import bibliography
from radeval_lib.pipeline.typesetting import (
    LONGEST_WHOLE,
    NAME_WITH_HYPHEN,
    TAU,
    characters,
    commands,
    held,
    markup,
)


def _inline(text: str) -> Iterator[nodes.Node]:
    """Text as docutils' nodes, the subscript and names with a hyphen as their own."""
    *before, last = held(characters(text)).split(TAU)
    for part in before:
        yield from _whole_names(f"{part}τ")
        yield nodes.subscript("", "b")
    yield from _whole_names(last)


def _whole_names(text: str) -> Iterator[nodes.Node]:
    """Text as docutils' nodes, in which names such as ROUGE-L are not broken after their hyphen."""
    last = 0
    for name in NAME_WITH_HYPHEN.finditer(text):
        if name.start() > last:
            yield nodes.Text(text[last : name.start()])
        yield nodes.inline("", name[0], classes=["whole"])
        last = name.end()
    if text[last:]:
        yield nodes.Text(text[last:])


def set_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Set the text of a page, but for code, formulas and alternative texts."""
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", ""):
            raw[:] = [nodes.Text(markup(raw.astext()))]
    for literal in doctree.findall(nodes.literal):
        if max(map(len, literal.astext().split()), default=0) <= LONGEST_WHOLE:
            literal["classes"].append("short")
    for text in list(doctree.findall(nodes.Text)):
        # A citation names two authors, of whom BibTeX may call the second "others".
        if isinstance(text.parent, nodes.reference) and " and others" in text:
            whole = nodes.Text(text.replace(" and others", " et al."))
            text.parent.replace(text, whole)
            text = whole
        if _is_code(text):
            continue
        written = list(_inline(text.astext()))
        if written != [text]:
            text.parent.replace(text, written)


def set_commands(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Set the blocks of commands of a page, which only its HTML has in colours."""
    if "body" in context:
        context["body"] = commands(context["body"])


def _is_code(node: nodes.Node | None) -> bool:
    """Whether a node is in what stays as it is written: code, formulas, and HTML."""
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
    app.connect("html-page-context", set_commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
