"""What the front page concludes: findings merged and ranked, each branch of its sentences, gaps in order."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from radeval_lib.papers.demonstrations import Contrast
from radeval_lib.study import conclusions
from radeval_lib.study.conclusions import counted_outcomes, largest_gaps, ranked_findings

COLUMNS = [
    "paper",
    "exhibit",
    "label",
    "notebook",
    "anchor",
    "evidence",
    "shape",
    "check",
    "printed",
    "follows",
]


def _audit(*rows: tuple[str, str, str, bool]) -> pd.DataFrame:
    """Checks of RaTEScore: exhibit, explanation, outcome, shape."""
    return pd.DataFrame(
        [
            (
                *(
                    "RaTEScore",
                    exhibit,
                    exhibit,
                    "ratescore/x",
                    exhibit,
                    "print",
                    shape,
                    f"c{n}",
                    "1",
                    "2",
                    outcome,
                ),
                "paper" if why else "",
                why,
            )
            for n, (exhibit, why, outcome, shape) in enumerate(rows)
        ],
        columns=[*COLUMNS, "outcome", "cause", "explanation"],
    )


def test_findings_are_merged_by_their_explanation_and_ranked_by_what_they_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = {("RaTEScore", "typo"): "wording", ("RaTEScore", "order"): "conclusion"}
    monkeypatch.setattr(conclusions, "_changes", lambda: levels)
    checks = _audit(
        ("table8", "typo", "fails", False),
        ("eq3", "sum", "fails", False),
        ("example_a1", "sum", "fails", False),
        ("claim", "order", "fails", False),
        ("fig1", "", "fails", False),
        ("fig2", "", "fails", False),
        ("table1", "", "holds", False),
        ("table9", "", "fails", True),
    )
    found = ranked_findings(checks)
    assert [one.explanation for one in found] == ["order", "sum", "", "", "typo"]
    assert [one.changes for one in found] == ["conclusion", "number", "number", "number", "wording"]
    assert list(found[1].checks["exhibit"]) == ["eq3", "example_a1"]


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        (["holds"], "one holds"),
        (["holds", "holds", "fails"], "two hold and one does not hold"),
        (["fails"] * 11, "11 do not hold"),
        (
            ["holds in part", "cannot tell", "fails", "fails"],
            "one holds as far as it was checked, two do not hold and one cannot be told",
        ),
    ],
)
def test_outcomes_are_counted_in_a_clause_without_zeros(outcomes: list[str], words: str) -> None:
    assert counted_outcomes(outcomes) == words


def _card(*rows: tuple[str, str, str, bool]) -> pd.DataFrame:
    """Exhibits of RaTEScore: label, kind, outcome, shape."""
    return pd.DataFrame(
        [
            ("RaTEScore", label, f"what {label} says", kind, "ratescore/x", label, outcome, shape)
            for label, kind, outcome, shape in rows
        ],
        columns=["paper", "label", "title", "kind", "notebook", "anchor", "outcome", "shape"],
    )


def test_a_paper_of_which_nothing_was_rebuilt() -> None:
    told = conclusions.paper_conclusion(_card(("a", "table", "not attempted", False)), _audit(), "RaTEScore")
    assert told == "None of its exhibits was rebuilt in this build."


def test_a_paper_whose_claims_hold() -> None:
    card = _card(("a", "claim", "holds", False), ("b", "table", "fails", True))
    assert conclusions.paper_conclusion(card, _audit(), "RaTEScore") == (
        "2 of 2 exhibits were rebuilt. Of those that rest on printed or released numbers, or on data, one "
        "holds. Of those that rest on stand-ins, which show a shape and no number, one does not hold. No "
        "claim that was checked fails."
    )


def test_a_paper_with_a_claim_that_fails_names_and_links_it() -> None:
    card = _card(("Abstract", "claim", "fails", False), ("b", "table", "not attempted", False))
    told = conclusions.paper_conclusion(
        card, _audit(("claim", "why", "fails", False)), "RaTEScore", up="../n/"
    )
    assert "1 of 2 exhibits was rebuilt." in told
    assert 'what Abstract says (<a href="../n/ratescore/x.html#Abstract">Abstract</a>)' in told
    assert "One claim does not follow as stated: <ul><li>what Abstract says" in told
    assert '(<a href="../n/ratescore/x.html#claim">claim</a>) changes a number: why' in told


def test_a_page_lists_its_verdicts_with_links_and_short_names() -> None:
    card = pd.DataFrame(
        [
            ("a/b", "Table 4", "Taus <of> five", "t4", "inconsistent", "fails"),
            ("a/b", "unnumbered, Sec 3", "Sentence rating: errors over words", "s3", "consistent", "holds"),
            ("a/b", "Appendix A", "A worked score (in two steps)", "a1", "consistent", "holds"),
            ("a/b", "unnumbered, Sec 4", "8:2 split by pairs; tuned on train", "s4", "consistent", "holds"),
            ("a/c", "Table 5", "Elsewhere", "t5", "consistent", "holds"),
        ],
        columns=["notebook", "label", "title", "anchor", "verdict", "outcome"],
    )
    told = conclusions.page_conclusion(card, "a/b")
    words = re.sub(r"<[^>]+>", " ", told).split()
    assert " ".join(words) == (
        "What holds up on this page ✓ consistent Sentence rating ; A worked score ; 8:2 split by pairs "
        "✗ inconsistent Table 4"
    )
    assert '<a href="#t4" title="Taus &lt;of&gt; five">Table 4</a>' in told
    assert conclusions.page_conclusion(card, "across/audit") == ""


def test_the_largest_gaps_stand_first_one_a_difference_and_counts_without_a_range_are_left_out() -> None:
    contrasts = [
        Contrast("A", "same", "small", 0.0, 0.1),
        Contrast("A", "same", "large", 0.0, 0.4),
        Contrast("B", "largest", "q", 1.0, 0.0),
        Contrast("B", "count", "q", 1.0, 900.0, scale=None),
    ]
    assert [one.quantity for one in largest_gaps(contrasts)] == ["q", "large"]
    assert "100% of the range" in conclusions.gaps_list(contrasts)
    assert "does not have the page" in conclusions.gaps_list([])
