"""Figures for both grounds."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from seaborn.utils import relative_luminance

from radeval_lib import plots
from radeval_lib.pipeline.page_forms import for_both_grounds

HEAD = '<?xml version="1.0"?>\n<svg width="9" xmlns="http://www.w3.org/2000/svg">'


def test_greys_turn_round_and_colours_stay() -> None:
    drawing = (
        f'{HEAD}<path style="fill: #ffffff"/><path style="stroke: #cccccc"/>'
        '<path style="fill: #0072b2; stroke: #000000"/></svg>'
    )
    told = for_both_grounds(drawing)
    assert told.startswith(f"{HEAD}<style>@media (prefers-color-scheme: dark)")
    assert '[style*="fill: #ffffff"]:not(text){fill:#121212!important}' in told
    assert '[style*="stroke: #000000"]{stroke:#f0f0f0!important}' in told
    assert '[style*="stroke: #cccccc"]{stroke:#434343!important}' in told
    assert "0072b2" not in told.split("</style>")[0]
    assert told.replace(told[told.index("<style>") : told.index("</style>") + 8], "") == drawing


def test_a_drawing_without_greys_stays() -> None:
    assert for_both_grounds(f"{HEAD}</svg>") == f"{HEAD}</svg>"


def test_texts_on_a_heat_map_contrast_with_their_cells() -> None:
    _, axes = plots.panels(1, 1)
    plots.heat_map(axes, np.linspace(0, 1, 30).reshape(3, 10), cmap="Blues", mask=np.eye(3, 10, dtype=bool))
    cells = axes.collections[0].get_facecolor()
    assert len(axes.texts) == 27
    for text in axes.texts:
        column, row = map(int, text.get_position())
        pair = [relative_luminance(colour) + 0.05 for colour in (cells[10 * row + column], text.get_color())]
        assert max(pair) / min(pair) > 4.5
    plt.close()


def test_kinds_of_a_line_differ_in_colour_and_marker() -> None:
    _, axes = plots.panels(1, 1)
    rows = pd.DataFrame(
        [("b", "ours", 1.0), ("b", "theirs", 2.0), ("a", "theirs", 3.0)], columns=["line", "kind", "x"]
    )
    plots.dodged(axes, rows, "x", "line", "kind")
    drawn = {one.get_label(): one for one in axes.collections}
    assert [text.get_text() for text in axes.get_yticklabels()] == ["b", "a"]
    assert np.round(drawn["ours"].get_offsets(), 2).tolist() == [[1.0, -0.19]]
    assert np.round(drawn["theirs"].get_offsets(), 2).tolist() == [[2.0, 0.19], [3.0, 1.19]]
    ours, theirs = drawn["ours"], drawn["theirs"]
    assert ours.get_facecolor().tolist() != theirs.get_facecolor().tolist()
    assert ours.get_paths()[0].vertices.tolist() != theirs.get_paths()[0].vertices.tolist()
