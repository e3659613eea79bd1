"""Run every attack and write the table that the book's page on reproducing shows.

python -m tests.robustness            # inputs, leaks, names: minutes
python -m tests.robustness --kills 50    # and killed builds: an hour and more
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.paths import BOOK, ROOT
from tests.robustness import inputs, kills, leaks, names

TABLE = BOOK / "robustness.txt"
HELD = {
    "spoiled": "read, or refused with one line of at most 300 characters that repeats nothing of the file",
    "planted": "the build fails, and no file that held the text stays",
    "unharmed": "the build passes",
    "hostile": "nothing runs, nothing is written elsewhere, one line says what is wrong",
    "builds:": "the next build completes with the bytes of an undisturbed one; no process outlives the build",
}


def attacks(folder: Path, killed: int) -> Iterator[tuple[str, str, str]]:
    """(attack, what of it, what was wrong) of every try."""
    for name in ("inputs", "leaks", "names", "kills"):
        (folder / name).mkdir()
    for kind, fault in inputs.tries(folder / "inputs"):
        yield "spoiled", kind, fault
    for kind, held in leaks.tries(folder / "leaks"):
        attack = "unharmed" if kind == "no leak" else "planted"
        yield attack, "build without a leak" if kind == "no leak" else f"leak: {kind}", "" if held else kind
    for _, fault in names.tries(folder / "names"):
        yield "hostile", f"{len(names.NAMES)} names, wherever a command takes one", fault
    for kind, fault in kills.side_by_side(folder / "kills", killed, (killed + 4) // 5) if killed else ():
        yield "builds:", kind, fault


def table(tried: Iterable[tuple[str, str, str]]) -> tuple[str, list[str]]:
    """The table in MyST, and what went wrong."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    counts: dict[tuple[str, str], list[int]] = {}
    faults = []
    for attack, kind, fault in tried:
        row = counts.setdefault((attack, kind), [0, 0])
        row[0] += 1
        if fault:
            row[1] += 1
            faults.append(f"{kind}: {fault}")
            print(faults[-1], flush=True)
    made, failed = (sum(row[column] for row in counts.values()) for column in (0, 1))
    lines = [
        f"Last run on {datetime.now(UTC):%d %B %Y}, at commit {commit.stdout.strip() or 'unknown'}: "
        f"{made:,} tries, {failed:,} failures.",
        "",
        "| Attack | It holds if | Tries | Failures |",
        "| --- | --- | ---: | ---: |",
        *(
            f"| {attack} {kind} | {HELD[attack]} | {tries:,} | {failures:,} |"
            for (attack, kind), (tries, failures) in counts.items()
        ),
    ]
    return "\n".join(lines) + "\n", faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=0, help="kill so many builds too, a minute or two each")
    killed = parser.parse_args().kills
    with tempfile.TemporaryDirectory() as folder:
        text, faults = table(attacks(Path(folder), killed))
    atomic.write_text(TABLE, text)
    print(text)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
