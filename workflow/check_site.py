"""Checks a rendered book, before it is published, for missing pages and exhibits, dead links, errors and too
many words.

    python workflow/check_site.py open [--browser-judge]

With the option, a missing judge in the browser is also a fault. Prints a line for each fault, and exits with
status 1 if there are any.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from bs4 import BeautifulSoup, Tag

from radeval_lib.papers.exhibits import exhibit
from radeval_lib.paths import BUILD
from radeval_lib.pipeline.staging import CONTENTS, list_pages
from radeval_lib.study.results import read_all

MOST_WORDS = 80_000
"""Maximum number of words in prose and tables, folded parts included, without labs and code."""


@cache
def _references(path: Path) -> tuple[set[str], set[str]]:
    """Return the targets of all links on an HTML page, and the ids of its elements."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    links = {str(link["href"]) for link in page.select("a[href]")}
    return links, {str(target["id"]) for target in page.select("[id]")}


def find_dead_links(html: Path, pages: Iterable[str]) -> list[str]:
    """Return the links between files of the book that lead to a missing file or id.

    ``html`` is the folder of the book; ``pages`` are the paths of its pages, without ``.html``. All
    pages must exist.
    """
    references = {path: _references(path) for path in (html.resolve() / f"{name}.html" for name in pages)}
    dead = []
    for path, (links, _) in references.items():
        for url in {urljoin(path.as_uri(), link) for link in links}:
            file_url, fragment = urldefrag(url)
            if urlparse(file_url).scheme != "file":
                continue
            target, anchor = Path(unquote(urlparse(file_url).path)), unquote(fragment)
            anchors = references[target][1] if target in references else {anchor}
            if not target.exists() or (anchor and anchor not in anchors):
                dead.append(f"{path.stem} -> {url.removeprefix(html.resolve().as_uri())}")
    return dead


def extract_article(name: str, page: str) -> Tag:
    """Return the content of a page, without navigation, code, and the records of exhibits and sources.

    Raises ValueError if the page has no article. ``name`` is the page's name, and ``page`` its HTML.
    """
    content = BeautifulSoup(page, "html.parser").find("article")
    if not isinstance(content, Tag):
        raise ValueError(f"{name} has no article")
    records = ".exhibit-record, .page-source"
    for element in content.select(f"details:has(> div.cell_input), div.cell_input, {records}"):
        element.decompose()
    return content


def count_words(content: Tag) -> int:
    """Return the number of words in an element's text; subscripts and optional line breaks do not split
    words."""
    joined = copy.copy(content)
    for element in joined.select("wbr, sub, sup, .whole"):
        element.unwrap()
    joined.smooth()
    return len(joined.get_text(" ").split())


def find_faults(output: Path, *, judge: bool = False) -> list[str]:
    """Return a line for each fault of the rendered book in the output folder of a build; print the numbers of
    its pages and words.

    ``judge`` is whether a missing judge in the browser is a fault. If pages are missing, only these faults
    are returned, and nothing is printed. Raises ResultError if a stored result is not valid.
    """
    html = output / "_build" / "html"
    pages = list_pages(output / "book" / CONTENTS)
    if missing := [f"{page}: missing page" for page in pages if not (html / f"{page}.html").is_file()]:
        return missing
    faults = [f"dead link: {link}" for link in find_dead_links(html, pages)]
    if judge and 'id="judge"' not in (html / "try_the_judge.html").read_text(encoding="utf-8"):
        faults.append("try_the_judge: no judge; run `radbook render --browser-judge`")
    for result in read_all(output):
        entry = exhibit(result.exhibit)
        _, anchors = _references(html.resolve() / "notebooks" / f"{entry.notebook}.html")
        if entry.anchor not in anchors:
            faults.append(f"notebooks/{entry.notebook}: no anchor {entry.anchor} of its exhibit")
    all_words = open_words = 0
    for page in pages:
        content = extract_article(page, (html / f"{page}.html").read_text(encoding="utf-8"))
        if content.select(".output.traceback, .output.stderr"):
            faults.append(f"{page}: a cell printed an error")
        if "labs" not in page:
            all_words += count_words(content)
            for folded in content.select("details"):
                folded.decompose()
            open_words += count_words(content)
    print(f"{len(pages)} pages; without labs and code {all_words:,} words, {open_words:,} of them not folded")
    if all_words > MOST_WORDS:
        faults.append(f"{all_words:,} words; the maximum is {MOST_WORDS:,}")
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Check a rendered book before it is published.")
    parser.add_argument("profile")
    parser.add_argument("--browser-judge", action="store_true", help="require the judge in the browser")
    arguments = parser.parse_args()
    faults = find_faults(BUILD / arguments.profile, judge=arguments.browser_judge)
    print("\n".join(faults))
    sys.exit(bool(faults))
