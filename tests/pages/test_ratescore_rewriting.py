"""Findings of originals in their rewrites."""

from radeval_lib.data.records import Triad
from radeval_lib.pages.ratescore.dataset import rewritten_findings, said_of


def test_a_finding_that_is_said_twice_differently_or_in_doubt_is_left_out() -> None:
    assert said_of("There is a pleural effusion. No pneumothorax.") == {
        "pleural_effusion": "present",
        "pneumothorax": "absent",
    }
    assert "pneumothorax" not in said_of("There is a pneumothorax. There is no pneumothorax.")
    assert "pneumonia" not in said_of("Pneumonia cannot be excluded.")


def test_findings_are_followed_into_both_rewrites() -> None:
    triad = Triad(
        "one",
        "There is a pleural effusion. No pneumothorax.",
        "A pleural effusion is seen.",
        "No pleural effusion. There is a pneumothorax.",
    )
    rows = rewritten_findings([triad])
    assert rows.to_dict("list") == {
        "triad": ["one"] * 3,
        "version": ["synonymous", "opposite", "opposite"],
        "before": ["present", "present", "absent"],
        "after": ["present", "absent", "present"],
    }


def test_no_triad_gives_an_empty_table() -> None:
    assert list(rewritten_findings([]).columns) == ["triad", "version", "before", "after"]
