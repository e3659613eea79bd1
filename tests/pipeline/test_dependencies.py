"""What is redone after a change: exactly the steps whose numbers the change can move."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from radeval_lib.paths import ROOT
from radeval_lib.study.imports import code_of, imports_of

PRINT = """
import json
from radeval_lib.pipeline import steps
graph = steps.graph("embedded")
notebooks = {*graph.pages, *(cell.notebook for cell in graph.cells.values())}
print(json.dumps({name: graph.cache_key(name) for name in notebooks}))
"""
TRAINING, RATED, METHOD = "ratescore/ner_training", "ratescore/rated_pairs", "ratescore/correlations"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the steps depend on."""
    copy = tmp_path_factory.mktemp("repository")
    for folder in ("radeval_lib", "data_manifests", "notebooks", "workflow"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _digests(repository: Path) -> dict[str, list[str]]:
    told = subprocess.run(
        [sys.executable, "-c", PRINT],
        cwd=repository,
        env={"PYTHONPATH": str(repository), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    found: dict[str, list[str]] = json.loads(told.stdout)
    return found


@cache
def _untouched(repository: Path) -> dict[str, list[str]]:
    return _digests(repository)


def _redone(repository: Path, changed: str, text: str) -> set[str]:
    """The steps whose dependencies differ after ``text`` was added to a file; the file is put back."""
    path = repository / changed
    before, old = _untouched(repository), path.read_bytes()
    path.write_bytes(old + text.encode())
    try:
        after = _digests(repository)
    finally:
        path.write_bytes(old)
    return {name for name in before if before[name] != after[name]}


def test_another_profile_redoes_nothing(repository: Path) -> None:
    assert _redone(repository, "data_manifests/profiles/full.yml", "# a word\n") == set()
    assert TRAINING in _redone(repository, "data_manifests/profiles/embedded.yml", "needs_data_root: true\n")


def test_a_metric_redoes_the_pages_that_declare_or_import_it(repository: Path) -> None:
    redone = _redone(repository, "radeval_lib/metrics/meteor.py", "# a word\n")
    assert RATED in redone
    assert not {TRAINING, METHOD, "rales/datasets"} & redone


def test_a_statistic_redoes_the_pages_that_use_it(repository: Path) -> None:
    redone = _redone(repository, "radeval_lib/stats/calibration.py", "# a word\n")
    assert "rales/calibration" in redone
    assert not {TRAINING, RATED} & redone


def test_a_tagger_redoes_trainings_and_the_pages_that_load_one(repository: Path) -> None:
    redone = _redone(repository, "radeval_lib/models/ner/iob.py", "# a word\n")
    assert {TRAINING, RATED} <= redone
    assert not {"rales/datasets", "facts/agreement"} & redone


def test_what_pages_show_redoes_no_training(repository: Path) -> None:
    redone = _redone(repository, "radeval_lib/study/display.py", "# a word\n")
    assert {RATED, METHOD} <= redone
    assert TRAINING not in redone


def test_a_lexicon_redoes_what_is_generated_from_it(repository: Path) -> None:
    assert TRAINING in _redone(repository, "radeval_lib/lexicon/regions/hip.yml", "# a word\n")


def test_a_papers_numbers_redo_no_training(repository: Path) -> None:
    redone = _redone(repository, "data_manifests/papers/facts/fig2.csv", "\n")
    assert "facts/agreement" in redone
    assert TRAINING not in redone


def test_imports_are_found_wherever_they_stand() -> None:
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "import radeval_lib.a\n"
        "if TYPE_CHECKING:\n    from radeval_lib import never\nelse:\n    import radeval_lib.other\n"
        "def f():\n    from radeval_lib.b import c as d, e\n"
        "class G:\n    try:\n        import radeval_lib.h\n    except ImportError: pass\n"
    )
    wanted = {"radeval_lib.a", "radeval_lib.other", "radeval_lib.b.c", "radeval_lib.b.e", "radeval_lib.h"}
    assert wanted | {"typing.TYPE_CHECKING"} == set(imports_of(tree))


def test_code_is_found_without_options_and_prose() -> None:
    text = "\n".join(
        [
            *("# Title", "```python", "import no", "```"),
            *("```{code-cell} ipython3", ":tags: [parameters]", "", "a = 1", "```"),
            *("```{code-cell} ipython3", "---", "mystnb: {}", "---", "b = '''", "text'''", "```"),
        ]
    )
    assert code_of(text).split() == ["a", "=", "1", "b", "=", "'''", "text'''"]
