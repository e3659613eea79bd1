"""The book of the small profile, built once, and a browser to read it with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from radeval_lib.paths import BUILD, ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def smoke() -> Path:
    """Output folder of the profile ``smoke``, its book rendered without any data root."""
    environment = {name: value for name, value in os.environ.items() if name != "RADEVAL_DATA_ROOT"}
    done = subprocess.run(
        [sys.executable, "-m", "radeval_lib.cli", "build", "--profile", "smoke"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return BUILD / "smoke"


@pytest.fixture(scope="session")
def html(smoke: Path) -> Path:
    """Folder of the rendered pages."""
    return smoke / "_build" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium from the system's packages."""
    executable = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if executable is None:
        pytest.skip("no Chromium on this machine: install the system's package chromium")
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-sync",
        "--no-first-run",
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=quiet)
        yield started
        started.close()
