"""Judges beside each other, on known labels and against radiologists' counts."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest

from notebooks.green import judge_models, silent_judge
from radeval_lib.data.rexval import RATERS
from radeval_lib.papers.printed_numbers import parse, printed
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.judging import by_key, statement_outcome
from radeval_lib.study.runs import Run
from radeval_lib.study.verdicts import FAILS


def table(*cells: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(cells, columns=["model", "quantity", "statistic", "value"])
    return frame.assign(printed=frame["value"].map("{:.2f}".format), half_width=0.005)


def test_printed_spreads_against_their_bounds():
    spreads = table(("a", "GREEN", "mean", 0.5), ("a", "GREEN", "sd", 0.6))
    (check,) = judge_models.check_spreads(spreads)
    assert (check.outcome, check.name) == (FAILS, "standard deviations of GREEN scores")
    counts = table(("a", "matched findings", "mean", 2.5), ("a", "matched findings", "sd", 0.3))
    (check,) = judge_models.check_spreads(counts)  # half of them 2, half 3: no less than 0.5
    assert (check.outcome, check.name) == (FAILS, "standard deviations of counts and their differences")


def test_printed_means_of_counts_are_told_from_scores():
    assert len(judge_models.counted_means(printed("green.table8"), "Abdominal CT")) == 9


def test_what_the_paper_calls_best_needs_its_lead_and_two_standard_deviations_are_open():
    best = judge_models.check_best_base(printed("green.table2"), printed("green.table3"))
    needed = {check.name: check.needed for check in best if check.aspect == "lead"}
    assert [needed[name] for name in needed if "Table 3" in name] == [True] * 3
    chosen = judge_models.check_selected(printed("green.table4"), printed("green.table1"))
    outcomes = {str(rows[0].key): statement_outcome(rows) for rows in by_key(chosen)}
    assert outcomes["Standard deviation of GREEN's row of Table 1"] == "inconclusive"
    assert outcomes["Mean of GREEN's row of Table 1"] == FAILS


def test_a_number_lies_within_ends_only_whatever_was_rounded():
    low, high = Estimate(0.70, 0.69, 0.71), Estimate(0.96, 0.95, 0.97)
    for text, found in (("0.90", True), ("0.96", None), ("0.97", None), ("0.98", False), ("0.68", False)):
        assert judge_models.within(parse(text), low, high) is found


def test_silence_is_nearer_by_categories_where_its_whole_interval_is() -> None:
    """Six radiologists name one error in each pair of half the cases, two in the others: silence misses by
    1.5, and by 1 to 2 if cases are drawn."""
    significant = np.zeros((16, 6, 6))
    significant[:, 0], significant[8:, 1] = 1, 1
    fours = table(("one", "significant errors", "mean", 2.4), ("two", "significant errors", "mean", 2.2))
    row = {"rater": "GREEN", "other": RATERS, "printed": "", "value": 1.2, "half_width": 0.0005}
    ones = pd.DataFrame(row)
    ones.loc[:1, "value"] = [1.8, 1.5]
    profile = SimpleNamespace(resamples=400)
    run = cast(Run, SimpleNamespace(profile=profile, rng=lambda name: np.random.default_rng(0)))
    counts = {"significant": significant}
    sure, texts = silent_judge.nearest_is_silence(fours, ones, counts, run)
    assert sure
    assert texts["silence"] == "1.50 [1.00, 2.00]"
    assert (texts["total"], texts["closer"], texts["nearer"]) == ("1.35", "four", "none")
    for least in (1.4, 1.9):  # better than silence, and better than the end of its interval
        assert not silent_judge.nearest_is_silence(fours.assign(value=least), ones, counts, run)[0]
    assert not silent_judge.nearest_is_silence(fours, ones.assign(value=0.5), counts, run)[0]  # of totals


def test_silence_errs_by_the_mean_count_of_its_place():
    cells = table(
        ("GPT-4 labels", "matched findings", "mean", 2.0),
        ("one", "matched findings", "mean", 1.0),
        ("two", "matched findings", "mean", 2.0),
    )
    shares = silent_judge.against_silence(cells.assign(place="here", judge=cells["model"]))
    assert shares.set_index("judge")["share"].to_dict() == {"one": 0.5, "two": 1.0}


def test_possible_accuracies_by_hand():
    significant = np.zeros((2, 6, 2))
    significant[0, 0], significant[1, 1] = [1, 1], [0, 1]
    counts = {"significant": significant, "insignificant": np.zeros_like(significant), "total": significant}
    found = silent_judge.possible_accuracies(counts)
    assert found.loc["accuracy of silence, all errors"].tolist() == [0.5, 0.5, 1, 1, 1, 1]
    assert found.loc["highest possible, all errors"].tolist() == [1, 0.5, 1, 1, 1, 1]


def test_tables_without_what_is_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="no printed means of counts of 'Abdominal MRI'"):
        judge_models.possible_means(printed("green.table8"), "Abdominal MRI")
    with pytest.raises(ValueError, match="no mean with a standard deviation"):
        judge_models.check_spreads(table(("a", "GREEN", "value", 0.5)))
    twice = table(*[("a", "GREEN", statistic, 0.5) for statistic in ("mean", "sd", "sd")])
    with pytest.raises(ValueError, match="two numbers are printed for the same model, quantity"):
        judge_models.check_spreads(twice)
    cells = table(("one", "matched findings", "mean", 1.0))
    with pytest.raises(ValueError, match="here: no mean count of the labels"):
        silent_judge.against_silence(cells.assign(place="here", judge=cells["model"]))
