"""Calls to Snakemake, whose output is kept in a log and shown to the user in a short form."""

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
from radeval_lib.data.roles import keep_loadable
from radeval_lib.errors import RadevalError
from radeval_lib.models import catalog
from radeval_lib.paths import BUILD_LOCK, ROOT, THREAD_VARIABLES, display_path
from radeval_lib.pipeline import forkserver, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study.sources import declared
from radeval_lib.text_format import joined

_STEP = re.compile(r"(?:Job \d+: )?((?:running|rendering) (.+))")  # matches "Job 3: running rales/benchmark"
_PROGRESS = re.compile(r"^(\d+) of (\d+) steps")  # matches "12 of 60 steps (20%) done"
_HUB = re.compile(r'"([\w.-]+/[\w.-]+(?:@[\w.-]+)?)"(?!:)')  # matches "owner/name" as a value
_GIB_PER_NOTEBOOK = 3  # memory of the largest notebook with its models
Say = Callable[[str], None]
"""A function that shows one line to the user."""


def default_cores() -> int:
    """Return how many notebooks to run at once: one per core, or one per 3 GiB of memory if that is fewer.

    The result is at least 1.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min(joblib.cpu_count(), int(memory // _GIB_PER_NOTEBOOK)))


def build(graph: Graph, cores: int, say: Say) -> None:
    """Run all outdated steps and render the book.

    If there is no rendered book, the pages that need no job are run and rendered first, so that they can be
    read while the other pages run. If a step fails, the steps that do not depend on it still run.

    Parameters
    ----------
    cores : number of steps to run at once.
    say : called with each line to show to the user.

    Raises
    ------
    BusyError
        If another process writes to the build's folder.
    RadevalError
        If a step failed (its error has been shown by then), or Snakemake could not plan the steps.
    """
    # Libraries read these variables when they are imported.
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(graph.settings.threads)))
    with steps.hold_lock(graph.output_dir / BUILD_LOCK), forkserver.run_server() as server:
        graph.discard_removed()
        index = steps.book_index(graph.output_dir)
        first_pages = replace(graph, no_jobs=True)
        if not index.is_file() and first_pages.pages and first_pages.pages != graph.pages:
            say(f"{len(first_pages.pages)} of {len(graph.pages)} pages need no training and are built first.")
            with suppress(RadevalError):  # the error has been shown, and the step is tried again below
                _run(first_pages, cores, say, server)
                say(f"Ready to read: {display_path(index)}. The other pages follow.")
        try:
            _run(graph, cores, say, server)
        except RadevalError:
            index.unlink(missing_ok=True)  # the book may show outdated results
            raise


def planned_steps(graph: Graph) -> list[str]:
    """Return the names of the steps that a build would run, in Snakemake's order.

    Raises
    ------
    RadevalError
        If Snakemake could not plan the steps.
    """
    command = [*_prepare(graph, 1), "--dry-run"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    lines = (plan.stdout + plan.stderr).splitlines()
    if plan.returncode:
        # Snakemake's message names the file at fault, if there is one.
        remedy = "Correct the fault in this message, and run the command again."
        raise RadevalError(steps.find_failure(lines)[0], "planning the build", remedy)
    return [step[2] for line in lines if (step := _STEP.fullmatch(line.strip()))]


def _prepare(graph: Graph, cores: int) -> list[str]:
    """Write Snakemake's settings to ``engine.json`` in the build's folder, and return the command to run it.

    ``cores`` is the number of steps to run at once.
    """
    config_path = graph.output_dir / "engine.json"
    content = {"profile": graph.settings.name, "data_root": str(graph.data_root or ""), "only": graph.only}
    atomic.write_text(config_path, json.dumps({**content, "no_jobs": graph.no_jobs, "checked": True}) + "\n")
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT),
        "--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock", "--nocolor",
        "--rerun-triggers", "params", "input", "code",
        "--configfile", str(config_path),
    ]  # fmt: skip


def _run(graph: Graph, cores: int, say: Say, environment: dict[str, str]) -> None:
    """Run the steps of a graph with Snakemake, and write its output to ``build.log`` in the build's folder.

    Parameters
    ----------
    cores : number of steps to run at once.
    say : called with each line to show to the user.
    environment : additional environment variables for the steps.

    Raises
    ------
    RadevalError
        If a step failed, or Snakemake could not plan the steps.
    """
    log, shown_lines = graph.output_dir / "build.log", list[str]()
    with (
        log.open("w", encoding="utf-8") as log_file,
        subprocess.Popen(
            _prepare(graph, cores),
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
            log_file.write(line)
            log_file.flush()
            text = line.strip()
            if step := _STEP.fullmatch(text):
                text = step[1]
            elif progress := _PROGRESS.match(text):
                text = f"{progress[1]} of {progress[2]} steps done"
            elif not text.startswith("radbook: "):
                continue
            shown_lines.append(text)
            say(text)
    if snakemake.returncode:
        lines = log.read_text(encoding="utf-8").splitlines()
        see_log = f"See the whole log in {display_path(log)}."
        if not shown_lines:
            raise RadevalError(steps.find_failure(lines)[0], "planning the build", see_log)
        if any(line.startswith("radbook: ") and " is left out: " not in line for line in shown_lines):
            remedy = f"Follow the advice in the lines above that begin with `radbook:`. {see_log}"
            raise RadevalError("the build did not finish", "radbook build", remedy)
        # No RadevalError was printed: the code has a fault, or a process was killed.
        problem = ": ".join(["the build did not finish", *steps.find_exceptions(lines)[:1]])
        raise RadevalError(problem, "radbook build", see_log)


def dry_run(graph: Graph, say: Say) -> None:
    """Show which data and models of the profile are missing, and which steps a build would run.

    ``say`` is called with each line. Raises RadevalError if Snakemake could not plan the steps.
    """
    planned = planned_steps(graph)
    for line in [*describe_missing(graph), *planned]:
        say(line)
    say(f"Steps to run: {len(planned)}." if planned else "Everything is up to date.")


def describe_missing(graph: Graph) -> list[str]:
    """Return lines about missing data and models, to show to the user; empty if nothing is missing.

    There is one line for each role that lacks all or part of its data, and one for all models of the Hugging
    Face Hub that are not cached.
    """
    lines = []
    for role, pages in find_pages_without_data(graph).items():
        datasets = joined(list(registry.datasets_of(graph.settings.roles[role])))
        lines.append(f"Without {datasets} ({role}), these are left out or end early: {joined(pages)}.")
    for role, source in graph.settings.roles.items():
        loadable = keep_loadable(source, graph.data_root)
        if loadable and loadable != source:
            lines.append(f"Role {role} uses only {loadable}; the rest of {source} is missing.")
    if missing := [name for name, is_cached in find_hub_models(graph).items() if not is_cached]:
        lines.append(f"Models that are not in the cache of the Hugging Face Hub: {joined(missing)}.")
    return lines


def find_hub_models(graph: Graph) -> dict[str, bool]:
    """Return whether the weights of each Hugging Face Hub model in a profile are cached, by the model's name.

    A key is the model's name, ``owner/name`` or ``owner/name@revision``.
    """
    as_json = json.dumps([graph.settings.models, graph.settings.experiments], ensure_ascii=False)
    return {name: catalog.is_in_hub_cache(name) for name in sorted(set(_HUB.findall(as_json)))}


def find_pages_without_data(graph: Graph) -> dict[str, list[str]]:
    """Return a mapping from each role whose data are missing to the pages that need these data.

    A page needs the data of a role if the page, or a job that it reads, declares the role. Roles that no page
    needs are omitted. A build leaves these pages out, or ends them before the first result that needs the
    data.
    """
    missing = [
        role
        for role, source in graph.settings.roles.items()
        if source != registry.ABSENT and not keep_loadable(source, graph.data_root)
    ]
    roles_of_page = dict[str, set[str]]()
    for page in graph.pages if missing else ():
        _, *jobs = graph.with_jobs([page])
        roles = [declared(page).data]
        roles += [graph.jobs[job].data or declared(graph.jobs[job].notebook).data for job in jobs]
        roles_of_page[page] = set().union(*roles)
    pages_of = {role: [page for page, roles in roles_of_page.items() if role in roles] for role in missing}
    return {role: pages for role, pages in pages_of.items() if pages}
