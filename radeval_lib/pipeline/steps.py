"""The steps of a build, their dependencies and their outputs."""

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
from radeval_lib.errors import NotebookError, ParameterError, RadevalError, listed
from radeval_lib.papers.exhibits import ledger
from radeval_lib.paths import BOOK, BUILD, LABS, REFERENCES, ROOT, display_path, notebooks
from radeval_lib.registry import CELL_MODEL
from radeval_lib.study import dependencies, jobs
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, profile
from radeval_lib.study.sources import ALL, declared

OMISSION_KEY = "radeval_lacks"
"""In the metadata of an executed notebook that was omitted from the build: why, in one line."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # a change of colour in a terminal
_RAISED = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt): \S")  # builtins.KeyError: 'name'


class BusyError(RadevalError):
    """A file or folder that another process is writing to."""


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a file, alone or shared, until the block or this process ends. Raises BusyError if
    another process has it."""
    if (stream := atomic.lock(path, shared=shared)) is None:
        remedy = "Wait for it to end, or stop it."
        raise BusyError("another process writes here", display_path(path.parent), remedy)
    with stream:
        yield


@dataclass(frozen=True)
class Graph:
    """The steps of one profile's build: of all pages, of those in ``only``, or of those that wait for no job
    (``at_once``)."""

    settings: Profile
    only: tuple[str, ...] = ()
    data_root: Path | None = None
    at_once: bool = False

    @property
    def output_dir(self) -> Path:
        """The folder of all the build's outputs."""
        return BUILD / self.settings.name

    def require_data_root(self) -> None:
        """Raise a ParameterError if the profile needs data files and there is no data root."""
        if self.settings.needs_data_root and self.data_root is None:
            problem = f"profile {self.settings.name!r} needs data files"
            raise ParameterError(problem, "data root", "Name their folder in RADEVAL_DATA_ROOT.")

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """Every job by its name, ``<notebook>/<slug>``."""
        return {f"{job.notebook}/{job.slug}": job for job in jobs.planned_jobs(self.settings)}

    @cached_property
    def pages(self) -> list[str]:
        """The notebooks that this build renders as pages; those that only run jobs are not pages."""
        job_notebooks = {job.notebook for job in self.jobs.values()}
        wanted = chosen_pages(self.only)
        return [
            name
            for name in notebooks()
            if name not in job_notebooks
            and (not self.only or name in wanted)
            and not (self.at_once and self.jobs_before(name))
        ]

    @cached_property
    def model_pages(self) -> list[str]:
        """Pages that run models, and so need a job's resources on a cluster."""
        return [name for name in self.pages if declared(name).models or declared(name).trains]

    def jobs_before(self, notebook: str) -> list[str]:
        """Return the names of the jobs with results or a model that a notebook uses.

        Raises
        ------
        ParameterError, NotebookError
            If the profile has no jobs, or configures no model role, that the notebook declares.
        """
        wanted, where, profile = declared(notebook), f"notebooks/{notebook}.md", self.settings.name
        names = [name for name, job in self.jobs.items() if job.notebook in wanted.cells]
        for missing in set(wanted.cells) - {job.notebook for job in self.jobs.values()}:
            remedy = "Correct `cells` in its front matter, or the profile's `experiments`."
            raise ParameterError(f"profile {profile!r} has no job of {missing!r}", where, remedy)
        for role in wanted.models:
            if (source := self.settings.models.get(role)) is None:
                remedy = f"Use one of {', '.join(self.settings.models)}, or configure it in the profile."
                raise NotebookError(f"profile {profile!r} configures no model role {role!r}", where, remedy)
            if source.startswith(CELL_MODEL):
                job = jobs.of_notebook(self.settings, source.removeprefix(CELL_MODEL))[0]
                names.append(f"{job.notebook}/{job.slug}")
        return list(dict.fromkeys(names))

    def pages_before(self, notebook: str) -> list[str]:
        """Return the pages with results that a notebook reads; raises NotebookError if one is not a page."""
        wanted = declared(notebook).results
        if ALL in wanted:
            return [name for name in self.pages if ALL not in declared(name).results]
        for missing in set(wanted) - set(self.pages):
            if missing not in notebooks():
                problem = f"it reads the results of {missing!r}, which is not a page"
                remedy = "Correct `results` in its front matter."
                raise NotebookError(problem, f"notebooks/{notebook}.md", remedy)
        return [name for name in wanted if name in self.pages]

    def cache_key(self, name: str) -> dict[str, str]:
        """Return the content key of a step, without the jobs and pages that it reads. It digests its source,
        the code within reach, and the manifests, settings and data that it declares, but no time, path of
        this machine or comment."""
        job = self.jobs.get(name)
        notebook, page = (job.notebook if job else name), job is None
        wanted = jobs.inputs_of(job, self.settings) if job else declared(name)
        modules = dependencies.modules_of(notebook, self.settings, wanted)
        sums = [
            f"{file.path} {_checksum(path)}"
            for data_set in dependencies.data_sets_read(wanted, self.settings)
            for file in load_manifest(data_set).files
            if self.data_root is not None and (path := self.data_root / file.path).is_file()
        ]
        return {
            "source": dependencies.source_digest(notebook, page=page),
            "code": dependencies.modules_digest(modules),
            "manifests": dependencies.manifests_digest(notebook, self.settings, wanted, page=page),
            "settings": self.settings.narrow(wanted, cell=not page).digest,
            "papers' settings": dependencies.papers_settings_digest(wanted) if page else "",
            "data": checksums.of_text("\n".join(sums)) if sums else "",
        }

    def discard_removed(self) -> None:
        """Remove results of pages with deleted notebooks, which no build would overwrite."""
        results = self.output_dir / "results"
        for folder in set(results.glob("*/*/")) - {results / name for name in notebooks()}:
            shutil.rmtree(folder)

    def with_jobs(self, pages: Sequence[str]) -> list[str]:
        """Return pages and, after them, the jobs that they need, directly or through a job."""
        steps = dict.fromkeys(pages)
        unvisited = list(pages)
        while unvisited:
            for name in self.jobs_before(unvisited.pop()):
                if name not in steps:
                    steps[name] = None
                    unvisited.append(self.jobs[name].notebook)
        return list(steps)


_checksum = cache(checksums.of_file)


def graph(name: str, only: Sequence[str] = (), data_root: Path | None = None, at_once: bool = False) -> Graph:
    """Return the steps of the profile with that name."""
    chosen_pages(only)
    return Graph(profile(name), tuple(only), data_root, at_once)


def chosen_pages(only: Sequence[str]) -> set[str]:
    """Return the notebooks to build. Each item of ``only`` is a folder (its notebooks and those in
    ``across/``), a notebook, or an exhibit (the notebook that rebuilds it).

    Raises
    ------
    ParameterError
        If an item is not a folder, a notebook or an exhibit.
    """
    chosen, folders = set[str](), sorted({name.partition("/")[0] for name in notebooks()})
    for given in only:
        if given in folders:
            chosen.update(name for name in notebooks() if name.partition("/")[0] in (given, "across"))
        elif given in notebooks():
            chosen.add(given)
        elif given in ledger():
            chosen.add(ledger()[given].notebook)
        else:
            near = get_close_matches(given, [*folders, *notebooks(), *ledger()], n=3) or folders
            problem = f"no folder, notebook or exhibit is called {given!r}"
            raise ParameterError(problem, "--only", f"Use one such as {listed(near)}.")
    return chosen


def book_folder(output_dir: Path) -> Path:
    """Return the rendered book of a profile's outputs."""
    return output_dir / "_build" / "html"


def book_index(output_dir: Path) -> Path:
    """Return the rendered book's first page."""
    return book_folder(output_dir) / "index.html"


def prose_digest(*, judge: bool) -> str:
    """Return a digest of the content of prose pages, labs, settings and styles, and of whether the book has
    the judge for browsers."""
    prose = [REFERENCES, *(path for path in BOOK.rglob("*") if path.is_file())]
    files = sorted([ROOT / "_config.yml", *prose, *LABS.glob("*.md")])
    lines = [f"{display_path(file)} {checksums.of_file(file)}" for file in files]
    return checksums.of_text("\n".join([*lines, f"judge {judge}"]))


def renderer_digest() -> str:
    """Return a digest of the code that turns executed notebooks into the book; Sphinx finds its extension by
    name."""
    entries = ["radeval_lib.pipeline.book", "radeval_lib.pipeline.sphinx_extension"]
    return dependencies.modules_digest(dependencies.closure(entries))


def release_report(output_dir: Path) -> Path:
    """Return the default path of the report on the book of a profile's outputs."""
    return output_dir.with_name(f"release-{output_dir.name}.md")


def without_colours(text: str) -> str:
    """Return terminal text without its colour codes."""
    return _COLOUR.sub("", text)


def exceptions(lines: Iterable[str]) -> list[str]:
    """Return a log's lines that name an exception, the first cause first."""
    return [line.strip() for line in lines if _RAISED.match(line.strip())]


def last_words(lines: Iterable[str]) -> list[str]:
    """Return the :func:`exceptions` in another program's log, or its last line if there are none."""
    printed = [line.strip() for line in lines if line.strip()]
    return exceptions(printed) or printed[-1:] or ["it printed nothing"]
