"""The judge in a browser, from a server on this computer: Python's own answers, and texts that stay texts."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import mathjax
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from radeval_lib.categories import CATEGORIES
from radeval_lib.metrics import by_rules
from radeval_lib.paths import BIBLIOGRAPHY, BOOK, ROOT
from radeval_lib.pipeline import book, browser_judge, staging, steps
from tests.end_to_end.conftest import new_context

PAIRS = [
    ("Small left effusion. No pneumothorax.", "Large right effusion. Pneumothorax."),
    ("The heart is enlarged.", "Heart size is normal. Large blarney in the left lung."),
    ("History: child with cough.\n\nFindings: mild edema, unchanged.", "Severe edema, worse."),
    ("", "Nodule of 4 mm in the right upper lobe."),
    ("Endotracheal tube 4 cm above the carina.", "Endotracheal tube 1 cm above the carina."),
]
# What the page's own text refers to, and no more, so that the book is made in seconds.
OTHER = "(own-reports)=\n# Own reports\n\n(nb-green-rules_judge)=\n## The judge by rules\n"
TOC = "format: jb-book\nroot: try_the_judge\nchapters:\n- file: other\n- file: bibliography\n"
LONG = "Small left pleural effusion. No pneumothorax. The heart is enlarged, unchanged. Large blarney.\n"
HOSTILE = {
    "a script": "<script>window.hacked = true</script> Small left effusion.",
    "an image with a handler": '<img src=x onerror="window.hacked = true"> Cardiomegaly.',
    "ends of elements": "</textarea></p></form><h1>Large</h1> --> ]]> right effusion.",
    "nothing": "",
    "a long report": (LONG * 300)[: browser_judge.MAX_CHARACTERS],
    "null and control characters": "Small\x00 left\x01 effusion.\x1b[31m\x7f\ufeff No\u200b pneumothorax.",
    "half a character": "Small left effusion \ud83d and pneumothorax \udc00.",
    "line ends of every kind": "Small effusion.\r\nNo\rpneumothorax.\n\u2028Cardiomegaly.\u0085",
}
# The answers that the page gets from its thread, which it does not otherwise show as they are.
LISTEN = """(() => {
  const Thread = Worker;
  window.answers = [];
  window.Worker = class extends Thread {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => { if (data.number) window.answers.push(data); });
    }
  };
})()"""


@pytest.fixture(scope="module")
def package() -> Path:
    """The pinned package, from npm where it is not there yet; kept below build/."""
    path = browser_judge.package_path()
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        command = ["npm", "pack", browser_judge.npm_name(), "--silent", "--pack-destination", path.parent]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=120, cwd=ROOT)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"npm cannot fetch Pyodide's package: {error}")
    return path


def test_only_the_pinned_package_is_taken(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_judge, "BUILD", tmp_path)
    for content, problem in ((None, "npm pack"), (package.read_bytes() + b"x", "SHA-512")):
        if content is not None:
            browser_judge.package_path().write_bytes(content)
        with pytest.raises(browser_judge.BrowserJudgeError, match=problem):
            browser_judge.read_runtime()


def test_its_modules_judge_alone_as_they_do_here(tmp_path: Path) -> None:
    """Without site-packages, so that a module that is missing, or needs more, cannot be imported."""
    content = browser_judge.make_archive()
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert not [name for name in packed.namelist() if not name.endswith((".py", ".yml"))]
        assert {name.split("/")[0] for name in packed.namelist()} == {"radeval_lib", "yaml"}
        packed.extractall(tmp_path)
    program = (
        f"import sys, json; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"from {browser_judge.ENTRY} import dump_page_data\nimport yaml\n"
        "assert not hasattr(yaml, 'CSafeLoader')\n"
        "print(json.dumps([dump_page_data(*pair) for pair in json.load(sys.stdin)]))"
    )
    alone, pairs = [sys.executable, "-I", "-S", "-c", program], json.dumps(PAIRS)
    done = subprocess.run(alone, input=pairs, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == [by_rules.dump_page_data(*pair) for pair in PAIRS]


def test_examples_have_the_errors_that_they_are_named_for() -> None:
    examples = browser_judge.make_examples()
    assert len({text for _, *texts in examples for text in texts}) == 2 * len(examples)
    for title, reference, candidate in examples:
        errors = by_rules.build_page_data(reference, candidate)["errors"]
        planted = [] if title.endswith("misses") else browser_judge.EXAMPLES[title][1]
        listed = sorted((error["category"], error["significant"]) for error in errors)
        assert listed == sorted((CATEGORIES[letter], significant) for letter, significant in planted)


@pytest.fixture(scope="module")
def output(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of the page, rendered as the whole one is."""
    output = tmp_path_factory.mktemp("judge")
    files, form = browser_judge.make_page_files()
    math = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5" / "tex-chtml.js"
    page = (BOOK / "try_the_judge.md").read_text(encoding="utf-8").replace(browser_judge.MARKER, form)
    texts = {"_config.yml": staging.make_settings(), "_toc.yml": TOC, "other.md": OTHER}
    staged = {name: text.encode() for name, text in [*texts.items(), ("try_the_judge.md", page)]}
    staged |= {path.name: path.read_bytes() for path in (BOOK / "bibliography.md", BIBLIOGRAPHY)}
    staged |= {"_extra/mathjax/tex-chtml.js": math.read_bytes()}
    staged |= {f"_static/{path.name}": path.read_bytes() for path in (BOOK / "_static").iterdir()}
    staged |= {f"_extra/{name}": content for name, content in files.items()}
    for name, content in staged.items():
        path = output / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    log = output / "book.log"
    assert book.run_jupyter_book(output, log), log.read_text(encoding="utf-8")[-2000:]
    return output


@pytest.fixture(scope="module")
def address(output: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(steps.book_folder(output)))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _is_trouble(message: ConsoleMessage) -> bool:
    """Return whether the console reports an error; browsers ask every server for an icon, which the book has
    not."""
    return message.type == "error" and not message.location["url"].endswith("/favicon.ico")


@pytest.fixture(scope="module")
def judge(browser: Browser, address: str) -> Iterator[Page]:
    """The page, its judge loaded by an example; ``requests`` and ``troubles`` say what it asked for, and what
    went wrong on it."""
    context = new_context(browser, viewport={"width": 1280, "height": 900})
    context.add_init_script(LISTEN)
    page = context.new_page()
    requests: list[str] = []
    troubles: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: troubles.append(message.text) if _is_trouble(message) else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.requests, page.troubles = requests, troubles  # type: ignore[attr-defined]
    page.goto(f"{address}/try_the_judge.html", wait_until="load")
    page.get_by_label("Example").select_option("Several errors")
    page.get_by_role("button", name="Judge the candidate").click()
    expect(page.get_by_role("status")).to_contain_text("errors found")
    yield page
    context.close()


def _judged(page: Page, reference: str, candidate: str) -> Any:
    """Return what the page's judge answers of texts that are in its fields."""
    count = page.evaluate("answers.length")
    page.evaluate(
        "texts => Object.entries(texts).forEach(([name, text]) => {"
        " document.getElementById(`judge-${name}`).value = text; })",
        {"reference": reference, "candidate": candidate},
    )
    page.get_by_role("button", name="Judge the candidate").click()
    page.wait_for_function("count => answers.length > count", arg=count)
    expect(page.locator("#judge-answer")).to_be_visible()
    return page.evaluate("answers.at(-1).answer")


@pytest.mark.parametrize("pair", PAIRS)
def test_its_answers_are_pythons(judge: Page, pair: tuple[str, str]) -> None:
    asked = len(judge.requests)  # type: ignore[attr-defined]
    answer = by_rules.build_page_data(*pair)
    assert _judged(judge, *pair) == answer
    listed = judge.locator(".judge-errors > li")
    for text, error in zip(listed.all_text_contents(), answer["errors"], strict=True):
        for part in (error["says"][1:], error["category"], error["rule"][1:]):
            assert part in text
    assert len(judge.requests) == asked  # type: ignore[attr-defined]


def test_all_that_it_asks_for_is_the_local_servers(judge: Page, address: str) -> None:
    asked: list[str] = judge.requests  # type: ignore[attr-defined]
    assert any(request.endswith("pyodide.asm.wasm") for request in asked)
    assert [request for request in asked if not request.startswith((f"{address}/", "data:", "blob:"))] == []


def test_neither_the_page_nor_its_thread_can_send_a_request(judge: Page) -> None:
    before = len(judge.requests), len(judge.troubles)  # type: ignore[attr-defined]
    (thread,) = judge.workers
    ways = ("fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "Worker")
    assert thread.evaluate("ways => ways.map(way => typeof self[way])", ways) == ["undefined"] * len(ways)
    assert judge.evaluate("fetch('index.html').then(() => 'sent', () => 'refused')") == "refused"
    judge.evaluate("navigator.sendBeacon('index.html', 'x')")  # true, although the browser refuses it after
    judge.wait_for_timeout(200)
    assert len(judge.requests) == before[0]  # type: ignore[attr-defined]
    del judge.troubles[before[1] :]  # type: ignore[attr-defined]  # the browser reports the refusals


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_judged_as_text(judge: Page, text: str) -> None:
    before = len(judge.troubles)  # type: ignore[attr-defined]
    for pair in ((text, "Large left effusion."), ("Large left effusion.", text)):
        # As every field of a form has it: line ends are \\n.
        given = [side.replace("\r\n", "\n").replace("\r", "\n") for side in pair]
        assert _judged(judge, *pair) == by_rules.build_page_data(*given)
        shown = judge.eval_on_selector_all(
            ".judge-text",
            "all => all.map(text => [...text.childNodes].filter(part => part.nodeName !== 'SUP')"
            ".map(part => part.textContent).join(''))",
        )
        assert shown == given
    kinds = "all => [...new Set(all.map(node => node.nodeName))].sort()"
    made = set(judge.eval_on_selector_all("#judge-answer *", kinds))
    assert made <= {"H2", "H3", "P", "OL", "UL", "LI", "DIV", "SPAN", "STRONG", "MARK", "SUP", "Q"}
    assert judge.evaluate("window.hacked") is None
    assert judge.troubles[before:] == []  # type: ignore[attr-defined]


def test_a_text_that_is_too_long_is_refused_and_not_cut(judge: Page) -> None:
    judge.get_by_label("Reference").fill("x" * (browser_judge.MAX_CHARACTERS + 1))
    judge.get_by_role("button", name="Judge the candidate").click()
    expect(judge.get_by_role("status")).to_contain_text("20001")
    expect(judge.locator("#judge-answer")).to_be_hidden()


def test_it_is_used_by_keyboard_and_announced(judge: Page) -> None:
    judge.get_by_label("Example").focus()
    for key in ("Home", "ArrowDown", "Tab", "Tab", "Tab"):
        judge.keyboard.press(key)
    assert judge.evaluate("document.activeElement.textContent") == "Judge the candidate"
    judge.keyboard.press("Enter")
    expect(judge.get_by_role("status")).to_have_text("1 error found, 1 significant.")
    assert judge.get_by_role("status").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(judge: Page, mode: str) -> None:
    _judged(judge, f"Small left effusion. Big heart. {'Blarney' * 40}", "Large right effusion. Zzyzx.")
    judge.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)
    for width in (390, 1280):
        judge.set_viewport_size({"width": width, "height": 900})
        judge.wait_for_function("width => window.innerWidth === width", arg=width)
        assert judge.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        violations = Axe().run(judge, context={"include": [["#judge"]]}).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in violations] == []


def test_an_archive_with_another_checksum_is_refused(browser: Browser, address: str, output: Path) -> None:
    (archive,) = (steps.book_folder(output) / browser_judge.BOOK_FOLDER).glob("*.zip")
    whole = archive.read_bytes()
    context = new_context(browser)
    page = context.new_page()
    try:
        archive.write_bytes(whole[:-1] + b"x")
        page.goto(f"{address}/try_the_judge.html")
        page.get_by_role("button", name="Judge the candidate").click()
        expect(page.get_by_role("status")).to_contain_text("The judge failed: ")
        expect(page.locator("#judge-answer")).to_be_hidden()
    finally:
        archive.write_bytes(whole)
        context.close()


def test_opened_from_a_folder_it_says_how_to_serve_it(output: Path, page: Page) -> None:
    page.goto((steps.book_folder(output) / "try_the_judge.html").as_uri(), wait_until="load")
    expect(page.locator(".judge-folder")).to_contain_text("radbook serve")
    expect(page.locator("#judge form")).to_be_hidden()
    assert page.troubles == []  # type: ignore[attr-defined]
