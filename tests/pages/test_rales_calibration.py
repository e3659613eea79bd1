"""What the page on calibration makes of Table 7, and its classifier of known calibration."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from notebooks.rales.average_ranks import (
    ARROWS,
    _two_domains,
    average_ranks,
    directions,
    domains_compared,
    ranks_above,
)
from notebooks.rales.calibration import (
    alike,
    at_three_temperatures,
    off_by_every_logarithm,
    places,
)
from radeval_lib import study
from radeval_lib.stats import calibration
from radeval_lib.stats.calibration_draws import known_classifier


def test_the_known_classifier_is_calibrated() -> None:
    logits, labels = known_classifier(np.random.default_rng(0), documents=4000, classes=5)
    probabilities = softmax(logits, axis=1)
    assert calibration.expected_calibration_error(probabilities, labels) < 0.03


def test_confidence_of_any_kind_raises_wmc_where_most_choices_are_right() -> None:
    measured = at_three_temperatures(np.random.default_rng(0))
    assert measured["accuracy"].nunique() == 1
    assert measured["accuracy"].iloc[0] > 0.5
    assert (measured["WMC"].idxmax(), measured["ECE"].idxmin()) == ("too sure", "calibrated")


def test_rows_that_are_the_same_are_found() -> None:
    rows = pd.DataFrame({"ECE": [1, 2, 1, 3], "SCE": [1, 1, 1, 1]}, index=list("abcd"))
    assert alike(rows) == [("a", "c")]


@pytest.mark.parametrize(
    ("low", "high", "above"),
    [
        (7.2, 7.8, False),  # at best shared with the rival's worst
        (7.1, 7.8, None),
        (4.0, 5.2, None),  # at worst shared with the rival's best
        (4.0, 5.1, True),
        (7.3, 7.8, False),
        (np.nan, np.nan, None),
    ],
)
def test_a_rank_that_can_be_shared_at_best_is_not_above(low: float, high: float, above: bool | None) -> None:
    rival = pd.Series({"low": 5.2, "high": 7.2})
    assert ranks_above(pd.Series({"low": low, "high": high}), rival) is above


def test_the_printed_averages_follow_with_one_arrow_turned() -> None:
    table7 = study.printed("rales.table7")
    assert average_ranks(table7, {**ARROWS, "aKLU": "lower"})["fits"].all()
    tried = directions(table7)
    assert len(tried) == 32
    assert tried.iloc[0].to_dict() == {**ARROWS, "aKLU": "lower", "averages that fit": 16}


def test_a_divergence_may_fit_its_entropy_by_either_logarithm() -> None:
    entropies = {"natural": 0.5, "base 2": 0.5, "neither": 0.5}
    divergences = {"natural": np.log(46) - 0.5, "base 2": np.log2(46) - 0.4992, "neither": 4.0}
    values = pd.DataFrame({"aPE": entropies, "aKLU": divergences})
    assert off_by_every_logarithm(values, 46).tolist() == [False, False, True]
    printed = study.wide(study.printed("rales.table7"), "model", "metric")
    assert off_by_every_logarithm(printed, 46).all()


def test_a_tie_for_the_place_is_not_broken() -> None:
    of = {"GatorTron": "62", "ELECTRA_small": "61", "other": "61"}
    cells = {name: {model: study.parse(text) for model, text in of.items()} for name in ("accuracy", *ARROWS)}
    checks = places(cells, 20_000)
    found = {(check.key.row, check.key.column, check.aspect): check.outcome for check in checks}
    assert found["ELECTRA_small", "ECE", "order"] == "inconclusive"
    assert found["ELECTRA_small", "aKLU", "order"] == "fails"
    assert found["GatorTron", "accuracy", "order"] == "holds"
    assert found["GatorTron", "accuracy", "lead"] == "inconclusive"  # by how the right cases overlap


def test_domains_differ_only_where_every_rank_within_its_interval_says_so() -> None:
    ranks = average_ranks(study.printed("rales.table7"), ARROWS)
    exact = ranks.assign(low=ranks["middle"], high=ranks["middle"])
    leads = [domains_compared("ranks", frame)[1].outcome for frame in (exact, ranks)]
    assert leads == ["holds", "inconclusive"]


@pytest.mark.parametrize(
    ("wider", "p"),
    [
        (0, "0.35"),
        (1, "0.35"),
        (2, "1"),
        (5, "1"),
        (10, "1"),
        (20, "1"),
    ],  # from 2 the ends lead opposite ways
)
def test_wider_intervals_establish_no_lead(wider: int, p: str) -> None:
    table7 = study.printed("rales.table7")
    ranks = average_ranks(table7.assign(half_width=wider * table7["half_width"]), ARROWS)
    _, lead = domains_compared("ranks", ranks)
    assert lead.computed.startswith(f"lead not established: p = {p}")
    assert lead.outcome == "inconclusive"


@pytest.mark.parametrize(("sign", "outcome"), [(1, "holds"), (-1, "fails")])
def test_a_lead_goes_the_way_of_the_ranks(sign: int, outcome: str) -> None:
    ranks = average_ranks(study.printed("rales.table7"), ARROWS)
    general = _two_domains(ranks)[1].index
    middle = ranks["middle"].mask(ranks.index.isin(general), 7 + 50 * sign)
    apart = ranks.assign(low=middle - 1, middle=middle, high=middle + 1)
    assert [check.outcome for check in domains_compared("ranks", apart)] == [outcome, outcome]


def test_average_ranks_are_by_model_whatever_the_order_of_rows() -> None:
    table7 = study.printed("rales.table7")
    shuffled = table7.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        average_ranks(shuffled, ARROWS).sort_index(), average_ranks(table7, ARROWS).sort_index()
    )


def test_ranks_need_a_direction_and_a_value_of_each_model() -> None:
    table7 = study.printed("rales.table7")
    with pytest.raises(ValueError, match="ECE: better must be lower or higher, not 'lowr'"):
        average_ranks(table7, {"ECE": "lowr"})
    with pytest.raises(ValueError, match="needs a metric"):
        average_ranks(table7, {})
    with pytest.raises(ValueError, match="EEC has not one value"):
        average_ranks(table7, {"EEC": "lower"})
