"""Killed builds, and two at once: the next build completes, with the bytes of an undisturbed one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil

from tests.pipeline.conftest import TinyRepository, tiny_repository

# What a process of a build is called by in its command line (of several that match, any), and how many
# seconds after the first of them began it is killed at the latest; a forked kernel of these pages lives one,
# a renderer two to three.
VICTIMS = {
    "the command": (("radeval_lib.cli", "build"), 3.0),
    "the engine": (("snakemake",), 3.0),
    "a kernel": (("ipykernel_launcher",), 0.5),
    "the forks or their server": (("radeval_lib.pipeline.forkserver",), 3.0),
    "the renderer": (("jupyter_book",), 1.5),
}
LONGEST_BUILD = 600  # seconds
VERSIONS = 10
"""The pages are edited from one to the next; each is run undisturbed once, for what it should leave."""


def results(tiny: TinyRepository) -> dict[str, bytes]:
    """Every recorded result and executed page of a build, by name."""
    wanted = [*tiny.build.glob("results/**/*"), *tiny.build.glob("executed/**/*")]
    kept = [path for path in wanted if path.is_file() and path.suffix != ".lock"]  # it names who ran last
    return {path.relative_to(tiny.build).as_posix(): path.read_bytes() for path in kept}


def _start(tiny: TinyRepository) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        tiny.command(["build"]), cwd=tiny.path, env=tiny.environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _change(tiny: TinyRepository, version: int) -> None:
    """Edit both pages, so that a build has to run and render them again."""
    for name in ("one", "two"):
        path = tiny.path / "notebooks" / "facts" / f"{name}.md"
        head = path.read_text(encoding="utf-8").partition("\n\nVersion ")[0]
        path.write_text(f"{head}\n\nVersion {version}.\n", encoding="utf-8")


def _kill_one(build: subprocess.Popen[bytes], victim: str, patience: float, rng: Random) -> bool:
    """Kill a process of the build, a random moment after the first of that name began."""
    marks, latest = VICTIMS[victim]
    limit = time.monotonic() + patience
    moment = None
    while build.poll() is None and time.monotonic() < limit:
        with suppress(psutil.Error):
            family = [psutil.Process(build.pid), *psutil.Process(build.pid).children(recursive=True)]
            found = [
                one for one in family if all(any(mark in part for part in one.cmdline()) for mark in marks)
            ]
            if found and moment is None:
                moment = time.monotonic() + rng.random() * latest
            if found and moment is not None and time.monotonic() >= moment:
                rng.choice(found).send_signal(signal.SIGKILL)
                return True
        time.sleep(0.05)
    return False


def _left_over(tiny: TinyRepository) -> list[str]:
    """Processes that outlived the build for longer than they may."""
    for _ in range(40):
        alive = []
        for one in psutil.process_iter(["cmdline", "environ"]):
            environ = one.info["environ"] or {}
            if environ.get("PYTHONPATH") == str(tiny.path) and one.pid != psutil.Process().pid:
                alive.append(" ".join(one.info["cmdline"] or [])[:80])
        if not alive:
            return []
        time.sleep(0.5)
    return alive


def tries(folder: Path, kills: int = 50, pairs: int = 10, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(what was done, what was wrong) of killed builds and of builds that met."""
    rng = Random(seed)
    tiny = tiny_repository(folder)
    victims = list(VICTIMS)
    undisturbed: dict[int, dict[str, bytes]] = {}
    for number in range(kills + pairs):
        version = number % VERSIONS
        _change(tiny, version)
        what = f"kill -9 of {victims[number % len(victims)]}" if number < kills else "two builds at once"
        one = _start(tiny)
        found = True
        if number < kills:
            found = _kill_one(one, victims[number % len(victims)], LONGEST_BUILD, rng)
        else:
            time.sleep(rng.random() * 8)
            other = _start(tiny)
            other.wait(LONGEST_BUILD)
        one.wait(LONGEST_BUILD)
        yield what, _fault(tiny, undisturbed, version) if found else "there was nothing to kill"


def side_by_side(folder: Path, kills: int = 50, pairs: int = 10, lanes: int = 2) -> Iterator[tuple[str, str]]:
    """The tries of :func:`tries`, dealt to repositories that are attacked at the same time."""

    def lane(number: int) -> list[tuple[str, str]]:
        share = [(total + number) // lanes for total in (kills, pairs)]
        return list(tries(folder / str(number), *share, seed=number))

    with ThreadPoolExecutor(lanes) as pool:
        for done in pool.map(lane, range(lanes)):
            yield from done


def _fault(tiny: TinyRepository, undisturbed: dict[int, dict[str, bytes]], version: int) -> str:
    """What is wrong with the next build, whose bytes are compared with those of an undisturbed run."""
    if alive := _left_over(tiny):
        return f"still running: {alive[0]}"
    again = tiny.radbook("build")
    if again.returncode:
        return f"the next build failed: {again.stderr[-200:]}"
    found = results(tiny)
    if parts := [name for name in found if ".part-" in name or ".failed" in name]:
        return f"left behind: {parts[0]}"
    if version not in undisturbed:
        whole = tiny.radbook("run", "facts/one", "--quiet"), tiny.radbook("run", "facts/two", "--quiet")
        if any(one.returncode for one in whole):
            return "an undisturbed run failed"
        undisturbed[version] = results(tiny)
    wanted = undisturbed[version]
    differing = [name for name in wanted if wanted[name] != found.get(name)]
    return f"differs from an undisturbed build: {differing[0]}" if differing else ""


if __name__ == "__main__":
    for done in tries(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])):
        print(*done, sep=": ", flush=True)
