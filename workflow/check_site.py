"""Checks a rendered book before it is published: pages, exhibits, links, errors, words.

    python workflow/check_site.py open

Ends with status 1 and a line for each fault.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

from bs4 import BeautifulSoup, Tag

from radeval_lib.papers.exhibits import exhibit
from radeval_lib.paths import BOOK, BUILD
from radeval_lib.pipeline.staging import pages_of
from radeval_lib.study.results import read_all

MOST_WORDS = 80_000
"""Of prose and tables, folded ones too; labs and code apart."""


def article(html: str) -> Tag:
    """The content of a page, without navigation."""
    found = BeautifulSoup(html, "html.parser").find("article")
    if not isinstance(found, Tag):
        raise ValueError("a page without an article")
    return found


def faults(output: Path) -> list[str]:
    """What is wrong with the book that stands in a profile's folder, a line each."""
    html = output / "_build" / "html"
    told, words = [], 0
    pages = {page: html / f"{page}.html" for page in pages_of(BOOK / "_toc.yml")}
    for result in read_all(output):
        entry = exhibit(result.exhibit)
        place = pages[f"notebooks/{entry.notebook}"]
        if place.is_file() and entry.anchor not in _anchors(place):
            told.append(f"notebooks/{entry.notebook}: no anchor {entry.anchor}")
    for page, path in pages.items():
        if not path.is_file():
            told.append(f"{page}: not there")
            continue
        content = article(path.read_text(encoding="utf-8"))
        if content.select(".output.traceback, .output.stderr"):
            told.append(f"{page}: an error on the page")
        if "/labs/" not in page:
            words += _words(content)
        told += [f"{page}: broken link {link}" for link in _broken(content, path, html)]
    if words > MOST_WORDS:
        told.append(f"{words:,} words, where {MOST_WORDS:,} are the most")
    print(f"{len(pages)} pages, {words:,} words without the labs")
    return told


def _words(content: Tag) -> int:
    """Words of a page, folded ones too; code, which is folded as a whole, does not count."""
    return len(content.get_text(" ").split()) - sum(
        len(code.get_text(" ").split()) for code in content.select("div.cell_input, script, style")
    )


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\sid="([^"]+)"', page.read_text(encoding="utf-8")))


def _broken(content: Tag, page: Path, root: Path) -> list[str]:
    """Links of a page that lead to no file of the book, or to no place in one."""
    found = []
    for link in content.find_all("a", href=True):
        address = urlparse(str(link["href"]))
        if address.scheme or address.netloc:
            continue
        target = (page.parent / unquote(address.path)).resolve() if address.path else page
        place = unquote(address.fragment) if target.suffix == ".html" else ""
        there = root.resolve() in target.parents and target.is_file()
        if not there or (place and place not in _anchors(target)):
            found.append(str(link["href"]))
    return found


if __name__ == "__main__":
    wrong = faults(BUILD / sys.argv[1])
    print("\n".join(wrong))
    sys.exit(bool(wrong))
