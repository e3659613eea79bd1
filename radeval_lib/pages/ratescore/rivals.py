"""Changes to a text by which it shows what a metric measures, and what a score costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.metrics.ratescore.scoring import split
from radeval_lib.stats.estimates import Estimate

SAME, LEFT_OUT, ADDED, SHUFFLED, SWAPPED = (
    "the same text",
    "half left out",
    "as much added",
    "words shuffled",
    "added, sides swapped",
)


def probes(texts: Sequence[str], rng: np.random.Generator) -> pd.DataFrame:
    """Each text against changed ones.

    Half of the sentences are left out; or as many sentences of the next text are added; or the words stand
    in a random order. *Sides swapped* is the second with reference and candidate changed over.

    Parameters
    ----------
    texts : those of one sentence are passed over, since nothing can be left out of them.

    Returns
    -------
    DataFrame
        Five rows a text: ``text`` (int), ``probe``, ``reference``, ``candidate``.

    Raises
    ------
    ValueError
        Where fewer than two texts have two sentences.
    """
    cut = [(text, split(text)) for text in texts]
    cut = [(text, sentences) for text, sentences in cut if len(sentences) > 1]
    if len(cut) < 2:
        raise ValueError(f"{len(cut)} texts of two sentences or more; probes need at least two")
    rows = []
    for index, (text, sentences) in enumerate(cut):
        half = len(sentences) // 2
        others = cut[(index + 1) % len(cut)][1]
        longer = " ".join([text, *others[:half]])
        words = text.split()
        changed = {
            SAME: (text, text),
            LEFT_OUT: (text, " ".join(sentences[: len(sentences) - half])),
            ADDED: (text, longer),
            SHUFFLED: (text, " ".join(words[place] for place in rng.permutation(len(words)))),
            SWAPPED: (longer, text),
        }
        rows += [(index, probe, *pair) for probe, pair in changed.items()]
    return pd.DataFrame(rows, columns=["text", "probe", "reference", "candidate"])


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


def mean_of(values: np.ndarray, resamples: int, rng: np.random.Generator) -> Estimate:
    """Mean with its 95% bootstrap interval over texts."""
    ends = stats.bootstrap(
        (values,), np.mean, n_resamples=resamples, method="percentile", random_state=rng
    ).confidence_interval
    return Estimate(float(values.mean()), float(ends.low), float(ends.high))


def token_lengths(metric: Any, pairs: pd.DataFrame) -> list[tuple[list[int], list[int]]]:
    """Tokens of each pair's sentences, and of the distinct names of its entities, by RaTEScore's encoder."""
    tokens = metric.encoder.tokenizer
    read = metric.entities([*pairs["reference"], *pairs["candidate"]])
    lengths = []
    for row, ours, theirs in zip(pairs.itertuples(), read[: len(pairs)], read[len(pairs) :], strict=True):
        sentences = split(row.reference) + split(row.candidate)
        names = sorted({entity.text for entity in (*ours, *theirs)})
        sides = ([len(tokens(text)["input_ids"]) for text in texts] for texts in (sentences, names))
        lengths.append((next(sides), next(sides)))
    return lengths


def cost_table(
    sizes: Mapping[str, tuple[Size, Size]],
    lengths: Sequence[tuple[Sequence[int], Sequence[int]]],
    judges: Sequence[float],
) -> pd.DataFrame:
    """Weights and operations of RaTEScore's two models, and the least of language models as judges.

    Parameters
    ----------
    sizes : of recogniser and encoder, by what the row is called.
    lengths : see :func:`token_lengths`.
    judges : billions of weights.
    """
    words = float(np.mean([sum(sentences) for sentences, _ in lengths]))
    rows = {
        name: (
            sum(size.weights for size in both) / 1e6,
            np.mean([sum(map(encoding_operations, both, pair)) for pair in lengths]) / 1e9,
        )
        for name, both in sizes.items()
    } | {
        f"a language model of {billions:g} billion weights that reads the pair once": (
            1000 * billions,
            least_reading_operations(billions, words),
        )
        for billions in judges
    }
    columns = ["weights (millions)", "operations a pair (billions)"]
    return pd.DataFrame(rows.values(), index=pd.Index(rows), columns=columns)
