"""The contents of a figure as plain data, so that a test can query it however it was drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

_OTHERS = 5
"""How many points axes may show for each that is wanted."""
_LONG = 10
"""Points of a straight line that was drawn beside what is wanted: such lines are looked past."""
_HISTOGRAMS = 10
"""How many histograms axes may show."""
_LEAST_BINS = 3
"""Of a histogram that shows something."""
_MOST_IN_A_BIN = 0.95  # of all values: more, and the bins show nothing of them


def figure_facts(figure: Any) -> dict[str, Any]:
    """What a figure shows, in whichever of matplotlib's ways it was drawn.

    Parameters
    ----------
    figure : a matplotlib figure, or what has one, as axes and seaborn's grids; what this function gave for
        one is given back, so that a test may be run beside the figure or far from it. Anything else raises
        an AttributeError.

    Returns
    -------
    dict
        ``axes``, for each:

        - ``title``, ``xlabel``, ``ylabel``, ``legend`` (texts), the figure's own where the axes have none;
        - ``lines``: lists of [x, y] pairs, of ``plot``, ``axline``, ``axhline``, ``axvline``, ``vlines``,
          ``hlines`` and line collections;
        - ``points``: lists of [x, y] pairs, one list for each ``scatter``;
        - ``bars``: heights of bars, or widths if horizontal;
        - ``counts``: heights of the bins of ``hist`` (of any ``histtype`` and orientation), ``stairs``,
          ``step`` or seaborn's ``histplot`` (of bars or steps) with their edges, as [left, right, height],
          one list for each; empty bins are left out. Where several calls drew bars, all together are a list,
          and those of one only if there are three. A line of steps that has its outermost height twice is
          two lists, without and with a bin beyond it.
    """
    if isinstance(figure, dict):
        return figure
    figure = getattr(figure, "figure", None) or figure
    return {"axes": [_axes_facts(axes, figure) for axes in figure.axes]}


def all_points(axes: dict[str, Any]) -> list[list[float]]:
    """Every [x, y] that axes show as a mark or a corner of a line, however many calls drew them."""
    return [point for group in axes["points"] + axes["lines"] for point in group]


def shows_points(axes: dict[str, Any], wanted: Any) -> bool:
    """Whether axes show each of the wanted [x, y] to within 10⁻⁶, and are not covered with points that might
    be one. A straight line of more than ten points, and of more than twice as many as are wanted, shows none
    of them. A ValueError where no point is wanted."""
    wanted = np.asarray(wanted, dtype=float).reshape(-1, 2)
    if not len(wanted):
        raise ValueError("no point is wanted, which any axes show")
    groups = [np.array(one, dtype=float).reshape(-1, 2) for one in axes["points"] + axes["lines"]]
    shown = [one for one in groups if len(one) <= max(_LONG, 2 * len(wanted)) or not _straight(one)]
    drawn = np.concatenate([np.empty((0, 2)), *shown])
    return len(drawn) <= _OTHERS * (len(wanted) + 10) and all(
        bool(np.isclose(drawn, point, rtol=1e-6, atol=1e-6).all(axis=1).any()) for point in wanted
    )


def _straight(points: Any) -> bool:
    """Whether points, shape (n, 2), lie on one straight line."""
    return bool(np.linalg.matrix_rank(points - points[0], tol=1e-6) < 2)


def shows_curve(axes: dict[str, Any], across: Any, up: Any) -> bool:
    """Whether axes show a line, or marks, of which one coordinate is right: who exchanged the axes or erred
    in one of them drew the data all the same, and who drew a line of nothing did not."""
    wanted = [np.sort(np.asarray(one, dtype=float)) for one in (across, up)]
    for group in axes["points"] + axes["lines"]:
        drawn = np.array(group, dtype=float).reshape(-1, 2)
        for own in (np.sort(drawn[:, 0]), np.sort(drawn[:, 1])):
            if any(own.shape == one.shape and np.allclose(own, one, atol=1e-6) for one in wanted):
                return True
    return False


def shows_histogram(axes: dict[str, Any], values: Any) -> bool:
    """Whether axes show a histogram of values: of counts, shares or densities, in three bins or more that
    hold some; and few others, of which one might happen to be it. Values that are not finite are in no bin;
    of no other values there is no histogram."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if not values.size:
        return False
    for bins in axes["counts"] if len(axes["counts"]) <= _HISTOGRAMS else ():
        left, right, height = np.array(bins, dtype=float).reshape(-1, 3).T
        if len(height) < _LEAST_BINS:
            continue
        slack = 1e-9 * np.ptp(values)  # edges are sums of widths
        inside = (values >= left[:, None] - slack) & (values < right[:, None] + slack)
        shares = inside.sum(axis=1) / len(values)
        if (shares > 0).sum() < _LEAST_BINS or shares.max() > _MOST_IN_A_BIN:
            continue
        alike = (np.abs(one / one.sum() - shares).max() for one in (height, height * (right - left)))
        # A line of steps is read in several ways, of which some leave out a bin at its end.
        if min(alike) < 0.02 and shares.sum() > 0.98:
            return True
    return False


def _title(axes: Any) -> str:
    """The title of axes, at whichever of its three places a student or a style put it."""
    titles = map(axes.get_title, ("center", "left", "right"))
    return " ".join(title for title in titles if title)


def _axes_facts(axes: Any, figure: Any) -> dict[str, Any]:
    """What one of a figure's axes shows, see :func:`figure_facts`."""
    legends = [one for one in (axes.get_legend(), *figure.legends) if one]
    drawn_bars = _bars(axes)
    outlines = [one for one in axes.patches if type(one).__name__ in ("Polygon", "StepPatch")]
    drawn = [_ends(line) for line in axes.lines]
    return {
        "title": _title(axes) or figure.get_suptitle(),
        "xlabel": axes.get_xlabel() or figure.get_supxlabel(),
        "ylabel": axes.get_ylabel() or figure.get_supylabel(),
        "legend": [text.get_text() for legend in legends for text in legend.get_texts()],
        "lines": drawn + [line for group in axes.collections for line in _segments(group)],
        "points": [
            _finite(one.get_offsets()) for one in axes.collections if type(one).__name__ == "PathCollection"
        ],
        "bars": [height for group in drawn_bars for _, _, height in group],
        "counts": _counts(drawn_bars, [*outlines, *axes.collections], axes.lines),
    }


def _finite(values: Any) -> list[list[float]]:
    """[x, y] pairs of numbers; positions of a masked array or a date axis come as numbers, too."""
    rows: Any = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).reshape(-1, 2)
    return [[float(x), float(y)] for x, y in rows if np.isfinite([x, y]).all()]


def _ends(line: Any) -> list[list[float]]:
    """The points of a line; of ``axline``, which has no end, two of them."""
    if hasattr(line, "get_xy1"):
        (x, y), slope = line.get_xy1(), line.get_slope()
        return _finite([(x, y), line.get_xy2() if slope is None else (x + 1, y + slope)])
    return _finite(np.column_stack([line.get_xdata(orig=False), line.get_ydata(orig=False)]))


def _segments(group: Any) -> list[list[list[float]]]:
    """The lines of a line collection, such as ``vlines`` makes."""
    return [_finite(segment) for segment in group.get_segments()] if hasattr(group, "get_segments") else []


def _bars(axes: Any) -> list[list[list[float]]]:
    """Bars as [left, right, height], along their own axis if horizontal: a list for each call that drew some,
    and one of all other rectangles."""
    groups = [group for group in axes.containers if hasattr(group, "patches")]
    known = {id(patch) for group in groups for patch in group.patches}
    drawn = [
        [_bar(patch, flat=group.orientation == "horizontal") for patch in group.patches] for group in groups
    ]
    others = [one for one in axes.patches if id(one) not in known and type(one).__name__ == "Rectangle"]
    return [*drawn, [_bar(patch, flat=False) for patch in others]]


def _bar(patch: Any, *, flat: bool) -> list[float]:
    place, width, height = patch.get_x(), patch.get_width(), patch.get_height()
    if flat:
        place, width, height = patch.get_y(), height, width
    return [float(place), float(place + width), float(height)]


def _counts(bars: list[list[list[float]]], outlines: list[Any], lines: Any) -> list[list[list[float]]]:
    """Bins of histograms, from bars, from outlines (``histtype="step"``, ``stairs``, ``fill_between`` of
    steps) and from ``step``."""
    drawn = [[one for group in bars for one in group]]
    if len(list(filter(None, bars))) > 1:
        drawn += [group for group in bars if len(group) >= _LEAST_BINS]
    for one in outlines:
        if type(one).__name__ == "StepPatch":
            heights, edges, _ = one.get_data()
            drawn.append([[a, b, h] for (a, b), h in zip(pairwise(edges), heights, strict=True)])
        elif hasattr(one, "get_xy"):
            drawn.append(_steps(one.get_xy(), flat=_lies(one.get_xy())))
        elif hasattr(one, "t_direction"):  # of fill_between and fill_betweenx
            flat = one.t_direction == "y"
            drawn += [_steps(path.vertices, flat=flat) for path in one.get_paths()]
    drawn += [bins for line in lines if line.get_drawstyle().startswith("steps") for bins in _stairs(line)]
    return [[[float(x) for x in one] for one in bins if abs(one[2]) > 1e-12] for bins in drawn if bins]


def _lies(corners: Any) -> bool:
    """Whether an outline is that of a horizontal histogram: its first line leads from the axis to the first
    bin's height, which may be 0, and its second along that bin."""
    return len(corners) > 2 and corners[1][0] == corners[2][0] and corners[1][1] != corners[2][1]


def _steps(corners: Any, *, flat: bool) -> list[list[float]]:
    """The bins under an outline of horizontal and vertical lines, which stands on the y axis if ``flat``, or
    else on the x axis; what lies on the axis is none. An outline with other lines has none."""
    corners = np.asarray(corners, float).reshape(-1, 2)
    if not (corners[1:] == corners[:-1]).any(axis=1).all():
        return []
    if flat:
        corners = corners[:, ::-1]
    return [
        [min(a[0], b[0]), max(a[0], b[0]), float(a[1])]
        for a, b in pairwise(corners)
        if a[1] == b[1] != 0 and a[0] != b[0]
    ]


def _stairs(line: Any) -> list[list[list[float]]]:
    """The bins of a line drawn by ``step``, in each way that they can be read: what has no width of its own
    gets its neighbour's, or is none where it has its neighbour's height, too. Edges are those of the
    coordinates that only rise or fall, x if both do."""
    x, y = np.asarray(line.get_xdata(orig=False), float), np.asarray(line.get_ydata(orig=False), float)
    if len(x) < 2:
        return []
    style = line.get_drawstyle()
    if len({*np.sign(np.diff(x))} - {0.0}) > 1 >= len({*np.sign(np.diff(y))} - {0.0}):
        x, y = y, x
        style = {"steps-post": "steps-pre", "steps-mid": "steps-mid"}.get(style, "steps-post")
    gaps = np.diff(x)
    if style == "steps-post":
        left, right = x, np.append(x[1:], x[-1] + gaps[-1])
        shorter = slice(-1) if y[-1] == y[-2] else None
    elif style == "steps-mid":
        middle = (x[1:] + x[:-1]) / 2
        left, right = np.append(x[0] - gaps[0] / 2, middle), np.append(middle, x[-1] + gaps[-1] / 2)
        shorter = None
    else:
        left, right = np.append(x[0] - gaps[0], x[:-1]), x
        shorter = slice(1, None) if y[0] == y[1] else None
    bins = np.column_stack([np.minimum(left, right), np.maximum(left, right), y]).tolist()
    return [bins] if shorter is None else [bins[shorter], bins]
