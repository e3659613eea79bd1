"""Compare the abnormalities that the rules read in chest CT reports with manual labels."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from radeval_lib.data.ct_labels import LabelledReport
from radeval_lib.rules.reader.observations import label, read_codes, select_positive

OBSERVATIONS = {
    "Cardiomegaly": "Cardiomegaly",
    "Atelectasis": "Atelectasis",
    "Consolidation": "Consolidation",
    "Pleural effusion": "Pleural Effusion",
    "Lung opacity": "Lung Opacity",
    "Medical material": "Support Devices",
}
"""A mapping from label to the reader's observation that means the same."""
CODES = {"Emphysema": "Emphysema", "Lung nodule": "Nodule"}
"""A mapping from each label without such an observation to the Open-i code that means the same."""
ALL = "all"
"""Name of the row of totals."""


def measure_agreement(reports: Iterable[LabelledReport]) -> pd.DataFrame:
    """Return the rules' precision and recall for each label in :data:`OBSERVATIONS` and :data:`CODES`.

    The returned table has one row per label, with columns ``labelled``, ``read`` and ``both`` (numbers of
    reports labelled by hand, by the rules and by both), ``precision``, ``recall`` and ``F1`` (0 to 1; NaN if
    the denominator is 0). The row :data:`ALL` has total counts and micro-averages. Of the uncertain mentions,
    the rules count all those of an observation, but only the probable ones of a code.
    """
    names = [*OBSERVATIONS, *CODES]
    counts = pd.DataFrame(0, index=names, columns=["labelled", "read", "both"])
    for report in reports:
        found_in_report = select_positive(label(report.text)), read_codes(report.text)
        labels_read = {
            name
            for key_of_label, keys in zip((OBSERVATIONS, CODES), found_in_report, strict=True)
            for name, key in key_of_label.items()
            if key in keys
        }
        counts["labelled"] += counts.index.isin(report.labels)
        counts["read"] += counts.index.isin(labels_read)
        counts["both"] += counts.index.isin(report.labels & labels_read)
    counts.loc[ALL] = counts.sum()
    return counts.assign(
        precision=counts["both"] / counts["read"],
        recall=counts["both"] / counts["labelled"],
        F1=2 * counts["both"] / (counts["read"] + counts["labelled"]),
    )
