"""The page about a file's scores: its marks, its drawings, which pairs it has, and what it may not repeat."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from radeval_lib.metrics import report, score_file
from radeval_lib.metrics.by_rules import Highlight, cut_segments

RULES = "green_rules_errors"
REFERENCES = ["Small left pleural effusion.", "Heart size is normal.", "Lungs are clear.", ""]
CANDIDATES = ["Small right pleural effusion.", "Large pneumothorax.", "Lungs are clear.", ""]


def _page(folder: Path, metrics, pairs, **settings) -> str:
    source = folder / "pairs.jsonl"
    rows = (json.dumps({"reference": reference, "candidate": candidate}) for reference, candidate in pairs)
    source.write_text("".join(f"{row}\n" for row in rows))
    score_file(metrics, source, folder / "out.jsonl", report=folder / "page.html", **settings)
    return (folder / "page.html").read_text(encoding="utf-8")


def test_stretches_have_the_marks_that_cover_them() -> None:
    marks = [Highlight(2, 5, "significant", 1), Highlight(4, 6, "matched"), Highlight(3, 3, "unread")]
    assert [tuple(part) for part in cut_segments("abcdefg", marks)] == [
        ("ab", "", ()),
        ("cd", "significant", ()),
        ("e", "matched significant", (1,)),
        ("f", "matched", ()),
        ("g", "", ()),
    ]


# --- the page ---


@pytest.mark.parametrize(("metric", "rows"), [(RULES, [2, 1, 3, 4]), ("rouge_l", [2, 4, 1, 3])])
def test_the_worst_pairs_come_first(tmp_path, metric, rows) -> None:
    page = _page(tmp_path, metric, zip(REFERENCES, CANDIDATES, strict=True))
    assert [int(row) for row in re.findall(r">Row (\d)", page)] == rows


def test_a_long_file_keeps_its_worst_pairs(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(report, "MAX_PAIRS", 2)
    page = _page(tmp_path, RULES, zip(REFERENCES, CANDIDATES, strict=True))
    assert page.count('class="pair"') == 2
    assert "The 2 pairs that are worst by the first metric, of 4" in page


def test_errors_are_marked_with_their_numbers_and_rules(tmp_path) -> None:
    page = _page(tmp_path, RULES, [(REFERENCES[0], CANDIDATES[0])])
    assert (
        page.count('<mark class="significant">pleural effusion</mark><sup><span class="hidden">error ') == 2
    )
    assert "pleural effusion in right instead of left" in page
    assert "another side; pleural effusion is actionable" in page


def test_a_file_without_rows_gives_a_page(tmp_path) -> None:
    page = _page(tmp_path, [RULES, "bleu"], [])
    assert "0 rows, 0 pairs" in page
    assert 'class="pair"' not in page


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
    words = ("tiny", "fluid", "quxor", "blarg", "zorbly", "vestibulum", "flumox", "quiet", "enlarged")
    assert not [word for word in words if word in page.lower() or word in beside.lower()]
    assert "pleural effusion in right instead of left" in page
    assert "<mark" not in page


def test_the_policy_lets_one_style_and_one_script_be(tmp_path) -> None:
    page = _page(tmp_path, RULES, [("<script>a</script>", "<style>b</style>")])
    assert (page.count("<script"), page.count("<style")) == (1, 1)
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"<[^>]* (?:style|on\w+)=", page)
