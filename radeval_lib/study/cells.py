"""Cells: notebooks with parameters that fan out, a profile's plan of them, and where their files stand.

A cell trains, searches or judges; what it leaves is in :mod:`radeval_lib.study.cell_outputs`. Plans,
``cells(profile) -> list[Cell]``, are found by name: :data:`radeval_lib.registry.PLANS`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from radeval_lib import checksums, registry
from radeval_lib.errors import ParameterError
from radeval_lib.study.profiles import Profile
from radeval_lib.study.sources import Declared, declared

Value = str | int | float | bool
UNFINISHED = "unfinished"
"""Beside ``cells``: what runs that were killed need to go on."""
_LONGEST = 80  # characters of a slug, without its digest


@dataclass(frozen=True)
class Cell:
    """One notebook with one set of parameters; ``data`` are the roles of data that it reads, where these are
    not all that its notebook declares."""

    notebook: str
    items: tuple[tuple[str, Value], ...]
    data: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, notebook: str, **parameters: Value) -> Cell:
        """Return a cell from its parameters by name."""
        return cls(notebook, tuple(parameters.items()))

    def with_data(self, *roles: str) -> Cell:
        """Return this cell, which reads these roles of data alone; none: all that its notebook declares."""
        return replace(self, data=roles)

    @property
    def parameters(self) -> dict[str, Value]:
        """Its parameters by name, without those that every notebook has."""
        return dict(self.items)

    @property
    def slug(self) -> str:
        """A name for its folder: the values, and a digest where they cannot all be spelt out as one."""
        return folder_name([value for _, value in self.items], self.items)


def folder_name(values: Sequence[Value], whole: object) -> str:
    """Return the values joined by hyphens, and where these cannot all be spelt out, a digest of ``whole``."""
    text = "-".join(map(str, values)) or "only"
    plain = re.sub(r"[^\w.-]", "_", text)[:_LONGEST]
    if plain == text and plain not in (".", ".."):
        return plain
    return f"{plain}-{checksums.of_text(json.dumps(whole))[:8]}"


def executed_path(output_dir: Path, name: str, *, is_cell: bool) -> Path:
    """Return the executed notebook of a page, or of a cell by its ``notebook/slug``."""
    return output_dir / ("executed_cells" if is_cell else "executed") / f"{name}.ipynb"


def lock_path(executed: Path) -> Path:
    """Return the lock of whoever writes this executed notebook and its results."""
    return executed.parent / f".{executed.stem}.lock"


def planned(profile: Profile) -> list[Cell]:
    """Return every cell that a profile asks for, in the order of the plans; a ParameterError where two have
    one folder."""
    plans = dict.fromkeys(registry.PLANS.values())
    return _all_distinct([cell for plan in plans for cell in registry.find(plan)(profile)])


def planned_of(profile: Profile, notebook: str) -> list[Cell]:
    """Return the cells of one notebook, at least one.

    Raises
    ------
    ParameterError
        If the profile plans none, or two that have one folder.
    """
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
    """Return what a cell may read: what its notebook declares, and of data what its plan gives it alone."""
    wanted = declared(cell.notebook)
    if not cell.items or cell.notebook not in registry.PLANS:
        return wanted
    own = next((one.data for one in planned_of(profile, cell.notebook) if one == cell), ())
    return wanted.model_copy(update={"data": own}) if own else wanted


def folder(output_dir: Path, cell: Cell) -> Path:
    """Return where a cell's results stand."""
    return output_dir / "cells" / cell.notebook / cell.slug


def unfinished(output_dir: Path, cell: Cell) -> Path:
    """Return where a run keeps work that it has begun; a page's is that of a cell without parameters."""
    return output_dir / UNFINISHED / cell.notebook / cell.slug
