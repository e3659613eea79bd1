"""The page on the benchmark: scores by regime, and what choosing by the test set is worth.

The released code of RaLEs keeps the trial that is best on the test set and reports its score there. Two
numbers show what that does. The *advantage* is how much higher the reported score is than that of the trial
which validation would have chosen. The *optimism* is the part of the reported score that is luck: the score
less what the same choice yields on documents that had no part in it. It is estimated by cross-validation:
each tenth of the test documents is scored with the trial that is best on the other nine tenths. Halves
instead of tenths would measure the luck of a choice on half as many documents, which is larger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from radeval_lib import plots, wording
from radeval_lib.pages.rales.leaderboard import SCORE, PercentScores, micro_f1, scores
from radeval_lib.pages.rales.results import REGIMES
from radeval_lib.pages.rales.results import joined as joined
from radeval_lib.pages.rales.search import trials_before_tpe as trials_before_tpe
from radeval_lib.pages.rales.tasks import tasks
from radeval_lib.papers.printed_numbers import released
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.stats.resampling import drawn_rows
from radeval_lib.study import stand_ins
from radeval_lib.study.checks import Check, check_setting, check_statement, out_of
from radeval_lib.study.runs import Run

_FOLDS = 10
_GAINS = ["advantage", "optimism"]

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


def optimism_by_trials(
    trials: pd.DataFrame, sizes: Sequence[int], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Advantage and optimism with each of so many ``trials``, in points of F1: means over resamples of
    searches, trials and folds, each with ``_low`` and ``_high`` (95 % of resamples). The test documents are
    the same in all of them, so these ends say nothing about what other documents could change.

    ``trials`` has one row per search, trial and case: counts on test, and ``value``, the trial's measure on
    validation.
    """
    ordered = trials.sort_values(["search", "trial", "case"])
    searches, most, cases = (ordered[name].nunique() for name in ("search", "trial", "case"))
    table = ordered[["matched", "predicted", "gold"]].to_numpy(np.float64).reshape(searches, most, cases, 3)
    values = ordered["value"].to_numpy(np.float64).reshape(searches, most, cases)[:, :, 0]
    totals = table.sum(axis=2)
    whole = micro_f1(totals)
    folds = min(_FOLDS, cases)
    by_size: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    for drawn in drawn_rows(np.arange(searches), resamples, rng.spawn(1)[0]):
        order = np.stack([rng.permutation(most) for _ in drawn])
        fold = rng.permutation(np.arange(cases) % folds)
        # shape (searches, trials, folds, 3): counts in each fold, and in all others
        inside = np.stack([table[:, :, fold == k].sum(axis=2) for k in range(folds)], axis=2)
        others = micro_f1(totals[:, :, None] - inside)
        for size in sizes:
            rows = [(search, order[place, :size]) for place, search in enumerate(drawn)]
            gains = [whole[s, k].max() - whole[s, k[values[s, k].argmax()]] for s, k in rows]
            luck = [whole[s, k].max() - _unseen(inside[s, k], others[s, k]) for s, k in rows]
            by_size[size].append((float(np.mean(gains)), float(np.mean(luck))))
    result = []
    for size, draws in by_size.items():
        (low, high), mean = np.quantile(draws, (0.025, 0.975), axis=0), np.mean(draws, axis=0)
        result.append((size, *mean, *low, *high))
    ends = [f"{name}_{end}" for end in ("low", "high") for name in _GAINS]
    return pd.DataFrame(result, columns=["trials", *_GAINS, *ends])


def _unseen(inside: FloatArray, others: FloatArray) -> float:
    """F1 of all folds together, each scored with the trial that is best on the others."""
    best = others.argmax(axis=0)
    return float(micro_f1(inside[best, np.arange(len(best))].sum(axis=0)))


def gains_of_search(run: Run, trials: pd.DataFrame) -> pd.DataFrame:
    """:func:`optimism_by_trials` for ever more trials up to all, as text with intervals."""
    most = int(trials["trial"].max()) + 1
    sizes = sorted({1, 2, *range(4, most + 1, 4), most} & set(range(1, most + 1)))
    gains = optimism_by_trials(trials, sizes, resamples=_resamples(run), rng=run.rng("optimism"))
    shown = gains[["trials"]].copy()
    for name in _GAINS:
        ends = zip(gains[name], gains[f"{name}_low"], gains[f"{name}_high"], strict=True)
        shown[name] = [wording.with_interval(value, low, high, "+.1f") for value, low, high in ends]
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
        which = out_of(len(names), len(scored)) if every else wording.joined(names)
        if names:
            parts.append(f"with {REGIMES[regime]} {which}")
    return "; ".join(parts) or "none"


def data_words(run: Run) -> str:
    """What the encoders are fitted to and scored on, as a sentence."""
    own = [stand_ins.title(name) for name in PAPERS_DATA.values()]
    if all(run.evidence(role) == "synthetic" for role in PAPERS_DATA):
        return f"All {wording.in_words(len(own))} data sets are generated, not {wording.joined(own, 'or')}."
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
