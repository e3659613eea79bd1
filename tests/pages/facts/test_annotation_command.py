"""`radbook annotation`: a project there and a table of counts back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from click.testing import CliRunner, Result

from radeval_lib.cli import main

COUNTS = {"generated": 4, "common": 2, "correct": 4}


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env={"RADEVAL_DATA_ROOT": ""})


def test_annotation_there_and_back(tmp_path: Path) -> None:
    folder, export, output = tmp_path / "project", tmp_path / "export.json", tmp_path / "counts.csv"
    arguments = ("annotation", "export", str(folder), "--cases", "2", "--profile", "smoke")
    done = _run(*arguments)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("2 tasks in ")
    again = _run(*arguments)
    assert again.exit_code == 2
    assert "there is something already" in again.output
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    answers = {"reference_facts": {"number": 5}}
    for place in range(1, 5):
        answers |= {f"{name}_{place}": {"number": count} for name, count in COUNTS.items()}
        answers |= {f"coherence_{place}": {"choices": ["Coherent"]}}
    result = [
        {"from_name": name, "type": next(iter(value)), "value": value} for name, value in answers.items()
    ]
    done = [task | {"annotations": [{"completed_by": 7, "result": result}]} for task in tasks]
    export.write_text(json.dumps(done), encoding="utf-8")
    read = _run("annotation", "import", str(export), str(folder / "key.json"), "--output", str(output))
    assert read.output.startswith("8 judgements by 1 raters"), read.output
    with output.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["precision"], row["recall"], row["coherence"]) for row in rows} == {("0.5", "0.4", "1.0")}
    missing = _run("annotation", "import", str(export), str(tmp_path / "none.json"), "--output", str(output))
    assert missing.exit_code == 2
    assert "none.json" in missing.output
