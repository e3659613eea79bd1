"""Tables of counts behind rates, and the sentences about them, each in every branch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import RestrictedText
from radeval_lib.metrics.base import MetricError
from radeval_lib.pages.facts import rates, real_counts
from radeval_lib.pages.facts.rates import Shared
from radeval_lib.pages.facts.real_counts import LENGTH

REFERENCE = "one two three four five six seven eight"


def _rating(
    case: str, system: int, precision: float, recall: float, omission: float | None, **more: str
) -> FactRating:
    total = precision + recall
    return FactRating(
        id=f"{case}/{system}",
        case=case,
        group=f"system {system}",
        reference=f"{REFERENCE} {case}",
        candidate="one two three four",
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / total if total else 0.0,
        hallucination=0.0,
        omission=omission,
        **more,
    )


RATINGS = [
    _rating("a", 1, 2 / 3, 2 / 7, 5 / 7),  # 7, 3, 2
    _rating("a", 2, 1.0, 0.0, 1.0),  # nothing over nothing
    _rating("b", 1, 1.0, 0.5, 1.0),  # 2, 1, 1, both left out
    _rating("b", 2, 1.0, 1 / 3, None, fault="OmissionRate -1 is no rate"),  # 3, 1, 1
    _rating("c", 1, 0.5, 0.25, 0.5),  # 4, 2, 1: one of four neither
]


def test_counts_and_their_summary() -> None:
    behind = rates.counts(RATINGS)
    assert behind["reference"].tolist() == [7, 1, 2, 3, 4]
    assert behind["empty"].tolist() == [False, True, False, False, False]
    assert behind["counted_twice"].tolist() == [0, 0, 1, 0, 0]
    assert behind["neither"].tolist() == [0, 0, 0, 0, 1]
    assert behind["possible"].iloc[0] == 1
    table = rates.summary(behind)
    assert table["judgements"].tolist() == [1, 4, 1, 1, 1, 1]
    assert table["share"].iloc[0] == pytest.approx(0.2)
    with pytest.raises(MetricError, match="judgement a/1"):
        rates.counts(
            [replace(RATINGS[0], precision=0.123456, f1=2 * 0.123456 * (2 / 7) / (0.123456 + 2 / 7))]
        )


def test_oddities_show_no_restricted_text() -> None:
    shown = rates.oddities(rates.counts(RATINGS), RATINGS)
    assert shown["what"].tolist() == ["no fact, precision 1", "no rate"]
    assert shown["omission"].tolist() == ["1", "-1"]
    hidden = [replace(one, candidate=RestrictedText(str(one.candidate), "x")) for one in RATINGS]
    assert rates.oddities(rates.counts(hidden), hidden).empty


def test_shared_numbers_and_triples() -> None:
    found = rates.shared(RATINGS[:4], np.random.default_rng(0))
    # Seven fits both judgements of a; six fits both of b, within nine words.
    assert (found.cases, found.fit, found.told) == (2, 2, 2)
    counts, reports = rates.triples(RATINGS[:4])
    assert counts == [(7, 3, 2), (6, 3, 3), (6, 2, 2)]  # the summary without facts is left out
    assert reports == [0, 1, 1]


def test_counts_stand_with_their_texts_whatever_the_order() -> None:
    systems = [one.group for one in RATINGS[:4]]
    cases = [one.case for one in RATINGS[:4]]
    told = rates.counts_by_text(RATINGS[:4])
    assert list(told.values()) == rates.triples(RATINGS[:4])[0]
    assert set(told) < set(zip(cases, systems, strict=True))
    assert rates.counts_by_text([RATINGS[place] for place in (2, 0, 3, 1)]) == told


def _found(**rows: tuple[float, float, float, float, float]) -> pd.DataFrame:
    """value, low, high, and the interval of the lead over length, for F1, recall and precision alike."""
    frame = pd.DataFrame.from_dict(
        rows, orient="index", columns=["value", "low", "high", "over_length_low", "over_length_high"]
    ).rename_axis("metric")
    frame = frame.rename(index={"length": LENGTH}).reset_index()
    return pd.concat(frame.assign(target=target) for target in ("f1", "recall", "precision"))


LENGTH_ROW = (0.5, 0.4, 0.6, np.nan, np.nan)


@pytest.mark.parametrize(
    ("lead", "words"),
    [
        ((0.05, 0.2), "that is more than the 0.50 [0.40, 0.60] of a prediction that knows only how long"),
        ((-0.2, -0.05), "that is less than the 0.50"),
        ((-0.1, 0.1), "that is no more, as far as can be told, than the 0.50"),
    ],
)
def test_conclusion(lead: tuple[float, float], words: str) -> None:
    behind = rates.counts(RATINGS)
    found = _found(METEOR=(0.45, 0.3, 0.6, *lead), BLEU=(0.1, -0.1, 0.2, *lead), length=LENGTH_ROW)
    said = real_counts.conclusion(found, behind, "MTS-Dialog")
    assert said.startswith(
        "On MTS-Dialog, METEOR agrees best with F1 of facts, at a correlation of 0.45 [0.30, 0.60];"
    )
    assert words in said
    assert "One of two metrics sees precision beyond chance: METEOR, at 0.45 [0.30, 0.60]." in said
    assert said.endswith("3 of the 5 judgements contradict themselves or rest on a convention.")


def test_conclusion_without_oddities_and_without_sight_of_precision() -> None:
    blind = _found(BLEU=(0.1, -0.1, 0.2, -0.5, -0.1), length=LENGTH_ROW)
    said = real_counts.conclusion(blind, rates.counts(RATINGS[:1]), "the generator")
    assert said.endswith("No metric sees precision: the highest correlation is BLEU's, 0.10 [-0.10, 0.20].")
    same = blind[blind["target"] != "precision"]
    assert "All summaries have the same precision." in real_counts.conclusion(
        same, rates.counts(RATINGS), "X"
    )
    assert "precision" not in real_counts.about_metrics(same)


def test_about_length_and_metrics() -> None:
    found = _found(METEOR=(0.6, 0.5, 0.7, 0.01, 0.2), BLEU=(0.1, -0.1, 0.2, -0.5, -0.1), length=LENGTH_ROW)
    assert real_counts.about_length(found).startswith(
        "With F1, of two metrics one agrees better and one agrees worse than the lengths beyond chance. With"
    )
    assert real_counts.about_metrics(found).startswith(
        "METEOR agrees best with F1, at 0.60 [0.50, 0.70]. METEOR"
    )


def test_about_counts_in_every_branch() -> None:
    said = real_counts.about_counts(rates.counts(RATINGS))
    assert said.startswith("The counts behind one of five judgements can be told. A precision of 1 beside")
    for part in ("together exceed 1", "fall short of 1", "The omission rate of one judgement is none"):
        assert part in said
    alone = real_counts.about_counts(rates.counts(RATINGS[:1]))
    assert alone == "The counts behind one of one judgement can be told."


def test_about_shared_in_both_branches() -> None:
    assert real_counts.about_shared(Shared(100, 99, 34, 0.5)).endswith(
        "50% of the time, so the references were counted alike."
    )
    assert real_counts.about_shared(Shared(100, 99, 34, 0.95)).endswith(
        "95% of the time, so this says little."
    )


def test_definition_checks_in_both_branches() -> None:
    behind = rates.counts(RATINGS)
    counts, precision = rates.definition_checks(behind, Shared(2, 1, 1, 0.5)).values()
    assert (counts.outcome, counts.computed) == ("fails", "1 of 2 references")
    assert precision.outcome == "fails"
    assert precision.computed.startswith("4 of 5 are; the others have no fact in G")
    whole = rates.definition_checks(behind.iloc[:1], Shared(2, 2, 1, 0.5))
    assert {one.outcome for one in whole.values()} == {"holds"}


def test_about_sizes() -> None:
    average = pd.DataFrame(
        {"R facts": [0.7, 0], "G facts": [0.8, 0], "Precision": [0.9, 0], "Recall": [0.85, 0]}
    )
    assert real_counts.about_sizes(average) == (
        "Without a misjudged fact the counts agree at an alpha of 0.70 to 0.80, and the ratios at 0.85 to "
        "0.90."
    )
