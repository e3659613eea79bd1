"""SHA-256 of a file, of the files in a folder, of bytes, of a string, and of source code without comments."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path
from typing import Any

from radeval_lib import own_yaml


def read_state(path: Path) -> tuple[int, ...]:
    """Return a file's inode, size in bytes, modification time and change time (both in nanoseconds).

    At least one of them differs if the file was changed.
    """
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_folder(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its path in the folder.

    If the folder does not exist, the dictionary is empty.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): of_file(path) for path in files}


def of_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def of_text(text: str) -> str:
    """Return the SHA-256 of a string in UTF-8, in hexadecimal digits; lone surrogates are allowed."""
    return of_bytes(text.encode("utf-8", "surrogatepass"))


def of_source(content: bytes, ending: str) -> str:
    """Return the SHA-256 of a Python or YAML file's syntax tree or content, in hexadecimal digits.

    It does not change with comments, docstrings or layout. It does change with the order of keys, and with
    the types of keys and values.

    Parameters
    ----------
    content : the bytes of the file.
    ending : ``.py`` for a Python file; anything else for a YAML file.

    Raises
    ------
    SyntaxError
        If a Python file does not parse.
    UnicodeDecodeError, yaml.YAMLError
        If a YAML file is not what :func:`radeval_lib.own_yaml.parse` reads.
    """
    if ending != ".py":
        return of_text(repr(own_yaml.parse(content.decode("utf-8"))))
    return of_text(repr(_simplify(ast.parse(content))))


def _simplify(part: Any) -> Any:
    """Return a syntax tree, or part of one, as lists, tuples and constants, without docstrings.

    A node becomes (name of its type, list of (name, value) of its fields that are not empty).
    """
    if isinstance(part, list):
        return [_simplify(item) for item in part]
    if not isinstance(part, ast.AST):
        return part
    fields = dict(ast.iter_fields(part))
    if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        first = part.body[0] if part.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            fields["body"] = part.body[1:]
    # Empty fields are left out, since the versions of Python differ in these.
    filled = ((name, value) for name, value in fields.items() if value not in (None, []))
    return type(part).__name__, [(name, _simplify(value)) for name, value in filled]
