"""What staging makes of pages: papers, claims, footers, search, and pages that stand for missing ones."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from radeval_lib.papers.exhibits import PAPERS, ledger, of_notebook
from radeval_lib.paths import BOOK, NOTEBOOKS, ROOT
from radeval_lib.pipeline import page_forms, staging, steps
from radeval_lib.pipeline.sphinx_extension import characters, symbols
from radeval_lib.study import scorecard
from radeval_lib.study.display import ENDS_HERE

NOTHING = scorecard([])
_TARGET = re.compile(r"\{ref\}`(?:[^`<]+<)?([\w-]+)>?`")  # {ref}`label` or {ref}`words <label>`
PAGE = """---
kernelspec:
  name: python3
---

(nb-x)=
# What it costs

(section-y)=
(section-z)=

## Hours

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-z
---
# a comment
draw()
```
"""


def _shown(folder: Path, name: str, *cells: nbformat.NotebookNode, source: str = "") -> list[str]:
    """Return the Markdown of an executed notebook as the book shows it."""
    path = folder / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), path)
    shown = nbformat.reads(page_forms.for_readers(path, NOTHING, [], source=source), 4)
    return [cell.source for cell in shown.cells if cell.cell_type == "markdown"]


def _ending(reason: str) -> nbformat.NotebookNode:
    """Return a cell that ends a page for lack of data."""
    output = nbformat.v4.new_output("display_data", metadata={ENDS_HERE: reason})
    return nbformat.v4.new_code_cell(outputs=[output])


def test_a_page_begins_with_its_papers_and_ends_with_what_was_not_checked(tmp_path: Path) -> None:
    title = nbformat.v4.new_markdown_cell("(here)=\n# Ceilings\n\nText.\n\n# Not a title")
    first, *_, missing, source = _shown(tmp_path, "green/judge_models", title)
    assert re.fullmatch(r"\(here\)=\n# Ceilings\n\nPaper: \{cite\}.*\n\nText.\n\n# Not a title", first)
    assert "Not checked: " in missing
    assert "notebooks/green/judge_models.md" in source
    assert page_forms.with_papers("# Audit\n", "across/audit") == "# Audit\n"


@pytest.mark.parametrize("reason", ["", "it needs ReXVal"])
def test_the_placeholder_of_a_page_has_its_labels_and_says_why(reason: str) -> None:
    page = page_forms.placeholder(PAGE, reason)
    titles = {"nb-x": "What it costs", "section-y": "Hours", "section-z": "Hours", "fig-z": "Hours"}
    assert page_forms.labels(PAGE) == titles
    assert page_forms.labels(page).keys() == titles.keys()
    assert reason in page
    assert f"# What it costs ({'left out' if reason else 'follows'})\n" in page


def test_a_page_that_ends_early_keeps_the_labels_that_others_refer_to(tmp_path: Path) -> None:
    first = nbformat.v4.new_markdown_cell("(nb-x)=\n# What it costs")
    second = nbformat.v4.new_markdown_cell("(section-y)=\n(section-z)=\n## Hours")
    shown = _shown(tmp_path, "facts/x", first, _ending("it needs y"), second, source=PAGE)
    assert "(section-y)=\n(section-z)=\n(fig-z)=\n## Hours (left out)" in shown
    whole = _shown(tmp_path, "facts/x", first, second, nbformat.v4.new_code_cell(), source=PAGE)
    assert "(fig-z)=\n## Hours (left out)" in whole  # the figure's cell is gone
    assert not any("(section-y)=\n(section-z)=\n(fig-z)" in text for text in whole)


def test_a_page_without_a_result_is_left_out(tmp_path: Path) -> None:
    executed = tmp_path / "page.ipynb"
    result = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data")])
    reasons = []
    for cells in ([_ending("it needs x"), result], [result, _ending("it needs x")], [result], []):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), executed)
        reasons.append(page_forms.omission_reason(executed))
    nbformat.write(nbformat.v4.new_notebook(metadata={steps.OMISSION_KEY: "no data"}), executed)
    assert [*reasons, page_forms.omission_reason(executed)] == ["it needs x", "", "", "", "no data"]


@pytest.mark.parametrize("profile", ["smoke", "embedded", "open", "full"])
def test_every_reference_leads_to_a_label_that_is_always_there(profile: str) -> None:
    """Placeholders have the labels of their pages, so that references of any edition lead somewhere."""
    sources = {}
    for page in staging.pages_of(BOOK / staging.CONTENTS):
        folder = ROOT if page.startswith("notebooks/") else BOOK
        sources[page] = (folder / f"{page}.md").read_text(encoding="utf-8")
    there = {label for source in sources.values() for label in page_forms.labels(source)}
    lost = {page: set(_TARGET.findall(source)) - there for page, source in sources.items()}
    assert not {page: labels for page, labels in lost.items() if labels}
    links = r"\{(?:numref|doc|eq)\}`(?!contributing/)|\]\(#|\]\((?!https?:)[^)]*\.(?:md|ipynb)\b"
    assert not [page for page, source in sources.items() if re.search(links, source)]
    assert {f"notebooks/{page}" for page in steps.graph(profile).pages} <= sources.keys()


def test_the_footer_names_edition_licences_commit_and_scores_out_of_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staging.citing, "head", lambda: ("abc1234" + "0" * 33, "2026-01-02"))
    stale = {"radpref": ["rouge_l"]}
    monkeypatch.setattr(staging.recordings, "out_of_date", lambda name, metrics: stale.get(name, []))
    footer = " ".join(staging.settings("embedded").split())
    for words in ("MIT", "CC BY 4.0", "abc1234 of 2026-01-02", "Edition: embedded", "RadPref was scored on"):
        assert words in footer
    assert "Edition" not in staging.settings("a folder of a reader")


def test_a_papers_claims_are_written_where_a_page_asks_for_them() -> None:
    page = page_forms.with_claims("Before.\n\n<!-- claims: green -->\n\nAfter.\n", NOTHING)
    claims = [entry for entry in ledger().values() if entry.kind == "claim" and entry.paper == "green"]
    assert page.count(">○ not checked<") == len(claims)
    assert page.startswith("Before.\n\n<div")
    assert page.endswith("</div>\n\nAfter.\n")


def test_every_paper_has_a_first_page_with_its_claims() -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted(BOOK.glob("papers/*.md"))]
    asked = [key for page in pages for key in re.findall(r"^<!-- claims: (\w+) -->$", page, re.MULTILINE)]
    assert sorted(asked) == sorted(PAPERS)


def test_a_papers_page_shows_a_figure_of_another_page() -> None:
    options = {"figure": {"name": "fig-z", "caption": "All of it."}, "image": {"alt": "A line."}}
    output = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})
    cell = nbformat.v4.new_code_cell(outputs=[output], metadata={"mystnb": options})
    executed = str(nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))).encode()
    page = {"papers/x.md": b"<!-- figure: x/y fig-z -->\n"}
    assert staging._with_figures(page) == {"papers/x.md": b"\n"}
    staged = staging._with_figures({**page, "notebooks/x/y.ipynb": executed})
    assert staged["papers/fig-z.svg"] == b"<svg/>"
    assert b"fig-z.svg\n:alt: A line.\n\nAll of it." in staged["papers/x.md"]


def test_search_gets_words_headings_and_numbers_of_a_page_without_its_markup() -> None:
    page = "---\na: b\n---\n(x)=\n# Title\n\n:::{note}\n:class: tip\n*Words*, {ref}`a place <nb-x>`.\n:::\n"
    text, headings = staging.searched(page.encode(), notebook=False)
    assert (text, headings) == ("Title Words , a place .", [("Title", "x")])
    glued = nbformat.v4.new_output(
        "display_data",
        {"application/papermill.record/text/plain": "'2 of 7 {x}'"},
        metadata={"scrapbook": {"name": "lead", "mime_prefix": "application/papermill.record/"}},
    )
    cells = [
        nbformat.v4.new_markdown_cell("(nb-x)=\n# A *title*\n\n## Below\n\nIt leads {glue:text}`lead`."),
        nbformat.v4.new_code_cell("# no heading", outputs=[glued]),
        nbformat.v4.new_markdown_cell("```bash\n# no heading\n```\n(one)=\n(two)=\n### Last"),
    ]
    notebook = str(nbformat.writes(nbformat.v4.new_notebook(cells=cells))).encode()
    text, headings = staging.searched(notebook, notebook=True)
    assert "It leads 2 of 7 {x}." in text
    assert headings == [("A title", "nb-x"), ("Below", ""), ("Last", "one")]


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("-0.5 and 3-4", "\N{MINUS SIGN}0.5 and 3-4"),
        ("-0.00", "0.00"),
        ("2023-07-04", "2023-07-04"),
        ("[-0.1, 0.2]", "[\N{MINUS SIGN}0.1,\N{NO-BREAK SPACE}0.2]"),
    ],
)
def test_signs_and_intervals_are_set(plain: str, shown: str) -> None:
    assert characters(plain) == shown
    html = '<td title="-1">τ_b -1</td><code>-1 τ_b</code>'
    assert symbols(html) == '<td title="-1">τ<sub>b</sub> \N{MINUS SIGN}1</td><code>-1 τ_b</code>'


def test_no_two_places_of_the_book_have_the_same_label() -> None:
    pages = [*BOOK.rglob("*.md"), *NOTEBOOKS.rglob("*.md")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    labels = Counter(re.findall(r"(?m)^\(([\w-]+)\)=$", sources))
    assert not [label for label, count in labels.items() if count > 1]


@pytest.mark.parametrize("notebook", sorted({entry.notebook for entry in ledger().values()}))
def test_every_exhibit_has_its_place_on_its_page(notebook: str) -> None:
    source = (NOTEBOOKS / f"{notebook}.md").read_text(encoding="utf-8")
    source = re.sub(r'\b(said|quote|quoted|quotations)\("[\w.]+"\)', "", source)  # it rebuilds nothing
    rebuilt = [entry for entry in of_notebook(notebook) if f'"{entry.id}"' in source]
    assert [entry.anchor for entry in rebuilt if f"({entry.anchor})=" not in source.splitlines()] == []
