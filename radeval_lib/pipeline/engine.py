"""Call Snakemake, keep its whole log, and show the part that a person needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from radeval_lib import atomic
from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.errors import RadevalError, ResultError, listed
from radeval_lib.metrics import blocks
from radeval_lib.paths import ROOT, THREAD_VARIABLES, display_path, notebooks
from radeval_lib.pipeline import durations, forkserver, logs, outlook, processes, rendered, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study import headlines, results

# radbook: ...; MissingInputException in rule page
_SHOWN = re.compile(r"^radbook: |^(MissingInput|Syntax|Ambiguous)\w*(Exception|Error)")
_DONE = re.compile(r"^(\d+) of (\d+) steps")  # 12 of 60 steps (20%) done
_GIB_A_KERNEL = 3  # memory of the largest notebook, with its models
_REASONS = {
    "output files have to be generated": "",
    "incomplete output files": "its last run did not finish",
    "updated input files": "what it reads changed",
    "set of input files has changed since last execution": "what it reads changed",
    "input files updated by another job": "it reads what this build makes",
    "code has changed since last execution": "the rules of the build changed",
    "params have changed since last execution": "its source, code, settings or data changed",
}
"""What Snakemake gives as a reason to run a step, in a reader's words; nothing of what was never made."""
Say = Callable[[str], None]


def default_cores() -> int:
    """Notebooks to run at once: as many as the machine has cores, as far as its memory allows."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min(blocks.cores(), int(memory // _GIB_A_KERNEL)))


def build(graph: Graph, cores: int, say: Say) -> None:
    """Bring the book up to date, on so many cores, and see that every result of its pages is there; ``say``
    gets each line worth showing.

    Where no book was rendered yet, the pages that wait for no training are made and rendered first, to be
    read while the others are made. Where a step fails, every other step that can run still runs.

    Raises
    ------
    RadevalError
        If a step failed, or Snakemake could not plan them; what failed was said before.
    ResultError
        If results are not whole although every step that makes them has run twice.
    """
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(graph.settings.threads)))  # before libraries load
    with processes.only_build(graph.output_dir) as environment, forkserver.serving() as served:
        # While the build is planned, the server loads what every step needs; what only models need is loaded
        # for the first step that uses one, since an edited page would wait for it.
        graph.discard_removed()
        for line in _made_again(_discard_outdated(graph)):
            say(line)
        stale_steps = graph.stale_steps()
        if rendered.index(graph.output_dir).is_file() and (files := rendered.changed(graph.output_dir)):
            say(f"The rendered book is not as it was rendered ({listed(files)}); it is rendered again.")
        first = replace(graph, at_once=True)
        if not rendered.index(graph.output_dir).is_file() and first.pages and first.pages != graph.pages:
            say(f"First the {len(first.pages)} of {len(graph.pages)} pages that wait for no training.")
            try:
                _run(first, cores, say, first.stale_steps(), {**environment, **served})
                say(f"To be read: {display_path(rendered.index(graph.output_dir))}. The other pages follow.")
            except RadevalError as error:
                say(
                    f"radbook: the first pages cannot be read yet: {error.what}. The build goes on and tries "
                    "again what failed; what fails again, it names at its end."
                )
            stale_steps = graph.stale_steps()
        for _ in range(2):
            something = _run(graph, cores, say, stale_steps, {**environment, **served})
            if not something or not (stale_steps := graph.stale_steps()):
                return
        raise ResultError(
            f"the results of {', '.join(stale_steps)} are not whole",
            display_path(graph.output_dir),
            "Run `radbook build` again: something else may have written there.",
        )


def _outdated(graph: Graph) -> dict[str, str]:
    """Pages whose results this version cannot read, each with the reason; also of pages that this build does
    not make."""
    reasons = {}
    for page in notebooks():
        try:
            results.of_page(graph.results(page))
            headlines.check(graph.results(page))
        except ResultError as error:
            reasons[page] = error.what
    return reasons


def _discard_outdated(graph: Graph) -> dict[str, str]:
    """Remove what this version cannot read, at which pages that read every result would stop; see
    :func:`_outdated`."""
    outdated = _outdated(graph)
    for page in outdated:
        atomic.discard(graph.results(page), graph.executed(page))
    return outdated


def _made_again(reasons: Mapping[str, str]) -> Iterator[str]:
    """A line for each reason to make steps again; nothing of steps that were never made."""
    named = defaultdict(list)
    for name, reason in reasons.items():
        if reworded := _REASONS.get(reason, reason):
            named[reworded].append(name)
    for reason, names in named.items():
        yield f"To be made again: {listed(names)}: {reason}."


def planned(graph: Graph, again: Iterable[str] = ()) -> list[str]:
    """The steps that a build would run, and ``again``, in the order in which Snakemake names them; a
    RadevalError where it could not plan them."""
    command = [*_command(graph, 1, again), "--dry-run"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    lines = (plan.stdout + plan.stderr).splitlines()
    if plan.returncode:
        raise _no_plan(lines)
    return [name for line in lines if (name := steps.named(line.strip()))]


def _no_plan(lines: list[str]) -> RadevalError:
    """What Snakemake says in these lines of why it could not make the graph."""
    return RadevalError(logs.last_words(lines)[0], "the plan of the build")


def _command(graph: Graph, cores: int, again: Iterable[str]) -> list[str]:
    """The command that runs Snakemake, with the steps ``again`` forced; writes the settings that it reads."""
    forced = [str(graph.output(name).relative_to(ROOT)) for name in again]
    settings = graph.output_dir / "engine.json"
    content = {"profile": graph.settings.name, "data_root": str(graph.data_root or ""), "only": graph.only}
    atomic.write_text(settings, json.dumps({**content, "at_once": graph.at_once, "checked": True}) + "\n")
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT),
        "--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock", "--nocolor",
        "--rerun-triggers", "params", "input", "code",
        "--configfile", str(settings),
        *(["--forcerun", *forced] if forced else []),
    ]  # fmt: skip


class _Progress:
    """Turns the lines of Snakemake's log into the lines that a person needs.

    Attributes
    ----------
    expected : seconds of each step that the engine will run, None where unknown; None until they are listed.
    named : whether a step said in a line of its own what stopped it.
    """

    def __init__(self, graph: Graph, cores: int, again: Mapping[str, str]) -> None:
        self._graph, self._cores, self._again = graph, cores, again
        self._started: dict[str, float] = {}
        self.expected: dict[str, float | None] | None = None
        self.named = False

    def lines(self, text: str) -> Iterator[str]:
        """What to show of a line of the log; nothing of lines before the engine has listed its steps."""
        if (waiting := steps.waiting(text)) is not None:
            self.expected = {name: durations.expected(self._graph, name) for name in waiting}
            yield _total(self._graph, list(waiting), self._cores)
            yield from _made_again({name: self._again.get(name, why) for name, why in waiting.items()})
        elif self.expected is None:
            return
        elif name := steps.named(text):
            self._started[name] = time.monotonic()
            yield text.partition(": ")[2] or text
        elif match := _DONE.match(text):
            yield f"{match[1]} of {match[2]} steps done, about {self._left(self.expected)}"
        elif _SHOWN.match(text):
            self.named |= " is left out: " not in text
            yield text

    def _left(self, waiting: Mapping[str, float | None]) -> str:
        """The time left on all cores, and how many steps it leaves out; a step that runs longer than expected
        counts as about to end, and cells that ended give a measure of those alike."""
        now = time.monotonic()
        left, unmeasured = 0.0, 0
        for name, at_start in waiting.items():
            seconds = durations.expected(self._graph, name) if at_start is None else at_start
            started = self._started.get(name)
            if seconds is not None:
                left += max(0.0, seconds - (now - started if started is not None else 0.0))
            elif started is None:
                unmeasured += 1
        return f"{_duration(left / self._cores)}{_and_unmeasured(unmeasured)} left"


def _run(graph: Graph, cores: int, say: Say, again: Mapping[str, str], environment: dict[str, str]) -> bool:
    """Run what waits, and the steps ``again``, for the reason given; whether there was anything."""
    log, progress = graph.output_dir / "build.log", _Progress(graph, cores, again)
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            _command(graph, cores, again),
            cwd=ROOT,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            preexec_fn=kill_on_parent_exit,
        ) as snakemake,
    ):
        for line in snakemake.stdout or ():
            kept.write(line)
            kept.flush()
            for shown in progress.lines(line.strip()):
                say(shown)
    if snakemake.returncode and progress.expected is None:
        raise _no_plan(log.read_text(encoding="utf-8").splitlines())
    if snakemake.returncode:
        what, where = "the build did not finish", "The lines above name the notebook and cell; the"
        if not progress.named:  # no RadevalError: a fault of the code, or a kill
            raised = logs.exceptions(log.read_text(encoding="utf-8").splitlines())
            what, where = ": ".join([what, *raised[:1]]), "The"
        raise RadevalError(what, "radbook build", f"{where} whole log is in {display_path(log)}.")
    return progress.expected is not None


def _duration(seconds: float) -> str:
    """A time in words that fit how well it is known."""
    if seconds < 90:
        return f"{max(1, round(seconds / 10)) * 10} s"
    return f"{round(seconds / 60)} min"


def dry_run(graph: Graph, cores: int, say: Say) -> None:
    """Say what the profile asks for, which steps a build would run, with the time that each took last, and
    how long all would take."""
    for line in outlook.outlook(graph):
        say(line)
    again = {**graph.stale_steps(), **_outdated(graph)}
    waiting = planned(graph, [name for name in again if name in (*graph.names, steps.BOOK)])
    for line in _made_again(again):
        say(line)
    for name in waiting:
        seconds = durations.expected(graph, name)
        say(f"{'?' if seconds is None else f'{seconds:.0f}':>7} s  {name}")
    say(_total(graph, waiting, cores) if waiting else "Everything is up to date.")


def _total(graph: Graph, waiting: list[str], cores: int) -> str:
    """How many steps wait, and how long they take as far as that is known."""
    every = [durations.expected(graph, name) for name in waiting]
    known = [seconds for seconds in every if seconds is not None]
    steps_left = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
    estimate = f"{steps_left}, about {_duration(sum(known) / min(cores, len(waiting)))}"
    return estimate + _and_unmeasured(len(every) - len(known))


def _and_unmeasured(cells: int) -> str:
    """What an estimate leaves out, in words."""
    return f" and what {cells} cells take that were not measured here" if cells else ""
