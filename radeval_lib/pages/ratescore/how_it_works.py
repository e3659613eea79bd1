"""The steps of RaTEScore for one pair as a drawing, after Figure 2 of Zhao et al. (2024)."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore.scoring import Direction, Entity, Explanation
from radeval_lib.pages.ratescore.entity_display import LOOK
from radeval_lib.plots import WIDTH

_ROW, _BOX, _CHARACTERS = 0.34, 2.3, 54
_LINES = {"solid": "-", "double": "-", "dotted": ":", "dashed": "--"}


def pipeline(explanation: Explanation, reference: str, candidate: str) -> Any:
    """Both texts, and for each direction its entities, the best match of each, and what it adds; then the
    score.

    An entity is a box with the colour and the short name of its type. A line leads from it to its match and
    carries the cosine; at the end of its row stands weight times penalty times cosine.

    Parameters
    ----------
    reference, candidate : the texts that were scored.

    Returns
    -------
    Figure

    Raises
    ------
    MetricError
        Where a side has no entity: then there is nothing to draw.
    """
    import matplotlib.pyplot as plt

    if explanation.precision is None or explanation.recall is None:
        raise MetricError("a side has no entity", "pipeline", "Show its notes instead.")
    texts = [wrap(text, _CHARACTERS) for text in (reference, candidate)]
    rows = max(len(explanation.reference), len(explanation.candidate))
    top = 0.42 + 0.17 * max(map(len, texts))
    block = 0.66 + _ROW * rows
    height = top + 2 * block + 0.55
    figure, axes = plt.subplots(figsize=(WIDTH, height), layout="none")
    figure.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(0, WIDTH), ylim=(-height, 0))
    axes.axis("off")
    for x, name, lines in zip((0.05, 3.7), ("Reference x", "Candidate x̂"), texts, strict=True):
        axes.text(x, -0.05, name, weight="bold", va="top", fontsize=9)
        axes.text(x, -0.25, "\n".join(lines), va="top", fontsize=8, linespacing=1.35)
    ours, theirs = explanation.reference, explanation.candidate
    _direction(axes, -top, "S(x, x̂): each entity of the candidate", explanation.precision, theirs, ours)
    _direction(axes, -top - block, "S(x̂, x): each entity of the reference", explanation.recall, ours, theirs)
    one, other = explanation.precision.value, explanation.recall.value
    axes.text(
        WIDTH / 2,
        -height + 0.3,
        f"RaTEScore = 2 × {one:.3f} × {other:.3f} / ({one:.3f} + {other:.3f}) = {explanation.score:.3f}",
        ha="center",
        va="center",
        fontsize=10,
        weight="bold",
        bbox={"boxstyle": "round,pad=0.4", "facecolor": "0.94", "edgecolor": "0.3"},
    )
    return figure


def _direction(
    axes: Any,
    top: float,
    title: str,
    found: Direction,
    queries: tuple[Entity, ...],
    others: tuple[Entity, ...],
) -> None:
    """One direction: queries on the left, the other side in the middle, what each match adds on the right."""
    axes.plot([0.05, WIDTH - 0.05], [top + 0.06] * 2, color="0.8", linewidth=0.8)
    axes.text(0.05, top - 0.12, f"{title} and its best match", weight="bold", va="center", fontsize=9)
    axes.text(WIDTH - 0.05, top - 0.12, "W × p × cos", ha="right", va="center", fontsize=8, color="0.3")
    first = top - 0.42
    middle = WIDTH - 1.42 - _BOX
    for number, entity in enumerate(queries):
        _box(axes, 0.05, first - number * _ROW, entity)
    for number, entity in enumerate(others):
        _box(axes, middle, first - number * _ROW, entity)
    for match in found.matches:
        start, end = first - match.query * _ROW, first - match.match * _ROW
        axes.annotate(
            "",
            (middle - 0.02, end),
            (0.05 + _BOX + 0.02, start),
            arrowprops={"arrowstyle": "-|>", "color": "0.35", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
        )
        share = 0.22
        axes.text(
            0.05 + _BOX + share * (middle - 0.05 - _BOX),
            start + share * (end - start),
            f"{match.cosine:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )
        axes.text(
            WIDTH - 0.05,
            start,
            f"{match.weight:.3f} × {match.penalty:.2f} × {match.cosine:.2f}",
            ha="right",
            va="center",
            fontsize=8,
            color="#B03A00" if match.penalty < 1 else "0.1",
        )
    axes.text(
        WIDTH - 0.05,
        first - max(len(queries), len(others)) * _ROW + 0.06,
        f"sum of products {found.numerator:.3f} / sum of weights {found.denominator:.3f} = {found.value:.3f}",
        ha="right",
        va="center",
        fontsize=8.5,
    )


def _box(axes: Any, x: float, y: float, entity: Entity) -> None:
    from matplotlib.patches import FancyBboxPatch

    short, colour, border = LOOK[entity.type]
    axes.add_patch(
        FancyBboxPatch(
            (x + 0.03, y - 0.11),
            _BOX - 0.06,
            0.22,
            boxstyle="round,pad=0.03",
            facecolor=colour,
            edgecolor="0.25",
            linewidth=1.6 if border == "double" else 0.9,
            linestyle=_LINES[border],
        )
    )
    lines = [entity.text] if len(entity.text) <= 26 else wrap(entity.text, 30, max_lines=2, placeholder=" …")
    axes.text(
        x + 0.06, y, "\n".join(lines), va="center", fontsize=8 if len(lines) == 1 else 6.5, linespacing=1.05
    )
    axes.text(x + _BOX - 0.06, y, short, ha="right", va="center", fontsize=6.5, weight="bold", color="0.25")
