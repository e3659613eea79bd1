"""Citations of the book and its results, in BibTeX from ``CITATION.cff``, and addresses of its sources."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from radeval_lib import own_yaml, provenance
from radeval_lib.paths import ROOT

BOOK_MARK = "<!-- cite: book -->"
"""The placeholder of a prose page for the book's citation."""
_SPECIAL = re.compile(r"[&%$#_{}]")
"""The characters that LaTeX reads as commands."""


@cache
def citation_file() -> dict[str, Any]:
    """Return the content of ``CITATION.cff``."""
    return own_yaml.read(ROOT / "CITATION.cff")


@cache
def repository() -> str:
    """Return ``owner/name`` of the public repository; empty if ``_config.yml`` names none."""
    url = own_yaml.read(ROOT / "_config.yml").get("repository", {}).get("url", "")
    match = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", url)
    return match[1] if match else ""


def web_address(path: str = "", commit: str = "") -> str:
    """Return the web address of the public repository, or of a file in it; empty if there is none."""
    if not repository():
        return ""
    return f"https://github.com/{repository()}" + (f"/blob/{commit}/{path}" if path and commit else "")


@cache
def checkout() -> tuple[str, str]:
    """Return the checked-out commit, in full, and its date; both are empty outside a clone or without git."""
    fields = (provenance.git("log", "-1", "--format=%H %cs") or "").split()
    return (fields[0], fields[1]) if fields else ("", "")


def source_line(path: str) -> str:
    """Return a page's last line as Markdown. It names the page's source, linked if there is a public
    repository, the checked-out commit, and where to read how to cite the book."""
    commit, day = checkout()
    where = f"[`{path}`]({link})" if (link := web_address(path, commit)) else f"`{path}`"
    repository = f", in the [repository]({link})" if (link := web_address()) else ""
    commit_clause = f", commit {commit[:7]} of {day}" if commit else ""
    return f"[Source: {where}{commit_clause}{repository}. {{ref}}`how-to-cite`.]{{.page-source}}"


def bibtex(key: str = "radeval", part: str = "", path: str = "") -> str:
    """Return a BibTeX entry of the book at the checked-out commit, or of a part of it, which ``path`` holds;
    without empty fields."""
    commit, day = checkout()
    title = f"{part}. In: {citation_file()['title']}" if part else citation_file()["title"]
    people = citation_file()["authors"]
    names = [
        f"{{{person['name']}}}" if "name" in person else f"{person['given-names']} {person['family-names']}"
        for person in people
    ]
    fields = {
        "author": " and ".join(names),
        "title": "{" + _SPECIAL.sub(r"\\\g<0>", title) + "}",
        "year": day[:4],
        "date": day,
        "version": str(citation_file()["version"]),
        "note": f"commit {commit[:12]}" if commit else "",
        "url": web_address(path, commit),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
