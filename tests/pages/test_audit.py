"""What pages show of results: findings merged and ranked."""

from __future__ import annotations

import pandas as pd

from notebooks.across import audit

SEVERITIES = {"typo": "slip", "order": "conclusion"}


def _audit(*rows: tuple[str, str, str]) -> pd.DataFrame:
    """Return checks of RaTEScore: exhibit, discrepancy, outcome."""
    table = pd.DataFrame(rows, columns=["exhibit", "discrepancy", "outcome"])
    names = [f"c{number}" for number in range(len(rows))]
    why = table["discrepancy"]
    always = {"paper": "RaTEScore", "notebook": "ratescore/x", "evidence": "printed", "reply": "not asked"}
    return table.assign(
        **always,
        printed="1",
        computed="2",
        label=table["exhibit"],
        anchor=table["exhibit"],
        check=names,
        what=names,
        kind=why.map({"": "", "open": "convention"}).fillna("paper"),
        explanation=why.map(lambda name: f"By a {name}." if name else ""),
        severity=why.map(lambda name: SEVERITIES.get(name, "number")),
    )


def test_findings_are_merged_by_their_discrepancy_and_ranked_by_severity() -> None:
    checks = _audit(
        ("table8", "typo", "fails"),
        ("eq3", "sum", "fails"),
        ("example_a1", "sum", "fails"),
        ("claim", "order", "fails"),
        ("fig1", "", "fails"),
        ("fig2", "", "fails"),
        ("table1", "", "holds"),
        ("table2", "open", "inconclusive"),
    )
    ranked = audit.group_by_discrepancy(checks)  # a discrepancy counts once, an unknown one by exhibit
    shown = [(*rows[["explanation", "severity"]].iloc[0], list(rows["exhibit"])) for rows in ranked]
    assert shown == [
        ("By a order.", "conclusion", ["claim"]),
        ("By a sum.", "number", ["eq3", "example_a1"]),
        ("By a typo.", "slip", ["table8"]),
        ("", "number", ["fig1"]),
        ("", "number", ["fig2"]),
        ("By a open.", "number", ["table2"]),
    ]
    counts = audit.count_discrepancies(checks)["RaTEScore"]
    assert counts[counts > 0].to_dict() == {"conclusion": 1, "number": 1, "slip": 1, "": 2, "convention": 1}
    letter = audit.write_letters(checks)
    assert letter.index("By a order.") < letter.index("By a typo.")
