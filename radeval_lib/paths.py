"""Paths of files and folders in the repository, names of environment variables, and the display of paths."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGED = Path(__file__).parent / "manifests"  # a wheel's copy of the folder ``data_manifests``
MANIFESTS = _PACKAGED if _PACKAGED.is_dir() else ROOT / "data_manifests"
PAPERS = MANIFESTS / "papers"
PROFILES = MANIFESTS / "profiles"
DATASETS = MANIFESTS / "datasets"
MODELS = MANIFESTS / "models"
RECORDED = MANIFESTS / "recorded"
PUBLISHED = MANIFESTS / "published"
"""Folder with scores of public test sets by the published models; absent until scores are stored."""
NOTEBOOKS = ROOT / "notebooks"
LABS = NOTEBOOKS / "labs"
BOOK = ROOT / "book"
BIBLIOGRAPHY = Path(__file__).parent / "references.bib"
"""BibTeX entries of all cited sources."""
DATA = Path("data") if _PACKAGED.is_dir() else ROOT / "data"
"""Default data root: ``data`` in the repository or, for an installed wheel, in the working directory."""
BUILD = ROOT / "build"
RUNS = BUILD / "runs"
BUILD_LOCK = ".lock"
"""Name of the file that a build locks in its output folder, so that no other process writes there."""
IN_REACH = "restricted.txt"
"""Name of the file in an output folder that lists the restricted data sets that the run could read."""
DEFAULT_PROFILE = "embedded"
"""Name of the profile that commands and notebooks use by default."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Environment variables that limit the threads of numerical libraries, which read them when imported."""

STAGE = "RADEVAL_STAGE"
"""Environment variable with the folder for a notebook's outputs until the notebook has ended."""


def notebooks() -> dict[str, Path]:
    """Return a mapping from the name of each notebook, such as ``rales/datasets``, to its source file.

    Labs are left out.
    """
    sources = sorted(path for path in NOTEBOOKS.glob("*/*.md") if path.parent != LABS)
    return {path.relative_to(NOTEBOOKS).with_suffix("").as_posix(): path for path in sources}


def display_path(path: Path) -> str:
    """Return a path as a string that names no private folder.

    A path in the repository is given relative to it; of any other path, only the last part is given.
    """
    try:
        return path.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return path.name or path.resolve().name or path.anchor
