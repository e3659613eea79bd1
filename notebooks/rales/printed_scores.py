"""The models of Table 2 and their printed NLU scores, as the pages about them share them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from radeval_lib import plots, study
from radeval_lib.text_format import out_of

GENERAL = "General"
SPECIAL = ["Clinical", "Radiology"]
"""Domains that the paper's text takes together."""

SETTINGS = {
    "100%": ("rales.table3", "NLU score"),
    "10%": ("rales.table9", "Avg"),
    "1%": ("rales.table10", "Avg"),
    "100%, frozen": ("rales.table11", "Avg"),
}
"""By share of labels: the table and its column of averages."""

ORDER = ["1%", "10%", "100%", "100%, frozen"]
"""Of the shares in Figure 2."""


def models() -> pd.DataFrame:
    """Table 2, one row per model: ``domain``, ``family``, ``model``, and million parameters under
    ``value``. What the table calls *English* is *General* in the paper's text, its figures and here."""
    listed = study.printed("rales.table2")
    return listed.assign(domain=listed["domain"].replace("English", GENERAL))


def domains() -> list[str]:
    """Domains of pretraining in Table 2's order."""
    return list(dict.fromkeys(models()["domain"]))


def colours() -> dict[str, str]:
    """A colour for each domain, the same on every page."""
    return dict(zip(domains(), plots.PALETTE, strict=False))


def nlu_scores() -> pd.DataFrame:
    """The column *NLU score* of Table 3 as printed, of the models that have one, with ``domain`` and
    ``million parameters``."""
    described = (
        models().set_index("model")[["domain", "value"]].set_axis(["domain", "million parameters"], axis=1)
    )
    rows = study.printed("rales.table3").query("task == 'NLU score'").dropna(subset=["value"])
    return rows.join(described, on="model")


def by_share(shares: Collection[str] = tuple(SETTINGS)) -> pd.DataFrame:
    """The average of every model in some settings, that of all labels among them, with ``labels`` (a key of
    :data:`SETTINGS`) and ``domain``. A ValueError for a share that is none of these."""
    if unknown := set(shares) - set(SETTINGS):
        raise ValueError(f"no share {sorted(unknown)}; there are {', '.join(SETTINGS)}")
    frames = [nlu_scores().assign(labels="100%")]
    for labels, (table, column) in SETTINGS.items():
        if labels != "100%" and labels in shares:
            rows = study.printed(table)
            frames.append(rows[rows["task"] == column].assign(labels=labels))
    long = pd.concat(frames)
    return long.assign(domain=long["model"].map(models().set_index("model")["domain"]))


def accuracy_by_class() -> study.Estimate:
    """Accuracy of the classifier of Table 15 (GatorTron), by its recalls and numbers of reports."""
    rows = study.printed("rales.table15")
    reports = rows.query("quantity == 'N'")["value"]
    recalls = rows.query("quantity == 'recall'")
    return study.rounding_range(lambda recall: float(np.average(recall, weights=reports)), recalls)


def sizes_as_plotted() -> study.Check:
    """Whether the sizes of Table 2 are those that the repository's figure notebook plots."""
    own = study.printed("rales.fig1")
    plotted = own[own["quantity"] == "parameters"].set_index("model")["value"]
    sizes = models().set_index("model")["value"]
    same = int((plotted.reindex(sizes.index) == sizes).sum())
    return study.check_statement(
        "sizes, Table 2 against the repository's Figure 1",
        f"{len(sizes)} sizes in Table 2",
        f"{out_of(same, len(sizes), str)} are the same in the figure notebook",
        same == len(sizes),
        cells=[
            *study.all_in(own[own["quantity"] == "parameters"]),
            *study.all_in(study.printed("rales.table2")),
        ],
    )
