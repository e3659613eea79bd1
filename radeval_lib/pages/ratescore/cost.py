"""What a score costs: weights, and operations counted from layers and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib.data.ratings import rating_table
from radeval_lib.metrics.ratescore.scoring import split
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.plots import PALETTE
from radeval_lib.study.runs import Run

BASE, HERE = "the paper's size", "this build"


@dataclass(frozen=True)
class Size:
    """The size of a transformer.

    Attributes
    ----------
    layers, hidden, inner : its layers, their width, and the width of the feed-forward part.
    """

    layers: int
    hidden: int
    inner: int

    @classmethod
    def of(cls, config: Any) -> Size:
        """From a transformers configuration."""
        return cls(config.num_hidden_layers, config.hidden_size, config.intermediate_size)

    @property
    def weights(self) -> int:
        """Weights of the layers' matrices: four of attention and two of the feed-forward part each."""
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.inner)


def encoding_operations(size: Size, lengths: Sequence[int]) -> int:
    """Operations to encode texts with a bidirectional transformer."""
    return sum(2 * size.weights * n + 4 * size.layers * size.hidden * n * n for n in lengths)


def least_reading_operations(parameters: float, tokens: float) -> float:
    """The least that a dense language model needs to read a text once: 2 operations a weight and token.

    Attention, the instructions of a prompt and every token that it writes come on top.
    """
    return 2 * parameters * tokens


def read_pairs(run: Run, metric: Any) -> tuple[pd.DataFrame, list[tuple[list[int], list[int]]]]:
    """Sixty rated pairs, and the tokens of each one's sentences and of the distinct names of its entities,
    by RaTEScore's encoder."""
    pairs = rating_table(run.load("rated_pairs")).head(60)
    tokens = metric.encoder.tokenizer
    read = metric.entities([*pairs["reference"], *pairs["candidate"]])
    lengths = []
    for row, ours, theirs in zip(pairs.itertuples(), read[: len(pairs)], read[len(pairs) :], strict=True):
        sentences = split(row.reference) + split(row.candidate)
        names = sorted({entity.text for entity in (*ours, *theirs)})
        sides = ([len(tokens(text)["input_ids"]) for text in texts] for texts in (sentences, names))
        lengths.append((next(sides), next(sides)))
    return pairs, lengths


def cost_table(metric: Any, lengths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> pd.DataFrame:
    """Weights and operations of RaTEScore's two models, and the least of language models as judges.

    Parameters
    ----------
    metric : RaTEScore.
    lengths : see :func:`read_pairs`.

    Returns
    -------
    DataFrame
        One row a judge: weights in millions, operations a pair in billions, and ``times`` those of RaTEScore
        with models of the paper's size; this build's RaTEScore first, then the paper's.
    """
    base = Size(12, 768, 3072)  # both of the paper's models have the layers of BERT base
    sizes = {
        f"RaTEScore, {HERE}": [Size.of(one.model.config) for one in (metric.tagger, metric.encoder)],
        f"RaTEScore, {BASE}": [base, base],
    }
    named = printed("green.table11")["model"].str.extract(r"\(([\d.]+)B\)")[0]
    words = float(np.mean([sum(sentences) for sentences, _ in lengths]))
    rows = {
        name: (
            sum(size.weights for size in both) / 1e6,
            np.mean([sum(map(encoding_operations, both, pair)) for pair in lengths]) / 1e9,
        )
        for name, both in sizes.items()
    } | {
        f"{billions:g} billion weights, reading": (1000 * billions, least_reading_operations(billions, words))
        for billions in sorted(set(named.dropna().astype(float)))
    }
    columns = ["weights (millions)", "operations a pair (billions)"]
    table = pd.DataFrame(rows.values(), index=pd.Index(rows), columns=columns)
    return table.assign(times=table[columns[1]] / table.loc[f"RaTEScore, {BASE}", columns[1]])


def draw(axes: Axes, cost: pd.DataFrame) -> None:
    """Operations a pair on a logarithmic scale, one judge a line."""
    values = cost["operations a pair (billions)"]
    colours = [PALETTE[1] if name.startswith("RaTEScore") else PALETTE[0] for name in cost.index]
    axes.scatter(values, range(len(cost)), c=colours, s=40, zorder=3)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_yticks(range(len(cost)), cost.index)
    axes.set(xlabel="operations a pair (billions)", ylim=(len(cost) - 0.5, -0.5))
    axes.grid(axis="y", visible=False)
