"""The page on fact counting: what Table 1's rounding and means imply."""

from __future__ import annotations

import pandas as pd

from radeval_lib.stats.base import f1
from radeval_lib.study.checks import check_groups

EVALUATORS = ["Eval 1", "Eval 2", "Eval 3"]


def as_printed(table1: pd.DataFrame) -> pd.DataFrame:
    """Return table 1 with its rounding: two decimals, `1.0` for 1.00, and coherence exact (a mean of ten
    codes)."""
    exact = table1.assign(half_width=table1["half_width"].clip(upper=0.005))
    exact.loc[(exact["metric"] == "Coherence") & (exact["evaluator"] != "Avg"), "half_width"] = 0.0
    return exact


def harmonic_bound(exact: pd.DataFrame) -> pd.DataFrame:
    """Return each evaluator's printed F-score beside the harmonic mean of the printed precision and recall.

    One row per model and evaluator: ``printed``; ``low``, ``high`` and ``harmonic mean``, what rounding
    allows; whether the F-score is ``reachable`` as a mean of F-scores, and ``strictly below``.
    """
    checks = check_groups(
        exact[exact["evaluator"] != "Avg"],
        by=["model", "evaluator"],
        target={"metric": "F-Score"},
        inputs={"metric": ["Precision", "Recall"]},
        function=lambda pair: f1(*pair),
        what="",
    )
    rows = {check.name: (check.stated, check.value, check.low, check.high) for check in checks}
    columns = ["printed", "harmonic mean", "low", "high"]
    bound = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    bound["reachable"] = bound["printed"] - 0.005 <= bound["high"]
    bound["strictly below"] = bound["printed"] + 0.005 < bound["low"]
    return bound


def one_wrong_fact(exact: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy of ten descriptions of which one has one wrong fact, by how many facts that
    one has, and whose printed accuracy of Pegasus-CNN it is."""
    cells = exact[(exact["model"] == "Pegasus-CNN") & (exact["metric"] == "Accuracy")]
    cells = cells[cells["evaluator"] != "Avg"]
    rows = []
    for size in range(2, 8):
        mean = 1 - 1 / (10 * size)
        fits = cells[(cells["value"] - mean).abs() <= cells["half_width"] + 1e-9]
        rows.append((size, mean, ", ".join(fits["evaluator"]) or "–"))
    columns = ["facts in the one description", "mean accuracy of ten", "fits the printed accuracy of"]
    return pd.DataFrame(rows, columns=columns)
