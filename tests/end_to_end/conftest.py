"""The book of the small profile, built once, and a browser to read it with."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from radeval_lib.paths import BUILD, ROOT
from radeval_lib.pipeline import steps

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 300_000
"""Milliseconds that a test waits for what must come: how busy the machine is decides nothing."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes that run these tests together."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def smoke(shared: Path) -> Path:
    """Output folder of the profile ``smoke``, its book rendered without any data root.

    Of several processes that run the tests, the first builds it and the others wait.
    """
    with (shared / "smoke").open("a+") as built:
        fcntl.flock(built, fcntl.LOCK_EX)
        built.seek(0)
        if not built.read():
            _build_smoke(shared / "first")
            built.write("built")
    return BUILD / "smoke"


@pytest.fixture(scope="session")
def first_html(smoke: Path, shared: Path) -> Path | None:
    """Folder of the pages that could be read first, as they were before the others were made; None where the
    book was there already."""
    return shared / "first" if (shared / "first").is_dir() else None


def _build_smoke(first: Path) -> None:
    """Build the book; keep what can be read first in a folder ``first``, if anything is new."""
    fresh = not steps.book_index(BUILD / "smoke").is_file()
    output = ""
    with subprocess.Popen(
        [sys.executable, "-m", "radeval_lib.cli", "build", "--profile", "smoke"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "RADEVAL_DATA_ROOT"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as build:
        for line in build.stdout or ():
            output += line
            if fresh and line.startswith("Ready to read: "):  # it is rendered again only at the end
                shutil.copytree(steps.book_folder(BUILD / "smoke"), first)
    assert build.returncode == 0, output[-3000:]
    # What fails before everything is made does not end a build, but is a fault.
    assert not [line for line in output.splitlines() if line.startswith("radbook:")]
    assert ("Ready to read: build/smoke/_build/html/index.html" in output) == fresh, output[:3000]


@pytest.fixture(scope="session")
def html(smoke: Path) -> Path:
    """Folder of the rendered pages."""
    return smoke / "_build" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium from the system's packages."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium on this machine: install the system's package chromium")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=[*quiet, "--no-first-run"])
        yield started
        started.close()


def new_context(browser: Browser, **settings: Any) -> BrowserContext:
    """Return a context whose pages wait :data:`PATIENCE` for what a test needs of them."""
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without network that remembers what went wrong on it, as ``page.troubles``."""
    context = new_context(browser, offline=True, viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    troubles: list[str] = []

    def note_request(url: str) -> None:
        if urlparse(url).scheme not in ("file", "data", "blob"):
            troubles.append(f"asks for {url}")

    opened.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("request", lambda request: note_request(request.url))
    opened.troubles = troubles  # type: ignore[attr-defined]
    yield opened
    context.close()
