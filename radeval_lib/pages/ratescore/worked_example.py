"""The worked example of the paper's Appendix A.1: from five printed numbers, and read by a recogniser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from radeval_lib import plots
from radeval_lib.metrics import ratescore
from radeval_lib.metrics.ratescore import Explanation, Options, Weights

ANATOMY, ABNORMALITY, _, NORMAL, _ = ratescore.TYPES
_KINDS = {"Anatomy": ANATOMY, "Abnormality": ABNORMALITY, "Non-Abnormality": NORMAL}
SIDES = ("reference", "candidate")


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

    def types_found(self, found: Explanation) -> pd.DataFrame:
        """The printed entities and those of a recogniser, with both types; empty where one has it not.

        Returns
        -------
        DataFrame
            ``report``, ``entity``, ``printed``, ``found``.
        """
        rows = []
        for side in SIDES:
            here = {entity.text.lower(): entity.type for entity in getattr(found, side)}
            printed = {name.lower(): kind for name, kind in getattr(self, side)}
            rows += [
                (side, name, printed.get(name, ""), here.get(name, ""))
                for name in dict.fromkeys([*printed, *here])
            ]
        return pd.DataFrame(rows, columns=["report", "entity", "printed", "found"])


def draw_parts(axes: Axes, settings: Mapping[str, Explanation]) -> None:
    """Both directions of each setting as a bar, split by the entity that contributes, and what is lost."""
    terms = pd.concat([pd.DataFrame(result.rows()).assign(setting=name) for name, result in settings.items()])
    key = terms["setting"] + "\n" + terms["direction"].map({"precision": "S(x, x̂)", "recall": "S(x̂, x)"})
    terms["key"], terms["part"] = key, terms["term"] / terms.groupby(key)["weight"].transform("sum")
    terms["pair"] = np.where(
        terms["type"] == ANATOMY, "Foley catheter – Foley catheter", "not in place – in situ"
    )
    bars = terms.pivot(index="key", columns="pair", values="part").reindex(key.drop_duplicates())
    values = bars.sum(axis=1)
    bars.assign(lost=1 - values).plot.barh(
        stacked=True, ax=axes, color=[*plots.PALETTE[:2], "0.88"], width=0.7
    )
    for row, value in enumerate(values):
        axes.text(value + 0.01, row, f"{value:.3f}", ha="left", va="center", fontsize=9, color="0.2")
    axes.invert_yaxis()
    axes.set(xlabel="part of the direction's value", ylabel="", xlim=(0, 1))
    axes.grid(axis="y", visible=False)
    axes.legend(title="", ncols=3, loc="upper center", bbox_to_anchor=(0.4, -0.16))
