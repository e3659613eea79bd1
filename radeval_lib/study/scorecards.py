"""The scorecard: what holds up, exhibit by exhibit, read from recorded results alone."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.study.display import standing
from radeval_lib.study.recording import EVIDENCE, Result

STATUSES = ("reproduced", "reproduced in part", "differs", "shape only", "not attempted")
# Strongest first: what a reader should look at where an exhibit was rebuilt at several levels. What only
# shows a shape, on other data than the paper's, comes after all of them.
_STRENGTH = ("credentialed", "open", "print", "synthetic")


def _rank(result: Result) -> tuple[bool, int]:
    return result.verdict == "shape only", _STRENGTH.index(result.evidence)


def scorecard(results: Sequence[Result]) -> pd.DataFrame:
    """Every exhibit of the ledger with its status.

    Returns
    -------
    DataFrame
        One row an exhibit, in the ledger's order: ``exhibit``, ``paper``, ``label``, ``title``, ``kind``,
        ``notebook``, ``anchor``, ``needs``, ``status`` (that of the strongest evidence), ``evidence`` (the
        strongest; empty if not attempted), one column a level of evidence with the status there (empty if
        none), ``checks``, ``differing`` (counts over all levels) and ``remaining``.
    """
    found: dict[str, dict[str, Result]] = {}
    for result in results:
        found.setdefault(result.exhibit, {})[result.evidence] = result
    rows = []
    for entry in ledger().values():
        levels = found.get(entry.id, {})
        best = min(levels.values(), key=_rank, default=None)
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
                "status": standing(best) if best else "not attempted",
                "evidence": best.evidence if best else "",
                **{level: standing(levels[level]) if level in levels else "" for level in EVIDENCE},
                "checks": sum(len(result.checks) for result in levels.values()),
                "differing": sum(len(result.differing) for result in levels.values()),
                "remaining": best.remaining if best else "",
            }
        )
    return pd.DataFrame(rows)


def totals(card: pd.DataFrame) -> pd.DataFrame:
    """Exhibits by paper (rows) and status (columns), with a row and a column of totals."""
    counted = pd.crosstab(card["paper"], card["status"])
    counted = counted.reindex(index=list(PAPERS.values()), columns=list(STATUSES), fill_value=0)
    counted["all"] = counted.sum(axis=1)
    counted.loc["all papers"] = counted.sum()
    return counted


def audit(results: Sequence[Result]) -> pd.DataFrame:
    """Every check of every result, in the ledger's order.

    Returns
    -------
    DataFrame
        ``exhibit``, ``paper``, ``label``, ``notebook``, ``anchor``, ``evidence``, ``shape`` (bool: nothing
        of the paper's own is compared), ``check``, ``printed``, ``follows``, ``agrees`` (bool), ``cause``
        and ``explanation`` (empty where it agrees, or not known).
    """
    entries = ledger()
    rows = []
    for result in results:
        entry = entries[result.exhibit]
        for check in result.checks:
            cause, why = result.causes.get(check.name, ("", ""))
            rows.append(
                {
                    "exhibit": entry.id,
                    "paper": PAPERS[entry.paper],
                    "label": entry.label,
                    "notebook": entry.notebook,
                    "anchor": entry.anchor,
                    "evidence": result.evidence,
                    "shape": result.verdict == "shape only",
                    "check": check.name,
                    "printed": check.printed,
                    "follows": check.computed,
                    "agrees": check.agrees,
                    "cause": cause,
                    "explanation": why,
                }
            )
    columns = [
        "exhibit",
        "paper",
        "label",
        "notebook",
        "anchor",
        "evidence",
        "shape",
        "check",
        "printed",
        "follows",
        "agrees",
        "cause",
        "explanation",
    ]
    return pd.DataFrame(rows, columns=columns).astype({"agrees": bool, "shape": bool})
