"""Groups of models compared by their printed scores, and slopes against other benchmarks."""

from math import comb

import pandas as pd
import pytest
from scipy import stats

from notebooks.rales.domain_and_size import check_differences, check_lead, compare_domains, is_slope_within
from notebooks.rales.scores import mann_whitney
from radeval_lib.study.results import statement_outcome


@pytest.fixture
def scores() -> pd.DataFrame:
    rows = [
        ("General", family, value) for family, value in zip("eeff", (80.0, 80.2, 80.4, 80.6), strict=True)
    ]
    rows += [
        ("Clinical", family, value) for family, value in zip("abcd", (82.0, 82.2, 82.4, 82.6), strict=True)
    ]
    return pd.DataFrame(rows, columns=["domain", "family", "value"]).assign(half_width=0.05, labels="100%")


def test_ranks_of_separated_groups_by_hand() -> None:
    # 2 against 3, fully separated: one of C(5, 2) = 10 divisions on each side, so p = 2/10
    test = mann_whitney([1, 2], [3, 4, 5])
    assert test[["p", "cles", "least_p"]].tolist() == pytest.approx([0.2, 0, 0.2])


def test_without_ties_p_is_that_of_the_exact_distribution() -> None:
    a, b = [81.8, 81.4, 79.7, 82.0, 83.1], [83.3, 82.6, 82.7, 81.9]
    assert mann_whitney(a, b)["p"] == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)


def test_a_lead_over_few_families_is_established_over_models_alone(scores: pd.DataFrame) -> None:
    test = compare_domains(scores, ["Clinical"], ["General"])
    assert test["difference"] == pytest.approx(2.0)
    assert test["p"] == pytest.approx(2 / comb(8, 4))
    assert test["p, families"] == pytest.approx(2 / comb(6, 2))  # four families against two
    checks = check_lead("by domain", "a lead", scores, ["Clinical"], [["General"]])
    assert [check.holds for check in checks] == [True, None]
    apart = scores.assign(family=list("efghabcd"))
    assert [c.holds for c in check_lead("", "", apart, ["Clinical"], [["General"]])] == [True, True]
    assert [c.holds for c in check_lead("", "", apart, ["General"], [["Clinical"]])] == [False, False]


@pytest.mark.parametrize(
    ("sizes", "far", "holds"),
    [
        ((2, 2, 2, 2), True, "inconclusive"),  # no scores of so few models could differ
        ((6, 6, 6, 6), True, "fails"),
        ((6, 6, 6, 6), False, "holds"),
        ((8, 3, 2, 2), True, "inconclusive"),  # only three categories could differ
    ],
)
def test_no_difference_holds_only_under_every_reading(sizes: tuple[int, ...], far: bool, holds: str) -> None:
    rows = []
    for position, domain in enumerate(["General", "Biomedical", "Clinical", "Radiology"]):
        values = [i + (100 * position if far else 0.1 * position) for i in range(sizes[position])]
        rows += [(domain, value, labels) for value in values for labels in ("1%", "10%", "100%")]
    scores = pd.DataFrame(rows, columns=["domain", "value", "labels"])
    assert statement_outcome(check_differences(scores, "made up")) == holds


@pytest.mark.parametrize(
    ("low", "high", "nlu", "decided"),
    [
        (0.6, 2.4, 100, True),  # one to two percent, printed in whole percents, are 0.5 to 2.5
        (0.6, 2.4, 80, None),  # 2.4 points are 3% of a score of 80
        (0.4, 1.5, 100, None),
        (-0.9, 0.3, 100, False),
        (-0.9, 0.45, 80, None),  # 0.45 points are 0.56% of a score of 80
        (2.6, 4.0, 100, False),
    ],
)
def test_printed_percents_are_intervals_and_of_two_kinds(
    low: float, high: float, nlu: float, decided: bool | None
) -> None:
    assert is_slope_within(pd.Series({"low": low, "high": high, "nlu": nlu}), 1, 2) is decided
