"""Paths within the repository, in one place."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGED = Path(__file__).parent / "manifests"  # the repository's root folders, in a wheel
MANIFESTS = _PACKAGED if _PACKAGED.is_dir() else ROOT / "data_manifests"
PAPERS = MANIFESTS / "papers"
PROFILES = MANIFESTS / "profiles"
DATASETS = MANIFESTS / "datasets"
MODELS = MANIFESTS / "models"
RECORDED = MANIFESTS / "recorded"
PUBLISHED = MANIFESTS / "published"
"""Scores of public test sets by the published models, once somebody has stored them."""
NOTEBOOKS = ROOT / "notebooks"
LABS = NOTEBOOKS / "labs"
BOOK = ROOT / "book"
REFERENCES = Path(__file__).parent / "references.bib"
"""In the library, which cites from it without the book."""
DATA = Path("data") if _PACKAGED.is_dir() else ROOT / "data"
"""The data root if no other is named; of an installed wheel, in the working directory."""
BUILD = ROOT / "build"
RUNS = BUILD / "runs"
BUILD_LOCK = ".lock"
"""In an output folder: the file that a build holds, so that nothing else writes there."""
IN_REACH = "restricted.txt"
"""Beside what a run leaves: the restricted data sets that were within its reach."""
DEFAULT_PROFILE = "embedded"
"""Name of the file among :data:`PROFILES` that commands and notebooks take if no other is named."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Environment variables that limit the threads of numerical libraries, if set before these are loaded."""

STAGE = "RADEVAL_STAGE"
"""Environment variable: the folder in which a notebook leaves what moves into its place when it has ended."""


def notebooks() -> dict[str, Path]:
    """Return the source of each of the study's notebooks by name, such as ``rales/datasets``. Labs, which
    hold exercises, are excluded."""
    sources = sorted(path for path in NOTEBOOKS.glob("*/*.md") if path.parent != LABS)
    return {path.relative_to(NOTEBOOKS).with_suffix("").as_posix(): path for path in sources}


def display_path(path: Path) -> str:
    """Return ``path`` in a form safe to show: relative to the repository if inside it, otherwise only its
    last part, which names no folder of this machine."""
    try:
        return path.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return path.name or path.resolve().name or path.anchor
