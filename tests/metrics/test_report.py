"""The page about a file's scores: its marks, its drawings, which pairs it has, and what it may not repeat."""

from __future__ import annotations

import json
from array import array
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.metrics import create, report, score_file
from radeval_lib.metrics.marks import Highlight, segments
from radeval_lib.metrics.score_charts import QUANTILES, REFERENCE_SCORES, chart
from workflow import reference_scores

RULES = "green_rules_errors"
REFERENCES = ["Small left pleural effusion.", "Heart size is normal.", "Lungs are clear.", ""]
CANDIDATES = ["Small right pleural effusion.", "Large pneumothorax.", "Lungs are clear.", ""]


def _page(folder: Path, metrics, pairs, **settings) -> str:
    source = folder / "pairs.jsonl"
    rows = (json.dumps({"reference": one, "candidate": other}) for one, other in pairs)
    source.write_text("".join(f"{row}\n" for row in rows))
    score_file(metrics, source, folder / "out.jsonl", report=folder / "page.html", **settings)
    return (folder / "page.html").read_text(encoding="utf-8")


class _Elements(HTMLParser):
    """The elements of a page with their attributes, and the texts in them by the innermost element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._last = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs) -> None:
        self.found.append((tag, dict(attrs)))
        self._last = tag

    def handle_data(self, data) -> None:
        self.texts.append((self._last, data))

    def pairs(self) -> list[dict[str, str | None]]:
        return [told for tag, told in self.found if told.get("class") == "pair"]


_MARKS = st.lists(
    st.builds(
        Highlight,
        st.integers(0, 30),
        st.integers(0, 30),
        st.sampled_from(["matched", "significant"]),
        st.integers(0, 3),
    )
)


@given(st.text(min_size=30, max_size=40), _MARKS)
def test_stretches_are_the_text_and_each_has_its_marks(text, marks) -> None:
    found = list(segments(text, marks))
    assert "".join(one.text for one in found) == text
    kinds = [one.kinds.split() for one in found for _ in one.text]
    for place, of_place in enumerate(kinds):
        assert of_place == sorted({mark.kind for mark in marks if mark.start <= place < mark.end})
    numbers = sorted(mark.number for mark in marks if mark.number and mark.start < mark.end)
    assert sorted(number for one in found for number in one.numbers) == numbers


@pytest.mark.parametrize("mark", [Highlight(-1, 2, "matched"), Highlight(1, 4, "matched")])
def test_a_mark_beyond_the_text_is_refused(mark) -> None:
    with pytest.raises(ValueError, match=rf"a mark from {mark.start} to {mark.end} of 3 characters"):
        list(segments("abc", [mark]))


def test_a_drawing_has_the_quantiles_where_they_belong() -> None:
    scores = {"rouge_l": array("d", [0, 0.25, 0.5, 0.75, 1]), "bleu": array("d", [1])}
    drawn = chart("rouge_l", create("rouge_l"), scores)
    own, *known = drawn.rows
    assert (own.label, own.pairs, own.own) == ("yours", 5, True)
    assert own.values == ["0.1", "0.25", "0.5", "0.75", "0.9"]
    np.testing.assert_allclose(own.places, 150 + 194 * np.array([0.1, 0.25, 0.5, 0.75, 0.9]), atol=0.051)
    assert [label for label, _ in drawn.ticks] == ["0", "0.5", "1"]
    assert drawn.compared
    assert not any(row.own for row in known)


def test_a_scale_without_ends_holds_zero_and_all_that_is_drawn() -> None:
    scores = {f"{RULES}:a": array("d", [5, 5, 5]), f"{RULES}:b": array("d", [9.5])}
    drawn = chart(RULES, create(RULES), scores)
    assert [row.label for row in drawn.rows[:2]] == ["yours, a", "yours, b"]
    assert [label for label, _ in drawn.ticks] == ["0", "4.75", "9.5"]
    assert all(150 <= place <= 344 for row in drawn.rows for place in row.places)


def test_scores_to_compare_with_are_of_the_metrics_as_they_are() -> None:
    held = json.loads(REFERENCE_SCORES.read_text(encoding="utf-8"))
    wanted = {
        create(name, **settings).signature().comparable()
        for name, settings in reference_scores.METRICS.items()
    }
    assert set(held["scores by signature"]) == wanted, "run python workflow/reference_scores.py"
    assert held["quantiles"] == list(QUANTILES)
    for of_sets in held["scores by signature"].values():
        assert of_sets.keys() == held["sets"].keys()
        assert all(low <= high for values in of_sets.values() for low, high in pairwise(values))
    judged = held["scores by signature"][create(RULES).signature().comparable()]
    medians = [judged[f"{n} planted error{'s' if n != 1 else ''}"][2] for n in range(7)]
    assert medians == sorted(medians), "more errors cannot weigh less"
    assert medians[0] == 0 < medians[1]


def test_pairs_of_known_quality_are_made_the_same_each_time() -> None:
    found = list(reference_scores.planted(2, 3))
    assert found == list(reference_scores.planted(2, 3))
    assert all(one != other for one, other in found)


# --- the page ---


@pytest.mark.parametrize(("metric", "rows"), [(RULES, [2, 1, 3, 4]), ("rouge_l", [2, 4, 1, 3])])
def test_the_worst_pairs_come_first(tmp_path, metric, rows) -> None:
    page = _page(tmp_path, metric, zip(REFERENCES, CANDIDATES, strict=True))
    told = [text for _, text in _Elements(page).texts if text.startswith("Row ")]
    assert told == [f"Row {row}" for row in rows]


def test_a_long_file_keeps_its_worst_pairs(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(report, "MOST_PAIRS", 2)
    page = _page(tmp_path, RULES, zip(REFERENCES, CANDIDATES, strict=True))
    assert len(_Elements(page).pairs()) == 2
    assert "The 2 pairs that are worst by the first metric, of 4" in page


def test_errors_are_marked_with_their_numbers_and_rules(tmp_path) -> None:
    page = _page(tmp_path, RULES, [(REFERENCES[0], CANDIDATES[0])])
    assert (
        page.count('<mark class="significant">pleural effusion</mark><sup><span class="hidden">error ') == 2
    )
    assert "pleural effusion in right instead of left" in page
    assert "another side; pleural effusion is actionable" in page


def test_metrics_with_the_same_reasons_share_a_view(tmp_path) -> None:
    page = _page(tmp_path, [RULES, "green_rules", "observations"], [(REFERENCES[0], CANDIDATES[1])])
    headings = [text for tag, text in _Elements(page).texts if tag == "h3" and text.strip()]
    assert headings == [f"{RULES}, green_rules", "observations"]
    assert "Pneumothorax: the candidate alone states it" in page
    assert page.count("<h4>Reference</h4>") == 1


def test_words_alone_still_show_the_texts(tmp_path) -> None:
    page = _page(tmp_path, "bleu", [("one & two", "<b>three</b>")])
    assert "one &amp; two" in page
    assert "&lt;b&gt;three&lt;/b&gt;" in page


def test_a_file_without_rows_gives_a_page(tmp_path) -> None:
    page = _page(tmp_path, [RULES, "bleu"], [])
    assert "0 rows, 0 pairs" in page
    assert not _Elements(page).pairs()


def test_without_texts_the_page_repeats_no_word(tmp_path) -> None:
    """Words that the lexicon knows are told in its own wording; none of these are."""
    pairs = [
        ("Tiny left pleural fluid quxor.", "Tiny right pleural fluid. Blarg."),
        ("Possibly pneumonia zorbly.", "Airspace opacity at the left base, zorbly."),
        ("Vestibulum quiet.", "Enlarged heart flumox."),
    ]
    (tmp_path / "with").mkdir()
    metrics = [RULES, "green_rules", "observations", "meteor"]
    assert "flumox" in _page(tmp_path / "with", metrics, pairs)
    (tmp_path / "none").mkdir()
    page = _page(tmp_path / "none", metrics, pairs, texts=False, explain=True)
    beside = (tmp_path / "none" / "out.jsonl.explained.jsonl").read_text(encoding="utf-8")
    own = ("tiny", "fluid", "quxor", "blarg", "zorbly", "vestibulum", "flumox", "quiet", "enlarged")
    assert not [word for word in own if word in page.lower() or word in beside.lower()]
    assert "pleural effusion in right instead of left" in page
    assert "<mark" not in page


def test_the_policy_lets_one_style_and_one_script_be(tmp_path) -> None:
    found = _Elements(_page(tmp_path, RULES, [("<script>a</script>", "<style>b</style>")])).found
    tags = [tag for tag, _ in found]
    assert (tags.count("script"), tags.count("style")) == (1, 1)
    (policy,) = (told["content"] for _, told in found if told.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not [told for _, told in found if "style" in told or any(name.startswith("on") for name in told)]
