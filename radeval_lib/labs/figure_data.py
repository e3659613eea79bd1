"""What a figure shows, as plain data: so that a test can ask for it wherever and however it was drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


def figure_facts(figure: Any) -> dict[str, Any]:
    """What a figure shows.

    Parameters
    ----------
    figure : a matplotlib figure; what this function gave for one is given back, so that a test may be run
        beside the figure or far from it.

    Returns
    -------
    dict
        ``axes``: for each its ``title``, ``xlabel``, ``ylabel`` and ``legend`` (texts), ``lines`` and
        ``points`` (lists of [x, y] pairs, one list per line or scatter), and of its bars, those of histograms
        drawn as outlines included, the heights (``bars``; widths if horizontal), the two ends along the other
        axis (``bar_edges``) and each one's share of the whole (``bar_shares``), which is the same for counts
        and densities.
    """
    if isinstance(figure, dict):
        return figure
    return {"axes": [_axes_facts(axes) for axes in figure.axes]}


def _axes_facts(axes: Any) -> dict[str, Any]:
    from matplotlib.collections import LineCollection, PathCollection

    legend = axes.get_legend()
    lines: list[Any] = [line.get_xydata().tolist() for line in axes.lines]
    for group in axes.collections:
        if isinstance(group, LineCollection):  # vlines, hlines
            lines += [part.tolist() for part in group.get_segments()]
    bars = _bars(axes)
    return {
        "title": axes.get_title(),
        "xlabel": axes.get_xlabel(),
        "ylabel": axes.get_ylabel(),
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "lines": lines,
        "points": [
            np.asarray(group.get_offsets()).tolist()
            for group in axes.collections
            if isinstance(group, PathCollection)
        ],
        "bars": [height for height, _, _ in bars],
        "bar_edges": [[low, high] for _, low, high in bars],
        "bar_shares": _shares(bars),
    }


def _bars(axes: Any) -> list[tuple[float, float, float]]:
    """Height, beginning and end of each bar."""
    from matplotlib.patches import Polygon, Rectangle, StepPatch

    flat = any(getattr(group, "orientation", "") == "horizontal" for group in axes.containers)
    found: list[tuple[float, float, float]] = []
    patches = [patch for group in axes.containers for patch in getattr(group, "patches", ())]
    for patch in patches + [patch for patch in axes.patches if not isinstance(patch, Rectangle)]:
        if isinstance(patch, StepPatch):
            values, edges, _ = patch.get_data()
            found += [
                (float(v), float(a), float(b)) for v, (a, b) in zip(values, pairwise(edges), strict=True)
            ]
        elif isinstance(patch, Rectangle):
            box = (patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height())
            x, y, width, height = map(float, box)
            found.append((width, y, y + height) if flat else (height, x, x + width))
        elif isinstance(patch, Polygon):
            found += _outlined(patch.get_xy().tolist())
    return found


def _outlined(corners: list[list[float]]) -> list[tuple[float, float, float]]:
    """The bars of a histogram of ``histtype`` step or stepfilled: its outline's level stretches off the base.

    The outline begins on the base, and steps up and down from left to right; a filled one then runs back
    along the base.
    """
    if corners[0][1] == corners[1][1]:  # a horizontal one
        corners = [[y, x] for x, y in corners]
    base = corners[0][1]
    found = []
    for (x, y), (after, level) in pairwise(corners):
        if after > x and y == level:
            found.append((y - base, x, after))
    return found


def _shares(bars: list[tuple[float, float, float]]) -> list[float]:
    """Each bar's share: of the heights, or of the areas where these sum to 1 as a density's do."""
    areas = [height * (high - low) for height, low, high in bars]
    parts = areas if abs(sum(areas) - 1) < 1e-6 else [height for height, _, _ in bars]
    return [part / sum(parts) for part in parts] if sum(parts) else [0.0 for _ in parts]
