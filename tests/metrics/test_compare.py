"""``compare`` and ``radbook compare``: lists, tables and files, what is reported, and what is refused."""

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
from radeval_lib.metrics.compare import FLOOR, compare_files

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


def _given(metric: str, **scores: object) -> pd.DataFrame:
    """Return a table of scores that are there already."""
    return pd.DataFrame({f"{metric}:{name}": values for name, values in scores.items()})


def test_bleu_is_tested_as_sacrebleu_tests_it() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    compared = compare(
        recorded["references"],
        recorded["systems"],
        metrics="bleu",
        seed=recorded["seed"],
        resamples=recorded["trials"],
    )
    systems, pairs = compared.systems.set_index("system"), compared.pairs.set_index(["first", "second"])
    for name, bleu in recorded["bleu"].items():
        assert 100 * systems["value"][name] == pytest.approx(bleu, rel=1e-6)
        # Drawn otherwise, and widened by a hundredth or two for 150 cases.
        half = 50 * (systems["high"][name] - systems["low"][name])
        assert half == pytest.approx(recorded["half_width"][name], rel=0.05)
    for name, p in recorded["p_against_a"].items():
        assert pairs["p"]["a", name] == p  # the same exchanges


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lists_tables_and_ready_scores_compare_alike() -> None:
    by_list = compare(REFERENCES, SYSTEMS, metrics=["rouge_l", "green_rules_errors"])
    by_table = compare(TABLE, metrics=["rouge_l", "green_rules_errors"])
    named = {name: f"candidate:{name}" for name in SYSTEMS}
    by_name = compare(TABLE, named, metrics=["rouge_l", "green_rules_errors"])
    for other in (by_table, by_name):
        pd.testing.assert_frame_equal(by_list.systems, other.systems)
        pd.testing.assert_frame_equal(by_list.pairs, other.pairs)
    scored = score(TABLE, metrics="rouge_l")
    ready = compare(scored.filter(regex="^(reference|rouge_l:)"), metrics="rouge_l")
    pd.testing.assert_frame_equal(ready.systems, by_list.systems.query("metric == 'rouge_l'"))
    assert ready.metrics == {"rouge_l": {"value": "mean", "better": "higher", "range": [0.0, 1.0]}}
    means = by_list.systems.set_index(["metric", "system"])["value"]
    assert means["rouge_l", "a"] == pytest.approx(scored["rouge_l:a"].mean())
    assert means["green_rules_errors", "b"] == 0


def test_one_system_gets_its_mean_and_interval() -> None:
    compared = compare(REFERENCES, {"c": SYSTEMS["c"]}, metrics="rouge_l")
    row = compare(TABLE, metrics="rouge_l").systems.set_index("system").loc["c"]
    ends = ["value", "low", "high"]
    assert compared.systems.loc[0, ends].tolist() == row[ends].tolist()
    assert not len(compared.pairs)
    assert "holm1979" not in compared.methods()


def test_a_floor_stands_beside_the_systems_and_is_not_tested() -> None:
    plain = compare(TABLE, metrics=["bleu", "rouge_l"])
    compared = compare(TABLE, metrics=["bleu", "rouge_l"], floor=True)
    without = compared.systems[~compared.systems["system"].isin(FLOOR)].reset_index(drop=True)
    pd.testing.assert_frame_equal(without, plain.systems)
    pd.testing.assert_frame_equal(compared.pairs, plain.pairs)
    assert compared.cautions == plain.cautions
    shuffled = create("rouge_l").score(REFERENCES, REFERENCES[1:] + REFERENCES[:1]).values.mean()
    floor = compared.systems.query("metric == 'rouge_l'").set_index("system")
    assert floor.loc[FLOOR[1], "value"] == pytest.approx(shuffled)
    assert floor.loc[list(FLOOR), "cluster"].isna().all()


def test_the_two_bleus_have_two_signatures() -> None:
    compared = compare(TABLE, metrics="bleu")
    signatures = {compared.metrics["bleu"]["signature"], create("bleu").signature()}
    assert {"|variant:corpus-coco|" in signature for signature in signatures} == {True, False}
    assert compared.metrics["bleu"]["remark"] in str(compared)


def test_what_is_reported_can_be_pasted_and_read_back(tmp_path) -> None:
    compared = compare(TABLE, metrics=["bleu", "green_rules_errors"])
    methods, read = compared.methods(), json.loads(json.dumps(compared.as_dict(), allow_nan=False))
    cited = set(re.findall(r"\[@(\w+)\]", methods))
    assert {"papineni2002bleu", "ostmeier2024green", "riezler2005pitfalls", "holm1979"} < cited
    assert set(re.findall(r"@\w+\{(\w+),", compared.references())) == cited
    assert compared.metrics["bleu"]["signature"] in methods
    assert [row["system"] for row in read["systems"]] == ["a", "b", "c"] * 2
    assert read["pairs"][0]["p"] == compared.pairs["p"][0]
    assert compare(TABLE, metrics="bleu").pairs.equals(compare(TABLE, metrics="bleu").pairs)
    assert compared._repr_html_().count("<table") == 2
    lines = str(compared).splitlines()
    assert sum(line.startswith(("bleu:", "green_rules_errors:")) for line in lines) == 2
    TABLE.to_csv(tmp_path / "in.csv")
    done = _run("--input", tmp_path / "in.csv", "--metric", "bleu", "--methods", tmp_path / "methods.txt")
    assert done.exit_code == 0, done.stderr
    assert "@article{holm1979" in (tmp_path / "methods.txt").read_text()


def test_clusters_part_what_tests_tell_apart() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 60))
    systems = {name: level + 0.5 * of for name, level, of in zip("abcd", (5, 5, 3, 1), noise, strict=True)}
    compared = compare(_given("m", **systems), metrics="m", resamples=500)
    assert compared.systems.set_index("system")["cluster"].to_dict() == {"a": 1, "b": 1, "c": 2, "d": 3}
    best = max("ab", key=lambda name: systems[name].mean())
    order = [best, "ab".replace(best, ""), "c", "d"]
    assert compared.table()["system"].tolist() == order
    # A direction turns the order round.
    turned = compare(_given("green_rules_errors", **systems), metrics="green_rules_errors", resamples=500)
    assert turned.systems.set_index("system")["cluster"].to_dict() == {"a": 3, "b": 3, "c": 2, "d": 1}
    assert turned.verdicts["green_rules_errors"].startswith("green_rules_errors: d is better than c (")


def test_rows_of_a_case_are_kept_together() -> None:
    rng = np.random.default_rng(0)
    of_cases = {name: rng.normal(size=20) for name in "ab"}
    rows = {name: np.repeat(values, 5) for name, values in of_cases.items()}
    cases = [f"patient {number}" for number in np.repeat(np.arange(20), 5)]
    whole = compare(_given("m", **of_cases), metrics="m", resamples=500)
    for column in ("case", "patient"):
        compared = compare(_given("m", **rows).assign(**{column: cases}), metrics="m", resamples=500)
        numbers = ["value", "low", "high", "cases"]
        pd.testing.assert_frame_equal(compared.systems[numbers], whole.systems[numbers])
        pd.testing.assert_series_equal(compared.pairs["p"], whole.pairs["p"])
    with pytest.raises(MetricError):
        compare(_given("m", **rows).assign(case=[*cases[:-1], " "]), metrics="m")


def test_an_interval_without_width_at_an_end_is_wilsons() -> None:
    compared = compare(_given("rouge_l", a=np.ones(50), b=np.zeros(50)), metrics="rouge_l", resamples=100)
    bounds = compared.systems.set_index("system")
    # statsmodels.stats.proportion.proportion_confint(0, 50, method="wilson")
    assert bounds.loc["b", ["low", "high"]].tolist() == pytest.approx([0, 0.0713476])
    assert bounds.loc["a", ["low", "high"]].tolist() == pytest.approx([1 - 0.0713476, 1])
    assert "at most 0.06" in compared.cautions[0]  # 3/50
    other = compare(_given("mine", a=np.ones(50), b=np.zeros(50)), metrics="mine", resamples=100)
    assert other.systems["low"].tolist() == [1, 0]  # its scale is not known
    flat = np.r_[np.ones(31), np.zeros(9)]
    hardly = compare(_given("m", a=np.arange(40.0), b=flat), metrics="m", resamples=100)
    assert [caution.partition(" cases of b")[0] for caution in hardly.cautions] == ["m: 31 of 40"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"references": TABLE[["reference"]]},
        {"references": REFERENCES[:1], "systems": {"a": ["x"], "b": ["y"]}},
        {"references": REFERENCES, "systems": {**SYSTEMS, "d": ["x"]}},
        {"references": REFERENCES, "systems": {**SYSTEMS, "d": ["x", None, "y"]}},
        {"references": TABLE, "systems": {"a": "candidate:a", "z": "z"}},
        {"references": TABLE.drop(columns="reference")},
        {"references": TABLE, "metrics": "rouge_9"},
        {"references": TABLE, "resamples": 99},
        {"references": TABLE, "seed": -1},
        {"references": TABLE, "seed": "x"},
        {"references": TABLE, "systems": {"a": REFERENCES}},
        {"references": REFERENCES, "systems": {"a": None}},
        {"references": REFERENCES, "systems": {"a": REFERENCES[0]}},
        {"references": REFERENCES, "systems": {"a": REFERENCES, "b\x1b[1m": REFERENCES}},
        {"references": _given("m", a=[1, 2], b=[1, "x"]), "metrics": "m"},
        {"references": TABLE.assign(**{"rouge_l:a": 1.0}), "metrics": "rouge_l"},
        {"references": pd.concat([TABLE, TABLE[["reference"]]], axis=1)},
    ],
)
def test_bad_input_gets_one_clear_error(arguments) -> None:
    with pytest.raises(MetricError):
        compare(**arguments)


# --- files ---


def test_the_command_takes_columns_or_files(tmp_path) -> None:
    whole, alone, output = tmp_path / "whole.csv", tmp_path / "references.jsonl", tmp_path / "out.json"
    TABLE.to_csv(whole, index=False)
    TABLE[["reference"]].to_json(alone, orient="records", lines=True)
    options: list[object] = []
    for name, texts in SYSTEMS.items():
        frame = pd.DataFrame({"reference": REFERENCES, "candidate": texts})
        frame.to_csv(tmp_path / f"{name}.tsv", sep="\t", index=False)
        options += ["--candidates", f"{name}={tmp_path / name}.tsv"]
    named = [part for name in SYSTEMS for part in ("--system", f"{name}=candidate:{name}")]
    expected = compare(TABLE, metrics={"rouge_l": {"stem": False}})
    for given in (["--input", whole], ["--input", whole, *named], ["--input", alone, *options]):
        settings = ["--metric", "rouge_l", "--set", "rouge_l.stem=no"]
        done = _run(*given, *settings, "--output", output)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == f"{expected}\n"
        assert json.loads(output.read_text(encoding="utf-8")) == expected.as_dict()


def _files(folder: Path, ours: str, other: str) -> tuple[Path, dict[str, Path]]:
    (folder / "own.csv").write_text(ours, encoding="utf-8")
    (folder / "other.csv").write_text(other, encoding="utf-8")
    return folder / "own.csv", {"s": folder / "other.csv"}


@pytest.mark.parametrize("column", ["id", "ID", "study"])
def test_rows_of_files_are_joined_by_their_ids_whatever_the_column_is_called(tmp_path, column) -> None:
    ours, files = _files(
        tmp_path, "id,reference\n1,a b\n2,c d\n3,e f\n", f"candidate,{column}\ne f,3\na b,1\nc d,2\n"
    )
    compared = compare_files(ours, candidates=files, metrics="rouge_l")
    assert compared.systems["value"].tolist() == [1.0]


def test_files_with_scores_of_the_default_metric_alone_are_compared(tmp_path) -> None:
    ours, files = _files(tmp_path, "reference\na b\nc d\n", "green_rules_errors\n1\n2\n")
    assert compare_files(ours, candidates=files).systems["value"].tolist() == [1.5]


def test_rows_that_are_joined_by_position_although_a_file_has_ids_are_reported(tmp_path) -> None:
    ours, files = _files(tmp_path, "id,reference\n1,a b\n2,c d\n", "candidate\na b\nc d\n")
    compared = compare_files(ours, candidates=files, metrics="rouge_l")
    assert "by position" in compared.cautions[0]


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        ("id,reference\n1,a\n2,b\n", "id,candidate\n1,a\n3,b\n"),  # other ids
        ("id,reference\n1,a\n1,b\n", "id,candidate\n1,a\n1,b\n"),  # an id twice
        ("study,reference\n1,a\n2,b\n", "study,candidate\n2,b\n1,a\n"),  # another order of a common column
        ("reference\na\nb\n", "reference,candidate\nb,b\na,a\n"),
        ("reference\na\nb\n", "candidate\na\n"),
        ("reference\na\nb\n", "edited\na\nb\n"),
    ],
)
def test_files_whose_rows_do_not_match_are_refused(tmp_path, ours, other) -> None:
    path, files = _files(tmp_path, ours, other)
    with pytest.raises(MetricError):
        compare_files(path, candidates=files, metrics="rouge_l")


def test_a_column_of_another_name_gets_a_hint(tmp_path) -> None:
    TABLE.rename(columns={"candidate:a": "edited"})[["reference", "edited"]].to_csv(tmp_path / "in.csv")
    done = _run("--input", tmp_path / "in.csv", "--metric", "rouge_l")
    assert done.exit_code == 2
    assert "--system NAME=COLUMN" in done.stderr
    assert "edited" in done.stderr
    named = _run("--input", tmp_path / "in.csv", "--metric", "rouge_l", "--system", "mine=edited")
    assert named.exit_code == 0, named.stderr


def test_a_system_may_have_scores_alone(tmp_path) -> None:
    whole, alone = tmp_path / "whole.csv", tmp_path / "scores.csv"
    scores = {"own:a": [1, 2, 3], "own:c": [3, 2, 1]}
    TABLE[["reference", "candidate:a", "candidate:c"]].assign(**scores).to_csv(whole, index=False)
    pd.DataFrame({"own": [5, 6, 7]}).to_csv(alone, index=False)
    for systems in (None, {"a": "candidate:a", "c": "candidate:c"}):
        compared = compare_files(whole, systems, candidates={"b": alone}, metrics="own")
        assert compared.systems.set_index("system")["value"].to_dict() == {"a": 2, "b": 6, "c": 2}
        with pytest.raises(MetricError):
            compare_files(whole, systems, candidates={"b": alone}, metrics=["own", "rouge_l"])


def test_the_command_refuses_in_one_line(tmp_path) -> None:
    whole, other = tmp_path / "whole.csv", tmp_path / "other.csv"
    TABLE.to_csv(whole, index=False)
    pd.DataFrame({"candidate": REFERENCES}).to_csv(other, index=False)
    for options in (
        ["--system", "a"],
        ["--system", "x=candidate:a", "--candidates", f"x={other}"],
        ["--candidates", f"d={tmp_path / 'none.csv'}"],
        ["--candidates", f"a={whole}"],
        ["--output", str(whole)],
        ["--methods", str(tmp_path / "nowhere" / "methods.txt")],
    ):
        done = _run("--input", whole, "--metric", "rouge_l", *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("radbook: ")
        assert done.stderr.count("\n") == 1
    assert pd.read_csv(whole).equals(TABLE)
