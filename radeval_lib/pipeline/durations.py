"""How long the steps of a build take: as they took here, or by the repository's list."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import fmean

from radeval_lib import atomic, own_yaml
from radeval_lib.paths import ROOT
from radeval_lib.pipeline.steps import Graph

_EXPECTED = ROOT / "workflow" / "expected_seconds.yml"


def note(output_dir: Path, name: str, seconds: float) -> None:
    """Remember how long a step took."""
    atomic.write_text(_file(output_dir, name), f"{seconds:.1f}\n")


def _file(output_dir: Path, name: str) -> Path:
    return output_dir / "seconds" / f"{name}.txt"


def measured(output_dir: Path, name: str) -> float | None:
    """How many seconds a step took last here; None where that was not measured, or the note is damaged."""
    with suppress(OSError, ValueError):
        return float(_file(output_dir, name).read_text(encoding="utf-8"))
    return None


def measured_cells(output_dir: Path, notebook: str) -> list[float]:
    """How many seconds each cell of a notebook that was measured here took last."""
    names = (f"{notebook}/{path.stem}" for path in sorted((output_dir / "seconds" / notebook).glob("*.txt")))
    return [seconds for name in names if (seconds := measured(output_dir, name)) is not None]


def expected(graph: Graph, name: str) -> float | None:
    """How many seconds a step took last here, or else what the cells most like it took here on average, or
    else on the machine that the repository's list is from.

    None of a cell of whose notebook none was measured here, where the list is not a measure: it is of the
    profile `embedded`, whose trainings are not those at the papers' settings.
    """
    if (seconds := measured(graph.output_dir, name)) is not None:
        return seconds
    if (alike := _of_those_alike(graph, name)) is not None:
        return alike
    if name in graph.cells and graph.settings.needs_data_root:
        return None
    return listed(name)


def _of_those_alike(graph: Graph, name: str) -> float | None:
    """The mean of what was measured here of the cells of its notebook that share most parameters with it."""
    if (cell := graph.cells.get(name)) is None:
        return None
    by_shared: dict[int, list[float]] = {}
    for other, other_cell in graph.cells.items():
        seconds = measured(graph.output_dir, other) if other_cell.notebook == cell.notebook else None
        if seconds is not None:
            by_shared.setdefault(len(set(other_cell.items) & set(cell.items)), []).append(seconds)
    return fmean(by_shared[max(by_shared)]) if by_shared else None


def listed(name: str) -> float:
    """How many seconds a step takes by the repository's list, which is of the profile `embedded`: its own, or
    of a cell its notebook's, or 8 where neither is listed."""
    known = _every_listed()
    return float(known.get(name, known.get(name.rpartition("/")[0], 8.0)))


@cache
def _every_listed() -> dict[str, float]:
    return own_yaml.read(_EXPECTED)
