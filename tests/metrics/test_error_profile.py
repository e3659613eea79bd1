"""What is known of a patient reaches the judge by rules, and errors are counted by kind."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import radeval_lib
from radeval_lib import Context, compare
from radeval_lib.metrics import MetricError, create, error_profile, score_file
from radeval_lib.metrics.error_profile import FOUND, KINDS, error_counts
from radeval_lib.metrics.scoring import context_of
from radeval_lib.rules.judge import judge_pair

RULES = "green_rules_errors"
# A healed rib fracture is benign, but in a child asks whether it was inflicted.
RIB, NONE = "Healed rib fracture.", "No rib fracture."


@pytest.mark.parametrize(
    ("age", "indication", "expected"),
    [
        ("7", "fall", Context(7, "fall")),
        (45, None, Context(45)),
        ("045Y", "", Context(45)),
        ("6 months", "", Context(0.5)),
        ("018M", "___", Context(1.5)),
        (" ", "", None),
        ("___", "XXXX", None),
        (float("nan"), "Cough", Context(None, "Cough")),
        (0, "", Context(0)),
        ("90+", "", Context(90)),
        ("> 89", "", Context(89)),
        (None, pd.NaT, None),
        (pd.NA, "n/a", None),
        ("-", "NULL", None),
    ],
)
def test_context_of_a_row(age, indication, expected) -> None:
    assert context_of({"age": age, "indication": indication}, "row 1") == expected


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


@pytest.mark.parametrize(
    ("reference", "candidate", "kind"),
    [
        ("Right pneumothorax.", "Lungs are clear.", "missed finding"),
        ("Lungs are clear.", "Right pneumothorax.", "made-up finding"),
        ("Small right pleural effusion.", "Small left pleural effusion.", "side"),
        ("Consolidation in the right upper lobe.", "Consolidation in the right lower lobe.", "place"),
        ("Large right pleural effusion.", "Small right pleural effusion.", "degree"),
        ("A 20 mm nodule in the right upper lobe.", "A 5 mm nodule in the right upper lobe.", "size"),
        ("Right pleural effusion has increased.", "Right pleural effusion.", "change"),
        ("Endotracheal tube.", "No tubes.", "device"),
        ("Possible pneumonia.", "Pneumonia.", "certainty"),
    ],
)
def test_errors_by_kind(reference: str, candidate: str, kind: str) -> None:
    counts = error_counts(reference, candidate, judge_pair(reference, candidate))
    assert dict(zip(KINDS, counts, strict=False)) == {name: int(name == kind) for name in KINDS}


def test_urgent_findings_are_counted_in_the_light_of_the_context() -> None:
    def urgent(reference: str, candidate: str, context: Context | None = None) -> tuple[int, ...]:
        return error_counts(reference, candidate, judge_pair(reference, candidate, context), context)[-2:]

    assert urgent("Right pneumothorax. Cardiomegaly.", "Right pneumothorax.") == (1, 1)
    assert urgent("Right pneumothorax. Cardiomegaly.", "Cardiomegaly.") == (0, 1)
    assert urgent("Right pneumothorax. Pneumomediastinum.", "Pneumomediastinum.") == (1, 2)
    assert urgent("Cardiomegaly.", "Right pneumothorax.") == (0, 0)
    assert urgent(RIB, NONE) == (0, 0)
    assert urgent(RIB, NONE, Context(7)) == (0, 1)
    assert urgent(RIB, RIB, Context(7)) == (1, 1)


def _table(*rows: tuple[dict[str, int], int, int]) -> np.ndarray:
    """Return counts of cases of one pair each: errors by kind, urgent findings that are there, and all."""
    return np.array(
        [[*(kinds.get(kind, 0) for kind in KINDS), hits, urgent, 1.0] for kinds, hits, urgent in rows]
    )


def test_profile_by_hand() -> None:
    tables = {
        "a": _table(*(({"side": row % 4 == 0}, row % 2, 1) for row in range(20))),
        "b": _table(*[({"size": 2}, 0, 0)] * 20),
        "all": _table(*[({}, 1, 1)] * 10),
    }
    profile = error_profile.profile(tables, resamples=2_000, seed=0)
    table = profile.set_index(["system", "kind"])
    side, share = table.loc["a", "side"], table.loc["a", FOUND]
    assert (side["count"], side["value"]) == (5, 25)
    # 5 of 20: about plus and minus two standard errors of 9.7, wider for so few.
    assert 0 < side["low"] < 10 < 40 < side["high"] < 55
    assert (share["count"], share["value"]) == (10, 0.5)
    assert 0.2 < share["low"] < 0.32
    assert 0.68 < share["high"] < 0.8
    assert table.loc[("a", "size"), ["value", "low", "high"]].tolist() == [0, 0, 15]  # 3 in 20
    assert table.loc[("b", "size"), ["value", "low", "high"]].tolist() == [200, 200, 200]
    assert np.isnan(table.loc[("b", FOUND), "value"])
    # statsmodels.stats.proportion.proportion_confint(10, 10, method="wilson")
    assert table.loc[("all", FOUND), ["low", "high"]].tolist() == pytest.approx([0.7224672, 1])
    text = error_profile.as_text(profile)
    assert (list(text.columns), list(text.index)) == (["a", "b", "all"], [*KINDS, FOUND])
    assert text.loc[FOUND, "b"] == "–"


def test_the_profile_is_in_the_comparison() -> None:
    references = ["Right pneumothorax.", "Small right pleural effusion."] * 5
    candidates = ["Lungs are clear.", "Small left pleural effusion."] * 5
    frame = pd.DataFrame({"reference": references, "candidate:a": candidates, "candidate:b": references})
    compared = compare(frame, metrics=[RULES, "rouge_l"], resamples=200, floor=True)
    values = compared.profile.set_index(["system", "kind"])["value"]
    assert (values["a", "side"], values["a", "missed finding"], values["a", FOUND]) == (50, 50, 0)
    assert values["b"].drop(FOUND).eq(0).all()
    assert set(compared.profile["system"]) == {"a", "b"}
    assert FOUND in compared.text(every=True)
    assert {row["kind"] for row in json.loads(json.dumps(compared.as_dict()))["profile"]} == {*KINDS, FOUND}
    assert compare(frame, metrics="rouge_l", resamples=200).profile.empty
    of_cases = compare(frame.assign(case=[0, 1] * 5), metrics=RULES, resamples=200).profile
    share = of_cases.set_index(["system", "kind"]).loc[("a", "side"), ["value", "low", "high"]]
    assert share.tolist() == [50, 0, 100]
