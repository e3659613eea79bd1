"""The page on counts and procedure selection: what its printed tables imply, real reports' words, figures."""

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
from radeval_lib.placeholders import behind
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
"""What Section 4.1 names as sources of each data set; of MEDIQA 2021 those of all parts, or of the test."""
READ_N, READ_F1 = 7, 0.1
"""How closely the dots of Figure 5 can be read: reports, points of F1."""
_HALF_DIGIT = 0.0005  # percent are printed with one decimal: half of 0.1 percent, as a fraction
_PERCENTS = np.arange(1, 1001) / 1000  # all above 0 with one decimal, as fractions
_SLACK = 1e-9  # of quotients that are whole numbers, and of differences of decimals
_LABELS = {"CT UE WO contr": (4, 22), "CT Head WO contr": (-6, 8)}
"""Points right of and above the dot, where the usual place would touch another or leave the axes."""


def italic(words: str) -> list[str]:
    """Return the names that a paper sets in italics, in lower case; one run may hold several, with commas."""
    runs = re.findall(r"\*([^*]+)\*", words)
    return [name.strip().lower() for run in runs for name in run.split(",") if name.strip()]


def check_sources(table1: pd.DataFrame, prose: str) -> list[Check]:
    """Check that Table 1 has as many sources of each data set as the ``prose`` names of :data:`_SOURCES`,
    in each way in which it may count."""
    checks = []
    for _, row in table1[table1["quantity"] == "sources"].iterrows():
        cell = cell_in(row)
        readings = [[name for name in names if name in prose] for names in _SOURCES[row["dataset"]]]
        counts = [3 if names == ["three hospitals"] else len(names) for names in readings]
        key = Key("sources against the prose", row["dataset"], row["task"])
        for names, count in zip(readings, counts, strict=True):
            named = ", ".join(names)
            check = check_statement(key, cell.text, named, count == cell.value, cells=[cell])
            checks.append(replace(check, reading=named if len(readings) > 1 else ""))
    return checks


def check_parts(counts: pd.DataFrame, quotes: Sequence[str]) -> list[Check]:
    """Check what Section 4.1 says of the reports behind Table 6: their modalities and body parts, read as
    “some reports” and as “all”, and that some groups are tested but not trained on.

    ``counts``: reports by group (modality and body parts) and split.
    """
    listed = re.search(r" with (.+?) present", quotes[0])
    named = re.split(r", | and ", listed[1]) if listed else []
    groups = [str(group).split(maxsplit=1) for group in counts.index]
    modalities = {modality for modality, _ in groups}
    parts = dict.fromkeys(part for _, both in groups for part in both.lower().split("-"))
    besides = [part for part in parts if not any(name.startswith(part) for name in named)]
    rows = [any(name.startswith(part) for part in parts) for name in named]
    unseen = counts.index[(counts["test"] > 0) & (counts["train"] == 0)]
    return [
        *by_reading(
            {
                reading: check_statement(
                    "modalities and body parts of Section 4.1",
                    listed[1] if listed else "",
                    f"{' and '.join(sorted(modalities))}; {sum(rows)} of {len(rows)} body parts have rows; "
                    f"besides: {', '.join(besides) or 'none'}",
                    modalities == {"CT", "MR"} and all(rows) and whole,
                )
                for reading, whole in {"some of them": True, "all of them": not besides}.items()
            }
        ),
        check_statement(
            "groups with test reports and none for training",
            "test evaluations include anatomies/modalities unseen in training data",
            f"{len(unseen)} of {len(counts)}: {', '.join(unseen) or 'none'}",
            len(unseen) > 0,
        ),
    ]


def count_reports_with_words(reports: Sequence[Report], names: Sequence[str]) -> dict[str, int]:
    """Return how many reports contain each of these words in findings or impression, ignoring case, also
    inside longer words; for stored reports, the counts come from the table."""
    if any(behind(str(report.findings) or str(report.impression)) for report in reports[:1]):
        table = recorded.load("openi").table
        return {name: int(table[f"word_{name}"].sum()) for name in names}
    texts = [f"{reveal(report.findings)} {reveal(report.impression)}".lower() for report in reports]
    return {name: sum(name in text for text in texts) for name in names}


def class_sizes(in_test: int, share: float) -> tuple[int, int]:
    """Return the smallest and the largest size of a class with ``in_test`` reports in a stratified test set
    of that ``share``: its share of the class is rounded up or down."""
    return int(np.floor((in_test - 1) / share + _SLACK)) + 1, int(np.ceil((in_test + 1) / share - _SLACK)) - 1


def predicted_counts(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return how often each class with a recall above 0 was predicted, ``low`` and ``high``, by its printed
    precision, recall (percent) and ``N``; NaN if no whole numbers print both."""
    counts = {}
    for name, row in by_class[by_class["recall"] > 0].iterrows():
        precision = 1.0 if row["precision"] == 1 else row["precision"] / 100  # a printed 1 means 100%
        ways = predictions_that_print(precision, row["recall"] / 100, int(row["N"]), _HALF_DIGIT)
        counts[name] = ways or (np.nan, np.nan)
    return pd.DataFrame.from_dict(counts, orient="index", columns=["low", "high"])


def whole_shares(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return whether recall and precision of each class are shares of whole reports: ``recall`` and
    ``precision``, and under ``recall_accepts`` and ``precision_accepts`` the share of the 1,000 percents
    above 0 with one decimal that would have been.

    A recall is a share of the class's ``N``; a precision, of as many right answers as recall and ``N`` give,
    a share of any number of predictions from those on. A recall of 0 is a share of any ``N`` and leaves no
    precision: NaN.
    """
    predictable = predicted_counts(by_class)["low"].notna()
    rows = {}
    for name, row in by_class.iterrows():
        n, share = int(row["N"]), row["recall"] / 100
        if not share:
            rows[name] = (True, np.nan, True, np.nan)
            continue
        right = np.array(counts_that_print(share, _HALF_DIGIT, n), dtype=np.float64)
        recalls = np.mean([bool(counts_that_print(tried, _HALF_DIGIT, n)) for tried in _PERCENTS])
        # Right answers over m predictions print p where m lies from right / (p + half) to right / (p - half).
        most = np.floor(right / (_PERCENTS[:, None] - _HALF_DIGIT) + _SLACK)
        fewest = np.maximum(np.ceil(right / (_PERCENTS[:, None] + _HALF_DIGIT) - _SLACK), right)
        precisions = (most >= fewest).any(axis=1).mean()
        rows[name] = (bool(right.size), float(recalls), bool(predictable[name]), float(precisions))
    columns = ["recall", "recall_accepts", "precision", "precision_accepts"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def rows_near(dots: pd.DataFrame, by_class: pd.DataFrame) -> list[pd.Index]:
    """Return, for each dot of Figure 5 (``reports``, ``f1``), the rows of Table 15 that it may represent."""
    return [
        by_class.index[
            ((by_class["N"] - dot["reports"]).abs() <= READ_N)
            & ((by_class["F1"] - dot["f1"]).abs() <= READ_F1 + _SLACK)
        ]
        for _, dot in dots.iterrows()
    ]


def draw_rare(by_class: pd.DataFrame, labelled: pd.DataFrame) -> Axes:
    """Draw F1 against number of test reports with both medians; the rows ``labelled`` are annotated."""
    ax = sns.scatterplot(by_class, x="N", y="F1", s=40, zorder=3)
    ax.axvline(by_class["N"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    ax.axhline(by_class["F1"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    for name, row in labelled.iterrows():
        plots.label_point(ax, str(name), (row["N"], row["F1"]), _LABELS.get(str(name), (9, 0)))
    ticks = [20, 200, 2000]
    ax.set(xscale="log", xlabel="test reports", xticks=ticks)
    ax.set_xticklabels([f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    ax.set(ylabel="F1 (percent)", xlim=(15, 45_000), ylim=(-3, 100))
    return ax
