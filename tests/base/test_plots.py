"""Labels, kinds and cells of figures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from seaborn.utils import relative_luminance

from radeval_lib import plots


def contrast(first: object, second: object) -> float:
    darker, lighter = sorted(relative_luminance(colour) + 0.05 for colour in (first, second))
    return float(lighter / darker)


def test_texts_on_a_heat_map_contrast_with_their_cells() -> None:
    _, axes = plots.panels(1, 1)
    plots.draw_heat_map(axes, np.linspace(0, 1, 30).reshape(3, 10), cmap="Blues", mask=np.eye(3, 10) > 0)
    cells = axes.collections[0].get_facecolor()
    assert len(axes.texts) == 27
    for text in axes.texts:
        column, row = map(int, text.get_position())
        assert contrast(cells[10 * row + column], text.get_color()) > 4.5
    plt.close()


def test_cells_of_a_heat_map_choose_their_ink_whatever_stood_on_the_axes() -> None:
    figure, axes = plots.panels(1, 1)
    axes.scatter([0], [0], color="black")
    plots.draw_heat_map(axes, pd.DataFrame([[0.0, 1.0]]), cmap="Greys", vmin=0, vmax=1)
    assert [text.get_color() for text in axes.texts] == ["black", "white"]
    plt.close(figure)
