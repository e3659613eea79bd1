"""The front page: findings, the papers' main claims, and what the study rests on."""

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
"""What each paper is cited for."""
_BOLD = re.compile(r"\*\*(.+?)\*\*")  # **bold**


def findings(run: Run) -> HTML:
    """Return a numbered list of the headlines that this build bears out, each with a link to its page."""
    items = []
    for entry, text in results.supported_headlines(run):
        sentence = _BOLD.sub(r"<strong>\1</strong>", escape(text))
        anchor = entry.anchor.replace("_", "-")  # as Sphinx writes ids
        items.append(f"<li>{sentence} {link(entry.notebook, anchor, 'More')}</li>")
    return HTML(f'<ol class="headlines">{"".join(items)}</ol>')


def counts(card: pd.DataFrame) -> dict[str, int]:
    """Return the number of exhibits and of those checked: by arithmetic, on data, or by implementing a
    definition. Our own experiments are counted separately and do not count as checked."""
    rests = card["evidence"].where(card["outcome"] != EXPERIMENT, "")
    counted = {
        "arithmetic": int(rests.isin(["printed", "released"]).sum()),
        "data": int((~rests.isin(["", "definition", "printed", "released"])).sum()),
        "implemented": int((card["outcome"] == IMPLEMENTED).sum()),
    }
    experiments = int((card["outcome"] == EXPERIMENT).sum())
    return {"exhibits": len(card), "checked": sum(counted.values()), **counted, "experiments": experiments}
