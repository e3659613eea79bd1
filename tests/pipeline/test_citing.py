"""How the book says that it and its results are cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.pipeline import citing
from radeval_lib.study import begin, check_value, record
from radeval_lib.study.results import Result


@pytest.fixture
def result(tmp_path: Path) -> Result:
    run = begin("rales/calibration", profile="smoke", seed=0, output_dir=str(tmp_path))
    return record(run, "rales.eq_aklu", evidence="printed", checks=[check_value("value", "1", 2)])


def test_a_result_is_cited_by_exhibit_commit_and_date(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(citing, "home", lambda: "owner/study")
    monkeypatch.setattr(citing, "_day_of", lambda commit: "2026-01-02")
    commit = "0123456789abcdef" * 2 + "01234567"
    result.provenance["code"].update({"commit": commit, "dirty": False})
    entry = citing.of_result(result)
    assert entry.startswith("@misc{radeval-rales-eq-aklu-printed,")
    link = f"/owner/study/blob/{commit}/notebooks/rales/calibration.md}}"
    for field in ("inconsistent (printed)", "date = {2026-01-02}", "note = {commit 0123456789ab}", link):
        assert field in entry
    result.provenance["code"]["dirty"] = True
    assert "note = {changed after commit 0123456789ab}" in citing.of_result(result)
    assert r"title = {{Iron \& 5\% of DeBERTa\_v3}}" in citing.bibtex("x", "Iron & 5% of DeBERTa_v3", "", "")


def test_pages_link_to_the_repository_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citing, "head", lambda: ("a" * 40, "2026-01-02"))
    monkeypatch.setattr(citing, "home", lambda: "")
    assert "https://" not in citing.source_line("book/reading.md") + citing.of_book()
    assert "commit aaaaaaa of 2026-01-02" in citing.source_line("book/reading.md")
    monkeypatch.setattr(citing, "home", lambda: "owner/study")
    link = f"[`book/reading.md`](https://github.com/owner/study/blob/{'a' * 40}/book/reading.md)"
    assert link in citing.source_line("book/reading.md")
    assert "url = {https://github.com/owner/study}" in citing.of_book()
