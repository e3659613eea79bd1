"""What staging adds to pages: papers below titles, conclusions, licences and the last commit."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from radeval_lib.errors import RadevalError
from radeval_lib.papers.exhibits import PAPERS, ledger, of_notebook
from radeval_lib.paths import BOOK, NOTEBOOKS, ROOT
from radeval_lib.pipeline import page_forms, page_search, staging
from radeval_lib.study import scorecard

NOTHING = scorecard([])


def test_a_page_names_the_papers_whose_exhibits_it_rebuilds() -> None:
    told = page_forms.with_papers("(here)=\n# A title\n\nText.\n\n# Not a title", "facts/agreement")
    assert told == "(here)=\n# A title\n\nPaper: {cite}`moramarco2021facts`\n\nText.\n\n# Not a title"


def test_a_page_tells_its_papers_first_and_what_was_not_checked_last(tmp_path: Path) -> None:
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Ceilings\n\nText.")])
    (tmp_path / "green").mkdir()
    nbformat.write(page, tmp_path / "green" / "judge_models.ipynb")
    shown = page_forms.for_readers(tmp_path / "green" / "judge_models.ipynb", NOTHING, {}, [])
    told = nbformat.reads(shown, 4)
    title, papers, text = told.cells[0].source.split("\n\n")
    assert (title, text) == ("# Ceilings", "Text.")
    assert papers.startswith("Paper: ")
    missing, source = (cell.source for cell in told.cells[-2:])
    assert missing.startswith('<p class="muted">Not checked: ')
    assert source.startswith("[Source: `notebooks/green/judge_models.md`, commit ")


def test_a_page_of_no_paper_stays_as_it_is() -> None:
    assert page_forms.with_papers("# Audit\n", "across/audit") == "# Audit\n"


def test_the_footer_names_licences_and_the_last_commit_and_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "last_commit", lambda: "abc1234 of 2026-01-02")
    told = staging.settings()
    assert "MIT" in told
    assert "CC BY 4.0" in told
    assert "abc1234 of 2026-01-02" in " ".join(told.split())
    assert told == staging.settings()


def test_the_footer_names_the_edition_and_scores_that_the_code_would_not_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staging.recordings, "out_of_date", lambda name, metrics: [])
    assert "Edition: embedded." in staging.settings("embedded")
    assert "was scored on" not in staging.settings("embedded")
    monkeypatch.setattr(
        staging.recordings, "out_of_date", lambda name, metrics: ["rouge_l"] if name == "radpref" else []
    )
    told = " ".join(staging.settings("embedded").split())
    assert told.count("was scored on") == 1
    assert "RadPref was scored on" in told
    assert "Edition" not in staging.settings("a folder of a reader")


def test_no_commit_is_named_where_git_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", missing)
    assert staging.last_commit() == ""
    assert "Last commit" not in staging.settings()


def test_a_papers_claims_are_written_where_a_page_asks_for_them() -> None:
    told = page_forms.with_claims("Before.\n\n<!-- claims: green -->\n\nAfter.\n", NOTHING)
    assert told.startswith("Before.\n\n<div")
    claims = [one for one in ledger().values() if one.kind == "claim" and one.paper == "green"]
    assert told.count(">○ not checked<") == len(claims)
    assert told.endswith("</div>\n\nAfter.\n")


def test_claims_of_an_unknown_paper_are_an_error() -> None:
    with pytest.raises(RadevalError, match="claims of no paper"):
        page_forms.with_claims("<!-- claims: grean -->", NOTHING)


def test_all_claims_that_the_book_asks_for_are_of_known_papers() -> None:
    for path in BOOK.rglob("*.md"):
        told = page_forms.with_claims(path.read_text(encoding="utf-8"), NOTHING)
        assert not re.search(r"<!-- claims", told), path


def test_every_papers_first_page_gives_its_claims_its_sources_and_its_main_figure() -> None:
    figures = {
        label
        for path in NOTEBOOKS.rglob("*.md")
        for label in re.findall(r"^ +name: (fig-[\w-]+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    asked = []
    for path in sorted(BOOK.glob("papers/*.md")):
        page = path.read_text(encoding="utf-8")
        asked += re.findall(r"^<!-- claims: (\w+) -->$", page, re.MULTILINE)
        assert re.search(r"Paper: \{cite\}`\w+`", page), path
        (figure,) = re.findall(r"Main\s+figure:\s+\{ref\}`[^`<]+ <([\w-]+)>`", page)
        assert figure in figures, path
    assert sorted(asked) == sorted(PAPERS)


def test_search_gets_the_words_of_a_page_without_its_markup() -> None:
    page = "(place)=\n# Title\n\n:::{note}\n:class: tip\nSome *words* and {ref}`a place <nb-x>`.\n:::\n"
    assert page_search.searched_text(page.encode(), notebook=False) == "Title Some words and a place ."
    page = '---\nmyst:\n  html_meta:\n    "a": "b"\n---\n\n# Title\n\nText.\n\n---\n\nMore.\n'
    assert page_search.searched_text(page.encode(), notebook=False) == "Title Text. --- More."


def test_search_gets_the_numbers_of_the_build_and_the_headings() -> None:
    glued = nbformat.v4.new_output(
        "display_data",
        {"application/papermill.record/text/plain": "'2 of 7 {x}'"},
        metadata={"scrapbook": {"name": "lead", "mime_prefix": "application/papermill.record/"}},
    )
    cells = [
        nbformat.v4.new_markdown_cell(
            "(nb-x)=\n# A *title*\n\n## Below\n\nIt leads {glue:text}`lead` rivals."
        ),
        nbformat.v4.new_code_cell("# no heading", outputs=[glued]),
        nbformat.v4.new_markdown_cell("```bash\n# no heading\n```\n(one)=\n(two)=\n### Last"),
    ]
    page = str(nbformat.writes(nbformat.v4.new_notebook(cells=cells))).encode()
    assert "It leads 2 of 7 {x} rivals." in page_search.searched_text(page, notebook=True)
    headings = [("A title", "nb-x"), ("Below", ""), ("Last", "one")]
    assert page_search.headings_of(page, notebook=True) == headings


def test_no_two_places_of_the_book_have_the_same_label() -> None:
    pages = [*BOOK.rglob("*.md"), *NOTEBOOKS.rglob("*.md")]
    places = [
        (label, path.relative_to(ROOT).as_posix())
        for path in pages
        for label in re.findall(r"^\(([\w-]+)\)=$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    twice = {label for label, count in Counter(label for label, _ in places).items() if count > 1}
    assert not [place for place in places if place[0] in twice]


@pytest.mark.parametrize("notebook", sorted({entry.notebook for entry in ledger().values()}))
def test_every_exhibit_has_its_place_on_its_page(notebook: str) -> None:
    source = (NOTEBOOKS / f"{notebook}.md").read_text(encoding="utf-8")
    source = re.sub(r'\b(said|quote|quoted|quotations)\("[\w.]+"\)', "", source)  # it rebuilds nothing
    rebuilt = [entry for entry in of_notebook(notebook) if f'"{entry.id}"' in source]
    assert [entry.anchor for entry in rebuilt if f"({entry.anchor})=" not in source.splitlines()] == []
