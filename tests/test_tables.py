"""Tables: a long one folds behind its caption."""

from __future__ import annotations

import json
from html import escape

import pandas as pd
import pytest

from radeval_lib import small_counts, tables


def test_folded_table_keeps_rows_and_is_opened_by_its_caption() -> None:
    view = tables.folded(tables.show(pd.DataFrame({"n": [1, 2]}), "Counts & sums")).data
    assert view.startswith(
        '<details><summary class="table-caption"><strong>Counts &amp; sums</strong></summary>'
    )
    assert "<caption>" not in view
    assert view.count("<tr") == 3  # one row of heads, two of numbers


def test_nothing_of_a_frame_becomes_markup() -> None:
    bad = "<img src=x onerror=alert(1)>"
    for index in (pd.Index([bad], name=bad), pd.MultiIndex.from_tuples([(bad, "&")], names=[bad, "b"])):
        for columns in ([bad], pd.MultiIndex.from_tuples([(bad, bad)], names=[bad, bad])):
            shown = tables.show(pd.DataFrame([[bad]], index=index, columns=columns), bad).data
            assert "<img" not in shown
            assert "&lt;img" in shown


def test_columns_without_names_have_no_band_of_heads() -> None:
    frame = pd.DataFrame({"": ["a", "b"]}, index=["x", "y"])
    shown = tables.show(frame, "Pairs").data
    assert "<thead>" not in shown
    assert shown.index("<caption><span>Pairs</span></caption>") < shown.index("<tbody>")
    assert "<thead>" in tables.show(frame.rename_axis("name"), "Pairs").data


def test_rows_and_columns_with_levels_keep_them() -> None:
    rows = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["first", "second"])
    shown = tables.show(pd.DataFrame({"n": range(4)}, index=rows), "Counts").data
    assert shown.count('rowspan="2"') == 2
    assert "first" in shown


def test_infinite_numbers_have_their_sign_and_missing_ones_a_dash() -> None:
    frame = pd.DataFrame({"NLL": [1.25, float("inf"), float("-inf"), float("nan")]})
    shown = tables.show(frame, formats="{:.1f}", index=False).data
    assert [cell for cell in ("1.2", "∞", "−∞", "–") if f"<td>{cell}</td>" in shown] == [
        "1.2",
        "∞",
        "−∞",
        "–",
    ]


def test_small_counts_are_hidden_and_small_shares_and_means_are_not() -> None:
    columns: list[tuple[list[float | None], str | None, list[str]]] = [
        ([1, None, 30], "{:.3f}", ["< 5", "–", "30.000"]),
        ([0.5, 3, 30], "{:.0f}", ["0", "< 5", "30"]),
        ([0.03, 0.4, 1.0], None, ["0.03", "0.4", "1.0"]),
        ([3.4, 3.6, 8.2], "{:.0f}", ["3", "4", "8"]),
    ]
    small_counts.hide_below(5)
    try:
        for values, form, expected in columns:
            shown = tables.show(pd.DataFrame({"n": values}), formats=form, index=False).data
            for text in expected:
                assert f">{escape(text)}<" in shown
    finally:
        small_counts.hide_below(0)


def test_a_table_to_search_has_its_rows_as_data() -> None:
    html = tables.search_table(["a", "b"], [["1", "<b>2</b>"]], 'x"y').data
    assert 'placeholder="x&quot;y"' in html
    assert "<tbody></tbody>" in html


def test_what_a_script_of_a_browser_cannot_read_is_refused_and_nothing_keeps_its_element_open() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        tables.to_json_script([float("nan")])
    element = tables.to_json_script(["<!-- <script>"])
    assert "<!--" not in element
    assert json.loads(element.removeprefix('<script type="application/json">').removesuffix("</script>")) == [
        "<!-- <script>"
    ]
