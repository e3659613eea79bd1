"""What a figure shows, as plain data: so that a test can ask for it wherever the figure was drawn."""

from __future__ import annotations

from typing import Any


def figure_facts(figure: Any) -> dict[str, Any]:
    """What a figure shows.

    Parameters
    ----------
    figure : a matplotlib figure; what this function gave for one is given back, so that a test may be run
        beside the figure or far from it.

    Returns
    -------
    dict
        ``axes``: for each its ``title``, ``xlabel``, ``ylabel``, ``legend`` (texts), ``lines`` and ``points``
        (lists of [x, y] pairs, one list a line or scatter) and ``bars`` (heights, or widths if horizontal).
    """
    if isinstance(figure, dict):
        return figure
    return {"axes": [_axes_facts(axes) for axes in figure.axes]}


def _axes_facts(axes: Any) -> dict[str, Any]:
    legend = axes.get_legend()
    patches = [patch for group in axes.containers if hasattr(group, "patches") for patch in group.patches]
    flat = any(getattr(group, "orientation", "") == "horizontal" for group in axes.containers)
    return {
        "title": axes.get_title(),
        "xlabel": axes.get_xlabel(),
        "ylabel": axes.get_ylabel(),
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "lines": [line.get_xydata().tolist() for line in axes.lines],
        "points": [group.get_offsets().tolist() for group in axes.collections],
        "bars": [float(patch.get_width() if flat else patch.get_height()) for patch in patches],
    }
