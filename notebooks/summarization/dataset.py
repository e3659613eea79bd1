"""The page on the size of MIMIC-RRS: its reports, headings and words by pair of modality and anatomy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib.axes import Axes

from radeval_lib import plots, tables
from radeval_lib.data import openi
from radeval_lib.data.records import Report, ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.summarization import corpora
from radeval_lib.papers.printed_numbers import Printed, quotations, quoted
from radeval_lib.stats import tokens
from radeval_lib.study.checks import Check, by_reading, check_value
from radeval_lib.study.page_runs import PageRun
from radeval_lib.text_format import out_of


def check_openi(reports: list[Report], printed: Printed) -> list[Check]:
    """Return whether the printed number is that of Open-i's reports with both sections, or of the longer
    ones: the paper does not say which it counts."""
    both = openi.pairs(reports)
    long = [
        pair
        for pair in both
        if len(reveal(pair.findings).split()) >= 10 and len(reveal(pair.impression).split()) >= 2
    ]
    counts = {"all": len(both), "with at least 10 and 2 words": len(long)}
    return by_reading(
        {
            reading: check_value("Open-i reports with both sections", printed, count)
            for reading, count in counts.items()
        }
    )


def draw_sizes(counts: pd.DataFrame) -> Axes:
    """Return reports by pair, in two colours by whether the pair has training files."""
    ordered = counts.sort_values("suitable", ascending=False).reset_index()
    ordered["role"] = ordered["train"].gt(0).map({True: "train, validate and test", False: "test only"})
    _, axes = plots.panels(1, 1, height=3.6)
    sns.barplot(ordered, x="suitable", y="pair", hue="role", dodge=False, ax=axes)
    axes.set(xlabel="Reports with findings and one impression", ylabel="", xlim=(0, 36000))
    for bars in axes.containers:
        axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=9)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=False)  # every bar has its number
    axes.legend(title="", loc="lower right")
    return axes


def headings_named() -> list[str]:
    """Return the headings of findings that ``rrs.example_headers`` quotes."""
    words = quotations("rrs.example_headers")[0][1].replace("- ", "")  # a word is broken at a line end
    return [name.strip() for name in re.findall(r"“([^\"]+)\"", words)]


def check_headings(headers: pd.DataFrame, counts: pd.DataFrame) -> list[Check]:
    """Return whether the released lists of headings and their yield are what the paper says.

    A heading that several pairs list may count once or with each.

    ``headers``: ``pair`` and ``header``, a row for each heading of each pair; ``counts``: with ``suitable``.
    """
    said = quoted("rrs.guide_extraction")
    numbers = {"in the lists of all pairs": len(headers), "different ones": headers["header"].nunique()}
    return [
        *by_reading(
            {
                reading: check_value("candidate headings, released list", said["headers"], number)
                for reading, number in numbers.items()
            }
        ),
        check_value("pairs with a list", said["pairs"], headers["pair"].nunique()),
        check_value("reports kept, released counts", said["reports"], float(counts["suitable"].sum())),
    ]


def lengths_and_vocabulary(records: Sequence[ReportPair]) -> pd.DataFrame:
    """Mean running words and different words of findings and impressions, by group (Figure 1's quantities).

    A vocabulary grows with the number of reports, so all are counted over the first reports of each group, as
    many as the smallest has. Words are lower-cased runs of letters and digits. Columns: ``reports``, and
    ``findings, words``, ``impression, words``, ``findings, vocabulary``, ``impression, vocabulary``.
    """
    groups = corpora.by_group(records)
    least = min(map(len, groups.values()))
    rows = {}
    for group, members in groups.items():
        split = {
            section: [tokens.words(reveal(getattr(record, section))) for record in members]
            for section in ("findings", "impression")
        }
        rows[group] = {
            "reports": len(members),
            **{f"{name}, words": sum(map(len, texts)) / len(texts) for name, texts in split.items()},
            **{f"{name}, vocabulary": len(set(chain(*texts[:least]))) for name, texts in split.items()},
        }
    return pd.DataFrame(rows).T


def figure_1(run: PageRun) -> None:
    """Figure 1 from the reports that the profile names: a table, both panels, and the checks of its prose."""
    sizes = lengths_and_vocabulary(corpora.named(run.load("anatomy_summaries")))
    display(tables.show(sizes, "Mean words and vocabulary by pair", formats="{:,.0f}"))
    _, axes = plots.panels(1, 2, height=4.2, sharey=True)
    for ax, (kind, title) in zip(
        axes, {"words": "mean words", "vocabulary": "vocabulary"}.items(), strict=True
    ):
        drawn = sizes[[f"findings, {kind}", f"impression, {kind}"]].set_axis(
            ["findings", "impression"], axis=1
        )
        drawn.plot.barh(ax=ax, width=0.8, legend=kind == "words")
        ax.set(title=title, ylabel="")
    longer = sizes["findings, words"] > sizes["impression, words"]
    shortest = str(sizes["findings, words"].idxmin())
    with run.exhibit("rrs.fig1", *run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"})) as exhibit:
        exhibit.table(sizes)
        exhibit.states(
            "findings are longer than impressions",
            "for all modality-anatomy pairs, the findings section is longer",
            f"in {out_of(int(longer.sum()), len(longer), str)} pairs",
            bool(longer.all()),
        )
        exhibit.states(
            "the pair with the shortest findings",
            "chest X-ray reports are shorter than reports from other pairs",
            shortest,
            shortest == "X-ray Chest",
        )
