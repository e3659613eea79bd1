"""Headlines: handed over by their page, told only where their numbers and their evidence bear them out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from radeval_lib.paths import NOTEBOOKS
from radeval_lib.study import results
from radeval_lib.study.page_runs import PageRun
from radeval_lib.study.results import Headline
from radeval_lib.study.verdicts import EVIDENCE

FIRST = Headline(
    id="first", notebook="a/page", anchor="a-place", text="**It leads** by {lead}.", needs=("open",)
)
SECOND = FIRST.model_copy(update={"id": "second", "text": "It is {word}.", "needs": ("printed",)})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.setattr(results, "headlines", lambda: {"first": FIRST, "second": SECOND})
    return SimpleNamespace(
        notebook="a/page",
        output_dir=tmp_path,
        results_dir=tmp_path / "results" / "a" / "page",
        require_declared=lambda *_: None,
        provenance=lambda rests_on: {"data": rests_on},
    )


@pytest.mark.parametrize(
    ("evidence", "holds", "shown"),
    [
        ("open", True, ["**It leads** by 2."]),
        ("open", False, []),
        ("open", None, []),
        ("synthetic", True, []),  # nothing is told of a paper on generated reports
    ],
)
def test_a_headline_is_reported_where_its_numbers_bear_it_out(
    run: SimpleNamespace, evidence: str, holds: bool | None, shown: list[str]
) -> None:
    PageRun.record_headline(run, "first", evidence=evidence, holds=holds, lead="2", rests_on=["ratings"])
    (path,) = run.results_dir.glob("*.json")
    made = {"evidence": evidence, "holds": holds, "texts": {"lead": "2"}}
    assert json.loads(path.read_text(encoding="utf-8")) == {**made, "provenance": {"data": ["ratings"]}}
    assert [text for _, text in results.supported_headlines(run)] == shown


def test_a_headline_has_a_text_for_each_name(run: SimpleNamespace) -> None:
    with pytest.raises(KeyError):
        PageRun.record_headline(run, "first", evidence="open", holds=True, lag="2", rests_on=[])
    assert not list(run.output_dir.rglob("*.json"))


def test_each_headline_is_handed_over_by_its_page_and_links_to_it() -> None:
    for entry in results.headlines().values():
        source = (NOTEBOOKS / f"{entry.notebook}.md").read_text(encoding="utf-8")
        assert re.search(rf'run\.record_headline\(\s*"{entry.id}"', source), entry.id
        assert f"({entry.anchor})=" in source, entry.id
        assert set(entry.needs) <= set(EVIDENCE) - {"synthetic"}, entry.id
        assert not re.search(r"\d", re.sub(r"\{\w+\}", "", entry.text).replace("F1", "")), entry.id
