"""What pages show of results: findings merged and ranked, verdicts of a page, claims of a paper."""

from __future__ import annotations

import pandas as pd

from notebooks.across import audit
from notebooks.across.audit import ranked_findings
from radeval_lib.study import scorecards
from radeval_lib.study.scorecards import failing

COLUMNS = [
    "paper",
    "exhibit",
    "label",
    "notebook",
    "anchor",
    "evidence",
    "check",
    "what",
    "printed",
    "follows",
]


def _audit(*rows: tuple[str, str, str]) -> pd.DataFrame:
    """Return checks of RaTEScore: exhibit, discrepancy, outcome."""
    return pd.DataFrame(
        [
            (
                *(
                    "RaTEScore",
                    exhibit,
                    exhibit,
                    "ratescore/x",
                    exhibit,
                    "printed",
                    f"c{n}",
                    f"c{n}",
                    "1",
                    "2",
                    outcome,
                ),
                why,
                "paper" if why else "",
                f"By a {why}." if why else "",
                {"typo": "slip", "order": "conclusion"}.get(why, "number"),
                "not asked",
            )
            for n, (exhibit, why, outcome) in enumerate(rows)
        ],
        columns=[*COLUMNS, "outcome", "discrepancy", "kind", "explanation", "weight", "reply"],
    )


def test_findings_are_merged_by_their_discrepancy_and_ranked_by_weight() -> None:
    checks = _audit(
        ("table8", "typo", "fails"),
        ("eq3", "sum", "fails"),
        ("example_a1", "sum", "fails"),
        ("claim", "order", "fails"),
        ("fig1", "", "fails"),
        ("fig2", "", "fails"),
        ("table1", "", "holds"),
    )
    ranked = ranked_findings(checks)
    assert [rows["explanation"].iloc[0] for rows in ranked] == [
        "By a order.",
        "By a sum.",
        "",
        "",
        "By a typo.",
    ]
    assert failing(checks).drop_duplicates(["paper", "reason"])["reason"].tolist() == [
        "typo",
        "sum",
        "order",
        "fig1: c4",
        "fig2: c5",
    ]
    assert len(ranked) == 5, "one discrepancy counts once, an unknown one by exhibit"
    assert [rows["weight"].iloc[0] for rows in ranked] == [
        "conclusion",
        "number",
        "number",
        "number",
        "slip",
    ]
    letter = audit.letters(checks)
    assert letter.index("By a order.") < letter.index("By a typo.")
    assert list(ranked[1]["exhibit"]) == ["eq3", "example_a1"]


def test_a_papers_claims_are_listed_with_links_and_nothing_else() -> None:
    card = pd.DataFrame(
        [
            (
                "GREEN",
                "claim",
                "a/b",
                "Abstract",
                "It <leads>",
                "c1",
                "inconsistent",
                "fails",
                "3 of 4 statements",
            ),
            ("GREEN", "table", "a/b", "Table 4", "Taus", "t4", "consistent", "holds", ""),
            ("RaLEs", "claim", "a/c", "Sec 2", "Another paper", "c2", "consistent", "holds", ""),
        ],
        columns=["paper", "kind", "notebook", "label", "title", "place", "verdict", "outcome", "coverage"],
    ).assign(weight=["slip", "", ""])
    html = scorecards.claims_table(card, "GREEN", up="../n/")
    assert '<a href="../n/a/b.html#c1">Abstract</a>' in html
    assert "It &lt;leads&gt;" in html
    assert '<span class="verdict fails slip">✗ inconsistent</span>' in html
    assert "3 of 4 statements" in html
    assert "Taus" not in html
    assert "Another paper" not in html
