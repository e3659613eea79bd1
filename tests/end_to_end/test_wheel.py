"""The library alone, from a wheel in an empty environment: what it takes, and that it scores, explains and
reports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from radeval_lib.paths import ROOT

pytestmark = pytest.mark.nightly

HEAVY = {
    "torch",
    "transformers",
    "jupyter-book",
    "snakemake",
    "scikit-learn",
    "matplotlib",
    "pingouin",
}


def _run(*command: str | Path, **settings) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy: setuptools would leave a folder with old modules in the repository.
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "radeval_lib", folder / "source" / "radeval_lib", ignore=ignored)
    shutil.copytree(ROOT / "data_manifests", folder / "source" / "data_manifests")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "source")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "source")
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    _run(python, "-m", "pip", "install", wheel)
    return python


def test_it_brings_nothing_heavy_and_starts_within_a_second(installed, tmp_path) -> None:
    listed = json.loads(_run(installed, "-m", "pip", "list", "--format", "json"))
    assert not HEAVY & {package["name"].lower() for package in listed}
    code = (
        "import time\nfrom radeval_lib import explain, score\nimport radeval_lib.cli.scoring\n"
        "print(time.process_time())"
    )
    _run(installed, "-c", code, cwd=tmp_path)  # compiles the modules
    assert float(_run(installed, "-c", code, cwd=tmp_path)) < 1


def test_it_scores_and_explains_as_the_repository_does(installed, tmp_path) -> None:
    source = tmp_path / "pairs.csv"
    source.write_text(
        "group,reference,candidate:a,candidate:b\n"
        "x,Small left pleural effusion.,Small right pleural effusion.,Left effusion.\n"
        "y,Cardiomegaly. No pneumothorax.,Heart size is normal.,Enlarged heart.\n"
    )
    words, rules = ["bleu", "meteor", "rouge_1", "rouge_2", "rouge_l"], ["green_rules", "green_rules_errors"]
    names = sorted([*words, *rules, "observations"])  # and not GREEN, whose judge is a model
    ours = [part for name in names for part in ("--metric", name)]
    outputs = {}
    for python, metrics, name in ((installed, ["--metric", "all"], "a.csv"), (sys.executable, ours, "b.csv")):
        page = tmp_path / f"{name}.html"
        arguments = ("--explain", "--report", page, "--input", source, "--output", tmp_path / name)
        _run(python, "-m", "radeval_lib.cli", "score", *metrics, *arguments, cwd=tmp_path)
        beside = ("", ".explained.jsonl")
        outputs[name] = [(tmp_path / f"{name}{suffix}").read_text(encoding="utf-8") for suffix in beside]
    assert outputs["a.csv"] == outputs["b.csv"]
    first = json.loads(outputs["a.csv"][1].splitlines()[0])
    assert any("right instead of left" in reason["says"] for reason in first["reasons"])
    page = (tmp_path / "a.csv.html").read_text(encoding="utf-8")
    for part in ("right instead of left", "6 planted", "default-src &#39;none&#39;", "addEventListener"):
        assert part in page
    about = json.loads((tmp_path / "a.csv.about.json").read_text())
    assert list(about["metrics"]) == names
    assert "no language model is named as its judge" in about["left out"].pop("green")
    assert all("'.[models]'" in why for why in about["left out"].values())


def test_commands_of_the_book_say_what_they_need(installed, tmp_path) -> None:
    done = subprocess.run(
        [installed, "-m", "radeval_lib.cli", "build"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install '.[models,book]'" in done.stderr
    assert done.stderr.count("\n") == 1


PARQUET = """
import pandas as pd, radeval_lib
from radeval_lib.metrics import MetricError, score_file

texts = {"reference": ["Left effusion."], "candidate": ["Right effusion."]}
frame = pd.DataFrame({"n": [7], "x": [0.5], "when": [pd.Timestamp("2026-01-02")], **texts})
frame.to_parquet("in.parquet")
score_file("green_rules_errors", "in.parquet", "out.parquet")
score_file("green_rules_errors", "in.parquet", "out.jsonl")
found = pd.read_parquet("out.parquet")
pd.testing.assert_frame_equal(found[["n", "x", *texts]], frame[["n", "x", *texts]])
assert "2026-01-02" in found["when"][0]
assert found["green_rules_errors"].tolist() == [0.25]
assert radeval_lib.score(frame)["green_rules_errors"].tolist() == [0.25]
open("bad.parquet", "wb").write(b"PAR1 no")
try:
    score_file("bleu", "bad.parquet", "none.csv")
except MetricError as error:
    print(error)
"""


def test_tables_and_parquet_are_an_extra_away(installed, tmp_path) -> None:
    _run(installed, "-m", "pip", "install", "pandas", "pyarrow")
    told = _run(installed, "-c", PARQUET, cwd=tmp_path)
    assert told.startswith("bad.parquet: not a Parquet file")
    assert told.count("\n") == 1
