"""No sentence of the book speaks of what another edition has: what differs is computed for each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from radeval_lib.paths import BOOK, NOTEBOOKS, ROOT
from radeval_lib.study.profiles import profile

_BUILD = r"(?:this |the |your |a )?(?:build|edition|data root|profile)"
CONDITIONS = {
    "a build that may have the data": rf"\b(?:if|where|unless|until|once|when|whether|as far as) {_BUILD}\b"
    r"(?! (?:has run|runs|ran|ends|is done))",
    "a build that lacks something": rf"\b{_BUILD} (?:lacks|is missing|does not (?:have|hold))\b",
    "data that may be there": r"\b(?:if|where|unless|when|without)(?: the)? (?:public |real )?"
    r"(?:data|files|texts) (?:are (?:there|here|available|at hand|missing|absent)|this page)\b",
    "without public data": r"\bwithout public data\b",
    "at hand": r"\bat hand\b",
    "today": r"\btoday\b",
    "what a build may have": r"\b(?:a|the|this) (?:build|edition) (?:may|might|can) (?:have|lack)\b",
    "the default profile": r"\bin the (?:default|public) (?:profile|edition|build)\b",
    "what a table would need": r"\btable needs the public data\b",
    "a build that was given something": r"\bunless it was given\b",
}
SOURCES = sorted([*NOTEBOOKS.glob("*/*.md"), *BOOK.rglob("*.md")])
ABOUT_BUILDING = {"book/reproduce.md", "book/labs_for_instructors.md", "book/own_reports.md"}
"""Pages that tell a reader how to build, who then has another edition."""


def found(text: str) -> list[str]:
    """Return the conditions on an edition that a text names."""
    plain = re.sub(r"\s+", " ", text)
    return [name for name, pattern in CONDITIONS.items() if re.search(pattern, plain, re.IGNORECASE)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_says_nothing_of_another_edition(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    if name in ABOUT_BUILDING or name.startswith("notebooks/labs/"):
        pytest.skip("it tells how to build, or is no page of results")
    assert not found(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "sentence",
    [
        "the values are RadPref's where the public data are at hand.",
        "Errors of RadPref, unless the build has ReXVal.",
        "Filled, where the data root holds Open-i,\nwith an interval.",
        "Grades which this build lacks.",
        "Without public data this page is built on generated ratings.",
        "It reads as well today.",
        "on models of this edition unless it was given the papers' own",
        "This build is missing none of them.",
        "The rest needs MTSamples, of which a build may have a part.",
        "In the default profile it keeps one layer.",
        "This table needs the public data set MSLR.",
    ],
)
def test_sentences_that_another_edition_overturns_are_refused(sentence: str) -> None:
    assert found(sentence)


@pytest.mark.parametrize(
    "sentence", ["Times are measured in this build.", "Where the answer is no, it stops."]
)
def test_other_sentences_pass(sentence: str) -> None:
    assert not found(sentence)


_ENDS = re.compile(r"study\.only_with_data\(run, ([^)]*)\)")
_REFERENCE = re.compile(r"\{ref\}`(?:[^`<]+?\s+<([\w-]+)>|([\w-]+))`")
_SHOWS = re.compile(r"tables\.show|caption:|run\.exhibit|study\.quote|study\.said")


def shown(notebook: Path, roles: dict[str, str]) -> str:
    """Return a page's source up to where it ends in an edition for what its roles lack."""
    source = notebook.read_text(encoding="utf-8")
    for end in _ENDS.finditer(source):
        wanted = re.findall(r'"(\w+)"', end[1])
        if any(roles[role] in ("synthetic", "absent") for role in wanted):
            return source[: end.start()]
    return source


def linked() -> set[str]:
    """Return labels that the front page and the labs lead to; a finding leads to the page that handed it
    over."""
    paths = [NOTEBOOKS / "across" / "at_a_glance.md", *NOTEBOOKS.glob("labs/*.md")]
    pairs = [pair for path in paths for pair in _REFERENCE.findall(path.read_text(encoding="utf-8"))]
    return {with_title or two for with_title, two in pairs}


@pytest.mark.parametrize("edition", ["embedded", "smoke"])
def test_no_link_of_the_front_page_or_of_a_lab_leads_to_an_empty_page(edition: str) -> None:
    roles = profile(edition).roles
    led = set[str]()
    for path in NOTEBOOKS.glob("*/*.md"):
        labels = set(re.findall(r"^\(([\w-]+)\)=$", path.read_text(encoding="utf-8"), re.MULTILINE))
        if not labels & linked() or path.parent.name == "labs":
            continue
        left = shown(path, roles)
        assert labels & linked() <= set(re.findall(r"^\(([\w-]+)\)=$", left, re.MULTILINE)), path.name
        whole = left == path.read_text(encoding="utf-8")
        assert whole or _SHOWS.search(left), f"{path.name} is its question alone"
        led |= labels & linked()
    assert len(led) > 10


def test_a_page_that_lacks_its_data_is_its_question_alone() -> None:
    page = NOTEBOOKS / "facts" / "consultation_notes.md"
    assert not _SHOWS.search(shown(page, {"note_judgements": "absent"}))
    assert _SHOWS.search(shown(page, {"note_judgements": "primock57"}))
