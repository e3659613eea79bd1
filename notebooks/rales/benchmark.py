"""The page on the benchmark: scores by regime, and what choosing by the test set is worth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations

import pandas as pd
from matplotlib.figure import Figure

from notebooks.rales.leaderboard import SCORE, PercentScores, scores
from notebooks.rales.optimism import GAINS, optimism_by_trials
from notebooks.rales.results import REGIMES
from radeval_lib import plots, text_format
from radeval_lib.jobs.rales.tasks import tasks
from radeval_lib.papers.printed_numbers import released
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study import stand_ins
from radeval_lib.study.checks import Check, check_setting, check_statement
from radeval_lib.study.runs import Run
from radeval_lib.text_format import out_of

PAPERS_DATA = {
    "graph_corpus": "radgraph",
    "spatial_corpus": "radsprl",
    "stanza_corpus": "stanza_radiology",
    "procedures": "mimic3_procedure",
}
"""The paper's data set of each role."""


def check_search_settings(startup: int) -> list[Check]:
    """Settings of the searches for entities and procedures, in the paper and in the released scripts;
    Optuna draws ``startup`` trials at random before its estimator begins."""
    rows = released("settings").query("paper == 'RaLEs'").set_index("setting")
    searched = rows.index[rows.index.str.contains("choice of|learning rate|epochs|batch|weight decay")]
    checks = [check_setting("RaLEs", name) for name in searched]
    trials = [int(rows.loc[f"trials ({task})", "code_has"]) for task in ("entities", "procedures")]
    sampler = rows.loc["sampler of the search"]
    guided = max(0, max(trials) - startup)
    first = f"Optuna's first {startup} are random, so it guides {guided}"
    finding = f"{max(trials)}, sampler: {sampler['code_has']}; {first}"
    name = "trials that the estimator guides"
    return [*checks, check_statement(name, f"{sampler['paper_says']}, up to 10 trials", finding, guided > 0)]


def _resamples(run: Run) -> int:
    return min(run.profile.resamples, 500)


def scores_by_regime(run: Run, counts: pd.DataFrame) -> dict[str, PercentScores]:
    """Scores of every encoder in each regime, by the counts of all cells."""
    own = list(tasks().values())
    return {
        str(regime): scores(rows, own, resamples=_resamples(run), rng=lambda name: run.rng(f"scores {name}"))
        for regime, rows in counts.groupby("regime", sort=False)
    }


def gains_of_search(run: Run, trials: pd.DataFrame) -> pd.DataFrame:
    """:func:`optimism_by_trials` for ever more trials up to all, as text with intervals."""
    most = int(trials["trial"].max()) + 1
    sizes = sorted({1, 2, *range(4, most + 1, 4), most} & set(range(1, most + 1)))
    gains = optimism_by_trials(trials, sizes, resamples=_resamples(run), rng=run.rng("optimism"))
    shown = gains[["trials"]].copy()
    for name in GAINS:
        ends = zip(gains[name], gains[f"{name}_low"], gains[f"{name}_high"], strict=True)
        shown[name] = [text_format.with_interval(value, low, high, "+.1f") for value, low, high in ends]
    return shown


def least_noise(percent: PercentScores) -> float:
    """The smallest half-width of an interval of the difference of two encoders' NLU scores."""
    return min((lead.high - lead.low) / 2 for lead in _leads(percent))


def largest_open(percent: PercentScores) -> float:
    """The largest difference of two encoders' NLU scores whose interval has 0; 0 where none has."""
    return max((abs(lead.value) for lead in _leads(percent) if lead.low <= 0 <= lead.high), default=0.0)


def _leads(percent: PercentScores) -> list[Estimate]:
    return [percent.lead(a, b) for a, b in combinations(percent.encoders, 2)]


def flat(by_regime: Mapping[str, PercentScores], share: float) -> str:
    """Encoders whose accuracy for procedures is at most ``share``, in percent, by the share of labels."""
    parts = []
    for regime, percent in by_regime.items():
        scored = percent.observed["Procedure"]
        # "MiniLM, untrained" would read as two entries of a list.
        names = [re.sub(", (.*)", r" (\1)", name) for name in scored.index[scored <= share]]
        every = len(names) == len(scored) > 1
        which = out_of(len(names), len(scored)) if every else text_format.joined(names)
        if names:
            parts.append(f"with {REGIMES[regime]} {which}")
    return "; ".join(parts) or "none"


def data_words(run: Run) -> str:
    """What the encoders are fitted to and scored on, as a sentence."""
    own = [stand_ins.title(name) for name in PAPERS_DATA.values()]
    if all(run.evidence(role) == "synthetic" for role in PAPERS_DATA):
        count, names = text_format.in_words(len(own)), text_format.joined(own, "or")
        return f"All {count} data sets are generated, not {names}."
    named = run.stand_in(PAPERS_DATA) or "the paper's own data sets"
    return f"Data: {named}."


def pretraining_words(run: Run, role: str) -> str:
    """Where the in-domain encoder's reports come from, and whether test documents are among them."""
    source = run.source(role)
    if run.evidence(role) == "synthetic":
        return source
    if all(run.evidence(each) == "synthetic" for each in PAPERS_DATA):
        return f"{source}; the test documents are generated, so none of them is among these"
    return f"{source}; whether any of them are among the test documents was not checked"


def ranges(ranks: pd.DataFrame) -> list[str]:
    """``low`` and ``high`` of each row, as text."""
    return [f"{low:.0f} to {high:.0f}" for low, high in zip(ranks["low"], ranks["high"], strict=True)]


def draw_regimes(by_regime: Mapping[str, PercentScores]) -> Figure:
    """NLU score with its interval, one panel per share of labels and one row per encoder."""
    shares = [name for name in ("hundredth", "tenth", "all") if name in by_regime]
    figure, axes = plots.panels(len(shares), 1, height=1.3, sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], shares, strict=True):
        rows = by_regime[name].intervals()
        own = rows[rows["column"] == SCORE].set_index("encoder")
        plots.intervals(axis, own)
        axis.set_title(REGIMES[name])
    axes[-1, 0].set_xlabel("NLU score, %")
    return figure
