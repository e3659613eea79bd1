"""What Table 2 of fact counting shows, against print; and the simulated divide."""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd
import pytest

from notebooks.facts import agreement
from radeval_lib.stats.measures import FactCounts
from radeval_lib.study.results import statement_outcome


def test_one_wrong_description_does_not_give_the_printed_agreements() -> None:
    printed_alphas = {"E1-E2": "0.79", "E1-E3": "0.96", "E2-E3": "0.84"}
    assert statement_outcome(agreement.check_one_description(printed_alphas, 40)) == "fails"
    # Losses of a quarter, a half and a quarter.
    half = f"{krippendorff.alpha([[0.75] + [1] * 39, [0.5] + [1] * 39], level_of_measurement='interval'):.2f}"
    possible = {"E1-E2": half, "E1-E3": "1.00", "E2-E3": half}
    assert statement_outcome(agreement.check_one_description(possible, 40)) == "holds"


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_alphas_of_one_description_are_the_library_s(level: agreement.Level) -> None:
    alphas_of_one = agreement._compute_alphas_with_one_loss(np.array([0.25, 0.6]), 40, level)
    ratings = [[0.75] + [1.0] * 39, [0.4] + [1.0] * 39]
    assert alphas_of_one[0, 1] == pytest.approx(krippendorff.alpha(ratings, level_of_measurement=level))


def test_candidates_are_told_apart_by_the_alpha_that_is_farthest_off() -> None:
    wanted = pd.Series([0.4, 0.5, 0.3, 0.2], index=agreement.RATERS)
    fits = pd.DataFrame([[0.4, 0.5, 0.3, 0.6], [0.3, 0.4, 0.2, 0.1]], columns=wanted.index)
    assert agreement.find_largest_distances(fits, wanted).to_list() == pytest.approx([0.4, 0.1])


def test_alphas_of_raters_who_halve() -> None:
    # The second rater counts half of everything: ratios agree, counts do not.
    fine = [FactCounts(4, 4, 2, 4), FactCounts(6, 4, 4, 4), FactCounts(8, 6, 2, 6)]
    coarse = [FactCounts(2, 2, 1, 2), FactCounts(3, 2, 2, 2), FactCounts(4, 3, 1, 3)]
    alphas = agreement.measure_agreement([fine, coarse])
    assert alphas["Precision"] == alphas["Recall"] == alphas["F-Score"] == 1
    # By hand for R: 4 6 8 against 2 3 4; observed 2 * (2 + 4.5 + 8) / 3, expected 2 * 4.7.
    assert alphas["R facts"] == pytest.approx(1 - (2 * (2 + 4.5 + 8) / 3) / (2 * 4.7))
    assert agreement.compute_divide(alphas) == 1 - max(
        alphas[name] for name in ("R facts", "G facts", "G&R facts", "G acc facts")
    )


def test_the_mechanism_makes_the_divide_and_misjudging_unmakes_it() -> None:
    divides = agreement.simulate_departure(np.random.default_rng(0), "slips", [0.0, 0.3], 0.15, 20)
    made, unmade = divides.groupby("step")["divide"].mean()
    assert made > 0 > unmade
    assert {steps[0] for _, _, steps in agreement.DEPARTURES.values()} == {0.0}


def test_losses() -> None:
    # A mean of .75 over ten units loses 2.5 points: 2 x 1 + .5, 1 + 3 x .5, 5 x .5.
    halves = (0.5, 1.0)
    losses = sorted(agreement.list_losses(0.75, 10, halves))
    assert losses == [(0.5, 0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 1.0), (0.5, 1.0, 1.0)]
    assert agreement.list_losses(1.0, 10, halves) == [()]
    assert agreement.list_losses(0.5, 2, halves) == [(1.0,), (0.5, 0.5)]
    assert agreement.list_losses(0.97, 10, halves) == []  # .3 points cannot be lost in halves


def test_placements_ignore_the_order_of_units() -> None:
    # One loss each: on the same unit or on two.
    assert agreement.place_losses([(0.5,), (0.5,)], 10) == {((0.5, 0.5),), ((0.0, 0.5), (0.5, 0.0))}
    assert agreement.place_losses([(0.5,), (0.5,)], 1) == {((0.5, 0.5),)}
    assert agreement.place_losses([(), ()], 3) == {()}


def test_tables_have_the_means_shares_and_touched_units() -> None:
    means = [[0.95, 0.95, 0.90], [1, 0.95, 1], [1, 1, 0.95], [1, 0.75, 0.95]]
    tables = agreement.list_rating_tables(means, 10, {0.5: 8, 1.0: 2}, units_with_loss=7)
    assert len({table.tobytes() for table in tables}) == len(tables) > 0
    for table in tables:
        assert table.shape == (3, 40)
        assert (table.sum(), (table == 0.5).sum(), (table == 0).sum()) == (114, 8, 2)
        assert (table.min(axis=0) < 1).sum() == 7
        assert table.mean(axis=1) == pytest.approx(np.mean(means, axis=0))
    assert agreement.list_rating_tables(means, 10, {0.5: 9, 1.0: 2}, units_with_loss=7) == []
