"""Table 1, and the one task that the paper prints as a physician completed it (Figure 3)."""

from __future__ import annotations

import re

import pandas as pd

from radeval_lib.pages.facts.mtsamples import printed_report
from radeval_lib.papers.printed_numbers import printed, quotations
from radeval_lib.stats.f_scores import f1
from radeval_lib.study.checks import Check, check_groups, check_statement

EVALUATORS = ["Eval 1", "Eval 2", "Eval 3"]


def as_printed(table1: pd.DataFrame) -> pd.DataFrame:
    """Table 1 with its rounding: two decimals, `1.0` for 1.00, and coherence exact (a mean of ten codes)."""
    exact = table1.assign(half_width=table1["half_width"].clip(upper=0.005))
    exact.loc[(exact["metric"] == "Coherence") & (exact["evaluator"] != "Avg"), "half_width"] = 0.0
    return exact


def harmonic_bound(exact: pd.DataFrame) -> pd.DataFrame:
    """Each evaluator's printed F-score beside the harmonic mean of the printed precision and recall.

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
    """The mean accuracy of ten descriptions of which one has one wrong fact, by how many facts that one has,
    and whose printed accuracy of Pegasus-CNN it is."""
    cells = exact[(exact["model"] == "Pegasus-CNN") & (exact["metric"] == "Accuracy")]
    cells = cells[cells["evaluator"] != "Avg"]
    rows = []
    for size in range(2, 8):
        mean = 1 - 1 / (10 * size)
        fits = cells[(cells["value"] - mean).abs() <= cells["half_width"] + 1e-9]
        rows.append((size, mean, ", ".join(fits["evaluator"]) or "–"))
    columns = ["facts in the one description", "mean accuracy of ten", "fits the printed accuracy of"]
    return pd.DataFrame(rows, columns=columns)


def plain(text: str) -> str:
    """A text in lower case without punctuation but hyphens and apostrophes."""
    return " ".join(re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'")))


def stands_in(words: str, text: str) -> bool:
    """Whether the words of one :func:`plain` text stand in another, one after the other and whole."""
    return f" {words} " in f" {text} "


def marked(count: str) -> list[str]:
    """The spans that the physician marked for a count, ``R`` or ``G``."""
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [plain(fact) for fact in str(spans).split(" | ")]


def facts_of_g() -> pd.DataFrame:
    """Each span of G; whether the same words are marked in R, and stand in the report of Figure 1."""
    in_r, report = marked("R"), plain(printed_report()[0])
    columns = ["fact of G", "marked in R", "its words stand in the report"]
    rows = [(fact, fact in in_r, stands_in(fact, report)) for fact in marked("G")]
    return pd.DataFrame(rows, columns=columns)


def texts_of_task() -> list[Check]:
    """Whether the task's reference is the description of Figure 1, and its comment quotes G."""
    reference, generated = (" ".join(marked(count)) for count in ("R", "G"))
    same = reference == plain(printed_report()[1])
    comment = quotations("facts.fig3")[-1][1]
    quoted = plain(comment.split('"')[1])
    inside = stands_in(quoted, generated)
    return [
        check_statement(
            "text of R",
            "the reference",
            f"{'the' if same else 'not the'} description of Figure 1, {len(reference.split())} words",
            same,
        ),
        check_statement(
            "text that the comment calls wrong",
            comment,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} G",
            inside,
        ),
    ]
