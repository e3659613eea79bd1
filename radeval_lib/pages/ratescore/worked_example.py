"""The worked example of the paper's Appendix A.1, from its five printed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy import optimize

from radeval_lib import plots
from radeval_lib.metrics import ratescore
from radeval_lib.metrics.ratescore import Explanation, Options, Weights
from radeval_lib.origin import note_use
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.paths import ROOT

ANATOMY, ABNORMALITY, _, NORMAL, _ = ratescore.TYPES
_KINDS = {"Anatomy": ANATOMY, "Abnormality": ABNORMALITY, "Non-Abnormality": NORMAL}
SIDES = ("reference", "candidate")


def released_weights() -> dict[str, Weights]:
    """Both released sets of weights, by the length of the texts that they are for."""
    note_use(ROOT / "radeval_lib/metrics/ratescore/weights.yml")
    return {name: ratescore.load(name) for name in ("short", "long")}


@dataclass(frozen=True)
class PrintedPair:
    """The entities of A.1, each with its type, two a side and in the order of their matches."""

    reference: Sequence[tuple[str, str]]
    candidate: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> PrintedPair:
        """From rows of a reference's entity and a candidate's, each with its type."""
        return cls(
            *(
                [(row[f"{side}_entity"], _KINDS[row[f"{side}_type"]]) for _, row in rows.iterrows()]
                for side in SIDES
            )
        )

    def score(self, weights: Weights, cosine: float, options: Options) -> Explanation:
        """The score where the second pair of entities has this cosine, the first 1, and all others 0."""
        return ratescore.Scorer(weights, options).score(
            self.reference, self.candidate, np.diag([1.0, cosine])
        )

    def by_hand(self, values: NDArray[np.float64]) -> Explanation:
        """The score from W(Ana, Ana), W(Non-Abn, Abn), W(Abn, Non-Abn), the cosine and the penalty."""
        matrix = np.zeros((5, 5))
        anatomy, found, normal = (ratescore.TYPES.index(kind) for kind in (ANATOMY, ABNORMALITY, NORMAL))
        matrix[anatomy, anatomy], matrix[normal, found], matrix[found, normal] = values[:3]
        weights = Weights("A.1", matrix, values[4])
        return self.score(weights, values[3], ratescore.options("paper", orientation="match_first"))


def printed_inputs(formula: pd.DataFrame) -> pd.DataFrame:
    """The five numbers of the formulas, in the order that :meth:`PrintedPair.by_hand` takes."""
    there, back = "S(x, x_hat)", "S(x_hat, x)"
    wanted = [
        (there, "Foley catheter", "weight"),
        (there, "not in place", "weight"),
        (back, "not in place", "weight"),
        (there, "not in place", "cosine"),
        (there, None, "penalty"),
    ]
    rows = [
        formula[
            (formula["direction"] == direction)
            & (formula["quantity"] == quantity)
            & (formula["candidate_entity"] == entity if entity else True)
        ]
        for direction, entity, quantity in wanted
    ]
    return pd.concat(rows)


def draw_penalty(
    axes: Axes, pair: PrintedPair, inputs: NDArray[np.float64], penalties: Mapping[str, float], final: float
) -> None:
    """The score of A.1 for every penalty, those that the appendix prints, and the printed result."""

    def score(p: float) -> float:
        return pair.by_hand(np.array([*inputs[:4], p])).score

    grid = np.linspace(0, 1, 101)
    axes.plot(grid, [score(p) for p in grid], color="0.4")
    axes.axhline(final, color=plots.PALETTE[1], linestyle="--", label=f"printed: {final:g}")
    for (where, p), marker, colour in zip(
        penalties.items(), "os", (plots.PALETTE[0], plots.PALETTE[2]), strict=True
    ):
        axes.plot(p, score(p), marker, color=colour, label=f"p = {p:g} ({where}): {score(p):.3f}")
    axes.set(xlabel="penalty p", ylabel="RaTEScore of A.1", xlim=(0, 1))
    axes.legend(loc="lower right")


def draw_weights(grid: Sequence[Axes], released: Mapping[str, Weights]) -> None:
    """Released weight matrices side by side."""
    labels = [kind.replace("ABNORMALITY", "ABN.").capitalize() for kind in ratescore.TYPES]
    for axes, (name, weights) in zip(grid, released.items(), strict=True):
        heat = {"annot": True, "fmt": ".2f", "annot_kws": {"size": 9}, "cmap": "crest", "vmin": 0, "vmax": 1}
        ticks = {"xticklabels": labels, "yticklabels": labels}
        sns.heatmap(weights.matrix, ax=axes, cbar=False, square=True, **heat, **ticks)
        axes.set(title=f"{name} texts, p = {weights.penalty:.3f}", ylabel="query")
        axes.tick_params(axis="x", rotation=45)
    grid[-1].set_xlabel("match")


def reach_of(pair: PrintedPair, inputs: pd.DataFrame, penalty: Printed, final: Printed) -> dict[str, float]:
    """What the other printed penalty can give at most (``high``), and the one ``needed`` for the result."""
    other = inputs.copy()
    other.iloc[-1, other.columns.get_indexer(["value", "half_width"])] = penalty.value, penalty.half_width
    fixed = inputs["value"].to_numpy()[:4]
    needed = optimize.brentq(lambda p: pair.by_hand(np.array([*fixed, p])).score - final.value, 0, 1)
    high = rounding_range(lambda values: pair.by_hand(values).score, other).high
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
