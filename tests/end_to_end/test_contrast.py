"""The colours of the rendered book, measured by axe-core in light and dark.

A file of its own, so that another process measures while the first reads the pages.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from radeval_lib.paths import BOOK
from radeval_lib.pipeline.staging import list_pages
from tests.end_to_end.conftest import new_context

PAGES = list_pages(BOOK / "_toc.yml")
# Pages that between them show nearly every kind of table, verdict, box and figure that the book has; the
# others are measured at night.
OF_EVERY_KIND = {
    *(name for name in PAGES if not name.startswith("notebooks/")),
    *("notebooks/across/at_a_glance", "notebooks/ratescore/rated_pairs", "notebooks/rales/calibration"),
    *("notebooks/summarization/models", "notebooks/facts/agreement"),
}


# axe measures each text by itself, and a page has thousands. Of those that look alike, with the same size,
# weight and colours before and behind, one is enough.
HIDE_WHAT_LOOKS_LIKE_ANOTHER = """() => {
  const grounds = new Map([[null, '']]);
  const ground = e => {
    if (!grounds.has(e)) {
      const style = getComputedStyle(e);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity];
      grounds.set(e, [...own, ground(e.parentElement)].join());
    }
    return grounds.get(e);
  };
  const all = [...document.querySelectorAll('article *')];
  const texts = all.filter(e => !e.children.length && e.textContent.trim());
  texts.forEach(e => { e.style.visibility = ''; });
  const looks = texts.map(e => {
    const style = getComputedStyle(e);
    return [style.color, style.fontSize, style.fontWeight, ground(e)].join();
  });
  const seen = new Set();
  texts.forEach((e, place) => {
    if (seen.has(looks[place])) e.style.visibility = 'hidden';
    seen.add(looks[place]);
  });
}"""


def _faint(page: Page, mode: str, *, without: str | None = None) -> list[str]:
    """Return what axe finds too faint in the article of an open page, in one mode, all folds open."""
    # Folds fade in; what is measured half way is fainter than what a reader sees.
    page.add_style_tag(content="* { animation: none !important; transition: none !important; }")
    page.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)
    # Cut the notebooks' own folds open: what is hidden is not measured.
    page.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true; })")
    page.evaluate(HIDE_WHAT_LOOKS_LIKE_ANOTHER)
    rule = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
    context = {"include": [["article"]], "exclude": [[without]] if without else []}
    violations = Axe().run(page, context=context, options=rule).response["violations"]
    nodes = [node for violation in violations for node in violation["nodes"]]
    return [f"{mode}, {node['target'][0]}: {node['any'][0]['message']}" for node in nodes]


@pytest.mark.parametrize(
    "name",
    [name if name in OF_EVERY_KIND else pytest.param(name, marks=pytest.mark.nightly) for name in PAGES],
)
def test_text_stands_out_from_its_ground(name: str, html: Path, page: Page) -> None:
    page.goto((html / f"{name}.html").as_uri(), wait_until="load")
    # Code has the same colours on every page, and most of a page's elements: one page is enough, below.
    faint = [text for mode in ("light", "dark") for text in _faint(page, mode, without=".highlight")]
    assert not faint, "\n".join(faint[:10])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_code_stands_out_from_its_ground(mode: str, html: Path, browser: Browser) -> None:
    context = new_context(browser, offline=True, viewport={"width": 1280, "height": 900}, color_scheme=mode)
    opened = context.new_page()
    opened.goto((html / "notebooks/facts/fact_counting.html").as_uri(), wait_until="load")
    expect(opened.locator("html")).to_have_attribute("data-theme", mode)
    opened.click("button.code-switch")
    expect(opened.locator("article .highlight").first).to_be_visible()
    faint = _faint(opened, mode)
    context.close()
    assert not faint, "\n".join(faint[:10])
