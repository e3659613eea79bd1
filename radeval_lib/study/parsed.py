"""A source file, parsed: of a program or a notebook's cells its imports, the names that it uses, and a digest
that ignores comments; of a YAML file a digest of what it holds.

Each file is parsed once for its content: what was found is kept in ``build/cache`` under the SHA-256 of the
source, of this code and of what reads YAML: an entry is of that very source, and a lost one costs time alone.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeGuard

import yaml

from radeval_lib import atomic, checksums, own_yaml
from radeval_lib.errors import NotebookError
from radeval_lib.paths import BUILD

_CACHE = BUILD / "cache" / "sources.json"
# What is found in a source depends on the code that looks, and on the grammars of Python and of YAML.
_LOOKING = " ".join(checksums.of_file(Path(path)) for path in (__file__, own_yaml.__file__))
_PYTHON = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
_VERSION = f"{_LOOKING} {_PYTHON} PyYAML {yaml.__version__}"


class Parsed(NamedTuple):
    """The dotted names that a program imports or uses, and the SHA-256 of what it does."""

    names: tuple[str, ...]
    sha256: str


def program(text: str) -> Parsed:
    """Return a Python program; comments, docstrings and layout do not count.

    Raises
    ------
    SyntaxError
        Where it is none, or imports relative to a package.
    """
    known, key = _known(), checksums.of_text(f"{_VERSION} py {text}")
    if key not in known:
        tree = ast.parse(text)
        names = tuple(sorted({*imports_of(tree), *_uses(tree)}))
        known[key] = Parsed(names, checksums.of_text(ast.dump(_without_docstrings(tree))))
        _new.append(key)
    return known[key]


def data_digest(path: Path) -> str:
    """Return SHA-256 of a data file: of what a YAML file holds, of the bytes of any other.

    Raises
    ------
    OSError
        Where it cannot be read.
    UnicodeDecodeError, yaml.YAMLError
        Where a YAML file is not UTF-8 or not what :func:`radeval_lib.own_yaml.parse` reads.
    """
    content = path.read_bytes()
    if path.suffix != ".yml":
        return hashlib.sha256(content).hexdigest()
    known, key = _known(), hashlib.sha256(f"{_VERSION} yml ".encode() + content).hexdigest()
    if key not in known:
        held = own_yaml.parse(content.decode("utf-8"))
        known[key] = Parsed((), digest_of(held))
        _new.append(key)
    return known[key].sha256


def digest_of(content: object) -> str:
    """Return SHA-256 of plain data as ``repr`` writes it: types of keys and values, and the order of keys,
    count."""
    return checksums.of_text(repr(content))


def keep() -> None:
    """Write down what was parsed since the last call; where nothing can be written, it is parsed again."""
    if _new:
        with suppress(OSError):
            atomic.write_text(_CACHE, json.dumps(_known()) + "\n")
        _new.clear()


_new: list[str] = []


@cache
def _known() -> dict[str, Parsed]:
    try:
        listed = json.loads(_CACHE.read_text(encoding="utf-8"))
        return {key: Parsed(tuple(names), sha256) for key, (names, sha256) in listed.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _uses(tree: ast.AST) -> Iterator[str]:
    """Yield ``package.name`` where a name of an imported package is used, ``package.*`` where the package is
    passed on as a whole."""
    called = dict[str, str]()
    branches = [node.body for node in ast.walk(tree) if is_for_type_checkers(node)]
    unloaded = {id(part) for body in branches for node in body for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in unloaded:
            called |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    within = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            within.add(id(node.value))
            yield f"{called[node.value.id]}.{node.attr}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in called and id(node) not in within:
            yield f"{called[node.id]}.*"


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree


def code_cells(lines: list[str]) -> Iterator[slice]:
    """Yield the lines of a MyST notebook that are the code of each cell, without its options.

    Raises
    ------
    NotebookError
        Where a cell, or the options between two ``---``, have no end.
    """
    start: int | None = None
    for number, line in enumerate(lines):
        if start is None and line.startswith("```{code-cell}"):
            start = number + 1
        elif start is not None and line == "```":
            yield slice(_after_options(lines, start, number), number)
            start = None
    if start is not None:
        raise NotebookError(
            "a code cell has no end", f"line {start}", "Close it by ``` on a line of its own."
        )


def _after_options(lines: list[str], first: int, last: int) -> int:
    if first < last and lines[first] == "---":
        if "---" not in lines[first + 1 : last]:
            raise NotebookError("options of a cell have no end", f"line {first + 1}", "Close them by `---`.")
        first = lines.index("---", first + 1) + 1
    while first < last and (lines[first].startswith(":") or not lines[first].strip()):
        first += 1
    return first


def code_of(text: str) -> str:
    """Return the code cells of a MyST notebook as one program, without their options; see
    :func:`code_cells`."""
    lines = text.split("\n")  # no form feed within a string ends a line
    return "".join(f"{line}\n" for cell in code_cells(lines) for line in lines[cell])


def is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    """Return whether a statement is ``if TYPE_CHECKING``, alone or of ``typing``."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Name | ast.Attribute):
        return False
    return ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING"


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Yield dotted names of everything that a program may import, modules and what is in them alike; a
    SyntaxError where it imports relative to a package, which is not known here."""
    for node in ast.iter_child_nodes(tree):
        if is_for_type_checkers(node):
            yield from imports_of(ast.Module(node.orelse, []))
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise SyntaxError("a relative import, where the whole name is wanted")
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif not isinstance(node, ast.expr):  # which holds no statement
            yield from imports_of(node)
