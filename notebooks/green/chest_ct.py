"""What the reader by rules reads in chest CT reports, beside their labels by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from radeval_lib.data.ct_labels import LabelledReport
from radeval_lib.rules.reader.observations import coded, label, positive

OBSERVATIONS = {
    "Cardiomegaly": "Cardiomegaly",
    "Atelectasis": "Atelectasis",
    "Consolidation": "Consolidation",
    "Pleural effusion": "Pleural Effusion",
    "Lung opacity": "Lung Opacity",
    "Medical material": "Support Devices",
}
"""Labels and the observations that correspond to them."""
CODES = {"Emphysema": "Emphysema", "Lung nodule": "Nodule"}
"""Labels that no observation corresponds to, but one of Open-i's codes."""
ALL = "all"


def label_agreement(reports: Iterable[LabelledReport]) -> pd.DataFrame:
    """Return how many reports have each label, are read as having it, and both; precision, recall and F1.

    Uncertain mentions count as read for observations; for codes, only probable ones do. The row
    :data:`ALL` has the sums and what follows from them (micro averages). A ratio of nothing is NaN.
    """
    names = [*OBSERVATIONS, *CODES]
    counts = pd.DataFrame(0, index=names, columns=["labelled", "read", "both"])
    for report in reports:
        stated = positive(label(report.text)), coded(report.text)
        read = {
            name
            for names_in_view, view in zip((OBSERVATIONS, CODES), stated, strict=True)
            for name, name_in_view in names_in_view.items()
            if name_in_view in view
        }
        counts["labelled"] += counts.index.isin(report.labels)
        counts["read"] += counts.index.isin(read)
        counts["both"] += counts.index.isin(report.labels & read)
    counts.loc[ALL] = counts.sum()
    return counts.assign(
        precision=counts["both"] / counts["read"],
        recall=counts["both"] / counts["labelled"],
        F1=2 * counts["both"] / (counts["read"] + counts["labelled"]),
    )
