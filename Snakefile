"""The study as a graph: run every notebook, then the pages that read their results, then render the book.

`radbook build` calls it; `snakemake --config profile=embedded` does the same. Snakemake redoes a step when one
of its inputs, its parameters or its code changed, and forgets the outputs of a step that was killed.
"""

import re
import sys
from dataclasses import asdict
from pathlib import Path

from radeval_lib.study import profiles
from radeval_lib.experiments.ratescore import trainings

PROFILE = config.get("profile", "embedded")
DATA_ROOT = config.get("data_root") or ""
OUT = f"build/{PROFILE}"
RUN = f'"{sys.executable}" -m radeval_lib.cli'

# Tables 6 and 7 of RaTEScore: one training of a recogniser a cell.
PLANNED = {training.slug: training for training in trainings.planned(profiles.profile(PROFILE))}
OWN = next(iter(PLANNED))

# Pages that show what the others recorded.
READERS = ["across/at_a_glance", "across/audit", "across/exhibits"]
NOTEBOOKS = sorted(p.relative_to("notebooks").with_suffix("").as_posix() for p in Path("notebooks").glob("*/*.md"))
NOTEBOOKS = [name for name in NOTEBOOKS if name != trainings.NOTEBOOK]
STUDIES = [name for name in NOTEBOOKS if name not in READERS]

# What a notebook's numbers can depend on: the library (but not what only drives it) and the manifests.
LIBRARY = [str(p) for p in sorted(Path("radeval_lib").rglob("*.*")) if "pipeline" not in p.parts
           and "__pycache__" not in p.parts and "cli" not in p.parts and p.suffix in (".py", ".yml", ".yaml", ".json", ".csv")]
# What a training can depend on: not the metrics and statistics, so that work on them does not train anew.
TRAINERS = [path for path in LIBRARY if {"data", "models", "roles", "synthetic"} & set(Path(path).parts)]
TRAINERS += ["radeval_lib/experiments/ratescore/trainings.py", "radeval_lib/study/profiles.py"]
MANIFESTS = [str(p) for p in sorted(Path("data_manifests").rglob("*")) if p.is_file() and "profiles" not in p.parts]
SETTINGS = [str(p) for p in sorted(Path("data_manifests/profiles").glob("*.yml"))]
DATA = [str(p) for p in sorted(Path(DATA_ROOT).rglob("*")) if p.is_file()] if DATA_ROOT else []
PAGES = ["_config.yml"] + [str(p) for p in sorted(Path("book").rglob("*")) if p.is_file()]


rule book:
    input:
        executed=expand(OUT + "/executed/{notebook}.ipynb", notebook=NOTEBOOKS),
        pages=PAGES,
        renderer=[str(p) for p in sorted(Path("radeval_lib/pipeline").glob("*.py"))],
    output:
        OUT + "/_build/html/index.html",
    message:
        "rendering the book"
    shell:
        RUN + ' render --profile {PROFILE} --data-root "{DATA_ROOT}"'


def trained_before(wildcards):
    """The trainings that a notebook reads, or whose model it uses."""
    source = Path(f"notebooks/{wildcards.notebook}.md").read_text(encoding="utf-8")
    own = "run.model(" in source or "metric_panel." in source
    slugs = PLANNED if "trainings.read(" in source else [OWN] if own else []
    return expand(OUT + "/trainings/{slug}", slug=slugs)


rule study:
    input:
        trained_before,
        source="notebooks/{notebook}.md",
        depends=LIBRARY + MANIFESTS + SETTINGS + DATA,
    output:
        executed=OUT + "/executed/{notebook}.ipynb",
        results=directory(OUT + "/results/{notebook}"),
    wildcard_constraints:
        notebook="|".join(STUDIES),
    params:
        data_root=DATA_ROOT,
    message:
        "running notebooks/{wildcards.notebook}.md"
    shell:
        RUN + " run {wildcards.notebook} --output {output.executed} --quiet -p profile {PROFILE}"
        ' -p data_root "{params.data_root}"'


rule training:
    input:
        source=f"notebooks/{trainings.NOTEBOOK}.md",
        depends=TRAINERS + SETTINGS + DATA,
    output:
        executed=OUT + "/trainings/{slug}.ipynb",
        results=directory(OUT + "/trainings/{slug}"),
    wildcard_constraints:
        slug="|".join(map(re.escape, PLANNED)),
    params:
        data_root=DATA_ROOT,
        cell=lambda wildcards: " ".join(f'-p {key} "{value}"' for key, value in asdict(PLANNED[wildcards.slug]).items()),
    priority: 10
    resources:
        gpu=1,
    message:
        "training {wildcards.slug}"
    shell:
        RUN + f" run {trainings.NOTEBOOK}"
        ' --output {output.executed} --quiet -p profile {PROFILE} -p data_root "{params.data_root}" {params.cell}'


rule reader:
    input:
        source="notebooks/{notebook}.md",
        depends=LIBRARY + MANIFESTS + SETTINGS,
        results=expand(OUT + "/results/{study}", study=STUDIES),
    output:
        executed=OUT + "/executed/{notebook}.ipynb",
    wildcard_constraints:
        notebook="|".join(READERS),
    message:
        "running notebooks/{wildcards.notebook}.md on what the others recorded"
    shell:
        RUN + " run {wildcards.notebook} --output {output.executed} --quiet -p profile {PROFILE}"
