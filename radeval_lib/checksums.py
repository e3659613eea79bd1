"""SHA-256 of a file, of the files in a folder, of bytes, of a string, and of source code without comments."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path
from typing import Any

from radeval_lib import own_yaml


def read_state(path: Path) -> tuple[int, ...]:
    """Return a file's inode, size in bytes, modification time and change time (both in nanoseconds).

    At least one of them changes when the file does.
    """
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_folder(folder: Path) -> dict[str, str]:
    """Return a mapping from the relative path of each file below a folder to the file's SHA-256.

    The mapping is empty if the folder does not exist.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): of_file(path) for path in files}


def of_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes, as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def of_text(text: str) -> str:
    """Return the SHA-256 of a string encoded as UTF-8, as hexadecimal digits; lone surrogates are allowed."""
    return of_bytes(text.encode("utf-8", "surrogatepass"))


def of_source(content: bytes, suffix: str) -> str:
    """Return the SHA-256 of a Python file's syntax tree or a YAML file's content, as hexadecimal digits.

    It does not depend on comments, docstrings or layout. It does depend on the order of YAML keys and on the
    types of keys and values.

    Parameters
    ----------
    content : the bytes of the file.
    suffix : ``.py`` for a Python file; any other string for a YAML file.

    Raises
    ------
    SyntaxError
        If a Python file does not parse.
    ValueError, yaml.YAMLError
        If a YAML file is not UTF-8, or :func:`radeval_lib.own_yaml.parse` cannot read it.
    """
    if suffix != ".py":
        return of_text(repr(own_yaml.parse(content.decode("utf-8"))))
    return of_text(repr(_simplify(ast.parse(content))))


def _simplify(part: Any) -> Any:
    """Return a syntax tree, or part of one, as lists, tuples and constants, without docstrings.

    A node becomes a pair: the name of its type, and a list of pairs (name, value) of its non-empty fields.
    """
    if isinstance(part, list):
        return [_simplify(item) for item in part]
    if not isinstance(part, ast.AST):
        return part
    fields = dict(ast.iter_fields(part))
    if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        statement = part.body[0] if part.body else None
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            fields["body"] = part.body[1:]
    # Empty fields are left out, because Python versions differ in which of them they set.
    non_empty = ((name, value) for name, value in fields.items() if value not in (None, []))
    return type(part).__name__, [(name, _simplify(value)) for name, value in non_empty]
