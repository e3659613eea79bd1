"""RadGraph annotations as drawings and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib import plots
from radeval_lib.data.radgraph import Annotation

COLOURS = {
    "ANAT": plots.PALETTE[2],
    "OBS-DP": plots.PALETTE[0],
    "OBS-U": plots.PALETTE[3],
    "OBS-DA": plots.PALETTE[1],
}
"""A colour for each kind of label, matched by how the label begins."""


def colour_of(label: str) -> str:
    """The colour of a label; grey for one that RadGraph's four do not begin."""
    return next((colour for start, colour in COLOURS.items() if label.upper().startswith(start)), "0.4")


def lines(annotation: Annotation) -> list[str]:
    """The relations, then the entities without one, e.g. ``mild (OBS-DP) modify edema (OBS-DP)``."""
    entities = annotation["entities"]
    named = {key: f"{one['tokens']} ({one['label']})" for key, one in entities.items()}
    related = [
        f"{named[key]} {kind.replace('_', ' ')} {named[tail]}"
        for key, one in entities.items()
        for kind, tail in one["relations"]
    ]
    joined = {key for key, one in entities.items() if one["relations"]}
    joined |= {tail for one in entities.values() for _, tail in one["relations"]}
    return [*related, *(name for key, name in named.items() if key not in joined)]


def draw(axes: Any, annotation: Annotation, words_a_line: int = 9) -> None:
    """The text with its entities as boxes in the colour of their label, and an arrow for each relation.

    Parameters
    ----------
    axes : matplotlib axes, which are cleared of ticks and frame.
    annotation : in RadGraph's form.
    words_a_line : after how many words a new line begins.
    """
    words = annotation["text"].split()
    x, places = 0.0, []
    for number, word in enumerate(words):
        if number % words_a_line == 0:
            x = 0.0
        width = 0.13 * len(word) + 0.12
        places.append((x + width / 2, -1.5 * (number // words_a_line)))
        x += width + 0.22
    marked = {
        at: one["label"]
        for one in annotation["entities"].values()
        for at in range(one["start_ix"], one["end_ix"] + 1)
    }
    for number, (word, place) in enumerate(zip(words, places, strict=True)):
        label = marked.get(number)
        edge = {} if label is None else {"ec": colour_of(label), "lw": 1.8}
        box = {"boxstyle": "round,pad=0.3", "fc": "white", **edge} if edge else None
        axes.text(*place, word, ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    _arrows(axes, annotation, places)
    right = max((x for x, _ in places), default=1.0)
    low = min((y for _, y in places), default=0.0)
    axes.set(xlim=(-0.5, right + 0.9), ylim=(low - 0.6, 1.1))
    axes.axis("off")


def _arrows(axes: Any, annotation: Annotation, places: Sequence[tuple[float, float]]) -> None:
    """An arc from the first word of the head to that of the tail, its type above the middle."""
    entities = annotation["entities"]
    for one in entities.values():
        for kind, tail in one["relations"]:
            start, end = places[one["start_ix"]], places[entities[tail]["start_ix"]]
            bend = 0.35 if start[0] > end[0] else -0.35
            shape = {
                "arrowstyle": "-|>",
                "color": plots.PALETTE[-1],
                "connectionstyle": f"arc3,rad={bend}",
                "shrinkA": 9,
                "shrinkB": 9,
                "lw": 1.1,
            }
            axes.annotate("", end, start, arrowprops=shape, zorder=2)
            rise = 0.3 + 0.17 * abs(end[0] - start[0])
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + min(rise, 0.95))
            axes.text(*middle, kind.replace("_", " "), fontsize=7, ha="center", color=plots.PALETTE[-1])
