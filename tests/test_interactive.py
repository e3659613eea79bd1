"""What a reader can move, as HTML."""

import json

import pytest

from radeval_lib.interactive import as_data, search_table


def test_a_table_to_search_has_its_rows_as_data() -> None:
    html = search_table(["a", "b"], [["1", "<b>2</b>"]], 'x"y').data
    assert 'placeholder="x&quot;y"' in html
    assert "<tbody></tbody>" in html


def test_what_a_script_of_a_browser_cannot_read_is_refused_and_nothing_keeps_its_element_open() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_data([float("nan")])
    element = as_data(["<!-- <script>"])
    assert "<!--" not in element
    assert json.loads(element.removeprefix('<script type="application/json">').removesuffix("</script>")) == [
        "<!-- <script>"
    ]
