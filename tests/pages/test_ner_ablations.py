"""NER models: the reach of their intervals, and what a choice between them changes."""

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from scipy import stats

from notebooks.ratescore.ner_ablations import (
    MEASURES,
    NerModels,
    add_wilson_intervals,
    check_gain,
    check_iob_ahead,
)
from radeval_lib.jobs.ratescore import Training
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.profiles import profile
from radeval_lib.study.results import statement_outcome

MODELS = pd.DataFrame(
    {
        "scheme": ["IOB", "Span", "Span"],
        "model": ["A", "B", "C"],
        "precision": [0.5, 0.8, 0.8],
        "recall": [0.4, 0.2, 0.3],
        "F1": [0.44, 0.32, 0.44],
        "accuracy": [0.9, 0.8, 0.7],
    }
)


def test_wilson_intervals_count_what_is_there_and_what_was_reported() -> None:
    row = add_wilson_intervals(MODELS, entities=100).iloc[0]
    recall = stats.binomtest(40, 100).proportion_ci(method="wilson")
    precision = stats.binomtest(40, 80).proportion_ci(method="wilson")
    assert row["recall"] - row["recall_low"] == pytest.approx(recall.low)
    assert row["precision"] + row["precision_high"] == pytest.approx(precision.high)


@pytest.mark.parametrize(
    ("recall", "outcome", "ahead"),
    [
        (0.4, "holds", ["precision", "recall"]),
        (0.2, "inconclusive", ["precision"]),
        (0.1, "fails", []),
    ],
)
def test_more_entities_by_whatever_measure(recall, outcome, ahead, monkeypatch) -> None:
    values = {"precision": (0.9 if recall > 0.1 else 0.7, 0.8), "recall": (recall, 0.3)}
    rows = [(name, *row) for name, pair in values.items() for row in zip(("IOB", "Span"), pair, strict=True)]
    monkeypatch.setattr("notebooks.ratescore.ner_ablations.MEASURES", list(values))
    checks = check_iob_ahead(pd.DataFrame(rows, columns=["measure", "scheme", "value"]))
    assert statement_outcome(checks) == outcome
    assert [check.reading for check in checks if check.outcome == "holds"] == ahead


@pytest.mark.parametrize(
    ("measure", "stated", "single", "outcome"),
    [
        ("F1", "0.030", ("Radiopaedia", "MIMIC-IV"), "inconclusive"),  # 0.030 over one, 0.040 over the other
        ("F1", "0.030", ("Radiopaedia",), "holds"),
        ("F1", "0.020", ("Radiopaedia", "MIMIC-IV"), "fails"),
        ("accuracy", "0.010", ("Radiopaedia", "MIMIC-IV"), "inconclusive"),
    ],
)
def test_a_gain_holds_only_over_whichever_source(measure, stated, single, outcome, monkeypatch) -> None:
    monkeypatch.setattr("notebooks.ratescore.ner_ablations.SINGLE", single)
    checks = check_gain(printed("ratescore.table7"), measure, parse(stated))
    assert statement_outcome(checks) == outcome
    assert [check.reading for check in checks] == [
        *(f"over {source}" for source in single),
        "over the better source",
    ]


def _trained(*trainings: Training) -> NerModels:
    models = NerModels(cast(Any, SimpleNamespace(profile=profile("full"))))
    models.__dict__["outputs"] = dict.fromkeys(trainings)
    return models


def test_a_choice_that_several_pairs_differ_in_is_named_with_each(monkeypatch) -> None:
    monkeypatch.setattr(NerModels, "compare", lambda self, first, second: (first, second))
    every = {
        (scheme, start): Training(scheme, start, "both", 9)
        for scheme in ("iob", "span")
        for start in ("packaged-minilm", "packaged-minilm-2")
    }
    contrasts = _trained(every["iob", "packaged-minilm"], every["span", "packaged-minilm"]).contrast()
    assert list(contrasts) == ["IOB tags instead of spans"]
    two = _trained(*every.values()).contrast()
    assert list(two.values()) == [
        (every["iob", start], every["span", start]) for start in ("packaged-minilm", "packaged-minilm-2")
    ]
    assert all(name.startswith("IOB tags instead of spans (") for name in two)


def test_a_printed_model_is_compared_by_its_own_scheme(monkeypatch) -> None:
    deberta = "microsoft/deberta-v3-base"
    trainings = [Training(scheme, deberta, "both", 0) for scheme in ("iob", "span")]
    models = _trained(*trainings)
    ends = pd.DataFrame({"value": 0.5, "low": 0.4, "high": 0.6}, MEASURES)
    models.__dict__["outputs"] = dict(zip(trainings, (0, 9), strict=True))
    monkeypatch.setattr(NerModels, "measure", lambda self, shift: ends + shift)
    exhibit = OpenExhibit("ratescore.table6")
    models.check_printed(exhibit, printed("ratescore.table6"), "model")
    assert [check.value for check in exhibit.checks] == [0.5] * 4
    exhibit = OpenExhibit("ratescore.table7")
    models.check_printed(exhibit, printed("ratescore.table7"), "training_data")
    assert [check.value for check in exhibit.checks] == [0.5] * 4
