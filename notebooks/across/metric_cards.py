"""Two metrics as examples of a card."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from radeval_lib import plots
from radeval_lib.data import recorded
from radeval_lib.metric_cards.card import Card, metric_card
from radeval_lib.metric_cards.measurements import in_half
from radeval_lib.metrics.by_name import create
from radeval_lib.paths import RECORDED
from radeval_lib.provenance import RECORDED_SCORES
from radeval_lib.stats.base import FloatArray
from radeval_lib.study.runs import Run

SETS = ("radpref", "mts_dialog")
FIVE_LINES = Path(__file__).with_name("five_lines.csv")
"""Scores of the metric of five lines on RadPref and MTS-Dialog; a test computes them from the texts if a data
root has these."""


def five_lines(reference: str, candidate: str) -> float:
    """Return the share of words that both texts contain; "no effusion" counts as one word."""
    stated, meant = (
        set(re.findall(r"no \w+|\w+", " ".join(text.lower().split()))) for text in (candidate, reference)
    )
    return len(stated & meant) / max(1, len(stated | meant))


class Nearest:
    """A metric that is built to win: it returns the mean grade of the most similar pair in RadPref's half for
    development, whose grades alone it reads. Similarity is that of word counts and ROUGE-L."""

    def __init__(self) -> None:
        table = recorded.load("radpref").table
        self._known = table[in_half(table["case"].to_numpy(), "development")]
        self._grades = self._known[["grade_1", "grade_2", "grade_3"]].mean(axis=1).to_numpy(np.float64)
        self._features = _features(self._known)
        self._rouge = create("rouge_l")

    def of_rows(self, rows: pd.DataFrame) -> FloatArray:
        """Return scores of recorded candidates."""
        features = _features(rows)
        gaps = ((features[:, None] - self._features) ** 2).sum(axis=2)
        return self._grades[gaps.argmin(axis=1)]

    def __call__(self, references: Sequence[str], candidates: Sequence[str]) -> FloatArray:
        """Return scores of texts."""
        rows = pd.DataFrame(
            {
                "reference_words": [len(text.split()) for text in references],
                "candidate_words": [len(text.split()) for text in candidates],
                "rouge_l": self._rouge.score(references, candidates).values.round(9),
            }
        )
        return self.of_rows(rows)


def _features(rows: pd.DataFrame) -> FloatArray:
    log_lengths = np.log1p(rows[["reference_words", "candidate_words"]].to_numpy(np.float64))
    return np.column_stack([log_lengths, rows["rouge_l"]])


def note_recorded(run: Run) -> None:
    """Name in the page's provenance the stored scores that its cards read."""
    for name in SETS:
        run.reading.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")


def stored_five_lines() -> dict[str, FloatArray]:
    """Return the stored scores of the metric of five lines, by set, in the order of its rows."""
    scores = pd.read_csv(FIVE_LINES)
    return {
        name: part["score"].to_numpy(np.float64)
        for name, part in scores.groupby(scores["id"].str.partition("/")[0])
    }


def five_lines_card(run: Run) -> Card:
    """Return the card of the metric of five lines."""
    return metric_card(
        five_lines,
        name="five lines",
        value_range=(0, 1),
        tuned="no",
        rated_scores=stored_five_lines(),
        data_root=None,
        seed=run.seed,
    )


def built_to_win(run: Run) -> dict[str, Card]:
    """Return cards of the metric that is built to win, on the half that it knows and on the other."""
    metric = Nearest()
    stored = {name: metric.of_rows(recorded.load(name).table) for name in SETS}
    return {
        half: metric_card(
            metric,
            name="nearest graded",
            batched=True,
            value_range=(1, 5),
            tuned="yes",
            half=half,
            quick=True,
            rated_scores=stored,
            data_root=None,
            seed=run.seed,
        )
        for half in ("development", "report")
    }


def fates(cards: Mapping[str, Card]) -> pd.DataFrame:
    """Return τ_b, its interval and the number of texts for the metric that is built to win: one row per half
    of RadPref, and one for MTS-Dialog."""
    rows = {}
    for half, card in cards.items():
        key = f"RadPref, {'the half that it knows' if half == 'development' else 'the other half'}"
        rows[key] = {**card.row(card.name), "n": card.data["radpref"]["candidates"]}
    card = cards["report"]
    mine = next(row for row in card.data["mts_dialog"] if row["metric"] == card.name)
    table = pd.DataFrame.from_dict({**rows, "MTS-Dialog, F1 of facts": mine}, orient="index")
    return table[["value", "value_low", "value_high", "n"]].set_axis(["value", "low", "high", "n"], axis=1)


def forest(card: Card) -> Figure:
    """Draw the difference in τ_b from each stored metric, and the zone in which differences are often
    missed."""
    frame = pd.DataFrame(card.rivals()).set_index("metric").sort_values("difference", ascending=False)
    figure, axes = plots.panels(1, 1, 4.0)
    apart, zone = frame.filter(regex="^difference"), frame["detectable"]
    axes.barh(range(len(frame)), 2 * zone, left=-zone, height=0.8, color="#dddddd")
    axes.axvline(0, color=plots.PALETTE[6], linewidth=1)
    named = {"difference": "value", "difference_low": "low", "difference_high": "high"}
    plots.intervals(axes, apart.rename(columns=named), size=28)
    axes.grid(visible=False)
    axes.tick_params(axis="x", bottom=True)
    axes.set_xlabel("τ_b with the mean grade,\nfive lines minus the other")
    return figure
