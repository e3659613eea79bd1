"""Changes to a text by which it shows what a metric measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.metrics.ratescore.sentences import split

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
