"""Context of a patient reaches the rule-based judge."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import radeval_lib
from radeval_lib import Context, compare
from radeval_lib.metrics import MetricError, create, score_file
from radeval_lib.metrics.scoring import parse_context
from radeval_lib.rules.judge import judge_pair

RULES = "green_rules_errors"
# A healed rib fracture is benign, but in a child asks whether it was inflicted.
RIB, NONE = "Healed rib fracture.", "No rib fracture."


@pytest.mark.parametrize(
    ("age", "indication", "expected"),
    [
        ("7", "fall", Context(7, "fall")),
        ("045Y", "", Context(45)),
        ("6 months", "", Context(0.5)),
        ("018M", "___", Context(1.5)),
        ("___", "XXXX", None),
        (float("nan"), "Cough", Context(None, "Cough")),
        ("90+", "", Context(90)),
        ("> 89", "", Context(89)),
        (pd.NA, "n/a", None),
    ],
)
def test_context_of_a_row(age, indication, expected) -> None:
    assert parse_context({"age": age, "indication": indication}, "row 1") == expected


@pytest.mark.parametrize("age", ["old", "131", "-3", "60-70"])
def test_an_age_that_is_none_is_named_with_its_row(age, tmp_path) -> None:
    source = tmp_path / "in.csv"
    source.write_text(f"reference,candidate,age\na,b,5\na,b,{age}\n", encoding="utf-8")
    with pytest.raises(MetricError) as caught:
        score_file(RULES, source, tmp_path / "out.csv")
    assert caught.value.where == "in.csv, row 2, column 'age'"
    assert score_file("rouge_l", source, tmp_path / "out.csv").rows == 2  # which reads no age


def test_age_and_indication_reach_the_judge_everywhere(tmp_path) -> None:
    contexts = [Context(7), None, Context(80), Context(None, "fall")]
    weights = [judge_pair(RIB, NONE, context).weighted_errors for context in contexts]
    assert weights[0] > weights[1] > 0
    frame = pd.DataFrame(
        {
            "reference": [RIB] * 4,
            "candidate:a": [NONE] * 4,
            "candidate:b": [RIB] * 4,
            "age": ["7", "", "80", ""],
            "indication": ["", "", "", "fall"],
        }
    )
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    frame.to_csv(source, index=False)
    assert radeval_lib.score(frame)[f"{RULES}:a"].tolist() == weights
    explained = radeval_lib.explain(frame)
    assert explained[explained["kind"] == "error"]["weight"].tolist() == weights
    score_file([RULES, "green_rules"], source, target, explain=True)
    assert pd.read_csv(target)[f"{RULES}:a"].tolist() == weights
    lines = [json.loads(line) for line in (tmp_path / "out.csv.explained.jsonl").read_text().splitlines()]
    assert [line["scores"][RULES] for line in lines[::2]] == weights
    compared = compare(frame, metrics=RULES, resamples=100)
    assert compared.systems["value"].tolist() == [pytest.approx(np.mean(weights)), 0]
    assert "|context:given|" in compared.metrics[RULES]["signature"]
    bare = frame.drop(columns=["age", "indication"])
    assert "|context:none|" in compare(bare, metrics=RULES, resamples=100).methods()


def test_one_pair_of_two_patients_is_two_pairs() -> None:
    child, unknown = Context(7), None
    by_rules = create(RULES).score([RIB] * 3, [NONE] * 3, [child, unknown, child]).values
    assert by_rules[0] == by_rules[2] > by_rules[1]
    judged = create("green", judge="rules")
    assert (
        judged.score([RIB] * 2, [NONE] * 2, [child, unknown]).details[0]
        != judged.score([RIB], [NONE]).details[0]
    )
