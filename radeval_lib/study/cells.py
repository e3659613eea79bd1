"""Cells: notebooks with parameters that fan out, a profile's plan of them, and their outputs.

A cell trains, searches or judges. It leaves tables, facts and perhaps a model in a folder of its own,
``cells/<notebook>/<slug>`` of a profile's outputs, written whole or not at all. Plans, ``cells(profile) ->
list[Cell]``, are found by name: :data:`radeval_lib.registry.PLANS`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib import checksums, registry
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.errors import ParameterError, ResultError
from radeval_lib.paths import display_path
from radeval_lib.study.declarations import Declared, declared
from radeval_lib.study.profiles import Profile, command
from radeval_lib.wording import joined

Value = str | int | float | bool
FACTS = "cell.json"
MISSING_DATA = "lacks"
"""Among the facts of a cell that was left out: the data that are missing."""
UNFINISHED = "unfinished"
"""Beside ``cells``: what runs that were killed need to go on."""
_LONGEST = 80  # characters of a slug, without its digest
_COLUMN_TYPES = {"b": "bool", "i": "int64", "u": "int64", "f": "float64"}
"""What a column is read back as, by the kind of its NumPy type; other columns hold texts."""


@dataclass(frozen=True)
class Cell:
    """One notebook with one set of parameters; ``data`` are the roles of data that it reads, where these are
    not all that its notebook declares."""

    notebook: str
    items: tuple[tuple[str, Value], ...]
    data: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, notebook: str, **parameters: Value) -> Cell:
        """A cell from its parameters by name."""
        return cls(notebook, tuple(parameters.items()))

    def with_data(self, *roles: str) -> Cell:
        """This cell, which reads these roles of data alone; none: all that its notebook declares."""
        return replace(self, data=roles)

    @property
    def parameters(self) -> dict[str, Value]:
        return dict(self.items)

    @property
    def slug(self) -> str:
        """A name for its folder: the values, and a digest where they cannot all be spelt out."""
        text = "-".join(str(value) for _, value in self.items) or "only"
        plain = re.sub(r"[^\w.-]", "_", text)[:_LONGEST]
        if plain == text:
            return plain
        return f"{plain}-{checksums.of_text(json.dumps(self.items))[:8]}"


def executed_path(output_dir: Path, name: str, *, is_cell: bool) -> Path:
    """The executed notebook of a page, or of a cell by its ``notebook/slug``."""
    return output_dir / ("executed_cells" if is_cell else "executed") / f"{name}.ipynb"


def lock_path(executed: Path) -> Path:
    """The lock of whoever writes this executed notebook and its results."""
    return executed.parent / f".{executed.stem}.lock"


@dataclass(frozen=True)
class CellOutput:
    """What a cell left."""

    cell: Cell
    tables: dict[str, pd.DataFrame]
    facts: dict[str, Any]
    model: Path | None


def planned(profile: Profile) -> list[Cell]:
    """Every cell that a profile asks for, in the order of the plans."""
    plans = dict.fromkeys(registry.PLANS.values())
    return _all_distinct([cell for plan in plans for cell in registry.find(plan)(profile)])


def planned_of(profile: Profile, notebook: str) -> list[Cell]:
    """The cells of one notebook."""
    plan = registry.PLANS.get(notebook)
    cells = [cell for cell in registry.find(plan)(profile) if cell.notebook == notebook] if plan else []
    if not cells:
        raise ParameterError(
            f"profile {profile.name!r} plans no cell of {notebook!r}",
            f"notebooks/{notebook}.md",
            "Correct the profile's `experiments`, or take another notebook.",
        )
    return _all_distinct(cells)


def _all_distinct(cells: list[Cell]) -> list[Cell]:
    places = [(cell.notebook, cell.slug) for cell in cells]
    for (notebook, slug), count in Counter(places).items():
        if count > 1:
            raise ParameterError(f"two cells are called {slug!r}", notebook, "Tell them apart.")
    return cells


def reads(cell: Cell, profile: Profile) -> Declared:
    """What a cell may read: what its notebook declares, and of data what its plan gives it alone."""
    wanted = declared(cell.notebook)
    if not cell.items or cell.notebook not in registry.PLANS:
        return wanted
    own = next((one.data for one in planned_of(profile, cell.notebook) if one == cell), ())
    return wanted.model_copy(update={"data": own}) if own else wanted


def folder(output_dir: Path, cell: Cell) -> Path:
    """Where a cell's results stand."""
    return output_dir / "cells" / cell.notebook / cell.slug


def unfinished(output_dir: Path, cell: Cell) -> Path:
    """Where a run keeps work that it has begun; a page's is that of a cell without parameters."""
    return output_dir / UNFINISHED / cell.notebook / cell.slug


def write(
    target: Path,
    cell: Cell,
    tables: Mapping[str, pd.DataFrame],
    facts: Mapping[str, Any],
    model: Callable[[Path], Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Fill the empty folder ``target`` with what a cell leaves; ``model`` saves into its folder.

    Raises
    ------
    ParameterError
        Where a table could not be read back as it is, or a fact has a name that is taken.
    """
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
    if taken := sorted(own.keys() & facts.keys()):
        raise ParameterError(
            f"a fact may not be called {taken[0]!r}", _file_of(cell), f"Names taken: {joined(sorted(own))}."
        )
    text = json.dumps({**facts, **own}, indent=1, sort_keys=True, ensure_ascii=False)
    (target / FACTS).write_text(text + "\n", encoding="utf-8")


def write_omission(target: Path, cell: Cell, missing: str) -> None:
    """Fill the empty folder ``target`` of a cell that was left out for lack of data: ``missing`` says in one
    line which."""
    write(target, cell, {}, {MISSING_DATA: missing})


def _types(name: str, table: pd.DataFrame, cell: Cell) -> dict[str, str]:
    """What each column of a table is read back as. A CSV file tells no missing text from an empty one, and
    whole numbers with a missing one are read as others."""
    found = {}
    for column, values in table.items():
        kind = found[str(column)] = _COLUMN_TYPES.get(values.dtype.kind, "str")
        is_whole = all(isinstance(value, str) for value in values) if kind == "str" else values.notna().all()
        if kind != "float64" and not is_whole:
            raise ParameterError(
                f"column {column!r} of {name!r} could not be read back as it is",
                _file_of(cell),
                "Give it texts, numbers or truth values alone, with missing values only among floats.",
            )
    return found


def _file_of(cell: Cell) -> str:
    return f"notebooks/{cell.notebook}.md"


def read(where: Path, cell: Cell, profile: str) -> CellOutput:
    """What :func:`write` wrote, for a profile, which the remedy of an error names."""
    facts = check(where, cell, profile)
    if missing := facts.get(MISSING_DATA):
        raise AbsentDataError(missing, f"its cell {cell.slug} of {cell.notebook}")
    tables = {name: _table(where / f"{name}.csv", types) for name, types in facts["tables"].items()}
    model = where / "model"
    return CellOutput(cell, tables, facts, model if model.is_dir() else None)


def check(where: Path, cell: Cell, profile: str) -> dict[str, Any]:
    """The facts of a cell whose files are all there and as they were written."""
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
