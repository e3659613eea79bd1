"""The page on counts and procedure selection: what printed counts imply, words in real reports, a figure."""

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
"""The sources of each data set that Section 4.1 names, once per reading: for MEDIQA 2021, those of all parts
or of the test set alone."""
READ_N, READ_F1 = 7, 0.1
"""The largest error of dots read off Figure 5: in reports, and in points of F1."""
_HALF_DIGIT = 0.0005  # half of 0.1 percent, the last printed digit, as a fraction
_PERCENTS = np.arange(1, 1001) / 1000  # all percentages above 0 with one decimal, as fractions
_SLACK = 1e-9  # tolerance for rounding errors of quotients and differences
_LABELS = {"CT UE WO contr": (4, 22), "CT Head WO contr": (-6, 8)}
"""Offsets of labels, in points to the right and up, where the default would overlap or leave the axes."""


def find_italics(words: str) -> list[str]:
    """Return the names that a quotation sets in italics (``*one, two*``), in lower case."""
    runs = re.findall(r"\*([^*]+)\*", words)
    return [name.strip().lower() for run in runs for name in run.split(",") if name.strip()]


def check_sources(table1: pd.DataFrame, prose: str) -> list[Check]:
    """Return the checks of Table 1's numbers of sources against the sources that the prose names, one per
    data set, task and reading of :data:`_SOURCES`."""
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
    """Return the checks of Section 4.1 against the groups of reports in Table 6.

    They check the modalities and body parts that the section names, once read as those of some reports and
    once as those of all, and that some groups have test reports but no training reports.

    Parameters
    ----------
    counts : the number of reports by group (modality and body parts; rows) and split (columns).
    quotes : the section's words, the modalities and body parts in the first.
    """
    listing = re.search(r" with (.+?) present", quotes[0])
    named = re.split(r", | and ", listing[1]) if listing else []
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
                    listing[1] if listing else "",
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
    """Return, for each name, the number of reports that contain it in findings or impression.

    Names are in lower case; case is ignored in reports, and a name may be part of a longer word. If the
    reports are placeholders, the counts come from the stored set ``openi``.
    """
    if any(parse_placeholder(str(report.findings) or str(report.impression)) for report in reports[:1]):
        table = recorded.load("openi").table
        return {name: int(table[f"word_{name}"].sum()) for name in names}
    texts = [f"{reveal(report.findings)} {reveal(report.impression)}".lower() for report in reports]
    return {name: sum(name in text for text in texts) for name in names}


def class_size_range(in_test: int, share: float) -> tuple[int, int]:
    """Return the smallest and the largest possible number of reports in a class, given how many of them
    (``in_test``) are in a stratified test set.

    The test set has the same ``share`` (0 to 1) of each class, rounded up or down.
    """
    return int(np.floor((in_test - 1) / share + _SLACK)) + 1, int(np.ceil((in_test + 1) / share - _SLACK)) - 1


def predicted_counts(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest possible number of predictions of each class with recall above 0.

    ``by_class`` has the printed ``precision`` and ``recall`` (percent) and ``N`` of each class. The result
    has the columns ``low`` and ``high``, both NaN if no whole numbers fit.
    """
    counts = {}
    for name, row in by_class[by_class["recall"] > 0].iterrows():
        precision = 1.0 if row["precision"] == 1 else row["precision"] / 100  # a printed 1 means 100%
        limits = predictions_that_print(precision, row["recall"] / 100, int(row["N"]), _HALF_DIGIT)
        counts[name] = limits or (np.nan, np.nan)
    return pd.DataFrame.from_dict(counts, orient="index", columns=["low", "high"])


def fit_whole_numbers(by_class: pd.DataFrame) -> pd.DataFrame:
    """Return whether the printed recall and precision of each class can come from whole numbers of reports.

    A recall is hits / ``N``. A precision is the same hits divided by any number of predictions that is not
    smaller. A recall of 0 is always possible, and then nothing is known of the precision.

    Returns
    -------
    DataFrame
        Index: the classes. ``recall`` and ``precision``, whether each is possible; ``recall_accepts`` and
        ``precision_accepts``, the share of all percentages from 0.1 to 100.0 that would be possible for this
        class. For a recall of 0, both are True and both shares NaN.
    """
    predictable = predicted_counts(by_class)["low"].notna()
    rows = {}
    for name, row in by_class.iterrows():
        n, share = int(row["N"]), row["recall"] / 100
        if not share:
            rows[name] = (True, np.nan, True, np.nan)
            continue
        hits = np.array(counts_that_print(share, _HALF_DIGIT, n), dtype=np.float64)
        recalls = np.mean([bool(counts_that_print(tried, _HALF_DIGIT, n)) for tried in _PERCENTS])
        # hits / m rounds to p for every m from hits / (p + half) to hits / (p - half), at least hits.
        most = np.floor(hits / (_PERCENTS[:, None] - _HALF_DIGIT) + _SLACK)
        fewest = np.maximum(np.ceil(hits / (_PERCENTS[:, None] + _HALF_DIGIT) - _SLACK), hits)
        precisions = (most >= fewest).any(axis=1).mean()
        rows[name] = (bool(hits.size), float(recalls), bool(predictable[name]), float(precisions))
    columns = ["recall", "recall_accepts", "precision", "precision_accepts"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def classes_near(dots: pd.DataFrame, by_class: pd.DataFrame) -> list[pd.Index]:
    """Return, for each dot of Figure 5, the names of the classes of Table 15 that the dot can show.

    A dot can show a class if it is at most :data:`READ_N` reports and :data:`READ_F1` points of F1 away.
    ``dots`` has the columns ``reports`` and ``f1``; ``by_class`` has ``N`` and ``F1``, indexed by class.
    """
    return [
        by_class.index[
            ((by_class["N"] - dot["reports"]).abs() <= READ_N)
            & ((by_class["F1"] - dot["f1"]).abs() <= READ_F1 + _SLACK)
        ]
        for _, dot in dots.iterrows()
    ]


def draw_rare(by_class: pd.DataFrame, labelled: pd.DataFrame) -> Axes:
    """Draw each class's F1 against its number of test reports, with both medians as lines; the classes in
    ``labelled`` are named."""
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
