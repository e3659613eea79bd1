"""The chapter's tables say what the manifests and the ledger say."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from radeval_lib import data
from radeval_lib.pages.across import data_behind_the_papers
from radeval_lib.papers.exhibits import ledger


def test_every_data_set_is_in_every_table() -> None:
    titles = {data.load_manifest(name).title for name in data.names()}
    assert set(data_behind_the_papers.access().index) == set(data_behind_the_papers.purpose().index) == titles
    assert set(data_behind_the_papers.presence(None).index) == titles
    assert data_behind_the_papers.access()["access"].isin(data_behind_the_papers.ACCESS_WORDS.values()).all()


def test_need_counts_exhibits() -> None:
    need = data_behind_the_papers.need().set_index("data set")["exhibits"]
    wanted = sum("RaTE-NER" in exhibit.needs for exhibit in ledger().values())
    assert need["RaTE-NER"] == wanted > 0
    assert need["RadPref"] == 0
    assert need.index.is_unique
    assert list(need) == sorted(need, reverse=True)


def test_names_in_the_ledger_exist() -> None:
    for name in data.names():
        manifest = data.load_manifest(name)
        for needed_as in manifest.needed_as:
            alone = type(manifest)(**{**manifest.__dict__, "needed_as": (needed_as,)})
            assert data_behind_the_papers.exhibits_that_need(alone), f"{name}: {needed_as}"


def test_a_need_of_one_paper_only() -> None:
    ids = data_behind_the_papers.exhibits_that_need(data.load_manifest("mimic3_procedure"))
    assert {name.partition(".")[0] for name in ids} == {"rales"}
    assert ids <= data_behind_the_papers.need_restricted()


def test_summary_of_counts() -> None:
    frame = pd.DataFrame(
        {"data set": ["a", "a", "b"], "printed": ["1,000", "5", "7"], "loaded": ["1,000", "6", ""]}
    )
    summary = data_behind_the_papers.count_summary(frame)
    assert summary.loc["a"].tolist() == [2, 2, 1]
    assert summary.loc["b"].tolist() == [1, 0, 0]


def test_counts_without_and_with_data(tmp_path: Path, data_root: Path) -> None:
    without = data_behind_the_papers.counts(None)
    assert (without["loaded"] == "").all()
    pd.testing.assert_frame_equal(without, data_behind_the_papers.counts(tmp_path))
    loaded = data_behind_the_papers.counts(data_root).set_index(["data set", "what"])["loaded"]
    title = data.load_manifest("openi").title
    assert loaded[title, "pairs with findings and impression"] == "3,331"


def test_presence(data_root: Path) -> None:
    frame = data_behind_the_papers.presence(data_root)
    assert frame.loc[data.load_manifest("openi").title, "as the manifest states"] == 1
    assert frame["mismatch"].sum() == 0


def test_steps_are_escaped_and_whole() -> None:
    html = data_behind_the_papers.steps().data
    assert html is not None
    assert html.count("<details>") == len(data.names())
    assert "radbook data add openi" in html
    assert "<Document" not in html
