"""Headlines: handed over by their page, told only where their numbers and their evidence bear them out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from radeval_lib.errors import ResultError
from radeval_lib.paths import NOTEBOOKS
from radeval_lib.study import results
from radeval_lib.study.results import Headline
from radeval_lib.study.verdicts import EVIDENCE

FIRST = Headline(
    id="first", notebook="a/page", anchor="a-place", text="**It leads** by {lead}.", needs=("open",)
)
MADE = {"sample": "two reports", "instrument": "a ruler", "rests_on": ["ratings"]}
MADE_OF = {"sample": "two reports", "instrument": "a ruler", "provenance": {"data": ["ratings"]}}
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
    ("evidence", "holds", "shown", "waiting"),
    [
        ("open", True, ["**It leads** by 2."], ["second"]),
        ("open", False, [], ["second"]),
        ("open", None, [], ["second"]),
        ("synthetic", True, [], ["first", "second"]),  # nothing is told of a paper on generated reports
    ],
)
def test_a_headline_is_reported_where_its_numbers_bear_it_out(
    run: SimpleNamespace, evidence: str, holds: bool | None, shown: list[str], waiting: list[str]
) -> None:
    run.results_dir.mkdir(parents=True)
    results.hand_over(run, "first", evidence=evidence, holds=holds, lead="2", **MADE)
    (path,) = run.results_dir.glob("*.json")
    handed_over = json.loads(path.read_text(encoding="utf-8"))
    assert handed_over == {"evidence": evidence, "holds": holds, "texts": {"lead": "2"}, **MADE_OF}
    shown_here, missing = results.borne_out(run)
    assert [text for _, text in shown_here] == shown
    assert [entry.id for entry in missing] == waiting


def test_what_another_version_handed_over_is_refused(run: SimpleNamespace) -> None:
    run.results_dir.mkdir(parents=True)
    results.hand_over(run, "first", evidence="open", holds=True, lead="2", **MADE)
    results.check_headlines(run.results_dir)
    (path,) = run.results_dir.glob("*.json")
    for text in (
        '{"evidence": "open", "holds": true, "texts": {"lag": "2"}}',
        '{"texts": {"lead": "2"}}',
        "[",
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ResultError):
            results.check_headlines(run.results_dir)
    path.rename(path.with_name("headline_third.json"))
    with pytest.raises(ResultError):
        results.check_headlines(run.results_dir)


def test_each_headline_is_handed_over_by_its_page_and_links_to_it() -> None:
    for entry in results.headlines().values():
        source = (NOTEBOOKS / f"{entry.notebook}.md").read_text(encoding="utf-8")
        assert re.search(rf'run\.headline\(\s*"{entry.id}"', source), entry.id
        assert f"({entry.anchor})=" in source, entry.id
        assert set(entry.needs) <= set(EVIDENCE) - {"synthetic"}, entry.id
        assert not re.search(r"\d", re.sub(r"\{\w+\}", "", entry.text).replace("F1", "")), entry.id
