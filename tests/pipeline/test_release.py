"""The report on a book that restricted data reached, and the removal of what builds hold of such data."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from radeval_lib import checksums, small_counts, tables
from radeval_lib.data import recorded
from radeval_lib.data.manifests import restricted_in
from radeval_lib.paths import BUILD_LOCK, IN_REACH
from radeval_lib.pipeline import release, steps
from radeval_lib.study import recordings
from radeval_lib.study.profiles import profile
from tests.pipeline.conftest import TinyRepository
from tests.pipeline.test_guard import SECRET, restricted_data


def test_recall_has_its_lower_bound() -> None:
    table = release.recall().set_index("kind")
    whole = table[table["found"] == table["planted"]]
    # Of n found in n the bound is the n-th root of .05.
    assert whole["at_least"].to_list() == pytest.approx((0.05 ** (1 / whole["planted"])).to_list())


def test_stored_scores_that_are_out_of_date_are_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    stale: dict[str, list[str]] = {}
    monkeypatch.setattr(recordings, "out_of_date", lambda name, metrics: stale.get(name, []))
    release.refuse_out_of_date(profile("embedded"))
    stale["radpref"] = ["observations"]
    with pytest.raises(release.ReleaseError, match="observations"):
        release.refuse_out_of_date(profile("embedded"))


def test_a_report_repeats_no_text_and_data_are_purged(tiny: TinyRepository) -> None:
    if any(map(recordings.out_of_date, recorded.names())):
        pytest.skip("no release while stored scores are out of date")
    root = restricted_data(tiny)
    (corpus,) = restricted_in(root)

    def released(data_root: Path = root) -> subprocess.CompletedProcess[str]:
        return tiny.radbook("release", "--profile", "embedded", "--data-root", str(data_root))

    assert released().returncode == 2
    assert tiny.radbook("build", "--data-root", str(root)).returncode == 0
    made = released()
    assert made.returncode == 0, made.stderr
    report = tiny.path / "build" / "release-embedded.md"
    text, sums = report.read_text(encoding="utf-8"), report.with_suffix(".sha256")
    assert f"| {corpus} | mediqa2021/train.json |" in text
    check = ["sha256sum", "--check", "--quiet", str(sums)]
    subprocess.run(check, cwd=tiny.build / "_build" / "html", check=True)
    assert checksums.of_file(sums) in text
    words = SECRET.split()
    assert not any(" ".join(words[start : start + 4]) in text for start in range(len(words) - 3))

    (tiny.path / "empty").mkdir()
    assert corpus in released(tiny.path / "empty").stderr
    assert not report.exists()
    index = tiny.build / "_build" / "html" / "index.html"
    whole = index.read_bytes()
    index.write_text(f"<p>{SECRET}</p>", encoding="utf-8")
    assert "index.html" in released().stderr
    assert not index.exists()
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_bytes(whole)

    shutil.copytree(tiny.build, tiny.path / "build" / "open")
    (tiny.path / "build" / "open" / IN_REACH).unlink()
    deep = tiny.path / "build" / "trial" / "deep"
    shutil.copytree(tiny.build, deep)
    listed = tiny.radbook("data", "purge", "--dry-run")
    assert f"build/embedded ({corpus})" in listed.stdout
    assert tiny.build.exists()
    tiny.radbook("data", "purge")
    assert not tiny.build.exists()
    assert not deep.exists()
    assert (tiny.path / "build" / "open").exists()
    assert (root / "mediqa2021" / "train.json").exists()


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two marked builds, each with a table and a page, and the engine's logs."""
    monkeypatch.setattr(release, "BUILD", tmp_path / "build")
    monkeypatch.setattr(release, "_ENGINE", tmp_path / ".snakemake")
    made = [tmp_path / "build" / name for name in ("first", "second")]
    for path in [folder / name for folder in made for name in (IN_REACH, "cells/t.csv", "index.html")]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mimic_cxr\n", encoding="utf-8")
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / ".snakemake" / "log").write_text("log", encoding="utf-8")
    return made


@pytest.mark.parametrize("refused", ["", "t.csv", "log"])
def test_marks_go_last_so_that_what_cannot_be_removed_is_still_listed(
    builds: list[Path], monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    removed, unlink = list[str](), os.unlink

    def watched(path: Any, **where: Any) -> None:
        if os.path.basename(path) == refused:
            raise PermissionError(13, "Permission denied", path)
        unlink(path, **where)
        removed.append(os.path.basename(path))

    monkeypatch.setattr(os, "unlink", watched)
    if refused:
        with pytest.raises(PermissionError):
            release.purge()
        assert list(release.with_restricted_data().values()) == [["mimic_cxr"]] * 2
    else:
        release.purge()
        assert not {"index.html", "log", "t.csv"} & set(removed[removed.index(IN_REACH) :])
        assert not any(folder.exists() for folder in builds)


def test_a_busy_build_keeps_all_and_a_damaged_mark_is_still_a_mark(builds: list[Path]) -> None:
    with steps.locked(builds[1] / BUILD_LOCK), pytest.raises(steps.BusyError):
        release.purge()
    assert all((folder / "cells" / "t.csv").exists() for folder in builds)
    (builds[0] / IN_REACH).write_bytes(b"mimic_\xff")
    release.purge()
    assert not builds[0].exists()


def test_small_counts_are_hidden_where_restricted_data_are_in_reach() -> None:
    frame = pd.DataFrame({"cases": [0, 10, 11], "rank": [1, 2, 3], "share": [0.1, 0.2, 3.0]})
    small_counts.hide_below(11)
    try:
        formats = {"cases": "{:d} cases", "share": "{:.1f}"}
        shown = tables.show(frame, "c", index=False, exact=("rank",), formats=formats).data
    finally:
        small_counts.hide_below(0)
    assert shown.count("&lt; 11") == 1
    assert "10 cases" not in shown
    assert all(part in shown for part in (">2<", "11 cases", ">3.0<"))
    assert "&lt; 11" not in tables.show(frame, "c", index=False).data
