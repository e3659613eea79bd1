"""Figures for both grounds."""

from __future__ import annotations

import colorsys
import io
import re
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from seaborn.utils import relative_luminance

from radeval_lib import plots
from radeval_lib.pipeline.drawings import for_both_grounds, with_text_set

HEAD = '<?xml version="1.0"?>\n<svg width="9" xmlns="http://www.w3.org/2000/svg">'


def test_greys_turn_round_and_what_would_sink_into_a_dark_page_gets_lighter() -> None:
    drawing = (
        f'{HEAD}<path style="fill: #ffffff"/><path style="stroke: #cccccc"/>'
        '<path style="fill: #0072b2; opacity: 0.16"/><path style="fill: #e69f00; stroke: #000000"/></svg>'
    )
    told = for_both_grounds(drawing)
    assert told.startswith(f"{HEAD}<style>@media (prefers-color-scheme: dark)")
    white = '[style*="fill: #ffffff"]'
    assert f"{white}{{fill:#121212!important}}text{white}{{fill:#000!important}}" in told
    assert '[style*="stroke: #000000"]{stroke:#f0f0f0!important}' in told
    assert '[style*="stroke: #cccccc"]{stroke:#434343!important}' in told
    assert '[style*="; opacity: 0.16;"],[style$="; opacity: 0.16"]{opacity:0.40!important}' in told
    assert "e69f00" not in told.split("</style>")[0]
    lighter = re.search(r'\[style\*="fill: #0072b2"\]\{fill:(#\w{6})!important\}', told)
    assert lighter is not None
    assert contrast(lighter[1], "#121212") >= 6 > contrast("#0072b2", "#121212")
    assert told.replace(told[told.index("<style>") : told.index("</style>") + 8], "") == drawing


def test_a_drawing_without_greys_stays() -> None:
    assert for_both_grounds(f"{HEAD}</svg>") == f"{HEAD}</svg>"


def contrast(one: object, other: object) -> float:
    pair = sorted(relative_luminance(colour) + 0.05 for colour in (one, other))
    return float(pair[1] / pair[0])


def test_texts_on_a_heat_map_contrast_with_their_cells_on_either_ground() -> None:
    _, axes = plots.panels(1, 1)
    plots.heat_map(axes, np.linspace(0, 1, 30).reshape(3, 10), cmap="Blues", mask=np.eye(3, 10, dtype=bool))
    cells = axes.collections[0].get_facecolor()
    assert len(axes.texts) == 27
    for text in axes.texts:
        column, row = map(int, text.get_position())
        assert contrast(cells[10 * row + column], text.get_color()) > 4.5
    drawn = io.StringIO()
    plt.savefig(drawn, format="svg")
    plt.close()
    style = for_both_grounds(drawn.getvalue()).split("</style>")[0]
    assert 'text[style*="fill: #ffffff"]{fill:#000!important}' in style
    assert 'text:not([style*="fill:"]){fill:#fff}' in style
    turned = dict(re.findall(r'\[id\^=QuadMesh\] \[style\*="fill: (#\w{6})"\]\{fill:(#\w{6})', style))
    assert len(turned) == len({tuple(cells[place]) for place in range(30) if cells[place][3]})
    for light, dark in turned.items():
        assert contrast(dark, "black") == pytest.approx(contrast(light, "white"), rel=0.06)


@pytest.mark.parametrize("rounding", [-1e-17, 0, 1e-16])
def test_rounding_takes_no_colour_out_of_reach(rounding: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Python 3.11.2's colorsys gives shares just below 0, which Matplotlib refuses.
    exact = colorsys.hls_to_rgb
    monkeypatch.setattr(colorsys, "hls_to_rgb", lambda *hls: tuple(one + rounding for one in exact(*hls)))
    cells = '<path style="fill: #ff0000"/><path style="fill: #08306b"/>'
    style = for_both_grounds(f'{HEAD}<g id="QuadMesh_1">{cells}</g></svg>').split("</style>")[0]
    turned = dict(re.findall(r'\[id\^=QuadMesh\] \[style\*="fill: (#\w{6})"\]\{fill:(#\w{6})', style))
    assert turned.keys() == {"#ff0000", "#08306b"}
    for light, dark in turned.items():
        assert contrast(dark, "black") == pytest.approx(contrast(light, "white"), rel=0.1)


def test_kinds_of_a_line_differ_in_colour_and_marker() -> None:
    _, axes = plots.panels(1, 1)
    rows = pd.DataFrame(
        [("b", "ours", 1.0), ("b", "theirs", 2.0), ("a", "theirs", 3.0)], columns=["line", "kind", "x"]
    )
    plots.dodged(axes, rows, "x", "line", "kind", hollow=["ours"])
    drawn = {one.get_label(): one for one in axes.collections}
    assert [text.get_text() for text in axes.get_yticklabels()] == ["b", "a"]
    assert np.round(drawn["ours"].get_offsets(), 2).tolist() == [[1.0, -0.19]]
    assert np.round(drawn["theirs"].get_offsets(), 2).tolist() == [[2.0, 0.19], [3.0, 1.19]]
    ours, theirs = drawn["ours"], drawn["theirs"]
    assert ours.get_edgecolor().tolist() != theirs.get_edgecolor().tolist()
    assert not ours.get_facecolor().size
    assert theirs.get_facecolor().tolist() == theirs.get_edgecolor().tolist()
    assert ours.get_paths()[0].vertices.tolist() != theirs.get_paths()[0].vertices.tolist()


def test_a_label_has_the_ground_behind_it_and_keeps_its_distance() -> None:
    _, axes = plots.panels(1, 1)
    plots.label_point(axes, "a name", (0.5, 0.5), (-8, 0))
    (label,) = axes.texts
    box = label.get_bbox_patch()
    assert box is not None
    assert box.get_facecolor() == (1, 1, 1, 1)
    assert (label.get_text(), label.get_ha(), label.get_position()) == ("a name", "right", (-8, 0))
    plt.close()


@pytest.mark.parametrize(("side", "anchor"), [("left", "start"), ("center", "middle"), ("right", "end")])
def test_lines_of_a_text_meet_where_they_did_in_any_font(side: str, anchor: str) -> None:
    _, axes = plots.panels(1, 1)
    axes.text(0.5, 0.5, "Minimal pulmonary\nedema", ha=side, multialignment=side)
    axes.text(0.5, 0.2, "one line", ha="right")
    axes.text(0.1, 0.8, "fluid\noverload", ha="center", multialignment="center", bbox={"facecolor": "white"})
    drawn = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        plt.savefig(drawn, format="svg")
    plt.close()
    told = with_text_set(drawn.getvalue())
    lines = re.findall(r'text-anchor: (\w+);[^>]*translate\(([\d.]+) [\d.]+\)">(Min|edema)', told)
    assert [(where, text) for where, _, text in lines] == [(anchor, "Min"), (anchor, "edema")]
    boxed = re.findall(r'text-anchor: (\w+);[^>]*translate\(([\d.]+) [\d.]+\)">(?:fluid|overload)', told)
    assert len(set(boxed)) == 1
    assert boxed[0][0] == "middle"
    assert float(lines[0][1]) == pytest.approx(float(lines[1][1]), abs=0.01)
    ends = [drawing.count("text-anchor: end") for drawing in (drawn.getvalue(), told)]
    assert ends[1] - ends[0] == 2 * (side == "right")


def test_more_kinds_than_can_be_distinguished_and_a_band_of_nothing_are_refused() -> None:
    figure, axes = plots.panels(1, 1)
    many = pd.DataFrame({"value": range(8), "line": "one", "kind": list("abcdefgh")})
    with pytest.raises(ValueError, match="8 kinds, where 7 can be distinguished"):
        plots.dodged(axes, many, "value", "line", "kind")
    rows = pd.DataFrame({"value": [0.5], "low": [0.4], "high": [0.6]}, index=["metric"])
    with pytest.raises(KeyError, match="other"):
        plots.forest(axes, rows, ["metric", "other"], "other")
    plt.close(figure)


def test_cells_of_a_heat_map_choose_their_ink_whatever_stood_on_the_axes() -> None:
    figure, axes = plots.panels(1, 1)
    axes.scatter([0], [0], color="black")
    plots.heat_map(axes, pd.DataFrame([[0.0, 1.0]]), cmap="Greys", vmin=0, vmax=1)
    assert [text.get_color() for text in axes.texts] == ["black", "white"]
    plt.close(figure)


@pytest.mark.parametrize(
    "look", [{}, {"weight": "bold"}, {"style": "italic"}, {"weight": "bold", "color": "w"}]
)
def test_lines_of_a_text_keep_their_common_middle_in_any_weight(look: dict[str, Any]) -> None:
    drawn = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        plt.figure().text(0.5, 0.5, "one\na longer line", ha="center", multialignment="center", **look)
        plt.savefig(drawn, format="svg")
    plt.close()
    lines = r'text-anchor: (\w+);[^>]*translate\(([\d.]+) [\d.]+\)">(?:one|a longer line)'
    (one, first), (other, second) = re.findall(lines, with_text_set(drawn.getvalue()))
    assert one == other == "middle"
    assert float(first) == pytest.approx(float(second), abs=0.5)
