"""Names that a notebook's Markdown takes by ``{glue:text}`` and those that its cells glue are the same."""

from __future__ import annotations

import ast
import re

from radeval_lib.study.sources import code_of

_USED = re.compile(r"\{glue:text\}`([^`:]+)")


def differences(text: str) -> list[str]:
    """Return one line for each name that is used and not glued, or glued and not used, by the source of a
    notebook.

    Calls of ``study.glue`` name texts by keywords; a ``**`` in one is read as gluing any name.
    """
    glued, anything = set[str](), False
    for node in ast.walk(ast.parse(code_of(text))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("glue"):
            glued |= {word.arg for word in node.keywords if word.arg}
            anything = anything or any(word.arg is None for word in node.keywords)
    used = set(_USED.findall(text))
    unknown = [] if anything else [f"used and not glued: {name}" for name in sorted(used - glued)]
    return unknown + [f"glued and not used: {name}" for name in sorted(glued - used)]
