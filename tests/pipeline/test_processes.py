"""Who may write to an output folder at the same time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from radeval_lib.pipeline.processes import BusyError, only_build, only_run


def test_a_build_has_its_folder_alone(tmp_path: Path) -> None:
    with only_build(tmp_path):
        with pytest.raises(BusyError, match=rf"process {os.getpid()}\)"), only_build(tmp_path):
            pass
        with pytest.raises(BusyError), only_run(tmp_path, tmp_path / "executed" / "one.ipynb"):
            pass
    with only_build(tmp_path):
        pass


def test_notebooks_with_other_places_run_beside_each_other(tmp_path: Path) -> None:
    one, two = (tmp_path / "executed" / f"{name}.ipynb" for name in ("one", "two"))
    with only_run(tmp_path, one):
        with only_run(tmp_path, two):
            pass
        with pytest.raises(BusyError, match=r"one\.ipynb"), only_run(tmp_path, one):
            pass
        with pytest.raises(BusyError), only_build(tmp_path):
            pass
    with only_run(tmp_path, one):
        pass


def test_a_process_that_ended_is_not_named(tmp_path: Path) -> None:
    with only_run(tmp_path, tmp_path / "one.ipynb"):
        (tmp_path / ".lock").write_text("999999999 left by one that was killed")
        with pytest.raises(BusyError) as told, only_build(tmp_path):
            pass
    assert "999999999" not in str(told.value)
