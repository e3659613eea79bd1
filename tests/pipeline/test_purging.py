"""A purge fails closed: what it cannot remove, or has not yet, is still listed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from radeval_lib.paths import BUILD_LOCK, IN_REACH
from radeval_lib.pipeline import processes, purging


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two marked builds, each with a table and a page, and the engine's logs."""
    monkeypatch.setattr(purging, "BUILD", tmp_path / "build")
    monkeypatch.setattr(purging, "_ENGINE", tmp_path / ".snakemake")
    made = [tmp_path / "build" / name for name in ("first", "second")]
    for folder in made:
        for path in (IN_REACH, "cells/t.csv", "index.html"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("mimic_cxr\n", encoding="utf-8")
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / ".snakemake" / "log").write_text("log", encoding="utf-8")
    return made


def _unlinking(monkeypatch: pytest.MonkeyPatch, refused: str = "") -> list[str]:
    """Return the names of files as they are removed, of which one cannot be."""
    removed, unlink = list[str](), os.unlink

    def watched(path: Any, **where: Any) -> None:
        if os.path.basename(path) == refused:
            raise PermissionError(13, "Permission denied", path)
        unlink(path, **where)
        removed.append(os.path.basename(path))

    monkeypatch.setattr(os, "unlink", watched)
    return removed


def test_marks_go_after_all_else(builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    removed = _unlinking(monkeypatch)
    purging.purge()
    kept_longest = removed[removed.index(IN_REACH) :]
    assert sorted(set(removed) - set(kept_longest)) == ["index.html", "log", "t.csv"]
    assert not {"index.html", "log", "t.csv"} & set(kept_longest)
    assert not any(folder.exists() for folder in builds)
    assert purging.held() == []


@pytest.mark.parametrize("refused", ["t.csv", "index.html", "log"])
def test_what_cannot_be_removed_is_still_listed(
    builds: list[Path], monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    _unlinking(monkeypatch, refused)
    with pytest.raises(PermissionError):
        purging.purge()
    assert all((folder / IN_REACH).exists() for folder in builds)
    assert {one.corpora for one in purging.held()} == {("mimic_cxr",)}


def test_one_busy_build_keeps_them_all(builds: list[Path]) -> None:
    with processes.only_build(builds[1]), pytest.raises(processes.BusyError, match="second"):
        purging.purge()
    assert all((folder / "cells" / "t.csv").exists() for folder in builds)


def test_a_damaged_mark_is_still_a_mark(builds: list[Path]) -> None:
    (builds[0] / IN_REACH).write_bytes(b"mimic_\xff")
    assert {part.path.parent.name for part in purging.held()} >= {"first", "second"}
    purging.purge()
    assert not builds[0].exists()
    assert not (builds[1] / BUILD_LOCK).exists()
