"""What a reader can move, as HTML."""

import json

import pytest

from radeval_lib.interactive import as_data, search_table, slider


def test_a_slider_carries_all_its_contents_and_shows_the_first() -> None:
    html = slider("T <x>", {"1": "<p>one</p>", "2": "<p>two</script></p>"}, "1").data
    assert "T &lt;x&gt;" in html
    assert html.count("</script>") == 1  # a content cannot end the script
    told = json.loads(html.partition('<script type="application/json">')[2].partition("</script>")[0])
    assert told == [["1", "2"], ["<p>one</p>", "<p>two</script></p>"]]
    assert '<div class="ra-frame" aria-live="polite"><p>one</p></div>' in html
    with pytest.raises(ValueError, match="cannot start at '3'; its values: 1, 2"):
        slider("T", {"1": "", "2": ""}, "3")


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
