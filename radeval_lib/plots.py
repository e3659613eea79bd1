"""The book's one style of figure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats
from numpy.typing import ArrayLike
from seaborn.utils import relative_luminance

# Okabe and Ito's colours: distinguished by colour-blind readers, and in grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_INK = "#1b1b1b"  # of all writing but that on cells of heat maps: the book turns it round on a dark page
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
WIDTH = 5.2  # inches: on a phone, whose screen shows it whole, the smallest labels are still 10 pixels high


def use_style() -> None:
    """Set seaborn's theme, the palette and reproducible vector output for every later figure."""
    sns.set_theme(context="notebook", style="whitegrid", palette=list(PALETTE), font_scale=1.0)
    mpl.rcParams.update(
        {
            "figure.figsize": (WIDTH, 3.6),
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "figure.constrained_layout.h_pad": 0.1,  # inches: a title stays clear of the axis above it,
            "figure.constrained_layout.w_pad": 0.08,  # and a label of the panel to its left
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
            "axes.titlesize": "medium",
            "text.color": _INK,
            "axes.labelcolor": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
            # A ground without an edge: grid lines would run through the words.
            "legend.frameon": True,
            "legend.facecolor": "white",
            "legend.edgecolor": "none",
            "legend.framealpha": 0.9,
            "svg.hashsalt": "radeval",  # the same figure gives the same bytes
            "svg.fonttype": "none",
            "font.family": "sans-serif",
        }
    )
    Colorbar.n_rasterize = 1 << 16  # no pixels in a drawing: the guard on restricted text cannot read them
    set_matplotlib_formats("svg", metadata={"Date": None})
    # Pyplot would draw every figure after its cell as pixels that nobody sees, before it is drawn as SVG.
    plt.switch_backend(mpl.get_backend())
    plt.uninstall_repl_displayhook()


def panels(rows: int, columns: int, height: float = 3.2, **settings: Any) -> tuple[Figure, Any]:
    """Return a figure, :data:`WIDTH` inches wide, and its grid of axes, each row ``height`` inches high.

    ``settings`` are passed to :func:`matplotlib.pyplot.subplots`.
    """
    return plt.subplots(rows, columns, figsize=(WIDTH, height * rows), **settings)


def heat_map(axes: Axes, table: Any, *, slant: float = 0, **settings: Any) -> None:
    """Draw seaborn's heat map with a text in each cell, black or white, whichever contrasts more.

    ``slant`` is the angle of the columns' names in degrees; slanted names end below their column.
    ``settings`` are passed to :func:`seaborn.heatmap`.
    """
    sns.heatmap(table, cbar=False, ax=axes, **{"annot": True, **settings})
    cells = axes.collections[-1].get_facecolor()
    for text in axes.texts:
        column, row = map(int, text.get_position())
        luminance = relative_luminance(cells[row * np.shape(table)[1] + column])
        text.set_color("white" if luminance < 0.179 else "black")  # there both contrast 4.6 to 1
    axes.grid(visible=False)
    axes.tick_params(axis="y", rotation=0)
    if slant:
        plt.setp(axes.get_xticklabels(), rotation=slant, ha="right", rotation_mode="anchor")


def label_point(
    axes: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], **settings: Any
) -> None:
    """Draw a text ``offset`` points from a point, on a background that covers lines.

    ``settings`` are passed to :meth:`matplotlib.axes.Axes.annotate`.
    """
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    side = ("center", "left", "right")[np.sign(offset[0])]
    look = {"ha": side, "va": "center", "fontsize": 10, "zorder": 2.5, "bbox": ground}
    axes.annotate(text, point, offset, textcoords="offset points", **{**look, **settings})


def intervals(
    axes: Axes, rows: pd.DataFrame, colours: str | Sequence[str] = PALETTE[0], *, size: float = 22
) -> None:
    """Draw values with their intervals, one per line from top to bottom.

    Parameters
    ----------
    rows : ``value``, ``low`` and ``high`` by name. Lines without a value stay empty.
    size : area of a point, in square points.
    """
    places = range(len(rows))
    axes.hlines(places, rows["low"], rows["high"], colors=colours)
    axes.scatter(rows["value"], places, c=colours, zorder=3, s=size)
    lines(axes, list(rows.index))


def series(axes: Axes, rows: pd.DataFrame, places: ArrayLike, number: int, label: str) -> None:
    """Draw one of several series of values with intervals, in its number's colour and with its marker.

    Parameters
    ----------
    rows : ``value``, ``low``, ``high``.
    places : place of each row on the vertical axis.
    number : number of the series, from 0; an IndexError beyond the colours of :data:`PALETTE`.
    """
    reach = np.abs(rows[["low", "high"]].to_numpy().T - rows["value"].to_numpy())
    look: dict[str, Any] = {"fmt": MARKERS[number], "color": PALETTE[number], "capsize": 3, "label": label}
    axes.errorbar(rows["value"], places, xerr=reach, **look)


def draw_dodged(
    axes: Axes,
    rows: pd.DataFrame,
    x: str,
    line: str,
    kind: str,
    palette: Sequence[str] = PALETTE,
    hollow: Container[str] = (),
) -> None:
    """Draw a marker for each row at its value in column ``x``, on the line that column ``line`` names.

    Within a line, the values of column ``kind`` are below each other, each with its own colour and marker.
    Markers of the kinds in ``hollow`` are open.
    """
    names, kinds = list(dict.fromkeys(rows[line])), list(dict.fromkeys(rows[kind]))
    for number, name in enumerate(kinds):
        shown = rows[rows[kind] == name]
        places = shown[line].map(names.index) + 0.76 * ((number + 0.5) / len(kinds) - 0.5)
        face = "none" if name in hollow else palette[number]
        look = {"facecolors": face, "edgecolors": palette[number], "marker": MARKERS[number], "label": name}
        axes.scatter(shown[x], places, s=30 if len(kinds) < 7 else 20, clip_on=False, zorder=3, **look)
    lines(axes, names)
    for edge in range(len(names) - 1):
        axes.axhline(edge + 0.5, color="0.85", linewidth=0.8)


def lines(axes: Axes, names: Sequence[str]) -> None:
    """Label one line for each name, from top to bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)  # with a grid line beside it, it would be a double rule


def forest(axes: Axes, rows: pd.DataFrame, order: Sequence[str], first: str) -> None:
    """Draw values with their intervals, one per line from top to bottom; ``first`` stands out, with its
    interval as a band.

    Parameters
    ----------
    rows : ``value``, ``low`` and ``high`` by name.
    order : names from top to bottom; the lines of names that ``rows`` lacks stay empty.
    first : a name in both, else a KeyError.
    """
    placed = rows.reindex(list(order))
    colours = [PALETTE[1] if name == first else PALETTE[0] for name in order]
    axes.axvspan(*rows.loc[first, ["low", "high"]], color=PALETTE[1], alpha=0.12, linewidth=0)
    intervals(axes, placed, colours)
