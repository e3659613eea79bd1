"""Call Snakemake, keep its whole log, and show the part that a person needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import joblib

from radeval_lib import atomic, registry
from radeval_lib.data.roles import loadable_parts
from radeval_lib.errors import RadevalError
from radeval_lib.models import catalog
from radeval_lib.paths import BUILD_LOCK, ROOT, THREAD_VARIABLES, display_path
from radeval_lib.pipeline import forkserver, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study.sources import declared
from radeval_lib.text_format import joined

_STEP = re.compile(r"(?:Job \d+: )?((?:running|rendering) (.+))")  # Job 3: running rales/benchmark
_DONE = re.compile(r"^(\d+) of (\d+) steps")  # 12 of 60 steps (20%) done
_HUB = re.compile(r'"([\w.-]+/[\w.-]+(?:@[\w.-]+)?)"(?!:)')  # owner/name if a profile gives it as a value
_GIB_A_KERNEL = 3  # memory of the largest notebook, with its models
Say = Callable[[str], None]


def default_cores() -> int:
    """Return how many notebooks to run at once: one per core if memory allows."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min(joblib.cpu_count(), int(memory // _GIB_A_KERNEL)))


def build(graph: Graph, cores: int, say: Say) -> None:
    """Bring the book up to date on this number of cores; ``say`` gets each line worth showing.

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


def planned_steps(graph: Graph) -> list[str]:
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
        remedy = "Correct what it names, and run the command again."
        raise RadevalError(steps.last_words(lines)[0], "planning the build", remedy)
    return [step[2] for line in lines if (step := _STEP.fullmatch(line.strip()))]


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


def _run(graph: Graph, cores: int, say: Say, environment: dict[str, str]) -> None:
    """Run the steps that Snakemake finds out of date, and keep its log as ``build.log``; raise a RadevalError
    if one fails."""
    log, shown = graph.output_dir / "build.log", list[str]()
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
            preexec_fn=forkserver.kill_on_parent_exit,
        ) as snakemake,
    ):
        for line in snakemake.stdout or ():
            kept.write(line)
            kept.flush()
            text = line.strip()
            if step := _STEP.fullmatch(text):
                text = step[1]
            elif done := _DONE.match(text):
                text = f"{done[1]} of {done[2]} steps done"
            elif not text.startswith("radbook: "):
                continue
            shown.append(text)
            say(text)
    if snakemake.returncode:
        lines = log.read_text(encoding="utf-8").splitlines()
        see_log = f"See the whole log in {display_path(log)}."
        if not shown:
            raise RadevalError(steps.last_words(lines)[0], "planning the build", see_log)
        if any(line.startswith("radbook: ") and " is left out: " not in line for line in shown):
            remedy = f"Correct the notebook and cell that the lines above name. {see_log}"
            raise RadevalError("the build did not finish", "radbook build", remedy)
        # No RadevalError was printed: a fault of the code, or a kill.
        problem = ": ".join(["the build did not finish", *steps.exceptions(lines)[:1]])
        raise RadevalError(problem, "radbook build", see_log)


def dry_run(graph: Graph, say: Say) -> None:
    """Say what the profile requests and lacks here, and which steps a build would run."""
    waiting = planned_steps(graph)
    for line in [*outlook(graph), *waiting]:
        say(line)
    say(f"Steps to run: {len(waiting)}." if waiting else "Everything is up to date.")


def outlook(graph: Graph) -> list[str]:
    """Return lines on roles with data that is missing here, and one on hub models."""
    lacking = []
    for role, pages in pages_without_data(graph).items():
        named = joined(list(registry.datasets_of(graph.settings.roles[role])))
        lacking.append(
            f"Without {named} ({role}), left out as a whole or from where they need it: {joined(pages)}."
        )
    for role, source in graph.settings.roles.items():
        here = loadable_parts(source, graph.data_root)
        if here and here != source:
            lacking.append(f"In part: {role} is configured by {here} alone, of {source}.")
    if missing := [name for name, here in hub_models(graph).items() if not here]:
        lacking.append(f"Models that are not in the hub's cache here: {joined(missing)}.")
    return lacking


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
        if source != registry.ABSENT and not loadable_parts(source, graph.data_root)
    ]
    readers = dict[str, set[str]]()
    for page in graph.pages if absent else ():
        _, *jobs = graph.with_jobs([page])
        wanted = [declared(page).data]
        wanted += [graph.jobs[job].data or declared(graph.jobs[job].notebook).data for job in jobs]
        readers[page] = set().union(*wanted)
    by_role = {role: [page for page, wanted in readers.items() if role in wanted] for role in absent}
    return {role: pages for role, pages in by_role.items() if pages}
