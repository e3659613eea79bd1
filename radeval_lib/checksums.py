"""SHA-256 of a file, of the files of a folder, of bytes, of a text, and of the behaviour of a program."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path
from typing import Any

from radeval_lib import own_yaml


def state(path: Path) -> tuple[int, ...]:
    """Return the properties that change with a file: its inode, size and times."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def of_file(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_folder(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its path there; empty without a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): of_file(path) for path in files}


def of_bytes(content: bytes) -> str:
    """Return the hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def of_text(text: str) -> str:
    """Return the hexadecimal SHA-256 of a text as UTF-8; lone surrogates are encoded as they are."""
    return of_bytes(text.encode("utf-8", "surrogatepass"))


def of_source(content: bytes, ending: str) -> str:
    """Return the hexadecimal SHA-256 of the content of a program (``ending`` ``.py``) or YAML file.

    Comments, docstrings and layout do not count; types of keys and values and the order of keys do.

    Raises
    ------
    SyntaxError
        If a program does not parse.
    UnicodeDecodeError, yaml.YAMLError
        If a YAML file is not what :func:`radeval_lib.own_yaml.parse` reads.
    """
    if ending != ".py":
        return of_text(repr(own_yaml.parse(content.decode("utf-8"))))
    return of_text(repr(_plain(ast.parse(content))))


def _plain(part: Any) -> Any:
    """Return a part of a program's syntax tree, without docstrings, as plain data."""
    if isinstance(part, list):
        return [_plain(item) for item in part]
    if not isinstance(part, ast.AST):
        return part
    fields = dict(ast.iter_fields(part))
    if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        first = part.body[0] if part.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            fields["body"] = part.body[1:]
    # Fields that are empty are left out, since versions of Python differ in which there are.
    filled = ((name, value) for name, value in fields.items() if value not in (None, []))
    return type(part).__name__, [(name, _plain(value)) for name, value in filled]
