"""Imports of a module by its syntax tree: those within functions, but not those for type checkers alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard


def code_cells(lines: list[str]) -> Iterator[slice]:
    """The lines of a MyST notebook that are the code of each cell, without its options."""
    start: int | None = None
    for number, line in enumerate(lines):
        if start is None and line.startswith("```{code-cell}"):
            start = number + 1
        elif start is not None and line == "```":
            yield slice(_after_options(lines, start, number), number)
            start = None


def _after_options(lines: list[str], first: int, last: int) -> int:
    if first < last and lines[first] == "---":
        first = lines.index("---", first + 1) + 1
    while first < last and (lines[first].startswith(":") or not lines[first].strip()):
        first += 1
    return first


def code_of(text: str) -> str:
    """The code cells of a MyST notebook as one program, without their options."""
    lines = text.splitlines()
    return "".join(f"{line}\n" for cell in code_cells(lines) for line in lines[cell])


def is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is ``if TYPE_CHECKING``."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Dotted names of everything that a program may import, modules and what is in them alike."""
    for node in ast.iter_child_nodes(tree):
        if is_for_type_checkers(node):
            yield from imports_of(ast.Module(node.orelse, []))
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif not isinstance(node, ast.expr):  # which holds no statement
            yield from imports_of(node)
