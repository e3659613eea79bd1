"""The errata: each discrepancy between a paper and its checks, the gravest first, as tables and letters.

The severity of an error (conclusion, number or slip) is our judgement and is stored in the paper's
``paper.yml``. In every function here, ``checks`` is the table that :func:`radeval_lib.study.audit` returns:
one row per check.
"""

from __future__ import annotations

from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.study.exhibit_html import mark_outcome, quote_words
from radeval_lib.study.scorecards import disagreeing_checks, grey_line, link
from radeval_lib.tables import search_table
from radeval_lib.text_format import joined

CAUSES = {
    "conclusion": "error in a conclusion",
    "number": "error in a number",
    "slip": "error in a citation or a word",
    "": "not known",
    "rounding": "last digit",
    "convention": "open convention",
    "text": "noise in our copy",
}
"""A mapping from each cause of a disagreement to its name on pages, the gravest first. The keys are the
severities of errors in a paper and the kinds of other discrepancies; the empty key is an unknown cause."""


def count_discrepancies(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the number of discrepancies, with one row per key of :data:`CAUSES` and one column per paper.

    A discrepancy counts once, even if it affects several checks.
    """
    discrepancies = disagreeing_checks(checks).drop_duplicates(["paper", "reason"])
    return pd.crosstab(discrepancies["cause"], discrepancies["paper"]).reindex(list(CAUSES), fill_value=0)


def group_by_discrepancy(checks: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the disagreeing checks as one table per paper and discrepancy, in the order of :data:`CAUSES`.

    Among discrepancies with the same cause, those with more checks come first.
    """
    groups = [rows for _, rows in disagreeing_checks(checks).groupby(["paper", "reason"], sort=False)]
    return sorted(groups, key=lambda rows: ([*CAUSES].index(rows["cause"].iloc[0]), -len(rows)))


def show_discrepancies(checks: pd.DataFrame) -> HTML:
    """Return a searchable table with one row per discrepancy, the gravest first.

    Its columns are the paper and exhibits concerned; the explanation, with the first disagreeing check and
    the number of other such checks; the cause; and the authors' reply.
    """
    table_rows = []
    for rows in group_by_discrepancy(checks):
        first = next(rows.itertuples())
        count_note = f" ({len(rows) - 1} more like it)" if len(rows) > 1 else ""
        quote = escape(quote_words(first.printed, first.exhibit))
        example = f"{escape(first.check)}: printed {quote}; we compute {escape(first.computed)}{count_note}"
        explanation = escape(first.explanation) + grey_line(example)
        links = {
            row.exhibit: link(row.notebook, row.anchor, row.label.removeprefix("unnumbered, "))
            for row in rows.itertuples()
        }
        exhibits = f"{escape(first.paper)}, {joined(list(links.values()))}"
        table_rows.append([exhibits, explanation, CAUSES[first.cause], first.reply])
    headers = ["where", "what disagrees, and why", "cause", "authors' reply"]
    return search_table(headers, table_rows, "a result")


def write_letters(checks: pd.DataFrame) -> str:
    """Return letters to the authors of the papers with known errors, separated by three blank lines.

    Each letter lists the errors in one paper, the gravest first.
    """
    by_paper: dict[str, list[str]] = {}
    for first in (next(rows.itertuples()) for rows in group_by_discrepancy(checks)):
        if first.kind == "paper":
            label = first.label.removeprefix("unnumbered, ")
            item = f"{label}: printed {quote_words(first.printed, first.exhibit)}; we find {first.computed}. "
            by_paper.setdefault(str(first.paper), []).append(item + first.explanation)
    return "\n\n\n".join(
        f"Dear authors of {paper},\n\nWe checked the printed numbers of your paper against one another and "
        "against your repository. These do not agree:\n\n"
        + "\n".join(f"{n}. {item}" for n, item in enumerate(items, start=1))
        + "\n\nDid we misread any of these? We will print your reply next to each item.\n"
        for paper, items in by_paper.items()
    )


def show_checks(checks: pd.DataFrame) -> HTML:
    """Return a searchable table with one row per check: paper, exhibit, check, printed value, computed
    value, and outcome (*holds*, *fails* or *inconclusive*)."""
    table_rows = [
        [
            escape(row.paper),
            link(row.notebook, row.anchor, row.label) + grey_line(f"[{row.exhibit}.{row.evidence}]"),
            escape(row.check if row.evidence == "printed" else f"{row.check} ({row.evidence})"),
            escape(quote_words(row.printed, row.exhibit)),
            escape(row.computed),
            mark_outcome(row.outcome),
        ]
        for row in checks.itertuples()
    ]
    headers = ["paper", "exhibit", "check", "printed", "what we compute", "outcome"]
    return search_table(headers, table_rows, "RaLEs fails")
