"""RaTEScore with other weights and other encoders, over pairs that radiologists rated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import recorded
from radeval_lib.data.ratings import rating_table
from radeval_lib.jobs.ratescore.partial_metric import EQUAL_WEIGHTS, EntityPair, scored
from radeval_lib.metrics.ratescore import RaTEScore, Scorer
from radeval_lib.metrics.ratescore.settings import Pooling
from radeval_lib.models import encoders
from radeval_lib.models import names as model_names
from radeval_lib.placeholders import behind
from radeval_lib.stats.correlations import resample
from radeval_lib.study.runs import Run

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
    """Return scores by the released weights, by equal ones without a penalty, and by other encoders; each of
    shape (pairs,), by the setting's title.

    The encoders differ from the first setting in nothing else.
    """

    def model(role: str, pooling: Pooling) -> encoders.Encoder:
        return encoders.Encoder(run.model(role), pooling=pooling, device=run.profile.device)

    own = model("encoder", "mean")
    scores = {name: scored(pairs, own, Scorer(key)) for key, name in LEARNED.items()}
    scores[EQUAL] = scored(pairs, own, Scorer(EQUAL_WEIGHTS))
    scores[FIRST_TOKEN] = scored(pairs, model("encoder", "cls"), Scorer("long"))
    rival = model_names.title(run.profile.models["rival_encoder"])
    scores[_ENCODER + rival] = scored(pairs, model("rival_encoder", "mean"), Scorer("long"))
    return scores


def compared(run: Run, metric: RaTEScore) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return Kendall's correlation of each setting with the grades, and the first one's lead over each other,
    as :class:`~radeval_lib.stats.correlations.Resampled` gives them, by setting.

    The scores are those that are recorded where the texts are placeholders.
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
