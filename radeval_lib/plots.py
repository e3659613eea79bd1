"""The style of the book's figures, and functions that draw them."""

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

# Okabe and Ito's colours, which colour-blind readers can tell apart, also in shades of grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_INK = "#1b1b1b"  # colour of text outside heat maps; the book inverts it on a dark page
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
WIDTH = 5.2  # inches; on a phone's screen, the smallest labels are then still 10 pixels high


def use_style() -> None:
    """Set the theme and palette of all later figures, and make their SVG output reproducible."""
    sns.set_theme(context="notebook", style="whitegrid", palette=list(PALETTE), font_scale=1.0)
    mpl.rcParams.update(
        {
            "figure.figsize": (WIDTH, 3.6),
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "figure.constrained_layout.h_pad": 0.1,  # inches, so that no title touches the axis above it
            "figure.constrained_layout.w_pad": 0.08,  # nor a label the panel to its left
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
            "axes.titlesize": "medium",
            "text.color": _INK,
            "axes.labelcolor": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
            # A white background without an edge, so that no grid line crosses the text.
            "legend.frameon": True,
            "legend.facecolor": "white",
            "legend.edgecolor": "none",
            "legend.framealpha": 0.9,
            "svg.hashsalt": "radeval",  # the same figure gives the same bytes
            "svg.fonttype": "none",
            "font.family": "sans-serif",
        }
    )
    Colorbar.n_rasterize = 1 << 16  # draw no pixels, which the guard on restricted text could not search
    set_matplotlib_formats("svg", metadata={"Date": None})
    # Otherwise pyplot would also draw every figure as pixels, which nobody sees.
    plt.switch_backend(mpl.get_backend())
    plt.uninstall_repl_displayhook()


def panels(rows: int, columns: int, height: float = 3.2, **settings: Any) -> tuple[Figure, Any]:
    """Return a figure of the book's width with a grid of axes, each row ``height`` inches high, and the axes.

    ``settings`` are passed to :func:`matplotlib.pyplot.subplots`.
    """
    return plt.subplots(rows, columns, figsize=(WIDTH, height * rows), **settings)


def draw_heat_map(axes: Axes, table: Any, *, slant: float = 0, **settings: Any) -> None:
    """Draw a table as seaborn's heat map, with each value in black or white, whichever contrasts more.

    Parameters
    ----------
    table : a DataFrame, or an array of two dimensions.
    slant : the angle of the column names in degrees; slanted names end below their column.
    settings : further arguments of :func:`seaborn.heatmap`.
    """
    sns.heatmap(table, cbar=False, ax=axes, **{"annot": True, **settings})
    colours = axes.collections[-1].get_facecolor()
    for text in axes.texts:
        column, row = map(int, text.get_position())
        luminance = relative_luminance(colours[row * np.shape(table)[1] + column])
        text.set_color("white" if luminance < 0.179 else "black")  # at 0.179 the contrast of both is 4.6 to 1
    axes.grid(visible=False)
    axes.tick_params(axis="y", rotation=0)
    if slant:
        plt.setp(axes.get_xticklabels(), rotation=slant, ha="right", rotation_mode="anchor")


def label_point(
    axes: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], **settings: Any
) -> None:
    """Draw text beside a point, on a white background that covers lines.

    Parameters
    ----------
    point : the point, in data coordinates.
    offset : the offset of the text from the point, in points (1/72 inch).
    settings : further arguments of :meth:`matplotlib.axes.Axes.annotate`.
    """
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    alignment = ("center", "left", "right")[np.sign(offset[0])]
    style = {"ha": alignment, "va": "center", "fontsize": 10, "zorder": 2.5, "bbox": background}
    axes.annotate(text, point, offset, textcoords="offset points", **{**style, **settings})


def draw_intervals(
    axes: Axes, rows: pd.DataFrame, colours: str | Sequence[str] = PALETTE[0], *, size: float = 22
) -> None:
    """Draw each value as a point with its interval, one on each line from top to bottom.

    Parameters
    ----------
    rows : the columns ``value``, ``low`` and ``high``, indexed by the labels of the lines; a row of NaN
        leaves its line empty.
    colours : one colour for all rows, or one for each.
    size : the area of a point, in square points.
    """
    heights = range(len(rows))
    axes.hlines(heights, rows["low"], rows["high"], colors=colours)
    axes.scatter(rows["value"], heights, c=colours, zorder=3, s=size)
    label_lines(axes, list(rows.index))


def draw_series(axes: Axes, rows: pd.DataFrame, heights: ArrayLike, number: int, label: str) -> None:
    """Draw one of several series of values with intervals, each with its own colour and marker.

    Parameters
    ----------
    rows : the columns ``value``, ``low`` and ``high``.
    heights : the vertical position of each row.
    number : the index of the series; raises IndexError if :data:`PALETTE` has no colour for it.
    label : the name of the series in the legend.
    """
    half_widths = np.abs(rows[["low", "high"]].to_numpy().T - rows["value"].to_numpy())
    style: dict[str, Any] = {"fmt": MARKERS[number], "color": PALETTE[number], "capsize": 3, "label": label}
    axes.errorbar(rows["value"], heights, xerr=half_widths, **style)


def draw_dodged(
    axes: Axes,
    rows: pd.DataFrame,
    x: str,
    line: str,
    kind: str,
    palette: Sequence[str] = PALETTE,
    hollow: Container[str] = (),
) -> None:
    """Draw a marker for each row of a table on labelled lines, with one kind of marker below another.

    Parameters
    ----------
    rows : a table with one row per marker.
    x, line, kind : the columns with the horizontal position, the label of the line, and the kind of marker.
    palette : the colour of each kind, in order of appearance.
    hollow : the kinds drawn with an open marker.

    Raises
    ------
    IndexError
        If there are more kinds than colours in ``palette`` or markers in :data:`MARKERS`.
    """
    names, kinds = list(dict.fromkeys(rows[line])), list(dict.fromkeys(rows[kind]))
    for number, name in enumerate(kinds):
        kind_rows = rows[rows[kind] == name]
        heights = kind_rows[line].map(names.index) + 0.76 * ((number + 0.5) / len(kinds) - 0.5)
        face = "none" if name in hollow else palette[number]
        style = {"facecolors": face, "edgecolors": palette[number], "marker": MARKERS[number], "label": name}
        axes.scatter(kind_rows[x], heights, s=30 if len(kinds) < 7 else 20, clip_on=False, zorder=3, **style)
    label_lines(axes, names)
    for height in range(len(names) - 1):
        axes.axhline(height + 0.5, color="0.85", linewidth=0.8)


def label_lines(axes: Axes, names: Sequence[str]) -> None:
    """Label the vertical axis with one line for each name, from top to bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)  # the grid line beside it would double it


def draw_forest(axes: Axes, rows: pd.DataFrame, order: Sequence[str], highlighted: str) -> None:
    """Draw each value with its interval on a separate line, and highlight one of the intervals as a vertical
    band.

    Parameters
    ----------
    rows : the columns ``value``, ``low`` and ``high``, indexed by name.
    order : the names from top to bottom; names that ``rows`` lacks have empty lines.
    highlighted : the name to highlight; raises KeyError if ``rows`` lacks it.
    """
    ordered = rows.reindex(list(order))
    colours = [PALETTE[1] if name == highlighted else PALETTE[0] for name in order]
    axes.axvspan(*rows.loc[highlighted, ["low", "high"]], color=PALETTE[1], alpha=0.12, linewidth=0)
    draw_intervals(axes, ordered, colours)
