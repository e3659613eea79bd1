"""How often the rules judge violates what must hold whatever a report says.

    python benchmarks/rules_judge_relations.py [DATA_ROOT]

Texts are the findings and the impressions of Open-i's reports that have both; without a data root, of
generated ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

from radeval_lib.data import openi
from radeval_lib.data.restricted import reveal
from radeval_lib.rules.generator import generate
from tests.rules.judge.relations import violation_rates


def texts(root: str | None) -> list[str]:
    """Return the sections that the relations are tried on."""
    if root is None:
        reports = generate(3000, seed=0, modality_anatomy=("X-Ray", "CHEST"))
        return [text for report in reports for text in (report.findings.text, report.impression.text) if text]
    pairs = openi.pairs(openi.load(Path(root) / "openi" / "indiana_reports.csv"))
    return [reveal(section) for pair in pairs for section in (pair.findings, pair.impression)]


def main() -> None:
    """Print tries, violations and their rate, a relation a line."""
    rates = violation_rates(texts(sys.argv[1] if len(sys.argv) > 1 else None))
    print(rates.to_string(formatters={"rate": "{:.2%}".format}))


if __name__ == "__main__":
    main()
