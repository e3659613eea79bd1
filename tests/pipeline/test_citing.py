"""How the book says that it, a result and a lab are cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.papers.exhibits import of_notebook
from radeval_lib.pipeline import citing, launching
from radeval_lib.study import begin, check_value, record
from radeval_lib.study.exhibit_html import exhibit_html
from radeval_lib.study.results import Result


@pytest.fixture
def result(tmp_path: Path) -> Result:
    run = begin("rales/calibration", profile="smoke", seed=0, output_dir=str(tmp_path))
    return record(run, "rales.eq_aklu", evidence="printed", checks=[check_value("one", "1", 2)])


def test_a_result_is_cited_by_exhibit_commit_and_date(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "home", lambda: "owner/study")
    monkeypatch.setattr(citing, "_day_of", lambda commit: "2026-01-02")
    code = {"commit": "0123456789abcdef" * 2 + "01234567", "dirty": False}
    result.provenance["code"].update(code)
    told = citing.of_result(result)
    assert told.startswith("@misc{radeval-rales-eq-aklu-printed,")
    assert "RaLEs, App D: " in told
    assert "inconsistent (printed)" in told
    assert "year = {2026}" in told
    assert "date = {2026-01-02}" in told
    assert "note = {commit 0123456789ab}" in told
    assert f"/owner/study/blob/{code['commit']}/notebooks/rales/calibration.md}}" in told
    result.provenance["code"]["dirty"] = True
    assert "note = {changed after commit 0123456789ab}" in citing.of_result(result)


def test_what_latex_would_read_otherwise_is_escaped() -> None:
    assert r"title = {{Iron \& 5\% of DeBERTa\_v3}}" in citing.bibtex("x", "Iron & 5% of DeBERTa_v3", "", "")


def test_the_book_puts_a_citation_where_a_result_is_shown(result: Result) -> None:
    html = exhibit_html(result)
    told = citing.with_citation(html, [result])
    assert "<pre>@misc{radeval-rales-eq-aklu-printed," in told
    assert "<!-- citation" not in told
    assert citing.with_citation("<p>no result</p>", [result]) == "<p>no result</p>"


def test_without_a_public_repository_nothing_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "home", lambda: "")
    monkeypatch.setattr(citing, "head", lambda: ("a" * 40, "2026-01-02"))
    assert citing.source_line("book/reading.md") == (
        "[Source: `book/reading.md`, commit aaaaaaa of 2026-01-02. {ref}`how-to-cite`.]{.page-source}"
    )
    assert "url" not in citing.of_book()
    monkeypatch.setattr(launching, "home", lambda: "owner/study")
    told = citing.source_line("book/reading.md")
    assert f"[`book/reading.md`](https://github.com/owner/study/blob/{'a' * 40}/book/reading.md)" in told
    assert "in the [repository](https://github.com/owner/study)" in told
    assert "url = {https://github.com/owner/study}" in citing.of_book()


def test_the_page_how_to_cite_has_the_book_a_result_and_a_lab(result: Result) -> None:
    source = "<!-- cite: book -->\n\n<!-- cite: result -->\n\n<!-- cite: lab -->\n"
    told = citing.with_examples(source, [result])
    assert told.count("```bibtex\n@misc{radeval") == 2
    assert "% green.table6 is not in this build" in told
    assert f"version = {{{citing.about()['version']}}}" in told
    assert "@misc{radeval-lab-1," in told
    assert citing.authors() in told


def test_the_example_is_an_exhibit_of_every_edition() -> None:
    assert citing._EXAMPLE in {entry.id for entry in of_notebook("green/correlations")}
