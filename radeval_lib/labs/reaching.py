"""Reads a submission's code, without running it, for what reaches round its own answers: into the grading,
or for a package's code where a function is to be written by hand.

:func:`radeval_lib.labs.by_hand.by_hand` sees which functions run, but in the student's own process, where a
submission could switch it off. To do that it has to name something that ordinary answers have no use for;
this module finds such names, in the grader's process. It is no proof: whoever hides a name well is not found.
"""

from __future__ import annotations

import ast
import io
import signal
import site
import symtable
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.machinery import PathFinder

_MODULES = frozenset(
    (
        *("inspect", "gc", "ctypes", "threading", "_thread", "multiprocessing", "concurrent", "subprocess"),
        *("importlib", "builtins", "marshal", "types", "imp", "_imp", "_frozen_importlib", "zipimport"),
        *("pkgutil", "runpy", "pydoc", "code", "codeop", "trace", "bdb", "profile", "cProfile"),
    )
)
_OTHERS = {
    "sys": {"setprofile", "getprofile", "settrace", "gettrace", "modules", "_getframe", "_current_frames"}
    | {"monitoring", "meta_path", "path_hooks", "call_tracing"},
    "operator": {"attrgetter", "methodcaller"},
    "unittest": {"mock"},
    "pickle": {"loads", "Unpickler"},
    "IPython": {"core", "terminal"},
    "radeval_lib": {"cli", "labs"},
}
"""What of packages that have ordinary uses too is no ordinary answer's business."""
_GRADING = {"answers", "by_hand", "checks", "grading", "judge", "reaching", "sandbox", "student"}
"""Modules of the labs of which a given cell's use of one name is no leave to use another."""
_FOR_STUDENTS = {"rng", "seed", "known_id", "PLACEHOLDER"}
_ON_ANYTHING = (
    {"by_hand", "sys", "builtins", "importlib", "setprofile", "settrace", "_getframe", "_current_frames"}
    | {"f_globals", "f_builtins", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame"}
    | {"__dict__", "__code__", "__globals__", "__builtins__", "__closure__", "__subclasses__", "__import__"}
    | {"__getattribute__", "__loader__", "__spec__", "__self__", "__wrapped__", "__func__", "__bases__"}
    | {"__base__", "__mro__", "__reduce_ex__"}
)
"""Attributes, whatever they are asked of, and texts that name them."""
_IN_TEXTS = {name for name in _ON_ANYTHING if name.startswith("__")} | {"by_hand", "setprofile", "_getframe"}
_BUILT_IN = {"exec", "eval", "compile", "__import__", "__builtins__", "__loader__", "__spec__"}
_BY_NAME = {"getattr", "setattr", "delattr"}
_TIMERS = {"time", "timeit", "prun", "capture", "memit", "mprun", "lprun"}
_WRITERS = {"writefile", "file"}
_SHELL = {"run_line_magic", "run_cell_magic", "system", "getoutput", "getsystem", "magic"}
_COMPILED = (".pyc", ".so", ".pyd")
_LONGEST = 2_000_000
_MAY_BE_OWN = {"eval", "compile"}
_Parsed = tuple[str, str, ast.Module]


@dataclass(frozen=True)
class Reach:
    """A construct that ordinary answers have no use for, and the cell or file in which it stands."""

    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.where} uses `{self.what}`"


class _TooSlowError(Exception):
    """A submission's code that takes too long to read."""


def reaches(
    cells: Sequence[str], files: Mapping[str, bytes], given: Sequence[str], seconds: int = 60
) -> list[Reach]:
    """The constructs of a submission that reach round its own answers, each once.

    Parameters
    ----------
    cells : the sources of the submission's code cells.
    files : what came with it, by path.
    given : the sources of the cells of the student's version of the lab; what they use may be used.
    seconds : of processor time, after which code counts as one that cannot be read.
    """
    whole = sum(map(len, cells)) + sum(len(data) for name, data in files.items() if name.endswith(".py"))
    if whole > _LONGEST:
        return [Reach(f"more than {_LONGEST} characters of code", "The notebook")]
    known = _parsed({str(number): source for number, source in enumerate(given)})
    by_name = any(_asks_by_name(node) for _, _, tree in known for node in ast.walk(tree))
    granted = {one.what for one in _found(known, _Names(known, by_name=by_name))}
    sources = {f"Code cell {number}": source for number, source in enumerate(cells, start=1)}
    for name, data in files.items():
        if name.endswith(".py"):
            sources[f"The file {name}"] = data.decode("utf-8", errors="replace")
    found = [Reach(name, "A file") for name in files if name.endswith(_COMPILED)]
    try:
        with _at_most(seconds):
            own = _parsed(sources)
            found += _found(own, _Names([*known, *own], by_name=by_name))
    except (_TooSlowError, RecursionError, MemoryError):
        found.append(Reach("code that cannot be read", "The notebook"))
    return list({one.what: one for one in reversed(found) if one.what not in granted}.values())[::-1]


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _parsed(sources: Mapping[str, str]) -> list[_Parsed]:
    """Where it stands, text and tree of each source that is Python, magics and shell lines as calls; what
    IPython does not understand does not run either."""
    from IPython.core.inputtransformer2 import TransformerManager

    made: list[_Parsed] = []
    waiting = list(sources.items())
    while waiting:
        where, source = waiting.pop(0)
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                text = TransformerManager().transform_cell(source)
                tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        made.append((where, text, tree))
        waiting += [(where, more) for more in _in_magics(tree)]
    return made


def _in_magics(tree: ast.Module) -> Iterator[str]:
    """The code that magics of a cell run, or write into a module."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        texts = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
        if node.func.attr == "run_line_magic" and len(texts) > 1 and texts[0] in _TIMERS:
            yield _without_options(str(texts[1]))
        elif node.func.attr == "run_cell_magic" and len(texts) > 2:
            if texts[0] in _TIMERS:
                yield _without_options(str(texts[1]))
                yield str(texts[2])
            elif texts[0] in _WRITERS and str(texts[1]).strip().endswith(".py"):
                yield str(texts[2])


def _without_options(line: str) -> str:
    """A magic's line without what begins it: ``-n1 -r1 f(x)`` is ``f(x)``."""
    words = line.split()
    while words and words[0].startswith("-"):
        words.pop(0)
    return line[line.find(words[0]) :] if words else ""


def _found(parsed: Sequence[_Parsed], names: _Names) -> list[Reach]:
    own = _own_names([tree for _, _, tree in parsed])
    found = []
    for where, text, tree in parsed:
        found += [Reach(what, where) for what in _built_in(text) if what not in own]
        found += [Reach(what, where) for what in _Reader(names).of(tree)]
    return found


def _built_in(text: str) -> Iterator[str]:
    """What of Python a cell takes that runs texts as code; local variables may have any name."""
    waiting = [symtable.symtable(text, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        inside = table.get_type() != "module"
        for one in table.get_symbols():
            if one.get_name() in _BUILT_IN and one.is_referenced() and (one.is_global() or not inside):
                yield one.get_name()


def _own_names(trees: Sequence[ast.Module]) -> set[str]:
    """Names of built-in functions that a notebook gives a value of its own before anything else is done with
    them, as who calls an evaluation ``eval``."""
    first: dict[str, bool] = {}
    for statement in (one for tree in trees for one in tree.body):
        used = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}
        match statement:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                own = {name} - {
                    one.id
                    for one in ast.walk(statement)
                    if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
                }
            case _:
                own = set()
        for name in _MAY_BE_OWN & (used | own):
            first.setdefault(name, name in own)
    return {name for name, own in first.items() if own}


class _Names:
    """What the names of a notebook stand for, as far as imports and loops over texts say.

    ``by_name`` grants attributes whose name is a variable that no written texts were joined for, where the
    lab's own cells have such.
    """

    def __init__(self, parsed: Sequence[_Parsed], *, by_name: bool) -> None:
        every = [node for _, _, tree in parsed for node in ast.walk(tree)]
        self.imported = defaultdict[str, set[str]](set)
        for node in every:
            if isinstance(node, ast.Import):
                for one in node.names:
                    top = one.name.partition(".")[0]
                    self.imported[one.asname or top].add(one.name if one.asname else top)
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    self.imported[one.asname or one.name].add(f"{node.module}.{one.name}")
        texts = [one.value for one in every if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        self.written = {text.rpartition("/")[2][:-3] for text in texts if text.endswith(".py")}
        """Modules of which the notebook names the file."""
        self.harmless = self._harmless(every, by_name)
        """Names that stand for texts in which no attribute is hidden."""

    @staticmethod
    def _harmless(every: Sequence[ast.AST], by_name: bool) -> set[str]:
        given = Counter[str](one.arg for one in every if isinstance(one, ast.arg))
        given.update(one.id for one in every if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        values = [
            (one.targets[0] if isinstance(one, ast.Assign) else one.target, one.value)
            for one in every
            if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr)
        ]
        if by_name:
            computed = {name for target, value in values if _computes(value) for name in _stored(target)}
            return set(given) - computed
        listed = Counter[str](
            target.id for target, value in values if isinstance(target, ast.Name) and _is_texts(value)
        )
        looped = Counter[str](
            one.target.id
            for one in every
            if isinstance(one, ast.For | ast.comprehension)
            and isinstance(one.target, ast.Name)
            and (
                _is_texts(one.iter)
                or (isinstance(one.iter, ast.Name) and 0 < listed[one.iter.id] == given[one.iter.id])
            )
        )
        return {name for name, times in looped.items() if times == given[name]}

    def paths(self, node: ast.AST) -> set[str]:
        """The dotted names that an expression may stand for: those of modules and what is in them."""
        match node:
            case ast.Name(id=name):
                return self.imported.get(name, set())
            case ast.Attribute(value=value, attr=attr):
                return {f"{path}.{attr}" for path in self.paths(value)}
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(attr)), *_]):
                return {f"{path}.{attr}" for path in self.paths(value)}
        return set()


def _stored(target: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}


def _computes(value: ast.AST | None) -> bool:
    """Whether an expression puts a text together from written ones alone, as one that is to be hidden."""
    every = list(ast.walk(value)) if value is not None else []
    called = {id(one.func) for one in every if isinstance(one, ast.Call)}
    return any(isinstance(one, ast.BinOp | ast.JoinedStr | ast.Call) for one in every) and not any(
        isinstance(one, ast.Name) and id(one) not in called for one in every
    )


def _is_texts(node: ast.AST | None) -> bool:
    """Whether an expression is a list of written texts."""
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and all(
        isinstance(one, ast.Constant) and isinstance(one.value, str) for one in node.elts
    )


def _in_path(path: str) -> str:
    """What of a dotted name is no ordinary answer's business; empty where nothing is."""
    parts = path.split(".")
    if parts[0] in _MODULES:
        return ".".join(parts[:2])
    if len(parts) < 2 or parts[1] not in _OTHERS.get(parts[0], set()) | {"*"} or parts[0] not in _OTHERS:
        return ""
    if parts[:2] == ["radeval_lib", "labs"] and (len(parts) == 2 or parts[2] in _FOR_STUDENTS):
        return ""
    if parts[:2] != ["radeval_lib", "labs"]:
        return ".".join(parts[:2])
    return ".".join(parts[: 4 if parts[2:3] and parts[2] in _GRADING else 3])


class _Reader:
    """Finds the constructs of one tree."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self._found: list[str] = []
        self._bases = set[int]()

    def of(self, tree: ast.Module) -> list[str]:
        every = list(ast.walk(tree))  # and no recursion, whose depth a submission could choose
        for node in every:
            if isinstance(node, ast.Attribute):
                self._bases.add(id(node.value))
            elif isinstance(node, ast.Call):
                self._bases.add(id(node.func))
                if isinstance(node.func, ast.Name) and node.func.id == "getattr" and node.args:
                    self._bases.add(id(node.args[0]))
        for node in every:
            self._look(node)
        return self._found

    def _look(self, node: ast.AST) -> None:
        found = self._found
        match node:
            case ast.Import(names=names):
                found += filter(None, (_in_path(one.name) for one in names))
                found += [one.name for one in names if self._is_own_module(one.name)]
            case ast.ImportFrom(module=module, names=names):
                found += filter(None, (_in_path(f"{module}.{one.name}") for one in names))
                found += [
                    one.name for one in names if one.name in _ON_ANYTHING and f"{module}" not in _OTHERS
                ]
                found += [str(module)] if self._is_own_module(str(module)) else []
            case ast.Attribute(attr=attr):
                self._attribute(node, attr)
            case ast.MatchClass(kwd_attrs=attrs):
                found += [attr for attr in attrs if attr in _ON_ANYTHING]
            case ast.Constant(value=str(text)):
                if text in _IN_TEXTS or text.startswith(("radeval_lib.labs", "radeval_lib.cli")):
                    found.append(text[:60])
            case ast.Name(id=name):
                self._name(node, name)
            case ast.Call():
                self._call(node)

    def _is_own_module(self, name: str) -> bool:
        """Whether the notebook itself writes a module, whose code nobody has seen."""
        top = name.partition(".")[0]
        return top in self._names.written and _is_nowhere(top)

    def _attribute(self, node: ast.Attribute, attr: str) -> None:
        paths = self._names.paths(node)
        self._found += filter(None, map(_in_path, sorted(paths)))
        if attr in _ON_ANYTHING:
            self._found.append(attr)
        if not isinstance(node.ctx, ast.Load) and (
            attr == "__name__" or any(path.startswith("radeval_lib.") for path in paths)
        ):
            self._found.append(f"{sorted(paths)[0] if paths else attr} =")
        match node.value:
            case ast.Call(func=ast.Name(id="get_ipython")) if attr not in _SHELL:
                self._found.append(f"get_ipython().{attr}")

    def _name(self, node: ast.Name, name: str) -> None:
        if id(node) in self._bases or not isinstance(node.ctx, ast.Load):
            return
        if name in _BY_NAME | {"vars", "get_ipython"}:
            self._found.append(name)
        for path in self._names.paths(node):
            if path in {"sys", "radeval_lib", "radeval_lib.labs"} or path in _MODULES:
                self._found.append(f"{path} as a value")

    def _call(self, node: ast.Call) -> None:
        match node.func, node.args:
            case ast.Name(id=name), [what, key, *_] if name in _BY_NAME:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._named(name, what, key.value)
                elif self._names.paths(what) or not (
                    isinstance(key, ast.Name) and key.id in self._names.harmless
                ):
                    self._found.append(f"{name}({_short(what)}, {_short(key)})")
            case ast.Name(id=name), [ast.Starred(), *_] if name in _BY_NAME:
                self._found.append(name)
            case ast.Name(id="vars"), [what, *_]:
                if self._names.paths(what):
                    self._found.append(f"vars({_short(what)})")

    def _named(self, how: str, what: ast.AST, attr: str) -> None:
        paths = {f"{path}.{attr}" for path in self._names.paths(what)}
        self._found += filter(None, map(_in_path, sorted(paths)))
        if attr in _ON_ANYTHING:
            self._found.append(attr)
        if how != "getattr" and any(path.startswith("radeval_lib.") for path in paths):
            self._found.append(f"{how}({_short(what)}, {attr!r})")


def _asks_by_name(node: ast.AST) -> bool:
    """Whether an attribute is asked for by a name that is not written there."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, key, *_]):
            return not isinstance(key, ast.Constant)
    return False


def _short(node: ast.AST) -> str:
    """A name as it is written; of anything longer that it is longer."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return f"{name}.{attr}"
    return "..."


def _is_nowhere(module: str) -> bool:
    """Whether neither Python nor an installed package has this name; what this process imported from
    elsewhere does not count."""
    installed = PathFinder.find_spec(module, site.getsitepackages())
    return module not in sys.stdlib_module_names and installed is None
