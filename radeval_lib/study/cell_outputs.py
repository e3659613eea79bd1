"""What a cell leaves: tables, facts and perhaps a model, in a folder of its own, whole or not at all.

``cells/<notebook>/<slug>`` of a profile's outputs holds ``<table>.csv``, ``model/`` and ``cell.json``: the
facts, where they come from, the type of each column, and the SHA-256 of every other file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib import checksums
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.errors import ParameterError, ResultError
from radeval_lib.paths import display_path
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import command
from radeval_lib.text_format import joined

FACTS = "cell.json"
MISSING_DATA = "lacks"
"""Among the facts of a cell that was left out: the data that are missing."""
_COLUMN_TYPES = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64"}
"""What a column is read back as, by the kind of its NumPy type; other columns hold texts."""


@dataclass(frozen=True)
class CellOutput:
    """What a cell left; ``model`` is the folder of its model, None where it kept none."""

    cell: Cell
    tables: dict[str, pd.DataFrame]
    facts: dict[str, Any]
    model: Path | None


def write(
    target: Path,
    cell: Cell,
    tables: Mapping[str, pd.DataFrame],
    facts: Mapping[str, Any],
    model: Callable[[Path], Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Fill the empty folder ``target`` with what a cell leaves.

    Parameters
    ----------
    tables : by name; columns of texts, whole numbers, truth values or floats, of which these alone may be
        missing. They are read back as ``str``, ``int64`` or ``uint64``, ``bool`` and ``float64``, without the
        index.
    facts : what JSON gives back: finite numbers, truth values, texts, None, and of these lists (also tuples,
        read back as lists) and mappings by name.
    model : saves into the folder that it is given.
    provenance : where this comes from; its names are no facts'.

    Raises
    ------
    ParameterError
        Where a table or a fact could not be read back as it is, as restricted text; or a name is taken, or is
        not one of a file. The message shows no value.
    """
    for fact in _not_kept(facts):
        raise ParameterError(
            f"fact {fact!r} could not be read back as it is",
            _file_of(cell),
            "Give it finite numbers, truth values, plain texts, or lists and mappings by name of these.",
        )
    types = {name: _types(name, table, cell) for name, table in tables.items()}
    for name, table in tables.items():
        table.to_csv(target / f"{name}.csv", index=False)
    if model is not None:
        (target / "model").mkdir()
        model(target / "model")
    own = {
        **(provenance or {}),
        "cell": {"notebook": cell.notebook, "parameters": cell.items},
        "tables": types,
        "sha256": checksums.of_folder(target),
    }
    reserved = own.keys() | ({MISSING_DATA} if tables else set())  # with tables, nothing was left out
    if taken := sorted(reserved & facts.keys()):
        raise ParameterError(
            f"a fact may not be called {taken[0]!r}",
            _file_of(cell),
            f"Names taken: {joined(sorted(reserved))}.",
        )
    text = json.dumps({**facts, **own}, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (target / FACTS).write_text(text + "\n", encoding="utf-8")


def write_omission(target: Path, cell: Cell, missing: str) -> None:
    """Fill the empty folder ``target`` of a cell that was left out for lack of data: ``missing`` says in one
    line which."""
    write(target, cell, {}, {MISSING_DATA: missing})


def _not_kept(value: Any, name: str = "") -> Iterator[str]:
    """Yield the names of facts, or of what stands in them, that JSON would not give back; never their
    values."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if isinstance(key, str):
                yield from _not_kept(part, f"{name}.{key}" if name else key)
            else:
                yield name
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _not_kept(part, name)
    elif not (
        value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))
    ):
        yield name


def _types(name: str, table: pd.DataFrame, cell: Cell) -> dict[str, str]:
    """Return what each column of a table is read back as. A CSV file tells no missing text from an empty one,
    and whole numbers with a missing one are read as others."""
    found: dict[str, str] = {}
    if not re.fullmatch(r"\w[\w-]*", name) or table.columns.empty or not table.columns.is_unique:
        raise ParameterError(
            f"table {name!r} could not be read back as it is",
            _file_of(cell),
            "Name it by letters, digits, _ and -, and give it columns, each with a name of its own.",
        )
    for column, values in table.items():
        kind = found[str(column)] = _COLUMN_TYPES.get(values.dtype.kind, "str")
        is_whole = all(isinstance(value, str) for value in values) if kind == "str" else values.notna().all()
        if not isinstance(column, str) or (kind != "float64" and not is_whole):
            raise ParameterError(
                f"column {column!r} of {name!r} could not be read back as it is",
                _file_of(cell),
                "Name it by a text; give it texts, numbers or truth values alone, missing only among floats.",
            )
    return found


def _file_of(cell: Cell) -> str:
    return f"notebooks/{cell.notebook}.md"


def read(where: Path, cell: Cell, profile: str) -> CellOutput:
    """Return what :func:`write` wrote, for a profile, which the remedy of an error names.

    Raises
    ------
    AbsentDataError
        If the cell was left out for lack of data.
    ResultError
        If it was not made yet or is damaged.
    """
    facts = check(where, cell, profile)
    if missing := facts.get(MISSING_DATA):
        raise AbsentDataError(missing, f"its cell {cell.slug} of {cell.notebook}")
    tables = {name: _table(where / f"{name}.csv", types) for name, types in facts["tables"].items()}
    model = where / "model"
    return CellOutput(cell, tables, facts, model if model.is_dir() else None)


def check(where: Path, cell: Cell, profile: str) -> dict[str, Any]:
    """Return the facts of a cell; a ResultError unless its files are all there and as they were written."""
    remedy = f"Run `radbook build`, or this cell alone: {command(cell.notebook, profile, cell.items)}"
    try:
        facts: dict[str, Any] = json.loads((where / FACTS).read_text(encoding="utf-8"))
        sums, _ = dict(facts["sha256"]), dict(facts["tables"])
    except FileNotFoundError:
        raise ResultError(f"the cell {cell.slug} was not made yet", display_path(where), remedy) from None
    except (ValueError, KeyError, TypeError):
        raise ResultError(
            "this cell is cut short or of another version", display_path(where / FACTS), remedy
        ) from None
    for name, digest in sums.items():
        path = where / name
        if not path.is_file() or checksums.of_file(path) != digest:
            raise ResultError(
                "this file is missing or was changed after it was written", display_path(path), remedy
            )
    return facts


def _table(path: Path, types: Mapping[str, str]) -> pd.DataFrame:
    numbers = [column for column, kind in types.items() if kind != "str"]
    return pd.read_csv(
        path,
        dtype=dict(types),
        keep_default_na=False,
        lineterminator="\n",
        na_values={column: [""] for column in numbers},
    )
