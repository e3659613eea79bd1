"""Rewrites of reports on which metrics are put to a question with a right and a wrong answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from radeval_lib.data.records import Triad
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.ratescore import RaTEScore
from radeval_lib.metrics.ratescore.scoring import Entity
from radeval_lib.pages.ratescore.rated_pairs import place
from radeval_lib.pages.ratescore.released import RATESCORE
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.wording import joined

SAME, WITH_SENTENCE, OPPOSITE, OTHER = (
    "same meaning",
    "same, unrelated sentence",
    "opposite meaning",
    "another report",
)
_GUESSING = 0.5
_MARGIN = 0.1  # a share that is surely less than this above guessing is no better than guessing
_NORMAL = {"ABNORMALITY": "NON-ABNORMALITY", "DISEASE": "NON-DISEASE"}


def candidates(triads: Sequence[Triad], sentence: str) -> pd.DataFrame:
    """The reference and the four candidates of each triad, one column each.

    Parameters
    ----------
    sentence : the unrelated one, which one of the candidates ends in.
    """
    reference = [reveal(one.reference) for one in triads]
    same = [reveal(one.synonymous) for one in triads]
    return pd.DataFrame(
        {
            "reference": reference,
            SAME: same,
            WITH_SENTENCE: [f"{text} {sentence}" for text in same],
            OPPOSITE: [reveal(one.opposite) for one in triads],
            OTHER: np.roll(reference, 1),
        }
    )


def no_better(low: float, high: float) -> bool | None:
    """Whether a share of right answers is no better than guessing, by its interval.

    It is where the interval ends less than 0.1 above guessing, and is not where it begins above guessing. A
    wide interval shows neither.
    """
    if low > _GUESSING:
        return False
    return True if high < _GUESSING + _MARGIN else None


def by_answer(shares: pd.DataFrame) -> dict[str, str]:
    """Which metrics do ``better`` than a guess, which do ``no_better``, and which show ``neither``."""
    names: dict[bool | None, list[str]] = {False: [], True: [], None: []}
    for name, row in shares.iterrows():
        names[no_better(row["low"], row["high"])].append(str(name))
    keys = ("better", "no_better", "neither")
    return {key: joined(found) or "none" for key, found in zip(keys, names.values(), strict=True)}


def situation_table(situations: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """RaTEScore's place in each situation, and the metrics with the lowest and the highest share."""
    rows = {}
    for situation, shares in situations.items():
        order = shares["value"].sort_values(ascending=False)
        worst, best = (f"{name} {order[name]:.2f}" for name in (order.index[-1], order.index[0]))
        rank = place(list(order.index).index(RATESCORE) + 1, len(order))
        rows[situation.capitalize()] = (rank, order[RATESCORE], worst, best)
    return pd.DataFrame(rows.values(), index=pd.Index(rows), columns=["rank", RATESCORE, "lowest", "highest"])


def fails(situation: str, row: pd.Series) -> bool | None:
    """Whether a metric fails in a situation as Figure 1 says, None where its interval does not tell."""
    if situation == "opposites":
        return no_better(row["low"], row["high"])
    return above(-row["high"], -row["low"], -_GUESSING if situation == "synonyms" else 0)


def check_fooled(name: str, row: pd.Series) -> Check:
    """Whether a metric fails on the triple of A.5, as Figure 1 says of existing metrics."""
    return check_statement(
        f"{name} on the triple of A.5",
        "these metrics fail to identify opposite meanings and synonyms",
        f"{row['synonym rewrite']:.3f} for the synonym, {row['opposite rewrite']:.3f} for the opposite",
        row["opposite rewrite"] >= row["synonym rewrite"],
    )


def right_types(found: Mapping[str, Sequence[Entity]]) -> dict[str, list[tuple[str, str]]]:
    """The entities of A.5's three texts with the types that are right: normal but in the opposite."""
    wanted = dict.fromkeys(found, _NORMAL) | {
        "opposite rewrite": {normal: kind for kind, normal in _NORMAL.items()}
    }
    return {
        role: [(one.text, wanted[role].get(one.type, one.type)) for one in entities]
        for role, entities in found.items()
    }


def scored_by_formula(
    metric: RaTEScore, reference: Sequence[tuple[str, str]], candidate: Sequence[tuple[str, str]]
) -> float:
    """RaTEScore of given entities and types, with the metric's encoder."""
    ours, theirs = (metric.encoder.encode([text for text, _ in side]) for side in (reference, candidate))
    return float(metric.scorer.score(reference, candidate, embeddings=(ours, theirs)).score)


def quoted(texts: Sequence[str]) -> str:
    """Words in quotation marks, joined by commas; ``none`` where there are none."""
    return ", ".join(f"“{text}”" for text in texts) or "none"
