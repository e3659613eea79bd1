"""No link of the front page or of a lab leads to a page that an edition lacks the data for."""

from __future__ import annotations

import re

import pytest

from radeval_lib.paths import NOTEBOOKS
from radeval_lib.study.profiles import profile

_ENDS = re.compile(r"study\.only_with_data\(run, ([^)]*)\)")
_REFERENCE = re.compile(r"\{ref\}`(?:[^`<]+?\s+<([\w-]+)>|([\w-]+))`")
_LABEL = re.compile(r"(?m)^\(([\w-]+)\)=$")
_SHOWS = re.compile(r"tables\.show|caption:|run\.exhibit|study\.quote|study\.said")


def shown(source: str, roles: dict[str, str]) -> str:
    """Return a page's source up to where it ends in an edition for what its roles lack."""
    for end in _ENDS.finditer(source):
        if any(roles[role] in ("synthetic", "absent") for role in re.findall(r'"(\w+)"', end[1])):
            return source[: end.start()]
    return source


@pytest.mark.parametrize("edition", ["embedded", "smoke"])
def test_no_link_of_the_front_page_or_of_a_lab_leads_to_an_empty_page(edition: str) -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in NOTEBOOKS.glob("*/*.md")}
    labs = [path for path in sources if path.parent.name == "labs"]
    pairs = [
        pair
        for path in (NOTEBOOKS / "across" / "at_a_glance.md", *labs)
        for pair in _REFERENCE.findall(sources[path])
    ]
    linked = {label or alone for label, alone in pairs}
    roles, reached = profile(edition).roles, set[str]()
    for path in sources.keys() - set(labs):
        if labels := linked & set(_LABEL.findall(sources[path])):
            left = shown(sources[path], roles)
            assert labels <= set(_LABEL.findall(left)), path.name
            assert left == sources[path] or _SHOWS.search(left), f"{path.name} is its question alone"
            reached |= labels
    assert len(reached) > 10
