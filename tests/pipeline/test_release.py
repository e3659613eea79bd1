"""The report on a book that restricted data reached, and the removal of what builds hold of such data."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from radeval_lib import checksums, small_counts
from radeval_lib.data import recorded
from radeval_lib.data.manifests import restricted_in
from radeval_lib.pipeline import release
from radeval_lib.study import recordings
from radeval_lib.study.profiles import profile
from tests.pipeline.conftest import TinyRepository
from tests.pipeline.test_guard import SECRET, restricted_data


def test_recall_has_its_lower_bound() -> None:
    table = release.recall().set_index("kind")
    assert (table["found"] <= table["planted"]).all()
    whole = table[table["found"] == table["planted"]]
    # Of n found in n the bound is the n-th root of .05.
    assert whole["at_least"].to_list() == pytest.approx((0.05 ** (1 / whole["planted"])).to_list())


def test_recorded_scores_that_are_out_of_date_are_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "out_of_date", lambda name, metrics: [])
    release.refuse_out_of_date(profile("embedded"))
    monkeypatch.setattr(
        recordings, "out_of_date", lambda name, metrics: ["observations"] if name == "radpref" else []
    )
    with pytest.raises(release.ReleaseError, match="radpref: stored scores are out of date: observations"):
        release.refuse_out_of_date(profile("embedded"))


def test_a_report_repeats_no_text_and_data_are_purged(tiny: TinyRepository) -> None:
    if any(map(recordings.out_of_date, recorded.names())):
        pytest.skip("no release while stored scores are out of date")
    root = restricted_data(tiny)
    (corpus,) = restricted_in(root)
    nothing = tiny.radbook("data", "purge")
    assert "Nothing below build/ says that it had restricted data in reach." in nothing.stdout
    early = tiny.radbook("release", "--profile", "embedded", "--data-root", str(root))
    assert early.returncode == 2
    assert "not as it was rendered" in early.stderr

    assert tiny.radbook("build", "--data-root", str(root)).returncode == 0
    made = tiny.radbook("release", "--profile", "embedded", "--data-root", str(root))
    assert made.returncode == 0, made.stderr
    report = tiny.path / "build" / "release-embedded.md"
    told = report.read_text(encoding="utf-8")
    # Four strings, and two of them as identifiers.
    assert f"| {corpus} | mediqa2021/train.json | 6 |" in told
    subprocess.run(
        ["sha256sum", "--check", "--quiet", str(report.with_suffix(".sha256"))],
        cwd=tiny.build / "_build" / "html", check=True,
    )  # fmt: skip
    assert checksums.of_file(report.with_suffix(".sha256")) in told
    assert "| index.html |" in told
    assert "No statement allows text to be sent" in told
    assert not any(words in told for words in _phrases(SECRET))

    (tiny.path / "empty").mkdir()
    without = tiny.radbook("release", "--profile", "embedded", "--data-root", str(tiny.path / "empty"))
    assert without.returncode == 2
    assert f"{corpus} was in reach of this build" in without.stderr
    assert not report.exists()
    train = root / "mediqa2021" / "train.json"
    whole = train.read_bytes()
    train.write_bytes(whole.replace(b"Effusion.", b""))
    other = tiny.radbook("release", "--profile", "embedded", "--data-root", str(root))
    assert "not the files that were in reach of this build: mediqa2021/train.json" in other.stderr
    train.write_bytes(whole)
    (tiny.build / "_build" / "html" / "index.html").write_text(f"<p>{SECRET}</p>", encoding="utf-8")
    changed = tiny.radbook("release", "--profile", "embedded", "--data-root", str(root))
    assert "not as it was rendered" in changed.stderr

    shutil.copytree(tiny.build, tiny.path / "build" / "open")
    (tiny.path / "build" / "open" / "restricted.txt").unlink()
    deep = tiny.path / "build" / "trial" / "deep"
    shutil.copytree(tiny.build, deep)
    listed = tiny.radbook("data", "purge", "--dry-run")
    assert "build/embedded/executed: executed notebooks" in listed.stdout
    assert f"({corpus})" in listed.stdout
    assert tiny.build.exists()
    tiny.radbook("data", "purge")
    assert not tiny.build.exists()
    assert not deep.exists()
    assert (tiny.path / "build" / "open").exists()
    assert (root / "mediqa2021" / "train.json").exists()


def _phrases(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[start : start + 4]) for start in range(len(words) - 3)]


def test_small_counts_are_hidden_where_restricted_data_are_in_reach(tmp_path: Path) -> None:
    import pandas as pd

    from radeval_lib import tables

    frame = pd.DataFrame(
        {
            "cases": [0, 10, 11],
            "rank": [1, 2, 3],
            "share": [0.1, 0.2, 3.0],
            "rest": [12, None, 5],
            "words": ["a", "b", "c"],
        }
    )
    small_counts.hide_below(11)
    try:
        formats = {"cases": "{:d} cases", "share": "{:.1f}"}
        shown = tables.show(frame, "c", index=False, exact=("rank",), formats=formats).data
    finally:
        small_counts.hide_below(0)
    assert "&lt; 11" in shown
    assert shown.count("&lt; 11") == 2
    assert not any(part in shown for part in (">5.0<", "10 cases"))
    assert all(part in shown for part in (">2<", "11 cases", ">3.0<", ">12.0<"))
    assert "&lt; 11" not in tables.show(frame, "c", index=False).data
