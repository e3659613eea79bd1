"""The demonstrations of the page on papers and their code: what is kept, and which contrast is picked."""

from __future__ import annotations

import math

import pytest

from notebooks.across import paper_versus_code as code
from notebooks.across.paper_versus_code import Contrast
from radeval_lib.metrics.ratescore import Scorer, options
from radeval_lib.papers.printed_numbers import released

PENALTY = Scorer("short", options("released")).weights.penalty
BY_HAND = {
    "compare_penalties": (0.8 * PENALTY, 0.8),
    "compare_empty_report": (0, 0.5),
    "compare_shifted_pairs": (5, 4),
    "compare_irregular_answers": (2 / 5, 1),
    "compare_aklu_bound": (math.log(46) - 0.994, 3.897),
    # Of three samples with confidence 0.5 one is right; the fourth, with 0.6, is right.
    "compare_weighted_gap": (0.4, (0.5 - 1 / 3) * 3 / 4),
    "compare_lost_zero": (0.25, 0.125),  # one of four true classes got probability 0, in half of the cells
    "compare_short_impressions": (1, 1e-6 ** (1 / 4)),
    # "INDICATION: fall. ", without and with "HEAD CT WITHOUT CONTRAST. " before it
    "compare_procedure_texts": (18, 44),
    "compare_findings_section": (0, 1),
    "compare_radgraph_levels": (2 / 3, 5 / 6),
    "compare_report_counts": (79_779, 79_790),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_contrasts_have_the_values_that_follow_by_hand(name: str) -> None:
    shown = getattr(code, name)()
    parts = shown if isinstance(shown, tuple) else (shown,)
    result = next(part for part in parts if isinstance(part, Contrast))
    assert (result.stated, result.released) == pytest.approx(BY_HAND[name], abs=1e-9)


def test_which_types_are_punished_and_which_way_round_the_weights_are_read() -> None:
    frame, _ = code.compare_penalties()
    differ = frame[(frame["paper"] - frame["code"]).abs() > 1e-9].index
    assert list(differ) == ["disease v abnormality, long", "disease v abnormality, short"]
    frame, _ = code.compare_orientations()
    first, second = frame.to_numpy().T
    assert (abs(first - second) > 1e-9).tolist() == [False, False, True, True]  # where matches are mutual


def test_released_packages_give_what_their_code_is_said_to_give() -> None:
    returned, _ = code.compare_shifted_pairs()
    contrasts = [
        *(code.compare_penalties()[1], code.compare_orientations()[1], returned),
        *(code.compare_empty_report(), code.compare_example_a1()),
        *(code.compare_irregular_answers(), code.compare_radgraph_levels()),
    ]
    packages = released("packages").set_index("difference")["value"]
    assert packages.to_dict() == pytest.approx({each.name: each.released for each in contrasts}, abs=1e-6)
