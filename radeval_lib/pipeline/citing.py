"""How the book says that it and its results are cited: BibTeX, from ``CITATION.cff``.

A result's citation names the exhibit and the commit that made it. It is added when the book is rendered, so
that a new version or address changes no result and runs no page again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Any

from radeval_lib import own_yaml, provenance
from radeval_lib.papers.exhibits import PAPERS, exhibit
from radeval_lib.paths import ROOT
from radeval_lib.study.exhibit_html import citation_mark, place_of
from radeval_lib.study.results import Result

BOOK_MARK = "<!-- cite: book -->"
"""Where a prose page wants the citation of the book."""
_SPECIAL = re.compile(r"[&%$#_{}]")
"""What LaTeX reads as more than a character."""


@cache
def about() -> dict[str, Any]:
    """Return the content of ``CITATION.cff``."""
    return own_yaml.read(ROOT / "CITATION.cff")


@cache
def home() -> str:
    """Return ``owner/name`` of the public repository; empty if ``_config.yml`` names none."""
    url = own_yaml.read(ROOT / "_config.yml").get("repository", {}).get("url", "")
    match = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", url)
    return match[1] if match else ""


def address(path: str = "", commit: str = "") -> str:
    """Return the web address of the public repository, or of a file in it; empty if there is none."""
    if not home():
        return ""
    return f"https://github.com/{home()}" + (f"/blob/{commit}/{path}" if path and commit else "")


def head() -> tuple[str, str]:
    """Return the checked-out commit, in full, and its date; both are empty outside a clone or without git."""
    words = (provenance.git("log", "-1", "--format=%H %cs") or "").split()
    return (words[0], words[1]) if words else ("", "")


@cache
def _day_of(commit: str) -> str:
    return (provenance.git("log", "-1", "--format=%cs", commit) or "").strip()


def source_line(path: str) -> str:
    """Return a page's last line as Markdown. It names the page's source, linked if there is a public
    repository, the checked-out commit, and where to read how to cite the book."""
    commit, day = head()
    where = f"[`{path}`]({link})" if (link := address(path, commit)) else f"`{path}`"
    repository = f", in the [repository]({link})" if (link := address()) else ""
    commit_clause = f", commit {commit[:7]} of {day}" if commit else ""
    return f"[Source: {where}{commit_clause}{repository}. {{ref}}`how-to-cite`.]{{.page-source}}"


def bibtex(key: str, title: str, commit: str, day: str, *, path: str = "", changed: bool = False) -> str:
    """Return a BibTeX entry, without empty fields.

    Parameters
    ----------
    day : of the commit, as 2026-11-27.
    path : a file of the repository that the entry is about.
    changed : whether files differ from the commit.
    """
    people = about()["authors"]
    names = [person.get("name") or f"{person['given-names']} {person['family-names']}" for person in people]
    fields = {
        "author": "{" + " and ".join(names) + "}",
        "title": "{" + _SPECIAL.sub(r"\\\g<0>", title) + "}",
        "year": day[:4],
        "date": day,
        "version": str(about()["version"]),
        "note": f"{'changed after ' * changed}commit {commit[:12]}" if commit else "",
        "url": address(path, commit),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def of_book() -> str:
    """Return BibTeX for the book as a whole, at the commit that is checked out."""
    return bibtex("radeval", about()["title"], *head())


def of_result(result: Result) -> str:
    """Return BibTeX for one result: its exhibit, and the commit that made it with its date."""
    entry, made = exhibit(result.exhibit), result.provenance["code"]
    commit = made["commit"] or ""
    came_out = f"{result.verdict} ({result.evidence})" if result.evidence != "definition" else result.verdict
    return bibtex(
        place_of(result).replace("result-", "radeval-", 1),
        f"{PAPERS[entry.paper]}, {entry.heading}: {came_out}. In: {about()['title']}",
        commit,
        _day_of(commit) if commit else "",
        path=f"notebooks/{result.notebook}.md",
        changed=made["dirty"],
    )


def with_citation(html: str, results: Iterable[Result]) -> str:
    """Return a page's displayed results with each mark replaced by its citation."""
    for result in results:
        mark = citation_mark(result.name)
        if mark in html:
            html = html.replace(mark, f"<dt>Cite</dt><dd><pre>{escape(of_result(result))}</pre></dd>")
    return html
