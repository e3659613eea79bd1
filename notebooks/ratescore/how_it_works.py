"""A pair that shows the steps of RaTEScore, and what its choices do to the scores of many pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.jobs.ratescore.partial_metric import EQUAL_WEIGHTS, scored
from radeval_lib.metrics.ratescore import Explanation, RaTEScore, Scorer
from radeval_lib.models import encoders
from radeval_lib.rules import generator
from radeval_lib.stats.correlations import coefficient, resample
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import LEVEL
from radeval_lib.text_format import with_interval

BASE = "released rules"
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "weights": ("W and p for short texts", {"weights": "short"}),
    "penalty": ("every mismatch of types is punished", {"penalty": "any_mismatch"}),
    "orientation": ("W by the match's type first", {"orientation": "match_first"}),
    "no entity: 0": ("no entity on a side gives 0", {"empty": "zero"}),
    "no entity: 1 or 0": ("no entity on both sides gives 1, on one side 0", {"empty": "one_if_both_empty"}),
    "pooling": ("the first token's vector for the mean", {"pooling": "cls"}),
    "paper": ("as Section 2.4 says; where it is silent, as we read it", {"preset": "paper"}),
}
"""Choices of the metric: what is changed, and the settings that change it."""


def pair_with_penalty(
    encoder: encoders.Encoder, pairs: Iterable[generator.ErrorPair]
) -> tuple[generator.ErrorPair, Explanation]:
    """The first short pair in whose candidate an entity meets the penalty, and its score by true entities.

    A pair is short if both sides have at most three sentences with three to five entities in all, and the
    reference makes no remark beside its findings.

    Raises
    ------
    SyntheticError
        Where no pair is such.
    """
    for pair in filter(_short, pairs):
        ours, theirs = (
            [(entity.text, entity.label.upper()) for entity in side.findings.entities]
            for side in (pair.reference, pair.candidate)
        )
        first, second = (encoder.encode([text for text, _ in side]) for side in (ours, theirs))
        result = Scorer("long").score(ours, theirs, embeddings=(first, second))
        if result.precision is not None and min(result.precision.penalties) < 1:
            return pair, result
    raise generator.SyntheticError("no short pair meets the penalty", "pair_with_penalty", "Give more pairs.")


def _short(pair: generator.ErrorPair) -> bool:
    remarks = any(isinstance(row.content, generator.Remark) for row in pair.reference.plan)
    sides = (pair.reference.findings, pair.candidate.findings)
    return not remarks and all(len(side.sentences) <= 3 <= len(side.entities) <= 5 for side in sides)


def scores_by_choice(
    run: Run, metric: RaTEScore, pairs: Sequence[tuple[str, str]], cache: str
) -> dict[str, NDArray[np.float64]]:
    """Scores of the pairs by the released rules, by each of :data:`CHOICES`, and with all types alike; each
    of shape (pairs,).

    ``metric``: with the released rules. ``cache``: the folder of what its models found, so that no text is
    read twice. No pair is a ValueError.
    """
    if not pairs:
        raise ValueError("there is no pair to score")
    references, candidates = zip(*pairs, strict=True)
    base = metric.score(references, candidates)
    scores = {BASE: base.values}
    for label, (_, changes) in CHOICES.items():
        changed = run.metric("ratescore", cache=cache, **changes)
        scores[label] = changed.score(references, candidates).values
    entities = [(explanation.reference, explanation.candidate) for explanation in base.details]
    return scores | {"types": scored(entities, metric.entity_encoder, Scorer(EQUAL_WEIGHTS))}


def strongest(
    scores: Mapping[str, NDArray[np.float64]], choices: Sequence[str], groups: Sequence[str], run: Run
) -> tuple[list[str], list[str]]:
    """The choice whose tau with the baseline is lowest and those that no interval separates from it (Holm),
    and their taus with intervals.

    ``scores``: as :func:`choice_table` takes them. ``groups``: the reference of each pair.
    """
    drawn = resample(
        {name: scores[name] for name in choices},
        next(iter(scores.values())),
        groups=groups,
        kind="kendall",
        resamples=run.profile.resamples,
        rng=run.rng("choices"),
    )
    taus = drawn.intervals().set_index("metric").sort_values("value")[["value", "low", "high"]]
    lowest, *rivals = taus.index
    p = drawn.compare(lowest).set_index("rival")["p_holm"]
    chosen = [lowest, *(name for name in rivals if p[name] >= LEVEL)]
    ends = taus.loc[chosen].to_numpy()
    return chosen, [with_interval(tau, low, high, ".2f") for tau, low, high in ends]


def choice_table(scores: Mapping[str, NDArray[np.float64]], changes: Mapping[str, str]) -> pd.DataFrame:
    """What each choice does to the level and the order of scores.

    ``scores``: of the same pairs by choice; the baseline first. ``changes``: what each other choice changes.
    Returns one row per choice: ``what is changed``, ``mean score``, ``pairs that change``, ``largest change``
    and ``tau with the baseline``.
    """
    (baseline, base), *_ = scores.items()
    changes = {baseline: "–", **changes}
    rows = {
        label: {
            "what is changed": changes[label],
            "mean score": values.mean(),
            "pairs that change": f"{(np.abs(values - base) > 1e-9).sum()} of {len(base)}",
            "largest change": np.abs(values - base).max(),
            "tau with the baseline": coefficient(values, base, "kendall"),
        }
        for label, values in scores.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
