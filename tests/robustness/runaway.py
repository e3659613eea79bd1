"""Notebooks that never end, or write where they must not: stopped, with one line."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.pipeline.conftest import TinyRepository, tiny_repository

# The code of a page's last cell, and what the line on it names.
RUNAWAYS = {
    "loops for ever": ("while True:\n    pass", "limits: cell_minutes"),
    "sleeps for ever": ("import time\n\ntime.sleep(10**6)", "limits: cell_minutes"),
    "writes into the repository": ("open('book/foreign.md', 'w').write('x')", "book/foreign.md"),
    "appends to a source": ("open('notebooks/facts/two.md', 'a').write('x')", "notebooks/facts/two.md"),
    "writes another page's results": (
        "from pathlib import Path\n\n"
        "Path(run.output_dir / 'results/facts/two').mkdir(parents=True, exist_ok=True)",
        "results/facts/two",
    ),
    "removes a source": ("import os\n\nos.remove('notebooks/facts/two.md')", "notebooks/facts/two.md"),
    "moves a source": (
        "import os\n\nos.rename('notebooks/facts/two.md', 'notebooks/facts/three.md')",
        "notebooks/facts/two.md",
    ),
}
LONGEST = 150  # seconds that a runaway may take to be stopped, its start included
_SMALL = "limits: {cell_minutes: 1, start_seconds: 1800}"


def runaway_repository(folder: Path) -> TinyRepository:
    """Return a tiny repository whose profile stops a cell after a minute."""
    tiny = tiny_repository(folder)
    path = tiny.path / "data_manifests" / "profiles" / "embedded.yml"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [_SMALL if line.startswith("limits:") else line for line in lines]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tiny


def _sources(tiny: TinyRepository) -> dict[str, bytes]:
    folders = ("book", "notebooks", "data_manifests", "radeval_lib")
    paths = (path for folder in folders for path in (tiny.path / folder).rglob("*"))
    return {
        str(path): path.read_bytes() for path in paths if path.is_file() and "__pycache__" not in str(path)
    }


def fault(tiny: TinyRepository, kind: str, longest: float = LONGEST) -> str:
    """Run a page that does this, which must be stopped within seconds; say what was wrong."""
    body, named = RUNAWAYS[kind]
    tiny.write("facts/one", body)
    before, started = _sources(tiny), time.monotonic()
    done = tiny.radbook("run", "facts/one", "--quiet")
    if time.monotonic() - started > longest:
        return f"stopped only after {time.monotonic() - started:.0f} s"
    if done.returncode != 2:
        return f"status {done.returncode}"
    if (
        done.stderr.count("\n") != 1
        or named not in done.stderr
        or "notebooks/facts/one.md" not in done.stderr
    ):
        return f"not told in one line: {done.stderr[:300]}"
    if _sources(tiny) != before:
        return "a source changed"
    left = [path for path in tiny.build.rglob("*.ipynb") if path.stat().st_size > 10_000_000]
    return f"{left[0].name} was kept whole" if left else ""


def tries(
    folder: Path, kinds: Iterable[str] = RUNAWAYS, longest: float = LONGEST
) -> Iterator[tuple[str, str]]:
    """Yield (what the notebook does, what was wrong) of every kind of runaway, see :func:`fault`."""
    tiny = runaway_repository(folder)
    for kind in kinds:
        yield f"a notebook {kind}", fault(tiny, kind, longest)
