"""Parses a submission's code without running it: cells, what magics run, and texts that are code."""

from __future__ import annotations

import ast
import io
import re
import string
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import NamedTuple

WRITERS = {"writefile", "file"}
"""Cell magics that write their cell into a file."""
SHELLS = {"bash", "sh", "script", "system", "sx", "cmd", "!", "!!"}
"""Magics that run a command."""
SHELL_METHODS = {"run_line_magic", "run_cell_magic", "system", "getoutput", "getsystem", "magic"}
"""Methods of the notebook's shell that magics and commands are calls of, once IPython has read them."""
_OTHER_LANGUAGES = {"html", "HTML", "latex", "markdown", "javascript", "js", "svg", "SVG", "perl", "ruby"}
_CODE = re.compile(r"[(;\n]|^\s*(?:import|from)\s")  # a text that may be code: `f(x)`, `a = 1; b`, `import x`


class Parsed(NamedTuple):
    """A source that is Python: the cell or file in which it stands, its text and its tree."""

    where: str
    text: str
    tree: ast.Module


def parse(sources: Mapping[str, str]) -> list[Parsed]:
    """Each source that is Python, magics and shell lines as calls, and the code within it; what IPython does
    not understand does not run either."""
    from IPython.core.inputtransformer2 import TransformerManager

    parsed: list[Parsed] = []
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
        parsed.append(Parsed(where, text, tree))
        waiting += [
            (where, more) for more in (*_in_magics(tree), *_in_texts(tree)) if len(more) < len(source)
        ]
    return parsed


def _in_magics(tree: ast.Module) -> Iterator[str]:
    """The code that magics of a cell run, or write into a module, and what stands in braces in commands; a
    magic that nobody knows may be another name of one that runs code."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        texts = [str(argument.value) if isinstance(argument, ast.Constant) else "" for argument in node.args]
        if node.func.attr in SHELL_METHODS:
            yield from (more for argument in texts for more in _braced(argument))
        if node.func.attr == "run_line_magic" and len(texts) > 1:
            yield without_options(texts[1])
        elif node.func.attr == "run_cell_magic" and len(texts) > 2:
            if texts[0] in WRITERS:
                yield texts[2] if texts[1].strip().endswith(".py") else ""
            elif texts[0] not in _OTHER_LANGUAGES | SHELLS:
                yield without_options(texts[1])
                yield texts[2]


def _braced(text: str) -> Iterator[str]:
    """The expressions that IPython evaluates in a command."""
    try:
        yield from (f"({field})" for _, field, _, _ in string.Formatter().parse(text) if field)
    except ValueError:  # braces that are none of its own
        return


def _in_texts(tree: ast.Module) -> Iterator[str]:
    """Texts that are code, whatever may run them, and examples of doctest."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if ">>>" in node.value:
                lines = [line.strip() for line in node.value.split("\n")]
                yield "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))
            elif _CODE.search(node.value):
                yield node.value


def without_options(line: str) -> str:
    """A magic's line without what begins it: ``-n1 -r1 f(x)`` is ``f(x)``."""
    words = line.split()
    while words and words[0].startswith("-"):
        words.pop(0)
    return line[line.find(words[0]) :] if words else ""


def as_python_reads(data: bytes) -> str:
    """A module's text in the encoding that it names, in which what looks like a comment may be code."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding, errors="replace" if encoding.startswith("utf-8") else "strict")
