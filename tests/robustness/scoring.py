"""Scoring that is killed, fills its disk, meets another run or a damaged cache, or is given no files."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from radeval_lib.rules.generator.generator import generate
from tests.robustness.inputs import LONGEST

ROWS = 2_000
LIMIT = 300  # seconds that a run may take
KEPT = "What was scored is kept: the same command goes on there."
# Slow enough that a kill meets them at work: rules, and a model. Either loads libraries only when it scores,
# which a run that finds all scores kept does not.
RULES = ("--metric", "rouge_1", "--metric", "green")
MODEL = (
    "--metric", "bertscore", "--set", "bertscore.encoder=packaged-minilm-1", "--set", "bertscore.layer=none",
    "--metric", "bleu",
)  # fmt: skip
QUICK = ("--metric", "bleu")
# Scores in the folder `disk` with so much room, tells what came of it, and scores again with more room.
SCARCE = """
{first} && cp pairs.csv disk && cd disk && size=$1 && shift
({limit} exec "$@"); echo "status: $?"; echo "left: $(ls -A | tr '\\n' ' ')"
{then} && "$@" && cat scores.csv scores.csv.about.json > ../copy
"""
FULL = SCARCE.format(
    first="mount -t tmpfs -o size=$1 tmpfs disk", limit="", then="mount -o remount,size=64m ."
)
LIMITED = SCARCE.format(first="rm -rf disk && mkdir disk", limit="ulimit -f $((size / 512));", then="true")
APART = ("unshare", "--user", "--map-root-user", "--mount")  # may mount, and what it mounts goes with it


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "radeval_lib.cli", "score", *arguments]


def plain_command(metrics: Sequence[str]) -> list[str]:
    return command(*metrics, "--input", "pairs.csv", "--output", "scores.csv")


def write_pairs(path: Path, rows: int) -> None:
    """Openings of generated reports, each with another's."""
    texts = [" ".join(report.findings.text.split()[:12]) for report in generate(rows + 1, min_findings=2)]
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("reference", "candidate"), *pairwise(texts)])


def _start(folder: Path, metrics: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        plain_command(metrics), cwd=folder, env=_environment(), stderr=subprocess.PIPE, bufsize=0
    )


def _told(process: subprocess.Popen[bytes]) -> str:
    """What it says until it ends."""
    return process.communicate(timeout=LIMIT)[1].decode()


def _wait(process: subprocess.Popen[bytes], words: bytes = b"500 rows scored") -> None:
    """Until it says so; by default, that the first chunk is kept."""
    assert process.stderr is not None
    said = b""
    while words not in said and (more := process.stderr.read(1)):
        said += more


def _outputs(folder: Path) -> list[bytes]:
    names = ("scores.csv", "scores.csv.about.json")
    return [(folder / name).read_bytes() if (folder / name).is_file() else b"" for name in names]


def _forget(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "pairs.csv":
            path.unlink()


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def _fault_of(folder: Path, said: str, status: int, whole: list[bytes]) -> str:
    """What is wrong with a run that should have completed."""
    if status:
        return f"status {status}: {said[-200:]!r}"
    if _outputs(folder) != whole:
        return "other bytes than those of an undisturbed run"
    return f"left {_left(folder)}" if _left(folder) else ""


def _fault_of_refusal(said: str, status: int, words: str) -> str:
    """What is wrong with a run that should have refused in one line."""
    line = said.rpartition("\r")[2].rstrip("\n")
    if status != 2:
        return f"status {status}: {said[-200:]!r}"
    if not line.startswith("radbook: ") or not line.isprintable() or len(line) > LONGEST:
        return f"not one line: {said[-300:]!r}"
    return "" if re.search(words, line) else f"does not say {words!r}: {line!r}"


def kills(folder: Path, metrics: Sequence[str], number: int, rng: Random) -> Iterator[tuple[str, str]]:
    write_pairs(folder / "pairs.csv", ROWS)
    first = _start(folder, metrics)
    _wait(first)
    begun = time.monotonic()
    _wait(first, b"scored with")
    longest = time.monotonic() - begun
    _told(first)
    whole = _outputs(folder)
    for _ in range(number):
        _forget(folder)
        while not _left(folder):  # or it ended before it was killed
            process = _start(folder, metrics)
            _wait(process)
            time.sleep(rng.random() * longest)
            process.kill()
            process.communicate()
        complete = _outputs(folder) == whole
        rerun = _start(folder, metrics)
        fault = _fault_of(folder, said := _told(rerun), rerun.returncode, whole)
        if not fault and not complete and "kept from an interrupted run" not in said:
            fault = "started over"
        yield "killed at a random moment after the first 500 pairs", fault


def scarce_room(folder: Path, number: int) -> Iterator[tuple[str, str]]:
    """Room that ends at every stage, from the first file to the last."""
    write_pairs(folder / "pairs.csv", ROWS // 2)
    subprocess.run(plain_command(QUICK), cwd=folder, env=_environment(), check=True, capture_output=True)
    whole, size = b"".join(_outputs(folder)), (folder / "pairs.csv").stat().st_size
    (folder / "disk").mkdir()
    may_mount = not subprocess.run([*APART, "true"], capture_output=True, check=False).returncode
    for kind, start, script, least, most in (
        ("on a disk that is full", APART, FULL, size, 3 * size),
        ("where a file may not be larger", (), LIMITED, 0, size * 11 // 10),
    ):
        for step in range(1, number + 1) if may_mount or not start else ():
            (folder / "copy").unlink(missing_ok=True)
            room = str(least + (most - least) * step // number)
            done = subprocess.run(
                [*start, "sh", "-c", script, "sh", room, *plain_command(QUICK)],
                cwd=folder, env=_environment(), capture_output=True, timeout=LIMIT, check=False,
            )  # fmt: skip
            yield kind, _fault_of_scarce(done.stdout.decode(), done.stderr.decode(), folder / "copy", whole)


def _fault_of_scarce(told: str, said: str, copy: Path, whole: bytes) -> str:
    status = int((re.findall(r"^status: (\d+)", told, re.M) or ["99"])[0])
    left = set((re.findall(r"^left: (.*)", told, re.M) or [""])[0].split()) - {"pairs.csv"}
    first, _, second = said.partition("\n")
    if not copy.is_file() or copy.read_bytes() != whole:
        return f"the next run did not complete: {said[-300:]!r}"
    if not status:
        return "" if left == {"scores.csv", "scores.csv.about.json"} else f"left {left}"
    fault = _fault_of_refusal(f"{first}\n", status, "no space left|too large|disk I/O")
    kept = {name for name in left if name.startswith(".scoring-")}
    if fault or left - kept:
        return fault or f"left {left}"
    if bool(kept) != (KEPT in first) or bool(kept) != ("kept from an interrupted run" in second):
        return f"left {left}, said {first[-150:]!r} and then {second[-150:]!r}"
    return ""


def two_runs(folder: Path, number: int, rng: Random) -> Iterator[tuple[str, str]]:
    write_pairs(folder / "pairs.csv", ROWS)
    first = _start(folder, QUICK)
    _told(first)
    whole = _outputs(folder)
    for _ in range(number):
        _forget(folder)
        both = [_start(folder, QUICK)]
        time.sleep(rng.choice((0, 0, 0.5, 1, 2)))
        both.append(_start(folder, QUICK))
        said = [_told(process) for process in both]
        faults = [
            _fault_of_refusal(text, process.returncode, "another run is writing this output")
            for process, text in zip(both, said, strict=True)
            if process.returncode
        ]
        if len(faults) == 2:
            faults.append("neither completed")
        faults.append(_fault_of(folder, "", 0, whole))
        yield "two runs on one output", "; ".join(filter(None, faults))


def _link(to: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(to)


# What a run says of a strange place: the input, the output, and what stands where instead of a file.
STRANGE: tuple[tuple[str, str, str, tuple[str, Callable[[Path], object]] | None], ...] = (
    ("in.csv: this is a folder", "in.csv", "scores.csv", ("in.csv", Path.mkdir)),
    ("scores.csv: this is a folder", "pairs.csv", "scores.csv", ("scores.csv", Path.mkdir)),
    ("about.json: this is a folder", "pairs.csv", "scores.csv", ("scores.csv.about.json", Path.mkdir)),
    ("in.csv: not a regular file", "in.csv", "scores.csv", ("in.csv", os.mkfifo)),
    ("scores.csv: not a regular file", "pairs.csv", "scores.csv", ("scores.csv", os.mkfifo)),
    ("not a regular file", "in.csv", "scores.csv", ("in.csv", _link("/proc/self/environ"))),
    ("not a regular file", "in.csv", "scores.csv", ("in.csv", _link("/dev/zero"))),
    ("not a regular file", "pairs.csv", "scores.csv", ("scores.csv", _link("/dev/full"))),
    ("not a regular file.*save", "-", "scores.csv", None),
    ("not a regular file.*save", "/dev/stdin", "scores.csv", None),
    ("not a regular file.*save", "/dev/fd/0", "scores.csv", None),
    ("not a regular file", "/proc/self/environ", "scores.csv", None),
    ("not a regular file", "/dev/null", "scores.csv", None),
    ("not a regular file", "pairs.csv", "/dev/stdout", None),
    ("not a regular file", "pairs.csv", "-", None),
    ("no such file", "gone.csv", "scores.csv", None),
    ("the name has no known ending", "pairs.csv", "scores", None),
    ("no folder", "pairs.csv", "gone/scores.csv", None),
    ("too long", "pairs.csv", f"{'x' * 250}.csv", None),
    ("too long", "pairs.csv", f"{'x' * 245}.csv", None),  # with about.json
    ("lead in a circle", "in.csv", "scores.csv", ("in.csv", _link("in.csv"))),
)


def strange_places(folder: Path) -> Iterator[tuple[str, str]]:
    for number, (says, source, target, make) in enumerate(STRANGE):
        at = folder / str(number)
        at.mkdir()
        write_pairs(at / "pairs.csv", 3)
        if make is not None:
            make[1](at / make[0])
        before = sorted(path.name for path in at.iterdir())
        process = subprocess.Popen(
            command(*QUICK, "--input", source, "--output", target),
            cwd=at, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            said = process.communicate((at / "pairs.csv").read_bytes(), timeout=60)[1].decode()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            fault = f"{source} to {target}: waits for ever"
        else:
            fault = _fault_of_refusal(said, process.returncode, says)
            if not fault and sorted(path.name for path in at.iterdir()) != before:
                fault = f"left {sorted(path.name for path in at.iterdir())}"
        yield "something else than a file", fault


def tries(folder: Path, number: int = 20, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(what was tried, what was wrong) of so many tries of each kind, and of every strange place."""
    rng = Random(seed)
    for name in ("rules", "model", "room", "two", "damaged", "strange"):
        (folder / name).mkdir()
    yield from strange_places(folder / "strange")
    yield from scarce_room(folder / "room", number)
    yield from two_runs(folder / "two", number, rng)
    yield from kills(folder / "rules", RULES, number - number // 4, rng)
    yield from kills(folder / "model", MODEL, number // 4, rng)
