"""Claims that something is better: the order and the lead, by one rule."""

from __future__ import annotations

import math

import pytest

from radeval_lib import study
from radeval_lib.study import Estimate, Lead, check_no_deficit, check_superiority, parse

SURE, OPEN, TURNED = Lead(1, "+"), Lead(0, "?"), Lead(-1, "-")


@pytest.mark.parametrize(
    ("values", "leads", "order", "lead"),
    [
        # Printed numbers: the order is what stands there, the lead what chance leaves of it.
        ({"A": parse("0.53"), "B": parse("0.52")}, SURE, "holds", "holds"),
        ({"A": parse("0.53"), "B": parse("0.52")}, OPEN, "holds", "inconclusive"),
        ({"A": parse("0.52"), "B": parse("0.52")}, OPEN, "inconclusive", "inconclusive"),  # a tie is no order
        ({"A": parse("0.51"), "B": parse("0.52")}, OPEN, "fails", "inconclusive"),
        # Computed numbers: an order within chance tells nothing, either way.
        ({"A": 0.21, "B": 0.19}, OPEN, "inconclusive", "inconclusive"),
        ({"A": 0.19, "B": 0.21}, OPEN, "inconclusive", "inconclusive"),
        ({"A": 0.19, "B": 0.41}, TURNED, "fails", "fails"),
        ({"A": 0.41, "B": 0.19}, SURE, "holds", "holds"),
    ],
)
def test_one_rule_for_every_claim(values: dict, leads: Lead, order: str, lead: str) -> None:
    checks = check_superiority("n", "c", values, first="A", leads=leads)
    assert [check.outcome for check in checks] == [order, lead]
    assert [check.name for check in checks] == ["n: order", "n: lead"]


def test_the_weakest_is_held_against_the_strongest_rival() -> None:
    values = {"A": 3.0, "B": 2.0, "C": 1.0, "D": 2.5}
    order, lead = check_superiority(
        "n", "c", values, first=["A", "B"], others=["C", "D"], leads={"C": SURE, "D": OPEN}, decimals=1
    )
    assert order.computed == "B 2.0, D 2.5"
    assert lead.outcome == "inconclusive"
    printed = {"A": parse("3.0"), "B": parse("2.0"), "C": parse("1.0")}
    (order, _) = check_superiority("n", "c", printed, first="C", lower_is_better=True)
    assert order.outcome == "holds"


def test_leads_come_from_intervals_and_p_values() -> None:
    assert Lead.by_interval(Estimate(0.2, 0.1, 0.3)) == Lead(1, "+0.200 [+0.100, +0.300]")
    assert Lead.by_interval(Estimate(0.2, -0.1, 0.3)).sign == 0
    assert Lead.by_interval(Estimate(-0.2, -0.3, -0.1)).sign == -1
    assert Lead.by_p(0.1, 0.04) == Lead(1, "p = 0.04")
    assert Lead.by_p(-0.1, 0.04, "McNemar") == Lead(-1, "p = 0.04, McNemar")
    assert Lead.by_p(0.1, 0.06).sign == Lead.by_p(0.0, 0.01).sign == 0


@pytest.mark.parametrize(("lead", "outcome"), [(SURE, "holds"), (OPEN, "inconclusive"), (TURNED, "fails")])
def test_no_visible_deficit_is_no_equality(lead: Lead, outcome: str) -> None:
    assert check_no_deficit("n", "c", "f", lead).outcome == outcome


def test_an_order_names_the_cells_that_it_compares_alone() -> None:
    cells = study.printed("ratescore.table6").query("measure == 'F1'")
    values = study.index_cells(cells, "model")
    first, rival, *_ = values
    (order,) = check_superiority("o", "higher", values, first=first, others=[rival], leads=None)
    assert set(order.cells) == {values[first].keys, values[rival].keys}


@pytest.mark.parametrize("missing", [parse("not legible"), math.nan])
def test_what_is_not_legible_has_no_order(missing: object) -> None:
    with pytest.raises(ValueError):
        check_superiority("n", "c", {"A": parse("0.5"), "B": missing, "C": 0.4}, first="A")
