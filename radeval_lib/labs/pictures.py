"""Schematic drawings that explain an idea in a lab; their numbers are made up and belong to no student."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "0.55"


def reliability_diagrams() -> Figure:
    """Three classifiers: too sure, calibrated, and not sure enough."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(8, 2.8), sharey=True, layout="constrained")
    confidence = np.linspace(0.1, 0.95, 7)
    bends = {"too sure": 1.8, "calibrated": 1.0, "not sure enough": 0.55}
    for axes, (title, bend) in zip(panels, bends.items(), strict=True):
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle="dashed")
        axes.plot(confidence, confidence**bend, marker="o")
        axes.set(title=title, xlabel="mean confidence of a bin", xlim=(0, 1), ylim=(0, 1))
    panels[0].set_ylabel("accuracy of the bin")
    return figure


def bootstrap() -> Figure:
    """Two resamples of five cases with four pairs each: whole cases are drawn, some twice, some never."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
    rows = {"the sample": [0, 1, 2, 3, 4], "one resample": [3, 0, 3, 1, 4], "another": [2, 2, 0, 4, 2]}
    for height, drawn in enumerate(reversed(rows.values())):
        for place, case in enumerate(drawn):
            across = 5 * place + np.arange(4)
            axes.scatter(across, [height] * 4, color=f"C{case}", s=60)
            axes.text(5 * place + 1.5, height + 0.22, f"case {case + 1}", ha="center", fontsize=8)
    axes.set(yticks=range(3), yticklabels=list(reversed(rows)), xticks=[], ylim=(-0.4, 2.6))
    axes.set_xlabel("one dot per pair, one colour a case; the statistic is computed again for each resample")
    return figure


def matching() -> Figure:
    """Entities of a candidate, each with an arrow to the most alike name of the reference."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
    left = ["effusion (DISEASE)", "left lung (ANATOMY)", "clear (NON-ABNORMALITY)"]
    right = ["pleural effusion (NON-DISEASE)", "lungs (ANATOMY)", "pneumothorax (NON-DISEASE)"]
    arrows = {0: (0, "0.8 × penalty"), 1: (1, "0.9"), 2: (1, "0.4")}
    for names, across, side in ((left, 0.0, "right"), (right, 1.0, "left")):
        for place, name in enumerate(names):
            axes.text(across, -place, name, ha=side, va="center")
    for place, (match, label) in arrows.items():
        axes.annotate("", (0.98, -match), (0.02, -place), arrowprops={"arrowstyle": "->"})
        axes.text(0.25, -place + 0.25 * (place - match) + 0.12, label, fontsize=8, color=_GREY)
    axes.set(xlim=(-0.7, 1.9), ylim=(-2.5, 0.6), title="Each entity of the candidate asks in the reference")
    axes.axis("off")
    return figure
