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
    """Return how many seconds a step took last here; None where that was not measured, or the note is
    damaged."""
    with suppress(OSError, ValueError):
        return float(_file(output_dir, name).read_text(encoding="utf-8"))
    return None


def measured_cells(output_dir: Path, notebook: str) -> list[float]:
    """Return how many seconds each cell of a notebook that was measured here took last."""
    names = (f"{notebook}/{path.stem}" for path in sorted((output_dir / "seconds" / notebook).glob("*.txt")))
    return [seconds for name in names if (seconds := measured(output_dir, name)) is not None]


def expected(graph: Graph, name: str) -> float:
    """Return how many seconds a step took last here, or else the cells of its notebook on average, or else
    on the machine that the repository's list is from (for the profile ``embedded``)."""
    if (seconds := measured(graph.output_dir, name)) is not None:
        return seconds
    alike = measured_cells(graph.output_dir, graph.cells[name].notebook) if name in graph.cells else []
    return fmean(alike) if alike else listed(name)


def listed(name: str) -> float:
    """Return how many seconds a step takes by the repository's list, which is of the profile `embedded`: its
    own, or of a cell its notebook's, or 8 where neither is listed."""
    known = _every_listed()
    return float(known.get(name, known.get(name.rpartition("/")[0], 8.0)))


@cache
def _every_listed() -> dict[str, float]:
    return own_yaml.read(_EXPECTED)
