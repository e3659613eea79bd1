"""Reads a submission's code, without running it, for workarounds: what reaches into the grading, or for a
package's code where a function is to be written by hand.

:func:`radeval_lib.labs.by_hand.by_hand` sees which functions run, but in the student's own process, where a
submission could switch it off. To do that it has to name something that ordinary answers have no use for;
this module finds such names, in the grader's process. It knows what ordinary answers import, since no list of
what could do harm is ever complete. It is no proof: whoever hides a name well is not found.
"""

from __future__ import annotations

import ast
import re
import site
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder

from radeval_lib.labs.ordinary import AS_TEXTS, DENIED, HELD, IMPORTED, ON_ANYTHING, ONLY, WITHIN_TEXTS
from radeval_lib.labs.submitted_code import (
    SHELL_METHODS,
    SHELLS,
    Parsed,
    as_python_reads,
    parse,
    without_options,
)
from radeval_lib.labs.submitted_names import Names, puts_together, written_texts
from radeval_lib.labs.time_limits import OutOfTimeError, at_most

_GRADING_MODULES = {
    *("answers", "attempts", "by_hand", "checks", "grader_processes", "grading", "grading_one"),
    *("judge", "judge_messages", "sandbox", "student", "submitted_code", "submitted_names", "time_limits"),
    "workarounds",
}
"""Modules of the labs of which a given cell's use of one name is no leave to use another."""
_FOR_STUDENTS = {"rng", "seed", "known_id", "PLACEHOLDER"}
"""What :mod:`radeval_lib.labs` itself has for students."""
_RUN_TEXTS = {"exec", "eval", "compile", "__import__", "__builtins__", "__loader__", "__spec__"}
"""Built-in names by which texts run as code."""
_MAY_BE_OWN = {"eval", "compile"}
"""Those of them that a student may call a function of their own."""
_BY_NAME = {"getattr", "setattr", "delattr"}
"""Functions that take the name of an attribute as a text."""
_NO_VALUES = {"radeval_lib", "radeval_lib.labs", "operator", "pickle"}
"""Modules of which attributes are used, and which are not handed on as a whole."""
_DENIED = sorted(DENIED)
_NAMESPACES = {"globals", "locals", "vars"}
_TEXT_RUNNERS = {"eval", "query"}
"""Methods of tables that run a text as code."""
_MAGICS = {"alias_magic", "macro", "rerun", "recall", "edit", "store"}
"""Magics that run code which does not stand in their cell."""
_OF_SHELL = SHELL_METHODS | {"__class__", "config", "has_trait", "set_next_input", "kernel"}
"""What may be used of the notebook's shell."""
_UNSEEN = re.compile(
    r"(?<![&>|])&(?![&>])"  # `sleep 9 &`, and neither `a && b` nor `2>&1`
    r"|--bg\b|\b(?:nohup|setsid|disown)\b"
    r"|(?:^|[\s;|&])(?:\.|source|ba?sh|zsh)\s+[^-\s]"  # `source run.sh`, `bash run.sh`
)
"""In a command: it goes on behind the notebook, or runs a file that nobody reads."""
_PYTHON = re.compile(
    r"\b(?:python[\d.]*|sys\.executable\})(?:[ \t]+-[BEIsSu]+)*(?:[ \t]+(\S+)(?:[ \t]+(\S+))?)?"
)
"""In a command: Python and two words after its flags, as ``python3 -u -m pip``."""
_MODULES_OF_COMMANDS = {
    *("pip", "radeval_lib.cli", "venv", "json.tool", "pytest", "jupyter", "nbconvert", "jupytext"),
}
"""What ``python -m`` may run."""
_COMPILED = (".pyc", ".so", ".pyd")
_MOST_CHARACTERS = 2_000_000
"""Of code in a submission: what is longer is not read."""


@dataclass(frozen=True)
class Workaround:
    """A construct that ordinary answers have no use for, and the cell or file in which it stands."""

    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.where} uses `{self.what}`"


def find_workarounds(
    cells: Sequence[str], files: Mapping[str, bytes], given: Sequence[str], seconds: int
) -> list[Workaround]:
    """The workarounds in a submission, each once.

    Parameters
    ----------
    cells : the sources of the submission's code cells.
    files : what came with it, by path.
    given : the sources of the cells of the student's version of the lab; what they use may be used.
    seconds : of processor time, after which code counts as one that cannot be read.
    """
    whole = sum(map(len, cells)) + sum(len(data) for name, data in files.items() if name.endswith(".py"))
    if whole > _MOST_CHARACTERS:
        return [Workaround(f"more than {_MOST_CHARACTERS} characters of code", "The notebook")]
    known = parse({str(number): source for number, source in enumerate(given)})
    by_name = any(_asks_by_name(node) for _, _, tree in known for node in ast.walk(tree))
    granted = {one.what for one in _in_sources(known, Names(known, known, by_name=by_name))}
    sources = {f"Code cell {number}": source for number, source in enumerate(cells, start=1)}
    workarounds = [Workaround(name, "A file") for name in files if name.endswith(_COMPILED)]
    for name, data in files.items():
        if name.endswith(".py"):
            try:
                sources[f"The file {name}"] = as_python_reads(data)
            except (SyntaxError, ValueError):
                workarounds.append(Workaround(name, "A file"))
    try:
        with at_most(seconds):
            own = parse(sources)
            workarounds += _in_sources(own, Names([*known, *own], known, by_name=by_name, files=files))
    except (OutOfTimeError, RecursionError, MemoryError):
        workarounds.append(Workaround("code that cannot be read", "The notebook"))
    return list({one.what: one for one in reversed(workarounds) if one.what not in granted}.values())[::-1]


def _in_sources(parsed: Sequence[Parsed], names: Names) -> list[Workaround]:
    """The workarounds in parsed sources, not yet what the lab's own cells use."""
    own = _own_names([tree for _, _, tree in parsed])
    workarounds = []
    for where, text, tree in parsed:
        workarounds += [Workaround(what, where) for what in _built_in(text) if what not in own]
        workarounds += [Workaround(what, where) for what in _Reader(names).of(tree)]
    return workarounds


def _built_in(text: str) -> Iterator[str]:
    """What of Python a cell takes that runs texts as code; local variables may have any name."""
    waiting = [symtable.symtable(text, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        inside = table.get_type() != "module"
        for symbol in table.get_symbols():
            is_built_in = symbol.is_referenced() and (symbol.is_global() or not inside)
            if is_built_in and symbol.get_name() in _RUN_TEXTS:
                yield symbol.get_name()


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


def _in_path(path: str) -> str:
    """What of a dotted name is no ordinary answer's business; empty where nothing is."""
    parts = path.split(".")
    top = parts[0]
    if parts[:2] == ["radeval_lib", "labs"]:
        if len(parts) == 2 or parts[2] in _FOR_STUDENTS:
            return ""
        return ".".join(parts[: 4 if parts[2] in _GRADING_MODULES else 3])
    if path == "radeval_lib.*":
        return path
    for place in range(1, len(parts)):
        only = ONLY.get(".".join(parts[:place]))
        if only is not None and parts[place] not in only:
            return ".".join(parts[: place + 1])
    for denied in _DENIED:
        if path.startswith(denied):
            return ".".join(parts[: denied.count(".") + 1])
    if top not in IMPORTED and top not in ONLY and _is_installed(top):
        return ".".join(parts[:2])
    for place, part in enumerate(parts[1:], start=1):
        held = part.lstrip("_")
        if held in HELD and (part != held or held not in IMPORTED | ONLY.keys()):
            return ".".join(parts[: place + 1])
        if held in HELD and (within := _in_path(".".join([held, *parts[place + 1 :]]))):
            return ".".join([*parts[:place], within])
    return ""


class _Reader:
    """Finds the constructs of one tree."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._found: list[str] = []
        self._bases = set[int]()
        self._harmless_namespaces = set[int]()
        self._tried = set[int]()
        self._keys = dict[int, set[str]]()

    def of(self, tree: ast.Module) -> list[str]:
        every = list(ast.walk(tree))  # and no recursion, whose depth a submission could choose
        for node in every:
            if isinstance(node, ast.Attribute):
                self._bases.add(id(node.value))
            elif isinstance(node, ast.Call):
                self._bases.add(id(node.func))
                if isinstance(node.func, ast.Name) and node.func.id == "getattr" and node.args:
                    self._bases.add(id(node.args[0]))
            elif isinstance(node, ast.Try):
                self._tried |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
            self._note_namespace(node)
            self._note_keys(node)
        for node in every:
            self._look(node)
        return self._found

    def _note_namespace(self, node: ast.AST) -> None:
        """Keep in mind which uses of ``globals()`` name what they take."""
        match node:
            case ast.Subscript(value=ast.Call() as call, slice=key) if not self._hides(key):
                self._harmless_namespaces.add(id(call))
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Call() as call]):
                self._harmless_namespaces.add(id(call))
            case ast.Call(
                func=ast.Attribute(value=ast.Call() as call, attr="get" | "pop" | "update"), args=args
            ):
                if not any(map(self._hides, args[:1])):
                    self._harmless_namespaces.add(id(call))
            case ast.keyword(arg="globals", value=ast.Call() as call):
                self._harmless_namespaces.add(id(call))

    def _note_keys(self, node: ast.AST) -> None:
        """Keep in mind the attributes that a loop over written texts asks for by name."""
        match node:
            case ast.For(target=ast.Name(id=name), iter=texts, body=body):
                inside: list[ast.AST] = [*body]
            case ast.ListComp(
                elt=value, generators=[ast.comprehension(target=ast.Name(id=name), iter=texts)]
            ):
                inside = [value]
            case ast.DictComp(
                value=value, generators=[ast.comprehension(target=ast.Name(id=name), iter=texts)]
            ):
                inside = [value]
            case _:
                return
        if (listed := written_texts(texts)) is None:
            return
        within = [one for statement in inside for one in ast.walk(statement)]
        if any(
            isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in within
        ):
            return
        for one in within:
            match one:
                case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Name(id=key), *_]) if key == name:
                    self._keys[id(one)] = listed

    def _hides(self, key: ast.AST) -> bool:
        """Whether a text is put together from others, where it could be written."""
        return puts_together(key) or (isinstance(key, ast.Name) and key.id in self._names.computed)

    def _look(self, node: ast.AST) -> None:
        """Note what a node of the tree names that is a workaround."""
        found = self._found
        match node:
            case ast.Import(names=names):
                found += filter(None, (_in_path(one.name) for one in names))
                found += [one.name for one in names if self._is_own_module(one.name, node)]
            case ast.ImportFrom(module=module, names=names, level=level):
                if level == 0:
                    found += filter(None, (_in_path(f"{module}.{one.name}") for one in names))
                    found += [str(module)] if self._is_own_module(str(module), node) else []
                found += [
                    one.name
                    for one in names
                    if one.name in ON_ANYTHING and module not in ONLY and one.name not in self._names.given
                ]
            case ast.Attribute(attr=attr):
                self._attribute(node, attr)
            case ast.MatchClass(kwd_attrs=attrs):
                found += [attr for attr in attrs if attr in ON_ANYTHING]
            case ast.Constant(value=str(text)):
                self._text(text)
            case ast.Name(id=name):
                self._name(node, name)
            case ast.Call():
                self._call(node)

    def _text(self, text: str) -> None:
        """Note a text that names what only a workaround needs."""
        own = text in self._names.given  # a lab may call a number of its own so
        if (text in AS_TEXTS and not own) or text.startswith(("radeval_lib.labs", "radeval_lib.cli")):
            self._found.append(text[:60])
        self._found += [
            name for name in sorted(WITHIN_TEXTS) if name in text and "matplotlib_inline" not in text
        ]

    def _is_own_module(self, name: str, node: ast.AST) -> bool:
        """Whether the notebook itself makes a module, whose code nobody has seen."""
        top = name.partition(".")[0]
        if top in self._names.read or not self._names.puts_files or id(node) in self._tried:
            return False
        return top != "radeval_lib" and not _is_installed(top)

    def _attribute(self, node: ast.Attribute, attr: str) -> None:
        """Note an attribute that leads to a workaround, or is set where it should not be."""
        paths = self._names.paths(node)
        self._found += filter(None, map(_in_path, sorted(paths)))
        if attr in ON_ANYTHING or (attr.startswith("_") and attr.lstrip("_") in HELD - IMPORTED):
            self._found.append(attr)
        if not isinstance(node.ctx, ast.Load) and (
            attr == "__name__" or any(path.startswith("radeval_lib.") for path in paths)
        ):
            self._found.append(f"{sorted(paths)[0] if paths else attr} =")
        of_shell = self._names.is_shell(node.value) or (
            isinstance(node.value, ast.Name) and node.value.id in self._names.shell_names
        )
        if of_shell and attr not in _OF_SHELL:
            self._found.append(f"get_ipython().{attr}")

    def _name(self, node: ast.Name, name: str) -> None:
        """Note a name that stands for a workaround, or hands on what should only be used."""
        if not isinstance(node.ctx, ast.Load):
            return
        paths = self._names.paths(node)
        self._found += filter(None, (_in_path(path) for path in sorted(paths) if "." in path))
        if id(node) in self._bases:
            return
        if name in _BY_NAME | {"vars", "get_ipython"}:
            self._found.append(name)
        for path in sorted(paths & (_NO_VALUES | ONLY.keys())):
            self._found.append(f"{path} as a value")

    def _call(self, node: ast.Call) -> None:
        """Note calls that ask for attributes by name, for namespaces, or run texts."""
        match node.func, node.args:
            case ast.Name(id=name), [what, key, *_] if name in _BY_NAME:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._named(name, what, key.value)
                elif isinstance(key, ast.Name) and (id(node) in self._keys or key.id in self._names.texts):
                    for text in sorted(self._keys.get(id(node)) or self._names.texts[key.id]):
                        self._named(name, what, text)
                elif isinstance(what, ast.Name) and what.id == "self" and not self._hides(key):
                    pass
                elif self._names.paths(what) or not (
                    isinstance(key, ast.Name) and key.id in self._names.harmless
                ):
                    self._found.append(f"{name}({_short(what)}, {_short(key)})")
            case ast.Name(id=name), [ast.Starred(), *_] if name in _BY_NAME:
                self._found.append(name)
            case ast.Name(id="vars"), [what, *_]:
                if self._names.paths(what):
                    self._found.append(f"vars({_short(what)})")
        match node.func:
            case ast.Name(id=name) if name in _NAMESPACES and not node.args:
                if id(node) not in self._harmless_namespaces:
                    self._found.append(f"{name}()")
        self._runs_text(node)

    def _runs_text(self, node: ast.Call) -> None:
        """Texts that are run as code or as a command, and cannot be read or do what is not seen."""
        paths = self._names.paths(node.func)
        first = node.args[0] if node.args else None
        if any(path.startswith("timeit.") for path in paths):
            readable = isinstance(first, ast.Constant | ast.Lambda | None) or (
                isinstance(first, ast.Name) and first.id in self._names.defined
            )
            self._found += [] if readable else ["timeit"]
        if "numpy.load" in paths or (isinstance(node.func, ast.Attribute) and node.func.attr == "load"):
            allowed = [keyword.value for keyword in node.keywords if keyword.arg == "allow_pickle"]
            if any(not (isinstance(keyword, ast.Constant) and keyword.value is False) for keyword in allowed):
                self._found.append("allow_pickle")
        if paths & {"os.system", "os.popen"}:
            self._command(first)
        if not isinstance(node.func, ast.Attribute):
            return
        if node.func.attr in _TEXT_RUNNERS and first is not None and puts_together(first):
            self._found.append(f".{node.func.attr}({_short(first)})")
        if node.func.attr in SHELL_METHODS:
            self._magic(node.func.attr, node.args)

    def _magic(self, function: str, given: Sequence[ast.expr]) -> None:
        """Note a magic or command that runs what nobody reads."""
        if function in ("system", "getoutput", "getsystem"):
            self._command(given[0] if given else None)
            return
        texts = [str(argument.value) for argument in given if isinstance(argument, ast.Constant)]
        if len(texts) < len(given):
            self._found.append(function)
            return
        name, rest = (texts[0] if texts else ""), " ".join(texts[1:])
        if name in _MAGICS:
            self._found.append(f"%{name}")
        elif name in SHELLS:
            self._command(ast.Constant(rest))
        elif name in ("run", "load_ext", "reload_ext", "aimport"):
            file = without_options(rest).split(" ")[0]
            own = file.rpartition("/")[2].removesuffix(".py")
            if own in self._names.read:
                return
            if name == "run" or (self._names.puts_files and not _is_installed(own.partition(".")[0])):
                self._found.append(f"%{name} {file}"[:60])

    def _command(self, text: ast.AST | None) -> None:
        """A command of the shell: it must end where it began, and run no code that is not read."""
        match text:
            case ast.Constant(value=str(command)):
                pass
            case ast.JoinedStr(values=parts):
                command = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            case _:
                self._found.append("a command that is not written out")
                return
        if _UNSEEN.search(command):
            self._found.append(f"!{command.strip()}"[:60])
        for match in _PYTHON.finditer(command):
            what, module = match[1] or "", match[2] or ""
            fine = what in ("--version", "-V") or (what == "-m" and module in _MODULES_OF_COMMANDS)
            if not fine and what.rpartition("/")[2].removesuffix(".py") not in self._names.read:
                self._found.append(f"!{match[0].strip()}"[:60])

    def _named(self, function: str, what: ast.AST, attr: str) -> None:
        """Note an attribute that a function such as ``getattr`` names by a text."""
        paths = {f"{path}.{attr}" for path in self._names.paths(what)}
        self._found += filter(None, map(_in_path, sorted(paths)))
        if attr in ON_ANYTHING and attr not in self._names.given:
            self._found.append(attr)
        if function != "getattr" and any(path.startswith("radeval_lib.") for path in paths):
            self._found.append(f"{function}({_short(what)}, {attr!r})")


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


@cache
def _is_installed(module: str) -> bool:
    """Whether Python or an installed package has this name; what this process imported from elsewhere does
    not count."""
    return (
        module in sys.stdlib_module_names or PathFinder.find_spec(module, site.getsitepackages()) is not None
    )
