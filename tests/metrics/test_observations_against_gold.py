"""The rule-based labeler against what generated chest reports are known to state."""

from __future__ import annotations

from collections import Counter

import pytest

from radeval_lib.metrics.observations import label, observations, positive
from radeval_lib.rules.generator import generate

CHEST = [("X-Ray", "CHEST"), ("CT", "CHEST")]


@pytest.fixture(scope="module")
def tallies() -> dict[str, Counter[str]]:
    """Of each observation: in how many reports it is both stated and found, missed, or found wrongly."""
    result: dict[str, Counter[str]] = {name: Counter() for name in observations()}
    # The rules were mended on reports of seed 7, so they are judged on others.
    for made in generate(1_000, seed=8, modality_anatomy=CHEST):
        gold = positive(made.chexpert)
        found = positive(label(f"{made.findings.text}\n{made.impression.text}"))
        for name, tally in result.items():
            tally["both"] += name in gold and name in found
            tally["missed"] += name in gold and name not in found
            tally["wrong"] += name in found and name not in gold
    return result


def _f1(tally: Counter[str]) -> float:
    return 2 * tally["both"] / (2 * tally["both"] + tally["missed"] + tally["wrong"])


def test_micro_f1(tallies) -> None:
    # Measured: 0.875, and 0.836 without No Finding. What is left is mostly definition: the generator counts
    # masses and wide vessels of the mediastinum as its enlargement and a blunted angle as Pleural Other; the
    # rules count heart failure as Edema, granulomas as lesions, any infection as Pneumonia, clips as devices.
    assert _f1(sum(tallies.values(), Counter())) > 0.86
    assert _f1(sum((tally for name, tally in tallies.items() if name != "No Finding"), Counter())) > 0.82


@pytest.mark.parametrize(
    "name", ["Cardiomegaly", "Lung Opacity", "Consolidation", "Atelectasis", "Pneumothorax"]
)
def test_observations_that_both_define_alike(tallies, name) -> None:
    assert _f1(tallies[name]) > 0.92  # measured: 0.939 for Lung Opacity, at least 0.99 for the others


def test_what_is_found_wrongly_where_the_definitions_agree(tallies) -> None:
    for name in ("Cardiomegaly", "Consolidation", "Atelectasis", "Pneumothorax", "Fracture"):
        assert tallies[name]["wrong"] <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There are no features to suggest edema or pneumonia.", {"Edema": 0, "Pneumonia": 0}),
        ("No evidence suggestive of pneumothorax.", {"Pneumothorax": 0}),
        ("Opacity suggestive of pneumonia.", {"Lung Opacity": 1, "Pneumonia": -1}),
        ("The heart size is not enlarged.", {"Cardiomegaly": 0}),
        ("The heart may be mildly enlarged.", {"Cardiomegaly": -1}),
        ("Atelectasis versus pneumonia.", {"Atelectasis": 1, "Pneumonia": -1}),
        ("Effusion or pneumothorax is not seen.", {"Pleural Effusion": 0, "Pneumothorax": 0}),
        ("Small pericardial effusion.", {}),
        ("Pericardial and pleural effusions.", {"Pleural Effusion": 1}),
        ("Old granulomatous disease.", {}),
    ],
)
def test_cues(text, expected) -> None:
    found = {name: value for name, value in label(text).items() if value is not None and name != "No Finding"}
    assert found == expected
