"""Names of a notebook that a loop takes over and later code still reads: green/judge_models once asked for 15
of 15 means, where there are 9, because a loop over sets of reports had used ``n``. And tables that no cell
shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from radeval_lib.paths import NOTEBOOKS
from radeval_lib.study.sources import code_cells, code_of

SOURCES = sorted(NOTEBOOKS.rglob("*.md"))


def stored(*nodes: ast.AST) -> set[str]:
    names = (node for top in nodes for node in ast.walk(top) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def read(node: ast.AST) -> set[str]:
    """Return names that a statement reads from outside: not those that its comprehensions or functions
    bind."""
    inner: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.comprehension):
            inner |= stored(part.target)
        elif isinstance(part, ast.arg):
            inner.add(part.arg)
        elif isinstance(part, ast.FunctionDef):
            inner |= stored(*part.body)
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - inner


def steps(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Yield every ``read``, ``bind`` and ``loop`` over names of the notebook, in the order of the code."""
    for statement in statements:
        if isinstance(statement, ast.For):
            yield "read", statement.iter
            yield "loop", statement.target
            yield from steps([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.With):
            for item in statement.items:
                yield "read", item.context_expr
                if item.optional_vars:
                    yield "bind", item.optional_vars
            yield from steps(statement.body)
        elif isinstance(statement, ast.If | ast.While):
            yield "read", statement.test
            yield from steps([*statement.body, *statement.orelse])
        else:
            yield "read", statement
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                yield "bind", statement


def taken_over(cells: Iterable[str]) -> list[str]:
    """Return what a loop of a later cell makes of a name of an earlier one that code after the loop reads.

    A loop's own body may read its target: what is read there is that of the loop in every reader's eyes.
    """
    bound: dict[str, int] = {}
    lost: dict[str, int] = {}
    found = []
    for number, source in enumerate(cells):
        for top in ast.parse(source).body:
            own: set[str] = set()
            for what, node in steps([top]):
                if what == "read":
                    found += [
                        f"{name} of cell {bound[name]}: taken by cell {lost[name]}, read in cell {number}"
                        for name in sorted((read(node) & set(lost)) - own)
                    ]
                elif what == "loop":
                    own |= stored(node)
                    lost |= {name: number for name in stored(node) if bound.get(name, number) < number}
                else:
                    names = stored(node)
                    bound |= dict.fromkeys(names, number)
                    lost = {name: cell for name, cell in lost.items() if name not in names}
    return found


def blocks_of(code: ast.Module) -> dict[str, list[tuple[int, int]]]:
    """Return first and last lines of the ``with`` blocks that bind each name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for node in ast.walk(code):
        if isinstance(node, ast.With):
            for name in stored(*(item.optional_vars for item in node.items if item.optional_vars)):
                found.setdefault(name, []).append((node.lineno, node.end_lineno or node.lineno))
    return found


def shared(source: str) -> list[str]:
    """Return names that several ``with`` blocks bind and later code reads, as if it were all of them."""
    code = ast.parse(source)
    found, names = [], [node for node in ast.walk(code) if isinstance(node, ast.Name)]
    for name, places in blocks_of(code).items():
        end = max(last for _, last in places)
        later = [node for node in names if node.id == name and node.lineno > end]
        again = [node.lineno for node in later if isinstance(node.ctx, ast.Store)]
        if len(places) > 1:
            found += [f"{name}, line {node.lineno}" for node in later if node.lineno < min([*again, 10**6])]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=[f"{path.parent.name}/{path.stem}" for path in SOURCES])
def test_no_loop_takes_a_name_that_is_read_later(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert not taken_over("\n".join(lines[cell]) for cell in code_cells(lines))


@pytest.mark.parametrize(
    ("cells", "caught"),
    [
        (["n = 9", "for place, n in {'ct': 15}.items():\n    print(n)", "print(f'of {n}')"], True),
        (["n = 9", "with open('x') as file:\n    for n in [15]:\n        pass", "[n for _ in 'ab']"], True),
        (["n = 9", "for n in [15]:\n    print(n)"], False),
        (["n = 9", "for n in [15]:\n    pass", "n = 9\nprint(n)"], False),
        (["n = 9", "print([n for n in [15]])", "print(n)"], False),
        (["n = 9", "for n in [15]:\n    pass", "print([n for n in [1]])"], False),
        (["n = 9\nfor n in [15]:\n    pass\nprint(n)"], False),  # one cell: its reader sees both
    ],
)
def test_a_name_taken_over_is_caught(cells, caught):
    assert bool(taken_over(cells)) is caught


@pytest.mark.parametrize("path", SOURCES, ids=[f"{path.parent.name}/{path.stem}" for path in SOURCES])
def test_no_exhibits_share_a_name_that_is_read_later(path):
    assert not shared(code_of(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("with a() as x:\n    x.add(1)\nwith b() as x:\n    pass\nprint(x)", ["x, line 5"]),
        ("with a() as x:\n    x.add(1)\nwith b() as x:\n    x.add(1)", []),
        ("with a() as x:\n    pass\nprint(x)", []),
        ("with a() as x:\n    pass\nwith b() as x:\n    pass\nx = 1\nprint(x)", []),
    ],
)
def test_a_name_that_exhibits_share_is_caught(source, caught):
    assert shared(source) == caught


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_table_that_a_cell_makes_is_shown(path: Path) -> None:
    """A cell shows its last expression alone: a table before it has to be displayed."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for cell in code_cells(lines):
        code = ast.parse("\n".join(line for line in lines[cell] if not line.startswith("%")))
        lost = [
            ast.unparse(one.value)
            for place in ast.walk(code)
            if isinstance(getattr(place, "body", None), list)
            for one in place.body
            if isinstance(one, ast.Expr) and one is not code.body[-1] and makes_a_table(one.value)
        ]
        assert not lost


def makes_a_table(value: ast.expr) -> bool:
    made = ("tables.", "HTML", "study.said", "study.quote")
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(made)
