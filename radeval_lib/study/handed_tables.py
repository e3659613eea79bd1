"""Tables that one page hands over to pages that read every result, beside its results."""

from __future__ import annotations

import json

import pandas as pd

from radeval_lib import atomic
from radeval_lib.study.declarations import ALL
from radeval_lib.study.runs import Run


def hand_over_table(run: Run, name: str, frame: pd.DataFrame) -> None:
    """Leave a table of numbers and texts by a name of the page's own, its numbers with ten decimals."""
    content = json.loads(frame.to_json(orient="split"))
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    atomic.write_text(run.results_dir / f"{name}.json", text + "\n")


def handed_over(run: Run, notebook: str, name: str) -> pd.DataFrame | None:
    """A table that a notebook left by :func:`hand_over_table`, with its index; None where that page was not
    built.

    Raises
    ------
    NotebookError
        Where the run's own page does not declare that it reads every result.
    """
    run.require_declared("results", ALL)
    path = run.output_dir / "results" / notebook / f"{name}.json"
    return pd.DataFrame(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None
