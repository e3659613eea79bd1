"""The page on the NLG score: Table 4 by column, and ROUGE-L of the worked examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.jobs.summarization import plan
from radeval_lib.jobs.summarization.systems import described
from radeval_lib.papers.printed_numbers import Printed, by_name, printed_in
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.stats import tokens
from radeval_lib.stats.rouge import RougeTokenizer, rouge_l
from radeval_lib.study.checks import Check, Key, above, check_one_rule, check_statement, check_value
from radeval_lib.study.runs import Basis, Run

SYSTEMS = frozenset({"ELECTRA_base", "BioLinkBERT_base", "GatorTron", "RadBERT_2"})
"""What the paper fine-tunes, as the profile ``full`` has it."""

_SLACK = 1e-9  # of differences of decimals

RULES = {**tokens.TOKENIZERS, "stemmed words": RougeTokenizer().tokenize}
"""Rules for what a word is; the last is that of RaLEs' released code."""


def basis_of(run: Run, trained_system: str | None = None) -> Basis:
    """What the page's comparison rests on: an experiment of our own unless the paper's systems are in it.

    ``trained_system`` names the one system of a comparison in ROUGE alone that is trained; without it all
    systems and all metrics enter.
    """
    basis = run.basis({"summaries": "mediqa2021_mimic_cxr"})
    systems = plan.settings(run.profile).rales_systems
    if set(systems) >= SYSTEMS:
        return basis
    entering = {trained_system: systems[trained_system]} if trained_system else systems
    own = described(entering, run.profile.models["encoder"])
    used = [f"{own}, of this build"]
    if not trained_system:
        graphs = "graphs by this build's model, which learned from generated reports, not RadGraph's"
        used.append(f"observations by rules, not by CheXbert; {graphs}")
    return basis.with_own(*used)


def column(table4: pd.DataFrame, cell: str, models: Sequence[str]) -> dict[str, Printed]:
    """The printed numbers of one column, by model, omitting missing values."""
    wanted = (table4["cell"] == cell) & table4["model"].isin(models) & table4["value"].notna()
    return by_name(table4[wanted], "model")


def check_means(table4: pd.DataFrame, metric: str, name: Key, claim: str, models: Sequence[str]) -> Check:
    """Whether the first of ``models`` is ahead of the others in the mean of a metric over both data sets, by
    all scores that round to the printed ones."""
    rows = table4[table4["metric"] == metric]
    first, *others = (rounding_range(np.mean, rows[rows["model"] == model]) for model in models)
    found = dict(zip(models[1:], others, strict=True))
    rival = max(found, key=lambda model: found[model].value)
    high, low = max(other.high for other in others), max(other.low for other in others)
    return check_statement(
        name,
        claim,
        f"{models[0]} {first.value:.4f}, {rival} {found[rival].value:.4f}",
        above(first.low - high, first.high - low),
    )


def shares_of_stanford(table12: pd.DataFrame, whole: pd.DataFrame) -> tuple[float, float]:
    """The shares of reports from Stanford, lowest and highest, with which every mean of Table 12's two
    hospitals rounds to the score of the ``whole`` test set; the lowest above the highest where none does.

    Each score of Table 12 may be anything that rounds to what is printed, so each mean allows the shares
    from its lowest to its highest.
    """
    lowest, highest = 0.0, 1.0
    for (model, metric), pair in table12.groupby(["model", "metric"], sort=False):
        by_site = by_name(pair, "site")
        stanford, indiana = by_site["Stanford"], by_site["Indiana"]
        score = printed_in(whole[(whole["model"] == model) & (whole["metric"] == metric)].iloc[0])
        # share * slope <= room: the mean's low end is at most the score's high end, and the other way round.
        for slope, room in (
            (stanford.low - indiana.low, score.high - indiana.low),
            (indiana.high - stanford.high, indiana.high - score.low),
        ):
            if slope > _SLACK:
                highest = min(highest, room / slope)
            elif slope < -_SLACK:
                lowest = max(lowest, room / slope)
            elif room < -_SLACK:
                return np.inf, -np.inf
    return lowest, highest


def check_share(table12: pd.DataFrame, whole: pd.DataFrame) -> Check:
    """Whether one share of reports from Stanford makes all means over both hospitals the scores of the
    ``whole`` test set."""
    low, high = shares_of_stanford(table12, whole)
    pairs = table12.groupby(["model", "metric"]).ngroups
    fits = low <= high + _SLACK
    shares = f"any from {low:.1%} to {high:.1%}" if fits else "none"
    return check_statement("share of reports from Stanford", f"one share for all {pairs} means", shares, fits)


def rouge_by_rule(texts: pd.DataFrame) -> pd.DataFrame:
    """ROUGE-L of ``generated`` against ``reference``, one column per rule for what a word is."""
    return pd.DataFrame(
        {
            rule: [
                rouge_l(split(reference.lower()), split(generated.lower()))
                for reference, generated in texts[["reference", "generated"]].itertuples(index=False)
            ]
            for rule, split in RULES.items()
        },
        index=texts.index,
    )


def given(printed: Mapping[str, Printed], rouge: pd.DataFrame) -> pd.DataFrame:
    """Whether each value of :func:`rouge_by_rule` is the one that is printed."""
    return pd.DataFrame(
        {
            rule: [check_value(rule, printed[example], value).agrees for example, value in values.items()]
            for rule, values in rouge.items()
        },
        index=rouge.index,
    )


def check_rouge(printed: Mapping[str, Printed], rouge: pd.DataFrame) -> Check:
    """Whether one rule for what a word is gives the printed ROUGE-L of all examples together."""
    name, fits = "R-L from the texts, by one rule for a word", given(printed, rouge).sum()
    return check_one_rule(name, "R-L of six texts", dict(fits), printed.values())


def draw_scores(table4: pd.DataFrame) -> Axes:
    """Every score of Table 4, one marker per system."""
    _, axes = plots.panels(1, 1, 6.5)
    palette = [*plots.PALETTE[:6], "#4D4D4D", "#7A7A7A"]  # greys that show on either ground
    plots.dodged(axes, table4, "value", "cell", "model", palette)
    axes.set(xlabel="score", xlim=(0, 0.8))
    axes.legend(ncols=3, loc="lower right", bbox_to_anchor=(1, 1), columnspacing=1, handletextpad=0.1)
    return axes
