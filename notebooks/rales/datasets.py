"""The page on data sets and procedure selection: checks of printed counts, word counts, and a figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data import recorded
from radeval_lib.data.records import Report
from radeval_lib.data.restricted import reveal
from radeval_lib.papers.printed_numbers import cell_in
from radeval_lib.placeholders import parse_placeholder
from radeval_lib.stats.printed import counts_that_print, predictions_that_print
from radeval_lib.study.checks import Check, Key, by_reading, check_statement

_SOURCES = {
    "RadGraph": [["MIMIC-CXR", "CheXpert"]],
    "RadSpRL": [["Open-i"]],
    "Stanza Radiology": [["three hospitals"]],
    "CT Procedure Selection": [["MIMIC-III"]],
    "MEDIQA 2021": [["MIMIC-CXR", "Indiana", "Stanford"], ["Indiana", "Stanford"]],
    "BioNLP 2023": [["MIMIC-III"]],
}
"""A mapping from each data set to the lists of sources that Section 4.1 names, one list per reading. MEDIQA
2021 has two readings: the sources of all its parts, and those of its test set."""
MAX_N_ERROR, MAX_F1_ERROR = 7, 0.1
"""The largest errors with which dots were read off Figure 5: in reports, and in points of F1."""
_HALF_UNIT = 0.0005  # half a unit of the last printed digit: half of 0.1 percent, as a fraction
_PERCENTAGES = np.arange(1, 1001) / 1000  # all percentages above 0 with one decimal, as fractions
_SLACK = 1e-9  # tolerance for rounding errors of quotients and differences
_LABEL_OFFSETS = {"CT UE WO contr": (4, 22), "CT Head WO contr": (-6, 8)}
"""Offsets of labels, in points to the right and up, where the default would overlap or leave the axes."""


def find_italics(quotation: str) -> list[str]:
    """Return the names that a quotation sets in italics (``*one, two*``), in lower case."""
    runs = re.findall(r"\*([^*]+)\*", quotation)
    return [name.strip().lower() for run in runs for name in run.split(",") if name.strip()]


def check_sources(table1: pd.DataFrame, prose: str) -> list[Check]:
    """Return checks of Table 1's numbers of sources against the sources that Section 4.1 names.

    There is one check per data set, task and reading. ``table1`` has the printed cells of Table 1, and
    ``prose`` is the text of Section 4.1.
    """
    checks = []
    for _, row in table1[table1["quantity"] == "sources"].iterrows():
        cell = cell_in(row)
        readings = [[name for name in names if name in prose] for names in _SOURCES[row["dataset"]]]
        counts = [3 if names == ["three hospitals"] else len(names) for names in readings]
        key = Key("sources against the prose", row["dataset"], row["task"])
        for names, count in zip(readings, counts, strict=True):
            sources = ", ".join(names)
            check = check_statement(key, cell.text, sources, count == cell.value, cells=[cell])
            checks.append(replace(check, reading=sources if len(readings) > 1 else ""))
    return checks


def check_parts(counts: pd.DataFrame, quotes: Sequence[str]) -> list[Check]:
    """Return checks of Section 4.1 against the groups of reports in Table 6.

    One statement lists modalities and body parts; it is read as naming those of some reports, and as naming
    those of all reports. Another says that some groups have test reports but no training reports.

    Parameters
    ----------
    counts : the number of reports by group (modality and body parts; rows) and split (columns).
    quotes : the section's sentences; the first lists the modalities and body parts.
    """
    listing = re.search(r" with (.+?) present", quotes[0])
    listed = re.split(r", | and ", listing[1]) if listing else []
    groups = [str(group).split(maxsplit=1) for group in counts.index]
    modalities = {modality for modality, _ in groups}
    parts = dict.fromkeys(part for _, body in groups for part in body.lower().split("-"))
    unlisted = [part for part in parts if not any(name.startswith(part) for name in listed)]
    has_rows = [any(name.startswith(part) for part in parts) for name in listed]
    unseen_groups = counts.index[(counts["test"] > 0) & (counts["train"] == 0)]
    return [
        *by_reading(
            {
                reading: check_statement(
                    "modalities and body parts of Section 4.1",
                    listing[1] if listing else "",
                    f"{' and '.join(sorted(modalities))}; {sum(has_rows)} of {len(listed)} body parts have "
                    f"rows; also: {', '.join(unlisted) or 'none'}",
                    modalities == {"CT", "MR"} and all(has_rows) and is_complete,
                )
                for reading, is_complete in {"some of them": True, "all of them": not unlisted}.items()
            }
        ),
        check_statement(
            "groups with test reports and none for training",
            "test evaluations include anatomies/modalities unseen in training data",
            f"{len(unseen_groups)} of {len(counts)}: {', '.join(unseen_groups) or 'none'}",
            len(unseen_groups) > 0,
        ),
    ]


def count_reports_with_words(reports: Sequence[Report], names: Sequence[str]) -> dict[str, int]:
    """Return a mapping from each name to the number of reports with the name in findings or impression.

    ``names`` must be in lower case. The case of reports is ignored, and a name may be part of a longer word.
    If the reports are placeholders, the counts come from the stored set ``openi``, which has them only for
    ``pneumothorax``, ``cardiomegaly`` and ``radiodensity``.
    """
    if any(parse_placeholder(str(report.findings) or str(report.impression)) for report in reports[:1]):
        table = recorded.load("openi").table
        return {name: int(table[f"word_{name}"].sum()) for name in names}
    texts = [f"{reveal(report.findings)} {reveal(report.impression)}".lower() for report in reports]
    return {name: sum(name in text for text in texts) for name in names}


def bound_class_size(in_test: int, share: float) -> tuple[int, int]:
    """Return the smallest and the largest possible size of a class with ``in_test`` reports in the test set.

    The test set is stratified: it has the same ``share`` (above 0, at most 1) of each class, rounded up or
    down.
    """
    return int(np.floor((in_test - 1) / share + _SLACK)) + 1, int(np.ceil((in_test + 1) / share - _SLACK)) - 1


def bound_predictions(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest possible number of predictions of each class with recall above 0.

    ``by_class`` is indexed by class and has the printed ``precision`` and ``recall`` (percent) and the number
    of test reports ``N``. The result has one row per class; its columns ``low`` and ``high`` are NaN if no
    integers fit.
    """
    counts = {}
    for name, row in by_class[by_class["recall"] > 0].iterrows():
        precision = 1.0 if row["precision"] == 1 else row["precision"] / 100  # a printed 1 means 100%
        bounds = predictions_that_print(precision, row["recall"] / 100, int(row["N"]), _HALF_UNIT)
        counts[name] = bounds or (np.nan, np.nan)
    return pd.DataFrame.from_dict(counts, orient="index", columns=["low", "high"])


def assess_integer_fit(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return whether integer counts of reports can give the printed recall and precision of each class.

    The recall is the number of true positives divided by ``N``; the precision is the same number divided by a
    number of predictions that is not smaller. A recall of 0 is always possible, and does not constrain the
    precision.

    Parameters
    ----------
    by_class : the printed ``precision`` and ``recall`` (percent) and the number of test reports ``N`` of each
        class, indexed by class.

    Returns
    -------
    DataFrame
        One row per class, indexed by class. ``recall`` and ``precision`` say whether the printed value is
        possible; ``recall_accepts`` and ``precision_accepts`` are the shares (0 to 1) of the percentages from
        0.1 to 100.0 that would be possible for this class. If the printed recall is 0, both values count as
        possible and both shares are NaN.
    """
    is_possible = bound_predictions(by_class)["low"].notna()
    rows = {}
    for name, row in by_class.iterrows():
        n, share = int(row["N"]), row["recall"] / 100
        if not share:
            rows[name] = (True, np.nan, True, np.nan)
            continue
        hits = np.array(counts_that_print(share, _HALF_UNIT, n), dtype=np.float64)
        recall_share = np.mean([bool(counts_that_print(recall, _HALF_UNIT, n)) for recall in _PERCENTAGES])
        # The precision hits / m rounds to p if hits / (p + half) <= m <= hits / (p - half); also, m >= hits.
        largest = np.floor(hits / (_PERCENTAGES[:, None] - _HALF_UNIT) + _SLACK)
        smallest = np.maximum(np.ceil(hits / (_PERCENTAGES[:, None] + _HALF_UNIT) - _SLACK), hits)
        precision_share = (largest >= smallest).any(axis=1).mean()
        rows[name] = (bool(hits.size), float(recall_share), bool(is_possible[name]), float(precision_share))
    columns = ["recall", "recall_accepts", "precision", "precision_accepts"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def find_nearby_classes(dots: pd.DataFrame, by_class: pd.DataFrame) -> list[pd.Index]:
    """Return, for each dot of Figure 5, the names of the classes of Table 15 that the dot can show.

    A dot can show a class at most :data:`MAX_N_ERROR` reports and :data:`MAX_F1_ERROR` points of F1 away.
    ``dots`` has the columns ``reports`` and ``f1``; ``by_class`` has ``N`` and ``F1``, indexed by class.
    """
    return [
        by_class.index[
            ((by_class["N"] - dot["reports"]).abs() <= MAX_N_ERROR)
            & ((by_class["F1"] - dot["f1"]).abs() <= MAX_F1_ERROR + _SLACK)
        ]
        for _, dot in dots.iterrows()
    ]


def draw_rare(by_class: pd.DataFrame, labelled: pd.DataFrame) -> Axes:
    """Draw each class's F1 against its number of test reports, with lines at both medians.

    ``by_class`` has ``N`` and ``F1``, indexed by class; ``labelled`` has the rows of the classes to label.
    """
    ax = sns.scatterplot(by_class, x="N", y="F1", s=40, zorder=3)
    ax.axvline(by_class["N"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    ax.axhline(by_class["F1"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    for name, row in labelled.iterrows():
        plots.label_point(ax, str(name), (row["N"], row["F1"]), _LABEL_OFFSETS.get(str(name), (9, 0)))
    ticks = [20, 200, 2000]
    ax.set(xscale="log", xlabel="test reports", xticks=ticks)
    ax.set_xticklabels([f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    ax.set(ylabel="F1 (percent)", xlim=(15, 45_000), ylim=(-3, 100))
    return ax
