"""The chapter's tables say what the manifests and the ledger say."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from notebooks.across import data_behind_the_papers
from radeval_lib import data
from radeval_lib.papers.exhibits import ledger


def test_every_data_set_can_be_searched_for() -> None:
    html = data_behind_the_papers.catalogue().data or ""
    rows = json.loads(html.partition('<script type="application/json">')[2].partition("</script>")[0])
    assert len(rows) == len(data.names())
    assert any("radbook data add openi" in row[-1] for row in rows)
    assert {row[1].partition(";")[0] for row in rows} == set(data_behind_the_papers.ACCESS_WORDS.values())
    assert "<Document" not in html


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


def test_a_count_agrees_whatever_its_commas() -> None:
    frame = pd.DataFrame({"printed": ["1,000", "5"], "loaded": ["1000", "6"]})
    assert data_behind_the_papers.agrees(frame).tolist() == [True, False]


def test_counts_without_and_with_data(tmp_path: Path, data_root: Path) -> None:
    without = data_behind_the_papers.counts(None)
    assert (without["loaded"] == "").all()
    pd.testing.assert_frame_equal(without, data_behind_the_papers.counts(tmp_path))
    loaded = data_behind_the_papers.counts(data_root).set_index(["data set", "what"])["loaded"]
    title = data.load_manifest("openi").title
    assert loaded[title, "pairs with findings and impression"] == "3,331"
