"""Many metrics in one pass, explanations, several candidates, groups, missing models, and from Python."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import warnings
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import radeval_lib
from radeval_lib.cli import main
from radeval_lib.metrics import MetricError, api, choosing, create, score_file, score_files, table_files
from radeval_lib.models import standing_in
from radeval_lib.paths import ROOT

REFERENCES = ["Small left pleural effusion.", "Cardiomegaly. No pneumothorax.", "Lungs are clear."]
CANDIDATES = ["Small right pleural effusion.", "Heart size is normal.", "Lungs are clear."]
RULES = "green_rules_errors"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    rows = zip("abb", REFERENCES, CANDIDATES, REFERENCES, strict=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("group", "reference", "candidate:x", "candidate:y"), *rows])
    return path


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("chunk", [1, 2, 500])
def test_each_system_gets_its_columns_and_each_pair_its_line(pairs, tmp_path, monkeypatch, chunk) -> None:
    monkeypatch.setattr(score_files, "CHUNK", chunk)
    scored = score_file([RULES, "rouge_l"], pairs, tmp_path / "out.csv", explain=True)
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found)[4:] == [f"{name}:{system}" for name in (RULES, "rouge_l") for system in "xy"]
    assert found[f"{RULES}:x"].tolist() == [0.25, 0.5, 0.0]
    assert found[f"{RULES}:y"].tolist() == [0.0] * 3
    lines = _lines(tmp_path / "out.csv.explained.jsonl")
    assert [(line["row"], line["candidate"]) for line in lines] == [
        (row, f"candidate:{system}") for row in (1, 2, 3) for system in "xy"
    ]
    (error,) = (one for one in lines[0]["reasons"] if one["kind"] == "error")
    assert error["says"] == "pleural effusion in right instead of left"
    assert error["candidate"]["sentence"] == "Small right pleural effusion"
    assert lines[0]["scores"] == {RULES: 0.25, "rouge_l": found["rouge_l:x"][0]}
    assert scored.means["all"][f"{RULES}:x"] == pytest.approx(0.25)
    assert scored.means["group a"][f"{RULES}:x"] == 0.25
    assert scored.means["group b"][f"{RULES}:x"] == 0.25
    about = json.loads((tmp_path / "out.csv.about.json").read_text())
    assert about["means"] == scored.means
    assert [about["metrics"][name]["explained"] for name in (RULES, "rouge_l")] == [True, False]


def test_explanations_go_on_where_they_stopped_and_can_be_had_without_texts(
    pairs, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(score_files, "CHUNK", 1)
    # What is told stands in the lexicon's words; none of these are.
    own_words = {"Tiny": "Small", "fluid": "effusion", "Foley": "Lungs", "enlarged": "Cardiomegaly"}
    text = pairs.read_text(encoding="utf-8")
    for word, usual in own_words.items():
        text = text.replace(usual, word)
    pairs.write_text(text, encoding="utf-8")
    score_file([RULES], pairs, tmp_path / "whole.csv", explain=True, texts=False)
    whole = (tmp_path / "whole.csv.explained.jsonl").read_bytes()
    assert not [word for word in own_words if word.lower().encode() in whole.lower()]
    assert b"pleural effusion in right" in whole

    def stop(done: int, rows: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            score_file([RULES], pairs, tmp_path / "out.csv", explain=True, texts=False, progress=stop)
    asked: list[int] = []
    kind = type(create(RULES))
    scores = kind._score_pairs
    monkeypatch.setattr(kind, "_score_pairs", lambda self, new: asked.append(len(new)) or scores(self, new))
    scored = score_file([RULES], pairs, tmp_path / "out.csv", explain=True, texts=False)
    assert scored.kept == 2
    assert asked == [1]  # of the third row both candidates are the same text
    assert (tmp_path / "out.csv.explained.jsonl").read_bytes() == whole


def test_tsv_keeps_tabs_and_quotes(tmp_path) -> None:
    rows = [["reference", "candidate", "note"], ["a b", "a b", 'tab\t"quoted"']]
    with (tmp_path / "in.tsv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter="\t").writerows(rows)
    score_file("bleu", tmp_path / "in.tsv", tmp_path / "out.tsv")
    with (tmp_path / "out.tsv").open(newline="", encoding="utf-8") as stream:
        assert [row[:3] for row in csv.reader(stream, delimiter="\t")] == rows


def test_without_pyarrow_parquet_is_refused_with_the_remedy(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "in.parquet").write_bytes(b"")
    with pytest.raises(MetricError, match=r"pyarrow is not installed. Run: pip install pyarrow"):
        score_file(RULES, tmp_path / "in.parquet", tmp_path / "out.csv")


def test_a_column_that_a_system_would_get_may_not_be_there(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("reference,candidate:x,bleu:x\na,b,1\n")
    with pytest.raises(MetricError, match="already a column 'bleu:x'"):
        score_file("bleu", tmp_path / "in.csv", tmp_path / "out.csv")


# --- models that are not there ---


@pytest.fixture
def nothing_available(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a hub, with nothing in its cache and no build."""
    monkeypatch.setattr(choosing, "hub_answers", lambda: False)
    monkeypatch.setattr(choosing, "is_available", lambda name: not standing_in.needs_torch(name))
    monkeypatch.setattr(standing_in, "BUILD", tmp_path / "build")


@pytest.mark.usefixtures("nothing_available")
def test_all_takes_what_can_score_and_says_what_cannot() -> None:
    chosen = choosing.choose({"all": {}, "bleu": {"order": "2"}})
    assert chosen.metrics["bleu"].settings() == {"order": 2}
    assert {"rouge_l", "meteor", "observations", "green_rules", RULES, "bertscore"} <= set(chosen.metrics)
    assert "packaged-minilm instead of distilbert-base-uncased" in chosen.stand_ins["bertscore"]
    assert set(chosen.left_out) == {"f1_radgraph", "green", "radgraph_combined", "radcliq", "ratescore"}
    assert "judged by rules" in choosing.choose("green").stand_ins["green"]
    assert "f1_radgraph.graph_model" in chosen.left_out["f1_radgraph"]
    with pytest.raises(MetricError, match=r"ratescore: its ner_model .* is not on this machine"):
        choosing.choose("ratescore")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (None, "metrics: None names no metrics. Give a name, names, or settings by name."),
        ([3], r"metrics: \[3\] names no metrics"),
        ({"rouge_1": None}, "metrics: {'rouge_1': None} names no metrics"),
        ({"all": {"stem": "no"}}, "all: settings for all metrics. Name each metric that they are for."),
        ({}, "no metric. Metrics: bertscore, "),
    ],
)
def test_what_names_no_metrics_is_refused(wanted, said: str) -> None:
    with pytest.raises(MetricError, match=f"^{said}"):
        choosing.choose(wanted)


@pytest.mark.usefixtures("nothing_available")
def test_models_of_a_build_stand_in(tmp_path) -> None:
    for profile in ("smoke", "open"):
        for cell in ("ratescore/ner_training/small", "summarization/graph_training/small"):
            (tmp_path / "build" / profile / "cells" / cell / "model").mkdir(parents=True)
    chosen = choosing.choose(["ratescore", "radcliq"])
    assert not chosen.left_out
    settings = chosen.metrics["ratescore"].settings()
    assert settings["ner_model"].endswith("open/cells/ratescore/ner_training/small/model")
    assert (settings["encoder"], settings["pooling"]) == ("packaged-minilm", "mean")
    assert chosen.metrics["radcliq"].settings()["layer"] is None
    assert "ner_model" in chosen.stand_ins["ratescore"]
    assert "the scores are not those of the published metric" in chosen.stand_ins["ratescore"]


@pytest.mark.usefixtures("nothing_available")
def test_without_torch_only_metrics_without_models_score(monkeypatch) -> None:
    monkeypatch.setattr(standing_in, "find_spec", lambda name: None)
    chosen = choosing.choose("all")
    assert "pip install '.[models]'" in chosen.left_out["bertscore"]
    assert "green_rules" in chosen.metrics


def test_a_metric_that_fails_does_not_cost_the_others_scores(pairs, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    wanted = {"bleu": {}, "bertscore": {"encoder": str(tmp_path / "empty")}}
    scored = score_file(wanted, pairs, tmp_path / "out.csv")
    assert list(scored.chosen.left_out) == ["bertscore"]
    assert list(pd.read_csv(tmp_path / "out.csv"))[4:] == ["bleu:x", "bleu:y"]
    assert (
        "bertscore.encoder"
        in json.loads((tmp_path / "out.csv.about.json").read_text())["left out"]["bertscore"]
    )
    with pytest.raises(MetricError, match=r"bertscore.encoder"):
        score_file({"bertscore": wanted["bertscore"]}, pairs, tmp_path / "alone.csv")
    assert not (tmp_path / "alone.csv").exists()


# --- from Python ---


def test_lists_give_arrays_and_tables_give_tables() -> None:
    found = radeval_lib.score(REFERENCES, CANDIDATES, metrics=[RULES, "rouge_l"])
    np.testing.assert_allclose(found[RULES], [0.25, 0.5, 0.0])
    frame = pd.DataFrame(
        {"reference": REFERENCES, "candidate": CANDIDATES, "candidate:y": REFERENCES}, index=["p", "q", "r"]
    )
    table = radeval_lib.score(frame, metrics=["rouge_l", RULES])
    assert list(table.columns) == [*frame.columns, "rouge_l", RULES, "rouge_l:y", f"{RULES}:y"]
    np.testing.assert_allclose(table[RULES], found[RULES])
    np.testing.assert_allclose(table[f"{RULES}:y"], 0)
    reasons = radeval_lib.explain(frame)
    errors = reasons[reasons["kind"] == "error"]
    assert list(errors.index) == ["p", "q"]
    assert errors.loc["p", "candidate_words"] == "pleural effusion"
    assert errors.loc["p", ["candidate_start", "candidate_end"]].tolist() == [12, 28]
    listed = radeval_lib.explain(REFERENCES, CANDIDATES)
    assert [len([one for one in pair["reasons"] if one["kind"] == "error"]) for pair in listed] == [1, 1, 0]


def test_empty_input_gives_empty_output() -> None:
    assert radeval_lib.score([], [])[RULES].shape == (0,)
    assert radeval_lib.explain([], []) == []
    frame = pd.DataFrame({"reference": [], "candidate": []})
    assert radeval_lib.score(frame).empty
    assert radeval_lib.explain(frame).empty


def test_bad_input_from_python_is_reported() -> None:
    frame = pd.DataFrame({"reference": REFERENCES, "candidate": CANDIDATES, RULES: 0})
    for call, said in (
        (lambda: radeval_lib.score(REFERENCES), "no candidates. Give texts for both"),
        (lambda: radeval_lib.score(frame.drop(columns="candidate")), "no column 'candidate'"),
        (lambda: radeval_lib.score(frame), f"already a column '{RULES}'"),
        (lambda: radeval_lib.score(frame.assign(candidate=1), metrics="bleu"), "item 0 is of type int"),
        (lambda: radeval_lib.explain(REFERENCES, CANDIDATES[:1]), "3 references but 1 candidates"),
    ):
        with pytest.raises(MetricError, match=said):
            call()


@pytest.mark.usefixtures("nothing_available")
def test_stand_ins_and_what_is_left_out_are_warnings() -> None:
    with pytest.warns(UserWarning, match="bleu: a text has fewer than 4 words") as caught:
        found = radeval_lib.score(REFERENCES, CANDIDATES, metrics=["bleu", "ratescore"])
    assert list(found) == ["bleu"]
    assert any("ratescore was left out" in str(one.message) for one in caught)


def test_scoring_by_rules_loads_nothing_heavy() -> None:
    code = (
        "import sys, radeval_lib\n"
        "assert not {'numpy', 'pandas', 'click'} & set(sys.modules), 'import radeval_lib'\n"
        f"radeval_lib.explain({REFERENCES}, {CANDIDATES})\n"
        "heavy = {'torch', 'transformers', 'pandas', 'scipy', 'sklearn', 'matplotlib', 'pydantic', 'nltk'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_gallery_of_pairs_is_judged_in_the_right_direction(data_root) -> None:
    """Eight pairs of RadEval's repository on which metrics diverge (by number: what the second text gets
    wrong, as the narrative beside it has it)."""
    path = data_root / "radeval_gallery.json"
    if not path.is_file():
        pytest.skip("no radeval_gallery.json in the data root")
    wrong = {
        1: set(),
        2: {("false report of a finding", "pleural effusion")},
        3: {("missing finding", "pleural effusion")},
        4: {("false report of a finding", "pneumothorax")},
        5: set(),
        6: {("false report of a finding", "mass"), ("missing finding", "consolidation")},
        7: {("misassessed severity of a finding", "pulmonary edema")},
        8: {("false report of a finding", "consolidation"), ("missing finding", "atelectasis")},
    }
    gallery = json.loads(path.read_text(encoding="utf-8"))
    told = api.explain([pair["ref"] for pair in gallery], [pair["hyp"] for pair in gallery])
    for pair, one in zip(gallery, told, strict=True):
        errors = {
            (reason["category"], reason["finding"]) for reason in one["reasons"] if reason["kind"] == "error"
        }
        assert errors == wrong[pair["id"]], pair["id"]
        assert (one["scores"][RULES] > 0) == bool(errors), pair["id"]


def test_more_types_than_parquet_has_become_text(tmp_path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"reference": "a", "candidate": "b", "n": 1 << 70}))
    assert table_files.survey(path, []).columns["n"] == {str}


def test_the_lines_of_the_readme_do_what_it_says(tmp_path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 5
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'green_rules_errors': array([0.25])" in done.stdout
    assert "pleural effusion in right instead of left" in done.stdout
    (tmp_path / "pairs.csv").write_text("reference,candidate\nSmall left effusion.,Small right effusion.\n")
    commands = re.findall(r"^radbook (score .*)$", readme, re.MULTILINE)
    assert len(commands) == 2
    with chdir(tmp_path):
        for command in commands:
            found = CliRunner().invoke(main, command.replace("--metric all", "--metric bleu").split())
            assert found.exit_code == 0, found.output
    assert (tmp_path / "report.html").is_file()


def test_contexts_beside_a_table_are_refused() -> None:
    table = pd.DataFrame({"reference": ["Clear."], "candidate": ["Clear."]})
    for function in (api.score, api.explain):
        with pytest.raises(MetricError, match="beside a table"):
            function(table, contexts=[None])


@pytest.mark.parametrize("function", [api.score, api.explain])
def test_a_warning_points_at_the_line_of_the_caller(function) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function([""], ["Clear."], metrics=["bleu", RULES])
    assert {Path(one.filename).name for one in caught} == {"test_api.py"}
