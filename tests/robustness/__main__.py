"""Run attacks, and write what came of them into the table of docs/robustness.md.

python -m tests.robustness                  # all of them: two hours
python -m tests.robustness leaks scoring    # these alone; the other rows stay
python -m tests.robustness inputs --times 10    # ten times as many tries
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.paths import ROOT
from tests.robustness import (
    inputs,
    kills,
    leaks,
    names,
    resuming,
    runaway,
    scoring,
    spoiled_models,
    stale,
    wrapped,
)

PAGE = ROOT / "docs/robustness.md"
BEGIN, END = "| Attack | It holds if | Kinds | Tries | Failures | Last run |", "<!-- end of attacks -->"

Tries = Callable[..., Iterator[tuple[str, str]]]
NUMBERS = {"each", "reports", "number", "moments", "kills", "pairs"}
"""Arguments of attacks that say how many tries they make."""
ATTACKS: dict[str, tuple[str, Tries]] = {
    "inputs": (
        "spoiled files: read, or refused with one line of at most 300 characters, which repeats nothing",
        inputs.tries,
    ),
    "wrapped": ("reports laid out otherwise: whatever reads findings or words finds the same", wrapped.tries),
    "models": ("spoiled models: refused in one line before anything is scored", spoiled_models.tries),
    "scoring": (
        "scoring killed, crowded out or sent elsewhere: it resumes with the same bytes, or says why not",
        scoring.tries,
    ),
    "resuming": (
        "work killed twice: it goes on from its checkpoint to the bytes of undisturbed work",
        resuming.tries,
    ),
    "leaks": (
        "planted leaks: the build fails, and no file that held the text stays; clean builds pass",
        leaks.measured,
    ),
    "names": (
        "hostile names: nothing runs, nothing is written elsewhere, one line says what is wrong",
        names.tries,
    ),
    "stale": (
        "edits with old times, damaged books: the next build has the bytes of a book rendered from nothing",
        stale.tries,
    ),
    "runaway": ("notebooks without end: stopped, with one line; no source changed", runaway.tries),
    "kills": (
        "killed builds, and two at once: the next completes with the bytes of an undisturbed one, and no "
        "process outlives a build",
        kills.side_by_side,
    ),
}


def row(name: str, folder: Path, times: int = 1) -> tuple[str, int]:
    """Try an attack, ``times`` as often as usual: its row of the table, and how often it succeeded."""
    held, tries = ATTACKS[name]
    usual = inspect.signature(tries).parameters.values()
    kinds, made, failed = set(), 0, 0
    for kind, fault in tries(
        folder, **{one.name: one.default * times for one in usual if one.name in NUMBERS}
    ):
        kinds.add(kind)
        made += 1
        if fault:
            failed += 1
            print(f"{name}: {kind}: {fault}", flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    when = f"{datetime.now(UTC):%d %B %Y}, {commit.stdout.strip() or 'unknown'}"
    return f"| {name} | {held} | {len(kinds):,} | {made:,} | {failed:,} | {when} |", failed


def with_rows(page: str, rows: dict[str, str]) -> str:
    """The page with these rows of its table, in the order of :data:`ATTACKS`; other rows stay."""
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    known = {line.split("|")[1].strip(): line for line in table.splitlines()[2:] if line.startswith("|")}
    known |= rows
    lines = [
        BEGIN,
        "| --- | --- | ---: | ---: | ---: | --- |",
        *(known[name] for name in ATTACKS if name in known),
    ]
    return before + "\n".join(lines) + f"\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("attacks", nargs="*", choices=[[], *ATTACKS], help="default: all")
    parser.add_argument("--times", type=int, default=1, help="how many times the usual tries")
    failures, given = 0, parser.parse_args()
    for name in given.attacks or ATTACKS:
        with tempfile.TemporaryDirectory() as folder:
            told, failed = row(name, Path(folder), given.times)
        failures += failed
        atomic.write_text(PAGE, with_rows(PAGE.read_text(encoding="utf-8"), {name: told}))
        print(told, flush=True)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
