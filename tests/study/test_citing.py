"""How the book and its results are cited."""

from __future__ import annotations

import pytest

from radeval_lib.study import citing


def test_latex_signs_in_a_title_are_escaped() -> None:
    assert r"title = {{Iron \& 5\% of DeBERTa\_v3. In: " in citing.bibtex("x", "Iron & 5% of DeBERTa_v3")


def test_authors_are_names_and_an_entity_is_braced(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [{"given-names": "Jane", "family-names": "Doe"}, {"name": "The group"}]
    monkeypatch.setattr(citing, "citation_file", lambda: {"title": "T", "authors": people, "version": 1})
    assert "  author = {Jane Doe and {The group}}," in citing.bibtex()


def test_pages_link_to_the_repository_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citing, "checkout", lambda: ("a" * 40, "2026-01-02"))
    monkeypatch.setattr(citing, "repository", lambda: "")
    assert "https://" not in citing.source_line("book/reading.md") + citing.bibtex()
    assert "commit aaaaaaa of 2026-01-02" in citing.source_line("book/reading.md")
    monkeypatch.setattr(citing, "repository", lambda: "owner/study")
    link = f"[`book/reading.md`](https://github.com/owner/study/blob/{'a' * 40}/book/reading.md)"
    assert link in citing.source_line("book/reading.md")
    assert "url = {https://github.com/owner/study}" in citing.bibtex()
