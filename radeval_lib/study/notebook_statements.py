"""The statements of a notebook, by their syntax: the names that each uses, gives a value and may change, and
which statements another rests on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Place = tuple[int, int]
"""A statement of a notebook: the number of its cell, and its first line there; or any line of it."""
_CHANGES = frozenset(
    ("add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "sort", "update")
)
"""Methods that change what they are called on."""
_RUN = "run"
"""What every page calls its run, which is not changed by what is called on it, as no module is."""


@dataclass(frozen=True)
class Statement:
    """A statement of a notebook, by its cell and lines, and the names that it uses, surely gives a value, may
    change, imports, and looks up later, when a function that it defines is called."""

    cell: int
    first: int
    last: int
    uses: frozenset[str]
    gives: frozenset[str]
    changes: frozenset[str]
    imports: frozenset[str]
    later: frozenset[str]

    def holds(self, place: Place | None) -> bool:
        """Return whether a place lies in it."""
        return place is not None and place[0] == self.cell and self.first <= place[1] <= self.last


def rests_on(cells: Mapping[int, str], here: Place) -> list[Statement]:
    """Return the statement of a notebook at a place, and those before it that it rests on, the last first.

    Parameters
    ----------
    cells : the source of each cell by its number, in the order in which they ran.

    Raises
    ------
    SyntaxError
        Where one is not Python alone, as with IPython's ``%`` before a command.
    """
    every = [statement for number, source in cells.items() for statement in statements(number, source)]
    running = [number for number, statement in enumerate(every) if statement.holds(here)]
    if not running:  # nowhere in what ran, so that it may rest on all of it
        return every
    last = running[-1]
    kept = frozenset({_RUN}).union(*(statement.imports for statement in every))
    called = frozenset[str]()  # what functions look up has the value that it has where they are called
    while True:
        found, wanted = [every[last]], every[last].uses | called
        for statement in reversed(every[:last]):
            if wanted & (statement.gives | statement.changes - kept):
                found.append(statement)
                wanted = (wanted - statement.gives) | statement.uses
        if (more := called.union(*(statement.later for statement in found))) == called:
            return found
        called = more


def _captured(pattern: ast.pattern) -> list[ast.Name]:
    """Return the names that a pattern gives a value, as an assignment has them."""
    names = (getattr(part, key, None) for part in ast.walk(pattern) for key in ("name", "rest"))
    return [ast.Name(name, ast.Store()) for name in names if name]


def statements(number: int, source: str) -> list[Statement]:
    """Return the statements of a cell in order."""
    found = []
    for node in ast.parse(source).body:
        names = _Names()
        names.visit(node)
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        last = node.end_lineno or node.lineno
        sets = map(frozenset, (names.uses, names.given, names.changes, names.imports, names.later))
        found.append(Statement(number, first, last, *sets))
    return found


class _Names(ast.NodeVisitor):
    """The names that a statement uses before it has given them a value, that it surely gives one, that it may
    change, and that its functions look up. A block under ``with`` counts as run; ``async`` is not read."""

    def __init__(self) -> None:
        self.uses: set[str] = set()
        self.given: set[str] = set()
        self.changes: set[str] = set()
        self.imports: set[str] = set()
        self.later: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.given.add(node.id)
        elif node.id not in self.given:
            self.uses.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._in_order([node.value, *node.targets])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._in_order([node.value, node.target])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._in_order([node.value, node.target])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._in_order([node.value, node.target])
        self._changed(node.target, read=True)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self._changed(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self._changed(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            self._changed(node.value.func)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            self._changed(node.func)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._perhaps([node.target, *node.body, *node.orelse], [])

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._perhaps(node.body, node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        handlers = ([handler.type, *handler.body] for handler in node.handlers)
        self._perhaps([*node.body, *node.orelse], *handlers)
        self._in_order(node.finalbody)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._perhaps([*node.body, *node.orelse], [])

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        cases = ([case.pattern, *_captured(case.pattern), case.guard, *case.body] for case in node.cases)
        self._perhaps(*cases, [])

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self._in_order([item.context_expr, item.optional_vars])
        self._in_order(node.body)

    def visit_Import(self, node: ast.Import) -> None:
        self._imported((name.asname or name.name).partition(".")[0] for name in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imported(name.asname or name.name for name in node.names)

    def _imported(self, names: Iterable[str]) -> None:
        found = set(names)
        self.given |= found
        self.imports |= found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
        self._in_order(outside)
        self._within(node.args, node.body)
        self.given.add(node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._in_order([*node.decorator_list, *node.bases, *node.keywords])
        self._own(node.body)
        self.given.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._in_order([*node.args.defaults, *node.args.kw_defaults])
        self._within(node.args, [node.body])

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehended(node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehended(node.generators, [node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehended(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehended(node.generators, [node.key, node.value])

    def _comprehended(self, generators: Sequence[ast.comprehension], made: Sequence[ast.expr]) -> None:
        parts = [part for loop in generators for part in (loop.iter, loop.target, *loop.ifs)]
        self._own([*parts, *made])

    def _within(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [rest for rest in (arguments.vararg, arguments.kwarg) if rest]
        inner = _Names()
        inner.given = {parameter.arg for parameter in parameters}
        inner._in_order(body)
        self.uses |= inner.uses - self.given
        self.later |= inner.uses | inner.later
        self.changes |= inner.changes
        self.imports |= inner.imports

    def _own(self, parts: Iterable[ast.AST]) -> None:
        """Visit what has names of its own, which mean nothing outside."""
        kept = set(self.given)
        self._in_order(parts)
        self.given = kept

    def _perhaps(self, *branches: Sequence[ast.AST | None]) -> None:
        """Visit branches of which one runs: what only some give a value, they may have changed."""
        kept, after = set(self.given), []
        for branch in branches:
            self.given = set(kept)
            self._in_order(branch)
            after.append(self.given)
        self.given = set.intersection(*after)
        self.changes |= set().union(*after) - self.given

    def _in_order(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _changed(self, node: ast.AST, *, read: bool = False) -> None:
        """Note that what a name stands for is changed, and so is used before."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            self.changes.add(node.id)
            if read or node.id not in self.given:
                self.uses.add(node.id)
