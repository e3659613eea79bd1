"""What one statement of a page rests on: the files and models that were read for the names that it uses.

A page reads more than any of its exhibits rests on. So each reading is noted with the statement of the
notebook that was running, and an exhibit names what was read by its own statement and by those, before it,
that gave the names that it uses their values, and so on back. Reads that no statement of a notebook made
count for all. Names that a statement may only have changed (a list that is appended to) stay as they were
too; what a function changes in its arguments is not seen, so functions of pages return what they make.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from IPython.core.getipython import get_ipython

from radeval_lib.origin import Reading
from radeval_lib.paths import display_path

Place = tuple[int, int]
"""A statement of a notebook: the number of its cell, and its first line there; or any line of it."""
_CHANGES = frozenset(
    ("add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "sort", "update")
)
"""Methods that change what they are called on."""
_RUN = "run"
"""What every page calls its run, which is not changed by what is called on it, as no module is."""


@dataclass
class TracedReading(Reading):
    """What a page has read, and where in its notebook each file and model was.

    Attributes
    ----------
    places : names of files and roles of models, by the statement that read them; None: by no statement.
    """

    places: dict[Place | None, set[str]] = field(default_factory=dict)

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        super().note_file(source, path, name)
        self._at(name or display_path(path))

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        super().note_model(role, name, digest, revision)
        self._at(role)

    def _at(self, name: str) -> None:
        self.places.setdefault(current_place(), set()).add(name)

    def reached(self) -> set[str] | None:
        """Files and roles of models that the running statement of the notebook rests on; None outside of a
        notebook."""
        if (here := current_place()) is None:
            return None
        found = set(self.places.get(None, ()))
        for statement in rests_on(_ran(), here):
            found.update(*(names for place, names in self.places.items() if statement.holds(place)))
        return found


def reached(reading: Reading) -> set[str] | None:
    """:meth:`TracedReading.reached` of a reading that is traced; None of any other."""
    return reading.reached() if isinstance(reading, TracedReading) else None


def of_cells(reading: Reading) -> tuple[str, ...]:
    """The sources that cells left."""
    return tuple(source for source in reading.files if source.startswith("cells/"))


@dataclass(frozen=True)
class Statement:
    """A statement of a notebook, by its cell and lines, and the names that it uses, surely gives a value, may
    change, and imports."""

    cell: int
    first: int
    last: int
    uses: frozenset[str]
    gives: frozenset[str]
    changes: frozenset[str]
    imports: frozenset[str]

    def holds(self, place: Place | None) -> bool:
        """Whether a place lies in it."""
        return place is not None and place[0] == self.cell and self.first <= place[1] <= self.last


def rests_on(cells: Mapping[int, str], here: Place) -> list[Statement]:
    """The statement of a notebook at a place, and those before it that it rests on, the last first.

    Parameters
    ----------
    cells : the source of each cell by its number, in the order in which they ran.
    """
    every = [statement for number, source in cells.items() for statement in statements(number, source)]
    at = max((place for place, statement in enumerate(every) if statement.holds(here)), default=None)
    if at is None:  # nowhere in what ran, so that it may rest on all of it
        return every
    kept = frozenset({_RUN}).union(*(statement.imports for statement in every))
    found, wanted = [every[at]], set(every[at].uses)
    for statement in reversed(every[:at]):
        if wanted & (statement.gives | statement.changes - kept):
            found.append(statement)
            wanted = (wanted - statement.gives) | statement.uses
    return found


def statements(number: int, source: str) -> list[Statement]:
    """The statements of a cell in order."""
    found = []
    for node in ast.parse(source).body:
        names = _Names()
        names.visit(node)
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        last = node.end_lineno or node.lineno
        sets = map(frozenset, (names.uses, names.given, names.changes, names.imports))
        found.append(Statement(number, first, last, *sets))
    return found


class _Names(ast.NodeVisitor):
    """The names that a statement uses before it has given them a value, that it surely gives one, and that it
    may change."""

    def __init__(self) -> None:
        self.uses: set[str] = set()
        self.given: set[str] = set()
        self.changes: set[str] = set()
        self.imports: set[str] = set()

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
        self._in_order([node.iter, node.target, *node.body, *node.orelse])

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._perhaps(node.body, node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        self._perhaps(node.body, *(one.body for one in node.handlers), node.orelse)
        self._in_order(node.finalbody)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._perhaps(node.body, [])

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self._in_order([item.context_expr, item.optional_vars])
        self._in_order(node.body)

    def visit_Import(self, node: ast.Import) -> None:
        self._imported((one.asname or one.name).partition(".")[0] for one in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imported(one.asname or one.name for one in node.names)

    def _imported(self, names: Iterable[str]) -> None:
        found = set(names)
        self.given |= found
        self.imports |= found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
        self._in_order(outside)
        self._within(node.args, node.body)
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
        parts = [part for one in generators for part in (one.iter, one.target, *one.ifs)]
        self._own([*parts, *made])

    def _within(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [one for one in (arguments.vararg, arguments.kwarg) if one]
        self._own(body, {one.arg for one in parameters})

    def _own(self, parts: Iterable[ast.AST], known: Iterable[str] = ()) -> None:
        """Visit what has names of its own, which mean nothing outside."""
        kept = set(self.given)
        self.given |= set(known)
        self._in_order(parts)
        self.given = kept

    def _perhaps(self, *branches: Sequence[ast.AST]) -> None:
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


def current_place() -> Place | None:
    """The cell of the notebook that runs in this kernel, and the line in it; None outside of one."""
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel") or shell.history_manager is None:
        return None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is shell.user_global_ns:
            return len(shell.history_manager.input_hist_parsed) - 1, frame.f_lineno
        frame = frame.f_back
    return None


def _ran() -> dict[int, str]:
    """The cells that ran in this kernel, by their number."""
    shell = get_ipython()
    assert shell is not None
    assert shell.history_manager is not None
    return dict(enumerate(shell.history_manager.input_hist_parsed))
