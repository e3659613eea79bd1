"""Groups of models, compared by their printed scores."""

from math import comb

import pandas as pd
import pytest
from scipy import stats

from notebooks.rales import printed_scores
from notebooks.rales.domain_and_size import (
    TABLES,
    behind_smaller,
    check_differences,
    check_domains,
    check_lead,
    lead,
    least_lead_p,
    rank_tests,
    tasks_needed,
    tasks_of,
)
from notebooks.rales.rank_tests import mann_whitney
from radeval_lib import study


@pytest.fixture
def scores() -> pd.DataFrame:
    rows = [("General", value) for value in (80.0, 80.2, 80.4, 80.6)]
    rows += [("Clinical", value) for value in (82.0, 82.2, 82.4, 82.6)]
    return pd.DataFrame(rows, columns=["domain", "value"]).assign(half_width=0.05, labels="100%")


def test_a_lead_is_the_difference_of_means_within_rounding(scores: pd.DataFrame) -> None:
    found = lead(scores, ["Clinical"], ["General"])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 1.9, 2.1))


def test_groups_that_do_not_overlap_differ_by_rank(scores: pd.DataFrame) -> None:
    checks = check_lead("by domain", "a lead", scores, ["Clinical"], [["General"]])
    assert [check.outcome for check in checks] == ["holds", "holds"]
    other_way = check_lead("by domain", "a lead", scores, ["General"], [["Clinical"]])
    assert [check.outcome for check in other_way] == ["fails", "fails"]


def test_a_general_model_is_held_against_smaller_special_ones() -> None:
    rows = [("General", "big", 300, 82.0), ("General", "small", 100, 83.0)]
    rows += [("Clinical", "clinical", 110, 82.5), ("Radiology", "larger", 345, 84.0)]
    scores = pd.DataFrame(rows, columns=["domain", "model", "million parameters", "value"])
    assert behind_smaller(scores).to_dict() == {"big": 0.5}


def test_differences_are_tested_under_every_reading() -> None:
    scores = printed_scores.by_share()
    four = rank_tests(scores)
    assert len(four) == 18
    check = check_differences(scores, "Tables")
    corrected, least = min(1.0, 18 * four["p"].min()), 3 * four["least_p"].min()
    assert f"four domains, 18 pairs: {corrected:.3f} (least possible {min(1.0, least):.3f})" in check.computed
    assert "three categories, 9 pairs: " in check.computed


@pytest.mark.parametrize(
    ("sizes", "far", "outcome"),
    [
        ((2, 2, 2, 2), True, "inconclusive"),  # no scores of so few models could differ
        ((6, 6, 6, 6), True, "fails"),
        ((6, 6, 6, 6), False, "holds"),
        ((8, 3, 2, 2), True, "inconclusive"),  # only three categories could differ
    ],
)
def test_no_difference_holds_only_under_every_reading(
    sizes: tuple[int, ...], far: bool, outcome: str
) -> None:
    rows = []
    for place, domain in enumerate(["General", "Biomedical", "Clinical", "Radiology"]):
        values = [i + (100 * place if far else 0.1 * place) for i in range(sizes[place])]
        rows += [(domain, value, labels) for value in values for labels in printed_scores.ORDER]
    scores = pd.DataFrame(rows, columns=["domain", "value", "labels"])
    assert check_differences(scores, "made up").outcome == outcome


def test_a_model_under_another_domain_is_found() -> None:
    plotted = study.printed("rales.fig2")
    found = check_domains(plotted)  # ELECTRA_small is left out, under a domain of its own
    assert (found.outcome, found.computed[:16]) == ("holds", "all 15 averaged ")
    moved = plotted.assign(domain=plotted["domain"].mask(plotted["model"] == "GatorTron", "Radiology"))
    found = check_domains(moved)
    assert (found.outcome, found.computed[:9]) == ("fails", "14 of 15 ")


def test_shares_of_labels_are_named_by_their_tables() -> None:
    assert list(TABLES.values()) == ["Table 3", "Table 9", "Table 10", "Table 11"]


def test_ranks_of_separated_groups_by_hand() -> None:
    # 2 against 3, fully separated: one of C(5, 2) = 10 divisions on each side, so p = 2/10
    found = mann_whitney([1, 2], [3, 4, 5])
    assert found[["u", "cles"]].tolist() == [0, 0]
    assert found[["p", "least_p"]].tolist() == pytest.approx([0.2, 0.2])


def test_without_ties_p_is_that_of_the_exact_distribution() -> None:
    a, b = [81.8, 81.4, 79.7, 82.0, 83.1], [83.3, 82.6, 82.7, 81.9]
    assert mann_whitney(a, b)["p"] == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)
    with pytest.raises(ValueError, match="missing"):
        mann_whitney(a, [*b, float("nan")])


def test_corrections_count_the_pairs_of_a_share() -> None:
    found = rank_tests(printed_scores.by_share())
    for _, part in found.groupby("labels"):
        assert len(part) == 6
        assert part["p_bonferroni"].tolist() == pytest.approx((6 * part["p"]).clip(upper=1).tolist())
    sizes = found.set_index(["first", "second"]).loc[("General", "Biomedical")].iloc[0]
    assert sizes["least_p"] == pytest.approx(min(1, 6 * 2 / comb(sizes["n_first"] + sizes["n_second"], 3)))


def test_every_table_has_sixteen_models_on_seven_tasks_of_four_data_sets() -> None:
    for labels in printed_scores.ORDER:
        tasks = tasks_of(labels)
        assert len(tasks) == 16 * 7
        assert tasks.groupby("dataset")["task"].nunique().sort_values().tolist() == [1, 1, 1, 4]


def test_tasks_that_a_pair_of_models_needs_by_hand() -> None:
    assert tasks_needed(1) == 6  # 2/32 is more than 0.05, 2/64 less
    assert tasks_needed(120) == 13  # 240/4096 is more, 240/8192 less


def test_four_models_against_three_can_give_no_small_p() -> None:
    scores = printed_scores.nlu_scores()
    least = least_lead_p(scores, printed_scores.SPECIAL, ["Biomedical"])
    assert least == pytest.approx(2 / comb(7, 3))
    assert least > 0.05
