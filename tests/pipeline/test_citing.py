"""How the book says that it is cited."""

from __future__ import annotations

import pytest

from radeval_lib.pipeline import citing


def test_latex_signs_in_a_title_are_escaped() -> None:
    assert r"title = {{Iron \& 5\% of DeBERTa\_v3}}" in citing.bibtex("Iron & 5% of DeBERTa_v3", "", "")


def test_pages_link_to_the_repository_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citing, "head", lambda: ("a" * 40, "2026-01-02"))
    monkeypatch.setattr(citing, "home", lambda: "")
    assert "https://" not in citing.source_line("book/reading.md") + citing.of_book()
    assert "commit aaaaaaa of 2026-01-02" in citing.source_line("book/reading.md")
    monkeypatch.setattr(citing, "home", lambda: "owner/study")
    link = f"[`book/reading.md`](https://github.com/owner/study/blob/{'a' * 40}/book/reading.md)"
    assert link in citing.source_line("book/reading.md")
    assert "url = {https://github.com/owner/study}" in citing.of_book()
