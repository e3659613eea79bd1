"""Prints a rendered book to one PDF with Chromium: ``python workflow/book_pdf.py open build/book.pdf``."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright

from radeval_lib import atomic
from radeval_lib.paths import BUILD
from radeval_lib.pipeline import steps
from radeval_lib.pipeline.staging import CONTENTS, list_pages

MARGIN = "16mm"


def join_pages(output: Path) -> str:
    """Return the book in the output folder of a build as one HTML page, each of its pages on a new sheet.

    The code of cells is left out, but not their outputs. Pictures and styles are loaded from the
    folder of the book.
    """
    html = steps.book_folder(output)
    pages = [html / f"{page}.html" for page in list_pages(output / "book" / CONTENTS)]
    document = BeautifulSoup(pages[0].read_text(encoding="utf-8"), "html.parser")
    for link in document.select("link[href], script[src]"):
        name = "href" if link.name == "link" else "src"
        link[name] = (pages[0].parent / str(link[name])).resolve().as_uri()
    body = document.select("body")[0]
    body.clear()
    for path in pages:
        article = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select("article")[0]
        for picture in article.select("img[src]"):
            picture["src"] = (path.parent / str(picture["src"])).resolve().as_uri()
        for code in article.select("div.cell_input, script"):
            code.decompose()
        article["style"] = "break-before: page"
        body.append(article)
    return str(document)


def main(profile: str, target: str) -> None:
    """Write the book of a profile as PDF to ``target``; exit with a message if Chromium is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("Chromium is not installed: run `apt-get install chromium`")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        atomic.new_file(Path(target)) as new,
    ):
        single_page = Path(folder) / "book.html"
        single_page.write_text(join_pages(BUILD / profile), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(single_page.as_uri(), wait_until="load", timeout=300_000)
        page.pdf(
            path=str(new),
            format="A4",
            margin={"top": MARGIN, "bottom": MARGIN, "left": MARGIN, "right": MARGIN},
        )
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print a rendered book as one PDF.")
    parser.add_argument("profile")
    parser.add_argument("file")
    arguments = parser.parse_args()
    main(arguments.profile, arguments.file)
