"""Read MIMIC-RRS's pairs of modality and anatomy from the paper, count reports and words, draw figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib.axes import Axes

from radeval_lib import plots, tables
from radeval_lib.data import openi
from radeval_lib.data.records import Report, ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs import summarization
from radeval_lib.papers.printed_numbers import Printed, quotations
from radeval_lib.stats import tokens
from radeval_lib.study.checks import Check, by_reading, check_value
from radeval_lib.study.page_runs import PageRun
from radeval_lib.text_format import out_of


def parse_body_parts(pair: str) -> set[str]:
    """Return the body parts in the name of a pair, in lower case.

    The pair ``CT Abdomen-pelvis`` has the body parts ``abdomen`` and ``pelvis``.
    """
    return set(pair.split(" ", 1)[1].lower().split("-"))


def split_pair_names(pairs: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return (modalities, body parts in lower case) in the names of pairs."""
    return {pair.split()[0] for pair in pairs}, set[str]().union(*map(parse_body_parts, pairs))


def parse_pairs(sentence: str) -> list[str]:
    """Return the pairs that a sentence of the paper names between curly quotes, in order.

    The spelling is that of the released counts: "CT ab- domen/pelvis", hyphenated at the end of a line,
    becomes ``CT Abdomen-pelvis``.
    """
    names = re.findall(r"“([^”]+)”", sentence.replace("- ", ""))
    pairs = [name.replace("/", "-").split(" ", 1) for name in names]
    return [f"{modality} {body.capitalize()}" for modality, body in pairs]


def read_pair_lists() -> dict[str, list[str]]:
    """Return the lists of pairs in the paper's sentences that the exhibit ``rrs.def_splits`` quotes.

    The result is a mapping. From Section 2.1, ``frequent`` has the five frequent pairs of MIMIC-III, ``rare``
    the six pairs of the out-of-domain test sets, and ``iii`` all eleven. From Section 2.2, ``trained`` has
    the pairs with a training set, and ``unseen`` the other pairs. ``all`` has every pair once, in the paper's
    order.
    """
    quotes = [text for _, text in quotations("rrs.def_splits")]
    sentences = {"frequent": 0, "rare": 1, "trained": 3, "unseen": 4}
    lists = {name: parse_pairs(quotes[number]) for name, number in sentences.items()}
    lists["iii"] = lists["frequent"] + lists["rare"]
    return lists | {"all": list(dict.fromkeys(lists["iii"] + lists["trained"]))}


def read_listings() -> dict[str, set[str]]:
    """Return the modalities and the anatomies that Section 1 lists, as a mapping from phrase to names.

    A phrase is the paper's, such as "seven anatomies (…)". Modalities are spelt as in the names of pairs
    (``MR`` for "MRI").
    """
    text = " ".join(sentence for _, sentence in quotations("rrs.claim_new"))
    phrases = re.findall(r"(\w+ (?:modalities|anatomies) \(([^)]*)\))", text)
    lists = {phrase: [name for name in re.split(r",? and |, ", part) if name] for phrase, part in phrases}
    return {phrase: {"MR" if name == "MRI" else name for name in names} for phrase, names in lists.items()}


def check_openi(reports: list[Report], printed: Printed) -> list[Check]:
    """Return checks of the printed number of Open-i's reports, in two readings.

    The paper does not say whether it counts all reports with findings and an impression, or only those with
    at least ten words of findings and two words of impression. ``reports`` are the reports of Open-i.
    """
    pairs = openi.make_pairs(reports)
    long_pairs = [
        pair
        for pair in pairs
        if len(reveal(pair.findings).split()) >= 10 and len(reveal(pair.impression).split()) >= 2
    ]
    counts = {"all": len(pairs), "with at least 10 and 2 words": len(long_pairs)}
    name = "Open-i reports with both sections"
    return by_reading({reading: check_value(name, printed, count) for reading, count in counts.items()})


def draw_sizes(counts: pd.DataFrame) -> Axes:
    """Draw the number of reports of each pair as bars, coloured by whether the pair has training reports.

    ``counts`` has one row per pair, with the index ``pair`` and columns ``suitable`` (the number of reports)
    and ``train`` (the number of training reports).
    """
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


def read_headings() -> list[str]:
    """Return the section headings that the exhibit ``rrs.example_headers`` quotes, in the paper's order."""
    sentence = quotations("rrs.example_headers")[0][1].replace("- ", "")  # rejoins hyphenated words
    return [name.strip() for name in re.findall(r"“([^\"]+)\"", sentence)]


def measure_lengths(records: Sequence[ReportPair]) -> pd.DataFrame:
    """Return lengths and vocabularies of findings and impressions, as in Figure 1 of the paper.

    The DataFrame has one row per group, with columns ``reports`` (their number), ``findings, words`` and
    ``impression, words`` (mean number of words per report), and ``findings, vocabulary`` and ``impression,
    vocabulary`` (number of distinct words). Words are lower-cased runs of letters and digits. Since a
    vocabulary grows with the number of reports, it is counted in the same number of reports of each group:
    the first n, where n is the size of the smallest group.
    """
    groups = summarization.group_records(records)
    smallest = min(map(len, groups.values()))
    rows = {}
    for group, members in groups.items():
        sections = {
            section: [tokens.words(reveal(getattr(record, section))) for record in members]
            for section in ("findings", "impression")
        }
        rows[group] = {
            "reports": len(members),
            **{f"{name}, words": sum(map(len, texts)) / len(texts) for name, texts in sections.items()},
            **{f"{name}, vocabulary": len(set(chain(*texts[:smallest]))) for name, texts in sections.items()},
        }
    return pd.DataFrame(rows).T


def rebuild_figure_1(run: PageRun) -> None:
    """Show Figure 1 and its table, rebuilt from the run's reports, and check the paper's sentences on it.

    The reports are those of the role ``anatomy_summaries``. The checks are recorded in the exhibit
    ``rrs.fig1``.
    """
    lengths = measure_lengths(summarization.name_groups(run.load("anatomy_summaries")))
    display(tables.show(lengths, "Mean words and vocabulary by pair", formats="{:,.0f}"))
    _, axes = plots.panels(1, 2, height=4.2, sharey=True)
    titles, sections = {"words": "mean words", "vocabulary": "vocabulary"}, ["findings", "impression"]
    for ax, (kind, title) in zip(axes, titles.items(), strict=True):
        panel = lengths[[f"{section}, {kind}" for section in sections]].set_axis(sections, axis=1)
        panel.plot.barh(ax=ax, width=0.8, legend=kind == "words")
        ax.set(title=title, ylabel="")
    is_longer = lengths["findings, words"] > lengths["impression, words"]
    shortest = str(lengths["findings, words"].idxmin())
    with run.exhibit("rrs.fig1", *run.basis({"anatomy_summaries": "mimic3_rrs+mimic_cxr_rrs"})) as exhibit:
        exhibit.table(lengths)
        exhibit.states(
            "findings are longer than impressions",
            "for all modality-anatomy pairs, the findings section is longer",
            f"in {out_of(int(is_longer.sum()), len(is_longer), str)} pairs",
            bool(is_longer.all()),
        )
        exhibit.states(
            "the pair with the shortest findings",
            "chest X-ray reports are shorter than reports from other pairs",
            shortest,
            shortest == "X-ray Chest",
        )
