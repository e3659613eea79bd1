"""The rendered book in a real browser, with the network off."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlparse

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page, expect

from radeval_lib.papers.exhibits import find_level, load_paper
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.paths import BOOK
from radeval_lib.pipeline.sphinx_extension import typeset_characters, typeset_html
from radeval_lib.pipeline.staging import list_pages
from radeval_lib.study import PAPERS, ledger, read_all
from radeval_lib.study.results import explains
from tests.sampling import rests_on_cases
from workflow import readme
from workflow.check_site import find_faults

PAGES = list_pages(BOOK / "_toc.yml")

_LEFT_OUT = "(left out)"


def _troubles(page: Page) -> list[str]:
    return page.troubles  # type: ignore[attr-defined, no-any-return]


def _tells_its_provenance(page: Page, name: str) -> None:
    box = page.locator("details.provenance")
    if _LEFT_OUT in page.locator("article h1").inner_text():
        assert box.count() == 0
        return
    box.locator("summary").click()
    expect(box.locator("table")).to_be_visible()
    assert f"{name}.md" in (box.text_content() or "")
    assert "injected" not in page.inner_text("main").lower()


_CUT_OFF = """() => [...document.querySelectorAll(".radeval-table.wide")].filter(box => {
  for (let around = box.parentElement; around.matches(".bd-article *"); around = around.parentElement)
    if (getComputedStyle(around).overflowX !== "visible" && around.scrollWidth > around.clientWidth + 2)
      return true;
  return false;
}).map(box => box.getAttribute("aria-label"))"""
_EMPTY_LINE = """() => [...document.querySelectorAll("table.cards tbody > tr > *")]
  .filter(cell => cell.getClientRects().length && !cell.matches(".new-line"))
  .filter(cell => !cell.textContent.trim() && !cell.querySelector("img, svg"))
  .map(cell => cell.dataset.label || "")"""
_IN_PIECES = """() => [...document.querySelectorAll(".whole, code.short .pre")]
  .filter(word => word.getClientRects().length > 1).map(word => word.textContent)"""
_BESIDE = """() => [...document.querySelectorAll(".bd-article table.table")]
  .filter(table => table.offsetWidth > table.parentElement.clientWidth + 2)
  .map(table => table.textContent.trim())"""


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_whole_and_from_nowhere_else_and_fits(name: str, html: Path, page: Page) -> None:
    """A wide table takes the margin; on a phone it becomes cards."""
    page.goto((html / f"{name}.html").as_uri(), wait_until="load")
    page.wait_for_timeout(300)  # for what a page asks of others after it has loaded
    page.wait_for_function("[...document.images].every(image => image.complete)")
    broken = "images => images.filter(i => i.naturalWidth === 0).map(i => i.src)"
    assert page.eval_on_selector_all("img", broken) == []
    assert page.locator("article h1").count() == 1
    assert "Traceback" not in page.inner_text("main")
    assert "CC BY 4.0" in page.inner_text(".bd-footer-content")
    # Nothing but tables and code, which scroll by themselves, may be wider than the page.
    wider = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(wider) <= 0
    assert page.evaluate(_CUT_OFF) == []
    source = page.locator("article .page-source")
    assert name.removeprefix("notebooks/") in source.inner_text()
    assert source.locator('a[href*="how_to_cite.html"], a[href^="#"]').count()
    if name.startswith("notebooks/") and not name.startswith("notebooks/labs/"):
        _tells_its_provenance(page, name)
    page.set_viewport_size({"width": 390, "height": 900})
    page.reload(wait_until="load")
    assert page.evaluate(wider) <= 0
    assert [page.evaluate(script) for script in (_EMPTY_LINE, _IN_PIECES, _BESIDE)] == [[], [], []]
    assert not _troubles(page)


def test_no_role_is_left_as_text(html: Path) -> None:
    """What code displays is plain Markdown, in which ``{ref}`...``` stays as it is."""
    left = re.compile(rb"\{[a-z:]+\}(?:<code|`)")
    assert not [name for name in PAGES if left.search((html / f"{name}.html").read_bytes())]


def test_the_book_may_be_published_and_a_spoiled_one_may_not(smoke: Path, tmp_path: Path) -> None:
    assert find_faults(smoke) == []
    for part in ("results", "_build/html", "book"):
        shutil.copytree(smoke / part, tmp_path / "smoke" / part)
    pages = tmp_path / "smoke" / "_build" / "html"
    bad = '<a href="nowhere.html">x</a><div class="output traceback">x</div></article>'
    for name, old, new in (
        ("glossary.html", "</article>", bad),
        ("notebooks/rales/calibration.html", 'id="rales-eq-ape"', 'id="elsewhere"'),
    ):
        text = (pages / name).read_text(encoding="utf-8")
        (pages / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    problems = find_faults(tmp_path / "smoke")
    for problem in ("glossary -> /nowhere.html", "glossary: a cell", "no anchor rales-eq-ape"):
        assert sum(problem in line for line in problems) == 1


def test_every_exhibit_stands_on_the_index_and_leads_to_its_place(html: Path, page: Page) -> None:
    page.goto((html / "notebooks/across/exhibits.html").as_uri())
    listed = page.eval_on_selector(".search-table script", "script => JSON.parse(script.textContent)")
    rows = page.evaluate(
        """rows => rows.map((cells) => {
          const row = document.createElement('div');
          row.innerHTML = cells.join('');
          return [row.querySelector('a').getAttribute('href'), row.querySelector('.verdict').innerText];
        })""",
        listed,
    )
    assert len(rows) == len(ledger())
    for entry, (href, status) in zip(ledger().values(), rows, strict=True):
        page_name, _, anchor = href.partition("#")
        assert page_name == f"../{entry.notebook}.html"
        checked = not status.endswith("not checked")
        assert bool(anchor) == checked
        assert not checked or anchor == entry.anchor or anchor.startswith(f"result-{entry.anchor}-")


@pytest.mark.parametrize(("name", "words"), [("exhibits", "GREEN consistent"), ("audit", "GREEN fails")])
def test_a_table_to_search_shows_what_holds_the_words_typed(
    html: Path, page: Page, name: str, words: str
) -> None:
    page.goto((html / f"notebooks/across/{name}.html").as_uri())
    table = page.locator(".search-table").last
    rows = table.locator("tbody tr")
    status = table.locator("[role=status]")
    before = status.text_content() or ""
    table.locator("input").fill(words)
    expect(status).not_to_have_text(before)
    assert 0 < rows.count() <= 100
    assert all("GREEN" in text for text in rows.all_text_contents())
    table.locator("input").fill("no row has <b>these</b> words")
    expect(status).to_contain_text(re.compile(r"^0 of "))
    assert rows.count() == 0
    assert not _troubles(page)


def test_the_front_page_tells_findings_with_links_to_their_places(html: Path, page: Page) -> None:
    page.goto((html / "index.html").as_uri())
    page.wait_for_url("**/at_a_glance.html")
    findings = page.locator("ol.headlines > li")
    assert findings.count() >= 2  # those that rest on printed and released numbers
    assert findings.locator("strong").count() == findings.locator("a").count() == findings.count()


# As readers ask for an exhibit.
LOOKED_UP = {
    "ratescore.table6": "Table 6 of RaTEScore",
    "rales.table8": "RaLEs, Table 8",
    "green.table9": "table 9 green",
}


@pytest.mark.parametrize(("exhibit", "query"), LOOKED_UP.items())
def test_an_exhibit_is_found_first_with_all_that_quoting_it_takes(
    exhibit: str, query: str, html: Path, page: Page
) -> None:
    page.goto((html / "search.html").as_uri() + f"?q={query.replace(' ', '+')}")
    first = page.locator(".found-first li a").first
    first.wait_for()
    entry = ledger()[exhibit]
    assert first.inner_text() == f"{PAPERS[entry.paper]}, {entry.label}: {entry.title}"
    first.click()
    box = page.locator(f".verdict-box#{page.url.rpartition('#')[2]}")
    table = box.locator("table.cell-by-cell")
    expect(table).to_be_visible()
    caption = (table.locator("caption").text_content() or "").replace("\xa0", " ")
    assert f"{entry.label} as printed" in caption
    texts = table.locator("td").all_text_contents()
    assert all(
        any(text.lstrip("✗?\xa0 ").startswith(typeset_characters(cell)) for text in texts)
        for cell in printed(exhibit)["printed"]
    )
    details = box.locator("summary", has_text="Details")
    if details.count():  # a folded exhibit shows its record with the rest
        details.click()
    record = box.locator("dl.exhibit-record")
    for name in ("Numbers", "Command", "Data", "Sample", "Seed", "Cite"):
        expect(record.locator("dt", has_text=re.compile(f"^{name}$"))).to_be_visible()
    links = record.locator("dd a[href*='/results/']")
    assert links.count() == 3
    for link in links.all():
        target = Path(unquote(urlparse(str(link.evaluate("link => link.href"))).path))
        text = target.read_text(encoding="utf-8")
        assert json.loads(text) if target.suffix == ".json" else len(pd.read_csv(target)) > 1
    assert not _troubles(page)


def test_what_differs_is_marked_in_its_cell_and_explained_below(html: Path, page: Page) -> None:
    page.goto((html / "notebooks/rales/calibration.html").as_uri() + "#result-rales-table7-printed")
    box = page.locator("#result-rales-table7-printed")  # a link to a folded exhibit opens it
    failing = box.locator(".compared.fails")
    assert failing.count() > 1
    cell = failing.first
    note = cell.locator("sup").inner_text()
    assert "✗" in cell.inner_text()
    item = box.locator("ol[type=a] > li").nth("abcdefghij".index(note))
    assert typeset_characters(cell.get_attribute("title") or "nothing") in (item.text_content() or "")


def test_search_shows_titles_before_texts_and_the_numbers_of_the_build(html: Path, page: Page) -> None:
    page.goto((html / "search.html").as_uri() + "?q=index+of+exhibits")
    first = page.locator(".found-first li a").first
    first.wait_for()
    assert first.inner_text() == "Index of exhibits"
    texts = page.evaluate("window.pageTexts")
    assert f"The papers have {len(ledger())} tables" in texts["notebooks/across/at_a_glance"]
    assert not [name for name, text in texts.items() if "notebooks/" in name and "glue:text" in text]
    page.goto((html / "search.html").as_uri() + "?q=krippendorff")
    page.wait_for_selector("#search-results li a[href*='/facts/']")
    mark = page.locator("#search-results .found-where mark").first
    expect(mark).to_have_text(re.compile("krippendorff", re.IGNORECASE))
    assert not _troubles(page)


def test_the_readme_shows_findings_of_the_build(smoke: Path) -> None:
    # With few resamples, a corrected p stays large.
    listed = readme.format_findings(smoke / "results", decided=False)
    assert listed.count("\n") == 3
    assert readme.read_findings().endswith(listed), "run workflow/readme.py"
    words = re.compile(r"<text[^>]*>([^<]*)")  # positions depend on the machine's fonts
    committed, drawn = readme.FIGURE.read_text(encoding="utf-8"), readme.read_figure(smoke / "executed")
    assert words.findall(committed) == words.findall(drawn), "run workflow/readme.py"


def test_every_interval_and_lead_names_its_sample(smoke: Path) -> None:
    """Ranges of printed and released numbers come from rounding; any other range, p value or lead comes from
    cases."""
    without = [
        f"{result.name}: {check.name}: {check.computed}"
        for result in read_all(smoke)
        for check in result.checks
        if not result.samples and rests_on_cases(result.evidence, check)
    ]
    assert not without


def _recorded(names: str) -> list[str]:
    return [f"recorded/{name}" for name in names.split()]


_NER, _GRAPHS = "jobs/ratescore/ner_training", "jobs/summarization/graph_training"
_MODELS = [_NER, _GRAPHS, "model: encoder", "model: graph_model", "model: ner_model"]
_POWER = [f"ratescore/{name}" for name in ("fig3", "paper", "table3", "table4", "table5")]
_FAILING = ["green/paper", "rales/paper", "ratescore/paper", "rrs/paper"]  # which claims fail, and why
UNCLAIMED = {
    "across/at_a_glance": _FAILING,
    "across/exhibits": _FAILING,
    "across/audit": [f"{paper}/paper" for paper in sorted(PAPERS)],
    "across/fingerprints": [*_MODELS, "recorded/fingerprints"],
    "across/how_many_pairs": sorted([*_MODELS, *_POWER, "green/table6", *_recorded("mts_dialog radpref")]),
    "across/metric_cards": _recorded("mts_dialog radpref"),
    "across/paper_versus_code": ["released/packages"],
    "across/real_systems": _recorded("iu_systems"),
    "across/which_judge": _recorded("mslr mts_dialog"),
    "across/which_metric": _recorded("radpref"),
    "facts/real_counts": [*_MODELS, *_recorded("mts_dialog")],
    "green/correlations": ["ratescore/table4", *_recorded("radpref")],
    "green/method": _recorded("radpref"),
    "green/rules_judge": _recorded("openi radpref"),
    "rales/benchmark": ["jobs/rales/fitting"],
    "rales/calibration": ["jobs/rales/fitting"],
    "rales/nlg_metric_limits": _recorded("mediqa2021"),
    "ratescore/correlations": ["green/table6", "ratescore/texts/reports"],
    "ratescore/how_it_works": ["ratescore/texts/reports"],
    "ratescore/ner_ablations": [_NER],
    "summarization/dataset": ["rales/table6"],
    "summarization/f1_radgraph": _recorded("iu_systems"),
}
"""What pages read for tables and claims of their own, on which no exhibit or finding rests."""


def unclaimed(build: Path, notebook: str) -> list[str]:
    """Return what a page says under *Provenance* that it read, and none of its results names: papers' files,
    released numbers, stored sets, jobs and models."""
    cells = nbformat.read(build / "executed" / f"{notebook}.ipynb", as_version=4).cells
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    page = BeautifulSoup("".join(data.get("text/html", "") for data in outputs), "html.parser")
    rows = [[cell.text for cell in row("td")] for row in page.select("details.provenance tbody tr")]
    read = {row[0] for row in rows if re.search("[0-9a-f]{64}", row[-1])}
    for path in (build / "results" / notebook).glob("*.json"):
        rests_on = json.loads(path.read_text(encoding="utf-8")).get("provenance", {})
        read -= {*rests_on.get("data", {}), *(f"model: {role}" for role in rests_on.get("models", {}))}
    short = (re.sub(r"data_manifests/(papers/)?|\.(csv|yml)$|/[^/]*/facts\.json$", "", name) for name in read)
    stored = r"(?<=recorded/)(iu_systems|mts_dialog|[a-z0-9]+).*"
    return sorted({re.sub(stored, r"\1", name) for name in short})


def test_what_a_page_read_is_what_its_results_rest_on(smoke: Path) -> None:
    pages = [f"{path.parent.name}/{path.stem}" for path in (smoke / "executed").glob("*/*.ipynb")]
    left = {page: names for page in pages if (names := unclaimed(smoke, page))}
    assert left == UNCLAIMED


def test_what_the_ledger_leaves_unchecked_reaches_the_result(smoke: Path) -> None:
    """A limit under a level that no result has would be shown nowhere."""
    silent = {
        result.name
        for result in read_all(smoke)
        if ledger()[result.exhibit].remaining and not result.remaining and result.evidence != "definition"
    }
    assert not silent


def test_every_verdict_is_as_it_was_last_read(smoke: Path) -> None:
    expected = pd.read_csv(Path(__file__).with_name("verdicts.csv"), index_col="result")["verdict"]
    assert {result.name: result.verdict for result in read_all(smoke)} == expected.to_dict()


def test_code_opens_by_a_switch_for_the_page_and_by_a_mark_for_a_cell(html: Path, page: Page) -> None:
    page.goto((html / "notebooks/rales/nlu_scores.html").as_uri())
    first = page.locator("details.above-input pre").first
    expect(first).to_be_hidden()
    page.click("button.code-switch")
    expect(first).to_be_visible()
    expect(first).to_contain_text("study.begin")
    page.click("button.code-switch")
    expect(first).to_be_hidden()
    cell = page.locator("div.cell:has(> div.cell_output) details.above-input").first
    cell.locator("summary").click()
    expect(cell.locator("pre").first).to_be_visible()


def test_minus_signs_and_subscripts_are_set_on_every_page(html: Path) -> None:
    pages = [path for path in html.rglob("*.html") if path.name != "genindex.html"]
    assert "τ<sub>b</sub>" in (html / "notebooks/across/which_judge.html").read_text(encoding="utf-8")
    assert [path for path in pages if typeset_html(text := path.read_text(encoding="utf-8")) != text] == []


def test_no_writing_of_a_figure_is_too_small_on_a_phone(html: Path) -> None:
    small = {}
    for path in (html / "_images").glob("*.svg"):
        drawing = path.read_text(encoding="utf-8")
        (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', drawing)
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ?([\d.]+)px", drawing)]
        pixels = min(sizes, default=9.0) * min(1, 350 / float(width))
        if pixels < 8:
            small[path.name] = pixels
    assert not small


def test_math_is_typeset_without_network(html: Path, page: Page) -> None:
    page.goto((html / "notebooks/rales/calibration.html").as_uri())
    page.wait_for_selector("mjx-container")
    page.evaluate("window.MathJax.startup.promise")
    assert page.locator("mjx-merror").count() == 0
    assert not _troubles(page)


def test_no_explanation_is_stale(smoke: Path) -> None:
    results = read_all(smoke)
    built = {(result.exhibit, find_level(result.evidence)) for result in results if result.checks}
    explained = [(result, check) for result in results for check in result.checks if check.discrepancy]
    stale = []
    for key in PAPERS:
        for name, entry in load_paper(key).get("discrepancies", {}).items():
            for checks in entry["checks"]:
                level = checks.get("evidence", "printed")
                if level == "data" and (checks["exhibit"], level) not in built:
                    continue  # this edition lacks the data
                met = [
                    check.key
                    for result, check in explained
                    if explains({"checks": [checks]}, result.exhibit, result.evidence, check)
                ]
                stale += [] if met else [f"{name}: {checks}"]
                for field in ("what", "row", "column"):
                    missed = set(checks.get(field, [])) - {getattr(key, field) for key in met}
                    stale += [f"{name}: {field} {value!r}" for value in sorted(missed)]
    assert not stale
