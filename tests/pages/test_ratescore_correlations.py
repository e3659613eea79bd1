"""Printed coefficients: intervals, orders and leads."""

import numpy as np
import pandas as pd
import pytest

from notebooks.ratescore.correlations import (
    PrintedAgreement,
    by_measure,
    needed_in_words,
    not_among,
    right_of,
)
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.stats.printed import correlation_interval

ROWS = [
    ("Sentences, Pearson", "RaTEScore", "0.50", 0.5, 0.005),
    ("Sentences, Pearson", "BLEU", "0.20", 0.2, 0.005),
    ("Rewrites, accuracy", "RaTEScore", "0.90", 0.9, 0.005),
    ("Rewrites, accuracy", "BLEU", "0.40", 0.4, 0.005),
]
PRINTED = pd.DataFrame(ROWS, columns=["column", "metric", "printed", "value", "half_width"])
AGREEMENT = PrintedAgreement(PRINTED, {"Sentences": 400, "Rewrites": 100})


def test_intervals_are_fishers_for_correlations_and_wilsons_for_shares() -> None:
    found = AGREEMENT.with_intervals()
    low, high = correlation_interval(0.5, 400, "pearson")
    assert found.loc[0, ["low", "high"]].tolist() == pytest.approx([low, high], abs=1e-6)
    assert found.loc[2, "low"] == pytest.approx(0.8256, abs=1e-4)


@pytest.mark.parametrize("column", ["Sentences, Pearson", "Rewrites, accuracy"])
def test_the_first_is_put_above_all_others(column: str) -> None:
    order, lead = AGREEMENT.check_above("it leads", "the best", column)
    assert order.computed.startswith("RaTEScore 0.")
    assert (order.outcome, lead.outcome) == ("holds", "holds")


def test_an_edge_is_reported_in_words() -> None:
    assert [needed_in_words(edge) for edge in (np.nan, -0.1, 0.5)] == ["none", "any", "0.50 or more"]


def test_leads_are_counted_and_margins_reported_in_cases() -> None:
    assert AGREEMENT.established("Sentences, Pearson") == "one of one"
    margins, p = AGREEMENT.margin("Rewrites, accuracy", "BLEU")
    assert margins == [50]
    assert p == pytest.approx(2 * 0.5**50)


def test_shares_that_no_count_prints_stand_for_their_neighbours() -> None:
    assert right_of(parse("0.666"), 847) == [564]
    assert right_of(parse("0.670"), 847) == [567, 568]  # 0.6694 and 0.6706
    table5 = PrintedAgreement.of(by_measure(printed("ratescore.table5")), {"Rewrites": 847})
    margins, p = table5.margin("Rewrites, accuracy", "CheXbert")
    assert margins == [3, 4]
    assert p == pytest.approx(2 * 0.5**4)  # four reports that RaTEScore alone is right about


def test_to_excel_is_to_lead() -> None:
    table5 = PrintedAgreement.of(by_measure(printed("ratescore.table5")), {"Rewrites": 847})
    order, lead = table5.check_above("on rewrites", "our model excels", "Rewrites, accuracy")
    assert (order.outcome, lead.outcome, lead.needed) == ("holds", "inconclusive", True)


def test_what_is_needed_allows_for_rounding() -> None:
    figure3 = PrintedAgreement.of({"Sentences, Pearson": printed("ratescore.fig3")}, {"Sentences": 443})
    assert figure3.needed("Sentences, Pearson", "RadGraph F1", 443) == pytest.approx(0.313, abs=1e-3)
    assert figure3.established("Sentences, Pearson") == "six of seven"


def test_how_many_leads_are_established_depends_on_the_pairs() -> None:
    columns = {"Sentences, Pearson": printed("ratescore.fig3"), **by_measure(printed("ratescore.table5"))}
    found = {}
    for sentences, paragraphs in ((443, 371), (2215, 1856)):
        agreement = PrintedAgreement.of(columns, {"Sentences": sentences, "Paragraphs": paragraphs})
        found[sentences] = [agreement.established(f"{part}, Pearson") for part in agreement.pairs]
    assert found == {443: ["six of seven", "two of seven"], 2215: ["all seven", "five of seven"]}


def test_a_table_alone_says_what_all_together_say() -> None:
    table5 = printed("ratescore.table5")
    columns = by_measure(table5)
    assert list(columns) == [
        "Paragraphs, Pearson",
        "Paragraphs, Kendall",
        "Paragraphs, Spearman",
        "Rewrites, accuracy",
    ]
    pairs = {"Paragraphs": 371, "Rewrites": 847, "ReXVal": 200}
    alone = PrintedAgreement.of(columns, pairs)
    both = PrintedAgreement.of({"ReXVal, Kendall": printed("ratescore.table4"), **columns}, pairs)
    assert (len(alone.printed), len(both.printed)) == (len(table5), len(table5) + 5)
    for column in columns:
        assert alone.check_above("it leads", "the best", column) == both.check_above(
            "it leads", "the best", column
        )


def test_baselines_that_a_table_lacks_are_named() -> None:
    assert not_among(["BLEU", "ROUGE", "SPICE"], printed("ratescore.table5")) == []
    assert not_among(["BLEU", "ROUGE", "SPICE"], printed("ratescore.table4")) == ["ROUGE", "SPICE"]


@pytest.mark.parametrize(
    ("change", "pairs", "fault"),
    [
        ({"column": "Sentences"}, {}, "a benchmark and a measure"),
        ({"value": np.nan}, {}, "not legible"),
        ({}, {"Rewrites": 9}, "no number of pairs .* 'Sentences'"),
    ],
)
def test_what_gives_no_interval_is_refused(
    change: dict[str, object], pairs: dict[str, int], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        PrintedAgreement(PRINTED.assign(**change), pairs).with_intervals()


def test_columns_and_metrics_that_are_not_printed_are_refused() -> None:
    with pytest.raises(ValueError, match="no column 'Sentences, Kendall' among Sentences, Pearson; Rewrites"):
        AGREEMENT.established("Sentences, Kendall")
    with pytest.raises(ValueError, match="no metric 'BLUE'"):
        AGREEMENT.check_above("it leads", "the best", "Sentences, Pearson", ["BLUE"])
