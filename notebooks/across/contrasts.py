"""Contrasts of papers with their released code: kept in the order of the page, counted and drawn.

``contrasts.yml`` says of each contrast whose it is and what it compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from IPython.display import display

from radeval_lib import own_yaml, plots, tables
from radeval_lib.papers.demonstrations import Contrast
from radeval_lib.papers.exhibits import PAPERS

_SAID = {
    name: (whose, said)
    for whose, contrasts in own_yaml.read(Path(__file__).with_name("contrasts.yml")).items()
    for name, said in contrasts.items()
}


class Contrasts(list[Contrast]):
    """The contrasts of the page, in its order."""

    def keep(self, *found: Contrast) -> None:
        """Display contrasts and keep them."""
        self.extend(found)
        display(*found)

    def show(self, caption: str, frame: pd.DataFrame, *found: Contrast, **look: Any) -> None:
        """Display a table as :func:`radeval_lib.tables.show` does, then its contrasts, which are kept."""
        display(tables.show(frame, caption, **look))
        self.keep(*found)

    def table(self) -> pd.DataFrame:
        """One row per contrast; ``share of range`` is NaN for counts; ``gap``: as :attr:`Contrast.is_gap`."""
        rows = [(one.whose, one.difference, one.share, one.is_gap) for one in self]
        return pd.DataFrame(rows, columns=["whose", "difference", "share of range", "gap"])


def gaps(contrasts: pd.DataFrame) -> pd.DataFrame:
    """The distinct gaps between a paper and its own code among contrasts, each with its largest share of a
    range; what a paper does not state, and what code of others does, are none."""
    own = contrasts[contrasts["gap"]]
    return own.groupby(["whose", "difference"], sort=False, as_index=False)["share of range"].max()


def contrast(name: str, values: Iterable[float], scale: float | None = 1.0, **words: object) -> Contrast:
    """A contrast from its two values, the stated one first; ``words`` complete what the file says of it."""
    whose, (difference, quantity, basis, *unstated) = _SAID[name]
    stated, by_code = values
    is_gap = whose in PAPERS.values() and not unstated and stated != by_code
    return Contrast(whose, difference, quantity.format(**words), stated, by_code, basis, scale, is_gap)


def draw_effects(ranked: pd.DataFrame) -> None:
    """One bar per contrast that has a range, from the table of :class:`Contrasts`, the largest first."""
    _, axes = plots.panels(1, 1, 0.3 * len(ranked) + 0.9)
    cut = ranked.assign(shown=ranked["share of range"].clip(upper=1.5))
    look = {"dodge": False, "palette": list(plots.PALETTE[: ranked["whose"].nunique()]), "ax": axes}
    sns.barplot(cut, x="shown", y="difference", hue="whose", **look)
    axes.set_xlabel("difference as a share of the range (cut at 1.5)", loc="right")  # wider than the axes
    axes.set(ylabel="", xlim=(0, 1.55))
    axes.legend(title="", loc="lower right")
