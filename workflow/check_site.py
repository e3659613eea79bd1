"""Checks a rendered book before it is published: pages, exhibits, links, errors, words.

    python workflow/check_site.py open [--browser-judge]

With the option, a book without the judge in its page is at fault, too. Ends with status 1 and a line for
each fault.
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
from radeval_lib.pipeline.staging import CONTENTS, pages_of
from radeval_lib.study.results import read_all

MOST_WORDS = 80_000
"""Of prose and tables, folded ones too; labs and code apart."""


@cache
def _references(path: Path) -> tuple[set[str], set[str]]:
    """Return where a page's links lead, and the names of what can be linked to on it."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    links = {str(link["href"]) for link in page.select("a[href]")}
    return links, {str(target["id"]) for target in page.select("[id]")}


def dead_links(html: Path, pages: Iterable[str]) -> list[str]:
    """Return links of pages, all of which are there, that lead to no file, or to no place on one of the
    pages."""
    read = {path: _references(path) for path in (html.resolve() / f"{name}.html" for name in pages)}
    dead = []
    for path, (links, _) in read.items():
        for whole in {urljoin(path.as_uri(), link) for link in links}:
            address, fragment = urldefrag(whole)
            if urlparse(address).scheme != "file":
                continue
            target, anchor = Path(unquote(urlparse(address).path)), unquote(fragment)
            anchors = read[target][1] if target in read else {anchor}
            if not target.exists() or (anchor and anchor not in anchors):
                dead.append(f"{path.stem} -> {whole.removeprefix(html.resolve().as_uri())}")
    return dead


def article(name: str, page: str) -> Tag:
    """Return the content of a page, without navigation, code, and the form that is the same beside each
    exhibit (files, checksums, command, citation) and below each page (its source)."""
    content = BeautifulSoup(page, "html.parser").find("article")
    if not isinstance(content, Tag):
        raise ValueError(f"{name} has no article")
    beside = ".exhibit-record, .page-source"
    for code in content.select(f"details:has(> div.cell_input), div.cell_input, {beside}"):
        code.decompose()
    return content


def words(content: Tag) -> int:
    """Return how many words a reader sees: a lowered letter, and a name that may break or not, part no
    word."""
    whole = copy.copy(content)
    for inside in whole.select("wbr, sub, sup, .whole"):
        inside.unwrap()
    whole.smooth()
    return len(whole.get_text(" ").split())


def faults(output: Path, *, judge: bool = False) -> list[str]:
    """Return what is wrong with the book that stands in a profile's folder, a line each; with ``judge`` it
    must have the judge for a reader's browser."""
    html = output / "_build" / "html"
    pages = pages_of(output / "book" / CONTENTS)
    if absent := [f"{page}: not there" for page in pages if not (html / f"{page}.html").is_file()]:
        return absent
    faults = [f"dead link: {link}" for link in dead_links(html, pages)]
    if judge and 'id="judge"' not in (html / "try_the_judge.html").read_text(encoding="utf-8"):
        faults.append("try_the_judge: no judge: render with --browser-judge")
    for result in read_all(output):
        entry = exhibit(result.exhibit)
        _, anchors = _references(html.resolve() / "notebooks" / f"{entry.notebook}.html")
        if entry.anchor not in anchors:
            faults.append(f"notebooks/{entry.notebook}: no anchor {entry.anchor}")
    every = standing_open = 0
    for page in pages:
        content = article(page, (html / f"{page}.html").read_text(encoding="utf-8"))
        if content.select(".output.traceback, .output.stderr"):
            faults.append(f"{page}: an error on the page")
        if "labs" not in page:
            every += words(content)
            for folded in content.select("details"):
                folded.decompose()
            standing_open += words(content)
    print(f"{len(pages)} pages; without labs and code {every:,} words, of which {standing_open:,} stand open")
    if every > MOST_WORDS:
        faults.append(f"{every:,} words, where {MOST_WORDS:,} are the most")
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Check a rendered book before it is published.")
    parser.add_argument("profile")
    parser.add_argument("--browser-judge", action="store_true", help="require the judge for a browser")
    given = parser.parse_args()
    wrong = faults(BUILD / given.profile, judge=given.browser_judge)
    print("\n".join(wrong))
    sys.exit(bool(wrong))
