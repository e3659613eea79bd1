"""What documentation shows runs and gives what it says: docstrings, and the page on one's own reports."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.paths import ROOT
from tests.reference.record_metric_values import TINY_NER

PAGE = (ROOT / "book" / "own_reports.md").read_text(encoding="utf-8")
REFERENCES = [
    "Small left pleural effusion is seen.",
    "Cardiomegaly. No pneumothorax.",
    "The lungs are clear.",
]
CANDIDATES = ["Small right pleural effusion is seen.", "Heart size is normal.", "The lungs are clear."]


def _with_examples() -> Iterator[str]:
    library = ROOT / "radeval_lib"
    for path in sorted(library.rglob("*.py")):
        if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("name", list(_with_examples()))
@pytest.mark.usefixtures("one_thread")
def test_examples_of_docstrings_give_what_they_say(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files that the page names."""
    frame = pd.DataFrame({"reference": REFERENCES, "candidate": CANDIDATES})
    frame.assign(age=["7", "80", ""], indication="fall").to_csv(tmp_path / "pairs.csv", index=False)
    systems = frame[["reference"]].assign(**{"candidate:a": CANDIDATES, "candidate:b": REFERENCES})
    systems.to_csv(tmp_path / "systems.csv", index=False)
    with chdir(tmp_path):
        yield tmp_path


@pytest.mark.usefixtures("folder", "one_thread")
def test_commands_of_the_page_run() -> None:
    commands = [
        line.replace("ner_model=DIR", f"ner_model={TINY_NER}").replace(
            "encoder=DIR", "encoder=packaged-minilm-1"
        )
        for block in _blocks("bash")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("radbook ") and not line.startswith("radbook metric-card ")  # tests/metric_cards
    ]
    assert len(commands) >= 3
    for command in commands:
        done = CliRunner().invoke(main, shlex.split(command, comments=True)[1:])
        assert done.exit_code == 0, (command, done.stderr)


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_python_of_the_page_runs(capsys) -> None:
    names = {
        "references": REFERENCES,
        "candidates": CANDIDATES,
        "ours": CANDIDATES,
        "theirs": REFERENCES,
        "table": pd.DataFrame({"reference": REFERENCES, "candidate": CANDIDATES}),
    }
    blocks = _blocks("python")
    assert len(blocks) >= 2
    for block in blocks:
        if "metric_card" not in block:  # tests/metric_cards
            exec(block, names)
    assert list(names["scores"])[-2:] == ["green_rules_errors", "rouge_l"]
    assert len(names["errors"])
    assert "rouge_l" not in names["found"].metrics
    assert "bleu: no difference between systems is established" in capsys.readouterr().out  # of three pairs
