"""Seconds that a page takes, its processes started afresh and forked from one that has loaded the libraries.

    python benchmarks/page_start.py [NOTEBOOK ...]

Each page runs in turn in both ways, with its results below build/runs. The server's own loading, once a
build, is distinguished: the first page waits for it. Pages that need no job can be named.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from radeval_lib.paths import ROOT
from radeval_lib.pipeline import forkserver

_PAGES = ("rales/domain_and_size", "rales/nlg_metric_limits")
_TURNS = 5


def seconds(page: str, server: dict[str, str]) -> float:
    """Run a page once; processes look for a server where ``server`` says."""
    # Another seed than a build's, so that the run's results are its own.
    command = [sys.executable, "-m", "radeval_lib.cli", "run", page, "--quiet", "-p", "seed", "1"]
    began = time.perf_counter()
    subprocess.run(
        forkserver.wrap_command(command),
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **server},
        check=True,
    )
    return time.perf_counter() - began


def main() -> None:
    """Print medians for each page."""
    for page in sys.argv[1:] or _PAGES:
        with forkserver.run_server() as server:
            first = seconds(page, server)
            pairs = [(seconds(page, {}), seconds(page, server)) for _ in range(_TURNS)]
        afresh, forked = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"{page}: afresh {afresh:.1f} s, forked {forked:.1f} s; the first fork {first:.1f} s")


if __name__ == "__main__":
    main()
