"""Stored scores: numbers alone, those that the code gives today, and those of a frozen metric kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from notebooks import storing
from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.metrics import create
from radeval_lib.metrics.bertscore import BertScore
from radeval_lib.metrics.by_name import get
from radeval_lib.pipeline import staging
from radeval_lib.pipeline.release import ReleaseError, refuse_out_of_date
from radeval_lib.provenance import Inputs
from radeval_lib.registry import FROZEN_METRICS, METRICS
from radeval_lib.study import begin, metric_label, recordings
from radeval_lib.study.profiles import profile
from radeval_lib.study.runs import begin_job

SCORED = ["fingerprints", "mts_dialog", "radpref"]
WORDS = ("rouge_1", "rouge_2", "rouge_l", "bleu")


@pytest.mark.parametrize("name", SCORED)
def test_what_counts_words_gives_the_same_again(name: str, data_root: Path) -> None:
    references, candidates = zip(*recordings.read_texts(name, data_root), strict=True)
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
    metric, pairs = create(key), recordings.read_texts(name, data_root)
    kept = recordings.with_stored_scores(metric, [name], data_root, Inputs())
    values = kept.score(*zip(*pairs, strict=True)).values
    np.testing.assert_allclose(values, recorded.load(name).table[key], atol=1e-9)
    assert (kept is metric) != recordings.is_out_of_date(name, metric)


def test_a_metric_that_changed_keeps_its_recorded_scores_and_scores_the_rest(
    data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "behaviour_digest", lambda metric: "another digest")
    metric, inputs = create("green_rules_errors"), Inputs()
    kept = recordings.with_stored_scores(metric, ["radpref"], data_root, inputs)
    reference, candidate = recordings.read_texts("radpref", data_root)[7]
    other = ("Small left pleural effusion.", "Small right pleural effusion.")
    values = kept.score([reference, other[0]], [f" {candidate}\n", other[1]]).values
    own = metric.score([other[0]], [other[1]]).values[0]
    assert values.tolist() == [recorded.load("radpref").table["green_rules_errors"][7], own]
    assert list(inputs.files["recorded"]) == ["data_manifests/recorded/radpref.csv"]


def test_what_is_stored_anew_is_scored_anew() -> None:
    """Storing once kept the scores of former rules as those of the present ones."""
    stale = recordings._mix_scores(create("bleu"), lambda pairs: dict.fromkeys(range(len(pairs)), 9.0))
    made = {"metric": lambda key, **settings: stale, "unstored_metric": lambda key, **settings: create(key)}
    run = cast(Any, SimpleNamespace(**made))
    metric = storing.load_metrics(run, "radpref", published=False)["bleu"]
    pair = ["No acute fracture seen."], ["No acute fracture seen."]
    assert stale.values(*pair).tolist() == [9.0]
    assert metric.values(*pair) == pytest.approx([1.0])


def test_other_files_than_those_that_were_scored_freeze_no_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "behaviour_digest", lambda metric: "another digest")
    metric = create("green_rules_errors")
    assert recordings.with_stored_scores(metric, ["radpref", "mts_dialog"], tmp_path, Inputs()) is metric
    for file in recorded.load("radpref").description["files"]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("{}")
    assert recordings.with_stored_scores(metric, ["radpref"], tmp_path, Inputs()) is metric


def test_placeholders_get_recorded_scores_and_texts_the_metrics_own() -> None:
    metric, texts = create("rouge_l"), recorded.tabulate_placeholders("radpref")
    with_stored = recordings.with_placeholder_scores(metric)
    other = ("Small left effusion.", "Small right effusion.")
    values = with_stored.score([texts["reference"][7], other[0]], [texts["candidate"][7], other[1]]).values
    computed = metric.score([other[0]], [other[1]]).values[0]
    assert values.tolist() == [recorded.load("radpref").table["rouge_l"][7], computed]
    assert (with_stored.title, with_stored.higher_is_better) == (metric.title, True)
    assert with_stored.values([texts["reference"][7]], [texts["candidate"][7]]).tolist() == [values[0]]


def test_only_recorded_pairs_and_settings_have_a_score() -> None:
    texts = recorded.tabulate_placeholders("radpref")
    with_stored = recordings.with_placeholder_scores(create("rouge_l"))
    foreign = next(text for text in texts["reference"] if text != texts["reference"][7])
    for reference in (foreign, "No effusion.", texts["candidate"][7]):
        with pytest.raises(DataError):
            with_stored.score([reference], [texts["candidate"][7]])
    unstemmed = recordings.with_placeholder_scores(create("rouge_l", stem=False), ["stem"])
    with pytest.raises(DataError):
        unstemmed.score([texts["reference"][7]], [texts["candidate"][7]])


def stored_again(name: str, profile_name: str, data_root: Path) -> pd.DataFrame:
    """Return the comparison that ``radbook record --check`` makes of a set whose texts score themselves."""
    run = begin_job(
        "storing", profile=profile_name, seed=0, data_root=str(data_root), output_dir="build/runs/storing"
    )
    metrics = storing.load_metrics(run, name, published=False)
    content = storing.SETS[name](run, metrics)
    return storing.compare_with_stored(run, recorded.load(name), content, metrics)


@pytest.mark.parametrize("name", ["mtsamples", "mslr"])
def test_what_is_stored_is_stored_again(name: str, data_root: Path) -> None:
    compared = stored_again(name, "embedded", data_root)
    assert len(compared) == sum(
        len(table.select_dtypes("number").columns)
        for table in (recorded.load(name).table, *recorded.load(name).parts.values())
    )
    assert compared[compared["case"] != "out of date"]["holds"].all()
    assert set(compared["case"]) <= {"no model", "the stored models", "out of date"}


def test_each_case_has_its_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "out_of_date", lambda name: ["bleu"] if name == "stale" else [])
    before = pd.DataFrame({"rating": np.arange(50.0), "bleu": np.linspace(0, 1, 50)})
    run: Any = SimpleNamespace(inputs=SimpleNamespace(models={"encoder": {"sha256": "a"}}))
    turned = np.where(np.arange(50) % 2, 0.02, -0.02)  # the mean stays, and τ_b falls

    def holds(change: object, model: str | None, name: str = "mslr") -> bool:
        metric = SimpleNamespace(required_roles=("encoder",) if model else ())
        stored = recorded.Recording(name, before, {"models": {"encoder": {"sha256": model}}})
        content = storing.Content(before.assign(bleu=before["bleu"] + change))
        rows = storing.compare_with_stored(run, stored, content, {"bleu": metric})  # type: ignore[dict-item]
        return bool(rows.set_index("column").loc["bleu", "holds"])

    assert [holds(1e-10, None), holds(1e-8, None)] == [True, False]
    assert [holds(9e-7, "a"), holds(2e-6, "a")] == [True, False]
    assert [holds(0.019, "b"), holds(0.021, "b"), holds(turned, "b")] == [True, False, False]
    assert not holds(0.0, None, "stale")


@pytest.mark.parametrize("name", recorded.names())
def test_a_stored_name_has_the_substitute_model_that_its_scores_rest_on(name: str) -> None:
    description = recorded.load(name).description
    models = {role: model["name"] for role, model in description["models"].items()}
    columns = description["columns"] | description.get("variants", {})
    for key, column in columns.items():
        metric = get(key if key in METRICS else "ratescore")
        ours = [role for role in metric.required_roles if models[role].startswith(("job:", "packaged-"))]
        assert column["title"] == metric_label(metric, models)
        assert bool(ours) == column["title"].endswith(")")


def test_a_name_tells_published_from_substitute_models() -> None:
    run = begin("across/which_judge", profile="smoke", seed=0, output_dir="build/runs/storing")
    assert run.labels({"BERTScore": get("bertscore")}) == {"BERTScore": "BERTScore (MiniLM)"}
    full, ours = profile("full").models, profile("open").models
    for key in ("ratescore", "f1_radgraph"):
        assert metric_label(get(key), full) == get(key).title
        assert metric_label(get(key), ours) != get(key).title
    assert metric_label(get("green"), full) == "GREEN"
    assert metric_label(get("green"), ours) == "GREEN (rules, no language model)"


def test_a_column_of_models_is_out_of_date_where_the_code_behaves_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = recorded.load("radpref").probe_scores("ratescore")
    assert len(kept) == 20
    monkeypatch.setattr(recordings, "probe_scores", lambda key: recorded.load("radpref").probe_scores(key))
    assert not recordings.out_of_date("radpref", ["ratescore", "bertscore", "f1_radgraph"])
    edge = [kept[0] + 0.3, *(score + 0.0005 for score in kept[1:])]
    monkeypatch.setattr(recordings, "probe_scores", lambda key: edge)
    # one label on the edge, and other last digits
    assert not recordings.out_of_date("radpref", ["ratescore"])
    monkeypatch.setattr(recordings, "probe_scores", lambda key: [score + 0.002 for score in kept])
    assert recordings.out_of_date("radpref", ["ratescore"]) == ["ratescore"]
    with pytest.raises(ReleaseError):
        refuse_out_of_date(profile("embedded"))
    assert "gives other scores" in staging.make_settings("embedded")


def test_scores_over_drawn_models_follow_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recordings, "_CACHE", tmp_path / "recordings.json")
    recordings._read_cache.cache_clear()
    first = recordings.probe_scores("bertscore")
    assert first == pytest.approx(recorded.load("radpref").probe_scores("bertscore"), abs=1e-3)
    recordings._read_cache.cache_clear()
    monkeypatch.setattr(recordings, "_code_digest", lambda: "other code")
    whole = BertScore.score
    monkeypatch.setattr(BertScore, "score", lambda self, a, b: whole(self, [text[:40] for text in a], b))
    assert recordings.probe_scores("bertscore") != first
    recordings._read_cache.cache_clear()


def test_an_edition_shows_what_its_roles_and_pages_read() -> None:
    shown = recordings.sets_shown(["recorded/radpref/grade", "synthetic"], needs_data_root=False)
    assert shown == dict.fromkeys(["radpref", *(name for name in recorded.names() if name != "radpref")])
    with_texts = recordings.sets_shown(["radpref/grade", "mts_dialog", "openi"], needs_data_root=True)
    assert with_texts == {
        "radpref": list(FROZEN_METRICS), "mts_dialog": list(FROZEN_METRICS), "iu_systems": None
    }  # fmt: skip


def test_a_run_names_the_sets_that_it_read() -> None:
    read = ["data_manifests/recorded/radpref_ratings.csv", "radpref/preference_data.json"]
    assert recordings.sets_read(read, ["recorded/radpref/grade"]) == {"radpref": None}
    assert recordings.sets_read(read, ["radpref/grade"]) == {"radpref": list(FROZEN_METRICS)}
    assert recordings.sets_read(read[1:], ["radpref/grade"]) == {}
