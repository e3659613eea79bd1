"""Candidates that are wrong in one known way: every kind of single error, and controls."""

from __future__ import annotations

import pandas as pd

from radeval_lib.stats.comparisons import preferences
from radeval_lib.synthetic import CATEGORIES, SyntheticError, SyntheticReport, inject, rewrite
from radeval_lib.synthetic.generator import report_at

COPIED, REWORDED = "copied", "reworded"
NONE, UNRELATED = "none", "another report"
NAMES = {
    "a": "false finding",
    "b": "missing finding",
    "c": "wrong place",
    "d": "wrong severity",
    "e": "false comparison",
    "f": "missing comparison",
}
"""What pages call the categories of error."""
KINDS = tuple((category, significant) for category in CATEGORIES for significant in (True, False))
_TRIES = 400  # reports looked at for each one that is wanted; about one in fifteen allows every kind of error


def single_errors(n: int, seed: int) -> pd.DataFrame:
    """Generated reports, each with two candidates for every kind of single error, and with three controls.

    One candidate repeats the reference word by word but for the error; the other says the same thing, with
    the same error, in other words. The reports are those of which every kind of error can be made, so that
    kinds are compared on the same references: each has at least four findings and a comparison with an
    earlier examination.

    Parameters
    ----------
    n : number of references, at least 2.
    seed : what the reports, errors and wordings depend on.

    Returns
    -------
    DataFrame
        27 rows a reference: ``case`` (int); ``kind`` (a category letter, ``none`` or ``another report``);
        ``significant`` (bool; False without an error); ``wording`` (``copied`` or ``reworded``; empty for
        another report, which is the next case's reference); ``reference``, ``candidate``; and what either
        says where the error is, ``reference_says`` and ``candidate_says``.

    Raises
    ------
    ValueError
        Where ``n`` is less than 2.
    SyntheticError
        Where too few reports allow every kind of error.
    """
    if n < 2:
        raise ValueError(f"{n} references; another report needs at least two")
    found: dict[str, list[dict[str, object]]] = {}
    for index in range(_TRIES * n):
        report = report_at(seed, index, min_findings=4, prior=True)
        try:
            found.setdefault(report.findings.text, _candidates(report, seed))
        except SyntheticError:
            continue
        if len(found) == n:
            break
    else:
        raise SyntheticError(
            f"{len(found)} of {n} reports allow every kind of error", "single_errors", "Ask for fewer."
        )
    rows, references = [], list(found)
    for case, reference in enumerate(references):
        other: dict[str, object] = {"kind": UNRELATED, "wording": "", "candidate": references[(case + 1) % n]}
        rows += [{"case": case, "reference": reference, **row} for row in (*found[reference], other)]
    table = pd.DataFrame(rows).fillna({"significant": False, "reference_says": "", "candidate_says": ""})
    columns = ["case", "kind", "significant", "wording", "reference", "candidate"]
    return table[[*columns, "reference_says", "candidate_says"]].astype({"significant": bool})


def _candidates(report: SyntheticReport, seed: int) -> list[dict[str, object]]:
    """The report itself and a rewrite, each without an error and with every kind of single error."""
    rows: list[dict[str, object]] = []
    for wording, base in ((COPIED, report), (REWORDED, rewrite(report, "synonym", seed))):
        rows.append({"kind": NONE, "wording": wording, "candidate": base.findings.text})
        for category, significant in KINDS:
            pair = inject(base, [(category, significant)], seed)
            (error,) = pair.errors
            rows.append(
                {
                    "kind": category,
                    "significant": significant,
                    "wording": wording,
                    "candidate": pair.candidate.findings.text,
                    "reference_says": error.reference_says,
                    "candidate_says": error.candidate_says,
                }
            )
    return rows


def faithful_above(faithful: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """How often the faithful rewording of the same reference is above each of some candidates, by metric.

    Parameters
    ----------
    faithful : scores of the faithful rewordings, one row a case, one column a metric.
    rows : candidates: ``case`` and a score by each metric.
    """
    return preferences(faithful.loc[rows["case"]], rows[list(faithful)], groups=rows["case"])


def by_significance(faithful: pd.DataFrame, reworded: pd.DataFrame, metric: str) -> pd.DataFrame:
    """:func:`faithful_above` of one metric for each category: all pairs, significant errors, and others.

    Returns
    -------
    DataFrame
        Index ``kind`` (a category letter) and ``part`` (``all``, ``significant`` or ``not significant``).
    """
    rows: dict[tuple[str, str], pd.Series] = {}
    for kind in NAMES:
        own = reworded[reworded["kind"] == kind]
        parts = {
            "all": own,
            "significant": own[own["significant"]],
            "not significant": own[~own["significant"]],
        }
        rows |= {(kind, part): faithful_above(faithful, chosen).loc[metric] for part, chosen in parts.items()}
    return pd.DataFrame(rows.values(), index=pd.MultiIndex.from_tuples(rows, names=["kind", "part"]))
