"""How a run begins that scores a public test set, and what it refuses."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from radeval_lib.data import recorded
from radeval_lib.errors import ParameterError
from radeval_lib.jobs.storing.recorded_sets import names
from radeval_lib.paths import ROOT
from radeval_lib.study.runs import Run, begin_cell

_OUTPUTS = "build/runs/recording"
NOTEBOOKS = {
    "fingerprints": "across/fingerprints",
    "mediqa2021": "rales/nlg_metric_limits",
    "mtsamples": "facts/mtsamples",
    "openi": "green/rules_judge",
}
"""The page of a set, whose metrics are recorded, where it is not :data:`NOTEBOOK`."""
NOTEBOOK = "across/which_judge"


def require_known(name: str, among: Container[str]) -> None:
    """Refuse, by a ParameterError, a set that is not among these, or cannot be recorded."""
    if name not in among or name not in names():
        raise ParameterError(f"no set {name!r} is recorded", "record", f"Sets: {', '.join(names())}.")


def absent(name: str) -> ParameterError:
    """Return the error that no data root holds a set."""
    return ParameterError(f"no data root holds {name!r}", "record", f"See `radbook data status {name}`.")


def begin(name: str, profile: str, data_root: str) -> tuple[Run, Path]:
    """Return a run of the page whose metrics a set is recorded with, and its data root.

    Raises
    ------
    ParameterError
        Where there is no data root.
    """
    run = run_of(NOTEBOOKS.get(name, NOTEBOOK), profile, data_root)
    if run.data_root is None:
        raise absent(name)
    return run, run.data_root


def require_texts(name: str, run: Run) -> None:
    """Refuse, by a ParameterError, what was read from the recording itself, as a data root that lacks files
    has it."""
    if any((ROOT / file).is_relative_to(recorded.RECORDED) for file in run.reading.of()["data"]):
        raise ParameterError("the data root lacks files of it", name, f"See `radbook data status {name}`.")


def run_of(notebook: str, profile: str, data_root: str) -> Run:
    """Return a run of a page over the models of a profile's build."""
    return begin_cell(notebook, profile=profile, seed=0, data_root=data_root, output_dir=_OUTPUTS)
