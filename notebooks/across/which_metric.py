"""What a score costs: operations counted from layers and tokens, and time on the processor that runs this."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.errors import DataError
from radeval_lib.data.ratings import text_table
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.ratescore.sentences import split
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.study.runs import Run

BASE, HERE = "BERT base twice", "this build"
REPORTS = 227_835
"""Radiology reports of MIMIC-CXR, as PhysioNet counts them (v2.0.0)."""
PEER = {"f1_radgraph": 157.79, "ratescore": 52.98, "green": 2210.0}
"""Milliseconds per pair that RadEval 2.2 publishes: an A100, reports of 8 to 15 tokens, twenty at once
(docs/trl_rewards_benchmarks.md at commit 0783f83)."""
WARM_UP = 4
"""Pairs that are scored before the clock starts."""


def weights(config: Any) -> int:
    """Return the number of weights in the matrices of a transformer's layers: four of attention and two of
    the feed-forward part in each layer."""
    hidden, inner = config.hidden_size, config.intermediate_size
    return int(config.num_hidden_layers * (4 * hidden**2 + 2 * hidden * inner))


def encoding_operations(config: Any, lengths: Sequence[int]) -> int:
    """Return the operations that a bidirectional transformer needs to encode texts of these token counts."""
    attention = 4 * config.num_hidden_layers * config.hidden_size
    return sum(2 * weights(config) * n + attention * n * n for n in lengths)


def read_pairs(run: Run, metric: Any) -> tuple[pd.DataFrame, list[tuple[list[int], list[int]]]]:
    """Return sixty pairs, and for each pair the token counts of its sentences and of the distinct names of
    its entities, as RaTEScore's encoder counts tokens."""
    pairs = text_table(run.load("text_pairs")).head(60)

    def counted(texts: Sequence[str]) -> list[int]:
        return [len(metric.entity_encoder.tokenizer(text)["input_ids"]) for text in texts]

    read = metric.entities([*pairs["reference"], *pairs["candidate"]])
    lengths = []
    for row, ours, theirs in zip(pairs.itertuples(), read[: len(pairs)], read[len(pairs) :], strict=True):
        sentences = split(row.reference) + split(row.candidate)
        names = sorted({entity.text for entity in (*ours, *theirs)})
        lengths.append((counted(sentences), counted(names)))
    return pairs, lengths


def text_tokens(metric: Any, lengths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    """Return the mean token count of a pair's texts, without the special tokens that RaTEScore's encoder adds
    to each sentence.

    ``metric``, ``lengths``: see :func:`cost_table`.
    """
    around = metric.entity_encoder.tokenizer.num_special_tokens_to_add()
    return float(np.mean([sum(sentences) - around * len(sentences) for sentences, _ in lengths]))


def cost_table(metric: Any, lengths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> pd.DataFrame:
    """Return weights and operations of RaTEScore's two models, and the fewest that a language model needs.

    Parameters
    ----------
    metric : RaTEScore.
    lengths : see :func:`read_pairs`.

    Returns
    -------
    DataFrame
        One row per model: weights in millions, operations per pair in billions, and ``times``, operations
        divided by those of RaTEScore with BERT base twice. RaTEScore as built here is first.
    """
    from transformers import BertConfig

    models = {
        f"RaTEScore, {HERE}": [part.model.config for part in (metric.tagger, metric.entity_encoder)],
        # The encoder has the size of BERT base; the NER model, DeBERTa_v3, costs more, for the positions that
        # each of its layers projects.
        f"RaTEScore, {BASE}": [BertConfig(), BertConfig()],
    }
    rows = {}
    for name, both in models.items():
        operations = np.mean([sum(map(encoding_operations, both, pair)) for pair in lengths]) / 1e9
        rows[name] = (sum(map(weights, both)) / 1e6, operations)
    named = printed("green.table11")["model"].str.extract(r"\(([\d.]+)B\)")[0]
    tokens = text_tokens(metric, lengths)
    for billions in sorted(set(named.dropna().astype(float))):
        # The least that a dense model needs to read a text once, two operations per weight and token:
        # attention, the instructions of a prompt and every token that it writes come on top.
        rows[f"{billions:g} billion weights, reading"] = (1000 * billions, 2 * billions * tokens)
    columns = ["weights (millions)", "operations per pair (billions)"]
    table = pd.DataFrame(rows.values(), index=pd.Index(rows), columns=columns)
    return table.assign(times=table[columns[1]] / table.loc[f"RaTEScore, {BASE}", columns[1]])


def time_metrics(metrics: Mapping[str, Metric], pairs: pd.DataFrame, device: str) -> pd.Series:
    """Return the milliseconds per pair that each metric takes on one core or on the GPU.

    Each reference is timed once, since no text is read twice and a corpus has one candidate per report.

    Raises
    ------
    DataError
        If there are no more than :data:`WARM_UP` different references.
    """
    once = pairs.drop_duplicates("reference")
    if len(once) <= WARM_UP:
        problem = f"only {len(once)} different references; the first {WARM_UP} are not timed"
        raise DataError(problem, "text pairs", "Give more pairs.")
    milliseconds = {}
    for title, metric in metrics.items():
        texts = [once[column].tolist() for column in ("reference", "candidate")]
        metric.score(*(side[:WARM_UP] for side in texts))
        rest = [side[WARM_UP:] for side in texts]
        milliseconds[title] = 1000 * _seconds(partial(metric.score, *rest), device) / len(rest[0])
    return pd.Series(milliseconds)


def _seconds(work: Callable[[], object], device: str) -> float:
    """Return the seconds of processor time that ``work`` takes; on a GPU, the seconds that pass."""
    import torch

    clock = time.perf_counter if device == "cuda" else time.process_time
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()  # for what was begun before, the warm-up
    began = clock()
    work()
    wait()
    return clock() - began


def draw(axes: Axes, times: pd.Series) -> None:
    """Draw the hours that each metric takes for :data:`REPORTS` pairs, on a logarithmic scale."""
    hours = times.sort_values() * REPORTS / 3.6e6
    axes.scatter(hours, range(len(hours)), color=plots.PALETTE[0], s=40, zorder=3)
    axes.set_xscale("log")
    axes.set_xticks([1 / 60, 1, 24, 240], ["1 min", "1 h", "1 day", "10 days"])
    axes.set_xticks([], minor=True)
    plots.lines(axes, list(hours.index))
    axes.set_xlabel("time to score MIMIC-CXR on this processor")
