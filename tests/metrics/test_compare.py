"""``compare`` and ``radbook compare``: lists, tables and files, what is told, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from radeval_lib import compare, score
from radeval_lib.cli import main
from radeval_lib.metrics import MetricError, create
from radeval_lib.metrics.compare import compare_files
from radeval_lib.paths import REFERENCES as BIBLIOGRAPHY

RECORDED = Path(__file__).resolve().parents[1] / "reference" / "sacrebleu" / "package.json"
REFERENCES = ["Small left pleural effusion.", "Cardiomegaly. No pneumothorax.", "Lungs are clear."]
SYSTEMS = {
    "a": ["Small right pleural effusion.", "Heart size is normal.", "Lungs are clear."],
    "b": REFERENCES,
    "c": ["No pleural effusion.", "Cardiomegaly.", "Clear lungs."],
}
TABLE = pd.DataFrame({"reference": REFERENCES, **{f"candidate:{name}": SYSTEMS[name] for name in SYSTEMS}})


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_bleu_is_tested_as_sacrebleu_tests_it() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    found = compare(
        recorded["references"],
        recorded["systems"],
        metrics="bleu",
        seed=recorded["seed"],
        resamples=recorded["trials"],
    )
    systems, pairs = found.systems.set_index("system"), found.pairs.set_index(["first", "second"])
    for name, bleu in recorded["bleu"].items():
        assert 100 * systems["value"][name] == pytest.approx(bleu, rel=1e-6)
        # Drawn otherwise, and widened by a hundredth or two for 150 cases.
        half = 50 * (systems["high"][name] - systems["low"][name])
        assert half == pytest.approx(recorded["half_width"][name], rel=0.05)
    for name, p in recorded["p_against_a"].items():
        assert pairs["p"]["a", name] == p  # the same exchanges


def test_lists_tables_and_ready_scores_compare_alike(monkeypatch) -> None:
    kind, asked = type(create("rouge_l")), []
    scores = kind._score_pairs
    monkeypatch.setattr(kind, "_score_pairs", lambda self, new: asked.append(len(new)) or scores(self, new))
    by_list = compare(REFERENCES, SYSTEMS, metrics=["rouge_l", "green_rules_errors"])
    assert asked == [8]  # once each of nine pairs, of which two are the same
    by_table = compare(TABLE, metrics=["rouge_l", "green_rules_errors"])
    named = {name: f"candidate:{name}" for name in SYSTEMS}
    by_name = compare(TABLE, named, metrics=["rouge_l", "green_rules_errors"])
    for other in (by_table, by_name):
        pd.testing.assert_frame_equal(by_list.systems, other.systems)
        pd.testing.assert_frame_equal(by_list.pairs, other.pairs)
    asked.clear()
    ready = {name: score(REFERENCES, texts, metrics="rouge_l")["rouge_l"] for name, texts in SYSTEMS.items()}
    asked.clear()
    beside = TABLE[["reference"]].assign(**{f"rouge_l:{name}": ready[name] for name in ready})
    for given in (compare([], scores={"rouge_l": ready}), compare(beside, metrics="rouge_l")):
        pd.testing.assert_frame_equal(given.systems, by_list.systems.query("metric == 'rouge_l'"))
        assert given.metrics == {"rouge_l": {"value": "mean", "better": "higher", "range": [0.0, 1.0]}}
        assert "scores as given" in given.methods()
    assert not asked
    means = by_list.systems.set_index(["metric", "system"])["value"]
    assert means["rouge_l", "a"] == pytest.approx(ready["a"].mean())
    assert means["green_rules_errors", "b"] == 0


def test_what_is_reported_can_be_pasted_and_read_back() -> None:
    found = compare(TABLE, metrics=["bleu", "green_rules_errors"])
    methods, told = found.methods(), json.loads(json.dumps(found.as_dict(), allow_nan=False))
    cited = set(re.findall(r"\[@(\w+)\]", methods))
    assert cited == {
        "papineni2002bleu", "ostmeier2024green", "riezler2005pitfalls", "holm1979", "hesterberg2015bootstrap",
    }  # fmt: skip
    assert set(re.findall(r"@\w+\{(\w+),", found.references())) == cited
    assert "3 systems (a, b, c) were scored on the same 3 references" in methods
    assert "all 8 ways of exchanging their outputs (exact)" in methods
    assert "corrected over all 6 comparisons" in methods
    assert f"numpy {np.__version__}" in methods
    assert "bleu (corpus)" in found.tables()
    assert "green_rules_errors (mean, lower is better)" in found.clusters()
    assert [row["system"] for row in told["systems"]] == ["a", "b", "c"] * 2
    assert told["pairs"][0]["p"] == found.pairs["p"][0]
    assert told["metrics"]["bleu"]["signature"] == str(create("bleu").signature())
    assert f"signature `{create('bleu').signature()}`" in methods
    assert compare(TABLE, metrics="bleu").pairs.equals(compare(TABLE, metrics="bleu").pairs)
    two = compare(TABLE.drop(columns="candidate:c"))  # one comparison: nothing to correct for
    assert "holm1979" not in two.methods()
    assert list(two.metrics) == ["green_rules_errors"]
    many = compare([], scores={"m": {"a": np.arange(20.0), "b": np.ones(20)}}, resamples=500)
    assert "500 random exchanges" in many.methods()


def test_every_metric_is_in_the_bibliography() -> None:
    from radeval_lib.metrics import get, names

    entries = BIBLIOGRAPHY.read_text(encoding="utf-8")
    assert not [name for name in names() if get(name).citation and f"{{{get(name).citation}," not in entries]


def test_a_system_whose_scores_hardly_vary_is_reported() -> None:
    varied, flat = np.arange(40.0), np.r_[np.ones(31), np.zeros(9)]
    found = compare([], scores={"m": {"a": varied, "b": flat, "c": np.r_[flat, 0.5][1:]}}, resamples=100)
    assert found.cautions == ["m: 31 of 40 cases of b have the same score; the interval may be too narrow"]
    assert f"Caution: {found.cautions[0]}." in str(found)
    assert not compare([], scores={"m": {"a": [1, 2, 3], "b": [2, 1, 3]}}).cautions


def test_clusters_part_what_tests_tell_apart() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 60))
    systems = {name: level + 0.5 * of for name, level, of in zip("abcd", (5, 5, 3, 1), noise, strict=True)}
    found = compare([], scores={"m": systems}, resamples=500)
    assert found.systems.set_index("system")["cluster"].to_dict() == {"a": 1, "b": 1, "c": 2, "d": 3}
    first, second = found.verdicts
    better = max("ab", key=lambda name: systems[name].mean())
    other = "ab".replace(better, "")
    assert first.startswith(
        f"m: {other} scores higher than c ("
    )  # the name is no metric's: no word on better
    assert second.startswith("m: c scores higher than d (")
    lines = found.clusters().splitlines()
    assert [line.split()[3] for line in lines[1:]] == [better, other, "c", "d"]
    # A direction turns the order round, and Holm's correction counts the pairs of every metric.
    turned = compare([], scores={"green_rules_errors": systems}, resamples=500)
    assert turned.systems.set_index("system")["cluster"].to_dict() == {"a": 3, "b": 3, "c": 2, "d": 1}
    assert turned.verdicts[0].startswith("green_rules_errors: d is better than c (")
    equal = compare([], scores={"m": {"a": noise[0], "b": noise[0][::-1]}}, resamples=500)
    assert equal.verdicts == ["m: no difference between systems is established after correction."]


def test_pairs_are_printed_where_they_are_asked_for() -> None:
    found = compare(TABLE, metrics=["bleu", "green_rules_errors"])
    assert found.tables() not in str(found)
    assert found.tables() in found.text(every=True)


def test_rows_of_a_case_are_kept_together() -> None:
    rng = np.random.default_rng(0)
    of_cases = {name: rng.normal(size=20) for name in "ab"}
    rows = {name: np.repeat(values, 5) for name, values in of_cases.items()}
    cases = [f"patient {number}" for number in np.repeat(np.arange(20), 5)]
    whole = compare([], scores={"m": of_cases}, resamples=500)
    found = compare([], scores={"m": rows}, cases=cases, resamples=500)
    numbers = ["value", "low", "high", "cases"]
    pd.testing.assert_frame_equal(found.systems[numbers], whole.systems[numbers])
    pd.testing.assert_series_equal(found.pairs["p"], whole.pairs["p"])
    assert "on the same 100 references of 20 cases, whose rows were kept together: " in found.methods()
    apart = compare([], scores={"m": rows}, resamples=500)
    assert (apart.systems["high"] - apart.systems["low"] < found.systems["high"] - found.systems["low"]).all()
    for column in ("case", "patient"):
        frame = pd.DataFrame({f"m:{name}": values for name, values in rows.items()}).assign(**{column: cases})
        by_column = compare(frame, metrics="m", resamples=500)
        pd.testing.assert_frame_equal(by_column.systems, found.systems)
    for wrong, message in (
        (cases[1:], "99 cases for 100 rows"),
        ([*cases[:-1], " "], "cases, row 100: no case"),
    ):
        with pytest.raises(MetricError, match=message):
            compare([], scores={"m": rows}, cases=wrong)


def test_an_interval_without_width_at_an_end_is_wilsons() -> None:
    found = compare([], scores={"rouge_l": {"a": np.ones(50), "b": np.zeros(50)}}, resamples=100)
    bounds = found.systems.set_index("system")
    # statsmodels.stats.proportion.proportion_confint(0, 50, method="wilson")
    assert bounds.loc["b", ["low", "high"]].tolist() == pytest.approx([0, 0.0713476])
    assert bounds.loc["a", ["low", "high"]].tolist() == pytest.approx([1 - 0.0713476, 1])
    all_alike = "rouge_l: all 50 cases of a have the same score"
    assert found.cautions[0] == f"{all_alike}: at most 0.06 of all cases score otherwise (95 %, 3/50)"
    # Cases with several rows that all score 0 are as much alike.
    scores, cases = {"mine": {"a": np.ones(75), "b": np.zeros(75)}}, [*range(50), *range(25)]
    of_cases = compare([], scores=scores, cases=cases, resamples=100)
    assert [one for one in of_cases.cautions if "all 50 cases of b have the same score" in one]
    other = compare([], scores={"mine": {"a": np.ones(50), "b": np.zeros(50)}}, resamples=100)
    assert other.systems["low"].tolist() == [1, 0]  # its scale is not known


def _breaks(self, pairs) -> None:
    raise MetricError("out of order", self.name)


def test_a_metric_that_fails_is_left_out_and_reported(monkeypatch) -> None:
    monkeypatch.setattr(type(create("rouge_1")), "_score_pairs", _breaks)
    found = compare(TABLE, metrics=["rouge_1", "rouge_l"])
    assert list(found.metrics) == ["rouge_l"]
    assert found.left_out == {"rouge_1": "rouge_1: out of order"}
    assert "Left out: rouge_1: " in str(found)
    with pytest.raises(MetricError, match="out of order"):
        compare(TABLE, metrics="rouge_1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"references": TABLE[["reference"]]}, "systems: 0 system(s) to compare. Give at least two"),
        ({"references": REFERENCES, "systems": {"a": REFERENCES}}, "systems: 1 system(s) to compare"),
        ({"references": REFERENCES[:1], "systems": {"a": ["x"], "b": ["y"]}}, "references: 1 case(s)"),
        (
            {"references": REFERENCES, "systems": {**SYSTEMS, "d": ["x"]}},
            "system 'd': 3 references but 1 candidates",
        ),
        (
            {"references": REFERENCES, "systems": {**SYSTEMS, "d": ["x", None, "y"]}},
            "system 'd': candidates: item 1 is of type NoneType",
        ),
        (
            {"references": TABLE, "systems": {"a": "candidate:a", "z": "z"}},
            "systems: no column 'z'. Columns: ",
        ),
        ({"references": TABLE.drop(columns="reference")}, "references: no column 'reference'"),
        ({"references": TABLE, "metrics": "rouge_9"}, "unknown metric 'rouge_9'"),
        (
            {"references": TABLE, "resamples": 99},
            "resamples: resamples is 99. Give a whole number, 100 or more.",
        ),
        ({"references": TABLE, "seed": -1}, "seed: seed is -1. Give a whole number, 0 or more."),
        ({"references": TABLE, "resamples": 100.5}, "resamples: resamples is 100.5. Give a whole number"),
        ({"references": REFERENCES, "systems": {"a": REFERENCES, "b\x1b[1m": REFERENCES}}, "is not a name"),
        (
            {"references": [], "scores": {"m": {"a": [1, 2], "b": [1, 2, 3]}}},
            "m: 3 scores of 'b', but 2 of 'a'",
        ),
        (
            {"references": REFERENCES, "scores": {"m": {"a": [1, 2], "b": [1, 2]}}},
            "m: 2 scores of 'a', but 3 references",
        ),
        (
            {"references": [], "cases": "xy", "scores": {"m": {"a": [1, 2], "b": [1, 2, 3]}}},
            "m: 3 scores of 'b', but 2 of 'a'",
        ),
        (
            {"references": [], "scores": {"m": {"a": [1, 2], "b": [1, "x"]}}},
            "m:b, row 2: the score is missing",
        ),
        ({"references": [], "scores": {"m": {"a": [1, 2], "b": [[1, 2]]}}}, "m:b: shape (1, 2)"),
        (
            {"references": TABLE.assign(**{"rouge_l:a": 1.0}), "metrics": "rouge_l"},
            "rouge_l: there are scores of a alone. Give those of a, b, c.",
        ),
        (
            {"references": TABLE.assign(**{"rouge_l:d": 1.0}), "metrics": "rouge_l"},
            "rouge_l: there are scores of d alone. Give those of a, b, c, d.",
        ),
        (
            {"references": REFERENCES, "systems": SYSTEMS, "scores": {"m": {"a": [1, 2, 3]}}},
            "m: there are scores of a alone. Give those of a, b, c.",
        ),
        ({"references": TABLE, "systems": ["candidate:a", "candidate:b"]}, "systems: no candidates by name"),
        ({"references": TABLE, "systems": SYSTEMS}, "systems: no column \"['Small right"),
        ({"references": REFERENCES, "systems": {1: REFERENCES, 2: REFERENCES}}, "systems: 1 is not a name"),
        ({"references": [], "scores": {"m": [[1, 2], [2, 3]]}}, "scores: no scores by name"),
        ({"references": [], "scores": [[1, 2], [2, 3]]}, "scores: no scores by name"),
        (
            {"references": pd.concat([TABLE, TABLE[["reference"]]], axis=1)},
            "references: two columns are called 'reference'",
        ),
        (
            {"references": [], "scores": {"m": {"a": [1, 2], "b": [1, 2j]}}},
            "m:b, row 2: the score is missing, or no finite number",
        ),
        (
            {"references": REFERENCES, "systems": SYSTEMS, "cases": [[1], [2], [3]], "metrics": "rouge_l"},
            "cases: a case is neither a text nor a number",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, message) -> None:
    with pytest.raises(MetricError) as caught:
        compare(**arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_takes_columns_or_files(tmp_path) -> None:
    whole, alone, output = tmp_path / "whole.csv", tmp_path / "references.jsonl", tmp_path / "out.json"
    TABLE.to_csv(whole, index=False)
    TABLE[["reference"]].to_json(alone, orient="records", lines=True)
    options: list[object] = []
    for name, texts in SYSTEMS.items():
        pd.DataFrame({"reference": REFERENCES, "candidate": texts}).to_csv(tmp_path / f"{name}.tsv", sep="\t")
        options += ["--candidates", f"{name}={tmp_path / name}.tsv"]
    named = [part for name in SYSTEMS for part in ("--system", f"{name}=candidate:{name}")]
    expected = compare(TABLE, metrics={"rouge_l": {"stem": False}}, resamples=500, seed=3)
    for given in (["--input", whole], ["--input", whole, *named], ["--input", alone, *options]):
        settings = ["--metric", "rouge_l", "--set", "rouge_l.stem=no", "--resamples", 500, "--seed", 3]
        done = _run(*given, *settings, "--output", output)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == f"{expected}\n"
        assert json.loads(output.read_text(encoding="utf-8")) == expected.as_dict()


def test_rows_of_files_are_matched_by_what_their_ids_say(tmp_path) -> None:
    first = tmp_path / "references.jsonl"
    first.write_text('{"id": 1, "reference": "a"}\n{"id": null, "reference": "b"}\n', encoding="utf-8")
    same, other = tmp_path / "same.jsonl", tmp_path / "other.csv"
    same.write_text('{"id": "1", "candidate": "a"}\n{"id": null, "candidate": "b"}\n', encoding="utf-8")
    other.write_text("id,candidate\n2,a\n1,b\n", encoding="utf-8")
    kept = {"a": same, "b": same}
    assert compare_files(first, candidates=kept, metrics="rouge_l", resamples=100).rows == 2
    with pytest.raises(MetricError, match=r"other.csv, row 1: 'id' is not that of references.jsonl"):
        compare_files(first, candidates={"a": same, "b": other}, metrics="rouge_l")


def test_a_system_may_have_scores_alone(tmp_path) -> None:
    whole, alone = tmp_path / "whole.csv", tmp_path / "scores.csv"
    scores = {"own:a": [1, 2, 3], "own:c": [3, 2, 1]}
    TABLE[["reference", "candidate:a", "candidate:c"]].assign(**scores).to_csv(whole, index=False)
    pd.DataFrame({"own": [5, 6, 7]}).to_csv(alone, index=False)
    for systems in (None, {"a": "candidate:a", "c": "candidate:c"}):
        found = compare_files(whole, systems, candidates={"b": alone}, metrics="own", resamples=100)
        assert found.systems.set_index("system")["value"].to_dict() == {"a": 2, "b": 6, "c": 2}
        with pytest.raises(MetricError, match="no column 'candidate:b'"):
            compare_files(whole, systems, candidates={"b": alone}, metrics=["own", "rouge_l"], resamples=100)


def test_a_system_is_named_once_in_all_files(tmp_path) -> None:
    whole, other = tmp_path / "whole.csv", tmp_path / "other.csv"
    TABLE.to_csv(whole, index=False)
    pd.DataFrame({"candidate": REFERENCES}).to_csv(other, index=False)
    named = ["--system", "x=candidate:a", "--system", "b=candidate:b", "--candidates", f"x={other}"]
    done = _run("--input", whole, "--metric", "rouge_l", *named)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "candidates: two systems are called 'x'. Rename one." in done.stderr
    pd.DataFrame({"rouge_l": [1, 2, 3]}).to_csv(other, index=False)
    with pytest.raises(MetricError, match="there is already a column 'candidate:a'"):
        compare_files(whole, candidates={"a": other}, metrics="rouge_l")


def test_the_command_takes_scores_of_an_earlier_run(tmp_path) -> None:
    scored = score(TABLE, metrics="rouge_l")
    scored.to_csv(tmp_path / "scored.csv", index=False)
    done = _run("--input", tmp_path / "scored.csv", "--metric", "rouge_l")
    assert done.exit_code == 0, done.stderr
    assert "rouge_l (scores as given)" in done.stdout


def test_the_command_refuses_in_one_line(tmp_path, monkeypatch) -> None:
    whole, other = tmp_path / "whole.csv", tmp_path / "other.csv"
    TABLE.to_csv(whole, index=False)
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"candidate": "x"}\n{"candidate": null}\n', encoding="utf-8")
    pd.DataFrame({"reference": REFERENCES[::-1], "candidate": REFERENCES}).to_csv(other, index=False)
    for options, message in (
        (["--system", "a"], "--system: 'a' names no column. Write NAME=COLUMN."),
        (["--candidates", f"d={other}"], "other.csv, row 1: 'reference' is not that of whole.csv. "),
        (["--candidates", f"d={tmp_path / 'none.csv'}"], "none.csv: no such file"),
        (["--candidates", f"a={whole}"], "whole.csv: no column 'candidate'. Columns: "),
        (["--resamples", "5"], "resamples: resamples is 5. "),
        (["--output", str(whole)], "whole.csv: input and output are one file. "),
        (["--output", str(tmp_path / "nowhere" / "out.json")], "out.json: no folder 'nowhere' to write to"),
        (["--candidates", f"d={torn}"], "torn.jsonl, line 2: 'candidate' is not a text. Columns found: "),
    ):
        done = _run("--input", whole, "--metric", "rouge_l", *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("radbook: ")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert pd.read_csv(whole).equals(TABLE)
    monkeypatch.setattr(type(create("rouge_1")), "_score_pairs", _breaks)
    partly = _run("--input", whole, "--metric", "rouge_1", "--metric", "rouge_l")
    assert partly.exit_code == 2
    assert "rouge_l (mean)" in partly.stdout
