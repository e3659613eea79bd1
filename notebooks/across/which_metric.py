"""The cost of a score: operations, counted from layers and tokens, and time on the processor that runs this
code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.errors import DataError
from radeval_lib.data.ratings import tabulate_texts
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.ratescore.sentences import split
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.rules.reader import reader, sentence
from radeval_lib.rules.report_text import statements, words
from radeval_lib.study.runs import Run

_BERT_BASE, _THIS_BUILD = "BERT base twice", "this build"
REPORTS = 227_835
"""Number of radiology reports in MIMIC-CXR v2.0.0, according to PhysioNet."""
WARM_UP = 4
"""Number of pairs that are scored before the clock starts."""


def count_weights(config: Any) -> int:
    """Return the number of weights in the matrices of a transformer's layers.

    Each layer has four matrices for attention and two for the feed-forward part. Embeddings and biases are
    left out. ``config`` is the model's configuration in the library Transformers.
    """
    hidden, intermediate = config.hidden_size, config.intermediate_size
    return int(config.num_hidden_layers * (4 * hidden**2 + 2 * hidden * intermediate))


def count_operations(config: Any, lengths: Sequence[int]) -> int:
    """Return the number of floating-point operations that a bidirectional transformer needs to encode texts.

    There are two operations per weight and token, plus those of attention. ``config`` is the model's
    configuration, and ``lengths`` has the number of tokens of each text.
    """
    attention = 4 * config.num_hidden_layers * config.hidden_size
    return sum(2 * count_weights(config) * n + attention * n * n for n in lengths)


def read_pairs(run: Run, metric: Any) -> tuple[pd.DataFrame, list[tuple[list[int], list[int]]]]:
    """Return the first sixty pairs of the role ``text_pairs``, and the token counts of RaTEScore's inputs.

    ``metric`` is RaTEScore; the tokenizer of its encoder counts the tokens. There are two lists of token
    counts per pair: for its sentences, which the entity tagger reads, and for the distinct names of its
    entities, which the encoder reads.
    """
    pairs = tabulate_texts(run.load("text_pairs")).head(60)

    def count_tokens(texts: Sequence[str]) -> list[int]:
        return [len(metric.entity_encoder.tokenizer(text)["input_ids"]) for text in texts]

    entities = metric.entities([*pairs["reference"], *pairs["candidate"]])
    sides = entities[: len(pairs)], entities[len(pairs) :]
    lengths = []
    for row, reference_entities, candidate_entities in zip(pairs.itertuples(), *sides, strict=True):
        sentences = split(row.reference) + split(row.candidate)
        names = sorted({entity.text for entity in (*reference_entities, *candidate_entities)})
        lengths.append((count_tokens(sentences), count_tokens(names)))
    return pairs, lengths


def compute_mean_tokens(metric: Any, lengths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    """Return the mean number of tokens per pair, in both texts together.

    The special tokens that RaTEScore's encoder adds to each sentence are not counted. ``metric`` is
    RaTEScore, and ``lengths`` are the token counts from :func:`read_pairs`.
    """
    n_special = metric.entity_encoder.tokenizer.num_special_tokens_to_add()
    return float(np.mean([sum(sentences) - n_special * len(sentences) for sentences, _ in lengths]))


def tabulate_costs(metric: Any, lengths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> pd.DataFrame:
    """Return weights and operations of RaTEScore's models, and lower bounds for language models as judges.

    Parameters
    ----------
    metric : RaTEScore.
    lengths : token counts of pairs, from :func:`read_pairs`.

    Returns
    -------
    DataFrame
        ``weights (millions)``, ``operations per pair (billions)``, and ``times``, the operations divided by
        those of RaTEScore with two networks of the size of BERT base. The first row is RaTEScore with this
        build's models, the second RaTEScore with two such networks; the others are the sizes of language
        models in GREEN's Table 11.
    """
    from transformers import BertConfig

    models = {
        f"RaTEScore, {_THIS_BUILD}": [part.model.config for part in (metric.tagger, metric.entity_encoder)],
        # The published encoder has the size of BERT base. The published entity tagger, DeBERTa_v3, needs more
        # operations than BERT base, because each of its layers also projects positions.
        f"RaTEScore, {_BERT_BASE}": [BertConfig(), BertConfig()],
    }
    rows = {}
    for name, configs in models.items():
        operations = np.mean([sum(map(count_operations, configs, pair)) for pair in lengths]) / 1e9
        rows[name] = (sum(map(count_weights, configs)) / 1e6, operations)
    printed_sizes = printed("green.table11")["model"].str.extract(r"\(([\d.]+)B\)")[0]
    mean_tokens = compute_mean_tokens(metric, lengths)
    for billions in sorted(set(printed_sizes.dropna().astype(float))):
        # A dense model needs at least two operations per weight and token to read a text once.
        # Attention, the instructions in the prompt, and each token of the answer need more.
        rows[f"{billions:g} billion weights, reading"] = (1000 * billions, 2 * billions * mean_tokens)
    columns = ["weights (millions)", "operations per pair (billions)"]
    table = pd.DataFrame(rows.values(), index=pd.Index(rows), columns=columns)
    return table.assign(times=table[columns[1]] / table.loc[f"RaTEScore, {_BERT_BASE}", columns[1]])


def time_metrics(metrics: Mapping[str, Metric], pairs: pd.DataFrame, device: str) -> pd.Series:
    """Return the milliseconds per pair that each metric takes, indexed by its title.

    If ``device`` is ``cuda``, metrics run on the GPU and the elapsed time is measured; otherwise, the time is
    that of the processor, summed over all threads. Only the first of several ``pairs`` with the same
    reference is timed, because a metric may cache texts, whereas a corpus has one candidate per report. The
    caches of the rules are cleared before each metric; otherwise, the first rule-based metric would read all
    texts, and the others none. The first :data:`WARM_UP` of these pairs are not timed.

    Raises
    ------
    DataError
        If no pair is left to be timed.
    """
    distinct = pairs.drop_duplicates("reference")
    if len(distinct) <= WARM_UP:
        problem = f"the number of distinct references is {len(distinct)}; the first {WARM_UP} are not timed"
        raise DataError(problem, "text_pairs", f"Configure a set with over {WARM_UP} distinct references.")
    milliseconds = {}
    for title, metric in metrics.items():
        for member in chain.from_iterable(vars(m).values() for m in (reader, sentence, statements, words)):
            if hasattr(member, "cache_clear"):
                member.cache_clear()
        texts = [distinct[column].tolist() for column in ("reference", "candidate")]
        metric.score(*(side[:WARM_UP] for side in texts))
        timed = [side[WARM_UP:] for side in texts]
        milliseconds[title] = 1000 * _measure_seconds(partial(metric.score, *timed), device) / len(timed[0])
    return pd.Series(milliseconds)


def _measure_seconds(function: Callable[[], object], device: str) -> float:
    """Return the processor time of a call of ``function`` in seconds or, on a GPU, the elapsed time."""
    import torch

    clock = time.perf_counter if device == "cuda" else time.process_time
    wait_for_gpu = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait_for_gpu()  # The warm-up may still be running.
    start = clock()
    function()
    wait_for_gpu()
    return clock() - start


def draw_hours(axes: Axes, times: pd.Series) -> None:
    """Draw the hours that each metric takes to score :data:`REPORTS` pairs, on a logarithmic scale.

    ``times`` has the milliseconds per pair, indexed by metric.
    """
    hours = times.sort_values() * REPORTS / 3.6e6
    axes.scatter(hours, range(len(hours)), color=plots.PALETTE[0], s=40, zorder=3)
    axes.set_xscale("log")
    axes.set_xticks([1 / 60, 1, 24, 240], ["1 min", "1 h", "1 day", "10 days"])
    axes.set_xticks([], minor=True)
    plots.label_lines(axes, list(hours.index))
    axes.set_xlabel("time to score MIMIC-CXR on this processor")
