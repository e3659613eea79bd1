"""The worked example of the paper's Appendix A.1, from its five printed numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize

from radeval_lib import origin
from radeval_lib.metrics import ratescore
from radeval_lib.metrics.ratescore import Explanation, Options, Weights
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.paths import ROOT
from radeval_lib.stats.estimates import Estimate

ANATOMY, ABNORMALITY, _, NORMAL, _ = ratescore.TYPES
_KINDS = {"Anatomy": ANATOMY, "Abnormality": ABNORMALITY, "Non-Abnormality": NORMAL}


def released_weights() -> dict[str, Weights]:
    """Both released sets of weights, by the length of the texts that they are for."""
    origin.note_printed(origin.RELEASED, ROOT / "radeval_lib/metrics/ratescore/weights.yml")
    return {name: ratescore.load(name) for name in ("short", "long")}


def score(pairs: pd.DataFrame, weights: Weights, cosine: float, options: Options) -> Explanation:
    """The score where the second pair of entities has this cosine, the first 1, and all others 0.

    ``pairs``: two rows, a reference's entity and the candidate's, each with its type.
    """
    reference, candidate = (
        list(zip(pairs[f"{side}_entity"], pairs[f"{side}_type"].map(_KINDS), strict=True))
        for side in ("reference", "candidate")
    )
    return ratescore.Scorer(weights, options).score(reference, candidate, np.diag([1.0, cosine]))


def by_hand(pairs: pd.DataFrame, values: NDArray[np.float64]) -> Explanation:
    """The score from W(Ana, Ana), W(Non-Abn, Abn), W(Abn, Non-Abn), the cosine and the penalty."""
    matrix = np.zeros((5, 5))
    anatomy, found, normal = (ratescore.TYPES.index(kind) for kind in (ANATOMY, ABNORMALITY, NORMAL))
    matrix[anatomy, anatomy], matrix[normal, found], matrix[found, normal] = values[:3]
    rules = ratescore.options("paper", orientation="match_first")
    return score(pairs, Weights("A.1", matrix, values[4]), values[3], rules)


def printed_inputs(formula: pd.DataFrame) -> pd.DataFrame:
    """The five numbers of the formulas, in the order that :func:`by_hand` takes."""
    there, back, mismatch = "S(x, x_hat)", "S(x_hat, x)", "not in place"
    wanted = [
        (there, "Foley catheter", "weight"),
        (there, mismatch, "weight"),
        (back, mismatch, "weight"),
        (there, mismatch, "cosine"),
        (there, mismatch, "penalty"),
    ]
    return formula.set_index(["direction", "candidate_entity", "quantity"], drop=False).loc[wanted]


def implied_penalty(formula: pd.DataFrame, direction: str) -> Estimate:
    """The penalty with which a direction's printed weights and cosine give its printed value."""
    rows = formula[formula["direction"] == direction].set_index(["candidate_entity", "quantity"])
    same, mismatch = ("Foley catheter", "weight"), "not in place"
    wanted = [("-", "score"), same, (mismatch, "weight"), (mismatch, "cosine")]
    return rounding_range(lambda v: (v[0] * (v[1] + v[2]) - v[1]) / (v[2] * v[3]), rows.loc[wanted])


def reach_of(pairs: pd.DataFrame, inputs: pd.DataFrame, penalty: Printed, final: Printed) -> dict[str, float]:
    """What the other printed penalty can give at most (``high``), and the one ``needed`` for the result."""
    other = inputs.copy()
    other.iloc[-1, other.columns.get_indexer(["value", "half_width"])] = penalty.value, penalty.half_width
    fixed = inputs["value"].to_numpy()[:4]
    needed = optimize.brentq(lambda p: by_hand(pairs, np.array([*fixed, p])).score - final.value, 0, 1)
    high = rounding_range(lambda values: by_hand(pairs, values).score, other).high
    return {"high": float(high), "needed": float(needed)}


def in_release(weights: pd.DataFrame, released: Mapping[str, Weights]) -> int:
    """How many printed weights some released set has in either order of its index."""
    cells = {
        "Foley catheter": [(ANATOMY, ANATOMY)],
        "not in place": [(NORMAL, ABNORMALITY), (ABNORMALITY, NORMAL)],
    }
    return sum(
        any(
            abs(one.weight(*kinds) - row.value) <= row.half_width
            for one in released.values()
            for kinds in cells[row.candidate_entity]
        )
        for row in weights.itertuples()
    )
