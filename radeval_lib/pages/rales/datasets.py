"""The page on the datasets: label schemes, and lengths and words of real reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib.data.records import Report, ReportPair
from radeval_lib.models.summarizers.base import sentences
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats import tokens
from radeval_lib.study.checks import check_value

STATISTICS = ("min", "max", "average", "standard deviation")
_SECTIONS = ("indication", "comparison", "technique", "findings", "impression")
_TAKEN = {
    "findings and impression": "{0.findings}\n{0.impression}",
    "the same, run together": "{0.findings}{0.impression}",
    "findings alone": "{0.findings}",
    "with the background too": "{0.background}\n{0.findings}\n{0.impression}",
}


def italic(words: str) -> list[str]:
    """The names that a paper sets in italics; one run may hold several, with commas."""
    runs = re.findall(r"\*([^*]+)\*", words)
    return [name.strip().lower() for run in runs for name in run.split(",") if name.strip()]


def named_in(names: Sequence[str], text: str) -> list[str]:
    """Those of ``names`` that a text has, whatever signs, spaces and broken words either spelling has."""
    letters = [re.sub(r"[^a-z]", "", words.lower()) for words in (text, *names)]
    return [name for name, own in zip(names, letters[1:], strict=True) if own in letters[0]]


def joined_sections(pairs: Sequence[ReportPair]) -> list[str]:
    """Findings and impression, joined by a line break as the script in the RaLEs repository joins them."""
    return [_TAKEN["findings and impression"].format(pair) for pair in pairs]


def length_conventions(pairs: Sequence[ReportPair], printed: Mapping[str, Printed]) -> pd.DataFrame:
    """Lengths of reports by every way of taking the text and every rule for words: ``text``, ``rule``, the
    columns of :func:`~radeval_lib.stats.tokens.length_statistics`, and ``printed numbers met``, how many of
    the ``printed`` statistics agree."""
    rows = []
    for taken, form in _TAKEN.items():
        texts = [form.format(pair) for pair in pairs]
        for rule, split in tokens.TOKENIZERS.items():
            found = tokens.length_statistics(texts, split)
            met = sum(check_value(name, cell, found[name]).agrees for name, cell in printed.items())
            rows.append({"text": taken, "rule": rule, **found, "printed numbers met": met})
    return pd.DataFrame(rows)


def overlap(reports: Sequence[Report], both: Sequence[ReportPair], pairs: Sequence[ReportPair]) -> pd.Series:
    """How MEDIQA's ``pairs`` were selected from Open-i: counts of reports, by what they are."""
    ids, different = {report.id for report in reports}, {(pair.findings, pair.impression) for pair in pairs}
    return pd.Series(
        {
            "Open-i, in the file": len(reports),
            "Open-i, with findings and impression": len(both),
            "MEDIQA 2021": len(pairs),
            "MEDIQA 2021, with the number of a report of the file": sum(pair.id in ids for pair in pairs),
            "MEDIQA 2021, repeating another word for word": len(pairs) - len(different),
        }
    )


def sections_filled(reports: Sequence[Report]) -> pd.DataFrame:
    """How many ``reports``, and what ``share``, have each section."""
    filled = {name: sum(bool(getattr(report, name)) for report in reports) for name in _SECTIONS}
    found = pd.Series(filled, name="reports").to_frame()
    return found.assign(share=found["reports"] / len(reports))


def style(texts: Sequence[str]) -> pd.Series:
    """Length of sentences, and size of the vocabulary, in words."""
    lengths = [len(words.split()) for text in texts for words in sentences(text)]
    vocabulary = Counter(word for text in texts for word in tokens.words(text))
    counts = np.sort(list(vocabulary.values()))[::-1]
    fewer = int((counts.cumsum() < 0.9 * vocabulary.total()).sum())
    return pd.Series(
        {
            "sentences": len(lengths),
            "words in a sentence, median": np.median(lengths),
            "words in a sentence, nine in ten at most": np.quantile(lengths, 0.9),
            "words": vocabulary.total(),
            "different words": len(vocabulary),
            "most frequent words that make up nine tenths of the text": fewer + 1,
        }
    )


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


def draw_lengths(sets: Mapping[str, Sequence[ReportPair]]) -> Axes:
    """Share of reports by length in white-space words, one line a set."""
    rows = [(name, len(text.split())) for name, pairs in sets.items() for text in joined_sections(pairs)]
    lengths = pd.DataFrame(rows, columns=["set", "words"])
    look = {"stat": "proportion", "common_norm": False, "element": "step", "fill": False, "binwidth": 5}
    ax = sns.histplot(lengths, x="words", hue="set", **look)
    ax.set(xlim=(0, 150), xlabel="words", ylabel="share of reports")
    ax.get_legend().set_title("")
    return ax
