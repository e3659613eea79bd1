"""BibTeX entries of the book and its results, from ``CITATION.cff``, and URLs of its sources."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from radeval_lib import own_yaml, provenance
from radeval_lib.paths import ROOT

BOOK_MARK = "<!-- cite: book -->"
"""The marker in a prose page that the book's BibTeX entry replaces."""
_LATEX_SPECIAL = re.compile(r"[&%$#_{}]")
"""Characters with a meaning in LaTeX, which must be escaped."""


@cache
def citation_file() -> dict[str, Any]:
    """Return the content of ``CITATION.cff``."""
    return own_yaml.read(ROOT / "CITATION.cff")


@cache
def repository() -> str:
    """Return the public repository as ``owner/name``; empty if ``_config.yml`` names no GitHub repository."""
    url = own_yaml.read(ROOT / "_config.yml").get("repository", {}).get("url", "")
    match = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", url)
    return match[1] if match else ""


def source_url(path: str = "", commit: str = "") -> str:
    """Return the URL of the public repository or, with both ``path`` and ``commit``, of the file ``path`` in
    that commit; empty if there is no public repository."""
    if not repository():
        return ""
    return f"https://github.com/{repository()}" + (f"/blob/{commit}/{path}" if path and commit else "")


@cache
def checkout() -> tuple[str, str]:
    """Return the full hash and the date (YYYY-MM-DD) of the checked-out commit, in this order; two empty
    strings outside a clone or without git."""
    fields = (provenance.run_git("log", "-1", "--format=%H %cs") or "").split()
    return (fields[0], fields[1]) if fields else ("", "")


def source_line(path: str) -> str:
    """Return the last line of a page in Markdown: the page's source ``path`` and the checked-out commit, with
    links if there is a public repository, and a reference to the instructions for citing the book."""
    commit, day = checkout()
    source = f"[`{path}`]({link})" if (link := source_url(path, commit)) else f"`{path}`"
    place = f", in the [repository]({link})" if (link := source_url()) else ""
    commit_clause = f", commit {commit[:7]} of {day}" if commit else ""
    return f"[Source: {source}{commit_clause}{place}. {{ref}}`how-to-cite`.]{{.page-source}}"


def bibtex(key: str = "radeval", part: str = "", path: str = "") -> str:
    """Return the BibTeX entry of the book, or of a part of it, at the checked-out commit.

    Fields without a value are left out.

    Parameters
    ----------
    key : the citation key.
    part : the title of the part; empty for the whole book.
    path : the part's file in the repository, to which the entry links.
    """
    commit, day = checkout()
    title = f"{part}. In: {citation_file()['title']}" if part else citation_file()["title"]
    authors = citation_file()["authors"]
    names = [
        f"{{{person['name']}}}" if "name" in person else f"{person['given-names']} {person['family-names']}"
        for person in authors
    ]
    fields = {
        "author": " and ".join(names),
        "title": "{" + _LATEX_SPECIAL.sub(r"\\\g<0>", title) + "}",
        "year": day[:4],
        "date": day,
        "version": str(citation_file()["version"]),
        "note": f"commit {commit[:12]}" if commit else "",
        "url": source_url(path, commit),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
