"""Each recipe of the page *Bring your own* works: its files are written and its commands run in a copy of
the project."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib.models import catalog
from radeval_lib.paths import BOOK
from tests.full import data_files, models, tiny

_STEP = re.compile(
    r"^(?P<fence>`{3,})(?:\{code-block\} \w+\n:caption: (?P<file>\S+)(?P<how>[^\n]*)\n\n|bash\n)"
    r"(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
"""Matches a block of the page: a file (its caption names the path) or commands."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the project, with the files that a clone has."""
    tiny.copy_project(tmp_path / "project")
    return tmp_path / "project"


def _section(label: str) -> str:
    """Return the section of the page *Bring your own* with this label, up to the end of its folded part."""
    page = (BOOK / "own.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n({label})=\n")
    assert section
    return section.partition("\n</details>\n")[0]


def _follow(label: str, project: Path, without: str = "", **environment: str) -> list[str]:
    """Write the files and run the commands of a section in a project, and return what each command prints.

    Files whose caption says "before the command" are written first. Commands that begin with ``without``,
    if it is given, are skipped. ``environment`` has variables for the commands.
    """
    steps = list(_STEP.finditer(_section(label)))
    assert steps
    first_steps = [step for step in steps if step["file"] and "before the command" in step["how"]]
    outputs = []
    for step in [*first_steps, *(step for step in steps if step not in first_steps)]:
        if step["file"]:
            _write(project / step["file"], step["how"], step["text"])
            continue
        for line in step["text"].replace("\\\n", "").splitlines():
            if without and line.startswith(without):
                continue
            assert line.startswith("radbook ")
            ran = _radbook(project, *shlex.split(line)[1:], **environment)
            assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"
            outputs.append(ran.stdout)
    return outputs


def _python(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copied project, without a data root unless ``environment`` names one."""
    kept = {name: value for name, value in os.environ.items() if name != "RADEVAL_DATA_ROOT"}
    env, command = {**kept, "PYTHONPATH": str(project), **environment}, [sys.executable, *arguments]
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)


def _radbook(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return _python(project, "-m", "radeval_lib.cli", *arguments, **environment)


def _write(path: Path, how: str, text: str) -> None:
    """Write a file of the page; ``how`` is the rest of its caption, which may say to insert or replace one
    line of an existing file, or to append to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if match := re.search(r"one line, behind `(.+)`", how):
        old = path.read_text(encoding="utf-8")
        assert old.count(f"\n{match[1]}\n") == 1
        text = old.replace(f"\n{match[1]}\n", f"\n{match[1]}\n{text}", 1)
    elif "one line" in how:
        key = text.partition(":")[0]
        text, count = re.subn(rf"(?m)^{key}:.*\n", text, path.read_text(encoding="utf-8"), count=1)
        assert count == 1
    elif "at its end" in how:
        text = path.read_text(encoding="utf-8") + text
    path.write_text(text, encoding="utf-8")


def test_own_ratings_are_loaded_for_the_role(copy: Path) -> None:
    outputs = _follow("own-ratings-data", copy, without="radbook build")
    assert "our_ratings: 6 cases, 12 candidates, 2 raters" in outputs[0]
    code = """
from radeval_lib.data.manifests import data_root
from notebooks.across import which_judge
from radeval_lib.data.roles import load
from radeval_lib.study.page_runs import data_title, evidence_words
from radeval_lib.study.profiles import profile

source = profile("embedded").roles["rated_pairs"]
records = load("rated_pairs", source, size=0, seed=0, root=data_root())
pairs, grades = which_judge.select_rated_candidates(records)
print(len(pairs), pairs["set"].nunique(), list(grades), data_title(source), evidence_words(source))
"""
    ran = _python(copy, "-c", code)
    assert ran.stdout.strip() == "12 6 ['Ada', 'Ben'] Our ratings private data", ran.stderr
    table = copy / "data" / "our_ratings" / "ratings.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("Ben,5", "Ben,4"), encoding="utf-8")
    again = _radbook(copy, "data", "verify", "our_ratings")
    assert "our_ratings: 6 cases" in again.stdout, again.stderr


def test_an_own_data_set_is_loaded_for_a_role(copy: Path) -> None:
    outputs = _follow("own-data-set", copy)
    assert "our_reports: 2 ReportPair" in outputs[0]
    code = """
from radeval_lib.data.manifests import data_root
from radeval_lib.data.roles import load

print([pair.impression for pair in load("summaries", "our_reports", size=0, seed=0, root=data_root())])
"""
    ran = _python(copy, "-c", code)
    assert ran.stdout.strip() == "['Small left effusion.', 'No acute disease.']", ran.stderr


@pytest.mark.nightly
def test_own_ratings_reach_a_figure_without_training(copy: Path) -> None:
    assert _radbook(copy, "build", "--only", "across/which_judge").returncode == 0
    cells = copy / "build" / "embedded" / "jobs"
    before = {path: path.stat().st_mtime_ns for path in cells.rglob("facts.json")}
    assert before
    _follow("own-ratings-data", copy, without="radbook")
    rng = random.Random(0)
    pairs = data_files._restricted_pairs(80)  # The build searches its pages for these texts.
    rows = [
        [n // 2, "ab"[n % 2], candidate, pairs[n // 2 * 2][0], rater, rng.randint(1, 5)]
        for n, (_, candidate) in enumerate(pairs)
        for rater in ("Ada", "Ben")
    ]
    columns = ["case", "id", "candidate", "reference", "rater", "grade"]
    pd.DataFrame(rows, columns=columns).to_csv(copy / "data/our_ratings/ratings.csv", index=False)
    assert _radbook(copy, "build", "--only", "across/which_judge").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in cells.rglob("facts.json")} == before
    page = copy / "build/embedded/_build/html/notebooks/across/which_judge.html"
    assert "Our ratings" in page.read_text(encoding="utf-8")


def test_an_own_metric_gets_a_card_and_scores(copy: Path) -> None:
    _follow("own-metric-in-pages", copy)
    assert (copy / "card.html").stat().st_size > 1000
    scores = pd.read_csv(copy / "scores.csv")
    # The first candidate has 2 of 3 words: "left" and "effusion."; the second has no word of its reference.
    assert scores.filter(like="word_recall").iloc[:, 0].tolist() == pytest.approx([2 / 3, 0])


def test_an_own_model_is_loaded_at_its_revision(copy: Path, tmp_path: Path) -> None:
    card = catalog.load_card("bert_base")
    name = f"{card.hub}@{card.revision}"
    assert name in _section("own-model")
    models.write([card.hub], tmp_path / "hub", ["The lungs are clear.", "No pleural effusion is seen."] * 20)
    _follow("own-model", copy, HF_HUB_CACHE=str(tmp_path / "hub"), HF_HUB_OFFLINE="1")
    results = (copy / "build/mine/results/green/summary").glob("green.*.json")
    models_used = [json.loads(path.read_text())["provenance"]["models"] for path in results]
    assert any(used.get("encoder", {}).get("revision") == card.revision for used in models_used)


def test_a_sixth_paper_is_checked(copy: Path) -> None:
    page = _section("own-paper")
    steps = [step for step in _STEP.finditer(page) if step["file"]]
    files = [copy / step["file"] for step in steps if "at its end" not in step["how"]]
    assert (len(steps), len(files)) == (4, 3)
    assert not any(path.exists() for path in files)  # The recipe overwrites no file of the project.
    _follow("own-paper", copy)
    path = copy / "build/embedded/results/sixth/table1/sixth.table1.printed.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert [check["outcome"] for check in result["checks"]] == ["holds", "fails"]
