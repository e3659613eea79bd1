"""Compare what two builds recorded: `python -m tests.compare_results OLD NEW`, two folders as build/smoke.

Provenance, versions and paths may differ; verdicts, checks, numbers, tables and stand-ins may not. With
`--intervals`, ends of intervals may move, and only what else changed is listed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from radeval_lib.study.changes import differences, recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--intervals", action="store_true", help="let the ends of intervals move")
    given = parser.parse_args()
    lines = differences(given.old, given.new, intervals=given.intervals)
    print("\n".join(lines) or f"no difference in {len(recorded(given.new))} results")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
