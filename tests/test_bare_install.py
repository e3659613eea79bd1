"""What the README promises of ``pip install .`` alone: its commands, in an environment of their own."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from radeval_lib.paths import ROOT
from tests import fresh

README = (ROOT / "README.md").read_text(encoding="utf-8")
HEAVY = {"torch", "transformers", "scikit-learn", "matplotlib", "ipython", "jupyter-book", "snakemake"}
FILES = {
    "pairs.csv": "reference,candidate\nSmall left pleural effusion.,Small right pleural effusion.\n"
    "Cardiomegaly. No pneumothorax.,Heart size is normal.\n",
    "systems.csv": "reference,candidate:a,candidate:b\n"
    "Small left pleural effusion.,Small right pleural effusion.,Left effusion.\n"
    "Cardiomegaly. No pneumothorax.,Heart size is normal.,Enlarged heart.\n",
    "mine.py": "def metric(reference, candidate):\n    return float(reference == candidate)\n",
}
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the library alone and its dependencies."""
    return fresh.environment(tmp_path_factory.mktemp("bare"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the README's commands name."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "data").mkdir()
    return tmp_path


def _blocks(language: str) -> list[str]:
    """Return the code of a language in the README's section *Your own reports*."""
    section = README.partition("\n## Your own reports\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def _command(start: str) -> str:
    """Return the command of the README's table that begins so."""
    (command,) = re.findall(rf"`\.venv/bin/(radbook {start}[^`]*)`", README)
    return command


def _bash(command: str, python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(folder), **NO_NETWORK}
    run = ["bash", "-euc", command]
    return subprocess.run(run, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def _run(command: str, python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    done = _bash(command, python, folder)
    assert "not installed" not in done.stderr.replace("torch and transformers are not installed", "")
    assert "Traceback" not in done.stderr
    return done


def test_it_brings_nothing_heavy(python: Path, folder: Path) -> None:
    listed = "from importlib.metadata import distributions as d; print(*(one.name.lower() for one in d()))"
    assert not HEAVY & {*_run(f'python -c "{listed}"', python, folder).stdout.split()}


def test_the_readmes_python_scores_and_explains(python: Path, folder: Path) -> None:
    (code,) = _blocks("python")
    (folder / "readme.py").write_text(code, encoding="utf-8")
    done = _run("python readme.py", python, folder)
    assert done.returncode == 0, done.stderr
    assert "right instead of left" in done.stdout


def test_the_readmes_commands_score(python: Path, folder: Path) -> None:
    (commands,) = _blocks("bash")
    done = _run(commands, python, folder)
    assert done.returncode == 0, done.stderr
    (row, _) = csv.DictReader((folder / "scores.csv").open(encoding="utf-8"))
    assert float(row["green_rules_errors"]) == 0.25  # a side is wrong of a finding that is only notable
    explained = (folder / "scores.csv.explained.jsonl").read_text(encoding="utf-8").splitlines()
    assert any("right instead of left" in reason["says"] for reason in json.loads(explained[0])["reasons"])
    assert "right instead of left" in (folder / "report.html").read_text(encoding="utf-8")
    about = json.loads((folder / "scores.csv.about.json").read_text(encoding="utf-8"))
    assert {"bleu", "green_rules", "meteor", "observations", "rouge_l"} <= {*about["metrics"]}
    assert {"bertscore", "ratescore"} <= {*about["left out"]}


def test_compare_and_metric_card_run(python: Path, folder: Path) -> None:
    for start in ("compare", "metric-card"):
        done = _run(_command(start), python, folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout
    assert json.loads((folder / "metric_card.json").read_text(encoding="utf-8"))["edits"]


def test_fetching_says_what_each_set_needs_where_there_is_no_network(python: Path, folder: Path) -> None:
    done = _run(_command("data fetch"), python, folder)
    assert done.returncode == 2
    assert "openi" in done.stderr
    assert "radbook data add" in done.stdout
    assert [*(folder / "data").iterdir()] == []


@pytest.mark.parametrize(
    ("command", "extras"),
    [("build", "models,book"), ("labs build", "labs,models"), ("data fetch rate_ner", "hub")],
)
def test_what_the_bare_installation_lacks_is_named_with_its_extra(
    command: str, extras: str, python: Path, folder: Path
) -> None:
    done = _bash(f"radbook {command}", python, folder)
    assert done.returncode == 2
    assert f"'.[{extras}]'" in done.stderr
