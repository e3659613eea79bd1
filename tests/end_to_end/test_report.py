"""The page about a file's scores in a real browser, with the network off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from radeval_lib.metrics import score_file
from tests.end_to_end.conftest import new_context

METRICS = ["green_rules_errors", "green_rules", "observations", "rouge_l"]
_RUN = "window.ran = 1; fetch('https://host.invalid')"
_HOST = "https://host.invalid/x"
HOSTILE = (
    f"<script>{_RUN}</script>", f"</script><script>{_RUN}</script>", f"<script src={_HOST}></script>",
    f"<img src=x onerror=\"{_RUN}\">", f"\"><img src=x onerror=\"{_RUN}\">",
    f"<svg><script>{_RUN}</script></svg>", f"<svg><image href={_HOST} /></svg>",
    f"<details open ontoggle=\"{_RUN}\">", f"<iframe srcdoc=\"<script>{_RUN}</script>\"></iframe>",
    f"<object data=\"{_HOST}\"></object>", f"<link rel=stylesheet href={_HOST}>",
    f"</style><script>{_RUN}</script>", f"<div style=\"background:url({_HOST})\">",
    f"<meta http-equiv=refresh content=\"0;url={_HOST}\">", f"<input autofocus onfocus=\"{_RUN}\">",
    f"</title><script>{_RUN}</script>", f"</mark></p><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--", f"<textarea><script>{_RUN}</script>",
    f"{{{{ {_RUN} }}}}", f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"\u202e<script>{_RUN}</script>\u2028\x00<script\x00>{_RUN}</script>", f"\\u003cscript\\u003e{_RUN}",
)  # fmt: skip
PAIRS = (
    ("Small left pleural effusion. No pneumothorax.", "Small right pleural effusion. No pneumothorax."),
    ("Calcified granuloma in the right upper lobe. Unreadable zyx.", "Lungs are clear."),
    ("Cardiomegaly.", "Large left pneumothorax."),
    ("Lungs are clear.", "Lungs are clear."),
)


def _write(folder: Path, rows: list[dict[str, str]]) -> str:
    """Score the rows; return the address of the page."""
    source = folder / "pairs.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score_file(METRICS, source, folder / "out.jsonl", report=folder / "page.html")
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [
        {"reference": text, "candidate:first": other, "candidate:second": text, "group": f"part {row % 2}"}
        for row, (text, other) in enumerate(PAIRS)
    ]
    return _write(tmp_path_factory.mktemp("page"), rows)


@pytest.fixture(params=[(width, mode) for width in (1280, 390) for mode in ("light", "dark")], ids=str)
def shown(request, browser: Browser, address: str) -> Iterator[Page]:
    """The page at a width and in a mode, all folds open."""
    (width, mode), settings = request.param, {"offline": True, "bypass_csp": True}  # its policy stops axe
    context = new_context(browser, viewport={"width": width, "height": 900}, color_scheme=mode, **settings)
    opened = context.new_page()
    opened.goto(address)
    opened.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    yield opened
    context.close()


def test_it_fits_and_axe_finds_nothing_wrong(shown: Page) -> None:
    assert shown.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    narrow = shown.viewport_size == {"width": 390, "height": 900}
    sides = shown.locator(".texts").first.locator("section")
    sides.first.scroll_into_view_if_needed()  # else it need not be laid out
    boxes = [sides.nth(at).bounding_box() for at in range(2)]
    assert (boxes[0]["y"] < boxes[1]["y"]) == narrow  # one below the other on a phone, else side by side
    violations = Axe().run(shown).response["violations"]
    assert not [f"{rule['id']}: {node['target']}" for rule in violations for node in rule["nodes"]]


SHOWN = ".pair:not([hidden]) .which"


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("chosen => document.activeElement.matches(chosen)", selector):
            return
    raise AssertionError(f"no way to {selector} by keyboard")


def test_all_of_it_can_be_used_by_keyboard(address: str, page: Page) -> None:
    page.goto(address)
    rows, press = page.locator(SHOWN), page.keyboard.press
    expect(rows).to_have_count(8)
    assert rows.all_text_contents()[:3] == ["Row 3, first", "Row 1, first", "Row 2, first"]  # the worst
    press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    press("Enter")
    page.wait_for_url("**#pairs")
    _tab_to(page, "#by")
    press("r")  # ROUGE-L, for which low is bad
    expect(rows.nth(1)).to_have_text("Row 2, first")
    _tab_to(page, "#first")
    press("ArrowDown")
    expect(rows.first).to_contain_text("second")  # the best come first
    _tab_to(page, "#errors")
    press("Space")
    expect(page.locator("#count")).to_have_text("2 of 8 pairs")
    expect(rows).to_have_count(2)
    assert set(rows.all_text_contents()) == {"Row 1, first", "Row 3, first"}  # row 2's is insignificant
    _tab_to(page, ".pair > summary")
    press("Enter")
    expect(page.locator(".pair[open] .texts").first).to_be_visible()
    chosen = page.locator(".pair[open] > summary")
    expect(chosen).to_be_focused()
    expect(chosen).not_to_have_css("outline-style", "none")  # else nobody sees where the focus is
    assert not page.troubles  # type: ignore[attr-defined]


def test_it_can_be_read_without_its_script(address: str, browser: Browser) -> None:
    context = new_context(browser, java_script_enabled=False)
    opened = context.new_page()
    opened.goto(address)
    expect(opened.locator(".controls")).to_be_hidden()
    opened.locator(".pair summary").first.click()
    expect(opened.locator(".pair .texts").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("policy", [True, False], ids=["with its policy", "without"])
def test_hostile_texts_are_shown_and_run_nothing(tmp_path, browser: Browser, policy: bool) -> None:
    """In every place that a user's file fills; the escaping must hold even where no policy helps."""
    rows = [
        {
            "reference": f"Small left pleural {text} effusion.",
            "candidate": f"{text} Small right pleural effusion.",
            f"candidate:{HOSTILE[0]}": text,
            "group": text[:40],
        }
        for text in HOSTILE
    ]
    address = _write(tmp_path, rows)
    context = new_context(browser, offline=True, bypass_csp=not policy)
    opened = context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("dialog", lambda dialog: asked.append(dialog.message))
    opened.goto(address)
    opened.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    opened.select_option("#first", "best")
    opened.wait_for_timeout(300)
    assert asked == [address]
    assert opened.evaluate("window.ran") is None
    assert opened.locator("script").count() == 1
    strange = "img, iframe, object, embed, form, video, audio, base, link, template, main style, textarea"
    assert opened.locator(strange).count() == 0
    assert opened.locator("main > *").last.get_attribute("id") == "list"
    sides = "texts => texts.map(text => [...text.childNodes].filter(n => n.nodeName !== 'SUP')"
    shown = set(opened.eval_on_selector_all("p.text", f"{sides}.map(n => n.textContent).join(''))"))
    for row in rows:
        assert row["reference"].replace("\x00", "") in {text.replace("�", "") for text in shown}
    context.close()
