"""GREEN's score, its reading from text, and what the paper enumerates."""

from types import SimpleNamespace

import pandas as pd
import pytest

from notebooks.green import ceilings, method, rules_judge, stray_analyses
from radeval_lib import metrics


def test_a_strict_reading_never_gives_a_wrong_score():
    read = stray_analyses.read_both_ways()
    assert ((read["strict"] == read["meant"]) | (read["strict"] == "none")).all()
    assert (read["as released"] != read["meant"]).any()
    assert read.loc["as asked for", "what strict reports"] == ""


def test_changes_leave_out_spacing():
    assert method.changes("no  large effusion.", "no small effusion .") == ["large → small"]
    assert method.changes("the same", "the  same") == []
    assert (method.enumerated("green.guide_pairing"), method.enumerated("green.guide_ooc")) == (5, 4)


def test_what_a_score_of_zero_leaves_out():
    frame = pd.DataFrame(
        {"GREEN": [0, 0, 0.5], "others": [1.0, 3.0, 4.0], "stated": 2, "clean": [0, 0, 1]}
    ).assign(**{"GREEN, one match given": [0.5, 0.5, 2 / 3]})
    told = ceilings.about_one_match(frame)[""]
    assert told["scores that are exactly 0"] == "67%"
    assert told["grades of these candidates"] == "1.0 to 3.0"


def test_rules_beside_marks():
    texts = {"reference": ["Nodule.", "No effusion.", "Effusion."], "text": ["Nodule.", "Effusion.", ""]}
    marks = {"grade": [1.0, 5.0, 3.0], "errors": [4.0, 0.0, 1.0], "weighted": [3.0, 1.0, 0.0]}
    run = SimpleNamespace(data_root=None, metric=metrics.create)
    found = rules_judge.against_marks(run, pd.DataFrame(texts | marks))[""]
    assert found["candidates without an error by rules in which one is marked"] == "1"
    assert found["mean grade of these"] == "1.0"
    assert found["errors per candidate, by rules"] == "0.7"
    assert found["errors per candidate, marked by a radiologist"] == "1.7"
    # Ranks by rules (1, 2.5, 2.5) and by marks (3, 2, 1) less those by grade (3, 1, 2).
    assert found["difference in rank from the grade, correlation"] == "0.28"


def test_an_analysis_that_would_not_stray_is_refused(monkeypatch):
    monkeypatch.setattr(stray_analyses, "render", lambda *counts: "a\n\nb")
    with pytest.raises(ValueError, match=r"no longer have ': 2\. '"):
        stray_analyses.variants()
