"""The headline on real systems in parts, which were fixed beforehand, each tested on a set of systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from notebooks.across.system_scores import difference, findings, first, means, titles
from radeval_lib import own_yaml
from radeval_lib.data.recorded import Recording
from radeval_lib.jobs.storing.system_sets import CONSTANT
from radeval_lib.metrics.by_name import get
from radeval_lib.text_format import p_words

WORDS = ("bleu", "rouge_l", "meteor", "bertscore")
"""Metrics of words, or of words in context."""
_LEVEL = 0.05
_CLAIMS = Path(__file__).with_suffix(".yml")


@lru_cache(maxsize=1)
def claims() -> dict[str, dict[str, str]]:
    """The headline in parts, each with its test and what would refute it, as they were fixed."""
    return own_yaml.read(_CLAIMS)


def tested(
    recording: Recording, systems: Sequence[str], resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """What comes of each of :func:`claims` on a set that has scores by :data:`WORDS` and the constant: beside
    its test and what refutes it, ``holds``, and ``found`` in words."""
    table, name = recording.table, titles(WORDS)
    named = findings(table, systems, rng)
    best = str((named["named"] - named["shuffled"]).idxmax())
    winners = {metric: first(means(table, [metric]).loc[list(systems), metric], metric) for metric in WORDS}
    others = {metric: winner for metric, winner in winners.items() if winner != best}
    silent = [name[metric] for metric, rival in others.items() if named.loc[rival, "p"] >= _LEVEL]

    def lead(metric: str, pair: tuple[str, str], stratum: str) -> tuple[float, float]:
        """The first system's lead in the metric's good direction, and the lower end of its interval."""
        sign, gap = get(metric).sign(), difference(table, metric, pair, stratum, resamples, rng)
        return sign * gap.value, min(sign * gap.low, sign * gap.high)

    turned = [metric for metric, rival in others.items() if lead(metric, (best, rival), "finding")[0] > 0]
    reached = [name[metric] for metric in WORDS if lead(metric, (winners[metric], CONSTANT), "all")[1] <= 0]
    counted, p = named.loc[best], named.loc[best, "p"]
    outcomes = {
        "beyond_chance": (
            p < _LEVEL,
            f"{best}: {counted['named']:.0f} of {counted['coded']:.0f}, {p_words(p)}",
        ),
        "words": (
            len(silent) > len(WORDS) / 2,
            f"{len(silent)} of {len(WORDS)}: {', '.join(silent) or 'none'}",
        ),
        "constant": (bool(reached), ", ".join(reached) or "none"),
        "turns": (bool(others) and len(turned) == len(others), f"{len(turned)} of {len(others)}"),
    }
    rows = [
        (one["claim"], one["test"], one["refuted_by"], "yes" if outcomes[key][0] else "no", outcomes[key][1])
        for key, one in claims().items()
    ]
    return pd.DataFrame(rows, columns=["claim", "test", "refuted by", "holds", "found"])
