"""The start of a run: papermill's parameters are checked, and the process is set up."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TextIO, TypeVar

from threadpoolctl import threadpool_limits

from radeval_lib import atomic, checksums, provenance, registry, small_counts
from radeval_lib.data.manifests import data_root as root_of_data
from radeval_lib.data.manifests import restricted_in
from radeval_lib.errors import NotebookError, ParameterError
from radeval_lib.paths import (
    BUILD,
    BUILD_LOCK,
    IN_REACH,
    NOTEBOOKS,
    RUNS,
    STAGE,
    THREAD_VARIABLES,
    display_path,
)
from radeval_lib.study import cells, profiles, sources
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile
from radeval_lib.study.runs import Run

R = TypeVar("R", bound=Run)


def begin_cell(
    notebook: str,
    *,
    profile: str,
    seed: int,
    output_dir: str = "",
    data_root: str = "",
    kind: type[R] = Run,  # type: ignore[assignment]
    **parameters: cells.Value,
) -> R:
    """Start a run: check the parameters that papermill passed.

    Parameters
    ----------
    notebook : the notebook's own path below ``notebooks/`` without the ending.
    profile : name of a profile.
    seed : non-negative; 0 takes the profile's seed.
    output_dir : where results go; empty: ``build/<profile>``.
    data_root : folder of data files; empty: the environment variable ``RADEVAL_DATA_ROOT``, if set.
    kind : the class of the run.
    parameters : those of a cell.

    Raises
    ------
    NotebookError, ProfileError, ParameterError, DataRootError
        Where a parameter is unknown, of the wrong type, or names what does not exist.
    """
    if not (NOTEBOOKS / f"{notebook}.md").is_file():
        raise NotebookError(
            f"unknown notebook {notebook!r}",
            display_path(NOTEBOOKS),
            "Give its path, such as rales/datasets.",
        )
    settings = profiles.profile(profile)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(
            f"seed must be a whole number from 0, not {seed!r}", notebook, "0 takes the profile's."
        )
    _check_injected(notebook)
    limit_threads(settings.threads)
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = root_of_data(data_root or None)
    if settings.needs_data_root and root is None:
        raise ParameterError(
            f"profile {profile!r} needs data files", notebook, "Name their folder in RADEVAL_DATA_ROOT."
        )
    in_reach = restricted_in(root)
    small_counts.hide_below(settings.smallest_count if in_reach else 0)
    run = kind(
        notebook=notebook,
        whole_profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else outputs_of(notebook, settings, seed, parameters),
        data_root=root,
        parameters=tuple(parameters.items()),
    )
    provenance.PRINTED.clear()
    if in_reach:
        mark = run.output_dir / IN_REACH
        before = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
        atomic.write_text(mark, "\n".join(sorted({*before, *in_reach})) + "\n")
    if not os.environ.get(STAGE):
        _hold_place(run)
    for path in run.results_dir.glob("*.json"):  # of an earlier run by hand, which may have recorded more
        path.unlink()
    return run


_held: dict[Path, TextIO] = {}
"""Locks of this process, by what they keep for it until it ends."""


def _hold_place(run: Run) -> None:
    """Keep the place of a run by hand for this process: two that write there at once would mix results.

    The lock is that of ``radbook run`` (:func:`radeval_lib.pipeline.execute.run_notebook`).
    """
    is_cell = bool(run.parameters)
    name = f"{run.notebook}/{Cell(run.notebook, run.parameters).slug}" if is_cell else run.notebook
    place = cells.lock_path(cells.executed_path(run.output_dir, name, is_cell=is_cell))
    if place in _held:
        return
    where, remedy = display_path(run.results_dir), "Wait for it to end, or give another output_dir."
    if not (build := atomic.lock(run.output_dir / BUILD_LOCK, shared=True)):
        raise NotebookError("a build writes here", where, remedy)
    build.close()
    if not (own := atomic.lock(place)):
        raise NotebookError("another run of this notebook writes here, or its kernel is open", where, remedy)
    _held[place] = own


def outputs_of(notebook: str, settings: Profile, seed: int, parameters: Mapping[str, cells.Value]) -> Path:
    """Return where a run leaves its results unless it is given a folder: among a build's if the build runs
    the notebook just so, else in a folder of its own below ``build/runs``."""
    cell = Cell(notebook, tuple(parameters.items()))
    is_planned = notebook in registry.PLANS and cell in cells.planned_of(settings, notebook)
    if not seed and (not parameters or is_planned):
        return BUILD / settings.name
    chosen = {"profile": settings.name, "seed": seed, "output_dir": "", **parameters}
    return RUNS / checksums.of_text(json.dumps([notebook, chosen], sort_keys=True))[:12]


def _check_injected(notebook: str) -> None:
    """Refuse parameters that the notebook does not have: papermill only warns of them, and the run would pass
    for one with the defaults."""
    known = sources.parameters(sources.source_cells(notebook)[0])
    for cell in sources.executed_cells() or []:
        if cell.startswith(sources.INJECTED):
            for name in sources.parameters(cell):
                if name not in known:
                    near = get_close_matches(name, known, n=1)
                    hint = f"Did you mean {near[0]}? " if near else ""
                    raise ParameterError(
                        f"unknown parameter {name!r}", notebook, f"{hint}Parameters: {', '.join(known)}."
                    )


def limit_threads(number: int) -> None:
    """Compute with this many threads, here and in libraries that are loaded later."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(number)))
    threadpool_limits(number)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(number)
