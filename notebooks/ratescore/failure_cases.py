"""The paper's triple of a sentence, its synonym and its opposite, put to metrics that read no model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.bleu import sentence_bleu
from radeval_lib.metrics.ratescore import Scorer
from radeval_lib.papers.printed_numbers import texts
from radeval_lib.stats.rouge import rouge_l
from radeval_lib.stats.tokens import words

SYNONYM, OPPOSITE = "synonym rewrite", "opposite rewrite"
METEOR = "METEOR without synonyms"

_APPENDIX = ("appendix", "ANATOMY")
ENTITIES = {
    "reference": [_APPENDIX, ("visualized", "NON-ABNORMALITY"), ("air-filled", "NON-ABNORMALITY")],
    SYNONYM: [_APPENDIX, ("seen", "NON-ABNORMALITY"), ("contains gas", "NON-ABNORMALITY")],
    OPPOSITE: [_APPENDIX, ("poorly visualized", "ABNORMALITY"), ("not air-filled", "ABNORMALITY")],
}
"""The entities of A.5's texts as an NER model without fault has them, those of like place matched."""


def triple() -> pd.Series:
    """Return the texts of Appendix A.5, by role."""
    rows = texts("ratescore.reports").query("exhibit == 'ratescore.example_a5'")
    return rows.set_index("role")["text"].rename(None)


def by_words(three: pd.Series, meteor: Metric) -> pd.DataFrame:
    """Return scores of both rewrites by metrics of words, one metric per row."""
    references, rewrites = [three["reference"]] * 2, [three[SYNONYM], three[OPPOSITE]]
    scores = {
        "ROUGE-L": [rouge_l(words(references[0]), words(rewrite)) for rewrite in rewrites],
        "BLEU-1": sentence_bleu(rewrites, references, 1),
        "BLEU-2": sentence_bleu(rewrites, references, 2),
        METEOR: meteor.score(references, rewrites).values,
    }
    return pd.DataFrame(scores, index=[SYNONYM, OPPOSITE]).T


def by_entities(weights: str, cosine: float) -> pd.Series:
    """Return RaTEScore of both rewrites with :data:`ENTITIES`, where matched names that differ have that
    cosine, from 0 to 1, and all other names 0. Any other cosine is a ValueError.

    ``weights``: ``long`` or ``short``.
    """
    if not 0 <= cosine <= 1:
        raise ValueError(f"the cosine must lie from 0 to 1, not {cosine}")
    least = max(cosine, 1e-9)  # above those of unmatched names, so that the names of like place still match
    similarity = np.diag([1.0, least, least])
    scorer = Scorer(weights)
    return pd.Series(
        {
            role: scorer.score(ENTITIES["reference"], ENTITIES[role], similarity).score
            for role in (SYNONYM, OPPOSITE)
        }
    )


def ranges() -> dict[str, pd.DataFrame]:
    """Return RaTEScore of both rewrites (columns) for matched names alike, and unlike (rows), by set of
    weights."""
    return {
        f"RaTEScore, {name} texts": pd.DataFrame(
            {alike: by_entities(name, cosine) for alike, cosine in (("unlike", 0), ("alike", 1))}
        ).T
        for name in ("long", "short")
    }
