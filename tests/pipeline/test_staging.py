"""What staging makes of pages: papers, claims, footers, search, and pages that stand for missing ones."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from radeval_lib.papers.exhibits import PAPERS, ledger, list_notebook_exhibits
from radeval_lib.paths import BOOK, NOTEBOOKS, ROOT, notebooks
from radeval_lib.pipeline import book, page_forms, staging, steps
from radeval_lib.pipeline.sphinx_extension import typeset_characters, typeset_html
from radeval_lib.study import scorecard
from radeval_lib.study.page_runs import ENDS_HERE

NOTHING = scorecard([])
_TARGET = re.compile(r"\{ref\}`(?:[^`<]+<)?([\w-]+)>?`")  # {ref}`label` or {ref}`words <label>`


def test_a_page_begins_with_its_papers_and_ends_with_what_was_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "green" / "judge_models.ipynb"
    path.parent.mkdir()
    title = nbformat.v4.new_markdown_cell("(here)=\n# Ceilings\n\nText.\n\n# Not a title")
    nbformat.write(nbformat.v4.new_notebook(cells=[title]), path)
    shown = nbformat.reads(page_forms.to_page(path, NOTHING, source=""), 4)
    first, *_, missing, source = [cell.source for cell in shown.cells if cell.cell_type == "markdown"]
    assert re.fullmatch(r"\(here\)=\n# Ceilings\n\nPaper: \{cite\}.*\n\nText.\n\n# Not a title", first)
    assert "Not checked: " in missing
    assert "notebooks/green/judge_models.md" in source


def test_a_page_without_a_result_is_left_out(tmp_path: Path) -> None:
    executed = tmp_path / "page.ipynb"
    output = nbformat.v4.new_output("display_data", metadata={ENDS_HERE: "it needs x"})
    end = nbformat.v4.new_code_cell(outputs=[output])
    result = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data")])
    reasons = []
    for cells in ([end, result], [result, end], [result], []):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), executed)
        reasons.append(page_forms.find_omission_reason(executed))
    nbformat.write(nbformat.v4.new_notebook(metadata={steps.OMISSION_KEY: "no data"}), executed)
    assert [*reasons, page_forms.find_omission_reason(executed)] == ["it needs x", "", "", "", "no data"]


def test_every_reference_leads_to_a_label_that_is_always_there() -> None:
    """Placeholders have the labels of their pages, so that references of any edition lead somewhere."""
    sources = {}
    for page in staging.list_pages(BOOK / staging.CONTENTS):
        folder = ROOT if page.startswith("notebooks/") else BOOK
        sources[page] = (folder / f"{page}.md").read_text(encoding="utf-8")
    there = {label for source in sources.values() for label in page_forms.find_labels(source)}
    lost = {page: set(_TARGET.findall(source)) - there for page, source in sources.items()}
    assert not {page: labels for page, labels in lost.items() if labels}
    links = r"\{(?:numref|doc|eq)\}`(?!contributing/)|\]\(#|\]\((?!https?:)[^)]*\.(?:md|ipynb)\b"
    assert not [page for page, source in sources.items() if re.search(links, source)]
    assert {f"notebooks/{page}" for page in steps.graph("full").pages} <= sources.keys()


def test_every_paper_has_a_first_page_with_its_claims() -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted(BOOK.glob("papers/*.md"))]
    asked = [key for page in pages for key in re.findall(r"^<!-- claims: (\w+) -->$", page, re.MULTILINE)]
    assert sorted(asked) == sorted(PAPERS)
    page = page_forms.add_claims("Before.\n\n<!-- claims: green -->\n\nAfter.\n", NOTHING)
    claims = [entry for entry in ledger().values() if entry.kind == "claim" and entry.paper == "green"]
    assert page.count(">○ not checked<") == len(claims)


def test_a_papers_page_shows_a_figure_of_another_page() -> None:
    options = {"figure": {"name": "fig-z", "caption": "All of it."}, "image": {"alt": "A line."}}
    output = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})
    cell = nbformat.v4.new_code_cell(outputs=[output], metadata={"mystnb": options})
    executed = str(nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))).encode()
    page = {"papers/x.md": b"<!-- figure: x/y fig-z -->\n"}
    assert staging._insert_figures(page) == {"papers/x.md": b"\n"}
    staged = staging._insert_figures({**page, "notebooks/x/y.ipynb": executed})
    assert staged["papers/fig-z.svg"] == b"<svg/>"
    assert b"fig-z.svg\n:alt: A line.\n\nAll of it." in staged["papers/x.md"]


def test_signs_and_intervals_are_set() -> None:
    assert typeset_characters("-0.5 and 3-4") == "\N{MINUS SIGN}0.5 and 3-4"
    assert typeset_characters("-0.00 on 2023-07-04") == "0.00 on 2023-07-04"
    assert typeset_characters("[-0.1, 0.2]") == "[\N{MINUS SIGN}0.1,\N{NO-BREAK SPACE}0.2]"
    html = '<td title="-1">τ_b -1</td><code>-1 τ_b</code>'
    assert typeset_html(html) == '<td title="-1">τ<sub>b</sub> \N{MINUS SIGN}1</td><code>-1 τ_b</code>'


def test_every_exhibit_has_its_place_on_its_page() -> None:
    without = set()
    for notebook in notebooks():
        source = (NOTEBOOKS / f"{notebook}.md").read_text(encoding="utf-8")
        source = re.sub(r'\b(said|quote|quoted|quotations)\("[\w.]+"\)', "", source)  # it rebuilds nothing
        rebuilt = {entry.anchor for entry in list_notebook_exhibits(notebook) if f'"{entry.id}"' in source}
        without |= rebuilt - set(re.findall(r"(?m)^\(([\w-]+)\)=$", source))
    assert not without


def test_what_stopped_the_book_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = "build/smoke/book/one.md:59: WARNING: undefined label: 'fig-one'\n"
    broken = "Traceback (most recent call last):\nsphinx.errors.ExtensionError: Handler threw an exception\n"
    monkeypatch.setattr(book, "stage", lambda *_, **__: False)
    for log, cause in (
        (warning + broken, "undefined label: 'fig-one'"),
        (broken, "Handler threw"),
        ("", "nothing"),
    ):
        monkeypatch.setattr(
            book, "run_jupyter_book", lambda _, file, log=log: bool(file.write_text(log)) and False
        )
        with pytest.raises(book.BookError, match=cause):
            book.render(tmp_path, judge=False)
