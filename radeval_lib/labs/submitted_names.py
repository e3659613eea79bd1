"""What the names of a submission's code stand for, by its imports, assignments and loops."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from radeval_lib.labs.ordinary import DENIED
from radeval_lib.labs.submitted_code import WRITERS, Parsed

_FILE_MAKERS = {"write_text", "write_bytes", "symlink_to", "hardlink_to", "extractall", "symlink"}


class Names:
    """What the names of a notebook stand for, as far as imports, assignments and loops over texts say.

    Parameters
    ----------
    given : the lab's own cells.
    by_name : grant attributes whose name is a variable that no written texts were joined for, where the lab's
        cells have such.
    files : what came with the notebook.

    Attributes
    ----------
    imported : the dotted names that a name may stand for.
    shells, shell_names : functions that give the notebook's own shell, and variables that hold it.
    read : modules whose code is read.
    puts_files : whether the notebook may make a file that it can then import.
    defined : functions of the notebook.
    given : names in the lab's own cells.
    texts : for a name to which loops over written texts alone give a value, these texts.
    harmless : names that stand for texts in which no attribute is hidden.
    computed : names that stand for a text that was put together.
    """

    def __init__(
        self, parsed: Sequence[Parsed], given: Sequence[Parsed], *, by_name: bool, files: Iterable[str] = ()
    ) -> None:
        every = [node for _, _, tree in parsed for node in ast.walk(tree)]
        self.imported = self._imports(every)
        for node in every:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.Name() as value):
                    self.imported[name] |= self.paths(value)
        self.shells = {name for name, paths in self.imported.items() if "IPython.get_ipython" in paths}
        self.shells |= {"get_ipython"}
        self.shell_names = {
            name
            for node in every
            if isinstance(node, ast.Assign | ast.NamedExpr) and self.is_shell(node.value)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            for name in _stored(target)
        }
        self.read = {part.removesuffix(".py") for name in files for part in name.split("/")}
        self.read |= {name for node in every for name in _written_by_magic(node)}
        self.puts_files = any(self._puts_a_file(node) for node in every)
        self.defined = {one.name for one in every if isinstance(one, ast.FunctionDef)}
        lab = [node for _, _, tree in given for node in ast.walk(tree)]
        self.given = {one.id for one in lab if isinstance(one, ast.Name)}
        self.given |= {one.arg for one in lab if isinstance(one, ast.arg)}
        self.texts, self.harmless, self.computed = self._text_names(every, by_name)

    @staticmethod
    def _imports(every: Sequence[ast.AST]) -> defaultdict[str, set[str]]:
        """The dotted names that imports give to names, those of ``from ... import *`` as far as known."""
        imported = defaultdict[str, set[str]](set)
        for node in every:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    imported[alias.asname or top].add(alias.name if alias.asname else top)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    imported[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
                if node.names[0].name == "*":
                    for path in DENIED:
                        home, _, leaf = path.rpartition(".")
                        if home == node.module:
                            imported[leaf].add(path)
        return imported

    def _puts_a_file(self, node: ast.AST) -> bool:
        """Whether a notebook may make a file that it can then import."""
        match node:
            case ast.Constant(value=str(text)):
                return text.endswith((".py", ".zip", ".whl", ".egg"))
            case ast.Call(func=ast.Name(id="open"), args=args, keywords=named):
                modes = [*args[1:2], *(one.value for one in named if one.arg == "mode")]
                return any(
                    not isinstance(one, ast.Constant) or {*"wax+"} & {*str(one.value)} for one in modes
                )
            case ast.Call(func=ast.Attribute(attr=attr) as func):
                moving = ("shutil.", "os.rename", "os.replace", "os.link", "os.open")
                return attr in _FILE_MAKERS or any(path.startswith(moving) for path in self.paths(func))
        return False

    @staticmethod
    def _text_names(
        every: Sequence[ast.AST], by_name: bool
    ) -> tuple[dict[str, set[str]], set[str], set[str]]:
        """The texts that loops alone give to a name; the names that stand for texts in which no attribute is
        hidden; and those that stand for one that was put together."""
        given = Counter[str](one.arg for one in every if isinstance(one, ast.arg))
        given.update(one.id for one in every if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        values = [
            (one.targets[0] if isinstance(one, ast.Assign) else one.target, one.value)
            for one in every
            if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr)
        ]
        lists = defaultdict[str, list[set[str]]](list)
        for target, value in values:
            if isinstance(target, ast.Name) and (listed := written_texts(value)) is not None:
                lists[target.id].append(listed)
        looped = defaultdict[str, list[set[str]]](list)
        for one in every:
            if isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name):
                found = written_texts(one.iter)
                if isinstance(one.iter, ast.Name) and 0 < len(lists[one.iter.id]) == given[one.iter.id]:
                    found = set[str]().union(*lists[one.iter.id])
                if found is not None:
                    looped[one.target.id].append(found)
        texts = {
            name: set[str]().union(*found) for name, found in looped.items() if len(found) == given[name]
        }
        computed = {name for target, value in values if puts_together(value) for name in _stored(target)}
        return texts, set(given) - computed if by_name else set(texts), computed

    def is_shell(self, node: ast.AST | None) -> bool:
        """Whether an expression is the notebook's own shell."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self.shells
            case ast.Call(func=ast.Attribute(attr="get_ipython" | "instance")):
                return True
        return False

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
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _written_by_magic(node: ast.AST) -> set[str]:
    """The module that ``%%writefile`` writes, whose code is read."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="run_cell_magic"),
            args=[ast.Constant(value=magic), ast.Constant(value=line), *_],
        ) if magic in WRITERS:
            return {str(line).strip().rpartition("/")[2].removesuffix(".py")}
    return set()


def puts_together(value: ast.AST | None) -> bool:
    """Whether an expression puts a text together from written ones alone, as one that is to be hidden."""
    every = list(ast.walk(value)) if value is not None else []
    called = {id(node.func) for node in every if isinstance(node, ast.Call)}
    return any(isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call) for node in every) and not any(
        isinstance(node, ast.Name) and id(node) not in called for node in every
    )


def written_texts(node: ast.AST | None) -> set[str] | None:
    """The texts of a list of written ones."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            texts = {
                part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
            }
            return texts if len(texts) == len(parts) else None
    return None
