"""The build of a profile: run every job and page, then render the book.

`radbook build` calls Snakemake with this file; `snakemake --config profile=embedded --rerun-triggers params input code`
does the same. `radeval_lib/pipeline/steps.py` defines what each step depends on. Snakemake runs a step again if the
digest of its inputs changed or a step that it reads was run again; times of files do not matter. Outputs of a step that
was killed are discarded.
"""

import sys
from pathlib import Path

from radeval_lib import atomic, data
from radeval_lib.errors import RadevalError
from radeval_lib.pipeline import browser_judge, forkserver, steps

try:
    GRAPH = steps.graph(
        config.get("profile", "embedded"),
        config.get("only") or [],
        data.data_root(config.get("data_root") or None),
        config.get("no_jobs", False),
    )
    if not config.get("checked", False):  # `radbook build` has checked this already
        GRAPH.require_data_root()
except RadevalError as error:
    sys.exit(f"snakemake: {error}")
ROOT_OF_DATA = str(GRAPH.data_root or "")
OUT = f"build/{GRAPH.settings.name}"
# Commands are not among the params of rules, since a change of params runs a step again: if the repository is moved,
# paths change but results do not.
RADBOOK = forkserver.wrap_command([sys.executable, "-m", "radeval_lib.cli"])
PARAMETERS = ["-p", "profile", GRAPH.settings.name] + (["-p", "data_root", ROOT_OF_DATA] if ROOT_OF_DATA else [])
RENDER = [*RADBOOK, "render", "--profile", GRAPH.settings.name] + (
    ["--data-root", ROOT_OF_DATA] if ROOT_OF_DATA else []
)


def one_of(names):
    """Return a regular expression that matches only these names."""
    import re

    return "|".join(map(re.escape, names)) or "(?!)"


def inputs_of(notebook):
    """Return the folders of results, of jobs and pages, that a notebook reads."""
    return [f"{OUT}/jobs/{name}" for name in GRAPH.jobs_before(notebook)] + [
        f"{OUT}/results/{page}" for page in GRAPH.pages_before(notebook)
    ]


def job_options(name):
    """Return the parameters of a job as options of the command that runs it."""
    return [text for key, value in GRAPH.jobs[name].items for text in ("-p", key, str(value))]


onstart:
    # On a cluster, a step that never starts would keep its old outputs, which Snakemake would then take for new ones
    # (Snakemake's issue 3808). So the old outputs are discarded here. Local steps discard theirs when they start.
    if workflow.non_local_exec:
        atomic.discard(*(Path(made) for job in workflow.dag.needrun_jobs() for made in job.output))


rule book:
    input:
        executed=expand(OUT + "/executed/{page}.ipynb", page=GRAPH.pages),
        pages=["_config.yml"] + sorted(str(path) for path in Path("book").rglob("*") if path.is_file()),
    output:
        OUT + "/_build/html/index.html",
    params:
        renderer=steps.digest_renderer(),
        prose=steps.digest_prose(judge=browser_judge.is_downloaded()),
    message:
        "rendering the book"
    shell:
        "{RENDER:q}"


rule page:
    input:
        lambda wildcards: inputs_of(wildcards.page),
        source="notebooks/{page}.md",
    output:
        executed=OUT + "/executed/{page}.ipynb",
        results=directory(OUT + "/results/{page}"),
    wildcard_constraints:
        page=one_of(page for page in GRAPH.pages if page not in GRAPH.model_pages),
    threads: GRAPH.settings.threads
    params:
        depends=lambda wildcards: GRAPH.cache_key(wildcards.page),
    message:
        "running {wildcards.page}"
    shell:
        "{RADBOOK:q} run {wildcards.page:q} --quiet --in-build {PARAMETERS:q}"


use rule page as model_page with:
    wildcard_constraints:
        page=one_of(GRAPH.model_pages),
    resources:
        gpu=1,


rule run_job:
    input:
        lambda wildcards: inputs_of(GRAPH.jobs[wildcards.job].notebook),
        source=lambda wildcards: f"notebooks/{GRAPH.jobs[wildcards.job].notebook}.md",
    output:
        executed=OUT + "/executed_jobs/{job}.ipynb",
        results=directory(OUT + "/jobs/{job}"),
    wildcard_constraints:
        job=one_of(GRAPH.jobs),
    threads: GRAPH.settings.threads
    params:
        depends=lambda wildcards: GRAPH.cache_key(wildcards.job),
        notebook=lambda wildcards: GRAPH.jobs[wildcards.job].notebook,
        own=lambda wildcards: job_options(wildcards.job),
    priority: 10
    resources:
        gpu=1,
    message:
        "running {wildcards.job}"
    shell:
        "{RADBOOK:q} run {params.notebook:q} --quiet --in-build {PARAMETERS:q} {params.own:q}"
