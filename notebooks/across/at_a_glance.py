"""The front page: its headlines, the papers' main claims, and counts of checked exhibits."""

from __future__ import annotations

import re
from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.study import results
from radeval_lib.study.runs import Run
from radeval_lib.study.scorecards import link
from radeval_lib.study.verdicts import EXPERIMENT, IMPLEMENTED

CLAIMS = (
    "ratescore.claim_alignment",
    "ratescore.claim_rexval",
    "rales.claim_objective",
    "rales.claim_calibration",
    "green.claim_headline",
    "green.claim_interexpert",
    "rrs.claim_bart",
    "rrs.claim_radgraph",
    "facts.claim_agreement",
    "facts.claim_objective",
)
"""Ids of the exhibits with the claims for which each paper is cited."""
_BOLD = re.compile(r"\*\*(.+?)\*\*")  # Markdown's **bold**


def list_headlines(run: Run) -> HTML:
    """Return a numbered HTML list of the headlines of ``headlines.yml`` that this build's numbers support.

    Each headline has a link to its page.
    """
    items = []
    for entry, text in results.supported_headlines(run):
        sentence = _BOLD.sub(r"<strong>\1</strong>", escape(text))
        anchor = entry.anchor.replace("_", "-")  # Sphinx writes ids with hyphens.
        items.append(f"<li>{sentence} {link(entry.notebook, anchor, 'More')}</li>")
    return HTML(f'<ol class="headlines">{"".join(items)}</ol>')


def count_exhibits(card: pd.DataFrame) -> dict[str, int]:
    """Count all exhibits and those that were checked, by kind of check.

    Parameters
    ----------
    card : the scorecard, one row per exhibit with its ``evidence`` and ``outcome``, from
        :func:`radeval_lib.study.scorecard`.

    Returns
    -------
    dict
        ``exhibits``: all exhibits. ``arithmetic``: checked on printed or released numbers. ``data``:
        checked on data. ``implemented``: definitions that the library implements. ``checked``: the sum of
        these three. ``experiments``: exhibits with nothing but our own experiment, which do not count
        as checked.
    """
    evidence = card["evidence"].where(card["outcome"] != EXPERIMENT, "")
    checked = {
        "arithmetic": int(evidence.isin(["printed", "released"]).sum()),
        "data": int((~evidence.isin(["", "definition", "printed", "released"])).sum()),
        "implemented": int((card["outcome"] == IMPLEMENTED).sum()),
    }
    experiments = int((card["outcome"] == EXPERIMENT).sum())
    return {"exhibits": len(card), "checked": sum(checked.values()), **checked, "experiments": experiments}
