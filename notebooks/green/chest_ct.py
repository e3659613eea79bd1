"""Compare what the rules read in chest CT reports with labels by hand."""

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
"""The observation that corresponds to each label."""
CODES = {"Emphysema": "Emphysema", "Lung nodule": "Nodule"}
"""The code of Open-i for each label without an observation."""
ALL = "all"


def label_agreement(reports: Iterable[LabelledReport]) -> pd.DataFrame:
    """Return the number of reports with each label, as read by the rules, and both; precision, recall and F1.

    Uncertain mentions count as read for observations; for codes, only probable ones do. The row
    :data:`ALL` has the sums and their micro averages. A ratio of nothing is NaN.
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
