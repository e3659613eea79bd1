"""Call Snakemake, keep its whole log, and show the part that a person needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import joblib

from radeval_lib import atomic, registry
from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.data.roles import present
from radeval_lib.errors import RadevalError, ResultError
from radeval_lib.models import catalog
from radeval_lib.paths import BUILD_LOCK, ROOT, THREAD_VARIABLES, display_path, notebooks
from radeval_lib.pipeline import forkserver, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study import cells, results
from radeval_lib.study.sources import declared
from radeval_lib.text_format import joined

# radbook: ...; MissingInputException in rule page
_SHOWN = re.compile(r"^radbook: |^(MissingInput|Syntax|Ambiguous)\w*(Exception|Error)")
_DONE = re.compile(r"^(\d+) of (\d+) steps")  # 12 of 60 steps (20%) done
_HUB = re.compile(r'"([\w.-]+/[\w.-]+(?:@[\w.-]+)?)"(?!:)')  # owner/name if a profile gives it as a value
_GIB_A_KERNEL = 3  # memory of the largest notebook, with its models
Say = Callable[[str], None]


def default_cores() -> int:
    """Return how many notebooks to run at once: one per core if memory allows."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min(joblib.cpu_count(), int(memory // _GIB_A_KERNEL)))


def build(graph: Graph, cores: int, say: Say) -> None:
    """Bring the book up to date on so many cores; ``say`` gets each line worth showing.

    If no book was rendered yet, the pages that wait for no training are made and rendered first, to be read
    while the others are made. If a step fails, every other step that can run still runs.

    Raises
    ------
    RadevalError
        If a step failed, or Snakemake could not plan them; what failed was said before.
    """
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(graph.settings.threads)))  # before libraries load
    with steps.locked(graph.output_dir / BUILD_LOCK), forkserver.serving() as served:
        graph.discard_removed()
        for line in discard_unreadable(graph):
            say(line)
        index = steps.book_index(graph.output_dir)
        first = replace(graph, at_once=True)
        if not index.is_file() and first.pages and first.pages != graph.pages:
            say(f"First the {len(first.pages)} of {len(graph.pages)} pages that wait for no training.")
            with suppress(RadevalError):  # what failed was said, and is tried again
                _run(first, cores, say, served)
                say(f"To be read: {display_path(index)}. The other pages follow.")
        try:
            _run(graph, cores, say, served)
        except RadevalError:
            index.unlink(missing_ok=True)  # the book shows what is no longer the page's result
            raise


def discard_unreadable(graph: Graph) -> Iterator[str]:
    """Remove results and job outputs that are damaged or of another version, because they would stop the
    steps that read them. Yields a line on each."""
    folders = {page: graph.results(page) for page in notebooks()}
    folders |= {name: cells.folder(graph.output_dir, cell) for name, cell in graph.cells.items()}
    for name, folder in folders.items():
        try:
            if name not in graph.cells:
                results.of_page(folder)
            elif folder.exists():
                cells.check(folder, graph.cells[name], graph.settings.name)
        except ResultError as error:
            atomic.discard(folder, graph.executed(name))
            yield f"To be made again: {name}: {error.what}."


def planned(graph: Graph) -> list[str]:
    """Return the steps that a build would run, in Snakemake's order.

    Raises
    ------
    RadevalError
        If Snakemake could not plan them.
    """
    command = [*_command(graph, 1), "--dry-run"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    lines = (plan.stdout + plan.stderr).splitlines()
    if plan.returncode:
        raise RadevalError(steps.last_words(lines)[0], "the plan of the build")
    return [name for line in lines if (name := steps.named(line.strip()))]


def _command(graph: Graph, cores: int) -> list[str]:
    """Write the settings that Snakemake reads, and return the command that runs it."""
    settings = graph.output_dir / "engine.json"
    content = {"profile": graph.settings.name, "data_root": str(graph.data_root or ""), "only": graph.only}
    atomic.write_text(settings, json.dumps({**content, "at_once": graph.at_once, "checked": True}) + "\n")
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT),
        "--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock", "--nocolor",
        "--rerun-triggers", "params", "input", "code",
        "--configfile", str(settings),
    ]  # fmt: skip


class _Progress:
    """Turns the lines of Snakemake's log into the lines that a person needs.

    Attributes
    ----------
    waiting : seconds that each step that has not begun is expected to take; None before Snakemake lists them.
    explained : whether a step said in a line of its own what stopped it.
    """

    def __init__(self, graph: Graph, cores: int) -> None:
        self._graph, self._cores = graph, cores
        self.waiting: dict[str, float] | None = None
        self.explained = False

    def shown(self, line: str) -> str:
        """Return the text to show for a log line; empty for lines before the list of steps."""
        if (names := steps.waiting(line)) is not None:
            self.waiting = {name: self._graph.expected(name) for name in names}
            return _total(self.waiting, self._cores)
        if self.waiting is None:
            return ""
        if name := steps.named(line):
            self.waiting.pop(name, None)
            return line.partition(": ")[2] or line
        if match := _DONE.match(line):
            left = (
                f", about {_duration(sum(self.waiting.values()) / self._cores)} left" if self.waiting else ""
            )
            return f"{match[1]} of {match[2]} steps done{left}"
        if not _SHOWN.match(line):
            return ""
        self.explained |= " is left out: " not in line
        return line


def _run(graph: Graph, cores: int, say: Say, environment: dict[str, str]) -> None:
    """Run what Snakemake finds to be made."""
    log, progress = graph.output_dir / "build.log", _Progress(graph, cores)
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            _command(graph, cores),
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
            if shown := progress.shown(line.strip()):
                say(shown)
    if snakemake.returncode:
        lines = log.read_text(encoding="utf-8").splitlines()
        if progress.waiting is None:
            log_file = f"See the whole log in {display_path(log)}."
            raise RadevalError(steps.last_words(lines)[0], "planning the build", log_file)
        problem, where = "the build did not finish", "The lines above name the notebook and cell; the"
        if not progress.explained:  # no RadevalError: a fault of the code, or a kill
            problem, where = ": ".join([problem, *steps.exceptions(lines)[:1]]), "The"
        raise RadevalError(problem, "radbook build", f"{where} whole log is in {display_path(log)}.")


def _duration(seconds: float) -> str:
    """Return a time in words that fit how well it is known."""
    return f"{max(1, round(seconds / 10)) * 10} s" if seconds < 90 else f"{round(seconds / 60)} min"


def dry_run(graph: Graph, cores: int, say: Say) -> None:
    """Say what the profile requests, which steps a build would run, how long each took last, and the total
    time."""
    for line in outlook(graph):
        say(line)
    waiting = {name: graph.expected(name) for name in planned(graph)}
    for name, seconds in waiting.items():
        say(f"{seconds:7.0f} s  {name}" + (" (not measured here)" if graph.measured(name) is None else ""))
    say(_total(waiting, cores) if waiting else "Everything is up to date.")


def _total(waiting: dict[str, float], cores: int) -> str:
    """Return how many steps wait and about how long they take."""
    named = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
    return f"{named}, about {_duration(sum(waiting.values()) / max(1, min(cores, len(waiting))))}"


def outlook(graph: Graph) -> list[str]:
    """Return lines on roles with data that is missing here, and one on hub models."""
    lacking = []
    for role, pages in pages_without_data(graph).items():
        named = joined(list(registry.datasets_of(graph.settings.roles[role])))
        lacking.append(
            f"Without {named} ({role}), left out as a whole or from where they need it: {joined(pages)}."
        )
    for role, source in graph.settings.roles.items():
        here = present(source, graph.data_root)
        if here and here != source:
            lacking.append(f"In part: {role} is configured by {here} alone, of {source}.")
    missing = [name for name, here in hub_models(graph).items() if not here]
    models = f"Models that are not in the hub's cache here: {joined(missing)}." if missing else ""
    return [*lacking, *filter(None, [models])]


def hub_models(graph: Graph) -> dict[str, bool]:
    """Return the hub models that a profile names, and whether the weights to load are on this machine."""
    written = json.dumps([graph.settings.models, graph.settings.experiments], ensure_ascii=False)
    return {name: catalog.in_hub_cache(name) for name in sorted(set(_HUB.findall(written)))}


def pages_without_data(graph: Graph) -> dict[str, list[str]]:
    """Return, for each role without data in the data root, the pages that read it themselves or through a
    job. They end before they need it, or are left out."""
    absent = [
        role
        for role, source in graph.settings.roles.items()
        if source != registry.ABSENT and not present(source, graph.data_root)
    ]
    readers = dict[str, set[str]]()
    for page in graph.pages if absent else ():
        roles, notebooks_read, waiting = set(declared(page).data), {page}, graph.cells_before(page)
        while waiting:
            job = graph.cells[waiting.pop()]
            roles.update(job.data or declared(job.notebook).data)
            if job.notebook not in notebooks_read:
                notebooks_read.add(job.notebook)
                waiting += graph.cells_before(job.notebook)
        readers[page] = roles
    by_role = {role: [page for page, wanted in readers.items() if role in wanted] for role in absent}
    return {role: pages for role, pages in by_role.items() if pages}
