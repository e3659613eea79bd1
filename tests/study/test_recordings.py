"""Recorded scores: numbers alone, those that the code gives today, and those of a frozen metric kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.metrics import create
from radeval_lib.origin import Reading
from radeval_lib.pages.across import real_systems
from radeval_lib.placeholders import PlaceholderError
from radeval_lib.registry import FROZEN_METRICS
from radeval_lib.study import display, recordings
from radeval_lib.wording import long_date

# Sets of systems are tested with their page.
SCORED = [
    name for name in recorded.names() if recorded.load(name).about["columns"] and name != real_systems.NAME
]
WORDS = ("rouge_1", "rouge_2", "rouge_l", "bleu")


def test_radpref_has_every_candidate_with_three_grades() -> None:
    table = recorded.load("radpref").table
    assert (len(table), table["set"].nunique(), table["case"].nunique()) == (200, 100, 98)
    assert table[["grade_1", "grade_2", "grade_3"]].isin(range(1, 6)).all(axis=None)


@pytest.mark.parametrize("name", SCORED)
def test_what_counts_words_gives_the_same_again(name: str, data_root: Path) -> None:
    references, candidates = zip(*recordings.texts(name, data_root), strict=True)
    table = recorded.load(name).table
    assert table["candidate_words"].tolist() == [len(text.split()) for text in candidates]
    for metric in set(WORDS) & set(table):
        values = create(metric).score(references, candidates).values
        np.testing.assert_allclose(values, table[metric], atol=1e-9)


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("key", FROZEN_METRICS)
def test_a_metric_by_rules_gives_what_is_recorded_or_is_out_of_date(
    name: str, key: str, data_root: Path
) -> None:
    metric, pairs = create(key), recordings.texts(name, data_root)
    kept = recordings.frozen(metric, [name], data_root, Reading())
    values = kept.score(*zip(*pairs, strict=True)).values
    np.testing.assert_allclose(values, recorded.load(name).table[key], atol=1e-9)
    assert (kept is metric) != recordings.is_out_of_date(name, metric)


def test_a_metric_that_changed_keeps_its_recorded_scores_and_scores_the_rest(
    data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "behaviour", lambda metric: "another digest")
    metric, reading = create("green_rules_errors"), Reading()
    kept = recordings.frozen(metric, ["radpref"], data_root, reading)
    (reference, candidate), table = (
        recordings.texts("radpref", data_root)[7],
        recorded.load("radpref").table,
    )
    other = ("Small left pleural effusion.", "Small right pleural effusion.")
    found = kept.score([reference, other[0]], [f" {candidate}\n", other[1]]).values
    assert found.tolist() == [
        table["green_rules_errors"][7],
        metric.score(*map(list, zip(other, strict=True))).values[0],
    ]
    assert list(reading.data()) == ["data_manifests/recorded/radpref.csv"]
    assert recordings.columns("radpref", data_root, [(reference, candidate)])["number"].tolist() == [7]


def test_a_set_of_which_lengths_alone_are_recorded_freezes_no_metric(data_root: Path) -> None:
    metric = create("observations")
    assert recordings.frozen(metric, ["openi", "mediqa2021"], data_root, Reading()) is metric


def test_fillers_and_data_sets_name_their_recordings() -> None:
    assert recordings.sets_of(["radpref/grade", "synthetic", "mts_dialog", "radpref"]) == [
        "radpref",
        "mts_dialog",
    ]


def test_a_probe_tells_metrics_that_differ_in_the_sixth_decimal() -> None:
    first, second = create("rouge_l"), create("rouge_1")
    assert recordings.behaviour(first) == recordings.behaviour(create("rouge_l"))
    assert recordings.behaviour(first) != recordings.behaviour(second)
    assert len(pd.read_csv(recordings.RECORDED / recordings.PROBE)) == 60


def test_placeholders_get_recorded_scores_and_texts_the_metrics_own() -> None:
    metric, texts = create("rouge_l"), recorded.texts("radpref")
    known = recordings.of_placeholders(metric)
    other = ("Small left effusion.", "Small right effusion.")
    found = known.score([texts["reference"][7], other[0]], [texts["candidate"][7], other[1]]).values
    own = metric.score([other[0]], [other[1]]).values[0]
    assert found.tolist() == [recorded.load("radpref").table["rouge_l"][7], own]
    assert (known.title, known.higher_is_better) == (metric.title, True)


def test_only_recorded_pairs_and_settings_have_a_score() -> None:
    texts = recorded.texts("radpref")
    known = recordings.of_placeholders(create("rouge_l"))
    foreign = next(text for text in texts["reference"] if text != texts["reference"][7])
    for reference in (foreign, "No effusion.", texts["candidate"][7]):
        with pytest.raises(DataError, match="a pair that is not recorded"):
            known.score([reference], [texts["candidate"][7]])
    unstemmed = recordings.of_placeholders(create("rouge_l", stem=False), ["stem"])
    with pytest.raises(DataError, match="recorded with other settings"):
        unstemmed.score([texts["reference"][7]], [texts["candidate"][7]])
    with pytest.raises(PlaceholderError, match="cannot read reference"):
        known.explain(texts["reference"][7], texts["candidate"][7], None)


def test_a_recording_says_when_and_with_which_version_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    found = recorded.load("mts_dialog")
    monkeypatch.setattr(recordings, "out_of_date", lambda name: [])
    assert recordings.told(["mts_dialog"]) == [f"MTS-Dialog was scored on {long_date(found.scored_on)}."]
    monkeypatch.setattr(recordings, "out_of_date", lambda name: ["rouge_l"])
    (line,) = recordings.told(["mts_dialog"])
    assert f"with version {found.about['columns']['rouge_l']['commit'][:7]} of ROUGE-L; the code, " in line


def test_the_probe_is_scored_once_for_the_same_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[str] = []
    monkeypatch.setattr(recordings, "_CACHE", tmp_path / "behaviours.json")
    monkeypatch.setattr(recordings, "_behaviour", lambda metric: scored.append(metric.name) or metric.name)
    for code, times in (("one", 1), ("one", 1), ("other", 2)):
        recordings._behaviours.cache_clear()  # as another process begins
        monkeypatch.setattr(recordings, "_code_of_metrics", lambda code=code: code)
        assert recordings.behaviour(create("rouge_l")) == "rouge_l"
        assert len(scored) == times
    recordings._behaviours.cache_clear()


def test_a_result_says_when_its_scores_were_made() -> None:
    read = {"data_manifests/recorded/radpref_ratings.csv": "sha256"}
    found = SimpleNamespace(evidence="recorded", provenance={"data": read})
    day = long_date(recorded.load("radpref").scored_on)
    assert display.rests_on(found) == f"on public data, scored on {day}"  # type: ignore[arg-type]
    assert display.rests_on(SimpleNamespace(evidence="open")) == "on public data"  # type: ignore[arg-type]
