"""The profile `full` on files of the exact formats and small random models of the real architectures.

A page without its data says in one line what it lacks, and the book is made without it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from radeval_lib import registry
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import load
from radeval_lib.paths import BOOK, NOTEBOOKS, notebooks
from radeval_lib.pipeline import engine
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study.profiles import profile
from tests.full import data_files, tiny
from tests.full.tiny import TinyFull

SETS = sorted({name for source in profile("full").roles.values() for name in registry.datasets_of(source)})

NOTHING_WITHOUT = {"facts/consultation_notes", "ratescore/ner_ablations", "summarization/models"}
"""Pages of one role each, which are left out whole where its data set is gone."""

OF_ONE_SET = {"facts/agreement"}
"""Pages that need counts and grades by the same people, which no set of the roles of `full` has."""

RATED = {"green/correlations", "green/judge_models", "ratescore/correlations", "ratescore/rated_pairs"}
READERS = {
    "mtsamples": {"facts/agreement", "facts/fact_counting"},
    "primock57": {"facts/consultation_notes"},
    "radpref": {"across/which_judge", "facts/agreement"},
    "radsprl": {"rales/benchmark", "rales/calibration"},
    "rexval": {"facts/agreement", *RATED},
}
"""Pages that read some of the sets, as their sources declare."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> TinyFull:
    return tiny.make(tmp_path_factory.mktemp("full"), with_models=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> TinyFull:
    """All of it, built once; a test begins with :meth:`TinyFull.restore`, so that none trains all again."""
    made = tiny.make(tmp_path_factory.mktemp("whole"))
    _built(made)
    made.keep()
    return made


def _shown(full: TinyFull, name: str) -> str:
    """Return what a page says; nothing of a notebook that is no page."""
    path = full.path / "build" / "full" / "_build" / "html" / "notebooks" / f"{name}.html"
    html = path.read_text(encoding="utf-8") if path.is_file() else ""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def _built(full: TinyFull) -> str:
    """Build the book; return what that said."""
    built = full.radbook("build", "--profile", "full")
    assert built.returncode == 0, built.stdout[-5000:] + built.stderr
    return built.stdout


@pytest.mark.nightly
def test_full_finishes(whole: TinyFull) -> None:
    """Every page is made, and the guard, which searches what a build left, finds no restricted text."""
    lacks = re.compile("the page out: |this page is left out: ")
    lacking = {name for name in notebooks() if lacks.search(_shown(whole, name))}
    assert lacking == OF_ONE_SET
    searched = whole.radbook("release", "--profile", "full")
    assert searched.returncode == 0, searched.stdout + searched.stderr
    report = (whole.path / "build" / "release-full.md").read_text(encoding="utf-8")
    assert "Nothing was found" in report
    assert all(f"| {name} |" in report for name in SETS if load_manifest(name).restricted)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SETS)
def test_full_is_made_without_a_set(whole: TinyFull, name: str) -> None:
    whole.restore()
    whole.without(name)
    output = _built(whole)
    title = load_manifest(name).title.partition(":")[0]
    alone = [role for role, source in profile("full").roles.items() if registry.datasets_of(source) == [name]]
    lack = f"out: {title}, for the role"
    pages_saying = {page for page in notebooks() if lack in _shown(whole, page)}
    # Of a role that two sets fill, the other is used; a page that is left out whole says nothing itself.
    assert bool(pages_saying or lack in output) == bool(alone)
    planned = engine.find_pages_without_data(Graph(profile("full"), (), whole.root))
    assert pages_saying <= {page for pages in planned.values() for page in pages}


@pytest.mark.nightly
def test_full_is_made_without_any_set(full: TinyFull) -> None:
    full.without(*SETS)
    output = _built(full)
    assert {page for page in NOTHING_WITHOUT if f"{page} is left out: " in output} == NOTHING_WITHOUT
    assert "left out" not in _shown(full, "rales/nlu_scores")


@pytest.mark.parametrize("name", SETS)
def test_the_plan_names_the_pages_that_lack_a_set(name: str, tmp_path: Path) -> None:
    lacking = {file.path for file in load_manifest(name).files}  # two sets share files of MIMIC-III
    for path in {file.path for entry in SETS for file in load_manifest(entry).files} - lacking:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    graph = Graph(profile("full"), (), tmp_path)
    lines = engine.describe_missing(graph)
    sources = [
        (role, source)
        for role, source in graph.settings.roles.items()
        if name in registry.datasets_of(source)
    ]
    assert sources
    for role, source in sources:
        there = [part for part in source.split("+") if registry.dataset_of(part) != name]
        start = f"Role {role} uses" if there else f"Without {name} ({role}), "
        assert sum(line.startswith(start) for line in lines) == 1
        assert not there or any("+".join(there) in line for line in lines)
    pages = {page for pages in engine.find_pages_without_data(graph).values() for page in pages}
    assert pages == READERS.get(name, pages)


def test_restricted_texts_have_words_that_nothing_else_has() -> None:
    """Of four adjoining words, which the guard takes for a phrase, one is made up, and no page says it."""
    pages = [path.read_text("utf-8") for folder in (BOOK, NOTEBOOKS) for path in folder.rglob("*.md")]
    records = load("summaries", "synthetic", size=300, seed=1, root=None)
    generated = [reveal(record.findings) for record in records]
    pages_saying = {word for text in (*pages, *generated) for word in re.findall("[a-z]+", text.lower())}
    assert not pages_saying & set(data_files.MADE_UP)
    for text in generated:
        words = data_files.restricted(text).split(" ")
        adjoining = [words[position : position + 4] for position in range(len(words) - 3)]
        assert all(set(some) & set(data_files.MADE_UP) for some in adjoining)
        assert " ".join(word for word in words if word not in data_files.MADE_UP) == text
