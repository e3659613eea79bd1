"""Variants of RaTEScore: with other weights, with other encoders, and for entities that are known already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import recorded
from radeval_lib.data.ratings import tabulate_ratings
from radeval_lib.metrics.by_name import adapt_settings
from radeval_lib.metrics.ratescore import NamedEntity, RaTEScore, Scorer, Weights
from radeval_lib.metrics.ratescore.formula import Pooling
from radeval_lib.metrics.ratescore.metric import Vectors
from radeval_lib.models import catalog, encoders
from radeval_lib.placeholders import parse_placeholder
from radeval_lib.stats.correlations import resample
from radeval_lib.study.runs import Run

EQUAL_WEIGHTS = Weights("equal weights", np.ones((5, 5)), 1.0)
"""Weights with which all pairs of entity types count equally, and different types are not penalized."""
EntityPair = tuple[Sequence[NamedEntity], Sequence[NamedEntity]]
"""The entities of a reference and of a candidate."""
EQUAL, _ENCODER = EQUAL_WEIGHTS.name, "encoder: "
LEARNED = {"long": "released, for long texts", "short": "released, for short texts"}
"""A mapping from the name of released weights to the title of their setting."""

FIRST_TOKEN = "vector of the first token"
RECORDED = tuple(f"ratescore_{name}" for name in ("long", "short", "equal", "first_token", "rival"))
"""Columns in which the scores of :func:`scores_by_setting` are stored, in the same order."""


def tag_pairs(metric: RaTEScore, references: Iterable[str], candidates: Iterable[str]) -> list[EntityPair]:
    """Return (entities of the reference, entities of the candidate) for each pair of texts."""
    reference_side, candidate_side = (metric.entities(list(texts)) for texts in (references, candidates))
    return list(zip(reference_side, candidate_side, strict=True))


def scores_by_setting(run: Run, pairs: Sequence[EntityPair]) -> dict[str, NDArray[np.float64]]:
    """Return a mapping from the title of a setting to the RaTEScore of each pair, shape (len(pairs),).

    The settings are the two released weights, equal weights, and, with the first released weights, vectors of
    the first token and the encoder of the role ``rival_encoder``. Errors are those of
    :meth:`~radeval_lib.study.runs.Run.model`.
    """

    def load(role: str, pooling: Pooling) -> encoders.Encoder:
        return encoders.Encoder(run.model(role), pooling=pooling, device=run.profile.device)

    encoder = load("encoder", "mean")
    scores = {title: score_entity_pairs(pairs, encoder, Scorer(key)) for key, title in LEARNED.items()}
    scores[EQUAL] = score_entity_pairs(pairs, encoder, Scorer(EQUAL_WEIGHTS))
    scores[FIRST_TOKEN] = score_entity_pairs(pairs, load("encoder", "cls"), Scorer("long"))
    rival = catalog.format_title(run.profile.models["rival_encoder"])
    scores[_ENCODER + rival] = score_entity_pairs(pairs, load("rival_encoder", "mean"), Scorer("long"))
    return scores


def compare_settings(run: Run, metric: RaTEScore) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how Kendall's τ_b with the grades depends on RaTEScore's weights and encoder.

    The data are those of the role ``rated_paragraphs``. If their texts are placeholders, stored scores are
    used; otherwise ``metric`` finds the entities.

    Returns
    -------
    tuple
        Two tables: :meth:`~radeval_lib.stats.correlations.Resampled.intervals`, with a row per setting of
        :func:`scores_by_setting`, indexed by ``metric``; and
        :meth:`~radeval_lib.stats.correlations.Resampled.compare` of the first setting with every other,
        indexed by ``rival``.
    """
    table = tabulate_ratings(run.load("rated_paragraphs"))
    placeholder = parse_placeholder(table["candidate"].iloc[0])
    if placeholder:
        variants = recorded.load(placeholder.set).description["variants"]
        scores = {
            str(variants[column]["settings"]["differs"]): recorded.read_column(table["candidate"], column)
            for column in RECORDED
        }
    else:
        scores = scores_by_setting(run, tag_pairs(metric, table["reference"], table["candidate"]))
    resampled = resample(
        scores,
        table["rating"].to_numpy(),
        groups=table["case"].to_numpy(),
        kind="kendall",
        resamples=run.profile.resamples,
        # The same draws as on the page ratescore/rated_pairs, so that the intervals are the same.
        rng=run.rng("rated_paragraphs kendall"),
    )
    return resampled.intervals().set_index("metric"), resampled.compare(LEARNED["long"]).set_index("rival")


def load_with_model(run: Run, role: str) -> RaTEScore:
    """Return the metric RaTEScore with one of the profile's two models for it, to find or to encode entities.

    ``role`` is ``ner_model`` or ``encoder``; the other model is the default. Errors are those of
    :meth:`~radeval_lib.study.runs.Run.model`.
    """
    models = {role: run.model(role)}
    return RaTEScore(**models, **adapt_settings("ratescore", models), device=run.profile.device)


def score_entity_pairs(
    pairs: Sequence[EntityPair], encoder: encoders.Encoder, scorer: Scorer
) -> NDArray[np.float64]:
    """Return the RaTEScore of pairs whose entities are known, shape (len(pairs),).

    Scores are from 0 to 1, or below 0 if ``scorer`` keeps negative cosines. If a side has no entities, the
    score is :meth:`Scorer.empty_score`.
    """
    vectors = Vectors(encoder.encode)
    vectors.add(entity.text for pair in pairs for side in pair for entity in side)
    return np.array(
        [
            scorer.score(reference, candidate, vectors.rows(reference) @ vectors.rows(candidate).T).score
            if reference and candidate
            else scorer.empty_score(len(reference), len(candidate))
            for reference, candidate in pairs
        ]
    )
