"""What a metric card takes: of a function at 10 ms a pair, and of a file of scores.

python -m benchmarks.metric_card DATA_ROOT
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRIC = """
import time

def slow(reference, candidate):
    time.sleep(0.01)
    one, other = set(reference.split()), set(candidate.split())
    return len(one & other) / max(1, len(one | other))
"""


def main(root: Path) -> None:
    """Print the time of each way, with the start of Python and the imports."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(METRIC, encoding="utf-8")
        saved = str(folder / "scores.csv")
        for what, given in (
            ("a function at 10 ms a pair", ["mine.py:slow", "--save-scores", saved]),
            ("a file of scores", ["--scores", saved]),
        ):
            begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            radbook = [sys.executable, "-m", "radeval_lib.cli", "metric-card"]
            command = [*radbook, *given, "--data-root", str(root)]
            told = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            wall, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
            first = told.stderr.splitlines()[0]
            print(f"{what}: {wall:.1f} s, {processor:.1f} s of processor time ({first})")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
