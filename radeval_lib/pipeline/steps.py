"""The steps of a build (running pages and jobs, rendering the book), their dependencies and their outputs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

from radeval_lib import atomic, checksums
from radeval_lib.data.manifests import load_manifest
from radeval_lib.errors import NotebookError, ParameterError, RadevalError, list_names
from radeval_lib.papers.exhibits import ledger
from radeval_lib.paths import BIBLIOGRAPHY, BOOK, BUILD, LABS, ROOT, display_path, notebooks
from radeval_lib.registry import JOB_MODEL
from radeval_lib.study import dependencies, jobs
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, profile
from radeval_lib.study.sources import ALL, declared

OMISSION_KEY = "radeval_lacks"
"""Key in the metadata of a notebook that was left out of the build; the value is the reason, in one line."""
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")  # matches a colour code of terminals
# Matches a line such as "builtins.KeyError: 'name'".
_EXCEPTION_LINE = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt): \S")


class BusyError(RadevalError):
    """Raised if another process is writing to the same file or folder."""


@contextmanager
def hold_lock(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold a lock on the file ``path`` until the block ends; the lock is exclusive or ``shared``.

    Raises
    ------
    BusyError
        If another process holds the lock, unless both locks are shared.
    """
    if (stream := atomic.lock(path, shared=shared)) is None:
        remedy = "Wait until it ends, or stop it."
        raise BusyError("another process is writing to this folder", display_path(path.parent), remedy)
    with stream:
        yield


@dataclass(frozen=True)
class Graph:
    """The steps of a profile's build.

    Attributes
    ----------
    settings : the profile.
    only : folders, notebooks or exhibits to which the build is restricted; empty for all pages.
    data_root : folder of data files; None if there is none.
    no_jobs : whether the build is restricted to pages that need no job.
    """

    settings: Profile
    only: tuple[str, ...] = ()
    data_root: Path | None = None
    no_jobs: bool = False

    @property
    def output_dir(self) -> Path:
        """The folder of the build's outputs, ``build/<profile>``."""
        return BUILD / self.settings.name

    def require_data_root(self) -> None:
        """Raise a ParameterError if the profile needs data files but there is no data root."""
        if self.settings.needs_data_root and self.data_root is None:
            problem = f"none is set, but profile {self.settings.name!r} needs one"
            raise ParameterError(problem, "data root", "Set RADEVAL_DATA_ROOT, or give --data-root.")

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """A mapping from the name of each job of the profile, ``<notebook>/<slug>``, to the job."""
        return {f"{job.notebook}/{job.slug}": job for job in jobs.planned_jobs(self.settings)}

    @cached_property
    def pages(self) -> list[str]:
        """The notebooks that this build runs as pages; notebooks of jobs are not pages."""
        job_notebooks = {job.notebook for job in self.jobs.values()}
        chosen = resolve_pages(self.only)
        return [
            name
            for name in notebooks()
            if name not in job_notebooks
            and (not self.only or name in chosen)
            and not (self.no_jobs and self.jobs_before(name))
        ]

    @cached_property
    def model_pages(self) -> list[str]:
        """The pages that run or train models; on a cluster, these get a GPU."""
        return [name for name in self.pages if declared(name).models or declared(name).trains]

    def jobs_before(self, notebook: str) -> list[str]:
        """Return the names of the jobs that must run before a notebook because it uses their results or
        models.

        Raises
        ------
        ParameterError
            If the profile has no job of a notebook whose results or model the notebook declares.
        NotebookError
            If the profile lacks a model role that the notebook declares, or the front matter is not valid.
        """
        declaration, source, profile = declared(notebook), f"notebooks/{notebook}.md", self.settings.name
        names = [name for name, job in self.jobs.items() if job.notebook in declaration.jobs]
        for missing in set(declaration.jobs) - {job.notebook for job in self.jobs.values()}:
            remedy = "Correct `jobs` in its front matter, or the profile's `experiments`."
            raise ParameterError(f"profile {profile!r} has no job of {missing!r}", source, remedy)
        for role in declaration.models:
            if (model := self.settings.models.get(role)) is None:
                remedy = f"Use one of {', '.join(self.settings.models)}, or configure it in the profile."
                raise NotebookError(f"profile {profile!r} configures no model role {role!r}", source, remedy)
            if model.startswith(JOB_MODEL):
                job = jobs.list_jobs(self.settings, model.removeprefix(JOB_MODEL))[0]
                names.append(f"{job.notebook}/{job.slug}")
        return list(dict.fromkeys(names))

    def pages_before(self, notebook: str) -> list[str]:
        """Return the pages of this build that must run before a notebook because it reads their results.

        Raises NotebookError if the notebook declares results of a notebook that does not exist.
        """
        declared_results = declared(notebook).results
        if ALL in declared_results:
            return [name for name in self.pages if ALL not in declared(name).results]
        for missing in set(declared_results) - set(self.pages):
            if missing not in notebooks():
                problem = f"it reads the results of {missing!r}, which does not exist"
                remedy = "Correct `results` in its front matter."
                raise NotebookError(problem, f"notebooks/{notebook}.md", remedy)
        return [name for name in declared_results if name in self.pages]

    def cache_key(self, name: str) -> dict[str, str]:
        """Return a mapping from each kind of input of a step to its digest; a change reruns the step.

        The kinds are the step's source, the code that it can import, and the manifests, settings and data
        that it declares; the jobs and pages that it reads are not included. No digest changes with times,
        paths of this machine or comments. ``name`` is the name of a page or job.
        """
        job = self.jobs.get(name)
        notebook, page = (job.notebook if job else name), job is None
        declaration = jobs.allowed_inputs(job, self.settings) if job else declared(name)
        modules = dependencies.modules_of(notebook, self.settings, declaration)
        sums = [
            f"{file.path} {_checksum(path)}"
            for data_set in dependencies.data_sets_read(declaration, self.settings)
            for file in load_manifest(data_set).files
            if self.data_root is not None and (path := self.data_root / file.path).is_file()
        ]
        return {
            "source": dependencies.source_digest(notebook, page=page),
            "code": dependencies.modules_digest(modules),
            "manifests": dependencies.manifests_digest(notebook, self.settings, declaration, page=page),
            "settings": self.settings.narrow(declaration, for_job=not page).digest,
            "papers' settings": dependencies.papers_settings_digest(declaration) if page else "",
            "data": checksums.of_text("\n".join(sums)) if sums else "",
        }

    def discard_removed(self) -> None:
        """Remove the results of pages whose notebook was deleted."""
        results = self.output_dir / "results"
        for folder in set(results.glob("*/*/")) - {results / name for name in notebooks()}:
            shutil.rmtree(folder)

    def with_jobs(self, pages: Sequence[str]) -> list[str]:
        """Return ``pages``, followed by all jobs that they need, directly or through other jobs."""
        steps = dict.fromkeys(pages)
        unvisited = list(pages)
        while unvisited:
            for name in self.jobs_before(unvisited.pop()):
                if name not in steps:
                    steps[name] = None
                    unvisited.append(self.jobs[name].notebook)
        return list(steps)


_checksum = cache(checksums.of_file)


def graph(name: str, only: Sequence[str] = (), data_root: Path | None = None, no_jobs: bool = False) -> Graph:
    """Return the steps of a profile's build.

    ``name`` is the name of the profile; the other parameters are attributes of :class:`Graph`. Raises
    ParameterError if an item of ``only`` does not exist, and ProfileError if the profile does not.
    """
    resolve_pages(only)
    return Graph(profile(name), tuple(only), data_root, no_jobs)


def resolve_pages(only: Sequence[str]) -> set[str]:
    """Return the names of the notebooks that ``only`` selects; an empty set if ``only`` is empty.

    An item is a folder (for its notebooks and those in ``across/``), a notebook, or an exhibit (for the
    notebook that rebuilds it).

    Raises
    ------
    ParameterError
        If an item is not a folder, a notebook or an exhibit.
    """
    chosen, folders = set[str](), sorted({name.partition("/")[0] for name in notebooks()})
    for item in only:
        if item in folders:
            chosen.update(name for name in notebooks() if name.partition("/")[0] in (item, "across"))
        elif item in notebooks():
            chosen.add(item)
        elif item in ledger():
            chosen.add(ledger()[item].notebook)
        else:
            similar = get_close_matches(item, [*folders, *notebooks(), *ledger()], n=3) or folders
            problem = f"no folder, notebook or exhibit is called {item!r}"
            raise ParameterError(problem, "--only", f"Name one such as {list_names(similar)}.")
    return chosen


def book_folder(output_dir: Path) -> Path:
    """Return the path of the rendered book's folder in the output folder of a build."""
    return output_dir / "_build" / "html"


def book_index(output_dir: Path) -> Path:
    """Return the path of the rendered book's first page in the output folder of a build."""
    return book_folder(output_dir) / "index.html"


def digest_prose(*, judge: bool) -> str:
    """Return a digest of the files in ``book/``, the labs, the bibliography and Jupyter Book's settings.

    It also changes with ``judge``, whether the book includes the judge in the browser.
    """
    prose = [BIBLIOGRAPHY, *(path for path in BOOK.rglob("*") if path.is_file())]
    files = sorted([ROOT / "_config.yml", *prose, *LABS.glob("*.md")])
    lines = [f"{display_path(file)} {checksums.of_file(file)}" for file in files]
    return checksums.of_text("\n".join([*lines, f"judge {judge}"]))


def digest_renderer() -> str:
    """Return a digest of the code that renders the book from executed notebooks."""
    # Sphinx imports its extension by name, so it is listed here.
    entries = ["radeval_lib.pipeline.book", "radeval_lib.pipeline.sphinx_extension"]
    return dependencies.modules_digest(dependencies.closure(entries))


def report_path(output_dir: Path) -> Path:
    """Return the default path of the release report for a build's book, ``release-<profile>.md``.

    ``output_dir`` is the folder of the build; the report is written next to it.
    """
    return output_dir.with_name(f"release-{output_dir.name}.md")


def remove_colours(text: str) -> str:
    """Return a text without terminal colour codes."""
    return _COLOUR_CODE.sub("", text)


def find_exceptions(lines: Iterable[str]) -> list[str]:
    """Return the lines of a log that name an exception, such as ``KeyError: 'name'``, in order."""
    return [line.strip() for line in lines if _EXCEPTION_LINE.match(line.strip())]


def find_failure(lines: Iterable[str]) -> list[str]:
    """Return the lines of a log that explain why a program failed; at least one line.

    They are the lines that name an exception or, if there are none, the last line that is not blank. For an
    empty log, ``it printed nothing`` is returned.
    """
    printed_lines = [line.strip() for line in lines if line.strip()]
    return find_exceptions(printed_lines) or printed_lines[-1:] or ["it printed nothing"]
