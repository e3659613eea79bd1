"""RaTEScore with other weights and encoders, with one of its models alone, and of entities that are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import recorded
from radeval_lib.data.ratings import rating_table
from radeval_lib.metrics.by_name import settings_for_models
from radeval_lib.metrics.ratescore import NamedEntity, RaTEScore, Scorer, Weights
from radeval_lib.metrics.ratescore.formula import Pooling
from radeval_lib.metrics.ratescore.metric import Vectors
from radeval_lib.models import catalog, encoders
from radeval_lib.placeholders import behind
from radeval_lib.stats.correlations import resample
from radeval_lib.study.runs import Run

EQUAL_WEIGHTS = Weights("equal weights", np.ones((5, 5)), 1.0)
"""Weights by which all types count alike, without a penalty."""
EntityPair = tuple[Sequence[NamedEntity], Sequence[NamedEntity]]
"""The entities of a reference and of a candidate."""
EQUAL, _ENCODER = EQUAL_WEIGHTS.name, "encoder: "
LEARNED = {"long": "released, for long texts", "short": "released, for short texts"}
"""Titles of the settings with released weights, by the weights' name."""

FIRST_TOKEN = "vector of the first token"
RECORDED = (
    "ratescore_long",
    "ratescore_short",
    "ratescore_equal",
    "ratescore_first_token",
    "ratescore_rival",
)
"""The stored columns of :func:`scores_by_setting`, in its order."""


def entities(metric: RaTEScore, references: Iterable[str], candidates: Iterable[str]) -> list[EntityPair]:
    """Return the entities of each pair's reference and candidate."""
    ours, theirs = (metric.entities(list(side)) for side in (references, candidates))
    return list(zip(ours, theirs, strict=True))


def scores_by_setting(run: Run, pairs: Sequence[EntityPair]) -> dict[str, NDArray[np.float64]]:
    """Return scores by setting: the released weights, equal weights without a penalty, and other encoders.
    Each has shape (pairs,).

    The encoders differ from the first setting in nothing else.
    """

    def model(role: str, pooling: Pooling) -> encoders.Encoder:
        return encoders.Encoder(run.model(role), pooling=pooling, device=run.profile.device)

    ours = model("encoder", "mean")
    scores = {name: score_entity_pairs(pairs, ours, Scorer(key)) for key, name in LEARNED.items()}
    scores[EQUAL] = score_entity_pairs(pairs, ours, Scorer(EQUAL_WEIGHTS))
    scores[FIRST_TOKEN] = score_entity_pairs(pairs, model("encoder", "cls"), Scorer("long"))
    rival = catalog.title(run.profile.models["rival_encoder"])
    scores[_ENCODER + rival] = score_entity_pairs(pairs, model("rival_encoder", "mean"), Scorer("long"))
    return scores


def compare_settings(run: Run, metric: RaTEScore) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return Kendall's correlation of each setting with the grades, and the first one's lead over each other,
    as :class:`~radeval_lib.stats.correlations.Resampled` gives them, by setting.

    If the texts are placeholders, the scores are the stored ones.
    """
    table = rating_table(run.load("rated_paragraphs"))
    first = behind(table["candidate"].iloc[0])
    if first:
        about = recorded.load(first.set).about["variants"]
        scores = {
            str(about[column]["settings"]["differs"]): recorded.column(table["candidate"], column)
            for column in RECORDED
        }
    else:
        scores = scores_by_setting(run, entities(metric, table["reference"], table["candidate"]))
    drawn = resample(
        scores,
        table["rating"].to_numpy(),
        groups=table["case"].to_numpy(),
        kind="kendall",
        resamples=run.profile.resamples,
        rng=run.rng("rated_paragraphs kendall"),  # the draws of ratescore/rated_pairs, so its interval
    )
    return drawn.intervals().set_index("metric"), drawn.compare(LEARNED["long"]).set_index("rival")


def with_model(run: Run, role: str) -> RaTEScore:
    """Return RaTEScore as a run has it, with only one of its two models read, for uses that need no other.

    ``role``: ``ner_model`` or ``encoder``. Errors are those of :meth:`~radeval_lib.study.runs.Run.model`.
    """
    filled = {role: run.model(role)}
    return RaTEScore(**filled, **settings_for_models("ratescore", filled), device=run.profile.device)


def score_entity_pairs(
    pairs: Sequence[EntityPair], encoder: encoders.Encoder, scorer: Scorer
) -> NDArray[np.float64]:
    """Return RaTEScore of pairs with known entities; shape (pairs,). If a side has none, the score is what
    ``scorer`` gives such a pair."""
    vectors = Vectors(encoder.encode)
    vectors.learn(entity.text for pair in pairs for side in pair for entity in side)
    return np.array(
        [
            scorer.score(ours, theirs, vectors.rows(ours) @ vectors.rows(theirs).T).score
            if ours and theirs
            else scorer.empty_score(len(ours), len(theirs))
            for ours, theirs in pairs
        ]
    )
