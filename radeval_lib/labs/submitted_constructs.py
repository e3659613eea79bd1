"""The constructs of a submission's code that ordinary answers have no use for, node by node of its tree."""

from __future__ import annotations

import ast

from radeval_lib.labs.ordinary import (
    AS_TEXTS,
    HELD,
    IMPORTED,
    ON_ANYTHING,
    ONLY,
    WITHIN_TEXTS,
    is_installed,
    unusual,
)
from radeval_lib.labs.submitted_code import SHELL_METHODS
from radeval_lib.labs.submitted_commands import in_command, in_magic
from radeval_lib.labs.submitted_names import Names, puts_together, written_texts

_BY_NAME = {"getattr", "setattr", "delattr"}
"""Functions that take the name of an attribute as a text."""
_NO_VALUES = {"radeval_lib", "radeval_lib.labs", "operator", "pickle"}
"""Modules of which attributes are used, and which are not handed on as a whole."""
_NAMESPACES = {"globals", "locals", "vars"}
_TEXT_RUNNERS = {"eval", "query"}
"""Methods of tables that run a text as code."""
_OF_SHELL = SHELL_METHODS | {"__class__", "config", "has_trait", "set_next_input", "kernel"}
"""What may be used of the notebook's shell."""


def constructs(tree: ast.Module, names: Names) -> list[str]:
    """What stands in a tree that ordinary answers have no use for, as it is to be shown; ``names`` says what
    the names in it stand for."""
    return _Reader(names).of(tree)


class _Reader:
    """Finds the constructs of one tree, in two passes: what is around a node may make it harmless."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._found: list[str] = []
        # Nodes, by their id: those called or of which an attribute is taken, uses of namespaces that name
        # what they take, and what stands in a `try`; and the texts by which a `getattr` asks in a loop.
        self._bases, self._harmless_namespaces, self._tried = set[int](), set[int](), set[int]()
        self._keys = dict[int, set[str]]()

    def of(self, tree: ast.Module) -> list[str]:
        """The constructs, in the order of the tree."""
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
                found += filter(None, (unusual(one.name) for one in names))
                found += [one.name for one in names if self._is_own_module(one.name, node)]
            case ast.ImportFrom(module=module, names=names, level=level):
                if level == 0:
                    found += filter(None, (unusual(f"{module}.{one.name}") for one in names))
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
        return top != "radeval_lib" and not is_installed(top)

    def _attribute(self, node: ast.Attribute, attr: str) -> None:
        """Note an attribute that leads to a workaround, or is set where it should not be."""
        paths = self._names.paths(node)
        self._found += filter(None, map(unusual, sorted(paths)))
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
        self._found += filter(None, (unusual(path) for path in sorted(paths) if "." in path))
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
        found, paths = self._found, self._names.paths(node.func)
        first = node.args[0] if node.args else None
        if any(path.startswith("timeit.") for path in paths):
            readable = isinstance(first, ast.Constant | ast.Lambda | None) or (
                isinstance(first, ast.Name) and first.id in self._names.defined
            )
            found += [] if readable else ["timeit"]
        if "numpy.load" in paths or (isinstance(node.func, ast.Attribute) and node.func.attr == "load"):
            allowed = [keyword.value for keyword in node.keywords if keyword.arg == "allow_pickle"]
            if any(not (isinstance(keyword, ast.Constant) and keyword.value is False) for keyword in allowed):
                found.append("allow_pickle")
        if paths & {"os.system", "os.popen"}:
            found += in_command(first, self._names)
        if not isinstance(node.func, ast.Attribute):
            return
        if node.func.attr in _TEXT_RUNNERS and first is not None and puts_together(first):
            found.append(f".{node.func.attr}({_short(first)})")
        if node.func.attr in SHELL_METHODS:
            found += in_magic(node.func.attr, node.args, self._names)

    def _named(self, function: str, what: ast.AST, attr: str) -> None:
        """Note an attribute that a function such as ``getattr`` names by a text."""
        paths = {f"{path}.{attr}" for path in self._names.paths(what)}
        self._found += filter(None, map(unusual, sorted(paths)))
        if attr in ON_ANYTHING and attr not in self._names.given:
            self._found.append(attr)
        if function != "getattr" and any(path.startswith("radeval_lib.") for path in paths):
            self._found.append(f"{function}({_short(what)}, {attr!r})")


def _short(node: ast.AST) -> str:
    """A name as it is written; of anything longer that it is longer."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return f"{name}.{attr}"
    return "..."
