"""A pair that shows the steps of RaTEScore, after Figure 2 of Zhao et al. (2024), and variants of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from textwrap import fill, wrap
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from radeval_lib import synthetic
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore import RaTEScore, cosines
from radeval_lib.metrics.ratescore.scoring import Direction, Entity, Explanation
from radeval_lib.pages.ratescore.entity_display import LOOK
from radeval_lib.plots import PALETTE, WIDTH
from radeval_lib.stats.correlations import coefficient

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


def telling_pair(metric: RaTEScore, pairs: Iterable[synthetic.ErrorPair]) -> synthetic.ErrorPair:
    """The first short pair in whose candidate an entity meets the penalty; else the first short one.

    A pair is short if either side has two or three sentences, each about a finding, with three to five
    entities in all of them, of which the recogniser finds some.
    """
    readable = (
        (pair, direction.penalties)
        for pair in filter(_short, pairs)
        if (direction := _explained(metric, pair).precision) is not None
    )
    first = next(readable)
    return next((pair for pair, penalties in chain([first], readable) if min(penalties) < 1), first[0])


def _short(pair: synthetic.ErrorPair) -> bool:
    remarks = any(isinstance(row.content, synthetic.Remark) for row in pair.reference.plan)
    sides = (pair.reference.findings, pair.candidate.findings)
    return not remarks and all(len(side.sentences) <= 3 <= len(side.entities) <= 5 for side in sides)


def _explained(metric: RaTEScore, pair: synthetic.ErrorPair) -> Explanation:
    result = metric.score([pair.reference.findings.text], [pair.candidate.findings.text]).details[0]
    assert isinstance(result, Explanation)
    return result


def error_table(pair: synthetic.ErrorPair) -> pd.DataFrame:
    """What the generator changed: the finding, the error, and what each side says of it."""
    rows = []
    for error in pair.errors:
        sides = (
            (pair.reference, error.reference_says),
            (pair.candidate, error.candidate_says),
        )
        told = [words or ("absent" if _denies(side, error.concept) else "–") for side, words in sides]
        rows.append((error.concept.replace("_", " "), synthetic.CATEGORIES[error.category], *told))
    return pd.DataFrame(rows, columns=["finding", "error", "the reference says", "the candidate says"])


def _denies(report: synthetic.SyntheticReport, concept: str) -> bool:
    denials = [row.content for row in report.plan if isinstance(row.content, synthetic.Denial)]
    return any(concept in denial.concepts for denial in denials)


def draw_cosines(axes: Any, table: NDArray[Any], explanation: Explanation) -> None:
    """Cosines of the reference's entities (rows) with the candidate's, the best of each column in a frame."""
    across, down = (
        [entity.text for entity in side] for side in (explanation.candidate, explanation.reference)
    )
    width = max(12, 56 // len(across))
    sns.heatmap(
        table,
        annot=True,
        fmt=".2f",
        cmap="crest",
        vmin=0,
        vmax=1,
        cbar=False,
        ax=axes,
        xticklabels=[fill(name, width, break_long_words=False) for name in across],
        yticklabels=[fill(name, 26) for name in down],
    )
    for column, row in enumerate(table.argmax(axis=0)):
        axes.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=PALETTE[1], linewidth=3))
    axes.tick_params(axis="x", rotation=0)
    axes.set(xlabel="candidate", ylabel="reference")


def two_weights(explanation: Explanation) -> str:
    """The first two entities that match each other with two weights, as ``“a” and “b”, 0.1 above (...)``."""
    there, back = explanation.precision, explanation.recall
    asked = {(match.match, match.query): match for match in there.matches} if there else {}
    for row in back.matches if back else ():
        match = asked.get((row.query, row.match))
        if match is not None and abs(match.weight - row.weight) > 1e-9:
            ours, theirs = explanation.reference[row.query], explanation.candidate[match.query]
            return (
                f"“{theirs.text}” and “{ours.text}”, {match.weight:.3f} above ({theirs.type.lower()} asks) "
                f"and {row.weight:.3f} below ({ours.type.lower()} asks)"
            )
    return "none in this pair"


def choice_table(scores: Mapping[str, NDArray[np.float64]], changes: Mapping[str, str]) -> pd.DataFrame:
    """What each choice does to the level and the order of scores.

    Parameters
    ----------
    scores : of the same pairs by choice; the baseline first.
    changes : what each choice changes, in words.
    """
    base = next(iter(scores.values()))
    rows = {
        label: (
            changes.get(label, "–"),
            values.mean(),
            f"{(np.abs(values - base) > 1e-9).sum()} of {len(base)}",
            np.abs(values - base).max(),
            coefficient(values, base, "kendall"),
        )
        for label, values in scores.items()
    }
    columns = [
        "what is changed",
        "mean score",
        "pairs that change",
        "largest change",
        "tau with the baseline",
    ]
    return pd.DataFrame(rows.values(), index=pd.Index(rows), columns=columns)


def reversed_score(metric: RaTEScore, explanation: Explanation) -> float:
    """The score of the same entities in reverse order."""
    ours, theirs = (
        [(row.text, row.type) for row in side[::-1]]
        for side in (explanation.reference, explanation.candidate)
    )
    first, second = (metric.encoder.encode([text for text, _ in side]) for side in (ours, theirs))
    return float(metric.scorer.score(ours, theirs, embeddings=(first, second)).score)


def has_tied_matches(metric: RaTEScore, explanation: Explanation) -> bool:
    """Whether an entity has equally good matches of different types."""
    ours, theirs = explanation.reference, explanation.candidate
    if not ours or not theirs:
        return False
    table = cosines(*(metric.encoder.encode([row.text for row in side]) for side in (theirs, ours)))
    return any(
        len({other.type for other, value in zip(others, row, strict=True) if value > row.max() - 1e-6}) > 1
        for values, others in ((table, ours), (table.T, theirs))
        for row in values
    )
