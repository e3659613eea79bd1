"""The page on the data sets: sources, labels and body parts against the prose, and real reports' words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib.data import recorded
from radeval_lib.data.records import Report
from radeval_lib.data.restricted import reveal
from radeval_lib.papers.printed_numbers import printed_in
from radeval_lib.placeholders import behind
from radeval_lib.study.checks import Check, Key, check_statement, under_every


def italic(words: str) -> list[str]:
    """The names that a paper sets in italics; one run may hold several, with commas."""
    runs = re.findall(r"\*([^*]+)\*", words)
    return [name.strip().lower() for run in runs for name in run.split(",") if name.strip()]


def named_in(names: Sequence[str], text: str) -> list[str]:
    """Those of ``names`` that a text has, whatever signs, spaces and broken words either spelling has."""
    letters = [re.sub(r"[^a-z]", "", words.lower()) for words in (text, *names)]
    return [name for name, own in zip(names, letters[1:], strict=True) if own in letters[0]]


_SOURCES = {
    "RadGraph": [["MIMIC-CXR", "CheXpert"]],
    "RadSpRL": [["Open-i"]],
    "Stanza Radiology": [["three hospitals"]],
    "CT Procedure Selection": [["MIMIC-III"]],
    "MEDIQA 2021": [["MIMIC-CXR", "Indiana", "Stanford"], ["Indiana", "Stanford"]],
    "BioNLP 2023": [["MIMIC-III"]],
}
"""What Section 4.1 names as sources of each data set; of MEDIQA 2021 those of all parts, or of the test."""
_CALLED = {"CT Procedure Selection": "MIMIC-III procedure selection"}
"""The names with which the sentences about data sets begin, where Table 1 has others."""


def sentences_about(quotes: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Of the paper's sentences those about each data set of Table 1: from one that begins with its name to
    the next that begins with another's."""
    by_name: dict[str, list[str]] = {}
    about: list[str] = []
    for quote in quotes:
        named = next((name for name in names if quote.startswith(_CALLED.get(name, name))), None)
        about = by_name.setdefault(named, []) if named else about
        about.append(quote)
    return {name: " ".join(sentences) for name, sentences in by_name.items()}


def check_sources(table1: pd.DataFrame, quotes: Sequence[str]) -> list[Check]:
    """Whether Table 1 has as many sources of each data set as the prose names in its :func:`sentences_about`
    it; where it may count in two ways, only if both agree."""
    by_dataset = sentences_about(quotes, list(_SOURCES))
    checks = []
    for _, row in table1[table1["quantity"] == "sources"].iterrows():
        cell = printed_in(row)
        own = by_dataset[row["dataset"]]
        readings = [[name for name in names if name in own] for names in _SOURCES[row["dataset"]]]
        counts = [3 if names == ["three hospitals"] else len(names) for names in readings]
        checks.append(
            check_statement(
                Key("sources against the prose", row["dataset"], row["task"]),
                cell.text,
                "; or ".join(", ".join(names) for names in readings),
                under_every(count == cell.value for count in counts),
                cells=[cell],
            )
        )
    return checks


def check_parts(counts: pd.DataFrame, quotes: Sequence[str]) -> list[Check]:
    """What Section 4.1 says of the reports behind Table 6: their modalities and body parts, read as some of
    them and as all, and that some groups are tested without having been trained on.

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
        check_statement(
            "modalities and body parts of Section 4.1",
            "CT and MR; head, chest, abdomen, spine and sinuses present",
            f"{' and '.join(sorted(modalities))}; {sum(rows)} of {len(rows)} body parts have rows; "
            f"besides: {', '.join(besides) or 'none'}",
            under_every(modalities == {"CT", "MR"} and all(rows) and whole for whole in (True, not besides)),
        ),
        check_statement(
            "groups with test reports and none for training",
            "test evaluations include anatomies/modalities unseen in training data",
            f"{len(unseen)} of {len(counts)}: {', '.join(unseen) or 'none'}",
            len(unseen) > 0,
        ),
    ]


def draw_printed_lengths(lengths: pd.DataFrame) -> Axes:
    """The rows of Table 13: average, one standard deviation to either side, minimum to maximum."""
    shown = lengths.rename_axis("set").reset_index()
    ax = sns.scatterplot(shown, x="average", y="set", hue=shown["set"].str[:6], legend=False, zorder=3, s=60)
    ax.hlines(shown["set"], shown["min"], shown["max"], color="#4D4D4D", linewidth=1)
    low, high = (shown["average"] + side * shown["standard deviation"] for side in (-1, 1))
    ax.hlines(shown["set"], low, high, color="#B0B0B0", linewidth=6)
    ticks = [10, 30, 100, 300, 1000]
    ax.set(xscale="log", xlabel="length of a report (words)", ylabel="", xticks=ticks)
    ax.set_xticklabels([f"{tick:,}" for tick in ticks])
    return ax


def with_words(reports: Sequence[Report], names: Sequence[str]) -> dict[str, int]:
    """How many reports contain each of these words in findings or impression, whatever the case, and also
    within a longer word."""
    if any(behind(str(report.findings) or str(report.impression)) for report in reports[:1]):
        table = recorded.load("openi").table
        return {name: int(table[WORD.format(name)].sum()) for name in names}
    texts = [f"{reveal(report.findings)} {reveal(report.impression)}".lower() for report in reports]
    return {name: sum(name in text for text in texts) for name in names}


def same_outcomes(intervals: Iterable[tuple[float, float]], asked: float) -> tuple[float, float]:
    """From which share to which one could ask instead of ``asked``, and find the same of every interval (that
    it lies above, below or around the share): the nearest ends on either side, else 0 and 1. An end at the
    share itself leaves no room on either side."""
    ends = [end for interval in intervals for end in interval]
    below, above = ([end for end in ends if side * end >= side * asked] for side in (-1, 1))
    return max(below, default=0.0), min(above, default=1.0)


WORD = "word_{}"
"""The stored column that says which of Open-i's reports have a word."""
