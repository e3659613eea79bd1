"""The scorecard: what holds up, exhibit by exhibit, read from recorded results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.study import verdicts
from radeval_lib.study.results import Result


def _rank(result: Result) -> tuple[int, int, bool, int]:
    """What a reader should look at first: what tells something; data before numbers before other data; and of
    printed and released numbers, neither of which outweighs the other, the one that is inconsistent."""
    silent = {verdicts.CANNOT_TELL: 1, verdicts.EXPERIMENT: 2, verdicts.EDITED: 3}.get(result.outcome, 0)
    settled = result.kind != "numbers" or result.outcome != verdicts.FAILS
    return silent, verdicts.KINDS.index(result.kind), settled, verdicts.STRENGTH.index(result.evidence)


def scorecard(results: Sequence[Result]) -> pd.DataFrame:
    """Every exhibit of the ledger with its verdicts.

    Returns
    -------
    DataFrame
        One row per exhibit, in the ledger's order: ``exhibit``, ``paper``, ``label``, ``title``, ``kind``,
        ``notebook``, ``anchor``, ``needs``; of the strongest evidence ``verdict``, ``outcome``, ``evidence``
        (empty if not attempted) and ``remaining``; one column per kind of evidence
        with the verdict there (empty if none); ``checks``, ``failing`` and ``undetermined`` (how many checks
        cannot tell), counted over all evidence.
    """
    found: dict[str, dict[str, Result]] = {}
    for result in results:
        found.setdefault(result.exhibit, {})[result.evidence] = result
    rows = []
    for entry in ledger().values():
        levels = found.get(entry.id, {})
        best = min(levels.values(), key=_rank, default=None)
        outcomes = Counter(check.outcome for result in levels.values() for check in result.checks)
        rows.append(
            {
                "exhibit": entry.id,
                "paper": PAPERS[entry.paper],
                "label": entry.label,
                "title": entry.title,
                "kind": entry.kind.replace("_", " "),
                "notebook": entry.notebook,
                "anchor": entry.anchor,
                "needs": entry.would_need,
                "verdict": best.verdict if best else verdicts.NOT_ATTEMPTED,
                "outcome": best.outcome if best else verdicts.NOT_ATTEMPTED,
                "evidence": best.evidence if best else "",
                "remaining": best.remaining if best else "",
                **{level: levels[level].verdict if level in levels else "" for level in verdicts.EVIDENCE},
                "checks": outcomes.total(),
                "failing": outcomes[verdicts.FAILS],
                "undetermined": outcomes[verdicts.CANNOT_TELL],
            }
        )
    return pd.DataFrame(rows)


def audit(results: Sequence[Result]) -> pd.DataFrame:
    """Every check of every result, in the ledger's order.

    Returns
    -------
    DataFrame
        ``exhibit``, ``paper``, ``label``, ``notebook``, ``anchor``, ``evidence``, ``check``, ``printed``,
        ``follows``, ``outcome`` (``holds``, ``fails`` or ``cannot tell``), ``cause`` and ``explanation``
        (empty unless it fails and is explained).
    """
    entries = ledger()
    rows = [
        (
            *(entry.id, PAPERS[entry.paper], entry.label, entry.notebook, entry.anchor, result.evidence),
            *(check.name, check.printed, check.computed, check.outcome),
            *result.causes.get(check.name, ("", "")),
        )
        for result in results
        for entry in [entries[result.exhibit]]
        for check in result.checks
    ]
    columns = "exhibit paper label notebook anchor evidence check printed follows outcome cause explanation"
    return pd.DataFrame(rows, columns=columns.split())
