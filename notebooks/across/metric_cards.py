"""Two example metrics for a metric card: one of five lines of code, and one that is built to win."""

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
from radeval_lib.metric_cards.measurements import select_half
from radeval_lib.metrics.by_name import create
from radeval_lib.paths import RECORDED
from radeval_lib.provenance import RECORDED_SCORES
from radeval_lib.stats.base import FloatArray
from radeval_lib.study.runs import Run

SETS = ("radpref", "mts_dialog")  # The stored sets on which both metrics are scored.
FIVE_LINES = Path(__file__).with_name("five_lines.csv")
"""File with the stored scores of :func:`five_lines` on RadPref and MTS-Dialog: ``id`` and ``score``. A test
computes them again if the data root has the texts."""


def five_lines(reference: str, candidate: str) -> float:
    """Return the number of distinct words in both texts divided by the number in at least one text.

    The score is between 0 and 1, and 0 if both texts are empty. "No" and the next word, such as "no
    effusion", count as one word.
    """
    stated, meant = (
        set(re.findall(r"no \w+|\w+", " ".join(text.lower().split()))) for text in (candidate, reference)
    )
    return len(stated & meant) / max(1, len(stated | meant))


class Nearest:
    """A metric that is built to win: it scores a pair with the mean grade (1 to 5) of the most similar pair
    in the development half of RadPref (the cases with even numbers).

    Similarity is measured by the word counts of both texts and by ROUGE-L. No grade of the other half is
    read.
    """

    def __init__(self) -> None:
        table = recorded.load("radpref").table
        development = table[select_half(table["case"].to_numpy(), "development")]
        self._grades = development[["grade_1", "grade_2", "grade_3"]].mean(axis=1).to_numpy(np.float64)
        self._features = _compute_features(development)
        self._rouge = create("rouge_l")

    def score_rows(self, rows: pd.DataFrame) -> FloatArray:
        """Return one score per row of a table with ``reference_words``, ``candidate_words`` and
        ``rouge_l``; shape (rows,)."""
        features = _compute_features(rows)
        squared_distances = ((features[:, None] - self._features) ** 2).sum(axis=2)
        return self._grades[squared_distances.argmin(axis=1)]

    def __call__(self, references: Sequence[str], candidates: Sequence[str]) -> FloatArray:
        """Return one score per pair of texts; shape (pairs,)."""
        rows = pd.DataFrame(
            {
                "reference_words": [len(text.split()) for text in references],
                "candidate_words": [len(text.split()) for text in candidates],
                "rouge_l": self._rouge.score(references, candidates).values.round(9),
            }
        )
        return self.score_rows(rows)


def _compute_features(rows: pd.DataFrame) -> FloatArray:
    """Return the logarithms of both word counts, and ROUGE-L; shape (rows, 3)."""
    log_lengths = np.log1p(rows[["reference_words", "candidate_words"]].to_numpy(np.float64))
    return np.column_stack([log_lengths, rows["rouge_l"]])


def note_stored_scores(run: Run) -> None:
    """List in the page's provenance the files of stored scores that the cards read."""
    for name in SETS:
        run.inputs.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")


def read_five_lines() -> dict[str, FloatArray]:
    """Return the stored scores of :func:`five_lines`: a mapping from each set in :data:`SETS` to one score
    per candidate, in the order of the set's rows."""
    scores = pd.read_csv(FIVE_LINES)
    return {
        name: rows["score"].to_numpy(np.float64)
        for name, rows in scores.groupby(scores["id"].str.partition("/")[0])
    }


def make_five_lines_card(run: Run) -> Card:
    """Return the card of :func:`five_lines`, from its stored scores."""
    return metric_card(
        five_lines,
        name="five lines",
        value_range=(0, 1),
        tuned="no",
        rated_scores=read_five_lines(),
        data_root=None,
        seed=run.seed,
    )


def make_winner_cards(run: Run) -> dict[str, Card]:
    """Return two cards of :class:`Nearest`: ``development`` for the half of RadPref whose grades the metric
    knows, and ``report`` for the other half."""
    metric = Nearest()
    scores = {name: metric.score_rows(recorded.load(name).table) for name in SETS}
    return {
        half: metric_card(
            metric,
            name="nearest graded",
            batched=True,
            value_range=(1, 5),
            tuned="yes",
            half=half,
            quick=True,
            rated_scores=scores,
            data_root=None,
            seed=run.seed,
        )
        for half in ("development", "report")
    }


def tabulate_winner(cards: Mapping[str, Card]) -> pd.DataFrame:
    """Return the agreement (τ_b) of :class:`Nearest` with people's ratings.

    ``cards`` come from :func:`make_winner_cards`. The table has three rows: the half of RadPref that the
    metric knows, the other half, and MTS-Dialog. Its columns are ``value``, ``low`` and ``high`` (bounds
    of the 95% interval) and ``n`` (number of texts).
    """
    rows = {}
    for half, card in cards.items():
        label = f"RadPref, {'the half that it knows' if half == 'development' else 'the other half'}"
        rows[label] = {**card.row(card.name), "n": card.data["radpref"]["candidates"]}
    card = cards["report"]
    mts_dialog_row = next(row for row in card.data["mts_dialog"] if row["metric"] == card.name)
    table = pd.DataFrame.from_dict({**rows, "MTS-Dialog, F1 of facts": mts_dialog_row}, orient="index")
    return table[["value", "value_low", "value_high", "n"]].set_axis(["value", "low", "high", "n"], axis=1)


def draw_differences(card: Card) -> Figure:
    """Draw the τ_b of the card's metric minus that of each stored metric, with 95% intervals.

    Behind each difference, a grey bar extends on both sides of 0 to the smallest difference that is detected
    with a power of 80%.
    """
    rivals = pd.DataFrame(card.rivals()).set_index("metric").sort_values("difference", ascending=False)
    figure, axes = plots.panels(1, 1, 4.0)
    differences, detectable = rivals.filter(regex="^difference"), rivals["detectable"]
    axes.barh(range(len(rivals)), 2 * detectable, left=-detectable, height=0.8, color="#dddddd")
    axes.axvline(0, color=plots.PALETTE[6], linewidth=1)
    columns = {"difference": "value", "difference_low": "low", "difference_high": "high"}
    plots.draw_intervals(axes, differences.rename(columns=columns), size=28)
    axes.grid(visible=False)
    axes.tick_params(axis="x", bottom=True)
    axes.set_xlabel("difference in τ_b with the mean grade,\nfive lines minus stored metric")
    return figure
